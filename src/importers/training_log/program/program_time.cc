// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/program/program_time.h"

#include <algorithm>
#include <functional>

#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestLineOfProgram = 4096, kMostParts = 20;

}  // namespace

bool ProgramTimeReader::Line(std::string_view coloured, int64_t number) {
  if (coloured.size() > kLongestLineOfProgram) return false;
  const std::string plain =
      coloured.find('\x1b') == std::string_view::npos ? std::string() : WithoutColours(coloured);
  const std::string_view line = plain.empty() ? coloured : std::string_view(plain);
  signs_.Line(line);
  if (line.find("%|") != std::string_view::npos) return bars_.TakeBar(line);
  if (line.find("it [") != std::string_view::npos) bars_.TakeBarWithoutTotal(line);
  if (endless_.Line(line)) return true;
  const bool goes_on = dated_.Line(line, number);
  return figures_.Line(line) || goes_on;
}

ProgramOutput ProgramTimeReader::Finish() const {
  ProgramOutput output;
  bars_.AddTo(output);
  endless_.AddTo(output);
  if (signs_.shown() && dated_.IsLog()) dated_.AddTo(output);
  std::ranges::stable_sort(output.parts, std::ranges::greater(), &ProgramPart::ns);
  if (output.parts.size() > kMostParts) output.parts.resize(kMostParts);
  figures_.AddTo(output);
  return output;
}

}  // namespace dladvisor::training_log
