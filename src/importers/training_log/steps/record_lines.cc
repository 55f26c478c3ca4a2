// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/steps/record_lines.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestRow = 2048, kMostColumns = 48, kLeastColumns = 4;

// Of a head: what stands between most of its names.
char SeparatorOf(std::string_view line) {
  const auto commas = std::ranges::count(line, ',');
  return std::ranges::count(line, ';') > commas ? ';' : std::ranges::count(line, '\t') > commas ? '\t' : ',';
}

std::vector<std::string> Cells(std::string_view line, char separator) {
  std::vector<std::string> cells;
  while (cells.size() <= kMostColumns) {
    // "12,5" in quotes is one cell.
    bool quoted = false;
    size_t comma = 0;
    for (; comma < line.size() && (quoted || line[comma] != separator); ++comma) quoted ^= line[comma] == '"';
    if (comma == line.size()) comma = std::string_view::npos;
    std::string_view cell = Trim(line.substr(0, comma));
    if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') cell = cell.substr(1, cell.size() - 2);
    cells.emplace_back(cell);
    // "0,5", as spreadsheets write where commas part no cells.
    static const RE2 decimal(R"(-?\d+,\d+(?:[eE][-+]?\d+)?)");
    if (separator == ';' && RE2::FullMatch(cells.back(), decimal))
      std::ranges::replace(cells.back(), ',', '.');
    if (comma == std::string_view::npos) break;
    line.remove_prefix(comma + 1);
  }
  return cells;
}

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t at = line.find_first_not_of(" \t");
       at != std::string_view::npos && words.size() <= kMostColumns;) {
    const size_t end = std::min(line.find_first_of(" \t", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(" \t", end);
  }
  return words;
}

bool IsNameOfColumn(std::string_view word) {
  return !word.empty() && std::isalpha(static_cast<unsigned char>(word.front())) != 0 &&
         word.find_first_of(":=,;.\"'[]{}!?") == std::string_view::npos;
}

// "01:20", "1:02:03", of an epoch.
bool IsClock(std::string_view word) {
  static const RE2 clock(R"(\d{1,4}(?::[0-5]\d){1,2})");
  return RE2::FullMatch(word, clock);
}

// "7.12", "3.6e+03", and of counts "40/165".
bool IsCell(std::string_view word) {
  if (IsClock(word)) return true;
  const size_t slash = word.find('/');
  if (slash != std::string_view::npos)
    return Integer(word.substr(0, slash)).has_value() && Integer(word.substr(slash + 1)).has_value();
  // "80.1ms", "1.5s".
  if (const size_t unit = word.find_last_of("0123456789"); unit != std::string_view::npos)
    if (const std::string_view of = word.substr(unit + 1); of == "ms" || of == "s")
      word.remove_suffix(of.size());
  constexpr std::string_view kParts = "0123456789+-.eEnainfNIG%";
  return word.find_first_not_of(kParts) == std::string_view::npos &&
         (Number(word).has_value() || Lower(word) == "nan" || Lower(word) == "inf");
}

bool CountsSteps(std::string_view name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"step", "steps", "global_step", "iter", "iters", "iteration", "iterations", "update", "batch"});
  return std::ranges::find(kNames, name.substr(name.rfind('/') + 1)) != kNames.end();
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

// ESPnet's "2024-05-01 12:00:00,1 (trainer:732) INFO: 1epoch:train:501-1000batch: iter_time=0.01, ...,
// loss=66.1,
// ..., train_time=0.62", of which iter_time is of a batch, waiting for it, and train_time of an update.
std::optional<std::string> OfEspnet(std::string_view line) {
  if (line.find("epoch:train:") == std::string_view::npos) return std::nullopt;
  static const RE2 form(
      R"(\b(\d+)epoch:train:\d+-(\d+)batch: (?:.*\biter_time=([\d.e+-]+))?(?:.*\bloss=([\d.e+-]+|nan))?)"),
      date(R"(\b(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:,\d+)?) )");
  std::string time, epoch, batch, waits, loss;
  if (!RE2::PartialMatch(line, form, &epoch, &batch, &waits, &loss)) return std::nullopt;
  RE2::PartialMatch(line, date, &time);
  return fmt::format("{} epoch: {}, step: {}, data time: {} s, loss: {}", time, epoch, batch,
                     Number(waits).value_or(0), loss);
}

