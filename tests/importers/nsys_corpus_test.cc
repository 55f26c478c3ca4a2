// SPDX-License-Identifier: Apache-2.0
// Real exports against plain SQL on the same file, and against what `nsys stats` printed.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "src/importers/importers.h"
#include "tests/importers/sqlite_file.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

namespace fs = std::filesystem;
using test::Sqlite;

std::vector<fs::path> Exports() {
  std::vector<fs::path> files = test::DataFiles("nsys_sqlite", ".sqlite");
  for (const fs::path& file : test::DataFiles("dlprof", ".sqlite"))
    if (file.filename().string().starts_with("nsys_profile")) files.push_back(file);
  return files;
}

using Totals = std::map<std::string, std::pair<int64_t, int64_t>>;  // name -> rows, ns

Totals Sql(Sqlite& db, const std::string& table, const std::string& sql) {
  Totals totals;
  if (!db.HasTable(table)) return totals;
  for (const auto& row : db.Query(sql)) totals[row[0]] = {std::stoll(row[1]), std::stoll(row[2])};
  return totals;
}

template <typename Events, typename Key>
Totals Sum(const Events& events, Key key) {
  Totals totals;
  for (size_t i = 0; i < events.size(); ++i) {
    auto& [rows, ns] = totals[std::string(key(i))];
    ++rows;
    ns += events.end[i] - events.start[i];
  }
  return totals;
}

class Corpus : public testing::TestWithParam<fs::path> {
 protected:
  void SetUp() override {
    if (GetParam().empty()) GTEST_SKIP() << "no real profiles: set DLADVISOR_DATA to their folder";
  }
};

TEST_P(Corpus, AgreesWithPlainSql) {
  const Trace trace = ReadProfile(GetParam());
  Sqlite db(GetParam(), SQLITE_OPEN_READONLY);
  const auto name = [&](NameId id) { return trace.names.View(id); };

  EXPECT_EQ(Sum(trace.kernels, [&](size_t i) { return name(trace.kernels.name[i]); }),
            Sql(db, "CUPTI_ACTIVITY_KIND_KERNEL",
                "SELECT value, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL "
                "JOIN StringIds ON id = demangledName GROUP BY value"));
  EXPECT_EQ(Sum(trace.api_calls, [&](size_t i) { return name(trace.api_calls.name[i]); }),
            Sql(db, "CUPTI_ACTIVITY_KIND_RUNTIME",
                "SELECT value, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_RUNTIME "
                "JOIN StringIds ON id = nameId GROUP BY value"));
  EXPECT_EQ(Sum(trace.os_calls, [&](size_t i) { return name(trace.os_calls.name[i]); }),
            Sql(db, "OSRT_API",
                "SELECT value, count(*), sum(end - start) FROM OSRT_API JOIN StringIds ON id = nameId GROUP "
                "BY value"));
  EXPECT_EQ(
      Sum(trace.copies,
          [&](size_t i) {
            return std::string(CopyDirectionName(trace.copies.direction[i])) + " " +
                   std::string(MemoryKindName(trace.copies.source[i])) + " " +
                   std::string(MemoryKindName(trace.copies.destination[i]));
          }),
      Sql(db, "CUPTI_ACTIVITY_KIND_MEMCPY",
          "WITH kind(id, name) AS (VALUES (0, 'pageable'), (1, 'pinned'), (2, 'device'), (3, 'array'),"
          " (4, 'managed'), (7, 'unknown')), "
          "direction(id, name) AS (VALUES (1, 'host-to-device'), (2, 'device-to-host'), (8, "
          "'device-to-device'),"
          " (10, 'peer-to-peer'), (11, 'unified host-to-device'), (12, 'unified device-to-host')) "
          "SELECT d.name || ' ' || s.name || ' ' || t.name, count(*), sum(end - start) "
          "FROM CUPTI_ACTIVITY_KIND_MEMCPY JOIN direction d ON d.id = copyKind JOIN kind s ON s.id = srcKind "
          "JOIN kind t ON t.id = dstKind GROUP BY 1"));
  EXPECT_EQ(Sum(trace.sets, [](size_t) { return "all"; }),
            Sql(db, "CUPTI_ACTIVITY_KIND_MEMSET",
                "SELECT 'all', count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_MEMSET"));
  EXPECT_EQ(
      Sum(trace.syncs, [&](size_t i) { return SyncKindName(trace.syncs.kind[i]); }),
      Sql(db, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
          "SELECT CASE syncType WHEN 1 THEN 'event' WHEN 2 THEN 'stream-wait-event' WHEN 3 THEN 'stream' "
          "WHEN 4 THEN 'context' ELSE 'unknown' END, count(*), sum(end - start) "
          "FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION GROUP BY 1"));
  EXPECT_EQ(Sum(trace.ranges, [&](size_t i) { return name(trace.ranges.name[i]); }),
            Sql(db, "NVTX_EVENTS",
                "SELECT coalesce(text, value, ''), count(*), sum(end - start) FROM NVTX_EVENTS "
                "LEFT JOIN StringIds ON id = textId WHERE eventType IN (59, 60) AND start >= 0 GROUP BY 1"));
  EXPECT_EQ(Sum(trace.overheads, [](size_t) { return "all"; }).size(), trace.overheads.size() ? 1u : 0u);
  int64_t bytes = 0;
  for (const int64_t b : trace.copies.bytes) bytes += b;
  if (db.HasTable("CUPTI_ACTIVITY_KIND_MEMCPY")) {
    EXPECT_EQ(std::to_string(bytes), db.Query("SELECT sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY")[0][0]);
  }
}

