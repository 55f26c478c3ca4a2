// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/host/filled_copy.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "src/analysis/context/op_path.h"
#include "src/analysis/context/python_line.h"
#include "src/analysis/family/family.h"

namespace dladvisor {
namespace {

// How many ranges before a copy's operator are looked at for the one that ended last.
constexpr uint32_t kMostSteps = 1000;

bool Fills(std::string_view name) {
  static constexpr std::array fillers = {
      "arange",   "eye",       "fill_",     "full",   "full_like",  "linspace",     "logspace",
      "new_full", "new_ones",  "new_zeros", "normal", "normal_",    "ones",         "ones_like",
      "rand",     "rand_like", "randint",   "randn",  "randn_like", "randint_like", "randperm",
      "random_",  "uniform_",  "zero_",     "zeros",  "zeros_like", "bernoulli_",   "tril_indices"};
  return name.starts_with("aten::") &&
         std::find(fillers.begin(), fillers.end(), name.substr(6)) != fillers.end();
}

class FilledCopies {
 public:
  explicit FilledCopies(const Context& context) : context_(context), trace_(context.trace) {}

  std::vector<FilledCopyRow> Find() {
    const Copies& copies = trace_.copies;
    for (size_t gpu = 0; gpu < context_.work.size(); ++gpu) {
      const Interval window = context_.windows[gpu];
      for (const uint32_t i : context_.work[gpu].copies) {
        if (copies.direction[i] != CopyDirection::kHostToDevice || copies.start[i] < window.start ||
            copies.start[i] >= window.end)
          continue;
        const uint32_t mover = OutermostOperator(context_.attribution.copy_range[i]);
        if (mover == kNoIndex) continue;
        const uint32_t filler = Before(mover);
        if (filler == kNoIndex || CallsTheDevice(filler) || !HasShapeOf(filler, mover)) continue;
        Add(context_.ranks.gpus[gpu].rank, filler, mover, copies.bytes[i]);
      }
    }
    return Rows();
  }

 private:
  std::string_view NameOf(uint32_t range) const { return trace_.names.View(trace_.ranges.name[range]); }
  Interval TimeOf(uint32_t range) const { return {trace_.ranges.start[range], trace_.ranges.end[range]}; }

  // Of the operators around a range the outermost that moves a tensor; kNoIndex where none does.
  uint32_t OutermostOperator(uint32_t range) const {
    uint32_t mover = kNoIndex;
    for (; range != kNoIndex && NameOf(range).starts_with("aten::");
         range = context_.attribution.range_parent[range])
      if (const std::string_view name = NameOf(range);
          name == "aten::to" || name == "aten::copy_" || name == "aten::_to_copy" || name == "aten::cuda")
        mover = range;
    return mover;
  }

  // The range of the same caller that ended last before this one, if it fills a tensor.
  uint32_t Before(uint32_t range) const {
    const Ranges& ranges = trace_.ranges;
    for (uint32_t i = range; i-- > range - std::min(range, kMostSteps);)
      if (ranges.thread[i] == ranges.thread[range] && ranges.kind[i] == RangeKind::kPushPop &&
          context_.attribution.range_parent[i] == context_.attribution.range_parent[range])
        return Fills(NameOf(i)) && ranges.end[i] <= ranges.start[range] ? i : kNoIndex;
    return kNoIndex;
  }

  bool CallsTheDevice(uint32_t range) const {
    const ApiCalls& calls = trace_.api_calls;
    const Interval time = TimeOf(range);
    auto i = static_cast<size_t>(std::lower_bound(calls.start.begin(), calls.start.end(), time.start) -
                                 calls.start.begin());
    for (; i < calls.size() && calls.start[i] < time.end; ++i)
      if (calls.thread[i] == trace_.ranges.thread[range]) return true;
    return false;
  }

  // Shape of an operator's first argument, in JSON; "" where it was not recorded or is not a tensor.
  std::string_view ShapeOf(uint32_t range) const {
    if (trace_.ranges.arguments.size() == 0) return {};
    const NameId shapes =
        trace_.operator_arguments[static_cast<size_t>(trace_.ranges.arguments[range])].shapes;
    const std::string_view json = trace_.names.View(shapes);
    if (!json.starts_with("[[")) return {};
    const std::string_view first = json.substr(1, json.find(']'));
    return first == "[]" ? std::string_view() : first;
  }

