// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/efficiency/op_efficiency.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "src/analysis/efficiency/call_groups.h"
#include "src/analysis/efficiency/operator_rates.h"
#include "src/analysis/family/family.h"
#include "src/capture/capability.h"

namespace dladvisor {
namespace {

constexpr std::string_view kNoTime = "its kernels ended when they began, as recorded";

constexpr double kKnownEnough = 0.5;  // share of the kernel time, for figures of the run
constexpr size_t kRowsOfRank = 1000;  // of dynamic shapes there may be any number
constexpr std::string_view kOtherShapes = "other shapes";
constexpr std::string_view kOtherUntimed = "other shapes of unknown headroom";

constexpr size_t kRowsAtOnce = 64;

// Over the rows of the run.
struct RunSums {
  double known_ns = 0, peak_ns = 0, model_peak_ns = 0, placed_flops_ns = 0, unplaced_flops_ns = 0;
  double attainable_ns = 0, timed_ns = 0;
};

// Rows of a rank that are not listed, together: those of one operator in one type, precision and layout whose
// headroom is known, or is not.
struct OtherRows {
  CallGroup first;
  OperatorTotals totals;
  double attainable_ns = 0;
  int64_t rows = 0;
  bool is_timed = false, all_flops_rates = true, all_bytes_rates = true;
  Ns longest_ns = 0;                 // of one of them,
  std::string_view unknown;          // and why its rates are
  uint32_t next_of_name = kNoIndex;  // of the rank
};

class EfficiencyBuilder {
  struct OfGpu {
    int64_t rank = 0;
    GpuLimits limits;
    double rank_kernel_ns = 0;
  };
  struct OfRank {
    std::vector<std::pair<Ns, uint32_t>> longest;  // rows by the negative of their GPU time
    std::vector<uint32_t> listed;
    std::vector<OtherRows> others;
    bool is_known = false;  // of the work of an operator
  };

 public:
  EfficiencyBuilder(const Context& context, const OperatorWork& work, const std::vector<GpuPeaks>& peaks)
      : work_(work),
        calls_(GroupCalls(context, work)),
        gpus_(work.gpus.size()),
        is_listed_(calls_.rows.size(), 0),
        described_(work.shapes.size(), kNoIndex) {
    for (size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      OfGpu& of = gpus_[gpu];
      of.rank = context.ranks.gpus[gpu].rank;
      of.limits = LimitsOf(peaks[gpu]);
      for (size_t other = 0; other < gpus_.size(); ++other) {
        if (context.ranks.gpus[other].rank != context.ranks.gpus[gpu].rank) continue;
        of.rank_kernel_ns += static_cast<double>(work.gpus[other].kernel_ns);
        of.limits.peaks_known |= peaks[other].is_known();
      }
      all_kernel_ns_ += static_cast<double>(work_.gpus[gpu].kernel_ns);
      window_ns_ += static_cast<double>(context.windows[gpu].length());
      ranks_[of.rank].is_known |= calls_.has_work[gpu] != 0;
    }
  }

  // Once.
  OpEfficiencies Build() {
    ChooseListed();
    RunSums sums;
    AddAll(sums);
    return {std::make_shared<Table>(ListRows()), RunOf(sums)};
  }

 private:
  const OfGpu& GpuOf(const GroupRow& row) const { return gpus_[calls_.groups[row.first].gpu]; }

  OperatorTotals TotalsOf(const GroupRow& row) const {
    OperatorTotals totals;
    for (uint32_t g = row.first; g != kNoIndex; g = calls_.groups[g].next_of_row)
      totals.Add(calls_.groups[g], work_.operators, gpus_[calls_.groups[g].gpu].limits);
    return totals;
  }

