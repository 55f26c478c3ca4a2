// SPDX-License-Identifier: Apache-2.0
#include "examples/megatron-gpt/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dladvisor::example {
namespace {

constexpr int64_t kMicro = 1'000, kMilli = 1'000'000;
constexpr int64_t kPid = 4211;
constexpr std::array<int64_t, 3> kTids = {4211, 4290, 4267};  // by Thread
constexpr int64_t kFirstEvent = 3'104'220'518;                // on the session's clock
constexpr int64_t kAllocations = 240;
constexpr int64_t kCheckpointCopies = 48, kCheckpointCopyBytes = 88'979'968;

// The same numbers on every machine, which the standard's distributions do not promise.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  // 0 <= result < n
  int64_t Below(int64_t n) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(n)); }
  int64_t Between(int64_t low, int64_t high) { return low + Below(high - low + 1); }

 private:
  std::mt19937_64 engine_;
};

// "void at::native::reduce_kernel<(int)512, ...>(T3)" -> "reduce_kernel"
std::string_view ShortName(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  name = name.substr(0, name.find_first_of("<("));
  const size_t scope = name.rfind("::");
  return scope == std::string_view::npos ? name : name.substr(scope + 2);
}

// The two markers that DLProf's wrapper of a function pushes around it: where it is called, and with what.
std::string OuterMarker(const Op& op) {
  std::string stack = op.path;
  if (stack.starts_with("/module")) stack.replace(1, 6, "<module>");
  return fmt::format(
      "{{'traceMarker': ['pretrain_gpt.py:149', 'megatron/training.py:124'], 'funcStack': '{}'}}", stack);
}

std::string InnerMarker(const Op& op) {
  const std::string arguments =
      op.shape.empty()
          ? ""
          : fmt::format("{{'name': '', 'type': 'tensor', 'shape': {}, 'dtype': '{}'}}", op.shape, op.dtype);
  return fmt::format("{{'mod': '{}', 'op': '{}', 'args': [{}]}}", op.module, op.type, arguments);
}

class Timeline {
 public:
  Timeline(const Run& run, NsysWriter& writer) : run_(run), writer_(writer), random_(run.seed) {}

  void Write() {
    DescribeSystem();
    PlanKernels();
    PlanAllocations();
    for (const Op& op : run_.ops) PlanCalls(op);
    std::stable_sort(calls_.begin(), calls_.end(),
                     [](const Call& a, const Call& b) { return a.order < b.order; });
    for (size_t i = 0; i < calls_.size(); ++i) Perform(calls_[i], i + 1 == calls_.size());
    if (now_ != End()) throw std::logic_error(run_.name + " does not fit into its wall clock time");
    writer_.Finish(End() + 412 * kMilli);
  }

 private:
  // One part of an op, as far as it has been launched.
  struct Queue {
    const Part* part;
    StringId name, short_name;
    std::vector<int64_t> durations;
    size_t next = 0;
  };
  struct Planned {
    std::vector<Queue> queues;
    std::string outer, inner;
    int64_t calls_made = 0;
  };
  struct Call {
    const Op* op;
    // Sorted by: time of the run, then phase, then chance.
    std::array<int64_t, 3> order;
  };

  int64_t End() const { return kFirstEvent + run_.wall_ns; }

  void DescribeSystem() {
    writer_.AddSystem(MachineOfRuns());
    writer_.Add(GpuOf(run_));
    writer_.AddProcess(kPid, "/opt/conda/bin/python");
    writer_.AddThread(kPid, kTids[0], "python");
    writer_.AddThread(kPid, kTids[1], "pt_autograd_0");
    writer_.AddThread(kPid, kTids[2], "python");
  }

  // Durations that vary by a fifth around their mean and sum to the part's time.
  std::vector<int64_t> Durations(const Part& part) {
    std::vector<int64_t> weights;
    int64_t weight_left = 0;
    for (int64_t i = 0; i < part.launches; ++i) weight_left += weights.emplace_back(random_.Between(80, 120));
    int64_t left = part.amount;
    for (int64_t& value : weights) {
      const int64_t weight = value;
      value = left / weight_left * weight + left % weight_left * weight / weight_left;
      left -= value;
      weight_left -= weight;
    }
    return weights;
  }

  void PlanKernels() {
    for (const Op& op : run_.ops) {
      Planned planned{{}, OuterMarker(op), InnerMarker(op)};
      for (const Part& part : op.parts)
        planned.queues.push_back(
            {&part, writer_.Intern(part.kernel), writer_.Intern(ShortName(part.kernel)), Durations(part)});
      planned_.emplace(&op, std::move(planned));
    }
  }

