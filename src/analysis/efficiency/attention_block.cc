// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/efficiency/attention_block.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "src/analysis/efficiency/kernel_precision.h"
#include "src/analysis/family/family.h"
#include "src/analysis/work/count.h"
#include "src/capture/capability.h"

namespace dladvisor {
namespace {

constexpr size_t kMostOperators = 24;  // between the two products
constexpr int64_t kLeastKeys = 8;      // smaller products are not scores

// [batch, m, k] times [batch, k, n].
struct ProductDims {
  int64_t batch = 0, m = 0, n = 0, k = 0;
};

// Of products with one batch dimension, or with none.
std::optional<ProductDims> DimsOf(const OperatorWork& work, const DistinctOperators::Operator& of) {
  if (work.operators.ClassOf(of).kind != WorkKind::kMatrixProduct) return std::nullopt;
  Sizes a, b;  // the last two
  work.shapes.ForEachTensor(of.shapes, [&](const Sizes& shape) { a = std::exchange(b, shape); });
  if (a.size() < 2 || a.size() != b.size() || a.back() != b[b.size() - 2]) return std::nullopt;
  const auto batch = Product(std::span(a).first(a.size() - 2)).value();
  if (!batch) return std::nullopt;
  return ProductDims{*batch, a[a.size() - 2], b.back(), a.back()};
}

enum class Softmax : uint8_t { kNone, kOperator, kBackward, kPieces };

Softmax SoftmaxOfName(std::string_view name) {
  if (name.find("softmax_backward") != std::string_view::npos) return Softmax::kBackward;
  return name.starts_with("aten::exp") ? Softmax::kPieces : Softmax::kNone;
}

// By operator; nothing where there is none.
std::vector<Softmax> FindSoftmax(const OperatorWork& work) {
  std::vector<Softmax> of_name;
  for (const std::string_view name : work.names) of_name.push_back(SoftmaxOfName(name));
  std::vector<Softmax> of_operator;
  bool found = false;
  for (const auto& of : work.operators) {
    const Softmax named = of_name[of.name];
    const bool is_operator =
        named != Softmax::kBackward && work.operators.ClassOf(of).kind == WorkKind::kSoftmax;
    of_operator.push_back(is_operator ? Softmax::kOperator : named);
    found |= of_operator.back() != Softmax::kNone;
  }
  if (!found) of_operator.clear();
  return of_operator;
}

class AttentionBuilder {
 public:
  AttentionBuilder(const Context& context, const OperatorWork& work, const std::vector<GpuPeaks>& peaks)
      : context_(context), work_(work), peaks_(peaks), softmax_(FindSoftmax(work)) {}

  std::vector<AttentionBlockRow> Build() {
    if (softmax_.empty()) return {};
    for (const auto& of : work_.operators) dims_.push_back(DimsOf(work_, of));
    std::map<int64_t, Ns> kernel_ns;
    for (size_t gpu = 0; gpu < work_.gpus.size(); ++gpu) {
      kernel_ns[context_.ranks.gpus[gpu].rank] += work_.gpus[gpu].kernel_ns;
      std::unordered_map<uint32_t, std::vector<OperatorWorkCall>>
          open;  // by thread: from the first product on
      for (const OperatorWorkCall& call : work_.gpus[gpu].calls)
        Continue(gpu, open[context_.trace.ranges.thread[call.range]], call);
    }
    std::vector<AttentionBlockRow> rows;
    for (auto& [key, row] : rows_) {
      if (const Ns all = kernel_ns[row.rank]; all > 0)
        row.kernel_share = static_cast<double>(row.gpu_ns) / static_cast<double>(all);
      if (row.fused_ns) row.headroom_ns = static_cast<double>(row.gpu_ns) - *row.fused_ns;
      rows.push_back(std::move(row));
    }
    std::stable_sort(rows.begin(), rows.end(), [](const AttentionBlockRow& a, const AttentionBlockRow& b) {
      return std::pair(a.rank, -a.gpu_ns) < std::pair(b.rank, -b.gpu_ns);
    });
    return rows;
  }

