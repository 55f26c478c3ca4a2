// SPDX-License-Identifier: Apache-2.0
// Our views under the names of Holistic Trace Analysis and of the PyTorch TensorBoard plugin against what
// those two computed of the same traces, cell by cell. Where a figure differs on purpose, DIFFERENCES.yaml
// says which and why.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <re2/re2.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "src/fleet/load_profiles.h"
#include "tests/support/csv.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using Row = std::map<std::string, std::string>;  // column -> cell, "" for none

constexpr double kTolerance = 0.005;  // of their figure
// The most that may differ on purpose: of all cells, of those without the table of single launches, which has
// most of them and none that differs, and of these without what entries say is lost.
constexpr double kMostListed = 0.05, kMostListedOfOthers = 0.15, kMostListedOfFound = 0.05;
constexpr const char* kSingleLaunches = "hta_cuda_kernel_launch_stats";
// Of the cells that an entry matches those that differ; one that matches more is too broad.
constexpr double kLeastDiffering = 0.5;

std::string ShortestText(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  return "";
}

bool Number(const std::string& text, double& number) {
  if (text == "True" || text == "False") {
    number = text == "True";
    return true;
  }
  char* end = nullptr;
  number = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == 0 && !std::isnan(number);
}

// `tiny` is half of the last place where they round, and at least 1 ns of times in us.
bool Same(const std::string& ours, const std::string& theirs, double tiny) {
  if (ours == theirs) return true;
  double a = 0, b = 0;
  if (!Number(ours, a) || !Number(theirs, b)) return false;
  return std::abs(a - b) <= std::max(kTolerance * std::abs(b), tiny);
}

struct Difference {
  std::string name;  // for messages
  std::unique_ptr<RE2> table, file, cell, theirs;
  bool is_lost = false;
  size_t differing = 0, equal = 0;  // cells that it matches
};

// Counts cells by table, and holds those that differ against the list.
class Agreement {
 public:
  explicit Agreement(const fs::path& list) {
    for (const YAML::Node& node : YAML::LoadFile(list.string())) {
      Difference& d = differences_.emplace_back();
      const auto pattern = [&](const char* key) {
        const std::string text = node[key].as<std::string>("");
        if (!text.empty()) d.name += (d.name.empty() ? "" : ", ") + text;
        return std::make_unique<RE2>(text);
      };
      d.table = pattern("table");
      d.file = pattern("file");
      d.cell = pattern("cell");
      d.theirs = pattern("theirs");
      d.is_lost = node["lost"].as<bool>(false);
      EXPECT_TRUE(d.table->ok() && d.file->ok() && d.cell->ok() && d.theirs->ok()) << d.name;
      EXPECT_FALSE(node["reason"].as<std::string>().empty() || node["row"].as<std::string>().empty())
          << d.name;
    }
  }

  void Compare(const std::string& table, const std::string& file, const std::string& cell,
               const std::string& ours, const std::string& theirs, double tiny) {
    Counts& counts = tables_[table];
    ++counts.cells;
    const bool is_same = Same(ours, theirs, tiny);
    counts.equal += is_same;
    const auto d = std::find_if(differences_.begin(), differences_.end(), [&](const Difference& entry) {
      return RE2::FullMatch(table, *entry.table) && RE2::PartialMatch(file, *entry.file) &&
             RE2::PartialMatch(cell, *entry.cell) && RE2::PartialMatch(theirs, *entry.theirs);
    });
    if (d != differences_.end()) ++(is_same ? d->equal : d->differing);
    if (is_same) return;
    if (d != differences_.end()) {
      ++counts.listed;
      return;
    }
    constexpr size_t kShown = 5;
    if (++counts.unlisted[file] <= kShown)
      ADD_FAILURE() << table << " of " << file << ": " << cell.substr(0, 300) << ": ours " << ours
                    << ", theirs " << theirs;
  }