  // Segments of the caching allocator, which together are the peak.
  void PlanAllocations() {
    int64_t left = run_.peak_bytes / (2 * kMiB);
    for (int64_t i = 0; i < kAllocations; ++i) {
      const int64_t rest = kAllocations - i - 1;
      const int64_t mean = left / (rest + 1);
      const int64_t units =
          rest == 0 ? left : std::clamp<int64_t>(random_.Between(1, 2 * mean), 1, left - rest);
      left -= units;
      allocations_.push_back(units * 2 * kMiB);
    }
  }

  // The calls of a step's op are dealt out evenly over the steps; chance decides their order within one, but
  // that the update of the parameters ends its phase. Ops that some steps lack are missing from the first, in
  // which mixed precision lowers the loss scale.
  void PlanCalls(const Op& op) {
    const int64_t middle = run_.steps / 2;
    for (int64_t i = 0; i < op.calls; ++i) {
      int64_t when = 0;
      switch (op.phase) {
        case Phase::kSetup:
          when = -1;
          break;
        case Phase::kCheckpoint:
        case Phase::kEvaluation:
          when = 2 * middle + 1;
          break;
        case Phase::kEndEvaluation:
        case Phase::kEndCheckpoint:
          when = 2 * run_.steps + 1;
          break;
        default:
          when = 2 * (op.calls < run_.steps ? run_.steps - op.calls + i : i * run_.steps / op.calls);
      }
      constexpr int64_t kLast = int64_t{1} << 40;
      const int64_t place = op.type == "step" ? kLast : random_.Below(kLast);
      calls_.push_back({&op, {when, static_cast<int64_t>(op.phase), place}});
    }
  }

  // --- one call ---

  void Perform(const Call& call, bool is_last) {
    const Op& op = *call.op;
    if (op.phase != Phase::kSetup && !setup_done_) {
      now_ += run_.setup_ns;  // building the data set's index
      setup_done_ = true;
    }
    Planned& planned = planned_.at(&op);
    const int64_t outer_start = now_;
    now_ += random_.Between(8, 20) * kMicro;
    const int64_t inner_start = now_;
    now_ += random_.Between(10, 30) * kMicro;
    Work(op, planned, is_last);
    now_ += random_.Between(5, 15) * kMicro;
    if (op.phase == Phase::kCheckpoint) now_ += run_.save_ns;
    if (is_last) now_ = std::max(now_, End() - kMicro);
    Range(op, planned.inner, inner_start);
    now_ += is_last ? kMicro : random_.Between(2, 6) * kMicro;
    Range(op, planned.outer, outer_start);
    if (!is_last) now_ += random_.Between(run_.between_ops_ns / 5, run_.between_ops_ns / 5 * 9);
  }

