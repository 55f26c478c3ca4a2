// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/efficiency/op_efficiency.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "src/analysis/efficiency/call_groups.h"
#include "src/analysis/family/family.h"
#include "src/capture/capability.h"

namespace dladvisor {
namespace {

constexpr std::string_view kUnknownGpu = "the peaks of this GPU are not known";
constexpr std::string_view kUnknownPrecision = "the precision that the kernel computes in is not known";
constexpr std::string_view kNoPeak = "the GPU has no peak of this precision";
constexpr std::string_view kAbovePeak =
    "faster than the peak: shapes, types or the GPU are not what the profile says";
constexpr std::string_view kCached =
    "bytes pass faster than through the memory: they lie in a cache, or are read as repeated dimensions";

constexpr std::string_view kNoTime = "its kernels ended when they began, as recorded";

constexpr double kKnownEnough = 0.5;  // share of the kernel time, for figures of the run
constexpr size_t kRowsOfRank = 2000;  // of dynamic shapes there may be any number
constexpr double kNsPerSecond = 1e9;

constexpr std::string_view kWinograd = "a Winograd convolution does fewer operations than are counted";

// A rate, and what was measured of it where someone has.
struct Limit {
  std::optional<double> peak, achievable;
  double best() const { return achievable ? *achievable : *peak; }
};

Limit ComputeLimit(const GpuPeaks& gpu, Precision precision) {
  for (const ComputeUnit unit : {ComputeUnit::kMatrix, ComputeUnit::kVector})
    if (const auto peak = gpu.Peak(precision, unit)) return {peak, gpu.Achievable(precision, unit)};
  return {};
}

// Sums over groups with the same names, before rates are taken.
struct Totals {
  OpEfficiencyRow row;  // without the texts of what is not listed
  Limit compute, memory;
  double flops = 0, bytes = 0, compute_ns = 0, memory_ns = 0, floor_ns = 0, attainable_ns = 0;
  double at_peak_ns = 0;                  // with peaks in place of what is achievable
  double model_peak_ns = 0, peak_ns = 0;  // FLOPs at the peak; the first without what is repeated
  bool has_flops = false, has_bytes = false, winograd = false, precision_known = false;
  std::optional<WorkKind> kind;
  std::optional<std::string_view> bound;
  std::string_view unknown;  // of the work
  std::string_view bytes_unknown;
};

class EfficiencyBuilder {
 public:
  EfficiencyBuilder(const Context& context, const OperatorWork& work, const std::vector<GpuPeaks>& peaks)
      : context_(context), work_(work), peaks_(peaks), calls_(GroupCalls(context, work)) {}

  OpEfficiencies Build() {
    for (size_t gpu = 0; gpu < work_.gpus.size(); ++gpu) {
      kernel_ns_[context_.ranks.gpus[gpu].rank] += work_.gpus[gpu].kernel_ns;
      all_kernel_ns_ += static_cast<double>(work_.gpus[gpu].kernel_ns);
      window_ns_ += static_cast<double>(context_.windows[gpu].length());
    }
    const std::vector<uint8_t> is_listed = Longest();
    out_.rows.reserve(static_cast<size_t>(std::ranges::count(is_listed, 1)));
    for (size_t i = 0; i < calls_.rows.size(); ++i) {
      Totals totals;
      for (uint32_t g = calls_.rows[i].first; g != kNoIndex; g = calls_.groups[g].next_of_row)
        Add(calls_.groups[g], totals);
      Finish(totals);
      if (is_listed[i]) List(calls_.groups[calls_.rows[i].first], totals);
    }
    SortRows();
    AddRun();
    return std::move(out_);
  }

