// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/program/memory_words.h"

#include <re2/re2.h>

#include <string>

#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

// Of the first place where `form` is, which holds a number and its unit.
std::optional<double> SizeIn(std::string_view line, const RE2& form) {
  std::string number, unit;
  if (!RE2::PartialMatch(line, form, &number, &unit)) return std::nullopt;
  const auto value = Number(number);
  if (!value) return std::nullopt;
  return *value * (unit == "GiB" ? 0x1p30 : unit == "MiB" ? 0x1p20 : unit == "KiB" ? 0x1p10 : 1);
}

// What the failing process itself holds.
std::optional<double> Own(std::string_view line) {
  static const RE2 process(R"(this process has ([\d.]+) (bytes|KiB|MiB|GiB) memory in use)"),
      reserved(R"(([\d.]+) (bytes|KiB|MiB|GiB) reserved in total by PyTorch)"),
      allocated(R"(([\d.]+) (bytes|KiB|MiB|GiB) (?:already allocated|is allocated by PyTorch))"),
      unallocated(R"(([\d.]+) (bytes|KiB|MiB|GiB) (?:cached|is reserved by PyTorch but unallocated))");
  if (const auto own = SizeIn(line, process)) return own;
  if (const auto own = SizeIn(line, reserved)) return own;
  const auto used = SizeIn(line, allocated), kept = SizeIn(line, unallocated);
  if (!used || !kept) return std::nullopt;
  return *used + *kept;
}

}  // namespace

std::optional<MemoryTaken> MemoryTakenIn(std::string_view line) {
  MemoryTaken memory;
  if (line.find("Free memory on device") != std::string_view::npos) {
    static const RE2 start(R"(Free memory on device(?: [\w:]+)? \(([\d.]+)/([\d.]+) GiB\) on startup)");
    std::string free, total;
    if (!RE2::PartialMatch(line, start, &free, &total)) return std::nullopt;
    memory.total_bytes = Number(total).value_or(0) * 0x1p30;
    memory.others_bytes = memory.total_bytes - Number(free).value_or(0) * 0x1p30;
  } else if (line.find("out of memory. Tried to allocate") != std::string_view::npos) {
    static const RE2 total(
        R"((?:; |capaci?ty of )([\d.]+) (bytes|KiB|MiB|GiB)(?: total capacity| of which))"),
        free(R"((?:; |of which )([\d.]+) (bytes|KiB|MiB|GiB)(?: is)? free)");
    const auto all = SizeIn(line, total), left = SizeIn(line, free), own = Own(line);
    if (!all || !left || !own) return std::nullopt;
    memory.total_bytes = *all;
    memory.others_bytes = *all - *left - *own;
  }
  if (memory.others_bytes <= 0 || memory.others_bytes > memory.total_bytes) return std::nullopt;
  return memory;
}

}  // namespace dladvisor::training_log
