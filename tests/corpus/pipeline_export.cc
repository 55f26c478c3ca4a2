// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/pipeline_export.h"

#include <algorithm>
#include <string>
#include <vector>

#include "examples/generator/nsys_writer.h"
#include "tests/corpus/planted_export.h"

namespace dladvisor::test {
namespace {

constexpr int64_t kLead = 20 * kUs;  // of a pass's range before its first kernel
constexpr const char* kReceive = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";

// A stage's process: pid 500 and up, one thread.
class StageWriter {
 public:
  StageWriter(example::NsysWriter& writer, int64_t stage)
      : writer_(writer), pid_(500 + stage), device_(stage) {
    example::GpuInfo gpu;
    gpu.device = stage;
    gpu.name = "NVIDIA H100 80GB HBM3";
    gpu.memory_bytes = 85'000'000'000;
    gpu.compute_major = 9;
    gpu.sm_count = 132;
    writer.Add(gpu);
    writer.AddProcess(pid_, "python");
    writer.AddThread(pid_, pid_, "python");
  }

  void Range(int64_t start, int64_t end, const std::string& text) {
    writer_.Add(example::RangeRow{start, end, pid_, pid_, text, true});
  }
  // Two kernels from start to end, launched from `call` on.
  void Compute(int64_t call, int64_t start, int64_t end) {
    const int64_t middle = start + (end - start) / 2;
    Kernel(call, start, middle, kMatrixKernel, kComputeStream);
    Kernel(call + 4 * kUs, middle, end, kMatrixKernel, kComputeStream);
  }
  // Launched while the pass before still runs.
  void Communicate(const char* kernel, int64_t start, int64_t end) {
    Kernel(start - 10 * kUs, start + kUs, end, kernel, kCommunicationStream);
  }

 private:
  void Kernel(int64_t call, int64_t start, int64_t end, const char* name, int64_t stream) {
    writer_.Add(example::ApiRow{call, call + 3 * kUs, pid_, pid_, ++correlation_,
                                writer_.Intern("cudaLaunchKernel_v7000")});
    example::KernelRow row;
    row.start = start;
    row.end = end;
    row.pid = pid_;
    row.device = device_;
    row.stream = stream;
    row.correlation = correlation_;
    row.name = row.short_name = writer_.Intern(name);
    row.grid = 132 * 16;
    row.block = 128;
    writer_.Add(row);
  }

  example::NsysWriter& writer_;
  int64_t pid_, device_, correlation_ = 0;
};

}  // namespace

void WritePipelineExport(const PipelineExport& run, const std::filesystem::path& path) {
  example::NsysWriter writer(path, example::DefaultNsysSchema());
  writer.AddSystem(example::SystemInfo{});
  const auto stages = Simulate(run.plan);
  int64_t length = 0;
  for (const auto& stage : stages)
    for (const SimulatedPass& pass : stage) length = std::max(length, pass.end);
  const int64_t pitch = length + run.optimizer + kMs;
  for (size_t s = 0; s < stages.size(); ++s) {
    StageWriter stage(writer, static_cast<int64_t>(s));
    for (int step = 0; step < run.steps; ++step) {
      const int64_t begin = kMs + step * pitch;
      stage.Range(begin - kLead, begin + length + run.optimizer + 100 * kUs,
                  "iteration " + std::to_string(step));
      int64_t last = begin;
      for (const SimulatedPass& pass : stages[s]) {
        const int64_t start = begin + pass.start, call = start - kLead + kUs;
        const bool waits = start - last > 2 * kUs;
        if (run.marks_passes && static_cast<int>(s) < run.stages_marked)
          stage.Range(call - kUs, call + 15 * kUs,
                      std::string(1, pass.phase) + std::to_string(pass.micro_batch) + "." +
                          std::to_string(pass.chunk));
        if (waits && pass.phase != 'W') stage.Communicate(kReceive, last, start - kUs);
        stage.Compute(call + 5 * kUs, start, begin + pass.end);
        last = begin + pass.end;
      }
      const int64_t update = begin + length;
      // The norm of the gradients, over all stages.
      if (update - last > 2 * kUs) stage.Communicate(kAllReduce, last, update - kUs);
      stage.Range(update - kLead, update - kUs, "Optimizer");
      stage.Compute(update - kLead + kUs, update, update + run.optimizer);
    }
  }
  writer.Finish(kMs + run.steps * pitch);
}

}  // namespace dladvisor::test
