// SPDX-License-Identifier: Apache-2.0
// Exports of a training loop that is well, for planting one problem in: each step launches forty matrix
// products of 200 us ahead of the GPU and waits for them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "examples/generator/nsys_writer.h"

namespace dladvisor::test {

inline constexpr int64_t kUs = 1000, kMs = 1000 * kUs;
inline constexpr int64_t kComputeStream = 7, kCopyStream = 20, kCommunicationStream = 24;
inline constexpr int64_t kKernelsPerStep = 40, kKernelNs = 200 * kUs;
inline constexpr const char* kMatrixKernel =
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1";
inline constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)";

// One thread of a process and the GPU that it feeds. What the host does takes host time, one after another.
class PlantedThread {
 public:
  PlantedThread(example::NsysWriter& writer, int64_t pid, int64_t tid, int64_t device);

  void Work(int64_t ns) { host_ += ns; }
  void Call(const std::string& api, int64_t ns);
  void OsCall(const std::string& name, int64_t ns);
  void Range(const std::string& text, const std::function<void()>& content);
  void Kernel(const std::string& name, int64_t ns, int64_t stream = kComputeStream);
  // From or to pinned memory, not waited for.
  void Copy(example::CopyKind kind, int64_t bytes, int64_t ns, int64_t stream);
  // Four bytes into pageable memory, waited for.
  void ReadScalar();
  void Allocate(int64_t bytes);
  // Until all that was launched is done.
  void Wait();

  int64_t device() const { return device_; }
  int64_t host() const { return host_; }
  void Finish();  // writes the ranges, in order of start as exports have them

 private:
  struct Drawn {
    int64_t start, end;
    std::string text;
  };

  void Place(example::GpuRow& row, int64_t stream, int64_t ns);

  example::NsysWriter& writer_;
  int64_t pid_, tid_, device_, host_ = 1'000'000, correlation_;
  std::map<int64_t, int64_t> done_;  // by stream, the end of its last operation
  std::vector<Drawn> ranges_;
};

// A run; what a test plants is a change of it.
struct PlantedRun {
  using Act = std::function<void(PlantedThread&, int step)>;

  int steps = 20;
  std::vector<std::pair<int64_t, int64_t>> gpus = {{500, 0}};  // process and device
  int64_t memory_bytes = 50'000'000'000;                       // in use, of 85 GB
  std::vector<std::pair<std::string, std::string>> environment;
  Act first = [](PlantedThread&, int) {};  // in each step before its kernels, the queue being empty
  Act last = [](PlantedThread&, int) {};   // after its kernels were launched
  // The kernels of a step.
  Act kernels = [](PlantedThread& thread, int) {
    for (int64_t i = 0; i < kKernelsPerStep; ++i) thread.Kernel(kMatrixKernel, kKernelNs);
  };
};

void WritePlantedRun(const PlantedRun& run, const std::filesystem::path& path);

}  // namespace dladvisor::test
