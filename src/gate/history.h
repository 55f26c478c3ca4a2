// The history of a gate: one SQLite file to which every gate adds its run. It tells how much runs of the same
// program differ, and shows a slow creep that no single comparison finds.
//
// Layout: `history(key, value)` with format_version; `run(id, utc_ns, label, setting, verdict)`, where
// `setting` is a digest of what must be the same for runs to be compared; `value(run, metric, title, unit,
// value)`; `finding(run, rule, subject)`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/gate/comparison.h"
#include "src/gate/verdict.h"

namespace dladvisor {

struct HistoryRun {
  int64_t id = 0;  // in order of writing, from 1
  int64_t utc_ns = 0;
  std::string label;    // commit, or ""
  std::string setting;  // runs of another setting are not compared
  std::string verdict;  // as VerdictName
  struct Metric {
    std::string title;
    Unit unit = Unit::kNanoseconds;
    double value = 0;
  };
  std::map<std::string, Metric> values;                       // by metric
  std::vector<std::pair<std::string, std::string>> findings;  // rule and subject, sorted
};

// All runs in order; none where there is no such file. Throws Error: no history, damaged, or newer.
std::vector<HistoryRun> ReadHistory(const std::filesystem::path& path);
// Adds a run, in one transaction; makes the file where there is none. Its id is given here. Throws Error.
void AppendToHistory(const std::filesystem::path& path, const HistoryRun& run);

// How much runs of that setting differ in a metric, of the values around each level (change_points.h).
// Nothing with fewer than kFewestHistoryRuns runs.
inline constexpr size_t kFewestHistoryRuns = 8;
std::optional<RunNoise> LearnNoise(const std::vector<HistoryRun>& runs, const std::string& setting,
                                   const std::string& metric);

// The metric over the last runs of that setting, the last of which is the one that is gated. It regressed
// where its level rose, in one or several steps, since the best earlier level that lasted, by more than
// `options.regression` and `options.floor`, and more than noise.
Trend TrendOf(const std::vector<HistoryRun>& runs, const std::string& setting, const std::string& metric,
              const ComparisonOptions& options);

}  // namespace dladvisor
