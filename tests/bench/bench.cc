// ./dev bench [KERNELS]: what things cost, as multiples of something measured in the same run.
// A report: of what bare SQLite takes to step the same columns of the same generated export; a line per size,
// the last KERNELS (default 400,000), the first a tenth. Loading the built-in rules: of reading an export of
// 3 MB. Rules: see rules_bench.cc.
#include "tests/bench/bench.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <functional>
#include <random>
#include <string>

#include "engine/inference.h"
#include "examples/generator/nsys_writer.h"
#include "src/cli/session.h"
#include "src/report/report.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

// Four ranks with a GPU each: steps of 500 kernels inside numbered ranges, half as many NVTX ranges as
// kernels, some copies.
void WriteExport(const fs::path& path, int64_t kernels) {
  example::NsysWriter writer(path, example::DefaultNsysSchema());
  std::mt19937_64 random(1);
  constexpr int64_t kRanks = 4, kPerStep = 500;
  std::vector<example::StringId> names;
  for (int i = 0; i < 60; ++i)
    names.push_back(
        writer.Intern(i % 3 ? fmt::format("void at::native::vectorized_elementwise_kernel<4, f{}>(int)", i)
                            : fmt::format("ampere_bf16_s16816gemm_bf16_128x{}_ldg8_f2f_stages_32x5_tn", i)));
  const auto launch = writer.Intern("cudaLaunchKernel_v7000"),
             sync = writer.Intern("cudaStreamSynchronize_v3020");
  for (int64_t rank = 0; rank < kRanks; ++rank) {
    const int64_t pid = 1000 + rank;
    example::GpuInfo gpu;
    gpu.device = rank;
    gpu.name = "NVIDIA A100-SXM4-80GB";
    gpu.memory_bytes = 85'095'874'560;
    gpu.compute_major = 8;
    writer.Add(gpu);
    writer.AddProcess(pid, "python");
    int64_t host = 1'000'000, device = host, correlation = 0;
    for (int64_t step = 0; step * kPerStep < kernels / kRanks; ++step) {
      const int64_t begin = host;
      for (int64_t i = 0; i < kPerStep; ++i) {
        example::ApiRow call{host, host + 4000, pid, pid, ++correlation, launch};
        writer.Add(call);
        if (i % 2 == 0)
          writer.Add(example::RangeRow{host - 500, host + 4500, pid, pid, "aten::linear", true});
        example::KernelRow kernel;
        kernel.start = std::max(device, host + 6000);
        kernel.end = device = kernel.start + 2000 + static_cast<int64_t>(random() % 8000);
        kernel.pid = pid;
        kernel.device = rank;
        kernel.correlation = correlation;
        kernel.name = kernel.short_name = names[static_cast<size_t>(i) % names.size()];
        writer.Add(kernel);
        host += 5000;
      }
      writer.Add(example::ApiRow{host, device + 1000, pid, pid, ++correlation, sync});
      host = device + 20'000;
      writer.Add(
          example::RangeRow{begin - 1000, host - 1000, pid, pid, fmt::format("iteration {}", step), false});
    }
  }
  writer.Finish(60'000'000'000);
}

// The columns that the importer reads, stepped by bare SQLite.
void StepColumns(const fs::path& path) {
  sqlite3* db = nullptr;
  sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr);
  for (const char* sql :
       {"SELECT start, end, deviceId, streamId, correlationId, globalPid, demangledName, shortName, gridX, "
        "gridY, gridZ, "
        "blockX, blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory, graphNodeId "
        "FROM CUPTI_ACTIVITY_KIND_KERNEL",
        "SELECT start, end, globalTid, correlationId, nameId, returnValue FROM CUPTI_ACTIVITY_KIND_RUNTIME",
        "SELECT start, end, eventType, text, textId, globalTid, endGlobalTid, domainId FROM NVTX_EVENTS"}) {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(db, sql, -1, &statement, nullptr);
    int64_t sum = 0;
    while (sqlite3_step(statement) == SQLITE_ROW)
      for (int c = 0; c < sqlite3_column_count(statement); ++c) sum += sqlite3_column_int64(statement, c);
    sqlite3_finalize(statement);
    if (sum == 42) fmt::print("\n");  // keeps the loop
  }
  sqlite3_close(db);
}

void Measure(const fs::path& path, int64_t kernels, const KnowledgeBase& knowledge) {
  WriteExport(path, kernels);
  const double steps = BestOf(3, [&] { StepColumns(path); });
  const double report = BestOf(3, [&] {
    const Profile profile = LoadProfile(path, {});
    Database database = profile.OpenDatabase();
    const Advice advice = Infer(knowledge, database);
    RenderReport(BuildReport(database, advice, {}), ReportFormat::kHtml);
  });
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "{:>11} kernels  {:6.1f} MB  stepping its columns {:7.3f} s  report {:7.3f} s  ratio {:.2f}  peak "
      "memory {:5.0f} MB\n",
      kernels, static_cast<double>(fs::file_size(path)) / 1e6, steps, report, report / steps,
      static_cast<double>(usage.ru_maxrss) / 1024);
  fs::remove(path);
}

// Reading an export as small as users have, against loading the rules that judge it.
void MeasureLoading(const fs::path& path) {
  constexpr int64_t kKernels = 26'000;
  WriteExport(path, kKernels);
  const double read = BestOf(5, [&] { LoadProfile(path, {}); });
  const double rules = BestOf(5, [] { LoadRules({}, {}); });
  fmt::print("{:>11} built-in rules  load {:.2f} ms  reading {:.1f} MB {:.2f} ms  ratio {:.3f}\n",
             LoadRules({}, {}).rules().size(), rules * 1e3, static_cast<double>(fs::file_size(path)) / 1e6,
             read * 1e3, rules / read);
  fs::remove(path);
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
  int64_t kernels = 400'000;
  if (argc > 1) std::from_chars(argv[1], argv[1] + std::string_view(argv[1]).size(), kernels);
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("dladvisor-bench-{}.sqlite", kernels);
  const dladvisor::KnowledgeBase knowledge = dladvisor::LoadRules({}, {});
  for (const int64_t size : {kernels / 10, kernels}) dladvisor::Measure(path, size, knowledge);
  dladvisor::MeasureLoading(path);
  dladvisor::MeasureRules();
  return 0;
}
