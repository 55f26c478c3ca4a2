// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/recomputation.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string_view>
#include <tuple>

#include "src/analysis/family/family.h"

namespace dladvisor {
namespace {

// Fewer operators in a row say nothing.
constexpr size_t kInARow = 3;
using InARow = std::array<NameId, kInARow>;
// Of those of a segment, such that the forward pass did not make: a copy of what was overwritten, for one.
constexpr double kMostOthers = 0.25;

bool OfCheckpointing(std::string_view node) {
  static const RE2 name("(?i)checkpoint|recompute");
  return RE2::PartialMatch(re2::StringPiece(node.data(), node.size()), name);
}

// What layers call, and formulas of derivatives do not.
bool IsOfLayers(std::string_view name) {
  static const RE2 layers(
      "aten::(linear|conv(_transpose)?[123]d|(layer|batch|group|instance|rms)_norm|"
      "scaled_dot_product_attention|embedding|dropout|relu_?|gelu|silu_?|lstm|gru)");
  return RE2::FullMatch(re2::StringPiece(name.data(), name.size()), layers);
}

enum class Role : uint8_t { kOther, kForward, kBackward };

// A segment that may be one, with the node that it runs in.
struct Candidate {
  RecomputedSegment segment;
  uint32_t node = kNoIndex;
  std::vector<NameId> names;
};

class Finder {
 public:
  explicit Finder(const Context& context)
      : trace_(context.trace), parents_(context.attribution.range_parent) {}

  RecomputedSegments Find() {
    const Ranges& ranges = trace_.ranges;
    if (ranges.sequence.size() != ranges.size() || ranges.forward_thread.size() != ranges.size()) return {};
    std::vector<std::vector<uint32_t>> by_thread(trace_.threads.size());
    for (uint32_t i = 0; i < ranges.size(); ++i)
      if (RoleOf(i) != Role::kOther && ranges.thread[i] != kNoIndex && !ranges.open[i])
        by_thread[ranges.thread[i]].push_back(i);
    const auto time = [&](uint32_t i) { return std::tuple(ranges.start[i], -ranges.end[i], i); };
    for (std::vector<uint32_t>& order : by_thread) {
      if (!std::ranges::is_sorted(order, {}, time)) std::ranges::sort(order, {}, time);
      for (const uint32_t i : order) Add(i);
    }
    if (candidates_.empty()) return {};
    std::ranges::sort(forward_);
    RecomputedSegments found;
    for (const Candidate& candidate : candidates_)
      if (IsComputedAgain(candidate)) found.push_back(candidate.segment);
    return found;
  }

 private:
  Role RoleOf(uint32_t range) const {
    if (trace_.ranges.forward_thread[range] != 0) return Role::kBackward;
    return trace_.ranges.sequence[range] >= 0 ? Role::kForward : Role::kOther;
  }

  // The innermost operator or node around a range that autograd knows.
  uint32_t Around(uint32_t range) const {
    do range = parents_[range];
    while (range != kNoIndex && RoleOf(range) == Role::kOther);
    return range;
  }

  void Add(uint32_t i) {
    const Ranges& ranges = trace_.ranges;
    if (RoleOf(i) == Role::kBackward) {
      is_open_ = false;
      return;
    }
    const uint32_t around = Around(i);
    if (around == kNoIndex) {
      AddForward(i);
      return;
    }
    if (RoleOf(around) != Role::kBackward) return;
    if (!is_open_ || candidates_.back().node != around) {
      const bool is_first = candidates_.empty() || candidates_.back().node != around;
      const Ns start = ranges.start[is_first ? around : i];
      candidates_.push_back({{ranges.thread[i], {start, ranges.end[i]}, 0}, around, {}});
    }
    is_open_ = true;
    Candidate& last = candidates_.back();
    last.segment.time.end = ranges.end[i];
    ++last.segment.operators;
    last.names.push_back(ranges.name[i]);
  }

  void AddForward(uint32_t i) {
    const uint32_t thread = trace_.ranges.thread[i];
    if (thread != forward_thread_) in_a_row_ = 0;
    forward_thread_ = thread;
    std::rotate(last_.begin(), last_.begin() + 1, last_.end());
    last_.back() = trace_.ranges.name[i];
    if (++in_a_row_ >= kInARow) forward_.push_back(last_);
  }