  // The rows of each rank with the most GPU time. Where nothing is known of a rank's operators, a list of
  // them says nothing.
  void ChooseListed() {
    std::pair<const OfGpu*, OfRank*> last = {nullptr, nullptr};  // most rows are of the GPU of the one before
    for (uint32_t i = 0; i < calls_.rows.size(); ++i) {
      const OfGpu& gpu = GpuOf(calls_.rows[i]);
      if (&gpu != last.first) last = {&gpu, &ranks_[gpu.rank]};
      if (last.second->is_known) last.second->longest.emplace_back(-calls_.rows[i].gpu_ns, i);
    }
    for (auto& [rank, of] : ranks_) {
      if (of.longest.size() > kRowsOfRank) {
        std::ranges::nth_element(of.longest, of.longest.begin() + kRowsOfRank);
        of.longest.resize(kRowsOfRank);
      }
      std::ranges::sort(of.longest);
      for (const auto& [ns, row] : of.longest) {
        of.listed.push_back(row);
        is_listed_[row] = 1;
      }
      SortByName(of.listed);
    }
  }

  void AddAll(RunSums& sums) {
    std::vector<uint32_t> newest;  // by name: of the others of the rank at hand
    OfRank* rank = nullptr;
    const OfGpu* last = nullptr;  // whose rank that is
    for (uint32_t i = 0; i < calls_.rows.size(); ++i) {
      const GroupRow& row = calls_.rows[i];
      const OfGpu& gpu = GpuOf(row);
      const OperatorTotals totals = TotalsOf(row);
      const OperatorRates rates = totals.has_rates() ? RatesOf(totals, gpu.limits) : OperatorRates();
      if (totals.has_rates()) AddToRun(totals, rates, sums);
      if (is_listed_[i]) continue;
      if (&gpu != last) {
        // GPUs of one rank follow one another.
        if (last == nullptr || last->rank != gpu.rank) newest.assign(work_.names.size(), kNoIndex);
        rank = &ranks_[gpu.rank];
        last = &gpu;
      }
      if (rank->is_known) AddToOthers(calls_.groups[row.first], totals, rates, *rank, newest);
    }
  }

  void AddToOthers(const CallGroup& first, const OperatorTotals& totals, const OperatorRates& rates,
                   OfRank& rank, std::vector<uint32_t>& newest) const {
    const bool is_timed = rates.attainable_ns.has_value();
    uint32_t& newest_of_name = newest[work_.operators[first.operation].name];
    uint32_t at = newest_of_name;
    while (at != kNoIndex &&
           (rank.others[at].is_timed != is_timed || !AreAlike(rank.others[at].first, first)))
      at = rank.others[at].next_of_name;
    if (at == kNoIndex) {
      at = static_cast<uint32_t>(rank.others.size());
      OtherRows& added = rank.others.emplace_back();
      added.first = first;
      added.is_timed = is_timed;
      added.next_of_name = newest_of_name;
      newest_of_name = at;
    }
    OtherRows& others = rank.others[at];
    ++others.rows;
    others.totals.Add(totals);
    others.attainable_ns += rates.attainable_ns.value_or(0);
    others.all_flops_rates &= rates.flops_per_s.has_value();
    others.all_bytes_rates &= rates.bytes_per_s.has_value();
    if (totals.gpu_ns > others.longest_ns) {
      others.longest_ns = totals.gpu_ns;
      others.unknown = rates.unknown;
    }
  }

  bool AreAlike(const CallGroup& a, const CallGroup& b) const {
    return a.layout == b.layout && PrecisionNameOf(work_, a) == PrecisionNameOf(work_, b) &&
           DataTypeOf(work_, a) == DataTypeOf(work_, b);
  }

  Table ListRows() {
    Table table(OpEfficiencyRelation().schema());
    RelationOf<OpEfficiencyRow>::Appender appender(OpEfficiencyRelation(), table);
    std::vector<OpEfficiencyRow> rows;  // few at once: they are large
    const auto add = [&](OpEfficiencyRow row) {
      rows.push_back(std::move(row));
      if (rows.size() < kRowsAtOnce) return;
      appender.Append(rows);
      rows.clear();
    };
    for (auto& [rank, of] : ranks_) {
      for (const uint32_t index : of.listed) add(RowOf(calls_.rows[index]));
      std::ranges::sort(of.others, {}, [&](const OtherRows& others) {
        const CallGroup& first = others.first;
        return std::tuple(-others.totals.gpu_ns, work_.names[work_.operators[first.operation].name],
                          DataTypeOf(work_, first), PrecisionNameOf(work_, first),
                          calls_.layouts[first.layout], others.is_timed);
      });
      for (const OtherRows& others : of.others) add(RowOf(others));
    }
    appender.Append(rows);
    return table;
  }