 private:
  // Of each rank, by row. Where nothing is known of a rank's operators, a list of them says nothing.
  std::vector<uint8_t> Longest() const {
    std::vector<uint8_t> is_listed(calls_.rows.size(), 0);
    std::map<int64_t, std::vector<uint32_t>> by_rank;
    std::set<int64_t> known;
    for (uint32_t i = 0; i < calls_.rows.size(); ++i) {
      by_rank[calls_.rows[i].rank].push_back(i);
      if (calls_.rows[i].has_work) known.insert(calls_.rows[i].rank);
    }
    for (auto& [rank, rows] : by_rank) {
      if (!known.contains(rank)) continue;
      if (rows.size() > kRowsOfRank) {
        std::ranges::nth_element(rows, rows.begin() + kRowsOfRank, {},
                                 [&](uint32_t row) { return std::pair(-calls_.rows[row].gpu_ns, row); });
        rows.resize(kRowsOfRank);
      }
      for (const uint32_t row : rows) is_listed[row] = 1;
    }
    return is_listed;
  }

  // Rows are large: each moves once.
  void SortRows() {
    std::vector<uint32_t> order(out_.rows.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [&](uint32_t i) {
      const OpEfficiencyRow& row = out_.rows[i];
      return std::tuple(row.rank, -row.gpu_ns, std::string_view(row.op), std::string_view(row.data_type),
                        std::string_view(row.shapes), std::string_view(row.precision),
                        std::string_view(row.layout));
    });
    std::vector<OpEfficiencyRow> sorted;
    sorted.reserve(order.size());
    for (const uint32_t i : order) sorted.push_back(std::move(out_.rows[i]));
    out_.rows = std::move(sorted);
  }

  void List(const CallGroup& first, Totals& totals) {
    const DistinctOperator& of = work_.operators[first.operation];
    OpEfficiencyRow& row = totals.row;
    row.op = of.name;
    row.shapes = work_.shapes.Describe(of.shapes);
    row.data_type = DataTypeOf(work_, first);
    row.precision = PrecisionNameOf(work_, first);
    row.layout = first.layout;
    if (totals.kind) row.kind = std::string(NameOf(*totals.kind));
    if (totals.bound) row.bound = std::string(*totals.bound);
    if (of.result.work && !of.result.work->assumed.empty())
      row.assumed = std::string(of.result.work->assumed);
    if (!totals.unknown.empty()) row.unknown_reason = std::string(totals.unknown);
    out_.rows.push_back(std::move(row));
  }

  void Add(const CallGroup& group, Totals& totals) const {
    const WorkResult& result = work_.operators[group.operation].result;
    const std::optional<Work>& work = result.work;
    OpEfficiencyRow& row = totals.row;
    row.rank = group.rank;
    row.calls += group.calls;
    row.recomputed_calls += group.recomputed;
    row.kernels += group.kernels;
    row.gpu_ns += group.gpu_ns;
    if (!work) {
      totals.unknown = result.unknown;
      return;
    }
    totals.kind = work->kind;
    row.output_tiles = work->output_tiles;
    row.expert_rows = work->expert_rows;
    row.inner = work->inner;
    const GpuPeaks& peaks = peaks_[group.gpu];
    totals.compute = work->flops ? ComputeLimit(peaks, group.precision) : Limit();
    totals.memory = {peaks.memory_bytes_per_s, peaks.achievable_memory_bytes_per_s};
    const auto calls = static_cast<double>(group.calls);
    double compute_ns = 0, memory_ns = 0, compute_peak_ns = 0, memory_peak_ns = 0;
    if (work->flops) {
      totals.has_flops = true;
      totals.precision_known = group.precision != Precision::kUnknown;
      const auto flops = static_cast<double>(*work->flops);
      totals.flops += calls * flops;
      if (totals.compute.peak) {
        compute_ns = flops / totals.compute.best() * kNsPerSecond;
        compute_peak_ns = flops / *totals.compute.peak * kNsPerSecond;
        totals.peak_ns += calls * compute_peak_ns;
        totals.model_peak_ns += static_cast<double>(group.calls - group.recomputed) *
                                static_cast<double>(*work->model_flops) / *totals.compute.peak * kNsPerSecond;
      }
    }
    totals.winograd |= group.winograd;
    std::optional<int64_t> moved = work->bytes;
    if (!moved && group.element_bytes > 0)
      moved = (Count(*work->untyped_elements) * group.element_bytes).value();
    if (moved) {
      totals.has_bytes = true;
      const auto bytes = static_cast<double>(*moved);
      totals.bytes += calls * bytes;
      if (totals.memory.peak) {
        memory_ns = bytes / totals.memory.best() * kNsPerSecond;
        memory_peak_ns = bytes / *totals.memory.peak * kNsPerSecond;
      }
    } else {
      totals.bytes_unknown = work->bytes_unknown;
    }
    const auto floor = static_cast<double>(peaks.launch_floor_ns.value_or(0));
    totals.compute_ns += calls * compute_ns;
    totals.memory_ns += calls * memory_ns;
    totals.floor_ns += calls * floor;
    totals.attainable_ns += calls * std::max({compute_ns, memory_ns, floor});
    totals.at_peak_ns += calls * std::max({compute_peak_ns, memory_peak_ns, floor});
  }

