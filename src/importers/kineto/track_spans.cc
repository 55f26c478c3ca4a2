// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/track_spans.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "src/trace/program_spans.h"

namespace dladvisor::kineto {
namespace {

constexpr std::ptrdiff_t kMostOverlapping = 64;  // spans of one track, so that the search for a name ends

class SpanReader {
 public:
  explicit SpanReader(Batch& batch) : batch_(batch), to_(batch.trace.program_spans) {}

  void Read() {
    for (const Span& span : batch_.spans.all()) {
      if (span.name == kNoName) continue;
      const auto [known, is_new] = category_.try_emplace(span.name, span.category);
      if (!is_new && known->second != span.category) several_.insert(span.name);
    }
    std::vector<const Span*> ends;
    for (const Span& span : batch_.spans.all()) {
      if (span.phase == 'X')
        Add(span, span.start, span.start + span.duration);
      else if (span.phase != 's' && span.phase != 't')
        ends.push_back(&span);
    }
    // What ends then ends before what begins then.
    std::ranges::stable_sort(ends, [](const Span* a, const Span* b) { return a->start < b->start; });
    std::map<Track, std::vector<const Span*>> open;
    std::map<std::tuple<NameId, NameId, NameId>, std::vector<const Span*>>
        apart;  // by what 'b' and 'e' share
    for (const Span* end : ends) {
      const bool is_nested = end->phase == 'B' || end->phase == 'E';
      std::vector<const Span*>& begun =
          is_nested ? open[{end->pid, end->tid}] : apart[{end->pid, end->category, end->id}];
      if (end->phase == 'B' || end->phase == 'b') {
        begun.push_back(end);
      } else if (const auto begin = BeginOf(*end, begun); begin != begun.end()) {
        Add(**begin, (*begin)->start, end->start);
        begun.erase(begin);
      }
    }
    for (const auto& [track, begun] : open) to_.never_ended += static_cast<int64_t>(begun.size());
    for (const auto& [key, begun] : apart) to_.never_ended += static_cast<int64_t>(begun.size());
  }

 private:
  using Track = std::pair<NameId, NameId>;

  using Begun = std::vector<const Span*>;

  // The last that began under the name of what ends, as what overlaps on a track need not be nested; where
  // none did, or the end has no name, the last of all.
  static Begun::iterator BeginOf(const Span& end, Begun& begun) {
    if (begun.empty()) return begun.end();
    const auto last = begun.end() - 1;
    if (end.name == kNoName) return last;
    const auto first = begun.end() - std::min<std::ptrdiff_t>(std::ssize(begun), kMostOverlapping);
    for (auto span = begun.end(); span != first;)
      if ((*--span)->name == end.name) return span;
    return last;
  }

  static std::optional<int64_t> NumberOf(std::string_view text) {
    int64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    return failed == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
  }

  uint32_t TrackOf(const Span& span) {
    const auto [known, is_new] =
        tracks_.try_emplace({span.pid, span.tid}, static_cast<uint32_t>(to_.tracks.size()));
    if (!is_new) return known->second;
    const StringPool& names = batch_.trace.names;
    SpanTrack& track = to_.tracks.emplace_back();
    track.process = processes_.try_emplace(span.pid, static_cast<int64_t>(processes_.size())).first->second;
    track.process_name = names.View(span.pid);
    track.name = names.View(span.tid);
    const auto pid = NumberOf(track.process_name), tid = NumberOf(track.name);
    if (pid)
      if (const auto name = batch_.process_names.find(*pid); name != batch_.process_names.end())
        track.process_name = name->second;
    if (pid && tid)
      if (const auto name = batch_.thread_names.find({*pid, *tid}); name != batch_.thread_names.end())
        track.name = name->second;
    return known->second;
  }

  // What spans of several categories are called are several things: "Linear (backward)".
  NameId NameOf(const Span& span) {
    if (!several_.contains(span.name) || span.category == kNoName) return span.name;
    StringPool& names = batch_.trace.names;
    const auto [known, is_new] = full_names_.try_emplace({span.name, span.category}, kNoName);
    if (is_new)
      known->second = names.Intern(std::string(names.View(span.name)) + " (" +
                                   std::string(names.View(span.category)) + ")");
    return known->second;
  }

  void Add(const Span& span, Ns start, Ns end) {
    to_.start.push_back(start);
    to_.end.push_back(end);
    to_.track.push_back(TrackOf(span));
    to_.name.push_back(NameOf(span));
  }

  Batch& batch_;
  ProgramSpans& to_;
  std::unordered_map<NameId, NameId> category_;  // the first, by name
  std::unordered_set<NameId> several_;           // names of several categories
  std::map<std::pair<NameId, NameId>, NameId> full_names_;
  std::map<Track, uint32_t> tracks_;
  std::map<NameId, int64_t> processes_;
};

}  // namespace

void ReadProgramSpans(Batch& batch) {
  SpanReader(batch).Read();
  batch.spans.Clear();
}

}  // namespace dladvisor::kineto
