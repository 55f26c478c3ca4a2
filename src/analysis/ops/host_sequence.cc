// SPDX-License-Identifier: Apache-2.0
// Whether a program that uses no GPU, or whose accelerator is not read, works on a sequence that grows: by
// the rows that are multiplied with the same weights, call after call.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/api_kind.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/family.h"
#include "src/analysis/work/arguments.h"
#include "src/analysis/work/count.h"

namespace dladvisor {
namespace {

struct HostSequenceRow {
  int64_t rank = 0, added = 0, first_rows = 0, last_rows = 0, steps = 0, growing = 0, weights = 0;
};

const RelationOf<HostSequenceRow>& HostSequenceRelation() {
  static const auto relation =
      RelationOf<HostSequenceRow>(
          "host_sequence",
          "Rows that linear layers multiply with their weights, where each step has more of them than the "
          "one before, by as many each time; of profiles of PyTorch without GPU work, with shapes.")
          .Key("rank", &HostSequenceRow::rank, kRankNumber, "Rank.")
          .Column("added", &HostSequenceRow::added, Unit::kCount, "Rows that a step adds.")
          .Column("first_rows", &HostSequenceRow::first_rows, Unit::kCount, "Rows in the first step.")
          .Column("last_rows", &HostSequenceRow::last_rows, Unit::kCount, "Rows in the last step.")
          .Column("steps", &HostSequenceRow::steps, Unit::kCount, "Steps that grow so, one after the other.")
          .Column("growing", &HostSequenceRow::growing, Unit::kCount, "Shapes of weights with such rows.")
          .Column("weights", &HostSequenceRow::weights, Unit::kCount, "Shapes of weights in all.");
  return relation;
}

struct Layer {
  int64_t rows = 0, columns = 0, outputs = 0;
};

std::optional<Layer> LayerOf(std::string_view shapes) {
  const auto sizes = ParseShapes(shapes);
  if (sizes.size() < 2 || sizes[0].size() < 2 || sizes[1].size() != 2) return std::nullopt;
  const auto rows = Product(std::span(sizes[0].data(), sizes[0].size() - 1)).value();
  if (!rows) return std::nullopt;
  return Layer{*rows, sizes[1][1], sizes[1][0]};
}

// Calls with as many rows, one after the other.
struct Calls {
  int64_t rows = 0, count = 0;
};
// First and last rows, what is added, and steps.
using Growth = std::tuple<int64_t, int64_t, int64_t, int64_t>;

// The longest series in which rows grow evenly and are as often in each step; 1 step where none do.
Growth LongestGrowth(const std::vector<Calls>& calls) {
  Growth longest{calls[0].rows, calls[0].rows, 0, 1};
  for (size_t first = 0; first + 1 < calls.size();) {
    const int64_t added = calls[first + 1].rows - calls[first].rows;
    size_t last = first;
    while (last + 1 < calls.size() && calls[last + 1].rows - calls[last].rows == added &&
           calls[last + 1].count == calls[first].count)
      ++last;
    const auto steps = static_cast<int64_t>(last - first + 1);
    if (added > 0 && steps > std::get<3>(longest))
      longest = {calls[first].rows, calls[last].rows, added, steps};
    first = std::max(last, first + 1);
  }
  return longest;
}

std::vector<HostSequenceRow> ComputeHostSequences(const Context& context) {
  const Trace& trace = context.trace;
  const Ranges& ranges = trace.ranges;
  if (!context.ranks.gpus.empty() || !GivesGpusNothing(trace) || ranges.arguments.size() == 0) return {};
  std::map<std::pair<int64_t, int64_t>, std::vector<Calls>> by_weights;
  std::map<NameId, std::optional<Layer>> layers;  // by text of shapes
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    if (trace.names.View(ranges.name[i]) != "aten::linear") continue;
    const NameId shapes = trace.operator_arguments[static_cast<size_t>(ranges.arguments[i])].shapes;
    if (shapes == kNoName) continue;
    const auto [known, is_new] = layers.try_emplace(shapes);
    if (is_new) known->second = LayerOf(trace.names.View(shapes));
    if (!known->second) continue;
    std::vector<Calls>& calls = by_weights[{known->second->outputs, known->second->columns}];
    if (calls.empty() || calls.back().rows != known->second->rows) calls.push_back({known->second->rows, 0});
    ++calls.back().count;
  }
  std::map<Growth, int64_t> growths;
  for (const auto& [weights, calls] : by_weights) ++growths[LongestGrowth(calls)];
  HostSequenceRow row;
  for (const auto& [growth, weights] : growths)
    if (std::get<2>(growth) > 0 && weights > row.growing) {
      std::tie(row.first_rows, row.last_rows, row.added, row.steps) = growth;
      row.growing = weights;
    }
  row.weights = static_cast<int64_t>(by_weights.size());
  return row.growing > 0 ? std::vector{row} : std::vector<HostSequenceRow>{};
}

}  // namespace

const Family& HostSequenceFamily() {
  static const Family family = FamilyOf(HostSequenceRelation(), ComputeHostSequences).Detail();
  return family;
}

}  // namespace dladvisor
