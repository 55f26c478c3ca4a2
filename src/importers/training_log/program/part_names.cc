// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/program/part_names.h"

#include <re2/re2.h>

#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {

std::string PlainWords(std::string_view text) {
  std::string plain(text);
  std::erase_if(plain, [](unsigned char c) { return c < 0x20 || c > 0x7E; });
  return plain;
}

std::string CutTo(std::string_view text, size_t most) {
  std::string cut(Trim(text).substr(0, most));
  while (!cut.empty() && (cut.back() == ' ' || cut.back() == '"')) cut.pop_back();
  return cut;
}

std::string WithoutNumbers(std::string text) {
  static const RE2 number(R"(\d[\d.,]*\d|\d)");
  RE2::GlobalReplace(&text, number, "#");
  return text;
}

bool HasWord(std::string_view text) {
  static const RE2 word("[A-Za-z]{3}");
  return RE2::PartialMatch(text, word);
}

}  // namespace dladvisor::training_log