  void Work(const Op& op, Planned& planned, bool is_last) {
    const int64_t call = planned.calls_made++;
    // The caching allocator grows as the model moves to the GPU.
    if (op.type == "cuda" && op.phase == Phase::kSetup && next_allocation_ < allocations_.size())
      Allocate(op, allocations_[next_allocation_++]);
    for (Queue& queue : planned.queues) {
      const int64_t launched = call * queue.part->launches / op.calls;
      const int64_t due = (call + 1) * queue.part->launches / op.calls;
      for (int64_t i = launched; i < due; ++i) Launch(op, queue);
    }
    if (op.type == "cuda" && op.phase == Phase::kInput) Copy(op, CopyKind::kHostToDevice, 32'832, false);
    if (op.type == "item") {
      Copy(op, CopyKind::kDeviceToHost, 4, true);
      Wait(op);
    }
    if (op.type == "save") {
      for (int64_t i = 0; i < kCheckpointCopies; ++i) {
        // The file is written while the last tensors are still to come.
        if (is_last && i + 1 == kCheckpointCopies) now_ = std::max(now_, End() - 20 * kMilli);
        Copy(op, CopyKind::kDeviceToHost, kCheckpointCopyBytes, true);
      }
      if (op.phase == Phase::kCheckpoint) FreeSome(op);
    }
  }

  int64_t Api(const Op& op, std::string_view name, int64_t duration) {
    const int64_t start = now_;
    now_ += duration;
    writer_.Add(ApiRow{.start = start,
                       .end = now_,
                       .pid = kPid,
                       .tid = kTids[static_cast<size_t>(op.thread)],
                       .correlation = ++correlation_,
                       .name = writer_.Intern(name)});
    return start;
  }

  void Range(const Op& op, std::string_view text, int64_t start) {
    RangeRow row;
    row.start = start;
    row.end = now_;
    row.pid = kPid;
    row.tid = kTids[static_cast<size_t>(op.thread)];
    row.text = text;
    writer_.Add(row);
  }

  // When the GPU begins what the host asked for at `asked`, its stream being in order.
  int64_t GpuStart(int64_t asked) {
    return std::max(asked + random_.Between(6, 9) * kMicro, gpu_free_ + random_.Between(900, 1500));
  }

  GpuRow OnGpu(int64_t asked, int64_t duration) {
    GpuRow row;
    row.start = GpuStart(asked);
    row.end = gpu_free_ = row.start + duration;
    row.pid = kPid;
    row.correlation = correlation_;
    return row;
  }

  void Launch(const Op& op, Queue& queue) {
    const int64_t asked = Api(op, "cudaLaunchKernel_v7000", random_.Between(4, 8) * kMicro);
    const int64_t duration = queue.durations[queue.next++];
    const bool is_gemm = queue.part->kernel.find("gemm") != std::string::npos;
    KernelRow row{OnGpu(asked, duration)};
    row.name = queue.name;
    row.short_name = queue.short_name;
    row.grid = std::max<int64_t>(1, duration / 400);
    row.block = is_gemm ? 256 : 512;
    row.registers = is_gemm ? 128 : 32;
    row.shared_bytes = is_gemm ? 81'920 : 0;
    writer_.Add(row);
  }

  // From pinned memory to the GPU at 12 bytes/ns; back into pageable memory, which blocks, at 6.
  void Copy(const Op& op, CopyKind kind, int64_t bytes, bool blocks) {
    const int64_t asked = now_;
    const int64_t duration = 1'400 + bytes / (blocks ? 6 : 12);
    ++correlation_;
    CopyRow row{OnGpu(asked, duration)};
    --correlation_;
    row.bytes = bytes;
    row.kind = kind;
    row.source = blocks ? MemoryKind::kDevice : MemoryKind::kPinned;
    row.destination = blocks ? MemoryKind::kPageable : MemoryKind::kDevice;
    Api(op, "cudaMemcpyAsync_v3020", blocks ? row.end + 3 * kMicro - asked : 7 * kMicro);
    writer_.Add(row);
  }

  void Wait(const Op& op) {
    const int64_t start = now_;
    const int64_t end = std::max(now_, gpu_free_) + 2 * kMicro;
    Api(op, "cudaStreamSynchronize_v3020", end - start);
    SyncRow row;
    row.start = start + 500;
    row.end = end - 500;
    row.pid = kPid;
    row.correlation = correlation_;
    writer_.Add(row);
  }

  void Allocate(const Op& op, int64_t bytes) {
    Api(op, "cudaMalloc_v3020", random_.Between(250, 900) * kMicro);
    live_.push_back({address_, bytes});
    Memory(live_.back(), false);
    address_ += bytes;
  }

  void FreeSome(const Op& op) {
    for (size_t i = 0; i < allocations_.size() / 8 && !live_.empty(); ++i) {
      Api(op, "cudaFree_v3020", random_.Between(100, 300) * kMicro);
      Memory(live_.back(), true);
      live_.pop_back();
    }
  }

  struct Segment {
    int64_t address, bytes;
  };

  void Memory(const Segment& segment, bool is_free) {
    writer_.Add(MemoryRow{.time = now_ - kMicro,
                          .pid = kPid,
                          .device = 0,
                          .correlation = correlation_,
                          .address = segment.address,
                          .bytes = segment.bytes,
                          .is_free = is_free});
  }

  const Run& run_;
  NsysWriter& writer_;
  Random random_;
  std::unordered_map<const Op*, Planned> planned_;
  std::vector<Call> calls_;
  std::vector<int64_t> allocations_;
  size_t next_allocation_ = 0;
  std::vector<Segment> live_;
  int64_t address_ = 0x7f0000000000;
  int64_t now_ = kFirstEvent, gpu_free_ = 0;  // of the host, of the GPU's stream
  int64_t correlation_ = 0;
  bool setup_done_ = false;
};

}  // namespace

void WriteRun(const Run& run, const std::filesystem::path& path, const NsysSchema& schema) {
  NsysWriter writer(path, schema);
  Timeline(run, writer).Write();
}

}  // namespace dladvisor::example