  void Finish(Totals& totals) {
    OpEfficiencyRow& row = totals.row;
    const auto ns = static_cast<double>(row.gpu_ns);
    if (const Ns all = kernel_ns_[row.rank]; all > 0) row.kernel_share = ns / static_cast<double>(all);
    if (totals.unknown.empty() && row.gpu_ns == 0) totals.unknown = kNoTime;
    if (totals.unknown.empty()) AddRates(totals, ns);
  }

  void AddRates(Totals& totals, double ns) {
    OpEfficiencyRow& row = totals.row;
    const bool bytes_known = totals.has_bytes && totals.bytes_unknown.empty();
    if (totals.has_flops) {
      row.flops = totals.flops;
      row.flops_per_s = totals.flops / ns * kNsPerSecond;
      row.peak_flops_per_s = totals.compute.peak;
    }
    if (bytes_known) {
      row.bytes = totals.bytes;
      row.bytes_per_s = totals.bytes / ns * kNsPerSecond;
      row.peak_bytes_per_s = totals.memory.peak;
    }
    if (row.flops && row.bytes && *row.bytes > 0) row.intensity = *row.flops / *row.bytes;
    const bool work_known = totals.has_flops || bytes_known;
    if (work_known) known_ns_ += ns;
    if (totals.has_flops && !totals.precision_known)
      totals.unknown = kUnknownPrecision;
    else if (totals.has_flops && !totals.compute.peak)
      totals.unknown = PeaksKnown(row.rank) ? kNoPeak : kUnknownGpu;
    else if (!bytes_known)
      totals.unknown = totals.bytes_unknown;
    else if (!totals.memory.peak)
      totals.unknown = kUnknownGpu;
    if (row.peak_flops_per_s) {
      const double share = *row.flops_per_s / *row.peak_flops_per_s;
      if (share > 1 && !totals.winograd) {
        totals.unknown = kAbovePeak;
        known_ns_ -= ns;
        row.flops_per_s.reset();
        row.bytes_per_s.reset();
        return;
      }
      if (share > 1)
        totals.unknown = kWinograd;
      else
        row.compute_share = share;
      peak_ns_ += totals.peak_ns;
      model_peak_ns_ += totals.model_peak_ns;
      placed_flops_ns_ += ns;
    } else if (totals.has_flops) {
      unplaced_flops_ns_ += ns;
    }
    if (row.peak_bytes_per_s) {
      const double share = *row.bytes_per_s / *row.peak_bytes_per_s;
      if (share > 1) {
        totals.unknown = kCached;
        attainable_ns_ += ns;  // at the limit, whatever that is
        timed_ns_ += ns;
        return;
      }
      row.memory_share = share;
    }
    if (!totals.unknown.empty()) return;
    AddAttainable(totals, ns);
  }

  void AddAttainable(Totals& totals, double ns) {
    OpEfficiencyRow& row = totals.row;
    // Who is faster than what was measured as achievable is compared with the peak.
    double attainable = totals.attainable_ns;
    if (attainable > ns) attainable = std::min(totals.at_peak_ns, ns);
    row.attainable_ns = attainable;
    row.attained_share = attainable / ns;
    row.headroom_ns = ns - attainable;
    totals.bound = totals.floor_ns > std::max(totals.compute_ns, totals.memory_ns) ? "latency"
                   : totals.compute_ns > totals.memory_ns                          ? "compute"
                                                                                   : "memory";
    attainable_ns_ += attainable;
    timed_ns_ += ns;
  }

