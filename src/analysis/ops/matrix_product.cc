// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/ops/matrix_product.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "src/analysis/family/family.h"
#include "src/analysis/work/arguments.h"

namespace dladvisor {
namespace {

constexpr size_t kRowsOfRank = 5000;  // of dynamic shapes there may be any number

// What an operator multiplies: the position of its left matrix among the arguments; the right one follows.
std::optional<size_t> LeftMatrix(std::string_view operator_name) {
  if (operator_name == "aten::mm" || operator_name == "aten::bmm" || operator_name == "aten::_scaled_mm" ||
      operator_name == "aten::_int_mm")
    return 0;
  if (operator_name == "aten::addmm" || operator_name == "aten::baddbmm" ||
      operator_name == "aten::_addmm_activation")
    return 1;
  return std::nullopt;
}

// Elements of a type that fill 16 bytes; 0 where the type is not known.
int64_t ElementsOfTile(std::string_view type) {
  const auto has = [&](std::string_view part) { return type.find(part) != std::string_view::npos; };
  if (has("Float8") || has("float8") || type == "signed char" || type == "unsigned char") return 16;
  if (has("Half") || has("BFloat16")) return 8;
  if (type == "float") return 4;
  if (type == "double") return 2;
  return 0;
}

// Whether the rows (or columns, where those are contiguous) of a matrix begin at multiples of `multiple`.
// `shape` and `strides` end with its own; a vector has no leading dimension.
bool IsAligned(const Sizes& shape, const Sizes& strides, int64_t multiple) {
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  if (rows == 1 || columns == 1) return true;
  return std::max(strides[strides.size() - 2], strides.back()) % multiple == 0;
}

}  // namespace

const RelationOf<MatrixProductRow>& MatrixProductRelation() {
  static const auto relation =
      RelationOf<MatrixProductRow>(
          "matrix_product",
          "Matrix products by operator, shape and type, in the analysed window: the 5,000 of a "
          "rank with the most GPU time.")
          .Key("rank", &MatrixProductRow::rank, kRankNumber, "Rank.")
          .Key("op", &MatrixProductRow::op, Unit::kText, "Operator, e.g. aten::mm.")
          .Key("batch", &MatrixProductRow::batch, Unit::kCount, "Products in a call.")
          .Key("m", &MatrixProductRow::m, Unit::kCount, "Rows of the result.")
          .Key("n", &MatrixProductRow::n, Unit::kCount, "Columns of the result.")
          .Key("k", &MatrixProductRow::k, Unit::kCount, "Columns of the left matrix.")
          .Key("data_type", &MatrixProductRow::data_type, Unit::kText, "Element type of the left matrix.")
          .Column("calls", &MatrixProductRow::calls, Unit::kCount, "Calls that launched kernels.")
          .Column("gpu_ns", &MatrixProductRow::gpu_ns, Unit::kNanoseconds, "Sum of their kernels' durations.")
          .Column("multiple", &MatrixProductRow::multiple, Unit::kCount,
                  "Elements that fill the 16 bytes of a tile: 8 for FP16 and BF16, 4 for TF32, 16 for FP8.")
          .Column("aligned", &MatrixProductRow::aligned, Unit::kNone,
                  "1 where the rows of all three matrices begin at multiples of that.")
          .Column("kernel_share", &MatrixProductRow::kernel_share, Unit::kRatio,
                  "Of the rank's kernel time; unknown without any.");
  return relation;
}

std::vector<MatrixProductRow> ComputeMatrixProducts(const Context& context) {
  const Trace& trace = context.trace;
  const Ranges& ranges = trace.ranges;
  if (ranges.arguments.size() == 0) return {};
  std::map<int64_t, int64_t> kernel_ns;  // by rank
  // By rank, operator and arguments: shapes are parsed once each.
  struct Total {
    std::set<uint32_t> ranges;
    int64_t ns = 0;
  };
  std::map<std::tuple<int64_t, NameId, int64_t>, Total> totals;
  std::vector<int8_t> is_product(trace.names.size(), -1);
  for (size_t gpu = 0; gpu < context.work.size(); ++gpu) {
    const int64_t rank = context.ranks.gpus[gpu].rank;
    const Interval window = context.windows[gpu];
    for (const uint32_t k : context.work[gpu].kernels) {
      if (trace.kernels.start[k] < window.start || trace.kernels.start[k] >= window.end) continue;
      const Ns duration = trace.kernels.end[k] - trace.kernels.start[k];
      kernel_ns[rank] += duration;
      const uint32_t range = context.attribution.kernel_range[k];
      if (range == kNoIndex) continue;
      int8_t& product = is_product[ranges.name[range]];
      if (product < 0) product = LeftMatrix(trace.names.View(ranges.name[range])).has_value();
      if (!product) continue;
      Total& total = totals[{rank, ranges.name[range], ranges.arguments[range]}];
      total.ranges.insert(range);
      total.ns += duration;
    }
  }
  std::map<std::tuple<int64_t, std::string, int64_t, int64_t, int64_t, int64_t, std::string>,
           MatrixProductRow>
      rows;
  for (const auto& [key, total] : totals) {
    const auto& [rank, name, arguments] = key;
    const std::string operator_name(trace.names.View(name));
    const OperatorArguments& of = trace.operator_arguments[static_cast<size_t>(arguments)];
    const size_t left = *LeftMatrix(operator_name);
    const auto shapes = ParseShapes(trace.names.View(of.shapes));
    const std::string type(ListItem(trace.names.View(of.types), left));
    const int64_t multiple = ElementsOfTile(type);
    if (shapes.size() < left + 2 || multiple == 0) continue;
    const Sizes &a = shapes[left], &b = shapes[left + 1];
    if (a.size() < 2 || a.size() > 3 || b.size() != a.size()) continue;
    MatrixProductRow row;
    row.rank = rank;
    row.op = operator_name;
    row.batch = a.size() == 3 ? a[0] : 1;
    row.m = a[a.size() - 2];
    row.k = a.back();
    row.n = b.back();
    row.data_type = type;
    MatrixProductRow& known =
        rows.try_emplace({rank, operator_name, row.batch, row.m, row.n, row.k, type}, row).first->second;
    known.calls += static_cast<int64_t>(total.ranges.size());
    known.gpu_ns += total.ns;
    known.multiple = multiple;
    const auto strides = ParseShapes(trace.names.View(of.strides));
    const bool known_strides =
        strides.size() > left + 1 && strides[left].size() == a.size() && strides[left + 1].size() == b.size();
    known.aligned = row.n % multiple == 0 && (known_strides ? IsAligned(a, strides[left], multiple) &&
                                                                  IsAligned(b, strides[left + 1], multiple)
                                                            : row.k % multiple == 0);
  }
  std::vector<MatrixProductRow> list;
  for (auto& [key, row] : rows) {
    if (kernel_ns[row.rank] > 0)
      row.kernel_share = static_cast<double>(row.gpu_ns) / static_cast<double>(kernel_ns[row.rank]);
    list.push_back(std::move(row));
  }
  std::stable_sort(list.begin(), list.end(), [](const MatrixProductRow& a, const MatrixProductRow& b) {
    return std::pair(a.rank, -a.gpu_ns) < std::pair(b.rank, -b.gpu_ns);
  });
  std::map<int64_t, size_t> of_rank;
  std::erase_if(list, [&](const MatrixProductRow& row) { return ++of_rank[row.rank] > kRowsOfRank; });
  return list;
}

const Family& MatrixProductFamily() {
  static const Family family = FamilyOf(MatrixProductRelation(), ComputeMatrixProducts).Detail();
  return family;
}

}  // namespace dladvisor
