// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "examples/generator/nsys_writer.h"

namespace dladvisor {
namespace {

constexpr int64_t kRanks = 4, kKernelsPerStep = 1000, kForward = 400, kBackward = 560;  // the rest: optimizer
constexpr int64_t kLaunchNs = 5000;                                                     // from call to call
constexpr int64_t kLatencyNs = 6000, kBetweenKernelsNs = 800;
constexpr int64_t kComputeStream = 7, kCopyStream = 14, kCollectiveStream = 20;

class Rank {
 public:
  Rank(example::NsysWriter& writer, int64_t rank)
      : writer_(writer), rank_(rank), pid_(1000 + 100 * rank), random_(static_cast<uint64_t>(rank) + 1) {
    for (int i = 0; i < 60; ++i)
      kernels_.push_back(
          i % 3 == 0 ? KernelName{writer.Intern(fmt::format(
                                      "ampere_bf16_s16816gemm_bf16_128x{}_ldg8_f2f_stages_32x5_tn", 64 + i)),
                                  writer.Intern(fmt::format("ampere_bf16_s16816gemm_bf16_128x{}", 64 + i))}
                     : KernelName{writer.Intern(fmt::format(
                                      "void at::native::vectorized_elementwise_kernel<4, at::native::f{}, "
                                      "at::detail::Array<char*, 3>>(int, at::native::f{}, T3)",
                                      i, i)),
                                  writer.Intern("vectorized_elementwise_kernel")});
    const auto nccl = writer.Intern("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*, unsigned long)");
    collective_ = {nccl, writer.Intern("ncclDevKernel_AllReduce_Sum_bf16_RING_LL")};
    launch_ = writer.Intern("cudaLaunchKernel_v7000");
    copy_ = writer.Intern("cudaMemcpyAsync_v3020");
    set_ = writer.Intern("cudaMemsetAsync_v3020");
    record_ = writer.Intern("cudaEventRecord_v3020");
    query_ = writer.Intern("cudaStreamIsCapturing_v10000");
    sync_ = writer.Intern("cudaStreamSynchronize_v3020");
  }

  void Describe() {
    example::GpuInfo gpu;
    gpu.device = rank_;
    gpu.name = "NVIDIA A100-SXM4-80GB";
    gpu.memory_bytes = 85'095'874'560;
    gpu.compute_major = 8;
    gpu.sm_count = 108;
    writer_.Add(gpu);
    writer_.AddProcess(pid_, "python");
    writer_.AddThread(pid_, pid_, "python");
    writer_.AddThread(pid_, Autograd(), "pt_autograd_0");
  }

  void Step(int64_t number) {
    const int64_t begin = host_;
    Load();
    const int64_t forward = host_;
    for (int64_t i = 0; i < kForward; i += 8) Layer(i / 8 % 24);
    Range(forward, host_, pid_, "forward");
    for (int64_t i = 0; i < kBackward; i += 4) Backward(i / 4);
    const int64_t optimizer = host_;
    for (int64_t i = kForward + kBackward; i < kKernelsPerStep; ++i) Kernel(pid_, i);
    Range(optimizer, host_, pid_, "Optimizer.step#AdamW.step");
    Wait();
    Range(begin, host_ - 500, pid_, fmt::format("iteration {}", number));
    WriteRanges();
  }

  int64_t host() const { return host_; }

 private:
  struct KernelName {
    example::StringId full = 0, base = 0;
  };
  struct Drawn {
    int64_t start, end, thread;
    std::string text;
  };

  int64_t Autograd() const { return pid_ + 1; }
  int64_t Random(int64_t below) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(below)); }

  void Range(int64_t start, int64_t end, int64_t thread, std::string text) {
    ranges_.push_back({start, end, thread, std::move(text)});
  }

