// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/efficiency/op_efficiency.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
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

constexpr size_t kRowsAtOnce = 64;

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

// Sums over groups with the same names, and their rates.
struct Totals {
  OpEfficiencyRow row;  // without what names it
  Limit compute, memory;
  double flops = 0, bytes = 0, compute_ns = 0, memory_ns = 0, floor_ns = 0, attainable_ns = 0;
  double at_peak_ns = 0;                  // with peaks in place of what is achievable
  double model_peak_ns = 0, peak_ns = 0;  // FLOPs at the peak; the first without what is repeated
  bool has_flops = false, has_bytes = false, winograd = false, precision_known = false;
  std::optional<WorkKind> kind;
  const DistinctOperators::Operator* last = nullptr;  // of those whose work is known
  std::string_view unknown;                           // of the work
  std::string_view bytes_unknown;
};

// Over the rows of the run.
struct RunSums {
  double known_ns = 0, peak_ns = 0, model_peak_ns = 0, placed_flops_ns = 0, unplaced_flops_ns = 0;
  double attainable_ns = 0, timed_ns = 0;
};

class EfficiencyBuilder {
  struct OfGpu {
    int64_t rank = 0;
    std::array<Limit, kPrecisions> compute;
    Limit memory;
    double floor_ns = 0;
    double rank_kernel_ns = 0;
    bool peaks_known = false;  // of one GPU of the rank
  };

 public:
  EfficiencyBuilder(const Context& context, const OperatorWork& work, const std::vector<GpuPeaks>& peaks)
      : work_(work), calls_(GroupCalls(context, work)), gpus_(work.gpus.size()) {
    for (size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      OfGpu& of = gpus_[gpu];
      of.rank = context.ranks.gpus[gpu].rank;
      for (size_t i = 0; i < kPrecisions; ++i)
        of.compute[i] = ComputeLimit(peaks[gpu], static_cast<Precision>(i));
      of.memory = {peaks[gpu].memory_bytes_per_s, peaks[gpu].achievable_memory_bytes_per_s};
      of.floor_ns = static_cast<double>(peaks[gpu].launch_floor_ns.value_or(0));
      for (size_t other = 0; other < gpus_.size(); ++other) {
        if (context.ranks.gpus[other].rank != context.ranks.gpus[gpu].rank) continue;
        of.rank_kernel_ns += static_cast<double>(work.gpus[other].kernel_ns);
        of.peaks_known |= peaks[other].is_known();
      }
      all_kernel_ns_ += static_cast<double>(work_.gpus[gpu].kernel_ns);
      window_ns_ += static_cast<double>(context.windows[gpu].length());
    }
  }

  // Once.
  OpEfficiencies Build() {
    RunSums sums;
    for (const GroupRow& row : calls_.rows) TotalsOf(row, sums);
    return {std::make_shared<Table>(ListRows()), RunOf(sums)};
  }

 private:
  Totals TotalsOf(const GroupRow& row, RunSums& sums) const {
    Totals totals;
    for (uint32_t g = row.first; g != kNoIndex; g = calls_.groups[g].next_of_row)
      Add(calls_.groups[g], totals);
    Finish(gpus_[calls_.groups[row.first].gpu], totals, sums);
    return totals;
  }

  Table ListRows() {
    const std::vector<uint32_t> listed = Longest();
    Table table(OpEfficiencyRelation().schema());
    table.Reserve(listed.size());
    RelationOf<OpEfficiencyRow>::Appender appender(OpEfficiencyRelation(), table);
    std::vector<OpEfficiencyRow> rows;  // few at once: they are large
    RunSums counted;                    // in the sums of the run already
    for (const uint32_t index : listed) {
      rows.push_back(Named(calls_.rows[index], TotalsOf(calls_.rows[index], counted)));
      if (rows.size() < kRowsAtOnce) continue;
      appender.Append(rows);
      rows.clear();
    }
    appender.Append(rows);
    return table;
  }

