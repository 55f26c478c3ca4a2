// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/spans/span_trace.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "src/analysis/family/family.h"
#include "src/analysis/spans/late_marks.h"
#include "src/analysis/spans/span_walk.h"
#include "src/analysis/spans/uneven_spans.h"
#include "src/statistics/quantile.h"

namespace dladvisor {
namespace {

constexpr uint32_t kNoSpan = UINT32_MAX;

std::string Numbered(std::string_view name) {
  std::string text(name);
  RE2::GlobalReplace(&text, R"(\d+)", "#");
  return text;
}

bool SaysItWaits(const std::string& name) {
  static const RE2 waits(
      R"((?i)wait|synchroni|\bsync\b|_sync|barrier|spin|idle|sleep|poll|negotiat|recv|receive|stall|futex|(^|[^b])lock)");
  return RE2::PartialMatch(name, waits);
}

// What spans are called together. Names that occur once each and differ by their numbers number the rounds of
// one thing ("step 7"); others that differ so are different things ("layer 7").
class SpanNames {
 public:
  explicit SpanNames(const Trace& trace) {
    const ProgramSpans& spans = trace.program_spans;
    std::map<NameId, size_t> counts;
    for (const NameId name : spans.name) ++counts[name];
    struct Group {
      size_t names = 0, spans = 0;
    };
    std::map<std::string, Group> groups;
    std::map<NameId, std::string> numbered;
    for (const auto& [name, count] : counts) {
      Group& group = groups[numbered[name] = Numbered(trace.names.View(name))];
      ++group.names;
      group.spans += count;
    }
    constexpr size_t kLeastRounds = 3;
    std::map<std::string, uint32_t> ids;
    std::map<NameId, uint32_t> id_of;
    for (const auto& [name, count] : counts) {
      const Group& group = groups[numbered[name]];
      const bool counts_rounds = group.names >= kLeastRounds && group.spans == group.names;
      const std::string text = counts_rounds ? numbered[name] : std::string(trace.names.View(name));
      const auto [known, is_new] = ids.try_emplace(text, static_cast<uint32_t>(texts.size()));
      if (is_new) texts.push_back(text);
      id_of[name] = known->second;
    }
    for (const NameId name : spans.name) of_span.push_back(id_of[name]);
    for (const std::string& text : texts) waits.push_back(SaysItWaits(text));
  }

