// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/program_error.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/text.h"
#include "src/importers/training_log/log_line.h"
#include "src/importers/training_log/run_end.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kReadBytes = size_t{1} << 18;  // of the end: more than the longest traceback
constexpr size_t kLongestPrintedLine = 4096, kLongestError = 200;
constexpr size_t kLastLines = 20, kLinesOfWords = 3;

// Of compiled programs and interpreters: the loader, C++ (what() stands on the line after its type),
// assert(), NVHPC's OpenACC, libgomp and LLVM's offloading, Open MPI, and the macros that programs check
// CUDA's calls with.
std::string FatalError(std::string_view line) {
  static const std::array<RE2, 9> forms = {
      RE2(R"(^\S*python[\d.]*: (can't open file .*))"),
      RE2(R"((error while loading shared libraries: .*))"),
      RE2(R"(^terminate called after throwing (an instance of '.*'))"),
      RE2(R"(^\s*what\(\):\s*(.+))"),
      RE2(R"((Assertion .+ failed))"),
      RE2(R"((?i)^\W*((?:accelerator |omptarget |libomptarget )?fatal error\b.*\w.*))"),
      RE2(R"(^(lib(?:gomp|omptarget)(?: error)?: .+))"),
      RE2(R"(Signal: ((?:Segmentation fault|Aborted|Bus error|Floating point exception)\b.*))"),
      RE2(R"((?i)\b(gpuassert: .+|(?:cuda(?: runtime| driver)?|cublas|cudnn|nccl|hip) error[^A-Za-z]*[A-Za-z]{2}.*))"),
  };
  static const RE2 no_error(R"((?i)\bno error|\bsuccess|\bpassed)");
  const re2::StringPiece text(line.data(), line.size());
  std::string words;
  for (const RE2& form : forms)
    if (RE2::PartialMatch(text, form, &words) && !RE2::PartialMatch(text, no_error)) return words;
  return {};
}

// "ERROR: the input file is not there", "rank 6 caught exception with message: ...". A residual (error: 1e-5)
// and what a loader ignores are none.
std::string LastWords(std::string_view line) {
  static const RE2 error(R"((?i)(?:^\W*(?:fatal|error)|caught (?:an )?exception[\w ]*)\W*:\s*([A-Za-z].*))"),
      ignored(R"((?i)ignored)");
  std::string words;
  const re2::StringPiece text(line.data(), line.size());
  if (!RE2::PartialMatch(text, error, &words) || RE2::PartialMatch(text, ignored)) return {};
  return words;
}

std::span<const std::string_view> Last(const std::vector<std::string_view>& lines, size_t most) {
  return std::span(lines).last(std::min(lines.size(), most));
}

std::string OneLine(std::string error) {
  if (error.size() > kLongestError) {
    size_t end = kLongestError;
    while (end > 0 && (static_cast<unsigned char>(error[end]) & 0xC0) == 0x80) --end;
    error = error.substr(0, end) + "...";
  }
  while (!error.empty() &&
         (error.back() == '.' || error.back() == '!' || error.back() == ':' || error.back() == ' ') &&
         !error.ends_with("..."))
    error.pop_back();
  std::ranges::replace_if(
      error, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return error;
}

}  // namespace

std::string ProgramError(std::string_view printed, bool did_nothing) {
  if (printed.size() > kReadBytes) printed.remove_prefix(printed.size() - kReadBytes);
  const std::string valid = ValidUtf8(printed);
  std::vector<std::string_view> lines = Split(valid, '\n');
  std::erase_if(lines, [](std::string_view line) {
    return line.size() > kLongestPrintedLine || line.find_first_not_of(" \t\r") == std::string_view::npos;
  });
  RunEndReader exceptions;
  for (size_t i = 0; i < lines.size(); ++i) exceptions.Line(lines[i], static_cast<int64_t>(i));
  const auto count = static_cast<int64_t>(lines.size());
  if (!exceptions.error().empty() && count - exceptions.error_line() <= int64_t{kLastLines})
    return OneLine(exceptions.error());
  if (!lines.empty() && Trim(lines.back()) == "KeyboardInterrupt") return "KeyboardInterrupt";
  std::string fatal;
  for (const std::string_view line : Last(lines, kLastLines)) {
    std::string words = FatalError(line);
    // What an exception says names it better than its type.
    if (!words.empty() && (fatal.empty() || fatal.starts_with("an instance of "))) fatal = std::move(words);
  }
  if (!fatal.empty() || !did_nothing) return OneLine(fatal);
  for (const std::string_view line : Last(lines, kLinesOfWords))
    if (const std::string words = LastWords(line); !words.empty()) return OneLine(words);
  return {};
}

}  // namespace dladvisor::training_log