  // Indices of the rows that are listed, by rank, most GPU time first. Where nothing is known of a rank's
  // operators, a list of them says nothing.
  std::vector<uint32_t> Longest() {
    struct OfRank {
      std::vector<uint32_t> rows;
      bool is_known = false;
    };
    std::map<int64_t, OfRank> by_rank;
    for (size_t gpu = 0; gpu < gpus_.size(); ++gpu)
      by_rank[gpus_[gpu].rank].is_known |= calls_.has_work[gpu] != 0;
    std::pair<uint32_t, OfRank*> last = {kNoIndex, nullptr};  // most rows are of the GPU of the one before
    for (uint32_t i = 0; i < calls_.rows.size(); ++i) {
      const uint32_t gpu = calls_.groups[calls_.rows[i].first].gpu;
      if (gpu != last.first) last = {gpu, &by_rank[gpus_[gpu].rank]};
      last.second->rows.push_back(i);
    }
    std::vector<uint32_t> listed;
    for (auto& [rank, of_rank] : by_rank) {
      if (!of_rank.is_known) continue;
      std::vector<uint32_t>& rows = of_rank.rows;
      const auto most_time = [&](uint32_t row) { return std::pair(-calls_.rows[row].gpu_ns, row); };
      if (rows.size() > kRowsOfRank) {
        std::ranges::nth_element(rows, rows.begin() + kRowsOfRank, {}, most_time);
        rows.resize(kRowsOfRank);
      }
      std::ranges::sort(rows, {}, most_time);
      SortByName(rows);
      listed.insert(listed.end(), rows.begin(), rows.end());
    }
    return listed;
  }

  // Of rows with the same GPU time, which follow one another.
  void SortByName(std::vector<uint32_t>& rows) {
    struct Tied {
      uint32_t row;
      std::string_view shapes;
    };
    const auto is_before = [&](const Tied& one, const Tied& other) {
      const CallGroup &a = calls_.groups[calls_.rows[one.row].first],
                      &b = calls_.groups[calls_.rows[other.row].first];
      const auto &of_a = work_.operators[a.operation], &of_b = work_.operators[b.operation];
      if (of_a.name != of_b.name) return work_.names[of_a.name] < work_.names[of_b.name];
      if (const auto order = DataTypeOf(work_, a) <=> DataTypeOf(work_, b); order != 0) return order < 0;
      if (const auto order = one.shapes <=> other.shapes; order != 0) return order < 0;
      return std::pair(PrecisionNameOf(work_, a), calls_.layouts[a.layout]) <
             std::pair(PrecisionNameOf(work_, b), calls_.layouts[b.layout]);
    };
    std::vector<Tied> tied;
    for (auto first = rows.begin(); first != rows.end();) {
      const auto last = std::find_if(first, rows.end(), [&](uint32_t row) {
        return calls_.rows[row].gpu_ns != calls_.rows[*first].gpu_ns;
      });
      if (last - first > 1) {
        tied.clear();
        for (const uint32_t row : std::span(first, last)) {
          const uint32_t operation = calls_.groups[calls_.rows[row].first].operation;
          tied.push_back({row, ShapesOf(operation)});
        }
        std::sort(tied.begin(), tied.end(), is_before);
        std::ranges::transform(tied, first, &Tied::row);
      }
      first = last;
    }
  }

  // GPUs of several ranks run the same.
  std::string_view ShapesOf(uint32_t operation) {
    const uint32_t shapes = work_.operators[operation].shapes;
    const auto [known, is_new] = described_.try_emplace(shapes);
    if (is_new) known->second = work_.shapes.Describe(shapes);
    return known->second;
  }

  OpEfficiencyRow Named(const GroupRow& of_row, Totals totals) {
    const CallGroup& first = calls_.groups[of_row.first];
    const auto& of = work_.operators[first.operation];
    OpEfficiencyRow& row = totals.row;
    row.op = work_.names[of.name];
    row.shapes = ShapesOf(first.operation);
    row.data_type = DataTypeOf(work_, first);
    row.precision = PrecisionNameOf(work_, first);
    row.layout = calls_.layouts[first.layout];
    if (totals.kind) row.kind = NameOf(*totals.kind);
    if (totals.last) {
      const auto number = [&](WorkNumber which) { return work_.operators.NumberOf(*totals.last, which); };
      row.output_tiles = number(kOutputTiles);
      row.inner = number(kInner);
      if (const OptionalCount rows = number(kExpertRows)) row.expert_rows = std::bit_cast<double>(*rows);
    }
    if (const Literal assumed = work_.operators.ClassOf(of).assumed; !assumed.empty()) row.assumed = assumed;
    if (!totals.unknown.empty()) row.unknown_reason = totals.unknown;
    return std::move(row);
  }