  void Finish() const {
    fmt::print("{:<34} {:>8} {:>8} {:>8} {:>8}\n", "table", "compared", "equal", "listed", "unlisted");
    size_t cells = 0, listed = 0;
    for (const auto& [table, counts] : tables_) {
      size_t unlisted = 0;
      for (const auto& [file, n] : counts.unlisted) unlisted += n;
      fmt::print("{:<34} {:>8} {:>8} {:>8} {:>8}\n", table, counts.cells, counts.equal, counts.listed,
                 unlisted);
      cells += counts.cells;
      listed += counts.listed;
    }
    const auto share = [](const char* of, size_t some, size_t all) {
      const double part = static_cast<double>(some) / static_cast<double>(all);
      fmt::print("{:<34} {:>8} {:>8} {:>8} {:>7.1f}%\n", of, all, all - some, some, 100 * part);
      return part;
    };
    EXPECT_LE(share("all", listed, cells), kMostListed);
    cells -= tables_.at(kSingleLaunches).cells;
    listed -= tables_.at(kSingleLaunches).listed;
    EXPECT_LE(share("without single launches", listed, cells), kMostListedOfOthers);
    for (const Difference& d : differences_) {
      cells -= d.is_lost ? d.differing + d.equal : 0;
      listed -= d.is_lost ? d.differing : 0;
    }
    EXPECT_LE(share("and without what is lost", listed, cells), kMostListedOfFound);
    fmt::print("\n{:>9} {:>8}  {}\n", "differing", "equal", "entry");
    for (const Difference& d : differences_)
      fmt::print("{:>9} {:>8}  {}{}\n", d.differing, d.equal, d.is_lost ? "lost: " : "", d.name);
    for (const Difference& d : differences_) {
      EXPECT_GT(d.differing, 0u) << "no difference any more: " << d.name;
      EXPECT_GE(static_cast<double>(d.differing),
                kLeastDiffering * static_cast<double>(d.differing + d.equal))
          << "too broad: " << d.name;
    }
  }

 private:
  struct Counts {
    size_t cells = 0, equal = 0, listed = 0;
    std::map<std::string, size_t> unlisted;  // by file
  };
  std::vector<Difference> differences_;
  std::map<std::string, Counts> tables_;
};

// One table of theirs and the view that has it.
struct Pair {
  const char *file, *view;
  std::vector<const char*> key, columns;
  double tiny = 1e-3;
  bool has_ranks = false;  // theirs holds several, numbered in order of files
  // The columns are a count and means over it that go on from the rank before: HTA does not begin anew.
  bool goes_on = false;
};

const std::vector<Pair>& HtaTables() {
  static const std::vector<const char*> described = {"count", "mean", "std", "min",
                                                     "25%",   "50%",  "75%", "max"};
  static const std::vector<Pair> tables = {
      {"temporal_breakdown.csv",
       "hta_temporal_breakdown",
       {},
       {"idle_time(us)", "compute_time(us)", "non_compute_time(us)", "kernel_time(us)"},
       1e-3,
       true},
      {"temporal_breakdown.csv",
       "hta_temporal_breakdown",
       {},
       {"idle_time_pctg", "compute_time_pctg", "non_compute_time_pctg"},
       0.0101,
       true},
      {"comm_comp_overlap.csv", "hta_comm_comp_overlap", {}, {"comp_comm_overlap_pctg"}, 0.0101, true},
      {"gpu_kernel_breakdown.1.csv",
       "hta_gpu_kernel_breakdown",
       {"kernel_type", "name"},
       {"sum (us)", "max (us)", "min (us)", "stddev", "mean (us)"},
       1e-3,
       true},
      {"idle_time_breakdown.0.csv",
       "hta_idle_time_breakdown",
       {"stream", "idle_category"},
       {"idle_time", "idle_time_ratio"},
       0.0101,
       true},
      {"idle_time_breakdown.1.csv",
       "hta_idle_interval_stats",
       {"stream", "idle_category"},
       described,
       0.0101,
       true},
      {"queue_length_summary.csv", "hta_queue_length_summary", {"stream"}, described, 1e-3, true},
      {"memory_bw_summary.csv", "hta_memory_bw_summary", {"name"}, described, 1e-3, true},
      {"cuda_kernel_launch_stats.rank{}.csv",
       "hta_cuda_kernel_launch_stats",
       {"correlation"},
       {"cpu_duration", "gpu_duration", "launch_delay"}},
      {"aten_op_kernels_and_delay.rank{}.csv",
       "hta_aten_op_kernels_and_delay",
       {"aten_op_name", "kernel_sequence"},
       {"occurrence_count", "avg_aten_op_launch_delay", "avg_runtime_delay"},
       1e-3,
       false,
       true},
  };
  return tables;
}

