// SPDX-License-Identifier: Apache-2.0
// The writer in every release's schema: what the schema has room for is there, and the importer reads it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "examples/generator/nsys_writer.h"
#include "src/importers/importers.h"
#include "tests/importers/sqlite_file.h"
#include "tests/support/files.h"

namespace dladvisor::test {
namespace {

using namespace example;
namespace fs = std::filesystem;

constexpr int64_t kPid = 77, kTid = 78;

struct Tiny {
  static constexpr size_t kKernels = 3, kCopies = 2, kSets = 1, kSyncs = 1, kApiCalls = 7, kRanges = 2,
                          kMemoryEvents = 2;
};

// Two nested ranges around everything: seven calls, the first six of them GPU work.
void WriteTiny(const fs::path& path, const NsysSchema& schema) {
  NsysWriter writer(path, schema);
  SystemInfo system;
  system.gpu_count = 1;
  system.cpu_model = "A CPU";
  system.driver_version = "460.73.01";
  system.cuda_version = "11.2";
  system.framework = "PyTorch 1.9.0";
  system.environment = {{"PYTORCH_VERSION", "1.9.0"}, {"RANK", "0"}};
  system.start_utc_ns = 1'629'358'000'000'000'000;
  writer.AddSystem(system);
  GpuInfo gpu;
  gpu.name = "RTX A6000";
  gpu.bus = "0000:21:00.0";
  gpu.memory_bytes = int64_t{48} << 30;
  gpu.sm_count = 84;
  gpu.compute_major = 8;
  gpu.compute_minor = 6;
  writer.Add(gpu);
  writer.AddProcess(kPid, "python");
  writer.AddThread(kPid, kTid, "main");

  const auto on_gpu = [](int64_t correlation) {
    GpuRow row;
    row.start = 1000 + correlation * 100;
    row.end = row.start + 50;
    row.pid = kPid;
    row.correlation = correlation;
    return row;
  };
  const StringId launch = writer.Intern("cudaLaunchKernel_v7000");
  for (int64_t c = 1; c <= 7; ++c)
    writer.Add(ApiRow{.start = 900 + c * 100,
                      .end = 910 + c * 100,
                      .pid = kPid,
                      .tid = kTid,
                      .correlation = c,
                      .name = launch});
  for (int64_t c = 1; c <= 3; ++c) {
    KernelRow kernel{on_gpu(c)};
    kernel.name = writer.Intern("void kernel<float>(T1 *)");
    kernel.short_name = writer.Intern("kernel");
    kernel.grid = 4;
    kernel.block = 128;
    writer.Add(kernel);
  }
  for (int64_t c = 4; c <= 5; ++c) {
    CopyRow copy{on_gpu(c)};
    copy.bytes = 4096;
    writer.Add(copy);
  }
  SetRow set{on_gpu(6)};
  set.bytes = 512;
  writer.Add(set);
  SyncRow sync{on_gpu(7)};
  writer.Add(sync);
  for (const bool is_free : {false, true})
    writer.Add(MemoryRow{.time = is_free ? 3000 : 950,
                         .pid = kPid,
                         .device = 0,
                         .correlation = 0,
                         .address = 4096,
                         .bytes = 1 << 20,
                         .is_free = is_free});
  RangeRow range;
  range.start = 900;
  range.end = 4000;
  range.pid = kPid;
  range.tid = kTid;
  range.text = "outer";
  writer.Add(range);
  range.start = 950;
  range.end = 3900;
  range.text = "inner";
  range.registered = true;
  writer.Add(range);
  writer.Finish(5000);
}

std::vector<fs::path> Schemas() {
  std::vector<fs::path> files = DataFiles("nsys_schema", ".sql");
  std::erase_if(files, [](const fs::path& f) { return !f.filename().string().starts_with("schema_"); });
  return files;
}

// Rows of the table, where the schema has it.
size_t Expected(Sqlite& db, const std::string& table, size_t rows) {
  const size_t expected = db.HasTable(table) ? rows : 0;
  if (expected > 0) {
    EXPECT_EQ(db.Query("SELECT 1 FROM " + table).size(), expected) << table;
  }
  return expected;
}

void CheckTiny(const fs::path& path) {
  Sqlite db(path, SQLITE_OPEN_READONLY);
  EXPECT_EQ(db.Query("PRAGMA integrity_check"), (std::vector<std::vector<std::string>>{{"ok"}}));
  const Trace trace = ReadProfile(path);
  EXPECT_EQ(trace.kernels.size(), Expected(db, "CUPTI_ACTIVITY_KIND_KERNEL", Tiny::kKernels));
  EXPECT_EQ(trace.copies.size(), Expected(db, "CUPTI_ACTIVITY_KIND_MEMCPY", Tiny::kCopies));
  EXPECT_EQ(trace.sets.size(), Expected(db, "CUPTI_ACTIVITY_KIND_MEMSET", Tiny::kSets));
  EXPECT_EQ(trace.syncs.size(), Expected(db, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", Tiny::kSyncs));
  EXPECT_EQ(trace.api_calls.size(), Expected(db, "CUPTI_ACTIVITY_KIND_RUNTIME", Tiny::kApiCalls));
  EXPECT_EQ(trace.ranges.size(), Expected(db, "NVTX_EVENTS", Tiny::kRanges));
  EXPECT_EQ(trace.memory_events.size(), Expected(db, "CUDA_GPU_MEMORY_USAGE_EVENTS", Tiny::kMemoryEvents));
  for (const auto& [table, skipped] : trace.health.rows_skipped) EXPECT_EQ(skipped, 0) << table;

  for (size_t i = 0; i < trace.kernels.size(); ++i) {
    EXPECT_EQ(trace.names.View(trace.kernels.name[i]), "void kernel<float>(T1 *)");
    EXPECT_EQ(trace.names.View(trace.kernels.short_name[i]), "kernel");
    EXPECT_EQ(trace.kernels.correlation[i], static_cast<int64_t>(i + 1));
    EXPECT_EQ(trace.kernels.end[i] - trace.kernels.start[i], 50);
    EXPECT_EQ(trace.kernels.grid[i], 4);
    EXPECT_EQ(trace.kernels.block[i], 128);
    EXPECT_EQ(trace.processes[trace.kernels.process[i]].pid, kPid);
  }
  if (trace.ranges.size() == 2) {
    EXPECT_EQ(trace.names.View(trace.ranges.name[0]), "outer");
    EXPECT_EQ(trace.names.View(trace.ranges.name[1]), "inner");
    EXPECT_EQ(trace.threads[trace.ranges.thread[0]].tid, kTid);
  }
  if (db.HasTable("TARGET_INFO_GPU")) {
    ASSERT_EQ(trace.devices.size(), 1U);
    EXPECT_EQ(trace.devices[0].name, "RTX A6000");
  }
  if (db.HasTable("TARGET_INFO_SYSTEM_ENV")) {
    EXPECT_EQ(trace.facts.at("driver_version"), "460.73.01");
    EXPECT_EQ(trace.facts.at("cuda_version"), "11.2");
    EXPECT_EQ(trace.facts.at("framework"), "PyTorch 1.9.0");
    EXPECT_EQ(trace.environment.at("RANK"), "0");
  }
}

TEST(EverySchema, IsWrittenAndRead) {
  const std::vector<fs::path> schemas = Schemas();
  if (schemas.empty()) GTEST_SKIP() << (DataDir() / "nsys_schema").string() << " is missing";
  size_t with_kernels = 0, with_ranges = 0;
  for (const fs::path& file : schemas) {
    SCOPED_TRACE(file.filename().string());
    const ScratchDir scratch;
    const fs::path path = scratch.path() / "tiny.sqlite";
    WriteTiny(path, ReadNsysSchema(file));
    CheckTiny(path);
    // The file's name says which release it is, "schema_2.9.1_nsys2022.1.3.3.sql", or none.
    const std::string stem = file.stem().string(), version = stem.substr(stem.find("_nsys") + 5);
    const Trace trace = ReadProfile(path);
    EXPECT_EQ(trace.producer_version, version.starts_with("nometa") ? "" : version);
    with_kernels += trace.kernels.size() > 0;
    with_ranges += trace.ranges.size() > 0;
  }
  EXPECT_GE(schemas.size(), 27U);
  EXPECT_GE(with_kernels, 17U);
  EXPECT_GE(with_ranges, 12U);
}

TEST(DefaultSchema, IsWrittenAndRead) {
  const ScratchDir scratch;
  const fs::path path = scratch.path() / "tiny.sqlite";
  WriteTiny(path, DefaultNsysSchema());
  CheckTiny(path);
  const Trace trace = ReadProfile(path);
  EXPECT_EQ(trace.kernels.size(), Tiny::kKernels);
  EXPECT_EQ(trace.memory_events.size(), Tiny::kMemoryEvents);
  EXPECT_EQ(trace.schema_version, "2.9.1");
}

TEST(NsysWriter, LeavesNothingUnfinished) {
  const ScratchDir scratch;
  { const NsysWriter writer(scratch.path() / "run.sqlite", DefaultNsysSchema()); }
  EXPECT_TRUE(fs::is_empty(scratch.path()));
}

TEST(NsysWriter, KeepsTheOldFileUntilTheNewOneIsWhole) {
  const ScratchDir scratch;
  const fs::path path = scratch.path() / "run.sqlite";
  WriteFile(path, "old");
  NsysWriter writer(path, DefaultNsysSchema());
  EXPECT_EQ(ReadFile(path), "old");
  writer.Finish(1);
  EXPECT_TRUE(ReadFile(path).starts_with("SQLite format 3"));
}

TEST(NsysWriter, RefusesAFolderThatIsMissing) {
  const ScratchDir scratch;
  EXPECT_THROW(NsysWriter(scratch.path() / "none" / "run.sqlite", DefaultNsysSchema()), Error);
}

TEST(NsysSchema, RefusesWhatIsNoSchema) {
  const ScratchDir scratch;
  const fs::path file = scratch.path() / "schema.sql";
  const auto reason = [&](const std::string& sql) {
    WriteFile(file, sql);
    try {
      ReadNsysSchema(file);
    } catch (const Error& error) {
      return error.reason();
    }
    return std::string("accepted");
  };
  EXPECT_EQ(reason("CREATE TABLE StringIds (id INTEGER, value TEXT);"), "accepted");
  EXPECT_EQ(reason(""), "creates no table");
  EXPECT_THAT(reason("CREATE TABLE a (b INTEGER; "), testing::StartsWith("is no schema: "));
  EXPECT_EQ(reason("-- a comment\nDROP TABLE a"), "is no schema: no such table: a");
  EXPECT_EQ(reason("ATTACH 'x' AS y;"),
            "has a statement that creates neither table nor index: ATTACH 'x' AS y;");
  for (const fs::path& path : {scratch.path(), scratch.path() / "missing.sql"}) {
    try {
      ReadNsysSchema(path);
      FAIL() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.reason(), "cannot be read");
    }
  }
}

}  // namespace
}  // namespace dladvisor::test