  // Of rows with the same GPU time, which follow one another.
  void SortByName(std::span<uint32_t> rows) {
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
    uint32_t& known = described_[shapes];
    if (known == kNoIndex) {
      known = static_cast<uint32_t>(descriptions_.size());
      descriptions_.push_back(work_.shapes.Describe(shapes));
    }
    return descriptions_[known];
  }

  OpEfficiencyRow RowOf(const GroupRow& of_row) {
    const CallGroup& first = calls_.groups[of_row.first];
    const OperatorTotals totals = TotalsOf(of_row);
    OpEfficiencyRow row = Named(first, totals);
    row.shapes = ShapesOf(first.operation);
    for (uint32_t at = of_row.first; at != kNoIndex; at = calls_.groups[at].next_of_row) {
      const CallGroup& group = calls_.groups[at];
      row.fastest_ns = std::min(row.fastest_ns.value_or(group.fastest_ns), group.fastest_ns);
      row.longest_ns = std::max(row.longest_ns.value_or(group.longest_ns), group.longest_ns);
    }
    if (totals.last != nullptr) {
      const auto number = [&](WorkNumber which) { return work_.operators.NumberOf(*totals.last, which); };
      row.output_tiles = number(kOutputTiles);
      row.inner = number(kInner);
      if (const OptionalCount rows = number(kExpertRows)) row.expert_rows = std::bit_cast<double>(*rows);
    }
    if (totals.has_rates()) AddRates(totals, RatesOf(totals, gpus_[first.gpu].limits), row);
    return row;
  }

  OpEfficiencyRow RowOf(const OtherRows& others) {
    const OperatorTotals& totals = others.totals;
    OpEfficiencyRow row = Named(others.first, totals);
    row.shapes = others.is_timed ? kOtherShapes : kOtherUntimed;
    row.variants = others.rows;
    if (!totals.has_rates()) return row;
    const auto ns = static_cast<double>(totals.gpu_ns);
    OperatorRates rates;
    rates.unknown = others.unknown;
    if (totals.has_flops && others.all_flops_rates) {
      rates.flops_per_s = totals.flops / ns * kNsPerSecond;
      if (totals.compute->peak) rates.compute_share = *rates.flops_per_s / *totals.compute->peak;
    }
    if (totals.bytes_known() && others.all_bytes_rates) {
      rates.bytes_per_s = totals.bytes / ns * kNsPerSecond;
      if (totals.memory->peak) rates.memory_share = *rates.bytes_per_s / *totals.memory->peak;
    }
    if (others.is_timed) rates.attainable_ns = others.attainable_ns;
    AddRates(totals, rates, row);
    return row;
  }

  // Without shapes, and what follows from them.
  OpEfficiencyRow Named(const CallGroup& first, const OperatorTotals& totals) const {
    const OfGpu& gpu = gpus_[first.gpu];
    const auto& of = work_.operators[first.operation];
    OpEfficiencyRow row;
    row.rank = gpu.rank;
    row.op = work_.names[of.name];
    row.data_type = DataTypeOf(work_, first);
    row.precision = PrecisionNameOf(work_, first);
    row.layout = calls_.layouts[first.layout];
    row.calls = totals.calls;
    row.recomputed_calls = totals.recomputed;
    row.kernels = totals.kernels;
    row.gpu_ns = totals.gpu_ns;
    if (gpu.rank_kernel_ns > 0) row.kernel_share = static_cast<double>(totals.gpu_ns) / gpu.rank_kernel_ns;
    if (totals.last != nullptr) row.kind = NameOf(*work_.operators.ClassOf(*totals.last).kind);
    if (const Literal assumed = work_.operators.ClassOf(of).assumed; !assumed.empty()) row.assumed = assumed;
    if (!totals.has_rates()) row.unknown_reason = totals.unknown.empty() ? kNoTime : totals.unknown;
    return row;
  }