 private:
  // `block` is a product of scores and what followed it on them.
  void Continue(size_t gpu, std::vector<OperatorWorkCall>& block, const OperatorWorkCall& call) {
    const auto& of = work_.operators[call.operation];
    const std::optional<WorkKind> kind = work_.operators.ClassOf(of).kind;
    const std::optional<ProductDims>& dims = dims_[call.operation];
    if (!block.empty()) {
      const ProductDims& scores = *dims_[block.front().operation];
      const std::optional<int64_t> elements = (Count(scores.batch) * scores.m * scores.n).value();
      if (dims && dims->batch == scores.batch && dims->m == scores.m && dims->k == scores.n) {
        block.push_back(call);
        Finish(gpu, block);
        block.clear();
        return;
      }
      const bool on_scores = !dims && elements && block.size() <= kMostOperators && kind &&
                             !HasFlops(*kind) && work_.shapes.HasTensorOf(of.shapes, *elements);
      if (on_scores) {
        block.push_back(call);
        return;
      }
      // Sums and maxima of the rows are operators on fewer elements, as what copies the values is.
      if (!dims && kind && !HasFlops(*kind) && block.size() <= kMostOperators) return;
    }
    block.clear();
    if (dims && dims->n >= kLeastKeys) block.push_back(call);
  }

  void Finish(size_t gpu, const std::vector<OperatorWorkCall>& block) {
    Softmax softmax = Softmax::kNone;
    std::string names;
    Ns gpu_ns = 0, score_ns = 0;
    int64_t kernels = 0;
    for (const OperatorWorkCall& call : block) {
      const auto& of = work_.operators[call.operation];
      const Softmax of_call = softmax_[call.operation];
      if ((softmax == Softmax::kNone || softmax == Softmax::kPieces) && of_call != Softmax::kNone)
        softmax = of_call;
      if (!names.empty()) names += " > ";
      names += work_.names[of.name];
      gpu_ns += call.kernel_ns;
      kernels += call.kernels;
      if (!dims_[call.operation]) score_ns += call.kernel_ns;
    }
    if (softmax == Softmax::kNone) return;
    const ProductDims &first = *dims_[block.front().operation], &last = *dims_[block.back().operation];
    const Work work = *work_.operators.ResultOf(work_.operators[block.front().operation]).work;
    const std::string direction = softmax == Softmax::kBackward ? "backward" : "forward";
    const std::string kind = softmax == Softmax::kPieces ? "pieces" : "operator";
    const int64_t rank = context_.ranks.gpus[gpu].rank;
    const std::string type(work.data_type);
    AttentionBlockRow& row =
        rows_[{rank, direction, kind, first.batch, first.m, first.n, first.k, last.n, type}];
    row.rank = rank;
    row.direction = direction;
    row.softmax = kind;
    row.batch = first.batch;
    row.queries = first.m;
    row.keys = first.n;
    row.head_size = first.k;
    row.value_size = last.n;
    row.data_type = type;
    if (row.ops.empty()) row.ops = names;
    ++row.blocks;
    row.kernels += kernels;
    row.gpu_ns += gpu_ns;
    row.score_ns += score_ns;
    AddFused(gpu, first, last, work, block, row);
  }

  // Of one block: FLOPs of both products; queries, keys and values are read and the result is written.
  void AddFused(size_t gpu, const ProductDims& first, const ProductDims& last, const Work& work,
                const std::vector<OperatorWorkCall>& block, AttentionBlockRow& row) const {
    const Work second = *work_.operators.ResultOf(work_.operators[block.back().operation]).work;
    const auto flops = static_cast<double>(*work.flops) + static_cast<double>(*second.flops);
    const auto elements = (Count(first.batch) * (Count(first.m) * first.k + Count(first.n) * first.k +
                                                 Count(last.k) * last.n + Count(last.m) * last.n))
                              .value();
    // Exports record no types: the first product's kernel shows what it computes in.
    const NameId kernel = context_.trace.kernels.name[block.front().kernel];
    const KernelTraits& traits = context_.kernels[kernel];
    const std::optional<ElementType> type = ElementTypeOfName(work.data_type);
    const int64_t element = type ? type->bytes
                            : work.data_type.empty()
                                ? NoteOf(context_.trace.names.View(kernel), traits).element_bytes
                                : 0;
    const bool is_first = row.blocks == 1;
    const auto add = [&](std::optional<double>& sum, std::optional<double> of_block) {
      sum = is_first ? of_block : sum && of_block ? std::optional(*sum + *of_block) : std::nullopt;
    };
    std::optional<double> bytes, least;
    if (elements && element > 0) bytes = static_cast<double>(*elements) * static_cast<double>(element);
    const GpuPeaks& peaks = peaks_[gpu];
    const auto bandwidth =
        peaks.achievable_memory_bytes_per_s ? peaks.achievable_memory_bytes_per_s : peaks.memory_bytes_per_s;
    // FP32 runs on vector units unless TF32 is allowed, which the slower rate does not assume.
    const Precision precision = work.data_type.empty()
                                    ? traits.precision
                                    : ParsePrecision(work.data_type).value_or(Precision::kUnknown);
    std::optional<double> rate;
    for (const ComputeUnit unit : {ComputeUnit::kVector, ComputeUnit::kMatrix})
      if (const auto peak = peaks.Peak(precision, unit))
        rate = peaks.Achievable(precision, unit).value_or(*peak);
    if (bytes && bandwidth && rate)
      least = std::max({flops / *rate * 1e9, *bytes / *bandwidth * 1e9,
                        static_cast<double>(peaks.launch_floor_ns.value_or(0))});
    add(row.flops, flops);
    add(row.fused_bytes, bytes);
    add(row.fused_ns, least);
  }

