// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/compat/kernel_breakdown.h"

#include <algorithm>
#include <array>
#include <limits>

#include "src/analysis/family/family.h"

namespace dladvisor {

const RelationOf<TemporalBreakdownRow>& TemporalBreakdownRelation() {
  using Row = TemporalBreakdownRow;
  static const auto relation =
      RelationOf<Row>("temporal_breakdown",
                      "GPU time of a rank: idle, computing, or only communicating and copying.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
          .Column("kernel_ns", &Row::kernel_ns, Unit::kNanoseconds,
                  "From the first GPU operation's start to the last one's end.")
          .Column("idle_ns", &Row::idle_ns, Unit::kNanoseconds, "No operation runs on any stream.")
          .Column("compute_ns", &Row::compute_ns, Unit::kNanoseconds, "A computation runs.")
          .Column("non_compute_ns", &Row::non_compute_ns, Unit::kNanoseconds, "Something else runs.")
          .Column("idle_share", &Row::idle_share, Unit::kRatio, "Share of kernel_ns.")
          .Column("compute_share", &Row::compute_share, Unit::kRatio, "Share of kernel_ns.")
          .Column("non_compute_share", &Row::non_compute_share, Unit::kRatio, "Share of kernel_ns.");
  return relation;
}

const RelationOf<KernelBreakdownRow>& KernelBreakdownRelation() {
  using Row = KernelBreakdownRow;
  static const auto relation =
      RelationOf<Row>("kernel_breakdown", "Busy GPU time of a rank by what runs at once.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
          .Key("kernel_type", &Row::kernel_type, Unit::kText,
               "COMPUTATION, COMMUNICATION, MEMORY, or those of them that overlap.")
          .Column("total_ns", &Row::total_ns, Unit::kNanoseconds, "Time with just these running.")
          .Column("share", &Row::share, Unit::kRatio, "Share of the rank's busy time.");
  return relation;
}

const RelationOf<CommunicationOverlapRow>& CommunicationOverlapRelation() {
  using Row = CommunicationOverlapRow;
  static const auto relation =
      RelationOf<Row>("communication_overlap", "How much of a rank's communication computation hides.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
          .Column("communication_ns", &Row::communication_ns, Unit::kNanoseconds, "Communication runs.")
          .Column("overlap_ns", &Row::overlap_ns, Unit::kNanoseconds, "Computation runs beside it.")
          .Column("overlap_share", &Row::overlap_share, Unit::kRatio,
                  "overlap_ns / communication_ns; unknown without communication.");
  return relation;
}

namespace {

constexpr size_t kTypes = 3;
constexpr std::array<const char*, kTypes> kNames = {"COMPUTATION", "COMMUNICATION", "MEMORY"};

// Time by the set of types that run: bit t for type t.
using TimeBySet = std::array<int64_t, 1 << kTypes>;

TimeBySet Sweep(const Context& context, const ProfiledWork& work, Interval& span) {
  TimeBySet time{};
  bool any = false;
  std::array<Ns, kTypes> until{};
  until.fill(std::numeric_limits<Ns>::min());
  Ns now = 0;
  // What runs now runs until the first of them ends.
  const auto pass = [&](Ns then) {
    while (now < then) {
      size_t running = 0;
      Ns next = then;
      for (size_t t = 0; t < kTypes; ++t)
        if (until[t] > now) {
          running |= size_t{1} << t;
          next = std::min(next, until[t]);
        }
      time[running] += next - now;
      now = next;
    }
  };
  ForEachProfiled(context, work, [&](const ProfiledOperation& operation) {
    if (!any) {
      span = operation.time;
      now = span.start;
    }
    any = true;
    pass(operation.time.start);
    Ns& end = until[static_cast<size_t>(operation.type)];
    end = std::max(end, operation.time.end);
    span.end = std::max(span.end, operation.time.end);
  });
  pass(span.end);
  return time;
}

void AddRank(const Context& context, const ProfiledWork& work, Breakdowns& out) {
  Interval span;
  const TimeBySet time = Sweep(context, work, span);
  if (span.length() <= 0) return;
  constexpr size_t kCompute = 1, kCommunicate = 2;
  TemporalBreakdownRow temporal;
  CommunicationOverlapRow overlap;
  temporal.rank = overlap.rank = work.rank;
  temporal.kernel_ns = span.length();
  temporal.idle_ns = time[0];
  for (size_t set = 1; set < time.size(); ++set) {
    (set & kCompute ? temporal.compute_ns : temporal.non_compute_ns) += time[set];
    if (set & kCommunicate) overlap.communication_ns += time[set];
    if ((set & kCompute) && (set & kCommunicate)) overlap.overlap_ns += time[set];
  }
  temporal.idle_share = Share(temporal.idle_ns, temporal.kernel_ns);
  temporal.compute_share = Share(temporal.compute_ns, temporal.kernel_ns);
  temporal.non_compute_share = Share(temporal.non_compute_ns, temporal.kernel_ns);
  overlap.overlap_share = Share(overlap.overlap_ns, overlap.communication_ns);
  out.temporal.push_back(temporal);
  out.overlaps.push_back(overlap);
  const size_t first = out.types.size();
  for (size_t set = 1; set < time.size(); ++set) {
    if (time[set] == 0) continue;
    KernelBreakdownRow& row = out.types.emplace_back();
    row.rank = work.rank;
    for (size_t t = 0; t < kTypes; ++t)
      if (set >> t & 1)
        row.kernel_type += (row.kernel_type.empty() ? "" : " overlapping ") + std::string(kNames[t]);
    row.total_ns = time[set];
    row.share = Share(row.total_ns, temporal.kernel_ns - temporal.idle_ns);
  }
  std::stable_sort(
      out.types.begin() + static_cast<std::ptrdiff_t>(first), out.types.end(),
      [](const KernelBreakdownRow& a, const KernelBreakdownRow& b) { return a.total_ns > b.total_ns; });
}

}  // namespace

Breakdowns ComputeBreakdowns(const Context& context, const std::vector<ProfiledWork>& work) {
  Breakdowns result;
  for (const ProfiledWork& rank : work) AddRank(context, rank, result);
  return result;
}

const Family& TemporalBreakdownFamily() {
  static const Family family = FamilyOf(TemporalBreakdownRelation(), &Breakdowns::temporal).OnDemand();
  return family;
}

const Family& KernelBreakdownFamily() {
  static const Family family = FamilyOf(KernelBreakdownRelation(), &Breakdowns::types).OnDemand();
  return family;
}

const Family& CommunicationOverlapFamily() {
  static const Family family = FamilyOf(CommunicationOverlapRelation(), &Breakdowns::overlaps).OnDemand();
  return family;
}

}  // namespace dladvisor