  // Exports hold ranges in order of start.
  void WriteRanges() {
    std::sort(ranges_.begin(), ranges_.end(), [](const Drawn& a, const Drawn& b) {
      return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
    for (const Drawn& r : ranges_)
      writer_.Add(example::RangeRow{r.start, r.end, pid_, r.thread, r.text, r.text.starts_with("aten::")});
    ranges_.clear();
  }

  int64_t Call(int64_t thread, example::StringId name, int64_t duration) {
    writer_.Add(example::ApiRow{host_, host_ + duration, pid_, thread, ++correlation_, name});
    host_ += kLaunchNs;
    return correlation_;
  }

  void Place(example::GpuRow& row, int64_t stream, int64_t duration, int64_t& device) {
    row.start = std::max(device + kBetweenKernelsNs, host_ - kLaunchNs + kLatencyNs);
    row.end = device = row.start + duration;
    row.pid = pid_;
    row.device = rank_;
    row.stream = stream;
    row.correlation = correlation_;
  }

  void Kernel(int64_t thread, int64_t i) {
    Call(thread, launch_, 3500 + Random(1000));
    if (i % 6 == 0) Call(thread, i % 12 == 0 ? record_ : query_, 700);
    const KernelName& name = kernels_[static_cast<size_t>(i) % kernels_.size()];
    example::KernelRow row;
    Place(row, kComputeStream, 2000 + Random(6000), compute_);
    row.name = name.full;
    row.short_name = name.base;
    row.grid = 108 * (1 + i % 40);
    row.block = 128 << (i % 3);
    row.registers = 32 + i % 200;
    row.shared_bytes = i % 3 == 0 ? 49152 : 0;
    writer_.Add(row);
  }

  void Collective(int64_t thread) {
    Call(thread, launch_, 4000);
    example::KernelRow row;
    Place(row, kCollectiveStream, 20'000 + Random(20'000), collectives_);
    row.name = collective_.full;
    row.short_name = collective_.base;
    row.grid = 24;
    row.block = 512;
    row.registers = 96;
    writer_.Add(row);
  }

  void Load() {
    const int64_t begin = host_;
    for (int i = 0; i < 4; ++i) {
      writer_.Add(example::OsCallRow{host_, host_ + 9000, pid_, pid_, writer_.Intern("read")});
      host_ += 10'000;
    }
    Range(begin, host_, pid_, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
    Call(pid_, copy_, 6000);
    example::CopyRow copy;
    Place(copy, kCopyStream, 40'000, copies_);
    copy.bytes = 1 << 20;
    writer_.Add(copy);
    Call(pid_, set_, 3000);
    example::SetRow set;
    Place(set, kComputeStream, 1500, compute_);
    set.bytes = 4096;
    writer_.Add(set);
  }

  // Eight kernels of four ops.
  void Layer(int64_t layer) {
    static constexpr std::string_view kOps[] = {"aten::linear", "aten::layer_norm",
                                                "aten::scaled_dot_product_attention", "aten::gelu"};
    static constexpr std::string_view kParts[] = {"aten::addmm", "aten::native_layer_norm",
                                                  "aten::_flash_attention_forward"};
    const int64_t begin = host_;
    for (size_t op = 0; op < 4; ++op) {
      const int64_t op_begin = host_;
      for (int64_t k = 0; k < 2; ++k) Kernel(pid_, layer * 8 + static_cast<int64_t>(op) * 2 + k);
      if (op < 3) Range(op_begin - 200, host_ - 400, pid_, std::string(kParts[op]));
      Range(op_begin - 300, host_ - 300, pid_, std::string(kOps[op]));
    }
    Range(begin - 400, host_ - 200, pid_, fmt::format("layer.{}", layer));
  }

  // Four kernels, and a collective after every sixteenth op.
  void Backward(int64_t op) {
    static constexpr std::string_view kOps[] = {"AddmmBackward0", "NativeLayerNormBackward0",
                                                "ScaledDotProductFlashAttentionBackward0", "GeluBackward0"};
    const int64_t begin = host_;
    const auto name = kOps[static_cast<size_t>(op) % 4];
    const bool reduces = op % 16 == 15;
    for (int64_t k = 0; k < 4 - reduces; ++k) Kernel(Autograd(), 200 + op % 24 * 4 + k);
    if (reduces) Collective(Autograd());
    Range(begin - 200, host_ - 400, Autograd(), std::string(name));
  }

  void Wait() {
    const int64_t done = std::max({compute_, collectives_, copies_});
    const int64_t begin = host_, end = std::max(begin + 2000, done + 1000);
    Call(pid_, sync_, end - begin);
    example::SyncRow sync;
    sync.start = begin + 500;
    sync.end = end - 200;
    sync.pid = pid_;
    sync.device = rank_;
    sync.correlation = correlation_;
    writer_.Add(sync);
    host_ = end + 20'000 + Random(10'000);
  }

  example::NsysWriter& writer_;
  int64_t rank_, pid_;
  std::mt19937_64 random_;
  std::vector<KernelName> kernels_;
  KernelName collective_;
  example::StringId launch_, copy_, set_, record_, query_, sync_;
  std::vector<Drawn> ranges_;
  int64_t host_ = 1'000'000, compute_ = 0, collectives_ = 0, copies_ = 0, correlation_ = 0;
};

}  // namespace

void WriteExport(const std::filesystem::path& path, int64_t kernels) {
  example::NsysSchema schema = example::DefaultNsysSchema();
  schema.indexes.clear();
  schema.tables.push_back(
      "CREATE TABLE OSRT_API (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, "
      "globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER, callchainId "
      "INTEGER)");
  example::NsysWriter writer(path, schema);
  int64_t end = 0;
  for (int64_t r = 0; r < kRanks; ++r) {
    Rank rank(writer, r);
    rank.Describe();
    for (int64_t step = 0; step * kKernelsPerStep * kRanks < kernels; ++step) rank.Step(step);
    end = std::max(end, rank.host());
  }
  writer.Finish(end);
}

}  // namespace dladvisor
