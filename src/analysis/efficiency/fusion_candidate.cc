// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/efficiency/fusion_candidate.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "src/analysis/family/family.h"
#include "src/analysis/work/count.h"
#include "src/capture/capability.h"

namespace dladvisor {
namespace {

constexpr size_t kCandidatesOfRank = 200;
constexpr size_t kLongestChain = 64;  // operators

bool CanFuse(const WorkClass& of) {
  if (!of.kind) return false;
  switch (*of.kind) {
    case WorkKind::kElementWise:
    case WorkKind::kReduction:
    case WorkKind::kNormalization:
    case WorkKind::kSoftmax:
    case WorkKind::kCopy:
      return true;
    default:
      return false;
  }
}

bool Names(std::string_view text, std::string_view word) {
  const auto is_equal = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), is_equal) != text.end();
}

// Of a chain with this operator: "attention" and "optimizer" have fused kernels of their own; "" of others.
std::string_view PurposeOf(std::string_view op) {
  if (Names(op, "softmax")) return "attention";
  for (const std::string_view word : {"_foreach", "addcdiv", "optimizer"})
    if (Names(op, word)) return "optimizer";
  return "";
}

// What is listed by some numbers, in the order in which they came.
template <class T>
class ByNumbers {
 public:
  T& operator[](std::span<const uint32_t> numbers) {
    if (slots_.size() < 2 * (all_.size() + 1)) Grow();
    const uint64_t mask = slots_.size() - 1;
    for (uint64_t at = HashOf(numbers) & mask;; at = (at + 1) & mask) {
      uint32_t& slot = slots_[at];
      if (slot == kNoIndex) {
        slot = static_cast<uint32_t>(all_.size());
        numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
        starts_.push_back(numbers_.size());
        return all_.emplace_back();
      }
      if (std::ranges::equal(NumbersOf(slot), numbers)) return all_[slot];
    }
  }
  const std::vector<T>& all() const { return all_; }
  std::span<const uint32_t> NumbersOf(size_t index) const {
    return std::span(numbers_).subspan(starts_[index], starts_[index + 1] - starts_[index]);
  }

 private:
  static uint64_t HashOf(std::span<const uint32_t> numbers) {
    uint64_t hash = numbers.size();
    for (const uint32_t number : numbers) {
      hash = (hash ^ number) * 0x9E3779B97F4A7C15U;
      hash ^= hash >> 29;
    }
    return hash;
  }
  void Grow() {
    slots_.assign(std::max<size_t>(64, slots_.size() * 2), kNoIndex);
    for (uint32_t i = 0; i < all_.size(); ++i) {
      uint64_t at = HashOf(NumbersOf(i)) & (slots_.size() - 1);
      while (slots_[at] != kNoIndex) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = i;
    }
  }

  std::vector<T> all_;
  std::vector<uint32_t> numbers_;     // of all, one after the other
  std::vector<size_t> starts_ = {0};  // in these, and the end
  std::vector<uint32_t> slots_;       // a hash table of indices
};

// Chains of the same operators with the same arguments.
struct Chains {
  int64_t chains = 0, kernels = 0;
  Ns gpu_ns = 0;
};

class FusionBuilder {
 public:
  FusionBuilder(const Context& context, const OperatorWork& work, const std::vector<GpuPeaks>& peaks)
      : context_(context), work_(work), peaks_(peaks) {}

  std::vector<FusionCandidateRow> Build() {
    outputs_.reserve(work_.operators.size());
    std::vector<uint8_t> is_fused;  // by name, what was fused before
    for (const std::string_view name : work_.names) is_fused.push_back(name.starts_with("triton_"));
    std::vector<uint8_t> can_fuse;  // by class of work
    for (const WorkClass& of : work_.operators.classes()) can_fuse.push_back(CanFuse(of));
    for (const auto& of : work_.operators) {
      const OptionalCount elements = work_.operators.NumberOf(of, kOutputElements);
      outputs_.push_back(elements && !is_fused[of.name] && can_fuse[of.work] ? *elements : kFusesNot);
    }
    std::map<int64_t, Ns> kernel_ns;
    for (size_t gpu = 0; gpu < work_.gpus.size(); ++gpu) {
      kernel_ns[context_.ranks.gpus[gpu].rank] += work_.gpus[gpu].kernel_ns;
      ByNumbers<Chains> chains;
      FindChains(work_.gpus[gpu].calls, chains);
      for (size_t i = 0; i < chains.all().size(); ++i) AddRow(gpu, chains.NumbersOf(i), chains.all()[i]);
    }
    std::vector<FusionCandidateRow> kept;
    for (const auto& [rank, rows] : MostTimeFirst()) {
      for (const uint32_t index : rows) {
        FusionCandidateRow& row = kept.emplace_back(Describe(rows_.all()[index], rows_.NumbersOf(index)));
        if (const Ns all = kernel_ns[rank]; all > 0)
          row.kernel_share = static_cast<double>(row.gpu_ns) / static_cast<double>(all);
      }
    }
    return kept;
  }

 private:
  static constexpr int64_t kFusesNot = -1;
  static constexpr size_t kNamesInKey = 2;  // of a row they begin there: rank, shapes of the first, names

  struct Open {
    std::vector<uint32_t> operators;
    int64_t stream = 0;
    int64_t kernels = 0;
    Ns gpu_ns = 0;
  };