  void Add(const CallGroup& group, Totals& totals) const {
    const auto& of = work_.operators[group.operation];
    const WorkClass& work = work_.operators.ClassOf(of);
    const auto number = [&](WorkNumber which) { return work_.operators.NumberOf(of, which); };
    OpEfficiencyRow& row = totals.row;
    row.rank = gpus_[group.gpu].rank;
    row.calls += group.calls;
    row.recomputed_calls += group.recomputed;
    row.kernels += group.kernels;
    row.gpu_ns += group.gpu_ns;
    if (!work.kind) {
      totals.unknown = work.unknown;
      return;
    }
    totals.kind = work.kind;
    totals.last = &of;
    const OfGpu& gpu = gpus_[group.gpu];
    totals.compute = work.Has(kFlops) ? gpu.compute[static_cast<size_t>(group.precision)] : Limit();
    totals.memory = gpu.memory;
    const auto calls = static_cast<double>(group.calls);
    double compute_ns = 0, memory_ns = 0, compute_peak_ns = 0, memory_peak_ns = 0;
    if (work.Has(kFlops)) {
      totals.has_flops = true;
      totals.precision_known = group.precision != Precision::kUnknown;
      const auto flops = static_cast<double>(*number(kFlops));
      totals.flops += calls * flops;
      if (totals.compute.peak) {
        compute_ns = flops / totals.compute.best() * kNsPerSecond;
        compute_peak_ns = flops / *totals.compute.peak * kNsPerSecond;
        totals.peak_ns += calls * compute_peak_ns;
        totals.model_peak_ns += static_cast<double>(group.calls - group.recomputed) *
                                static_cast<double>(*number(kModelFlops)) / *totals.compute.peak *
                                kNsPerSecond;
      }
    }
    totals.winograd |= group.winograd;
    std::optional<int64_t> moved = number(kBytes);
    if (!moved && group.element_bytes > 0)
      moved = (Count(*number(kUntypedElements)) * group.element_bytes).value();
    if (moved) {
      totals.has_bytes = true;
      const auto bytes = static_cast<double>(*moved);
      totals.bytes += calls * bytes;
      if (totals.memory.peak) {
        memory_ns = bytes / totals.memory.best() * kNsPerSecond;
        memory_peak_ns = bytes / *totals.memory.peak * kNsPerSecond;
      }
    } else {
      totals.bytes_unknown = work.bytes_unknown;
    }
    const double floor = gpu.floor_ns;
    totals.compute_ns += calls * compute_ns;
    totals.memory_ns += calls * memory_ns;
    totals.floor_ns += calls * floor;
    totals.attainable_ns += calls * std::max({compute_ns, memory_ns, floor});
    totals.at_peak_ns += calls * std::max({compute_peak_ns, memory_peak_ns, floor});
  }

  static void Finish(const OfGpu& gpu, Totals& totals, RunSums& sums) {
    OpEfficiencyRow& row = totals.row;
    const auto ns = static_cast<double>(row.gpu_ns);
    if (gpu.rank_kernel_ns > 0) row.kernel_share = ns / gpu.rank_kernel_ns;
    if (totals.unknown.empty() && row.gpu_ns == 0) totals.unknown = kNoTime;
    if (totals.unknown.empty()) AddRates(gpu, ns, totals, sums);
  }