const std::vector<Pair>& PluginTables() {
  static const std::vector<const char*> roles = {"Kernel",     "Memcpy", "Memset", "Communication", "Runtime",
                                                 "DataLoader", "CpuOp",  "Other",  "Total"};
  static const std::vector<const char*> times = {"calls", "host_duration", "device_duration",
                                                 "self_host_duration", "self_device_duration"};
  static const std::vector<Pair> tables = {
      {"execution_per_step_us.csv", "tb_execution_summary", {"step"}, roles},
      {"execution_avg_us.csv", "tb_execution_average", {}, roles},
      {"kernel_stat.csv",
       "tb_kernel",
       {"name"},
       {"tc_used", "count", "sum", "mean", "max", "min", "blocks_per_sm", "occupancy"}},
      {"kernels_by_name_op.csv",
       "tb_kernel_operator",
       {"name", "op_name", "grid", "block", "regs_per_thread", "shared_memory"},
       {"calls", "total_duration", "min_duration", "max_duration", "tc_used", "op_tc_eligible"}},
      {"operators_by_name.csv", "tb_operator", {"name"}, times},
      {"operators_by_name.csv", "tb_operator", {"name"}, {"tc_eligible", "tc_self_ratio", "tc_total_ratio"}},
      {"operators_by_name_input.csv", "tb_operator_input", {"name", "input_shape"}, times},
  };
  return tables;
}

// The plugin leaves registers and shared memory empty where they are not recorded.
std::string KeyOf(const Row& row, const std::vector<const char*>& key) {
  std::string text;
  for (const std::string column : key) {
    const bool is_number = column == "regs_per_thread" || column == "shared_memory";
    const std::string& cell = row.at(column);
    text += (text.empty() ? "" : " / ") + (is_number && cell.empty() ? "0" : cell);
  }
  return text;
}

// HTA's summaries have three lines of headings, of which pandas leaves those of the index in the third; empty
// ones have two.
std::vector<Row> ReadTable(const fs::path& path) {
  std::vector<std::vector<std::string>> lines = test::ReadCsv(path);
  std::erase_if(lines, [](const auto& line) { return line.size() < 2; });
  if (lines.empty() || (lines.size() == 2 && lines[1][0] == "count")) return {};
  std::vector<std::string> header = lines[0];
  size_t first = 1;
  if (lines.size() > 2 && header[0].empty() && header[1].empty()) {
    header = lines[1];
    header[0] = lines[2][0];
    header[1] = lines[2][1];
    first = 3;
  }
  std::vector<Row> rows;
  for (size_t i = first; i < lines.size(); ++i) {
    Row& row = rows.emplace_back();
    for (size_t c = 0; c < header.size() && c < lines[i].size(); ++c) row[header[c]] = lines[i][c];
  }
  return rows;
}

std::vector<Row> Query(const Database& db, const std::string& sql) {
  const auto result = db.Query(sql);
  std::vector<Row> rows;
  for (const auto& values : result.rows) {
    Row& row = rows.emplace_back();
    for (size_t c = 0; c < values.size(); ++c) row[result.columns[c].name] = ShortestText(values[c]);
  }
  return rows;
}

// Of a count and means over it, those without what is in `before`.
void TakeOff(const Row& before, const std::vector<const char*>& columns, Row& row) {
  const double all = std::stod(row.at(columns[0])), less = std::stod(before.at(columns[0]));
  row[columns[0]] = fmt::format("{}", all - less);
  for (const char* mean : std::span(columns).subspan(1))
    row[mean] =
        fmt::format("{}", (all * std::stod(row.at(mean)) - less * std::stod(before.at(mean))) / (all - less));
}

class Comparison {
 public:
  Comparison(Agreement& agreement, fs::path truth) : agreement_(agreement), truth_(std::move(truth)) {}

