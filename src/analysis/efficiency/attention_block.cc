// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/efficiency/attention_block.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "src/analysis/efficiency/kernel_precision.h"
#include "src/analysis/family/family.h"
#include "src/analysis/work/count.h"
#include "src/capture/capability.h"

namespace dladvisor {
namespace {

constexpr size_t kMostOperators = 24;  // between the two products
constexpr int64_t kLeastKeys = 8;      // smaller products are not scores
constexpr size_t kMostCopies = 8;      // before a product

// [batch, m, k] times [batch, k, n].
struct ProductDims {
  int64_t batch = 0, m = 0, n = 0, k = 0;
};

// Whether a product takes these scores, or they transposed, as one of its factors.
bool Takes(const ProductDims& product, const ProductDims& scores) {
  if (product.batch != scores.batch) return false;
  const auto is = [&](int64_t rows, int64_t columns) {
    return (rows == scores.m && columns == scores.n) || (rows == scores.n && columns == scores.m);
  };
  return is(product.m, product.k) || is(product.k, product.n);
}

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

// The logarithm of one is that of a loss.
Softmax SoftmaxOfName(std::string_view name) {
  if (name.find("log_softmax") != std::string_view::npos) return Softmax::kNone;
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
    const bool is_operator = named != Softmax::kBackward &&
                             work.operators.ClassOf(of).kind == WorkKind::kSoftmax &&
                             work.names[of.name].find("log_softmax") == std::string_view::npos;
    of_operator.push_back(is_operator ? Softmax::kOperator : named);
    found |= of_operator.back() != Softmax::kNone;
  }
  if (!found) of_operator.clear();
  return of_operator;
}

// What one thread launches, from a product that may give scores on.
struct OpenBlock {
  // The product just before the first one: one of both gradients of the product with the values gives the
  // scores' gradient, the other the values'.
  std::optional<OperatorWorkCall> beside;
  std::vector<OperatorWorkCall> calls;  // the product, operators on the scores, and products that take them
  size_t taken = 0;                     // of the latter
  Softmax softmax = Softmax::kNone;
  std::vector<OperatorWorkCall> copies;  // since the last product
  Ns copy_ns = 0;                        // of those that the products read
};

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
      std::map<uint32_t, OpenBlock> open;  // by thread
      for (const OperatorWorkCall& call : work_.gpus[gpu].calls)
        Continue(gpu, open[context_.trace.ranges.thread[call.range]], call);
      for (auto& [thread, block] : open) Close(gpu, block);
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
  std::optional<int64_t> ElementsOf(const ProductDims& of) const {
    return (Count(of.batch) * of.m * of.n).value();
  }
  std::optional<WorkKind> KindOf(const OperatorWorkCall& call) const {
    return work_.operators.ClassOf(work_.operators[call.operation]).kind;
  }
  bool IsOn(const OperatorWorkCall& call, std::optional<int64_t> elements) const {
    return elements && work_.shapes.HasTensorOf(work_.operators[call.operation].shapes, *elements);
  }

  void Continue(size_t gpu, OpenBlock& block, const OperatorWorkCall& call) {
    if (dims_[call.operation]) return ContinueWithProduct(gpu, block, call);
    const std::optional<WorkKind> kind = KindOf(call);
    // Scores are not normalised by their mean and variance: layers of a perceptron are.
    if (!kind || HasFlops(*kind) || *kind == WorkKind::kNormalization || block.calls.size() > kMostOperators)
      return Close(gpu, block);
    if (!block.calls.empty() && block.taken == 0) {
      bool on_scores = IsOn(call, ElementsOf(*dims_[block.calls.front().operation]));
      if (!on_scores && block.calls.size() == 1 && block.beside &&
          IsOn(call, ElementsOf(*dims_[block.beside->operation]))) {
        std::swap(*block.beside, block.calls.front());
        on_scores = true;
      }
      if (on_scores) {
        const Softmax of_call = softmax_[call.operation];
        if ((block.softmax == Softmax::kNone || block.softmax == Softmax::kPieces) &&
            of_call != Softmax::kNone)
          block.softmax = of_call;
        block.calls.push_back(call);
        return;
      }
    }
    // Sums and maxima of the rows are operators on fewer elements, as what copies the values is.
    if (*kind == WorkKind::kCopy && block.copies.size() < kMostCopies) block.copies.push_back(call);
  }