  // Without the texts of what is not listed.
  struct Row {
    bool is_new = true;
    int64_t rank = 0, chains = 0, kernels = 0;
    Ns gpu_ns = 0;
    uint32_t first_operator = 0;
    std::optional<int64_t> bytes, fused_bytes;
    std::optional<double> fused_ns;
  };

  // Indices of the rows of each rank that are listed.
  std::map<int64_t, std::vector<uint32_t>> MostTimeFirst() const {
    std::map<int64_t, std::vector<uint32_t>> by_rank;
    const std::vector<Row>& rows = rows_.all();
    for (uint32_t i = 0; i < rows.size(); ++i) by_rank[rows[i].rank].push_back(i);
    for (auto& [rank, of] : by_rank) {
      const auto last = of.begin() + static_cast<ptrdiff_t>(std::min(of.size(), kCandidatesOfRank));
      std::partial_sort(of.begin(), last, of.end(), [&](uint32_t a, uint32_t b) {
        return std::pair(-rows[a].gpu_ns, a) < std::pair(-rows[b].gpu_ns, b);
      });
      of.erase(last, of.end());
    }
    return by_rank;
  }

  // `key` as AddRow makes it.
  FusionCandidateRow Describe(const Row& of, std::span<const uint32_t> key) const {
    FusionCandidateRow row;
    row.rank = of.rank;
    row.operators = static_cast<int64_t>(key.size() - kNamesInKey);
    for (const uint32_t name : key.subspan(kNamesInKey)) {
      row.ops.append(row.ops.empty() ? "" : " > ").append(work_.names[name]);
      if (row.purpose.empty()) row.purpose = PurposeOf(work_.names[name]);
    }
    if (row.purpose.empty()) row.purpose = "other";
    row.shapes = work_.shapes.Describe(work_.operators[of.first_operator].shapes);
    row.chains = of.chains;
    row.kernels = of.kernels;
    row.gpu_ns = of.gpu_ns;
    row.bytes = of.bytes;
    row.fused_bytes = of.fused_bytes;
    row.fused_ns = of.fused_ns;
    if (row.fused_ns) row.headroom_ns = static_cast<double>(row.gpu_ns) - *row.fused_ns;
    return row;
  }

  // A tensor of one element is as large as any other of them.
  bool Takes(uint32_t operation, int64_t elements) const {
    return elements > 1 && work_.shapes.HasTensorOf(work_.operators[operation].shapes, elements);
  }

  void FindChains(const std::vector<OperatorWorkCall>& calls, ByNumbers<Chains>& found) {
    std::unordered_map<uint32_t, Open> open;  // by thread
    std::pair<uint32_t, Open*> last = {kNoIndex, &open[kNoIndex]};
    for (const OperatorWorkCall& call : calls) {
      if (const uint32_t thread = context_.trace.ranges.thread[call.range]; thread != last.first)
        last = {thread, &open[thread]};
      Open& chain = *last.second;
      const bool fuses = outputs_[call.operation] != kFusesNot;
      if (!fuses && chain.operators.empty()) continue;
      const int64_t stream = context_.trace.kernels.stream[call.kernel];
      const bool follows = fuses && !chain.operators.empty() && chain.operators.size() < kLongestChain &&
                           stream == chain.stream && Takes(call.operation, outputs_[chain.operators.back()]);
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
      return work_.operators[a].name == work_.operators[b].name &&
             work_.operators[a].shapes == work_.operators[b].shapes;
    };
    const bool differ =
        std::ranges::adjacent_find(chain.operators, std::not_fn(same)) != chain.operators.end();
    if (differ) {
      Chains& of = found[chain.operators];
      ++of.chains;
      of.kernels += chain.kernels;
      of.gpu_ns += chain.gpu_ns;
    }
    chain.operators.clear();
    chain.kernels = 0;
    chain.gpu_ns = 0;
  }

  void AddRow(size_t gpu, std::span<const uint32_t> operators, const Chains& chains) {
    const int64_t rank = context_.ranks.gpus[gpu].rank;
    key_ = {static_cast<uint32_t>(rank), work_.operators[operators.front()].shapes};
    Count bytes = 0, within = 0;  // what passes within the chain, written and read
    for (size_t i = 0; i < operators.size(); ++i) {
      const auto& of = work_.operators[operators[i]];
      key_.push_back(of.name);
      const auto number = [&](WorkNumber which) { return Count(*work_.operators.NumberOf(of, which)); };
      bytes = bytes + number(kBytes);
      if (i + 1 < operators.size()) within = within + number(kOutputBytes) * 2;
    }
    const Count fused = bytes - within;
    Row& row = rows_[key_];
    const bool is_new = std::exchange(row.is_new, false);
    if (is_new) row.first_operator = operators.front();
    row.rank = rank;
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
  }

  const Context& context_;
  const OperatorWork& work_;
  const std::vector<GpuPeaks>& peaks_;
  std::vector<int64_t> outputs_;  // by operator: elements of its result, kFusesNot where it is left out
  std::vector<uint32_t> key_;     // of the row at hand
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
          .Column("purpose", &Row::purpose, Unit::kText,
                  "attention where one of them is a softmax, optimizer where one updates parameters, other "
                  "else.")
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