// {"epoch": 3, "train_loss": 0.5, "elapsed": 120.5}: an object for each epoch, which counts no steps.
std::optional<std::string> OfEpochObject(std::string_view line) {
  line = Trim(line);
  if (line.size() < 12 || line.size() > kLongestRow || !line.starts_with("{\"") || !line.ends_with('}'))
    return std::nullopt;
  static const RE2 epoch(R"re("(?i:epoch)": *(\d+) *[,}])re"),
      pair(R"re("([^"\\]+)": *(-?\d[\d.e+-]*|NaN) *[,}])re"),
      other(R"re([\[\]]|"(?i:\w*(?:step|iter(?:ation)?|update|batch(?:_idx)?))": *\d)re"), loss("(?i)loss");
  std::string number, name, value;
  if (!RE2::PartialMatch(line, epoch, &number) || RE2::PartialMatch(line, other) ||
      !RE2::PartialMatch(line, loss))
    return std::nullopt;
  std::string pairs = "step: " + number;
  re2::StringPiece rest(line);
  while (RE2::FindAndConsume(&rest, pair, &name, &value))
    if (name = Lower(name); name != "epoch" && !IsOfEvaluation(name)) pairs += ", " + name + ": " + value;
  return pairs;
}

}  // namespace

// "[INFO]:  Epoch  Batch  box  total  time", then "[INFO]:  0/29  40/165  0.172  158  7.12": as many words,
// all of them numbers, behind what stands before the names, too.
std::optional<std::string> RecordLinesReader::Table(std::string_view line) {
  if (line.find_first_not_of(" \t\r-=+|") == std::string_view::npos) return std::nullopt;
  Columns head = std::exchange(head_, {});
  if (line.size() > kLongestRow) return std::nullopt;
  // "| step | loss | time |" has bars between its cells.
  std::string without_bars;
  if (std::ranges::count(line, '|') >= 3) {
    without_bars = line;
    std::ranges::replace(without_bars, '|', ' ');
    line = without_bars;
  }
  const std::vector<std::string_view> words = Words(line);
  if (words.size() < kLeastColumns || words.size() > kMostColumns) return std::nullopt;
  size_t first = words.size();
  while (first > 0 && IsNameOfColumn(words[first - 1])) --first;
  if (words.size() - first >= kLeastColumns) {
    std::vector<std::string> names;
    for (size_t i = first; i < words.size(); ++i) names.push_back(Lower(words[i]));
    const bool values = std::ranges::any_of(names, [](const std::string& name) {
      return name.find("loss") != std::string::npos || name == "total";
    });
    const bool steps = std::ranges::any_of(names, CountsSteps);
    if (values && (steps || names.front() == "epoch")) head_ = {std::move(names), first, steps};
    return std::nullopt;
  }
  const auto is_row = [&](const Columns& columns) {
    return !columns.names.empty() && words.size() == columns.before + columns.names.size() &&
           std::ranges::all_of(words.begin() + static_cast<ptrdiff_t>(columns.before), words.end(), IsCell);
  };
  if (is_row(head)) table_ = std::move(head);
  if (!is_row(table_)) return std::nullopt;
  std::string time, counts, values;
  for (size_t i = 0; i < table_.before; ++i) time.append(words[i]).append(" ");
  for (size_t i = 0; i < table_.names.size(); ++i) {
    const std::string_view cell = words[table_.before + i];
    const std::string& name = table_.names[i];
    if (CountsSteps(name) || name == "epoch")
      counts.append(name == "epoch" && !table_.steps ? "step" : name).append(": ").append(cell) += ", ";
    else if (const auto seconds = name == "time" && IsClock(cell) ? SecondsOfClock(cell) : std::nullopt)
      values += fmt::format("time: {} s, ", *seconds);
    else if (!IsOfEvaluation(name))
      values.append(name == "total" && !cell.ends_with('s') ? "total loss" : name)
          .append(": ")
          .append(cell) += ", ";
  }
  of_epochs_ = of_epochs_ || !table_.steps;
  evaluated_ = false;
  return time + counts + values;
}

