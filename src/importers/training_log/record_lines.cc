// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/record_lines.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "src/importers/training_log/log_line.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestRow = 2048, kMostColumns = 48;

std::vector<std::string> Cells(std::string_view line) {
  std::vector<std::string> cells;
  while (cells.size() <= kMostColumns) {
    const size_t comma = line.find(',');
    std::string_view cell = Trim(line.substr(0, comma));
    if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') cell = cell.substr(1, cell.size() - 2);
    cells.emplace_back(cell);
    if (comma == std::string_view::npos) break;
    line.remove_prefix(comma + 1);
  }
  return cells;
}

bool CountsSteps(std::string_view name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"step", "steps", "global_step", "iter", "iters", "iteration", "iterations", "update", "batch"});
  return std::ranges::find(kNames, name) != kNames.end();
}

// "value_loss" is of a training by rewards.
bool IsOfEvaluation(std::string_view name) {
  return (name.starts_with("val") && !name.starts_with("value")) || name.starts_with("test") ||
         name.starts_with("eval");
}

bool IsNan(std::string_view cell) {
  return cell.size() == 3 && std::tolower(cell[0]) == 'n' && std::tolower(cell[1]) == 'a' &&
         std::tolower(cell[2]) == 'n';
}

}  // namespace

std::optional<std::string> RecordLinesReader::AsPairs(std::string_view line) {
  if (!first_ && names_.empty()) return std::nullopt;
  if (line.size() > kLongestRow || line.find(',') == std::string_view::npos) {
    first_ = first_ && Trim(line).empty();
    return std::nullopt;
  }
  std::vector<std::string> cells = Cells(line);
  if (first_) {
    first_ = false;
    for (std::string& name : cells)
      std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto is_name = [](const std::string& name) {
      return !name.empty() && std::isalpha(static_cast<unsigned char>(name.front())) != 0;
    };
    const bool values = std::ranges::any_of(
        cells, [](const std::string& name) { return name.find("loss") != std::string::npos; });
    const bool steps = std::ranges::any_of(cells, CountsSteps);
    const auto epoch = std::ranges::find(cells, "epoch");
    if (cells.size() > kMostColumns || !values || !(steps || epoch != cells.end()) ||
        !std::ranges::all_of(cells, is_name))
      return std::nullopt;
    of_epochs_ = !steps;
    if (of_epochs_) *epoch = "step";
    names_ = std::move(cells);
    return std::nullopt;
  }
  if (cells.size() != names_.size()) return std::nullopt;
  // The number of the step first: a row may hold no more than that and the results of an evaluation.
  std::string counts, values, time;
  evaluated_ = false;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string& cell = cells[i];
    if (cell.empty()) continue;
    if (cell.find(':') != std::string::npos)
      time = cell + " ";
    else if (!Number(cell) && !(IsNan(cell) && names_[i].find("loss") != std::string::npos))
      continue;
    else if (CountsSteps(names_[i]) || names_[i] == "epoch")
      // Loggers of floating-point numbers write whole ones so, too.
      counts += names_[i] + ": " + (cell.ends_with(".0") ? cell.substr(0, cell.size() - 2) : cell) + ", ";
    else if (IsOfEvaluation(names_[i]))
      evaluated_ = true;
    else
      values += names_[i] + ": " + cell + ", ";
  }
  return time + counts + values;
}

}  // namespace dladvisor::training_log
