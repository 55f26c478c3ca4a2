// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/program/program_error.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/text.h"
#include "src/importers/training_log/lines/log_line.h"
#include "src/importers/training_log/program/run_end.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kReadBytes = size_t{1} << 18;  // of the end: more than the longest traceback
constexpr size_t kLongestPrintedLine = 4096, kLongestError = 200;
// That may follow an error: its own further lines, the summary of a launcher.
constexpr size_t kLinesBehind = 4, kLinesBehindOfIdle = 20;
constexpr size_t kLastLines = 3;

using Lines = std::vector<std::string_view>;

std::span<const std::string_view> Last(const Lines& lines, size_t most) {
  return std::span(lines).last(std::min(lines.size(), most));
}

bool Holds(std::string_view line, const RE2& pattern) {
  return RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), pattern);
}

std::string First(std::string_view line, const RE2& pattern) {
  std::string words;
  RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), pattern, &words);
  return words;
}

// Of compiled programs and interpreters: the loader, assert(), NVHPC's OpenACC, libgomp and LLVM's
// offloading, Open MPI, and macros that check CUDA's calls, by the texts of its errors.
std::string FatalError(std::string_view line) {
  static const std::array<RE2, 7> forms = {
      RE2(R"(^\S*python[\d.]*: ((?:can't open file|No module named) .*))"),
      RE2(R"((error while loading shared libraries: .*))"),
      RE2(R"((Assertion [`'"].+ failed))"),
      RE2(R"((?i)^\W*((?:accelerator |omptarget |libomptarget )?fatal error(?: \d+)?: .*\w.*))"),
      RE2(R"(^(lib(?:gomp|omptarget)(?: error)?: .+))"),
      RE2(R"(Signal: ((?:Segmentation fault|Aborted|Bus error|Floating point exception)\b.*))"),
      RE2(R"(^\s*(.*(?:\bcudaError[A-Z]\w+|CUDA_ERROR_\w+|CUBLAS_STATUS_[A-RT-Z]\w+|CUDNN_STATUS_[A-RT-Z]\w+|)"
          R"(an illegal memory access was encountered|out of memory|no kernel image is available|)"
          R"(unspecified launch failure|misaligned address|invalid (?:device ordinal|configuration argument|)"
          R"(resource handle)|driver version is insufficient|unsupported toolchain|device-side assert|)"
          R"(too many resources requested).*))"),
  };
  for (const RE2& form : forms)
    if (std::string words = First(line, form); !words.empty()) return words;
  return {};
}

// "ERROR: the input file is not there", "rank 6 caught exception with message: ...". A residual (error: 1e-5)
// and what a loader ignores are none.
std::string LastWords(std::string_view line) {
  static const RE2 error(R"((?i)(?:^\W*(?:fatal|error)|caught (?:an )?exception[\w ]*)\W*:\s*([A-Za-z].*))"),
      ignored(R"((?i)ignored)");
  return Holds(line, ignored) ? std::string() : First(line, error);
}

// Of a program that did nothing, what it was given and could not use, wherever it says so: "failed to open
// input.txt".
std::string Unusable(std::string_view line) {
  static const RE2 failed(
      R"((?i)^\W*((?:[^\s:]+ ){0,6}?(?:failed to|could ?n[o']t|cannot|can ?n[o']t|unable to) (?:open|parse|read|load|find) \S.*))"),
      ignored(R"((?i)ignored|warn|optional|fall(?:ing)? back|using default)");
  return Holds(line, ignored) ? std::string() : First(line, failed);
}

Lines LinesOf(std::string_view text) {
  Lines lines = Split(text, '\n');
  std::erase_if(
      lines, [](std::string_view line) { return line.size() > kLongestPrintedLine || Trim(line).empty(); });
  return lines;
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

// Julia ends with "ERROR: LoadError: what happened", more lines of that, "Stacktrace:" and frames to the end.
std::string JuliaError(const Lines& lines) {
  static const RE2 error(R"(^ERROR: ((?:\w+Error: )*\S.*))"),
      frame(R"(^\s*(?:\[\d+\]|@ |⋮|\.{3}|in expression starting at|caused by:|Stacktrace:))");
  const auto traces = std::ranges::find(lines, std::string_view("Stacktrace:"), Trim);
  if (traces == lines.end() ||
      !std::all_of(traces, lines.end(), [](std::string_view line) { return Holds(line, frame); }))
    return {};
  const auto head = static_cast<size_t>(traces - lines.begin());
  for (size_t i = head; i > head - std::min(head, kLastLines); --i)
    if (std::string words = First(lines[i - 1], error); !words.empty()) return words;
  return {};
}

// Of one stream: the error, and nothing behind it but what belongs to it.
std::string ErrorOf(const Lines& lines, bool did_nothing) {
  const size_t most_behind = did_nothing ? kLinesBehindOfIdle : kLinesBehind;
  RunEndReader exceptions;
  for (size_t i = 0; i < lines.size(); ++i) exceptions.Line(lines[i], static_cast<int64_t>(i));
  if (!exceptions.error().empty() &&
      lines.size() - 1 - static_cast<size_t>(exceptions.error_line()) <= most_behind)
    return exceptions.error();
  if (std::string words = JuliaError(lines); !words.empty()) return words;
  if (!lines.empty() && Trim(lines.back()) == "KeyboardInterrupt") return "KeyboardInterrupt";
  static const RE2 thrown(R"(^terminate called after throwing (an instance of '.*'))"),
      what(R"(^\s*what\(\):\s*(.+))");
  std::string error;
  for (const std::string_view line : Last(lines, most_behind + 1)) {
    if (std::string type = First(line, thrown); !type.empty()) error = std::move(type);
    // What an exception says names it better than its type.
    if (std::string words = First(line, what); error.starts_with("an instance of ") && !words.empty())
      return words;
    if (std::string words = FatalError(line); error.empty()) error = std::move(words);
  }
  if (!error.empty() || !did_nothing) return error;
  for (const std::string_view line : Last(lines, kLastLines))
    if (std::string words = LastWords(line); !words.empty()) return words;
  for (const std::string_view line : lines)
    if (std::string words = Unusable(line); !words.empty()) return words;
  return {};
}

}  // namespace

bool SaysItWentWell(std::string_view line) {
  static const RE2 well(
      R"((?i)\b(?:done|finished|completed?)\s*(?:[.,!:;)]|$|(?:in|after) \d|epoch|training)|)"
      R"(\b(?:saved|wrote|written|success\w*|passed|retry\w*|skipp\w+|fall(?:s|ing)? back|fallback|instead)\b)"),
      badly(R"((?i)error|exception|fail|could ?n.t|\b(?:not|unable|without)\b)");
  return Holds(line, well) && !Holds(line, badly);
}

std::string ProgramError(std::span<const std::string_view> streams, bool did_nothing) {
  std::vector<std::string> texts;
  for (const std::string_view stream : streams)
    texts.push_back(
        WithoutColours(ValidUtf8(stream.substr(stream.size() - std::min(stream.size(), kReadBytes)))));
  std::string error;
  for (const std::string& text : texts) {
    const Lines lines = LinesOf(text);
    if (std::ranges::any_of(Last(lines, kLastLines), SaysItWentWell)) return {};
    if (error.empty()) error = ErrorOf(lines, did_nothing);
  }
  return OneLine(std::move(error));
}

}  // namespace dladvisor::training_log
