// SPDX-License-Identifier: Apache-2.0
#include "src/importers/rocprof_csv/run_files.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "engine/base/error.h"
#include "src/importers/bytes/byte_source.h"
#include "src/trace/intervals.h"

namespace dladvisor::rocprof_csv {
namespace fs = std::filesystem;

std::string TableOf(const fs::path& file, std::string* prefix) {
  static const RE2 form(
      R"((.*?)_?((?:kernel|memory_copy|memory_allocation|scratch_memory|hip|hip_api|hip_runtime|hip_runtime_api|)"
      R"(hip_compile|hip_compiler|hip_compiler_api|hsa|hsa_api|hsa_core|hsa_core_api|hsa_amd_ext_api|marker|)"
      R"(marker_api|rccl|rccl_api|rocdecode_api|rocjpeg_api)_trace|agent_info|)"
      R"((?:kernel|memory_copy|memory_allocation|scratch_memory|hip|hip_api|hsa|hsa_api|marker|marker_api|rccl|)"
      R"(rccl_api|domain)_stats|counter_collection)\.csv)");
  std::string before, table;
  const std::string name = file.filename().string();
  if (!RE2::FullMatch(name, form, &before, &table)) return "";
  // "a_hip_api" is "a" and not "a_hip", and "myhip_trace.csv" is of no prefix "my".
  if (!before.empty() && name[before.size()] != '_') return "";
  if (prefix != nullptr) *prefix = before;
  return table;
}

namespace {

// From the first start to the last end.
std::optional<Interval> TimeOf(const fs::path& path) {
  ByteSource source(path);
  CsvRows rows(source);
  std::optional<Interval> time;
  while (rows.Next()) {
    const auto start = rows.Number(Cell::kStart), end = rows.Number(Cell::kEnd);
    if (!start || !end || *end < *start || *start <= 0) continue;
    if (!time) time = Interval{*start, *end};
    time->start = std::min(time->start, *start);
    time->end = std::max(time->end, *end);
  }
  return time;
}

}  // namespace

RunFiles FilesOfRun(const fs::path& file) {
  RunFiles run;
  std::string prefix;
  if (TableOf(file, &prefix).empty()) return run;
  struct Candidate {
    RunFile file;
    std::optional<Interval> time;
  };
  std::map<fs::path, Candidate> others;  // in an order that folders do not have
  std::optional<Interval> time = TimeOf(file);
  std::error_code error;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::string its_prefix;
    const std::string its_table = TableOf(entry.path(), &its_prefix);
    if (its_table.empty() || its_prefix != prefix || entry.path().filename() == file.filename()) continue;
    if (!entry.is_regular_file(error)) continue;
    try {
      ByteSource source(entry.path());
      const std::optional<Kind> kind = KindOf(source.Head());
      if (!kind) continue;
      if (*kind == Kind::kAgents)
        run.files.push_back({entry.path(), *kind});
      else
        others[entry.path()] = {{entry.path(), *kind}, TimeOf(entry.path())};
    } catch (const Error&) {  // empty, or not to be read: the run has the others
    }
  }
  // What overlaps with those that are known to belong together belongs to them.
  for (bool found = true; found && time;) {
    found = false;
    std::erase_if(others, [&](const auto& other) {
      const auto& [candidate, its_time] = other.second;
      if (!its_time || its_time->end < time->start || time->end < its_time->start) return false;
      time->start = std::min(time->start, its_time->start);
      time->end = std::max(time->end, its_time->end);
      run.files.push_back(candidate);
      return found = true;
    });
  }
  for (const auto& [path, other] : others)
    if (other.time) run.of_others.push_back(path.filename().string());
  return run;
}

}  // namespace dladvisor::rocprof_csv