  const Context& context_;
  const OperatorWork& work_;
  const std::vector<GpuPeaks>& peaks_;
  std::vector<Softmax> softmax_;                  // by operator
  std::vector<std::optional<ProductDims>> dims_;  // by operator
  std::map<
      std::tuple<int64_t, std::string, std::string, int64_t, int64_t, int64_t, int64_t, int64_t, std::string>,
      AttentionBlockRow>
      rows_;
};

}  // namespace

const RelationOf<AttentionBlockRow>& AttentionBlockRelation() {
  using Row = AttentionBlockRow;
  static const auto relation =
      RelationOf<Row>(
          "attention_block",
          "Attention that writes its scores, in the analysed window: a product that gives them, "
          "operators on them with a softmax or its pieces, and a product with the values. Kernels "
          "that fuse all of it are not listed.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
          .Key("direction", &Row::direction, Unit::kText, "forward, or backward: gradients of the scores.")
          .Key("softmax", &Row::softmax, Unit::kText, "operator, or pieces where it is written by hand.")
          .Key("batch", &Row::batch, Unit::kCount, "Products in a call: sequences by heads.")
          .Key("queries", &Row::queries, Unit::kCount, "Rows of the scores.")
          .Key("keys", &Row::keys, Unit::kCount, "Columns of the scores.")
          .Key("head_size", &Row::head_size, Unit::kCount, "Elements of a query.")
          .Key("value_size", &Row::value_size, Unit::kCount, "Elements of a value.")
          .Key("data_type", &Row::data_type, Unit::kText, "Element type; empty where it is not recorded.")
          .Column("ops", &Row::ops, Unit::kText, "Operators of the first block.")
          .Column("blocks", &Row::blocks, Unit::kCount, "Such blocks.")
          .Column("kernels", &Row::kernels, Unit::kCount, "Kernels that they launched.")
          .Column("gpu_ns", &Row::gpu_ns, Unit::kNanoseconds, "Sum of the kernels' durations.")
          .Column("score_ns", &Row::score_ns, Unit::kNanoseconds, "Of it, between the products.")
          .Column("kernel_share", &Row::kernel_share, Unit::kRatio,
                  "Of the rank's kernel time without collectives.")
          .Column("flops", &Row::flops, Unit::kFlops, "Of both products, of all blocks.")
          .Column("fused_bytes", &Row::fused_bytes, Unit::kBytes,
                  "Queries, keys, values and result of all blocks: what a fused kernel reads and writes.",
                  capability::kOperatorShapes)
          .Column("fused_ns", &Row::fused_ns, Unit::kNanoseconds,
                  "Least time of fused kernels, by flops and fused_bytes at achievable rates, of which peaks "
                  "take the place where none are published; unknown where the GPU is.")
          .Column("headroom_ns", &Row::headroom_ns, Unit::kNanoseconds, "gpu_ns - fused_ns.");
  return relation;
}

std::vector<AttentionBlockRow> ComputeAttentionBlocks(const Context& context, const OperatorWork& work,
                                                      const std::vector<GpuPeaks>& peaks) {
  return AttentionBuilder(context, work, peaks).Build();
}

const Family& AttentionBlockFamily() {
  static const Family family = FamilyOf(AttentionBlockRelation(), ComputeAttentionBlocks).Detail();
  return family;
}

}  // namespace dladvisor