  static void AddRates(const OperatorTotals& totals, const OperatorRates& rates, OpEfficiencyRow& row) {
    const auto ns = static_cast<double>(totals.gpu_ns);
    if (!rates.unknown.empty()) row.unknown_reason = rates.unknown;
    if (totals.has_flops) {
      row.flops = totals.flops;
      row.peak_flops_per_s = totals.compute->peak;
    }
    if (totals.bytes_known()) {
      row.bytes = totals.bytes;
      row.peak_bytes_per_s = totals.memory->peak;
    }
    if (row.flops && row.bytes && *row.bytes > 0) row.intensity = *row.flops / *row.bytes;
    row.flops_per_s = rates.flops_per_s;
    row.bytes_per_s = rates.bytes_per_s;
    row.compute_share = rates.compute_share;
    row.memory_share = rates.memory_share;
    if (!rates.attainable_ns) return;
    row.attainable_ns = rates.attainable_ns;
    row.attained_share = *rates.attainable_ns / ns;
    row.headroom_ns = ns - *rates.attainable_ns;
    row.bound = totals.floor_ns > std::max(totals.compute_ns, totals.memory_ns) ? "latency"
                : totals.compute_ns > totals.memory_ns                          ? "compute"
                                                                                : "memory";
  }

  static void AddToRun(const OperatorTotals& totals, const OperatorRates& rates, RunSums& sums) {
    if (rates.above_peak) return;
    const auto ns = static_cast<double>(totals.gpu_ns);
    if (totals.has_flops || totals.bytes_known()) sums.known_ns += ns;
    if (totals.has_flops && totals.compute->peak) {
      sums.peak_ns += totals.peak_ns;
      sums.model_peak_ns += totals.model_peak_ns;
      sums.placed_flops_ns += ns;
    } else if (totals.has_flops) {
      sums.unplaced_flops_ns += ns;
    }
    if (!rates.above_memory && !rates.attainable_ns) return;
    sums.attainable_ns += rates.above_memory ? ns : *rates.attainable_ns;  // at the limit, whatever that is
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
  std::map<int64_t, OfRank> ranks_;
  std::vector<uint8_t> is_listed_;   // by row
  std::vector<uint32_t> described_;  // by number of OperatorWork::shapes: in descriptions_, or kNoIndex
  std::deque<std::string> descriptions_;
  double all_kernel_ns_ = 0, window_ns_ = 0;
};

}  // namespace

const RelationOf<OpEfficiencyRow>& OpEfficiencyRelation() {
  using Row = OpEfficiencyRow;
  static const auto relation =
      RelationOf<Row>(
          "op_efficiency",
          "How fast operators run against what the GPU can do at most, by operator, shapes, types and "
          "layout, in the analysed window: the 1,000 of a rank with the most GPU time, and behind them the "
          "rest in rows of \"other shapes\", and of \"other shapes of unknown headroom\". Kernels count to "
          "the innermost operator whose work is known.")
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
          .Key(
              "layout", &Row::layout, Unit::kText,
              "Of matrix products nn, nt, tn or tt, t for a matrix that is contiguous by columns, and "
              "strided "
              "where one is contiguous in neither way, which is copied first: by strides, or where they are "
              "not recorded by the kernel's name. Of convolutions and batch normalisations channels first or "
              "channels last. Empty where it is not known.")
          .Column(
              "kind", &Row::kind, Unit::kText,
              "matrix, convolution, attention, mixture-of-experts, which have FLOPs; normalization, softmax, "
              "reduction, element-wise, copy, pooling, embedding, optimizer, which move data; unknown "
              "where its work is.")
          .Column("variants", &Row::variants, Unit::kCount,
                  "How many shapes the row stands for: one, and more where it is of other shapes.")
          .Column("calls", &Row::calls, Unit::kCount, "Calls that launched kernels.")
          .Column("recomputed_calls", &Row::recomputed_calls, Unit::kCount,
                  "Of those, forward operators that a backward pass repeats (activation checkpointing).")
          .Column("kernels", &Row::kernels, Unit::kCount, "Kernels that they launched.")
          .Column("gpu_ns", &Row::gpu_ns, Unit::kNanoseconds, "Sum of the kernels' durations.")
          .Column(
              "fastest_ns", &Row::fastest_ns, Unit::kNanoseconds,
              "Sum of the kernels' durations of the call with the least; unknown for rows of other shapes.")
          .Column("longest_ns", &Row::longest_ns, Unit::kNanoseconds, "The same of the call with the most.")
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
