// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/summary/capture_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "src/analysis/family/family.h"

namespace dladvisor {
namespace {

class Check {
 public:
  explicit Check(std::string name) { row_.check = std::move(name); }

  void Holds() { ++row_.checked; }
  // By how much it does not, where that is a time; the example is that of the worst, else of the first.
  template <class Example>
  void Fails(std::optional<Ns> by, Example example) {
    ++row_.checked;
    ++row_.violations;
    if (row_.violations > 1 && by <= row_.worst_ns) return;
    row_.worst_ns = by;
    row_.example = example();
  }
  void AddTo(std::vector<CaptureCheckRow>& rows) && {
    if (row_.checked > 0) rows.push_back(std::move(row_));
  }

 private:
  CaptureCheckRow row_;
};

// Which names hold a text; each is looked at once.
class NamesWith {
 public:
  NamesWith(const StringPool& names, std::string_view text) : names_(names), text_(text) {}
  bool operator()(NameId name) {
    if (known_.size() <= name) known_.resize(name + 1);
    if (!known_[name]) known_[name] = names_.View(name).find(text_) != std::string_view::npos;
    return *known_[name];
  }

 private:
  const StringPool& names_;
  std::string_view text_;
  std::vector<std::optional<bool>> known_;
};

std::string At(Ns time) { return fmt::format("at {:.6f} s", static_cast<double>(time) / 1e9); }

Check KernelsAfterLaunch(const Context& context) {
  Check check("kernel-before-launch");
  const Kernels& kernels = context.trace.kernels;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const uint32_t call = context.launches.kernel[k];
    if (call == kNoIndex) continue;
    const Ns early = context.trace.api_calls.start[call] - kernels.start[k];
    if (early <= 0)
      check.Holds();
    else
      check.Fails(early, [&] {
        return fmt::format("{} {}", context.trace.names.View(kernels.name[k]), At(kernels.start[k]));
      });
  }
  return check;
}

// Waits for CUDA events name the call that recorded the event: it is there, and not later than the wait.
std::pair<Check, Check> WaitsAfterRecord(const Trace& trace) {
  Check named("wait-without-record"), past("wait-before-record");
  const Syncs& syncs = trace.syncs;
  if (syncs.record_correlation.width() == 0) return {named, past};  // the profiler records none
  std::unordered_map<int64_t, Ns> records;                          // by correlation; the first
  NamesWith is_record(trace.names, "EventRecord");
  for (size_t i = 0; i < trace.api_calls.size(); ++i)
    if (is_record(trace.api_calls.name[i]))
      records.try_emplace(trace.api_calls.correlation[i], trace.api_calls.start[i]);
  for (size_t i = 0; i < syncs.size(); ++i) {
    if (syncs.kind[i] != SyncKind::kStreamWaitEvent && syncs.kind[i] != SyncKind::kEvent) continue;
    const auto example = [&] {
      return fmt::format("{} {}", syncs.kind[i] == SyncKind::kEvent ? "event wait" : "stream wait",
                         At(syncs.start[i]));
    };
    const int64_t correlation = syncs.record_correlation[i];
    if (correlation < 0) {
      named.Fails(std::nullopt, example);
      continue;
    }
    named.Holds();
    if (syncs.kind[i] == SyncKind::kEvent) continue;
    const auto record = records.find(correlation);
    if (record == records.end())
      past.Fails(std::nullopt, example);
    else if (record->second > syncs.start[i])
      past.Fails(record->second - syncs.start[i], example);
    else
      past.Holds();
  }
  return {named, past};
}

// The latest end of the kernels of each stream that began before a time, which only goes on.
class KernelEnds {
 public:
  explicit KernelEnds(const Kernels& kernels) : kernels_(kernels) {}

  void GoTo(Ns time) {
    for (; next_ < kernels_.size() && kernels_.start[next_] < time; ++next_) {
      const Ns end = kernels_.end[next_];
      const Stream stream{kernels_.process[next_], kernels_.device[next_], kernels_.stream[next_]};
      const auto [latest, is_first] = latest_.try_emplace(stream, end);
      if (!is_first) latest->second = std::max(latest->second, end);
    }
  }

  // Of the stream of a wait, which is that of any process where the wait's is not known.
  std::optional<Ns> LatestOf(const Syncs& syncs, size_t wait) const {
    const Stream of_wait{syncs.process[wait], syncs.device[wait], syncs.stream[wait]};
    if (of_wait.process != kNoIndex) {
      const auto found = latest_.find(of_wait);
      return found == latest_.end() ? std::nullopt : std::optional(found->second);
    }
    std::optional<Ns> latest;
    for (const auto& [stream, end] : latest_)
      if (stream.device == of_wait.device && stream.number == of_wait.number)
        latest = std::max(latest.value_or(end), end);
    return latest;
  }

 private:
  struct Stream {
    uint32_t process, device;
    int64_t number;
    bool operator==(const Stream&) const = default;
  };
  struct Hash {
    size_t operator()(const Stream& stream) const {
      const uint64_t place = uint64_t{stream.process} << 32 | stream.device;
      return (place * 31 + static_cast<uint64_t>(stream.number)) * 0x9E3779B97F4A7C15;
    }
  };

