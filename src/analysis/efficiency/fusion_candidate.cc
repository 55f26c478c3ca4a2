// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/efficiency/fusion_candidate.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "src/analysis/family/family.h"
#include "src/analysis/work/count.h"
#include "src/capture/capability.h"

namespace dladvisor {
namespace {

constexpr size_t kCandidatesOfRank = 200;
constexpr size_t kLongestChain = 64;  // operators

bool CanFuse(const DistinctOperator& of) {
  if (!of.result.work || of.name.starts_with("triton_")) return false;  // those are fused already
  switch (of.result.work->kind) {
    case WorkKind::kElementWise:
    case WorkKind::kReduction:
    case WorkKind::kNormalization:
    case WorkKind::kSoftmax:
    case WorkKind::kCopy:
      return of.result.work->output_elements.has_value();
    default:
      return false;
  }
}

struct HashOfNumbers {
  size_t operator()(const std::vector<uint32_t>& numbers) const {
    size_t hash = numbers.size();
    for (const uint32_t number : numbers) hash = (hash ^ number) * 0x9E3779B97F4A7C15U;
    return hash ^ hash >> 32;
  }
};
// What is listed by some numbers, in the order in which they came.
template <class T>
class ByNumbers {
 public:
  T& operator[](const std::vector<uint32_t>& numbers) {
    const auto [known, is_new] = index_.try_emplace(numbers, all_.size());
    return is_new ? all_.emplace_back() : all_[known->second];
  }
  std::vector<T>& all() { return all_; }

 private:
  std::unordered_map<std::vector<uint32_t>, size_t, HashOfNumbers> index_;
  std::vector<T> all_;
};

// Chains of the same operators with the same arguments.
struct Chains {
  std::vector<uint32_t> operators;
  int64_t chains = 0, kernels = 0;
  Ns gpu_ns = 0;
};

class FusionBuilder {
 public:
  FusionBuilder(const Context& context, const OperatorWork& work, const std::vector<GpuPeaks>& peaks)
      : context_(context), work_(work), peaks_(peaks) {}

  std::vector<FusionCandidateRow> Build() {
    for (const DistinctOperator& of : work_.operators) can_fuse_.push_back(CanFuse(of));
    std::map<int64_t, Ns> kernel_ns;
    for (size_t gpu = 0; gpu < work_.gpus.size(); ++gpu) {
      kernel_ns[context_.ranks.gpus[gpu].rank] += work_.gpus[gpu].kernel_ns;
      ByNumbers<Chains> chains;
      FindChains(work_.gpus[gpu].calls, chains);
      for (const Chains& of : chains.all()) AddRow(gpu, of);
    }
    std::vector<Row>& rows = rows_.all();
    const auto before = [](const Row& a, const Row& b) {
      return std::pair(a.row.rank, -a.row.gpu_ns) < std::pair(b.row.rank, -b.row.gpu_ns);
    };
    std::stable_sort(rows.begin(), rows.end(), before);
    std::map<int64_t, size_t> of_rank;
    std::vector<FusionCandidateRow> kept;
    for (Row& of : rows) {
      FusionCandidateRow& row = of.row;
      if (++of_rank[row.rank] > kCandidatesOfRank) continue;
      for (const uint32_t operation : of.operators)
        row.ops.append(row.ops.empty() ? "" : " > ").append(work_.operators[operation].name);
      row.shapes = work_.shapes.Describe(work_.operators[of.operators.front()].shapes);
      if (const Ns all = kernel_ns[row.rank]; all > 0)
        row.kernel_share = static_cast<double>(row.gpu_ns) / static_cast<double>(all);
      kept.push_back(std::move(row));
    }
    return kept;
  }

 private:
  struct Open {
    std::vector<uint32_t> operators;
    int64_t stream = 0;
    int64_t kernels = 0;
    Ns gpu_ns = 0;
  };

  struct Row {
    FusionCandidateRow row;
    std::vector<uint32_t> operators;  // of its first chain
  };

  // A tensor of one element is as large as any other of them.
  bool Takes(uint32_t operation, int64_t elements) const {
    return elements > 1 && work_.shapes.HasTensorOf(work_.operators[operation].shapes, elements);
  }

  void FindChains(const std::vector<OperatorWorkCall>& calls, ByNumbers<Chains>& found) {
    std::unordered_map<uint32_t, Open> open;  // by thread
    for (const OperatorWorkCall& call : calls) {
      Open& chain = open[context_.trace.ranges.thread[call.range]];
      const bool fuses = can_fuse_[call.operation];
      const int64_t stream = context_.trace.kernels.stream[call.kernel];
      const bool follows =
          fuses && !chain.operators.empty() && chain.operators.size() < kLongestChain &&
          stream == chain.stream &&
          Takes(call.operation, *work_.operators[chain.operators.back()].result.work->output_elements);
      if (!follows) Close(chain, found);
      if (!fuses) continue;
      chain.operators.push_back(call.operation);
      chain.stream = stream;
      chain.kernels += call.kernels;
      chain.gpu_ns += call.kernel_ns;
    }
    for (auto& [thread, chain] : open) Close(chain, found);
  }

  void Close(Open& chain, ByNumbers<Chains>& found) const {
    // One operator again and again is a loop over other tensors, as benchmarks have it.
    const auto same = [&](uint32_t a, uint32_t b) {
      return work_.operators[a].name_number == work_.operators[b].name_number &&
             work_.operators[a].shapes == work_.operators[b].shapes;
    };
    const bool differ =
        std::ranges::adjacent_find(chain.operators, std::not_fn(same)) != chain.operators.end();
    if (differ) {
      Chains& of = found[chain.operators];
      if (of.chains == 0) of.operators = chain.operators;
      ++of.chains;
      of.kernels += chain.kernels;
      of.gpu_ns += chain.gpu_ns;
    }
    chain.operators.clear();
    chain.kernels = 0;
    chain.gpu_ns = 0;
  }

