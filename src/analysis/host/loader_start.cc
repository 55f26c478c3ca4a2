// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/host/loader_start.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "src/analysis/context/operator_tree.h"
#include "src/analysis/family/family.h"
#include "src/analysis/host/loader_restart.h"

namespace dladvisor {
namespace {

// Starting processes takes longer; what other operators do between is more often.
constexpr Ns kLeastStarting = 50'000'000;
// Of the fetches of a loader the last takes many times as long as most where workers end in it.
constexpr Ns kManyTimes = 10;

// What draws a seed and the order of samples calls, besides random_ and randperm.
bool IsOfDrawing(std::string_view name) {
  constexpr std::array kNames = std::to_array<std::string_view>(
      {"aten::empty", "aten::item", "aten::_local_scalar_dense", "aten::scalar_tensor", "aten::resize_",
       "aten::resolve_conj", "aten::resolve_neg", "aten::arange", "aten::tensor", "aten::to", "aten::detach_",
       "detach_"});
  return std::ranges::find(kNames, name) != kNames.end();
}

// What a thread has called since it last asked for a batch.
struct Drawing {
  Ns end = 0;                         // of the operators so far
  bool seeded = false;                // the last of them drew a number
  Interval starting = {};             // behind that
  int64_t numbers = 0;                // drawn behind the start
  bool order = false, other = false;  // drawn, called behind the start

  void Pass(Ns start) {
    if (!seeded || start - end < kLeastStarting || start - end < starting.length()) return;
    starting = {end, start};
    numbers = 0;
    order = other = false;
  }
  // A shuffled order takes a seed of its own.
  bool Starts() const { return starting.length() > 0 && !other && numbers == (order ? 1 : 0); }
};

struct Epoch {
  std::vector<Interval> fetches;
  Ns starting = 0;
  bool worked = false;  // operators behind the last fetch
};

void Add(const Epoch& epoch, LoaderStartRow& row) {
  if (epoch.starting == 0 || epoch.fetches.empty()) return;
  ++row.starts;
  row.starting_ns += epoch.starting;
  std::vector<Ns> lengths;
  for (const Interval& fetch : epoch.fetches) lengths.push_back(fetch.length());
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::ranges::nth_element(lengths, middle);
  const Interval last = epoch.fetches.back();
  const bool ends = epoch.fetches.size() > 2 && !epoch.worked && last.length() > kManyTimes * *middle;
  if (ends) row.ending_ns += last.length();
  row.batches += static_cast<int64_t>(epoch.fetches.size()) - (ends ? 1 : 0);
  row.batches_ns += (ends ? last.start : last.end) - epoch.fetches.front().start;
}

}  // namespace

const RelationOf<LoaderStartRow>& LoaderStartRelation() {
  static const auto relation =
      RelationOf<LoaderStartRow>("loader_start",
                                 "Starts of the workers of PyTorch's DataLoaders where nothing of a GPU was "
                                 "recorded, over the whole profile.")
          .Key("rank", &LoaderStartRow::rank, kRankNumber, "Rank.")
          .Column("starts", &LoaderStartRow::starts, Unit::kCount, "Times that workers are started.")
          .Column("starting_ns", &LoaderStartRow::starting_ns, Unit::kNanoseconds,
                  "Time in which they are started, until the host asks for the first batch.")
          .Column(
              "ending_ns", &LoaderStartRow::ending_ns, Unit::kNanoseconds,
              "Time of last fetches that no operator follows and that take far longer than others: workers "
              "end.")
          .Column("batches", &LoaderStartRow::batches, Unit::kCount, "Batches that they brought.")
          .Column("batches_ns", &LoaderStartRow::batches_ns, Unit::kNanoseconds,
                  "Time from the fetch of the first batch to the last, steps between them included.")
          .Column("share", &LoaderStartRow::share, Unit::kRatio,
                  "Time in which workers start and end over the profile's time.");
  return relation;
}

std::vector<LoaderStartRow> ComputeLoaderStarts(const Context& context) {
  const Trace& trace = context.trace;
  if (!context.ranks.gpus.empty()) return {};
  const Ranges& ranges = trace.ranges;
  std::vector<bool> is_fetch(trace.names.size()), is_drawing(trace.names.size());
  for (NameId name = 0; name < trace.names.size(); ++name) {
    is_fetch[name] = IsFetchFromWorkers(trace.names.View(name));
    is_drawing[name] = IsOfDrawing(trace.names.View(name));
  }
  if (std::ranges::find(is_fetch, true) == is_fetch.end()) return {};
  std::map<uint32_t, Drawing> drawings;  // by thread
  std::map<uint32_t, Epoch> epochs;
  LoaderStartRow row;
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    const bool fetch = is_fetch[ranges.name[i]];
    if (ranges.open[i] || !(fetch || trace.names.View(ranges.domain[i]) == kOperatorDomain)) continue;
    const uint32_t thread = ranges.thread[i];
    Drawing& drawing = drawings[thread];
    Epoch& epoch = epochs[thread];
    if (ranges.start[i] < drawing.end && !fetch) {  // within another
      drawing.end = std::max(drawing.end, ranges.end[i]);
      continue;
    }
    drawing.Pass(ranges.start[i]);
    if (fetch) {
      if (drawing.Starts() && !CallsTheApi(trace, thread, drawing.starting)) {
        Add(epoch, row);
        epoch = {{}, drawing.starting.length(), false};
      }
      epoch.fetches.push_back({ranges.start[i], ranges.end[i]});
      epoch.worked = false;
      drawing = {.end = ranges.end[i]};
      continue;
    }
    const std::string_view name = trace.names.View(ranges.name[i]);
    const bool number = name == "aten::random_", order = name == "aten::randperm";
    drawing.numbers += number;
    drawing.order |= order;
    drawing.seeded = number || (drawing.seeded && is_drawing[ranges.name[i]]);
    drawing.other |= !number && !order && !is_drawing[ranges.name[i]];
    drawing.end = std::max(drawing.end, ranges.end[i]);
    epoch.worked |= !number && !order && !is_drawing[ranges.name[i]];
  }
  for (const auto& [thread, epoch] : epochs) Add(epoch, row);
  if (row.starts == 0) return {};
  row.share = static_cast<double>(row.starting_ns + row.ending_ns) /
              static_cast<double>(std::max<Ns>(1, context.activity.length()));
  return {row};
}

const Family& LoaderStartFamily() {
  static const Family family = FamilyOf(LoaderStartRelation(), ComputeLoaderStarts);
  return family;
}

}  // namespace dladvisor