TEST_P(Corpus, IsWellFormed) {
  const Trace trace = ReadProfile(GetParam());
  for (const auto* start :
       {&trace.kernels.start, &trace.copies.start, &trace.sets.start, &trace.api_calls.start,
        &trace.syncs.start, &trace.ranges.start, &trace.os_calls.start, &trace.overheads.start})
    EXPECT_TRUE(std::is_sorted(start->begin(), start->end()));
  for (const GpuOperations* ops :
       {static_cast<const GpuOperations*>(&trace.kernels), static_cast<const GpuOperations*>(&trace.copies),
        static_cast<const GpuOperations*>(&trace.sets)}) {
    for (const size_t n : {ops->end.size(), ops->process.size(), ops->device.size(), ops->stream.size(),
                           ops->correlation.size(), ops->graph_node.size()})
      EXPECT_EQ(n, ops->size());
    for (size_t i = 0; i < ops->size(); ++i) {
      ASSERT_LT(ops->device[i], trace.devices.size());
      ASSERT_LT(ops->process[i], trace.processes.size());
    }
  }
  for (const IndexColumn* threads : {&trace.api_calls.thread, &trace.ranges.thread})
    for (size_t i = 0; i < threads->size(); ++i) ASSERT_LT((*threads)[i], trace.threads.size());
  for (const Thread& thread : trace.threads) EXPECT_LT(thread.process, trace.processes.size());
  std::set<int64_t> ordinals;
  for (const Device& device : trace.devices) EXPECT_TRUE(ordinals.insert(device.ordinal).second);
  EXPECT_TRUE(trace.health.rows_skipped.empty());
  EXPECT_EQ(trace.health.negative_durations, 0);
  for (const char* fact : {"os", "cpu_cores", "cuda_version", "driver_version"}) {
    if (trace.facts.contains("host")) {
      EXPECT_TRUE(trace.facts.contains(fact)) << fact;
    }
  }
}

std::vector<fs::path> ExportsOrNone() {
  std::vector<fs::path> files = Exports();
  if (files.empty()) files.emplace_back();
  return files;
}

