// SPDX-License-Identifier: Apache-2.0
#include "src/importers/words/importer_words.h"

#include <array>

#include "src/importers/kineto/words/kineto_words.h"
#include "src/importers/nsys/words/nsys_words.h"
#include "src/importers/nvidia_smi/words/nvidia_smi_words.h"
#include "src/importers/training_log/words/training_log_words.h"

namespace dladvisor {
namespace {

constexpr std::array kWords = {&kNsysWords, &kKinetoWords, &kNvidiaSmiWords, &kTrainingLogWords};

const CaptureWords& AnyWords() {
  static const CaptureWords words = {
      .format = "",
      .options = {},
      .is_own = [](std::string_view) { return true; },
      .idle_causes = kNsysWords.idle_causes,
      .idle_causes_beyond_calls = kNsysWords.idle_causes_beyond_calls,
      .records_operators = false,
  };
  return words;
}

}  // namespace

const CaptureWords& CaptureWordsOf(std::string_view format) {
  if (format.empty()) return AnyWords();
  for (const CaptureWords* words : kWords)
    if (words->format == format) return *words;
  return kNsysWords;
}

}  // namespace dladvisor
