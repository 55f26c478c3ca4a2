// SPDX-License-Identifier: Apache-2.0
// ./dev bench [KERNELS]: what things cost, as multiples of something measured in the same run.
// A report: of what bare SQLite takes to step the same columns of the same generated export on as many
// threads; a line per size, the last KERNELS (default 1,000,000), the first a tenth, then how time grows
// between them. `./dev bench 10000000` is the full case: 10 million kernels, 12 million API calls, 5 million
// ranges, 4 GPUs, 2 GB. Loading the built-in rules: of reading an export of 3 MB. Rules: see rules_bench.cc.
// `./dev bench trace` measures traces of PyTorch's profiler only: see trace_bench.cc; `./dev bench fleet` the
// report of many ranks: see fleet_bench.cc; `./dev bench gate` how right a gate is: see gate_bench.cc.
#include "tests/bench/bench.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "src/cli/cli.h"
#include "src/cli/session.h"
#include "src/trace/parallel.h"
#include "tests/bench/child.h"
#include "tests/bench/export.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

// A folder for what is written, gone at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "dladvisor-bench-XXXXXX").string();
    if (!mkdtemp(name.data())) throw Error(name, "cannot be created");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code none;
    fs::remove_all(path_, none);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// The columns that the importer reads, of the tables that grow with the run.
constexpr std::pair<std::string_view, std::string_view> kColumns[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     "start, end, deviceId, streamId, correlationId, globalPid, graphNodeId, demangledName, shortName, "
     "gridX, "
     "gridY, gridZ, blockX, blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "start, end, globalTid, correlationId, nameId, returnValue"},
    {"NVTX_EVENTS", "start, end, eventType, text, textId, domainId, globalTid, endGlobalTid"},
};

sqlite3* Open(const fs::path& path) {
  sqlite3* db = nullptr;
  sqlite3_open_v2(("file:" + path.string() + "?mode=ro&immutable=1").c_str(), &db,
                  SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  return db;
}

int64_t StepAll(sqlite3* db, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr);
  const int columns = sqlite3_column_count(statement);
  int64_t sum = 0;
  while (sqlite3_step(statement) == SQLITE_ROW)
    for (int c = 0; c < columns; ++c) sum += sqlite3_column_int64(statement, c);
  sqlite3_finalize(statement);
  return sum;
}

// Bare SQLite: ranges of rows, a connection for each, on as many threads as a report uses.
void StepColumns(const fs::path& path) {
  constexpr int64_t kRows = 1'000'000;
  std::vector<std::string> statements;
  sqlite3* db = Open(path);
  for (const auto& [table, columns] : kColumns) {
    const int64_t last = StepAll(db, fmt::format("SELECT max(rowid) FROM {}", table));
    for (int64_t first = 1; first <= last; first += kRows)
      statements.push_back(fmt::format("SELECT {} FROM {} WHERE rowid BETWEEN {} AND {}", columns, table,
                                       first, first + kRows - 1));
  }
  sqlite3_close(db);
  std::atomic<int64_t> sum = 0;
  ParallelFor(statements.size(), [&](size_t i) {
    sqlite3* own = Open(path);
    sum += StepAll(own, statements[i]);
    sqlite3_close(own);
  });
  if (sum == 42) fmt::print("\n");  // keeps the loop
}

// Seconds that the report takes.
double MeasureReport(const fs::path& folder, int64_t kernels) {
  const fs::path path = folder / "run.sqlite";
  WriteExport(path, kernels);
  const int times = kernels > 3'000'000 ? 2 : 3;
  double stepping = 1e300;
  ChildRun best{1e300, 0};
  for (int i = 0; i < times; ++i) {  // in turn, as what else runs on the machine disturbs both
    stepping = std::min(stepping, BestOf(1, [&] { StepColumns(path); }));
    const ChildRun run = RunChild({"report", path.string(), "-o", (folder / "run.html").string()});
    best.seconds = std::min(best.seconds, run.seconds);
    best.peak_anonymous_mb = std::max(best.peak_anonymous_mb, run.peak_anonymous_mb);
  }
  fmt::print(
      "{:>11} kernels  {:6.1f} MB  stepping its columns {:7.3f} s  report {:7.3f} s  ratio {:.2f}  peak "
      "anonymous memory {:5.0f} MB\n",
      kernels, static_cast<double>(fs::file_size(path)) / 1e6, stepping, best.seconds,
      best.seconds / stepping, best.peak_anonymous_mb);
  std::fflush(stdout);
  fs::remove(path);
  return best.seconds;
}

// Reading an export as small as users have, against loading the rules that judge it.
void MeasureLoading(const fs::path& folder) {
  constexpr int64_t kKernels = 16'000;
  const fs::path path = folder / "small.sqlite";
  WriteExport(path, kKernels);
  const double read = BestOf(5, [&] { LoadProfile(path, {}); });
  const double rules = BestOf(5, [] { LoadRules({}, {}); });
  fmt::print("{:>11} built-in rules  load {:.2f} ms  reading {:.1f} MB {:.2f} ms  ratio {:.3f}\n",
             LoadRules({}, {}).rules().size(), rules * 1e3, static_cast<double>(fs::file_size(path)) / 1e6,
             read * 1e3, rules / read);
}

void Run(int64_t kernels) {
  const TemporaryFolder folder;
  const double small = MeasureReport(folder.path(), kernels / 10);
  const double large = MeasureReport(folder.path(), kernels);
  fmt::print("{:>11} times the kernels take {:.1f} times as long\n", 10, large / small);
  MeasureLoading(folder.path());
  MeasureRules();
  MeasureTrace(folder.path(), 600'000);
}

void RunTraces() {
  const TemporaryFolder folder;
  for (const int64_t events : {600'000, 1'500'000, 4'900'000}) MeasureTrace(folder.path(), events);
}

void RunFleet(std::string_view argument) {
  int64_t ranks = 192;
  std::from_chars(argument.data(), argument.data() + argument.size(), ranks);
  const TemporaryFolder folder;
  MeasureFleet(folder.path(), ranks);
}

}  // namespace

double BestOf(int times, const std::function<void()>& work) {
  double best = 1e300;
  for (int i = 0; i < times; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

}  // namespace dladvisor

int main(int argc, char** argv) {
  const std::string_view argument = argc > 1 ? argv[1] : "";
  if (argument == "report") return dladvisor::Main(argc, argv);  // see RunChild
  int64_t kernels = 1'000'000;
  std::from_chars(argument.data(), argument.data() + argument.size(), kernels);
  try {
    if (argument == "fleet")
      dladvisor::RunFleet(argc > 2 ? argv[2] : "");
    else if (argument == "gate")
      dladvisor::MeasureGate({argv + 2, argv + argc});
    else
      argument == "trace" ? dladvisor::RunTraces() : dladvisor::Run(kernels);
  } catch (const dladvisor::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
