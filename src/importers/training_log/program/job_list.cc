// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/program/job_list.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <optional>

#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestRowOfJobs = 1024, kMostColumnsOfJobs = 64;

// "1-02:03:04", "02:03:04", "03:04.567".
std::optional<double> SecondsOfJob(std::string_view text) {
  static const RE2 form(R"((?:(\d{1,5})-)?(?:(\d{1,3}):)?(\d{1,3}):(\d{2}(?:\.\d+)?))");
  std::string days, hours, minutes, seconds;
  if (!RE2::FullMatch(text, form, &days, &hours, &minutes, &seconds)) return std::nullopt;
  return ((Number(days).value_or(0) * 24 + Number(hours).value_or(0)) * 60 + Number(minutes).value_or(0)) *
             60 +
         Number(seconds).value_or(0);
}

}  // namespace

bool JobListReader::Header(std::string_view line) {
  if (line.find("JobID") == std::string_view::npos || line.find("Elapsed") == std::string_view::npos ||
      line.find("State") == std::string_view::npos)
    return false;
  static const RE2 word(R"(([A-Za-z]+))");
  re2::StringPiece rest(line.data(), line.size());
  std::string name;
  names_.clear();
  columns_.clear();
  while (names_.size() < kMostColumnsOfJobs && RE2::FindAndConsume(&rest, word, &name))
    names_.push_back(Lower(name));
  parsable_ = line.find('|') != std::string_view::npos;
  return true;
}

std::vector<std::string_view> JobListReader::Cells(std::string_view line) const {
  std::vector<std::string_view> cells;
  if (parsable_) {
    for (size_t at = 0; at <= line.size() && cells.size() < names_.size();) {
      const size_t end = std::min(line.find('|', at), line.size());
      cells.push_back(Trim(line.substr(at, end - at)));
      at = end + 1;
    }
    return cells;
  }
  for (const auto& [begin, length] : columns_)
    cells.push_back(begin < line.size() ? Trim(line.substr(begin, length)) : std::string_view());
  return cells;
}

void JobListReader::Line(std::string_view line) {
  if (line.size() > kLongestRowOfJobs || Header(line) || names_.empty()) return;
  if (line.starts_with("---")) {
    if (!columns_.empty()) return;
    for (size_t at = 0; at < line.size();) {
      const size_t begin = line.find('-', at), end = std::min(line.find(' ', begin), line.size());
      if (begin == std::string_view::npos) break;
      columns_.emplace_back(begin, end - begin);
      at = end;
    }
    return;
  }
  const std::vector<std::string_view> cells = Cells(line);
  const auto cell = [&](std::string_view name) {
    const auto at = static_cast<size_t>(std::ranges::find(names_, name) - names_.begin());
    return at < cells.size() ? cells[at] : std::string_view();
  };
  // A job, and not its steps.
  static const RE2 job(R"(\d+(?:_\d+)?\+?)");
  const auto elapsed = SecondsOfJob(cell("elapsed"));
  if (!RE2::FullMatch(cell("jobid"), job) || !elapsed) return;
  ++jobs_;
  ++states_[std::string(cell("state").substr(0, cell("state").find_first_of(" +")))];
  longest_s_ = std::max(longest_s_, *elapsed);
  const auto busy = SecondsOfJob(cell("totalcpu"));
  const auto cores = Integer(cell(cell("alloccpus").empty() ? "ncpus" : "alloccpus"));
  if (!busy || cores.value_or(0) <= 0) return;
  busy_s_ += *busy;
  cores_s_ += *elapsed * static_cast<double>(*cores);
}

std::string JobListReader::What() const {
  if (jobs_ == 0) return "";
  std::string text = fmt::format("the list of a cluster's jobs (sacct): {} job{}, the longest of {:.3g} h",
                                 jobs_, jobs_ == 1 ? "" : "s", longest_s_ / 3600);
  for (const auto& [state, count] : states_) text += fmt::format(", {} {}", count, state);
  if (cores_s_ > 0)
    text += fmt::format("; their cores were busy {:.3g} % of the time", 100 * busy_s_ / cores_s_);
  return text + ", and nothing is said of what the GPUs did";
}

}  // namespace dladvisor::training_log