  void ContinueWithProduct(size_t gpu, OpenBlock& block, const OperatorWorkCall& call) {
    const ProductDims& dims = *dims_[call.operation];
    const auto left = (Count(dims.batch) * dims.m * dims.k).value();
    const auto right = (Count(dims.batch) * dims.k * dims.n).value();
    std::vector<OperatorWorkCall> before = std::exchange(block.copies, {});
    // What a product gives is no score where no softmax follows.
    if (block.softmax == Softmax::kNone)
      for (const OperatorWorkCall& on_result : block.calls)
        if (KindOf(on_result) == WorkKind::kCopy) before.push_back(on_result);
    Ns copied = 0;
    for (const OperatorWorkCall& copy : before)
      if (IsOn(copy, left) || IsOn(copy, right)) copied += copy.kernel_ns;
    if (block.softmax != Softmax::kNone) {
      const ProductDims& scores = *dims_[block.calls.front().operation];
      const bool backward = block.softmax == Softmax::kBackward;
      const bool takes_rows = dims.batch == scores.batch && dims.m == scores.m && dims.k == scores.n;
      if (takes_rows || (backward && Takes(dims, scores))) {
        block.calls.push_back(call);
        block.copy_ns += copied;
        if (++block.taken == (backward ? 2 : 1)) Close(gpu, block);
        return;
      }
      Close(gpu, block);
    }
    OpenBlock next;
    if (block.calls.size() == 1 && dims_[block.calls.front().operation]->batch == dims.batch) {
      next.beside = block.calls.front();
      next.copy_ns = block.copy_ns;
    }
    if (dims.n >= kLeastKeys) {
      next.calls.push_back(call);
      next.copy_ns += copied;
    }
    block = std::move(next);
  }

  // Ends it, whether it is attention or not.
  void Close(size_t gpu, OpenBlock& block) {
    if (block.taken > 0) Finish(gpu, block);
    block = {};
  }

  void Finish(size_t gpu, const OpenBlock& block) {
    const OperatorWorkCall& front = block.calls.front();
    const ProductDims &first = *dims_[front.operation], &last = *dims_[block.calls.back().operation];
    const bool backward = block.softmax == Softmax::kBackward;
    std::vector<OperatorWorkCall> calls = block.calls;
    if (backward && block.beside && Takes(*dims_[block.beside->operation], first))
      calls.insert(calls.begin(), *block.beside);
    const Work work = *work_.operators.ResultOf(work_.operators[front.operation]).work;
    AttentionBlockRow of;
    of.rank = context_.ranks.gpus[gpu].rank;
    of.direction = backward ? "backward" : "forward";
    of.softmax = block.softmax == Softmax::kPieces ? "pieces" : "operator";
    of.batch = first.batch;
    of.queries = first.m;
    of.keys = first.n;
    // Forward the queries' size is summed first, backward that of the values.
    const bool scores_left = last.k == first.n || last.n != first.n;
    of.head_size = backward ? (scores_left ? last.n : last.m) : first.k;
    of.value_size = backward ? first.k : last.n;
    of.data_type = std::string(work.data_type);
    AttentionBlockRow& row = rows_[{of.rank, of.direction, of.softmax, of.batch, of.queries, of.keys,
                                    of.head_size, of.value_size, of.data_type}];
    if (row.blocks == 0) {
      row = of;
      for (const OperatorWorkCall& call : calls) {
        if (!row.ops.empty()) row.ops += " > ";
        row.ops += work_.names[work_.operators[call.operation].name];
      }
    }
    ++row.blocks;
    for (const OperatorWorkCall& call : calls) {
      row.gpu_ns += call.kernel_ns;
      row.kernels += call.kernels;
      if (!dims_[call.operation]) row.score_ns += call.kernel_ns;
    }
    row.copy_ns += block.copy_ns;
    AddFused(gpu, work, front, row);
  }

  // Of one block that `row` counts. Forward, both products; queries, keys and values are read and the result
  // is written. Backward, the four gradients and the scores again; besides, the gradients of all are read or
  // written.
  void AddFused(size_t gpu, const Work& work, const OperatorWorkCall& front, AttentionBlockRow& row) const {
    const bool backward = row.direction == "backward";
    const double scores =
        static_cast<double>(row.batch) * static_cast<double>(row.queries) * static_cast<double>(row.keys);
    const auto head = static_cast<double>(row.head_size), value = static_cast<double>(row.value_size);
    const double flops = 2 * scores * (backward ? 3 * head + 2 * value : head + value);
    const auto elements =
        (Count(row.batch) * (Count(row.queries) * row.head_size + Count(row.keys) * row.head_size +
                             Count(row.keys) * row.value_size + Count(row.queries) * row.value_size))
            .value();
    // Exports record no types: the first product's kernel shows what it computes in.
    const NameId kernel = context_.trace.kernels.name[front.kernel];
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
    if (elements && element > 0)
      bytes = (backward ? 2.0 : 1.0) * static_cast<double>(*elements) * static_cast<double>(element);
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
          .Column("copy_ns", &Row::copy_ns, Unit::kNanoseconds,
                  "Of copies before these products that give them what they read; not in gpu_ns.")
          .Column("kernel_share", &Row::kernel_share, Unit::kRatio,
                  "Of the rank's kernel time without collectives.")
          .Column(
              "flops", &Row::flops, Unit::kFlops,
              "That fused kernels compute: both products; backward the four gradients, and the scores again.")
          .Column(
              "fused_bytes", &Row::fused_bytes, Unit::kBytes,
              "Queries, keys, values and result of all blocks, backward their gradients, too: what a fused "
              "kernel reads and writes.",
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