  void Table(const Pair& pair, const std::string& folder, size_t rank, const Database& db) {
    const std::string file = folder + '/' + fmt::format(fmt::runtime(pair.file), rank);
    const fs::path path = truth_ / file;
    if (!fs::exists(path)) return;
    std::multimap<std::string, Row> ours;
    for (Row& row : Query(db, std::string("SELECT * FROM ") + pair.view)) {
      const std::string key = KeyOf(row, pair.key);
      ours.emplace(key, std::move(row));
    }
    std::map<std::string, Row> before;
    if (pair.goes_on && rank > 0)
      for (Row& row : ReadTable(truth_ / folder / fmt::format(fmt::runtime(pair.file), rank - 1)))
        before.emplace(KeyOf(row, pair.key), std::move(row));
    for (Row& row : ReadTable(path)) {
      if (pair.has_ranks && row.contains("rank") && row.at("rank") != std::to_string(rank)) continue;
      if (row.contains("name") && row.at("name") == "others") continue;
      const auto missing = [&](const char* column) { return !row.contains(column); };
      ASSERT_TRUE(std::none_of(pair.key.begin(), pair.key.end(), missing)) << path;
      ASSERT_TRUE(std::none_of(pair.columns.begin(), pair.columns.end(), missing)) << path;
      const std::string key = KeyOf(row, pair.key);
      if (const auto earlier = before.find(key); earlier != before.end()) {
        const bool is_new = earlier->second.at(pair.columns[0]) != row.at(pair.columns[0]);
        if (!is_new && !ours.contains(key)) continue;
        TakeOff(earlier->second, pair.columns, row);
      }
      const auto found = ours.find(key);
      for (const char* column : pair.columns) {
        const std::string mine = found == ours.end() ? "" : found->second.at(column);
        agreement_.Compare(pair.view, file, key + " / " + column, mine, row.at(column), pair.tiny);
      }
      if (found != ours.end()) ours.erase(found);
    }
  }

  void KernelTypes(const std::string& folder, const std::map<std::string, double>& ours) {
    double all = 0;
    for (const auto& [type, time] : ours) all += time;
    for (const Row& row : ReadTable(truth_ / folder / "gpu_kernel_breakdown.0.csv")) {
      const std::string& type = row.at("kernel_type");
      const auto time = ours.find(type);
      const double sum = time == ours.end() ? 0 : time->second;
      agreement_.Compare("hta_gpu_kernel_type", folder, type + " / sum", fmt::format("{}", sum),
                         row.at("sum"), 1e-3);
      agreement_.Compare("hta_gpu_kernel_type", folder, type + " / percentage",
                         fmt::format("{}", 100 * sum / all), row.at("percentage"), 0.0501);
    }
  }

  void Steps(const std::string& folder, size_t rank, const Database& db) {
    std::map<std::string, Row> ours;  // by name
    for (Row& row :
         Query(db,
               "SELECT name, duration_ns / 1e3 AS dur, (start_ns - min(start_ns) OVER ()) / 1e3 AS "
               "ts FROM range WHERE name LIKE 'ProfilerStep#%'"))
      ours.emplace(row.at("name"), std::move(row));
    std::optional<double> first;
    std::set<std::string> seen;
    for (const Row& row : ReadTable(truth_ / folder / "iterations.csv")) {
      if (row.at("rank") != std::to_string(rank)) continue;
      double start = 0;
      ASSERT_TRUE(Number(row.at("ts"), start));
      if (!first) first = start;
      const std::string& name = row.at("s_name");
      const bool again = !seen.insert(name).second;
      const auto found = again ? ours.end() : ours.find(name);
      const auto compare = [&](const char* column, const std::string& theirs, double tiny) {
        agreement_.Compare("hta_iterations", folder, name + (again ? " again / " : " / ") + column,
                           found == ours.end() ? "" : found->second.at(column), theirs, tiny);
      };
      compare("name", name, 0);
      compare("dur", row.at("dur"), 1e-3);
      compare("ts", fmt::format("{}", start - *first), 1e-3);
    }
  }

