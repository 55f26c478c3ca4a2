// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/export.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "examples/generator/nsys_writer.h"

namespace dladvisor {
namespace {

constexpr int64_t kRanks = 4, kPlainKernelsPerStep = 1000;
constexpr int64_t kLaunchNs = 5000;  // from call to call
constexpr int64_t kLatencyNs = 6000, kBetweenKernelsNs = 800;
constexpr int64_t kComputeStream = 7, kCopyStream = 14, kCollectiveStream = 20;

class Rank {
 public:
  Rank(example::NsysWriter& writer, int64_t rank, int64_t kernels_per_step, const ExportShape& shape)
      : writer_(writer),
        shape_(shape),
        forward_(std::max<int64_t>(8, kernels_per_step * 2 / 5 / 8 * 8)),
        backward_(std::max<int64_t>(4, kernels_per_step * 14 / 25 / 4 * 4)),
        optimizer_(std::max<int64_t>(1, kernels_per_step - forward_ - backward_)),
        rank_(rank),
        pid_(1000 + 1000 * rank),
        random_(static_cast<uint64_t>(rank) + 1),
        compute_(static_cast<size_t>(shape.streams)) {
    for (int64_t i = 0; i < shape.kernel_names; ++i) kernels_.push_back(NameOf(i));
    const auto nccl = writer.Intern("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*, unsigned long)");
    collective_ = {nccl, writer.Intern("ncclDevKernel_AllReduce_Sum_bf16_RING_LL")};
    launch_ = writer.Intern("cudaLaunchKernel_v7000");
    graph_launch_ = writer.Intern("cudaGraphLaunch_v10000");
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
    for (int64_t i = 1; i < shape_.threads; ++i)
      writer_.AddThread(pid_, pid_ + i, fmt::format("pt_autograd_{}", i - 1));
  }