  bool PeaksKnown(int64_t rank) const {
    for (size_t gpu = 0; gpu < peaks_.size(); ++gpu)
      if (context_.ranks.gpus[gpu].rank == rank && peaks_[gpu].is_known()) return true;
    return false;
  }

  void AddRun() {
    RunEfficiency& run = out_.run;
    if (all_kernel_ns_ <= 0 || window_ns_ <= 0) return;
    run.known_work_share = known_ns_ / all_kernel_ns_;
    if (*run.known_work_share < kKnownEnough) return;
    // Of what has FLOPs, most must have a peak to compare with.
    if (placed_flops_ns_ > 0 && placed_flops_ns_ >= kKnownEnough * (placed_flops_ns_ + unplaced_flops_ns_)) {
      run.mfu = model_peak_ns_ / window_ns_;
      run.hfu = peak_ns_ / window_ns_;
    }
    if (timed_ns_ >= kKnownEnough * all_kernel_ns_) run.speed_of_light = attainable_ns_ / window_ns_;
  }

  const Context& context_;
  const OperatorWork& work_;
  const std::vector<GpuPeaks>& peaks_;
  OpEfficiencies out_;
  CallGroups calls_;
  std::map<int64_t, Ns> kernel_ns_;  // by rank
  double all_kernel_ns_ = 0, window_ns_ = 0, known_ns_ = 0;
  double peak_ns_ = 0, model_peak_ns_ = 0, placed_flops_ns_ = 0, unplaced_flops_ns_ = 0;
  double attainable_ns_ = 0, timed_ns_ = 0;
};

}  // namespace

const RelationOf<OpEfficiencyRow>& OpEfficiencyRelation() {
  using Row = OpEfficiencyRow;
  static const auto relation =
      RelationOf<Row>(
          "op_efficiency",
          "How fast operators run against what the GPU can do at most, by operator, shapes, types and "
          "layout, in the "
          "analysed window: the 2,000 of a rank with the most GPU time. Kernels count to the innermost "
          "operator "
          "whose work is known.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
          .Key("op", &Row::op, Unit::kText, "Operator, e.g. aten::addmm.")
          .Key("data_type", &Row::data_type, Unit::kText,
               "Element type of the first tensor: fp32, bf16, ...; empty where it is not recorded.")
          .Key("shapes", &Row::shapes, Unit::kText,
               "Shapes of its tensors, and the scalars of convolutions and attention; empty where they are "
               "not recorded.")
          .Key("precision", &Row::precision, Unit::kText,
               "What products are computed in: the type, but TF32 where a kernel computes FP32 on tensor "
               "cores; "
               "empty for operators without FLOPs and where it is not known.")
          .Key("layout", &Row::layout, Unit::kText,
               "Of matrix products nn, nt, tn or tt, t for a matrix that is contiguous by columns, and "
               "strided "
               "where one is contiguous in neither way, which is copied first: by strides, or where they are "
               "not recorded by the kernel's name. Of convolutions channels first or channels last. Empty "
               "where it is not known.")
          .Column(
              "kind", &Row::kind, Unit::kText,
              "matrix, convolution, attention, mixture-of-experts, which have FLOPs; normalization, softmax, "
              "reduction, element-wise, copy, pooling, embedding, optimizer, which move data; unknown "
              "where its work is.")
          .Column("calls", &Row::calls, Unit::kCount, "Calls that launched kernels.")
          .Column("recomputed_calls", &Row::recomputed_calls, Unit::kCount,
                  "Of those, forward operators that a backward pass repeats (activation checkpointing).")
          .Column("kernels", &Row::kernels, Unit::kCount, "Kernels that they launched.")
          .Column("gpu_ns", &Row::gpu_ns, Unit::kNanoseconds, "Sum of the kernels' durations.")
          .Column("kernel_share", &Row::kernel_share, Unit::kRatio,
                  "Of the rank's kernel time without collectives.")
          .Column(
              "output_tiles", &Row::output_tiles, Unit::kCount,
              "Tiles of 128 x 128 elements that the results of one call have, of matrix products and forward "
              "convolutions: as many blocks can compute at once without sharing sums.",
              capability::kOperatorShapes)
          .Column("inner", &Row::inner, Unit::kCount,
                  "Of matrix products: elements that are summed for each one of the result.",
                  capability::kOperatorShapes)
          .Column("expert_rows", &Row::expert_rows, Unit::kNone,
                  "Of mixtures of experts: rows (tokens) that an expert gets on average.",
                  capability::kOperatorShapes)
          .Column("flops", &Row::flops, Unit::kFlops,
                  "Floating-point operations of all calls, as PyTorch's flop_counter has them, half of the "
                  "square for causal attention; unknown for operators that move data.",
                  capability::kOperatorShapes)
          .Column("bytes", &Row::bytes, Unit::kBytes,
                  "What all calls must read and write at least: each input once, each output once.",
                  capability::kOperatorShapes)
          .Column("flops_per_s", &Row::flops_per_s, Unit::kFlopsPerSecond, "flops / gpu_ns.",
                  capability::kOperatorShapes)
          .Column("bytes_per_s", &Row::bytes_per_s, Unit::kBytesPerSecond, "bytes / gpu_ns.",
                  capability::kOperatorShapes)
          .Column("intensity", &Row::intensity, Unit::kNone, "flops / bytes.", capability::kOperatorShapes)
          .Column("peak_flops_per_s", &Row::peak_flops_per_s, Unit::kFlopsPerSecond,
                  "Dense peak of the GPU in this precision; unknown where the GPU is.")
          .Column("peak_bytes_per_s", &Row::peak_bytes_per_s, Unit::kBytesPerSecond,
                  "Peak bandwidth of the GPU's memory; unknown where the GPU is.")
          .Column("compute_share", &Row::compute_share, Unit::kRatio, "flops_per_s / peak_flops_per_s.")
          .Column(
              "memory_share", &Row::memory_share, Unit::kRatio,
              "bytes_per_s / peak_bytes_per_s; unknown where the bytes pass faster than through the memory.")
          .Column("bound", &Row::bound, Unit::kText,
                  "What limits it where it runs as fast as it can: compute, memory, or latency, the shortest "
                  "kernel of the GPU.")
          .Column(
              "attainable_ns", &Row::attainable_ns, Unit::kNanoseconds,
              "Least time of all calls: of each the longest of FLOPs at the achievable rate, bytes at the "
              "achievable bandwidth, and the shortest kernel that ran; peaks where nothing achievable is "
              "published, or the calls are faster than it.")
          .Column("attained_share", &Row::attained_share, Unit::kRatio, "attainable_ns / gpu_ns.")
          .Column("headroom_ns", &Row::headroom_ns, Unit::kNanoseconds, "gpu_ns - attainable_ns.")
          .Column("assumed", &Row::assumed, Unit::kText,
                  "What the FLOPs take for granted that is not recorded: of attention without the values of "
                  "scalars, that it is not causal, as PyTorch's formulas count it; causal attention computes "
                  "half, so that its rate and the share of the peak are up to twice the true ones.")
          .Column("unknown_reason", &Row::unknown_reason, Unit::kText,
                  "Why figures are unknown; unknown where all are known.");
  return relation;
}

OpEfficiencies ComputeOpEfficiencies(const Context& context, const OperatorWork& work,
                                     const std::vector<GpuPeaks>& peaks) {
  return EfficiencyBuilder(context, work, peaks).Build();
}

const Family& OpEfficiencyFamily() {
  static const Family family = FamilyOf(OpEfficiencyRelation(), &OpEfficiencies::rows).Detail();
  return family;
}

}  // namespace dladvisor