  void Gpus(const std::string& folder, const Database& db) {
    const auto theirs = nlohmann::json::parse(test::ReadFile(truth_ / folder / "gpu_summary.json"));
    std::map<std::string, Row> ours;
    for (Row& row : Query(db, "SELECT * FROM tb_gpu_summary")) ours[row.at("device")] = row;
    for (const size_t device : theirs.at("gpu_ids"))
      for (const char* column : {"gpu_utilization", "sm_efficiency", "achieved_occupancy"}) {
        const auto& cell = theirs.at(column).at(device);
        const auto mine = ours.find(std::to_string(device));
        agreement_.Compare("tb_gpu_summary", folder, fmt::format("{} / {}", device, column),
                           mine == ours.end() ? "" : mine->second.at(column),
                           cell.is_null() ? "" : cell.dump(), 1e-9);
      }
  }

  // What the plugin recommends follows from figures; the conditions are compared, not the sentences.
  void Recommendations(const std::string& folder, const Database& db) {
    const std::string theirs = test::ReadFile(truth_ / folder / "recommendations.json");
    const std::vector<std::pair<const char*, const char*>> conditions = {
        {"has low utilization", "SELECT count(*) > 0 AS fires FROM gpu_summary WHERE gpu_utilization < 0.5"},
        {"high time cost on input data loading",
         "SELECT coalesce(sum(dataloader_ns) > 0.05 * sum(total_ns), 0) AS fires FROM execution_summary"},
        {"high time cost on communication",
         "SELECT coalesce(sum(communication_ns) > 0.1 * sum(total_ns), 0) AS fires FROM execution_summary"},
        {"Automatic Mixed Precision",
         "SELECT coalesce(max(uses_tensor_cores), 0) = 0 AND (SELECT count(*) FROM operator WHERE "
         "tensor_core_eligible AND device_total_ns > 0) > 0 AND (SELECT max(compute_capability) FROM gpu) >= "
         "'7' AS fires FROM kernel_name"}};
    for (const auto& [text, sql] : conditions)
      agreement_.Compare("tb_recommendations", folder, text, Query(db, sql)[0].at("fires"),
                         theirs.find(text) == std::string::npos ? "0" : "1", 0);
  }

 private:
  Agreement& agreement_;
  fs::path truth_;
};

TEST(KinetoParity, SameFiguresAsThePeers) {
  const fs::path truth = test::DataDir().parent_path() / "truth";
  if (test::DataDir().empty() || !fs::exists(truth / "MAP.tsv"))
    GTEST_SKIP() << "no truth/MAP.tsv beside $DLADVISOR_DATA";
  Agreement agreement(test::SourceDir() / "tests" / "corpus" / "DIFFERENCES.yaml");
  Comparison compare(agreement, truth);
  std::map<std::string, std::vector<std::string>> folders_of;  // trace -> folders
  std::map<std::string, size_t> rank_of;                       // folder and trace -> rank
  std::istringstream map(test::ReadFile(truth / "MAP.tsv"));
  for (std::string line; std::getline(map, line);) {
    const size_t tab = line.find('\t');
    if (tab == std::string::npos || line.starts_with("truth folder")) continue;
    std::istringstream traces(line.substr(tab + 1));
    size_t rank = 0;
    for (std::string trace; std::getline(traces, trace, ';'); ++rank) {
      folders_of[trace].push_back(line.substr(0, tab));
      rank_of[line.substr(0, tab) + '\t' + trace] = rank;
    }
  }
  std::map<std::string, std::map<std::string, double>> types;  // folder -> type -> us
  for (const auto& [trace, folders] : folders_of) {
    const fs::path path = truth.parent_path() / trace;
    ASSERT_TRUE(fs::exists(path)) << path;
    const Profile profile = LoadProfile(path, {});
    const Database db = profile.OpenDatabase();
    for (const std::string& folder : folders) {
      const size_t rank = rank_of[folder + '\t' + trace];
      const bool is_hta = folder.starts_with("hta/");
      for (const Pair& pair : is_hta ? HtaTables() : PluginTables()) compare.Table(pair, folder, rank, db);
      if (is_hta) {
        compare.Steps(folder, rank, db);
        for (const Row& row : Query(db, "SELECT * FROM hta_gpu_kernel_type"))
          types[folder][row.at("kernel_type")] += std::stod(row.at("sum"));
      } else {
        compare.Gpus(folder, db);
        compare.Recommendations(folder, db);
      }
    }
  }
  for (const auto& [folder, times] : types) compare.KernelTypes(folder, times);
  agreement.Finish();
}

}  // namespace
}  // namespace dladvisor