// "Step", "_step" of Weights & Biases; "run-1 - perf/step_time" is of a run's plot; TensorBoard's "Wall
// time".
bool RecordLinesReader::Head(std::string_view line) {
  separator_ = SeparatorOf(line);
  std::vector<std::string> cells = Cells(line, separator_);
  if (cells.size() > kMostColumns) return false;
  bool tracker = false;
  for (std::string& name : cells) {
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    const size_t run = name.rfind(" - ");
    const bool plot = run != std::string::npos && !name.starts_with(" - ");
    const bool bound = name.ends_with("__min") || name.ends_with("__max");
    tracker = tracker || plot || bound || name == "_step" || name == "_runtime" || name == "wall time";
    if (bound) name.clear();
    if (plot && !bound) name.erase(0, run + 3);
    if (name.starts_with('_')) name.erase(0, 1);
  }
  if (tracker && !cells.empty() && cells.front() == "") cells.front() = "index";
  // Of several runs the first.
  for (size_t i = 1; tracker && i < cells.size(); ++i)
    if (std::find(cells.begin(), cells.begin() + static_cast<ptrdiff_t>(i), cells[i]) !=
        cells.begin() + static_cast<ptrdiff_t>(i))
      cells[i].clear();
  const auto is_name = [&](const std::string& name) {
    return name.empty() ? tracker : std::isalpha(static_cast<unsigned char>(name.front())) != 0;
  };
  const bool steps = std::ranges::any_of(cells, CountsSteps);
  const bool times = std::ranges::any_of(cells, [](const std::string& name) {
    return name.find("time") != std::string::npos || name.find("per_sec") != std::string::npos;
  });
  const bool values = std::ranges::any_of(
      cells, [](const std::string& name) { return name.find("loss") != std::string::npos; });
  const auto epoch = std::ranges::find(cells, "epoch");
  of_tracker_ = tracker && steps && (times || values);
  if ((!values && !of_tracker_) || !(steps || epoch != cells.end()) || !std::ranges::all_of(cells, is_name))
    return false;
  of_epochs_ = !steps;
  if (of_epochs_) *epoch = "step";
  names_ = std::move(cells);
  return true;
}

std::optional<std::string> RecordLinesReader::AsPairs(std::string_view line) {
  if (auto row = OfEspnet(line)) return row;
  if (auto row = OfEpochObject(line)) {
    of_epochs_ = true;
    return row;
  }
  if (auto row = Table(line)) return row;
  if (!first_ && names_.empty()) return std::nullopt;
  if (line.size() > kLongestRow ||
      line.find(first_ ? SeparatorOf(line) : separator_) == std::string_view::npos) {
    first_ = first_ && Trim(line).empty();
    return std::nullopt;
  }
  if (first_) {
    first_ = false;
    Head(line);
    return std::nullopt;
  }
  std::vector<std::string> cells = Cells(line, separator_);
  if (cells.size() != names_.size()) return std::nullopt;
  // The number of the step first: a row may hold no more than that and the results of an evaluation.
  std::string counts, values, time;
  evaluated_ = false;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string& cell = cells[i];
    if (cell.empty() || names_[i].empty() || names_[i] == "index") continue;
    if (cell.find(':') != std::string::npos)
      time = cell + " ";
    else if (!Number(cell) && !(IsNan(cell) && names_[i].find("loss") != std::string::npos))
      continue;
    else if (CountsSteps(names_[i]) || names_[i] == "epoch")
      // Loggers of floating-point numbers write whole ones so, too. A tracker's own count is of its calls.
      counts.insert(
          names_[i].ends_with("global_step") ? 0 : counts.size(),
          names_[i] + ": " + (cell.ends_with(".0") ? cell.substr(0, cell.size() - 2) : cell) + ", ");
    else if (IsOfEvaluation(names_[i]))
      evaluated_ = true;
    else
      values += names_[i] + ": " + cell + ", ";
  }
  return time + counts + values;
}

}  // namespace dladvisor::training_log