  const Kernels& kernels_;
  size_t next_ = 0;
  std::unordered_map<Stream, Ns, Hash> latest_;
};

// A wait for a stream begins after its kernels, and ends after them.
std::pair<Check, Check> WaitsForKernels(const Trace& trace) {
  Check begin("stream-wait-overlaps-kernel"), end("stream-wait-ends-before-kernel");
  const Syncs& syncs = trace.syncs;
  if (std::ranges::find(syncs.kind, SyncKind::kStream) == syncs.kind.end()) return {begin, end};
  KernelEnds ends(trace.kernels);
  for (size_t i = 0; i < syncs.size(); ++i) {
    if (syncs.kind[i] != SyncKind::kStream) continue;
    ends.GoTo(syncs.start[i]);
    const std::optional<Ns> last = ends.LatestOf(syncs, i);
    for (const auto& [check, limit] : {std::pair(&begin, syncs.start[i]), std::pair(&end, syncs.end[i])}) {
      if (!last) continue;
      if (*last <= limit)
        check->Holds();
      else
        check->Fails(*last - limit,
                     [&] { return fmt::format("stream {} {}", syncs.stream[i], At(syncs.start[i])); });
    }
  }
  return {begin, end};
}

Check CollectivesAreDescribed(const Trace& trace) {
  Check check("collective-without-metadata");
  const Ranges& ranges = trace.ranges;
  if (ranges.arguments.size() == 0) return check;
  NamesWith is_collective(trace.names, "record_param_comms");
  for (size_t r = 0; r < ranges.size(); ++r) {
    if (!is_collective(ranges.name[r])) continue;
    const auto arguments = static_cast<size_t>(ranges.arguments[r]);
    const uint32_t number =
        trace.operator_arguments.empty() ? 0 : trace.operator_arguments[arguments].collective;
    const Collective described = number == 0 ? Collective() : trace.collectives[number];
    if (described.name != kNoName && described.dtype != kNoName && described.in_elements >= 0 &&
        described.out_elements >= 0 && described.group_size >= 0)
      check.Holds();
    else
      check.Fails(std::nullopt, [&] { return "record_param_comms " + At(ranges.start[r]); });
  }
  return check;
}

// Autograd's number of a forward operator is that of one backward operator.
Check BackwardNumbersDiffer(const Trace& trace) {
  Check check("backward-sequence-shared");
  const Ranges& ranges = trace.ranges;
  if (ranges.sequence.size() == 0) return check;
  NamesWith is_backward(trace.names, "autograd::engine::evaluate_function:");
  std::unordered_map<int64_t, std::pair<NameId, bool>>
      names;  // by number: the first, and whether another follows
  for (size_t r = 0; r < ranges.size(); ++r) {
    if (ranges.sequence[r] < 0 || !is_backward(ranges.name[r])) continue;
    const auto [first, is_first] = names.try_emplace(ranges.sequence[r], ranges.name[r], false);
    if (!is_first && first->second.first != ranges.name[r]) first->second.second = true;
  }
  for (const auto& [number, of_number] : names) {
    if (!of_number.second)
      check.Holds();
    else
      check.Fails(std::nullopt, [&, number = number, name = of_number.first] {
        return fmt::format("number {}, {}", number, trace.names.View(name));
      });
  }
  return check;
}

}  // namespace

const RelationOf<CaptureCheckRow>& CaptureCheckRelation() {
  using Row = CaptureCheckRow;
  static const auto relation =
      RelationOf<Row>(
          "capture_check",
          "Whether what was recorded fits together, over the whole profile: one row per check that had "
          "something to look at. PyTorch's trace validator makes the same checks, but for "
          "stream-wait-ends-before-kernel.")
          .Key("profile", &Row::profile, kProfileNumber, "Number of the file.")
          .Key(
              "name", &Row::check, Unit::kText,
              "kernel-before-launch, wait-without-record, wait-before-record, stream-wait-overlaps-kernel, "
              "stream-wait-ends-before-kernel, collective-without-metadata or backward-sequence-shared. That "
              "waits overlap their kernels is usual in exports of nsys.")
          .Column("checked", &Row::checked, Unit::kCount, "Events that it looked at.")
          .Column("violations", &Row::violations, Unit::kCount, "Of those, that do not fit.")
          .Column("worst_ns", &Row::worst_ns, Unit::kNanoseconds,
                  "By how much the worst does not; unknown without one, and where it is no matter of time.")
          .Column("example", &Row::example, Unit::kText,
                  "One that does not fit: the worst, where that is known.");
  return relation;
}

std::vector<CaptureCheckRow> ComputeCaptureChecks(const Context& context) {
  std::vector<CaptureCheckRow> rows;
  KernelsAfterLaunch(context).AddTo(rows);
  auto [named, past] = WaitsAfterRecord(context.trace);
  std::move(named).AddTo(rows);
  std::move(past).AddTo(rows);
  auto [begin, end] = WaitsForKernels(context.trace);
  std::move(begin).AddTo(rows);
  std::move(end).AddTo(rows);
  CollectivesAreDescribed(context.trace).AddTo(rows);
  BackwardNumbersDiffer(context.trace).AddTo(rows);
  return rows;
}

const Family& CaptureCheckFamily() {
  static const Family family = FamilyOf(CaptureCheckRelation(), ComputeCaptureChecks).OfFiles();
  return family;
}

}  // namespace dladvisor