  void Step(int64_t number) {
    const int64_t begin = host_;
    Load();
    const int64_t forward = host_;
    Pass([&] {
      for (int64_t i = 0; i < forward_; i += 8) Layer(i / 8 % 24);
    });
    Range(forward, host_, pid_, "forward");
    Pass([&] {
      for (int64_t i = 0; i < backward_; i += 4) Backward(i / 4);
    });
    const int64_t optimizer = host_;
    for (int64_t i = 0; i < optimizer_; ++i) Kernel(pid_, forward_ + backward_ + i);
    Range(optimizer, host_, pid_, "Optimizer.step#AdamW.step");
    Wait();
    Range(begin, host_ - 500, pid_, fmt::format(fmt::runtime(shape_.step), number));
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

  // The kernels of every third name are matrix products; those of many names are of a compiler.
  KernelName NameOf(int64_t i) {
    std::string base, full;
    if (shape_.kernel_names > 1000) {
      base = full = fmt::format("triton_poi_fused_add_mul_native_layer_norm_{}", i);
    } else if (i % 3 == 0) {
      base = fmt::format("ampere_bf16_s16816gemm_bf16_128x{}", 64 + i);
      full = base + "_ldg8_f2f_stages_32x5_tn";
    } else {
      base = "vectorized_elementwise_kernel";
      full = fmt::format(
          "void at::native::vectorized_elementwise_kernel<4, at::native::f{}, at::detail::Array<char*, "
          "3>>(int, at::native::f{}, T3)",
          i, i);
    }
    return {writer_.Intern(full), writer_.Intern(base)};
  }

  // The thread of a backward op: they take turns.
  int64_t Autograd(int64_t op) const {
    return shape_.threads == 1 ? pid_ : pid_ + 1 + op % (shape_.threads - 1);
  }

  // Work that is launched op by op, or as one graph.
  template <class Ops>
  void Pass(Ops ops) {
    if (shape_.graphs) {
      graph_correlation_ = Call(pid_, graph_launch_, 20'000);
      ops();
      graph_correlation_ = 0;
    } else {
      ops();
    }
  }

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
      writer_.Add(example::RangeRow{r.start, r.end, pid_, r.thread, r.text,
                                    !IsNumbered() && r.text.starts_with("aten::")});
    ranges_.clear();
  }

  // As PyTorch names operators for NVTX. `sizes` are of its tensors, with {0} in place of a batch's sequences
  // and {1} of its tokens.
  void Op(int64_t start, int64_t end, int64_t thread, std::string_view name, std::string_view sizes = "") {
    if (shape_.graphs) return;  // nothing ran on the host
    std::string text(name);
    if (IsNumbered()) text += fmt::format(", seq = {}, op_id = {}", correlation_ / 2, ++ops_);
    if (shape_.batches > 0 && !sizes.empty()) {
      const int64_t batch = 16 + ops_ / 8 % shape_.batches;
      text += fmt::format(", sizes = {}", fmt::format(fmt::runtime(sizes), batch, batch * 1024));
    }
    Range(start, end, thread, std::move(text));
  }

  bool IsNumbered() const { return shape_.numbered_ops || shape_.batches > 0; }

  int64_t Call(int64_t thread, example::StringId name, int64_t duration) {
    writer_.Add(example::ApiRow{host_, host_ + duration, pid_, thread, ++correlation_, name});
    host_ += kLaunchNs;
    return correlation_;
  }

  void Launch(int64_t thread, int64_t duration) {
    if (graph_correlation_ == 0)
      Call(thread, launch_, duration);
    else
      host_ += 1;  // rows of one graph in order
  }

  void Place(example::GpuRow& row, int64_t stream, int64_t duration, int64_t& device) {
    row.start = std::max(device + kBetweenKernelsNs, host_ - kLaunchNs + kLatencyNs);
    row.end = device = row.start + duration;
    row.pid = pid_;
    row.device = rank_;
    row.stream = stream;
    row.correlation = graph_correlation_ == 0 ? correlation_ : graph_correlation_;
  }

  void Kernel(int64_t thread, int64_t i) {
    Launch(thread, 3500 + Random(1000));
    if (i % 6 == 0 && graph_correlation_ == 0) Call(thread, i % 12 == 0 ? record_ : query_, 700);
    const int64_t drawn = shape_.kernel_names > 1000 || shape_.launch_shapes > 1000 ? ++drawn_ : i;
    const KernelName& name = kernels_[static_cast<size_t>(drawn) % kernels_.size()];
    const auto stream = static_cast<size_t>(i) % compute_.size();
    const int64_t launch_shape = drawn % shape_.launch_shapes;
    example::KernelRow row;
    Place(row, kComputeStream + 100 * static_cast<int64_t>(stream), 2000 + Random(6000), compute_[stream]);
    row.name = name.full;
    row.short_name = name.base;
    row.grid = 108 * (1 + launch_shape / 3);
    row.block = 128 << (launch_shape % 3);
    row.registers = 32 + i % 200;
    row.shared_bytes = i % 3 == 0 ? 49152 : 0;
    writer_.Add(row);
  }

  void Collective(int64_t thread) {
    Launch(thread, 4000);
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
    Place(set, kComputeStream, 1500, compute_.front());
    set.bytes = 4096;
    writer_.Add(set);
  }

  // Eight kernels of four ops.
  void Layer(int64_t layer) {
    static constexpr std::string_view kOps[] = {"aten::linear", "aten::layer_norm",
                                                "aten::scaled_dot_product_attention", "aten::gelu"};
    static constexpr std::string_view kParts[] = {"aten::addmm", "aten::native_layer_norm",
                                                  "aten::_flash_attention_forward"};
    static constexpr std::string_view kSizes[] = {
        "[[4096], [{1}, 1024], [1024, 4096]]", "[[{0}, 1024, 1024], [], [1024], [1024]]",
        "[[{0}, 16, 1024, 64], [{0}, 16, 1024, 64], [{0}, 16, 1024, 64]]", "[[{0}, 1024, 1024]]"};
    const int64_t begin = host_;
    host_ += shape_.depth;  // so that each module starts after the one around it
    for (size_t op = 0; op < 4; ++op) {
      const int64_t op_begin = host_;
      for (int64_t k = 0; k < 2; ++k) Kernel(pid_, layer * 8 + static_cast<int64_t>(op) * 2 + k);
      if (op < 3) Op(op_begin - 200, host_ - 400, pid_, kParts[op], kSizes[op]);
      Op(op_begin - 300, host_ - 300, pid_, kOps[op], kSizes[op]);
    }
    for (int64_t d = 0; d < shape_.depth; ++d)
      Range(begin - 390 + d, host_ - 210 - d, pid_,
            shape_.own_texts ? fmt::format("layer.{}.module.{} of {:016x}", layer, d, random_())
                             : fmt::format("layer.{}.module.{}", layer, d));
    Range(begin - 400, host_ - 200, pid_,
          shape_.own_texts ? fmt::format("layer.{} of sample {:016x}", layer, random_())
                           : fmt::format("layer.{}", layer));
  }

  // Four kernels, and a collective after every sixteenth op.
  void Backward(int64_t op) {
    static constexpr std::string_view kOps[] = {"AddmmBackward0", "NativeLayerNormBackward0",
                                                "ScaledDotProductFlashAttentionBackward0", "GeluBackward0"};
    const int64_t begin = host_, thread = Autograd(op);
    const auto name = kOps[static_cast<size_t>(op) % 4];
    const bool reduces = op % 16 == 15;
    for (int64_t k = 0; k < 4 - reduces; ++k) Kernel(thread, 200 + op % 24 * 4 + k);
    if (reduces) Collective(thread);
    Op(begin - 200, host_ - 400, thread, name);
  }

  void Wait() {
    const int64_t done =
        std::max({*std::max_element(compute_.begin(), compute_.end()), collectives_, copies_});
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
  const ExportShape& shape_;
  int64_t forward_, backward_, optimizer_;  // kernels of a step
  int64_t rank_, pid_;
  std::mt19937_64 random_;
  std::vector<KernelName> kernels_;
  KernelName collective_;
  example::StringId launch_, graph_launch_, copy_, set_, record_, query_, sync_;
  std::vector<Drawn> ranges_;
  std::vector<int64_t> compute_;  // by stream, when its last kernel ends
  int64_t host_ = 1'000'000, collectives_ = 0, copies_ = 0, correlation_ = 0, ops_ = 0, drawn_ = 0;
  int64_t graph_correlation_ = 0;  // of the graph's launch at hand
};

// Writes the rows of the tables that grow in an order that has nothing to do with time.
void Shuffle(const std::filesystem::path& path) {
  sqlite3* db = nullptr;
  std::string sql = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;";
  for (const char* table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"})
    sql += fmt::format(
        "CREATE TABLE shuffled AS SELECT * FROM {0} ORDER BY rowid * 2654435761 % 4294967296; DROP TABLE "
        "{0}; "
        "ALTER TABLE shuffled RENAME TO {0};",
        table);
  const bool done = sqlite3_open(path.c_str(), &db) == SQLITE_OK &&
                    sqlite3_exec(db, (sql + "VACUUM;").c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  const std::string error = done ? "" : sqlite3_errmsg(db);
  sqlite3_close(db);
  if (!done) throw Error(path.string(), "cannot be shuffled: " + error);
}

constexpr ExportShape kExportShapes[] = {
    {.name = "plain"},
    {.name = "numbered operators",
     .step = "ProfilerStep#{}",
     .numbered_ops = true,
     .depth = 3,
     .launch_shapes = 5000},
    {.name = "sizes in NVTX", .batches = 1},
    {.name = "20,000 sizes in NVTX", .batches = 20'000},
    {.name = "30 ranges deep", .depth = 30},
    {.name = "texts of their own", .depth = 8, .own_texts = true},
    {.name = "10 steps", .steps = 10},
    {.name = "10,000 steps", .steps = 10'000},
    {.name = "200,000 launch shapes", .launch_shapes = 200'000},
    {.name = "100,000 kernel names", .kernel_names = 100'000},
    {.name = "1 thread", .threads = 1},
    {.name = "256 threads", .threads = 256},
    {.name = "64 streams", .streams = 64},
    {.name = "rows shuffled", .shuffled = true},
    {.name = "CUDA graphs", .graphs = true},
    {.name = "all but graphs",
     .step = "ProfilerStep#{}",
     .steps = 2000,
     .numbered_ops = true,
     .depth = 8,
     .own_texts = true,
     .launch_shapes = 200'000,
     .kernel_names = 10'000,
     .threads = 16,
     .streams = 8,
     .shuffled = true},
};

}  // namespace

std::span<const ExportShape> ExportShapes() { return kExportShapes; }

void WriteExport(const std::filesystem::path& path, int64_t kernels, const ExportShape& shape) {
  example::NsysSchema schema = example::DefaultNsysSchema();
  schema.indexes.clear();
  schema.tables.push_back(
      "CREATE TABLE OSRT_API (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, "
      "globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER, callchainId "
      "INTEGER)");
  const int64_t of_rank = std::max<int64_t>(1, kernels / kRanks);
  const int64_t steps =
      shape.steps > 0 ? shape.steps : (of_rank + kPlainKernelsPerStep - 1) / kPlainKernelsPerStep;
  const int64_t kernels_per_step =
      shape.steps > 0 ? std::max<int64_t>(1, of_rank / steps) : kPlainKernelsPerStep;
  example::NsysWriter writer(path, schema);
  int64_t end = 0;
  for (int64_t r = 0; r < kRanks; ++r) {
    Rank rank(writer, r, kernels_per_step, shape);
    rank.Describe();
    for (int64_t step = 0; step < steps; ++step) rank.Step(step);
    end = std::max(end, rank.host());
  }
  writer.Finish(end);
  if (shape.shuffled) Shuffle(path);
}

}  // namespace dladvisor