std::string TestName(const testing::TestParamInfo<fs::path>& param) {
  std::string name = std::to_string(param.index) + "_" + param.param.parent_path().filename().string() + "_" +
                     param.param.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(RealExports, Corpus, testing::ValuesIn(ExportsOrNone()), TestName);

fs::path Profile(const std::string& name) { return test::DataDir() / "nsys_sqlite" / name; }

#define SKIP_WITHOUT(path) \
  if (!fs::exists(path)) GTEST_SKIP() << (path) << " is missing"

// The kernel summary in the text: share, total, instances, average, median, min, max, deviation, name.
TEST(NsysStats, KernelSummaryOf2_7B) {
  const fs::path text = test::DataDir() / "nsys_text/zx3xyy_assignment2-systems/nsys_stats--88c5198e.txt";
  const fs::path file = Profile("zx3xyy_assignment2-systems/result_2_7B--509f5606.sqlite");
  SKIP_WITHOUT(text);
  SKIP_WITHOUT(file);
  Totals printed;
  std::ifstream in(text);
  std::string line;
  bool inside = false;
  while (std::getline(in, line)) {
    if (line.find("cuda_gpu_kern_sum") != std::string::npos)
      inside = true;
    else if (inside && line.find("Processing [") != std::string::npos)
      break;
    if (!inside) continue;
    std::istringstream cells(line);
    double share = 0, number = 0;
    int64_t total = 0, instances = 0;
    std::string name;
    if (!(cells >> share >> total >> instances >> number >> number >> number >> number >> number)) continue;
    std::getline(cells >> std::ws, name);
    name.erase(name.find_last_not_of(' ') + 1);
    auto& sum = printed[name];  // long names are cut, so that several may print alike
    sum.first += instances;
    sum.second += total;
  }
  ASSERT_EQ(printed["ampere_sgemm_128x64_tn"], std::pair(int64_t{900}, int64_t{2'991'054'425}));

  const Trace trace = ReadProfile(file);
  const Totals read = Sum(trace.kernels, [&](size_t i) { return trace.names.View(trace.kernels.name[i]); });
  EXPECT_EQ(read.at("ampere_sgemm_128x64_tn"), printed["ampere_sgemm_128x64_tn"]);
  std::pair<int64_t, int64_t> all_printed, all_read;
  for (const auto& [name, sum] : printed) all_printed.first += sum.first, all_printed.second += sum.second;
  for (const auto& [name, sum] : read) all_read.first += sum.first, all_read.second += sum.second;
  EXPECT_EQ(all_read, all_printed);
}

TEST(Ddp53, HasTwoProcessesEachOnItsGpu) {
  const fs::path file = Profile("lizhieffe_assignment2-systems/profiles__ddp53_profile.sqlite");
  SKIP_WITHOUT(file);
  const Trace trace = ReadProfile(file);
  std::map<std::pair<int64_t, int64_t>, int> kernels;
  for (size_t i = 0; i < trace.kernels.size(); ++i)
    ++kernels[{trace.processes[trace.kernels.process[i]].pid,
               trace.devices[trace.kernels.device[i]].ordinal}];
  EXPECT_EQ(kernels, (std::map<std::pair<int64_t, int64_t>, int>{{{13096, 0}, 2326}, {{13097, 1}, 2326}}));
  // CUDA counts the GPUs the other way round than the profiler.
  ASSERT_EQ(trace.devices.size(), 2u);
  EXPECT_EQ(trace.devices[0].bus, "0000:81:00.0");
  EXPECT_EQ(trace.devices[1].bus, "0000:c1:00.0");
  EXPECT_EQ(trace.devices[1].memory_bytes, 25298141184);
  EXPECT_EQ(trace.devices[0].compute_major, 8);

  std::map<std::string, int> domains;
  for (size_t i = 0; i < trace.ranges.size(); ++i)
    ++domains[std::string(trace.names.View(trace.ranges.domain[i]))];
  EXPECT_EQ(domains, (std::map<std::string, int>{{"", 306}, {"NCCL", 466}, {"CCCL", 2}}));
}

TEST(Dlprof, SystemInfoWins) {
  const fs::path file = test::DataDir() / "dlprof/MohanadOdema_DLProf/nsys_profile--981830d9.sqlite";
  SKIP_WITHOUT(file);
  const Trace trace = ReadProfile(file);
  EXPECT_EQ(trace.facts.at("framework"), "PyTorch 1.10.1+cu102");
  EXPECT_EQ(trace.facts.at("driver_version"), "515.43.04");
  EXPECT_EQ(trace.facts.at("cuda_version"), "11.7");
  EXPECT_EQ(trace.facts.at("cpu_model"), "Intel(R) Core(TM) i7-9700K CPU @ 3.60GHz");
  EXPECT_EQ(trace.facts.at("profiler"), "Nsight Systems 2022.1.3.3");
  EXPECT_EQ(trace.schema_version, "2.9.1");
  EXPECT_EQ(trace.clock_origin_utc_ns, 1674691657396551185);
  EXPECT_EQ(trace.session_duration_ns, 3299577710);
  EXPECT_EQ(trace.devices.at(0).sm_count, 40);
}

TEST(Capture, CommandAndOptions) {
  const fs::path file = Profile("zx3xyy_assignment2-systems/result_2_7B_nvtx--6a707bc0.sqlite");
  SKIP_WITHOUT(file);
  const Trace trace = ReadProfile(file);
  EXPECT_EQ(trace.command, (std::vector<std::string>{"python", "cs336_systems/benchmarking_script.py",
                                                     "model=2_7B", "benchmark.mode=forward_only",
                                                     "benchmark.warmup_iters=1", "benchmark.run_iters=3"}));
  EXPECT_EQ(trace.capture_options.at("CAPTURE_EVENT_TYPE"), "OSRuntime,NvtxEvents,Cuda");
  EXPECT_EQ(trace.environment.at("TERM"), "xterm-256color");
  EXPECT_EQ(trace.facts.at("cuda_version"), "12.8");
  EXPECT_EQ(trace.facts.at("driver_version"), "570.172.08");
  EXPECT_EQ(trace.facts.at("framework"), "PyTorch 2.5.1");
  ASSERT_FALSE(trace.health.diagnostics.empty());
  EXPECT_EQ(trace.health.diagnostics[0].severity, 3);
}

TEST(OldExports, DeviceUnitsAndDriverVersion) {
  const fs::path mib = Profile("quasiben_nvtx-examples/cudf-groupby.sqlite");
  const fs::path bytes = Profile("PolPuigPuy_OpenACC_Project_PolPuig/report3.sqlite");
  const fs::path driver = Profile("igouProto_CSC746CUDALab/report1.sqlite");
  SKIP_WITHOUT(mib);
  SKIP_WITHOUT(bytes);
  SKIP_WITHOUT(driver);
  const Trace old = ReadProfile(mib);
  ASSERT_EQ(old.devices.size(), 2u);
  EXPECT_EQ(old.devices[0].name, "Quadro RTX 8000");
  EXPECT_EQ(old.devices[0].memory_bytes, int64_t{48601} << 20);
  EXPECT_EQ(old.devices[0].memory_bandwidth,
            std::nullopt);  // the file says 4026531840, which is not a bandwidth
  EXPECT_EQ(old.devices[0].clock_hz, 1'770'000'000);
  const Trace newer = ReadProfile(bytes);
  EXPECT_EQ(newer.devices.at(0).memory_bytes, 10495524864);
  EXPECT_EQ(newer.devices.at(0).memory_bandwidth, 760'080'000'000);
  EXPECT_EQ(ReadProfile(driver).facts.at("driver_version"), "525.105.17");
}

}  // namespace
}  // namespace dladvisor