  // aten::zeros takes no tensor, but aten::zero_ within it does.
  bool HasShapeOf(uint32_t filler, uint32_t mover) const {
    const std::string_view wanted = ShapeOf(mover);
    if (wanted.empty()) return true;
    bool recorded = false;
    for (uint32_t i = filler; i < trace_.ranges.size() && trace_.ranges.start[i] < TimeOf(filler).end; ++i) {
      if (trace_.ranges.thread[i] != trace_.ranges.thread[filler]) continue;
      const std::string_view shape = ShapeOf(i);
      if (shape == wanted) return true;
      recorded |= !shape.empty();
    }
    return !recorded;
  }

  void Add(int64_t rank, uint32_t filler, uint32_t mover, int64_t bytes) {
    FilledCopyRow& row = rows_[{rank, trace_.ranges.name[filler],
                                context_.paths->Of(context_.attribution.range_parent[filler])}];
    if (row.copies++ == 0) {
      row.rank = rank;
      row.op = NameOf(filler);
      row.site = OpPathText(context_, context_.attribution.range_parent[filler]);
      firsts_.push_back({trace_.ranges.thread[filler], trace_.ranges.start[filler]});
      of_first_.push_back(&row);
    }
    if (bytes > 0) row.bytes = row.bytes.value_or(0) + bytes;
    row.host_ns += TimeOf(filler).length() + TimeOf(mover).length();
  }

  std::vector<FilledCopyRow> Rows() {
    const std::vector<std::string> lines = PythonLines(trace_, firsts_);
    for (size_t i = 0; i < lines.size(); ++i)
      if (!lines[i].empty()) of_first_[i]->line = lines[i];
    std::vector<FilledCopyRow> rows;
    for (auto& [key, row] : rows_) {
      const Ns window = context_.HostWindowOf(row.rank).length();
      row.window_share = window > 0 ? static_cast<double>(row.host_ns) / static_cast<double>(window) : 0;
      rows.push_back(std::move(row));
    }
    std::stable_sort(rows.begin(), rows.end(), [](const FilledCopyRow& a, const FilledCopyRow& b) {
      return std::pair(a.rank, -a.host_ns) < std::pair(b.rank, -b.host_ns);
    });
    return rows;
  }

  const Context& context_;
  const Trace& trace_;
  std::map<std::tuple<int64_t, NameId, PathId>, FilledCopyRow> rows_;  // by filler and caller
  std::vector<Moment> firsts_;                                         // first call of each row
  std::vector<FilledCopyRow*> of_first_;
};

}  // namespace

const RelationOf<FilledCopyRow>& FilledCopyRelation() {
  static const auto relation =
      RelationOf<FilledCopyRow>("filled_copy",
                                "Tensors that the host filled and copied to the GPU, in the analysed window.")
          .Key("rank", &FilledCopyRow::rank, kRankNumber, "Rank.")
          .Key("op", &FilledCopyRow::op, Unit::kText, "Operator that filled them, e.g. aten::zeros.")
          .Key("site", &FilledCopyRow::site, Unit::kText,
               "Path of the range that called it; (no range) outside all.")
          .Column("line", &FilledCopyRow::line, Unit::kText,
                  "Python line of the first, where PyTorch's profiler recorded stacks (with_stack=True).")
          .Column("copies", &FilledCopyRow::copies, Unit::kCount, "Tensors.")
          .Column("bytes", &FilledCopyRow::bytes, Unit::kBytes,
                  "Their size; unknown where it was not recorded.")
          .Column("host_ns", &FilledCopyRow::host_ns, Unit::kNanoseconds,
                  "Host time in filling and copying them.")
          .Column("window_share", &FilledCopyRow::window_share, Unit::kRatio,
                  "host_ns over the analysed window.");
  return relation;
}

std::vector<FilledCopyRow> ComputeFilledCopies(const Context& context) {
  return FilledCopies(context).Find();
}

const Family& FilledCopyFamily() {
  static const Family family = FamilyOf(FilledCopyRelation(), ComputeFilledCopies).Detail();
  return family;
}

}  // namespace dladvisor