  static void AddRates(const OfGpu& gpu, double ns, Totals& totals, RunSums& sums) {
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
    if (work_known) sums.known_ns += ns;
    if (totals.has_flops && !totals.precision_known)
      totals.unknown = kUnknownPrecision;
    else if (totals.has_flops && !totals.compute.peak)
      totals.unknown = gpu.peaks_known ? kNoPeak : kUnknownGpu;
    else if (!bytes_known)
      totals.unknown = totals.bytes_unknown;
    else if (!totals.memory.peak)
      totals.unknown = kUnknownGpu;
    if (row.peak_flops_per_s) {
      const double share = *row.flops_per_s / *row.peak_flops_per_s;
      if (share > 1 && !totals.winograd) {
        totals.unknown = kAbovePeak;
        sums.known_ns -= ns;
        row.flops_per_s.reset();
        row.bytes_per_s.reset();
        return;
      }
      if (share > 1) {
        totals.unknown = kWinograd;
        row.flops_per_s.reset();
      } else {
        row.compute_share = share;
      }
      sums.peak_ns += totals.peak_ns;
      sums.model_peak_ns += totals.model_peak_ns;
      sums.placed_flops_ns += ns;
    } else if (totals.has_flops) {
      sums.unplaced_flops_ns += ns;
    }
    if (row.peak_bytes_per_s) {
      const double share = *row.bytes_per_s / *row.peak_bytes_per_s;
      if (share > 1) {
        totals.unknown = kCached;
        row.bytes_per_s.reset();
        sums.attainable_ns += ns;  // at the limit, whatever that is
        sums.timed_ns += ns;
        return;
      }
      row.memory_share = share;
    }
    if (!totals.unknown.empty()) return;
    AddAttainable(ns, totals, sums);
  }

  static void AddAttainable(double ns, Totals& totals, RunSums& sums) {
    OpEfficiencyRow& row = totals.row;
    // Who is faster than what was measured as achievable is compared with the peak.
    double attainable = totals.attainable_ns;
    if (attainable > ns) attainable = std::min(totals.at_peak_ns, ns);
    row.attainable_ns = attainable;
    row.attained_share = attainable / ns;
    row.headroom_ns = ns - attainable;
    row.bound = totals.floor_ns > std::max(totals.compute_ns, totals.memory_ns) ? "latency"
                : totals.compute_ns > totals.memory_ns                          ? "compute"
                                                                                : "memory";
    sums.attainable_ns += attainable;
    sums.timed_ns += ns;
  }

  RunEfficiency RunOf(const RunSums& sums) const {
    RunEfficiency run;
    if (all_kernel_ns_ <= 0 || window_ns_ <= 0) return run;
    run.known_work_share = sums.known_ns / all_kernel_ns_;
    if (*run.known_work_share < kKnownEnough) return run;
    // Of what has FLOPs, most must have a peak to compare with.
    if (sums.placed_flops_ns > 0 &&
        sums.placed_flops_ns >= kKnownEnough * (sums.placed_flops_ns + sums.unplaced_flops_ns)) {
      run.mfu = sums.model_peak_ns / window_ns_;
      run.hfu = sums.peak_ns / window_ns_;
    }
    if (sums.timed_ns >= kKnownEnough * all_kernel_ns_) run.speed_of_light = sums.attainable_ns / window_ns_;
    return run;
  }

  const OperatorWork& work_;
  CallGroups calls_;
  std::vector<OfGpu> gpus_;
  std::unordered_map<uint32_t, std::string> described_;  // by number of OperatorWork::shapes
  double all_kernel_ns_ = 0, window_ns_ = 0;
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
          .Column("flops_per_s", &Row::flops_per_s, Unit::kFlopsPerSecond,
                  "flops / gpu_ns; unknown where that is above the peak.", capability::kOperatorShapes)
          .Column("bytes_per_s", &Row::bytes_per_s, Unit::kBytesPerSecond,
                  "bytes / gpu_ns; unknown where that is above the peak.", capability::kOperatorShapes)
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
  static const Family family =
      FamilyOfRelation(OpEfficiencyRelation().schema(),
                       [](const OpEfficiencies& of) -> std::shared_ptr<Relation> { return of.rows; })
          .Detail();
  return family;
}

}  // namespace dladvisor
