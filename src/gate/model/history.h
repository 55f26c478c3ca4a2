// SPDX-License-Identifier: Apache-2.0
// The history of a gate: one SQLite file to which every gate adds its run (see trend.h for its use).
// Gates may add at the same time, and one that dies while it adds leaves the file as it was. What is no
// history, damaged, or of a newer program is refused and left alone.
//
// Layout: `history(key, value)` with format_version; `run(id, utc_ns, label, setting, verdict,
// recording)`, where `setting` is what must be the same for runs to be compared, and `recording`, which files
// of earlier programs lack, tells recordings apart; `value(run, metric, title, unit, value)`; `finding(run,
// rule, subject)`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/value.h"

namespace dladvisor {

struct HistoryRun {
  int64_t id = 0;  // in order of writing, from 1
  int64_t utc_ns = 0;
  std::string label;      // commit, or ""
  std::string setting;    // runs of another setting are not compared
  std::string verdict;    // as VerdictName
  std::string recording;  // GateRun::Recording; or ""
  struct Metric {
    std::string title;
    Unit unit = Unit::kNanoseconds;
    double value = 0;
  };
  std::map<std::string, Metric> values;                       // by metric
  std::vector<std::pair<std::string, std::string>> findings;  // rule and subject, sorted
};

// All runs in order of time, and of writing where that is equal or not known; none where there is no such
// file, or an empty one. Throws Error: no history, damaged, or newer.
std::vector<HistoryRun> ReadHistory(const std::filesystem::path& path);
// Adds a run, in one transaction; makes the file where there is none. Its id is given here, and values that
// are not finite are left out. False where the same recording is there already, which is then not added
// again. Throws Error.
bool AppendToHistory(const std::filesystem::path& path, const HistoryRun& run);

// Adds the runs of another history that this one lacks, as after branches that both were measured have been
// merged. Returns how many. Throws Error.
size_t MergeHistory(const std::filesystem::path& path, const std::filesystem::path& other);

}  // namespace dladvisor
