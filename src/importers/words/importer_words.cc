// SPDX-License-Identifier: Apache-2.0
#include "src/importers/words/importer_words.h"

#include <fmt/ranges.h>

#include <array>
#include <utility>
#include <vector>

#include "src/importers/gpu_table/words/gpu_table_words.h"
#include "src/importers/kineto/words/kineto_words.h"
#include "src/importers/nsys/words/nsys_words.h"
#include "src/importers/nvidia_smi/words/nvidia_smi_words.h"
#include "src/importers/nvprof/words/nvprof_words.h"
#include "src/importers/rocm/words/rocm_words.h"
#include "src/importers/serving_log/words/serving_log_words.h"
#include "src/importers/training_log/words/training_log_words.h"
#include "src/importers/xla/words/xla_words.h"

namespace dladvisor {
namespace {

constexpr std::array kWords = {&kNsysWords,        &kKinetoWords,     &kXlaWords,        &kNvidiaSmiWords,
                               &kTrainingLogWords, &kServingLogWords, &kProgramLogWords, &kRocprofWords,
                               &kRocprofV3Words,   &kRpdWords,        &kTimelineWords,   &kGpuTraceWords,
                               &kSpanTraceWords,   &kSummaryWords,    &kNvprofWords,     &kGpuTableWords};

const CaptureWords& AnyWords() {
  static const std::vector<std::pair<std::string_view, std::string_view>> options = [] {
    std::vector<std::pair<std::string_view, std::string_view>> both(kNsysWords.options.begin(),
                                                                    kNsysWords.options.end());
    both.insert(both.end(), kNvidiaSmiWords.options.begin(), kNvidiaSmiWords.options.end());
    return both;
  }();
  static const CaptureWords words = {
      .format = "",
      .options = options,
      .idle_causes = kNsysWords.idle_causes,
      .idle_causes_beyond_calls = kNsysWords.idle_causes_beyond_calls,
      .no_gpu_work = kNsysWords.no_gpu_work,
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

std::string HowToRecord(std::string_view capability) {
  std::vector<std::string> ways;
  for (const CaptureWords* words : kWords)
    for (const auto& [name, options] : words->options)
      if (name == capability) ways.push_back(fmt::format("{}: {}", words->format, options));
  return fmt::format("{}", fmt::join(ways, "; "));
}

}  // namespace dladvisor