  std::vector<std::string> texts;  // "" for spans without a name
  std::vector<bool> waits;
  std::vector<uint32_t> of_span;
};

struct NameTimes {
  std::vector<double> durations;
  std::set<uint32_t> tracks;
  double self_ns = 0, total_ns = 0;
  uint32_t first = kNoSpan;  // span
};

double SpanLength(const ProgramSpans& spans, uint32_t span) {
  return static_cast<double>(spans.end[span] - spans.start[span]);
}

std::vector<NameTimes> TimesByName(const ProgramSpans& spans, const SpanTimes& times,
                                   const SpanNames& names) {
  std::vector<NameTimes> list(names.texts.size());
  for (uint32_t i = 0; i < spans.size(); ++i) {
    NameTimes& name = list[names.of_span[i]];
    name.durations.push_back(SpanLength(spans, i));
    name.tracks.insert(spans.track[i]);
    name.self_ns += times.self_ns[i];
    const uint32_t parent = times.parent[i];
    if (parent == kNoSpan || names.of_span[parent] != names.of_span[i]) name.total_ns += SpanLength(spans, i);
    if (name.first == kNoSpan || spans.start[i] < spans.start[name.first]) name.first = i;
  }
  return list;
}

// What enclose all of a track say nothing of its parts: spans within these are outer ones, too.
std::vector<bool> OuterSpans(const ProgramSpans& spans, const SpanTimes& times) {
  constexpr double kAll = 0.9;
  std::vector<bool> outer(spans.size()), whole(spans.size());
  for (const uint32_t i : times.order) {
    const uint32_t parent = times.parent[i];
    const bool is_outer = parent == kNoSpan || whole[parent];
    whole[i] = is_outer && SpanLength(spans, i) >= kAll * times.duration_ns;
    outer[i] = is_outer && !whole[i];
  }
  return outer;
}

struct OneOff {
  uint32_t span = kNoSpan;
  int64_t of = 0;
  double excess_ns = 0;
  std::optional<double> others_ns;
};

// What takes long once, early, before spans that recur: a span without another of its name, or the first of
// several.
OneOff FindOneOff(const ProgramSpans& spans, const SpanTimes& times, const SpanNames& names,
                  const std::vector<NameTimes>& list) {
  constexpr double kLeastShare = 0.2, kFirstPart = 0.25, kTimesOthers = 3;
  constexpr size_t kLeastRounds = 3;
  const std::vector<bool> outer = OuterSpans(spans, times);
  std::vector<Ns> starts;  // of outer spans that recur
  for (uint32_t i = 0; i < spans.size(); ++i)
    if (outer[i] && list[names.of_span[i]].durations.size() >= kLeastRounds) starts.push_back(spans.start[i]);
  std::ranges::sort(starts);
  const auto begin = static_cast<double>(*std::ranges::min_element(spans.start));
  OneOff worst;
  for (uint32_t name = 0; name < list.size(); ++name) {
    const uint32_t i = list[name].first;
    const size_t count = list[name].durations.size();
    if (!outer[i] || (count > 1 && count < kLeastRounds) || names.waits[name]) continue;
    const auto after = starts.end() - std::ranges::lower_bound(starts, spans.end[i]);
    if (after < static_cast<int64_t>(kLeastRounds) ||
        static_cast<double>(spans.start[i]) - begin > kFirstPart * times.duration_ns)
      continue;
    OneOff once{.span = i, .of = static_cast<int64_t>(count), .excess_ns = SpanLength(spans, i)};
    if (count > 1) {
      std::vector<double> durations = list[name].durations;
      once.others_ns = Median(durations);
      if (once.excess_ns < kTimesOthers * *once.others_ns) continue;
      once.excess_ns -= *once.others_ns;
    }
    if (once.excess_ns >= kLeastShare * times.duration_ns && once.excess_ns > worst.excess_ns) worst = once;
  }
  return worst;
}

std::string ShownName(const std::string& text) {
  return text.empty() ? "(no name)" : text == "#" ? "(a number)" : text;
}

std::optional<double> ShareOf(double part, double whole) {
  return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

// What is known of the spans of a trace, when each is of a name and took a time.
struct Walked {
  const ProgramSpans& spans;
  SpanTimes times;
  SpanNames names;
  std::vector<NameTimes> by_name;

  std::string NameOf(uint32_t span) const { return ShownName(names.texts[names.of_span[span]]); }
  // Spans of one track that cross are of things at the same time, as requests: of none is it known what it
  // takes.
  bool IsNested() const {
    constexpr double kMostCrossing = 0.05;
    return static_cast<double>(times.crossing) <= kMostCrossing * static_cast<double>(spans.size());
  }
};

// The spans after which most of the time without any passes, again and again, as between rounds.
void AddTimeApart(const Walked& w, SpanTraceRow& row) {
  struct Apart {
    double longest = 0, ns = 0;
    int64_t count = 0;
  };
  std::map<uint32_t, Apart> by_name;
  for (const auto& [span, ns] : w.times.gaps) {
    Apart& apart = by_name[w.names.of_span[span]];
    apart.longest = std::max(apart.longest, ns);
  }
  constexpr double kAlike = 0.25;  // of the longest
  for (const auto& [span, ns] : w.times.gaps) {
    Apart& apart = by_name[w.names.of_span[span]];
    if (ns < kAlike * apart.longest) continue;
    apart.ns += ns;
    ++apart.count;
  }
  if (by_name.empty()) return;
  const auto& [name, most] = *std::ranges::max_element(
      by_name, [](const auto& a, const auto& b) { return a.second.ns < b.second.ns; });
  row.apart_name = ShownName(w.names.texts[name]);
  row.apart_count = most.count;
  row.apart_ns = most.ns;
  row.apart_share = ShareOf(most.ns, w.times.duration_ns);
}

SpanTraceRow TraceRow(const Walked& w, bool is_whole) {
  const ProgramSpans& spans = w.spans;
  const SpanTimes& times = w.times;
  SpanTraceRow row;
  row.spans = static_cast<int64_t>(spans.size());
  row.tracks = static_cast<int64_t>(spans.tracks.size());
  std::set<int64_t> processes;
  for (const SpanTrack& track : spans.tracks) processes.insert(track.process);
  row.processes = static_cast<int64_t>(processes.size());
  row.duration_ns = times.duration_ns;
  if (is_whole) row.covered_share = ShareOf(times.covered_ns, times.duration_ns).value_or(0);
  if (is_whole && times.gap_ns > 0) {
    row.gap_ns = times.gap_ns;
    row.gap_share = ShareOf(times.gap_ns, times.duration_ns);
    row.before_gap = w.NameOf(times.before_gap);
    AddTimeApart(w, row);
  }
  if (!w.IsNested()) return row;
  if (const auto uneven = FindUnevenSpans(spans, times, w.names.of_span, w.names.waits)) {
    row.uneven_name = ShownName(w.names.texts[uneven->name]);
    row.peer_kind = uneven->of_processes ? "process" : "track";
    row.most_peer = uneven->most;
    row.least_peer = uneven->least;
    row.peers = uneven->peers;
    row.most_ns = uneven->most_ns;
    row.mean_ns = uneven->mean_ns;
    row.least_ns = uneven->least_ns;
    row.most_ratio = ShareOf(uneven->most_ns, uneven->mean_ns);
    row.excess_share = uneven->excess_share;
  }
  if (const OneOff once = FindOneOff(spans, times, w.names, w.by_name); once.span != kNoSpan) {
    row.once_name = w.NameOf(once.span);
    row.once_of = once.of;
    row.once_ns = SpanLength(spans, once.span);
    row.once_share = ShareOf(*row.once_ns, times.duration_ns);
    row.once_others_ns = once.others_ns;
  }
  return row;
}

// The names of most time; `trace` tells of the first.
std::vector<SpanNameRow> NameRows(Walked& w, SpanTraceRow& trace) {
  double all_ns = 0;
  for (const double ns : w.times.self_ns) all_ns += ns;
  std::vector<uint32_t> order(w.by_name.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(
      order, [&](uint32_t a, uint32_t b) { return w.by_name[a].self_ns > w.by_name[b].self_ns; });
  constexpr size_t kMostNames = 1000;
  std::vector<SpanNameRow> rows;
  for (size_t i = 0; i < std::min(order.size(), kMostNames); ++i) {
    NameTimes& times = w.by_name[order[i]];
    SpanNameRow& name = rows.emplace_back();
    name.name = ShownName(w.names.texts[order[i]]);
    name.count = static_cast<int64_t>(times.durations.size());
    name.tracks = static_cast<int64_t>(times.tracks.size());
    name.self_ns = times.self_ns;
    name.share = ShareOf(name.self_ns, all_ns);
    name.longest_ns = *std::ranges::max_element(times.durations);
    name.first_ns = SpanLength(w.spans, times.first);
    name.median_ns = Median(times.durations);
    if (i > 0 || !(name.self_ns > 0) || !w.IsNested()) continue;
    trace.name = name.name;
    trace.count = name.count;
    trace.named_tracks = name.tracks;
    trace.self_ns = name.self_ns;
    trace.share = name.share;
    trace.each_ns = name.self_ns / static_cast<double>(name.count);
    trace.longest_ns = name.longest_ns;
    trace.inner_share = ShareOf(std::max(0.0, times.total_ns - name.self_ns), times.total_ns);
  }
  return rows;
}

std::vector<SpanTrackRow> TrackRows(const Walked& w) {
  const ProgramSpans& spans = w.spans;
  std::map<std::pair<uint32_t, uint32_t>, double> self;  // by track and name
  for (size_t i = 0; i < spans.size(); ++i) self[{spans.track[i], w.names.of_span[i]}] += w.times.self_ns[i];
  std::vector<std::pair<uint32_t, double>> top(spans.tracks.size(), {kNoSpan, -1});
  for (const auto& [key, ns] : self)
    if (ns > top[key.first].second) top[key.first] = {key.second, ns};
  std::vector<SpanTrackRow> rows;
  for (uint32_t i = 0; i < spans.tracks.size(); ++i) {
    const TrackTimes& track = w.times.tracks[i];
    SpanTrackRow& row = rows.emplace_back();
    row.track = i;
    row.process = spans.tracks[i].process_name;
    row.name = spans.tracks[i].name;
    row.spans = static_cast<int64_t>(track.spans);
    row.start_ns = track.start_ns;
    row.end_ns = track.end_ns;
    row.busy_ns = track.busy_ns;
    row.busy_share = ShareOf(track.busy_ns, w.times.duration_ns);
    row.gap_ns = track.gap_ns;
    if (track.before_gap != kNoSpan) row.gap_start_ns = track.gap_start_ns;
    row.top_name = ShownName(w.names.texts[top[i].first]);
    row.top_ns = top[i].second;
  }
  return rows;
}

}  // namespace

SpanFamilies ComputeSpans(const Context& context) {
  SpanFamilies families;
  const ProgramSpans& spans = context.trace.program_spans;
  if (spans.empty()) return families;
  Walked walked{spans, WalkSpans(spans), SpanNames(context.trace), {}};
  walked.by_name = TimesByName(spans, walked.times, walked.names);
  // Spans that were left out may lie where none is.
  const bool is_whole = spans.never_ended == 0 && context.trace.health.negative_durations == 0;
  families.trace = {TraceRow(walked, is_whole)};
  if (const auto marks = FindLateMarks(context.trace)) {
    SpanTraceRow& row = families.trace[0];
    row.with_marks = marks->spans;
    row.marked_span = marks->span;
    row.last_mark = marks->last;
    row.last_count = marks->last_count;
    row.late_ns = marks->late_ns;
    row.marked_ns = marks->waiting_ns;
  }
  families.names = NameRows(walked, families.trace[0]);
  families.tracks = TrackRows(walked);
  return families;
}

const RelationOf<SpanTraceRow>& SpanTraceRelation() {
  static const auto relation =
      RelationOf<SpanTraceRow>(
          "span_trace",
          "One row per trace of spans that a program marked itself, or a profiler of no known kind recorded: "
          "what takes most of its time, what is uneven between its tracks, and what happens once.")
          .Key("profile", &SpanTraceRow::profile, kProfileNumber, "Number of the file.")
          .Column("spans", &SpanTraceRow::spans, Unit::kCount, "Spans.")
          .Column("tracks", &SpanTraceRow::tracks, Unit::kCount, "Tracks that they are shown on.")
          .Column("processes", &SpanTraceRow::processes, Unit::kCount, "Processes of these tracks.")
          .Column("duration_ns", &SpanTraceRow::duration_ns, Unit::kNanoseconds,
                  "From the begin of the first span to the end of the last, in the unit that the format "
                  "prescribes.")
          .Column(
              "covered_share", &SpanTraceRow::covered_share, Unit::kRatio,
              "Of it, with any span on any track; unknown where spans were left out, which never end or end "
              "before they begin.")
          .Column("name", &SpanTraceRow::name, Unit::kText,
                  "Spans that take most of the time; # for numbers of rounds. Unknown where none takes any, "
                  "or where spans of a track cross, as those of requests that are served together.")
          .Column("count", &SpanTraceRow::count, Unit::kCount, "These spans.")
          .Column("named_tracks", &SpanTraceRow::named_tracks, Unit::kCount, "Tracks that have them.")
          .Column("self_ns", &SpanTraceRow::self_ns, Unit::kNanoseconds,
                  "Their time without spans within them, over all tracks.")
          .Column("share", &SpanTraceRow::share, Unit::kRatio,
                  "Of the time of all spans, each moment of a "
                  "track counted once.")
          .Column("each_ns", &SpanTraceRow::each_ns, Unit::kNanoseconds, "For each of them.")
          .Column("longest_ns", &SpanTraceRow::longest_ns, Unit::kNanoseconds, "The longest of them.")
          .Column("inner_share", &SpanTraceRow::inner_share, Unit::kRatio,
                  "Of their whole time, within other spans.")
          .Column("gap_ns", &SpanTraceRow::gap_ns, Unit::kNanoseconds,
                  "The longest time without a span on any track; unknown without one.")
          .Column("gap_share", &SpanTraceRow::gap_share, Unit::kRatio, "Of duration_ns.")
          .Column("before_gap", &SpanTraceRow::before_gap, Unit::kText, "The span after which it passes.")
          .Column("apart_name", &SpanTraceRow::apart_name, Unit::kText,
                  "The spans after which most of the time without any passes; unknown without such time.")
          .Column("apart_count", &SpanTraceRow::apart_count, Unit::kCount,
                  "Times without a span that follow them, a quarter of the longest of these and more.")
          .Column("apart_ns", &SpanTraceRow::apart_ns, Unit::kNanoseconds, "These together.")
          .Column("apart_share", &SpanTraceRow::apart_share, Unit::kRatio, "Of duration_ns.")
          .Column(
              "uneven_name", &SpanTraceRow::uneven_name, Unit::kText,
              "Spans of which one of several peers has far more than the mean of them, while the one with "
              "the least waits; unknown where none.")
          .Column("peer_kind", &SpanTraceRow::peer_kind, Unit::kText,
                  "Whether the peers are of kind process "
                  "or track.")
          .Column("most_peer", &SpanTraceRow::most_peer, Unit::kText, "The peer with the most.")
          .Column("least_peer", &SpanTraceRow::least_peer, Unit::kText, "The peer with the least.")
          .Column("peers", &SpanTraceRow::peers, Unit::kCount, "Peers that have these spans.")
          .Column("most_ns", &SpanTraceRow::most_ns, Unit::kNanoseconds, "Time of the most, in these spans.")
          .Column("mean_ns", &SpanTraceRow::mean_ns, Unit::kNanoseconds, "Mean of the peers.")
          .Column("least_ns", &SpanTraceRow::least_ns, Unit::kNanoseconds, "Time of the least.")
          .Column("most_ratio", &SpanTraceRow::most_ratio, Unit::kNone, "The most by the mean.")
          .Column("excess_share", &SpanTraceRow::excess_share, Unit::kRatio,
                  "What the most has above the mean, of the mean time of a peer in spans.")
          .Column("once_name", &SpanTraceRow::once_name, Unit::kText,
                  "A span that takes long once, early, before spans that recur; unknown where none.")
          .Column("once_of", &SpanTraceRow::once_of, Unit::kCount,
                  "Spans of its name, of which it is the first; 1 where it is the only one.")
          .Column("once_ns", &SpanTraceRow::once_ns, Unit::kNanoseconds, "Its time.")
          .Column("once_share", &SpanTraceRow::once_share, Unit::kRatio, "Of duration_ns.")
          .Column("once_others_ns", &SpanTraceRow::once_others_ns, Unit::kNanoseconds,
                  "Median of those of its name; unknown where it is the only one.")
          .Column("with_marks", &SpanTraceRow::with_marks, Unit::kCount,
                  "Spans within which numbers are marked, as ranks that are ready in Horovod's timeline.")
          .Column("marked_span", &SpanTraceRow::marked_span, Unit::kText, "What most of them are called.")
          .Column("last_mark", &SpanTraceRow::last_mark, Unit::kText, "The number that is last most often.")
          .Column("last_count", &SpanTraceRow::last_count, Unit::kCount, "How often it is.")
          .Column("late_ns", &SpanTraceRow::late_ns, Unit::kNanoseconds,
                  "How much later than the one before it, on average of those times.")
          .Column("marked_ns", &SpanTraceRow::marked_ns, Unit::kNanoseconds,
                  "With any of these spans on any track.");
  return relation;
}

const RelationOf<SpanNameRow>& SpanNameRelation() {
  static const auto relation =
      RelationOf<SpanNameRow>(
          "span_name",
          "Spans of one name in a trace of a program's own spans, those that take most of "
          "the time first; at most 1000 names.")
          .Key("profile", &SpanNameRow::profile, kProfileNumber, "Number of the file.")
          .Key("name", &SpanNameRow::name, Unit::kText, "Name; # for numbers of rounds.")
          .Column("count", &SpanNameRow::count, Unit::kCount, "Spans.")
          .Column("tracks", &SpanNameRow::tracks, Unit::kCount, "Tracks that have them.")
          .Column("self_ns", &SpanNameRow::self_ns, Unit::kNanoseconds,
                  "Their time without spans within them, over all tracks.")
          .Column("share", &SpanNameRow::share, Unit::kRatio,
                  "Of the time of all spans; unknown where none "
                  "takes any.")
          .Column("median_ns", &SpanNameRow::median_ns, Unit::kNanoseconds,
                  "Median length, with spans within.")
          .Column("longest_ns", &SpanNameRow::longest_ns, Unit::kNanoseconds, "The longest.")
          .Column("first_ns", &SpanNameRow::first_ns, Unit::kNanoseconds, "The first.");
  return relation;
}

const RelationOf<SpanTrackRow>& SpanTrackRelation() {
  static const auto relation =
      RelationOf<SpanTrackRow>("span_track", "Tracks of a trace of a program's own spans.")
          .Key("profile", &SpanTrackRow::profile, kProfileNumber, "Number of the file.")
          .Key("track", &SpanTrackRow::track, Unit::kNone, "Number of the track, from 0.")
          .Column("process", &SpanTrackRow::process, Unit::kText, "Process, by name or number.")
          .Column("name", &SpanTrackRow::name, Unit::kText, "Thread, by name or number.")
          .Column("spans", &SpanTrackRow::spans, Unit::kCount, "Spans.")
          .Column("start_ns", &SpanTrackRow::start_ns, Unit::kNanoseconds, "Where the first begins.")
          .Column("end_ns", &SpanTrackRow::end_ns, Unit::kNanoseconds, "Where the last ends.")
          .Column("busy_ns", &SpanTrackRow::busy_ns, Unit::kNanoseconds, "Time in any span.")
          .Column("busy_share", &SpanTrackRow::busy_share, Unit::kRatio,
                  "Of the time of the whole trace; unknown where that is none.")
          .Column("gap_ns", &SpanTrackRow::gap_ns, Unit::kNanoseconds, "The longest time between two spans.")
          .Column("gap_start_ns", &SpanTrackRow::gap_start_ns, Unit::kNanoseconds,
                  "Where it begins; unknown where there is none.")
          .Column("top_name", &SpanTrackRow::top_name, Unit::kText, "Spans that take most of its time.")
          .Column("top_ns", &SpanTrackRow::top_ns, Unit::kNanoseconds,
                  "Their time without spans within them.");
  return relation;
}

const Family& SpanTraceFamily() {
  static const Family family = FamilyOf(SpanTraceRelation(), &SpanFamilies::trace);
  return family;
}

const Family& SpanNameFamily() {
  static const Family family = FamilyOf(SpanNameRelation(), &SpanFamilies::names);
  return family;
}

const Family& SpanTrackFamily() {
  static const Family family = FamilyOf(SpanTrackRelation(), &SpanFamilies::tracks);
  return family;
}

}  // namespace dladvisor