  bool IsComputedAgain(const Candidate& candidate) const {
    if (OfCheckpointing(trace_.names.View(trace_.ranges.name[candidate.node]))) return true;
    const std::vector<NameId>& names = candidate.names;
    if (names.size() < kInARow ||
        std::ranges::none_of(names, [&](NameId name) { return IsOfLayers(trace_.names.View(name)); }))
      return false;
    size_t others = 0;
    for (size_t i = 0; i + kInARow <= names.size(); ++i)
      others += !std::ranges::binary_search(forward_, InARow{names[i], names[i + 1], names[i + 2]});
    return others <= static_cast<size_t>(kMostOthers * static_cast<double>(names.size() - kInARow + 1));
  }

  const Trace& trace_;
  const std::vector<uint32_t>& parents_;
  std::vector<Candidate> candidates_;
  bool is_open_ = false;         // the last of them
  std::vector<InARow> forward_;  // of the forward pass
  InARow last_{};
  size_t in_a_row_ = 0;
  uint32_t forward_thread_ = kNoIndex;
};

}  // namespace

RecomputedSegments FindRecomputation(const Context& context) { return Finder(context).Find(); }

const RelationOf<RecomputationRow>& RecomputationRelation() {
  static const auto relation =
      RelationOf<RecomputationRow>(
          "recomputation",
          "Parts of the forward pass that PyTorch runs again in the backward pass (activation "
          "checkpointing), while the host works on the analysed steps; no row where there are none, or "
          "operators are not recorded.")
          .Key("rank", &RecomputationRow::rank, kRankNumber, "Rank.")
          .Column("segments", &RecomputationRow::segments, Unit::kCount, "Such parts.")
          .Column("operators", &RecomputationRow::operators, Unit::kCount,
                  "Operators of them, but for those within others.")
          .Column("host_ns", &RecomputationRow::host_ns, Unit::kNanoseconds, "Time of the host in them.")
          .Column("gpu_ns", &RecomputationRow::gpu_ns, Unit::kNanoseconds,
                  "Time of the kernels launched in them.");
  return relation;
}

namespace {

std::vector<RecomputationRow> ComputeRecomputations(const Context& context,
                                                    const RecomputedSegments& segments) {
  std::map<int64_t, RecomputationRow> by_rank;
  std::map<uint32_t, std::vector<Interval>> by_thread;  // those that count
  for (const RecomputedSegment& segment : segments) {
    const int64_t rank = context.RankOfThread(segment.thread);
    const Interval window = context.HostOfSteps(rank);
    if (rank < 0 || segment.time.start < window.start || segment.time.start >= window.end) continue;
    RecomputationRow& row = by_rank[rank];
    row.rank = rank;
    ++row.segments;
    row.operators += static_cast<int64_t>(segment.operators);
    row.host_ns += segment.time.length();
    by_thread[segment.thread].push_back(segment.time);
  }
  const Trace& trace = context.trace;
  for (size_t kernel = 0; kernel < trace.kernels.size() && !by_rank.empty(); ++kernel) {
    const uint32_t call = context.launches.kernel[kernel];
    if (call == kNoIndex) continue;
    const auto of_thread = by_thread.find(trace.api_calls.thread[call]);
    if (of_thread == by_thread.end()) continue;
    const Ns launched = trace.api_calls.start[call];
    const auto within = std::ranges::upper_bound(of_thread->second, launched, {}, &Interval::end);
    if (within == of_thread->second.end() || within->start > launched) continue;
    by_rank[context.RankOfThread(of_thread->first)].gpu_ns +=
        trace.kernels.end[kernel] - trace.kernels.start[kernel];
  }
  std::vector<RecomputationRow> rows;
  for (const auto& [rank, row] : by_rank) rows.push_back(row);
  return rows;
}

}  // namespace

const Family& RecomputationFamily() {
  static const Family family = FamilyOf(RecomputationRelation(), ComputeRecomputations).Detail();
  return family;
}

}  // namespace dladvisor