  void AddRow(size_t gpu, const Chains& chains) {
    const std::vector<uint32_t>& operators = chains.operators;
    const int64_t rank = context_.ranks.gpus[gpu].rank;
    std::vector<uint32_t> key = {static_cast<uint32_t>(rank), work_.operators[operators.front()].shapes};
    Count bytes = 0, within = 0;  // what passes within the chain, written and read
    for (size_t i = 0; i < operators.size(); ++i) {
      const DistinctOperator& of = work_.operators[operators[i]];
      key.push_back(of.name_number);
      const Work& work = *of.result.work;
      bytes = bytes + (work.bytes ? Count(*work.bytes) : Count::Unknown());
      if (i + 1 < operators.size())
        within = within + (work.output_bytes ? Count(*work.output_bytes) * 2 : Count::Unknown());
    }
    const Count fused = bytes - within;
    Row& of = rows_[key];
    FusionCandidateRow& row = of.row;
    const bool is_new = of.operators.empty();
    if (is_new) of.operators = operators;
    row.rank = rank;
    row.operators = static_cast<int64_t>(operators.size());
    row.chains += chains.chains;
    row.kernels += chains.kernels;
    row.gpu_ns += chains.gpu_ns;
    const auto add = [&](std::optional<int64_t>& sum, Count of_chain) {
      if (is_new)
        sum = (of_chain * chains.chains).value();
      else if (sum)
        sum = (Count(*sum) + of_chain * chains.chains).value();
    };
    add(row.bytes, bytes);
    add(row.fused_bytes, fused);
    const GpuPeaks& peaks = peaks_[gpu];
    const auto bandwidth =
        peaks.achievable_memory_bytes_per_s ? peaks.achievable_memory_bytes_per_s : peaks.memory_bytes_per_s;
    std::optional<double> least;
    if (bandwidth && fused.value())
      least = static_cast<double>(chains.chains) *
              std::max(static_cast<double>(*fused.value()) / *bandwidth * 1e9,
                       static_cast<double>(peaks.launch_floor_ns.value_or(0)));
    // Tensors that lie in a cache pass faster.
    if (least) least = std::min(*least, static_cast<double>(chains.gpu_ns));
    row.fused_ns = is_new                  ? least
                   : row.fused_ns && least ? std::optional(*row.fused_ns + *least)
                                           : std::nullopt;
    row.headroom_ns.reset();
    if (row.fused_ns) row.headroom_ns = static_cast<double>(row.gpu_ns) - *row.fused_ns;
  }

  const Context& context_;
  const OperatorWork& work_;
  const std::vector<GpuPeaks>& peaks_;
  std::vector<bool> can_fuse_;  // by operator
  ByNumbers<Row> rows_;
};

}  // namespace

const RelationOf<FusionCandidateRow>& FusionCandidateRelation() {
  using Row = FusionCandidateRow;
  static const auto relation =
      RelationOf<Row>(
          "fusion_candidate",
          "Chains of operators that move data and that one kernel could do, in the analysed "
          "window: each takes a tensor with as many elements as the one before gave, and one thread "
          "launches them one after the other on one stream. Profilers record no identity of tensors, so that "
          "the number of elements is all that connects them; kernels of compilers (Triton) end a chain. The "
          "200 of a rank with the most GPU time.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
          .Key("ops", &Row::ops, Unit::kText, "Operators, e.g. aten::add > aten::native_layer_norm.")
          .Key("shapes", &Row::shapes, Unit::kText, "Shapes of the first one's tensors.")
          .Column("operators", &Row::operators, Unit::kCount, "Operators in a chain.")
          .Column("chains", &Row::chains, Unit::kCount, "Such chains.")
          .Column("kernels", &Row::kernels, Unit::kCount, "Kernels that they launched.")
          .Column("gpu_ns", &Row::gpu_ns, Unit::kNanoseconds, "Sum of the kernels' durations.")
          .Column("kernel_share", &Row::kernel_share, Unit::kRatio,
                  "Of the rank's kernel time without collectives.")
          .Column("bytes", &Row::bytes, Unit::kBytes,
                  "What the operators of all chains must read and write, one by one; unknown where types are "
                  "not recorded.",
                  capability::kOperatorShapes)
          .Column("fused_bytes", &Row::fused_bytes, Unit::kBytes,
                  "What remains where nothing that passes within a chain is written: the least; a backward "
                  "pass may need some of it.",
                  capability::kOperatorShapes)
          .Column(
              "fused_ns", &Row::fused_ns, Unit::kNanoseconds,
              "Least time of fused kernels: fused_bytes at the achievable bandwidth of the memory, or the "
              "shortest kernel that ran; unknown where the GPU is.")
          .Column("headroom_ns", &Row::headroom_ns, Unit::kNanoseconds, "gpu_ns - fused_ns.");
  return relation;
}

std::vector<FusionCandidateRow> ComputeFusionCandidates(const Context& context, const OperatorWork& work,
                                                        const std::vector<GpuPeaks>& peaks) {
  return FusionBuilder(context, work, peaks).Build();
}

const Family& FusionCandidateFamily() {
  static const Family family = FamilyOf(FusionCandidateRelation(), ComputeFusionCandidates).Detail();
  return family;
}

}  // namespace dladvisor
