// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/resource_usage.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/context/op_path.h"
#include "src/analysis/context/range_text.h"
#include "src/analysis/family/family.h"
#include "src/analysis/timeline/host_buckets.h"

namespace dladvisor {
namespace {

constexpr std::array<const char*, 7> kCategories = {
    "Using Tensor Cores", "Not Using Tensor Cores", "Memory", "Dataloader", "I/O", "CPU", "Other"};

bool IsFileCall(std::string_view name) {
  static const std::set<std::string_view> calls = {
      "read",   "write",  "pread",  "pread64",  "pwrite",       "pwrite64",  "readv",
      "writev", "fread",  "fwrite", "fopen",    "fopen64",      "fclose",    "fflush",
      "open",   "open64", "openat", "close",    "fsync",        "fdatasync", "getline",
      "fgets",  "fputs",  "lseek",  "sendfile", "io_getevents", "preadv"};
  return calls.contains(name);
}

// How much of a set the union of intervals covers that come in order of start.
class CoverageCursor {
 public:
  explicit CoverageCursor(const IntervalSet& set) : set_(&set) {}

  void Add(const IntervalSet& times) {
    for (const Interval& time : times) Add(time);
  }

  void Add(Interval time) {
    time.start = std::max(time.start, until_);
    if (time.end <= time.start) return;
    until_ = time.end;
    while (at_ < set_->size() && (*set_)[at_].end <= time.start) ++at_;
    for (size_t i = at_; i < set_->size() && (*set_)[i].start < time.end; ++i)
      ns_ += std::min((*set_)[i].end, time.end) - std::max((*set_)[i].start, time.start);
  }
  int64_t ns() const { return ns_; }

 private:
  const IntervalSet* set_;
  size_t at_ = 0;
  Ns until_ = std::numeric_limits<Ns>::min();
  int64_t ns_ = 0;
};

// What a process did that is known by name.
struct HostTime {
  IntervalSet dataloader, file;
  IntervalSet named;  // both
};

class HostTimes {
 public:
  explicit HostTimes(const Context& context)
      : trace_(context.trace),
        texts_(*context.texts),
        by_process_(trace_.processes.size()),
        has_child_(trace_.ranges.size(), 0),
        is_input_(texts_.size()) {
    for (const uint32_t parent : context.attribution.range_parent)
      if (parent != kNoIndex) has_child_[parent] = 1;
    const Ranges& ranges = trace_.ranges;
    for (uint32_t i = 0; i < ranges.size(); ++i) {
      // An op that markers name counts whole: what it does between its own ranges is CPU time, too.
      if (context.paths->IsCall(i) && context.paths->IsMarked(context.paths->Of(i))) {
        has_child_[i] = 0;
        names_functions_ = true;
      }
      if (Counts(i) && IsInput(i)) by_process_[ProcessOf(ranges.thread[i])].dataloader.push_back(TimeOf(i));
    }
    std::vector<std::optional<bool>> is_file(trace_.names.size());
    const OsCalls& calls = trace_.os_calls;
    for (size_t i = 0; i < calls.size(); ++i) {
      const uint32_t process = ProcessOf(calls.thread[i]);
      if (process == kNoIndex) continue;
      std::optional<bool>& file = is_file[calls.name[i]];
      if (!file) file = IsFileCall(trace_.names.View(calls.name[i]));
      if (*file) by_process_[process].file.push_back({calls.start[i], calls.end[i]});
    }
    for (HostTime& time : by_process_) {
      time.dataloader = Union(std::move(time.dataloader));
      time.file = Union(std::move(time.file));
      time.named = Union(time.dataloader, time.file);
    }
  }

  const HostTime& Of(uint32_t process) const { return by_process_[process]; }
  // Markers name every function with its stack, those of a loader among them.
  bool NamesInput() const {
    return names_functions_ ||
           std::ranges::any_of(by_process_, [](const HostTime& time) { return !time.dataloader.empty(); });
  }

  // Calls visit(process, interval) for the innermost ranges and CUDA calls, in order of start.
  template <class Visit>
  void ForEachCpu(Visit visit) {
    const Ranges& ranges = trace_.ranges;
    const ApiCalls& calls = trace_.api_calls;
    for (uint32_t call = 0, range = 0; call < calls.size() || range < ranges.size();) {
      if (range == ranges.size() || (call < calls.size() && calls.start[call] < ranges.start[range])) {
        const uint32_t process = ProcessOf(calls.thread[call]);
        if (process != kNoIndex) visit(process, Interval{calls.start[call], calls.end[call]});
        ++call;
      } else {
        if (Counts(range) && !has_child_[range] && !IsInput(range))
          visit(ProcessOf(ranges.thread[range]), TimeOf(range));
        ++range;
      }
    }
  }

 private:
  uint32_t ProcessOf(uint32_t thread) const {
    return thread == kNoIndex ? kNoIndex : trace_.threads[thread].process;
  }
  Interval TimeOf(uint32_t range) const { return {trace_.ranges.start[range], trace_.ranges.end[range]}; }
  bool Counts(uint32_t range) const {
    return ProcessOf(trace_.ranges.thread[range]) != kNoIndex && !trace_.ranges.open[range] &&
           trace_.ranges.kind[range] == RangeKind::kPushPop;
  }
  bool IsInput(uint32_t range) {
    const uint32_t text = texts_.IndexOf(trace_.ranges.name[range]);
    std::optional<bool>& input = is_input_[text];
    if (!input) input = BucketOfRange(texts_.TextAt(text)) == Bucket::kInput;
    return *input;
  }

  const Trace& trace_;
  const RangeTexts& texts_;
  std::vector<HostTime> by_process_;
  std::vector<uint8_t> has_child_;
  std::vector<std::optional<bool>> is_input_;  // by text
  bool names_functions_ = false;
};

// Unloads code or destroys the context: behind the GPU's last work it is the end of the program.
bool IsTeardown(std::string_view call) {
  constexpr std::array kCalls = std::to_array<std::string_view>(
      {"cuModuleUnload", "cuLibraryUnload", "cuCtxDestroy", "cuDevicePrimaryCtxRe", "cudaDeviceReset",
       "hipModuleUnload", "hipCtxDestroy", "hipDeviceReset"});
  return std::ranges::any_of(kCalls, [&](std::string_view known) { return call.starts_with(known); });
}

// The window without the end of the program: up to the first such call behind the last kernel.
Interval WithoutTeardown(const Context& context, size_t gpu, Interval window) {
  const std::vector<uint32_t>& kernels = context.work[gpu].kernels;
  if (kernels.empty()) return window;
  const Trace& trace = context.trace;
  const Ns last = trace.kernels.end[kernels.back()];
  const ApiCalls& calls = trace.api_calls;
  for (size_t i = calls.size(); i-- > 0 && calls.start[i] >= last;)
    if (calls.start[i] < window.end && calls.thread[i] != kNoIndex &&
        trace.threads[calls.thread[i]].process == context.ranks.gpus[gpu].process &&
        IsTeardown(trace.names.View(calls.name[i])))
      window.end = std::max(window.start, calls.start[i]);
  return window;
}

}  // namespace

const RelationOf<ResourceUsageRow>& ResourceUsageRelation() {
  static const auto relation =
      RelationOf<ResourceUsageRow>("resource_usage",
                                   "DLProf's resource usage breakdown of the analysed steps, without steps "
                                   "of the whole profile up to the end of the program: exclusive, "
                                   "the first category counts.")
          .Key("category", &ResourceUsageRow::category, Unit::kText,
               "Using Tensor Cores, Not Using Tensor Cores, Memory, Dataloader, I/O, CPU, Other.")
          .Column("position", &ResourceUsageRow::position, Unit::kNone, "Order of the category, from 1.")
          .Column("ns", &ResourceUsageRow::ns, Unit::kNanoseconds,
                  "Time, the mean over GPUs; unknown where not captured, of the Dataloader where no range "
                  "names it.",
                  "gpu-work ranges:Dataloader os-calls:I/O")
          .Column("share", &ResourceUsageRow::share, Unit::kRatio, "Of the window.",
                  "gpu-work ranges:Dataloader os-calls:I/O");
  return relation;
}

std::vector<ResourceUsageRow> ComputeResourceUsage(const Context& context,
                                                   const std::vector<GpuTimeline>& timelines) {
  std::vector<ResourceUsageRow> rows;
  if (timelines.empty()) return rows;
  HostTimes hosts(context);
  std::array<int64_t, kCategories.size()> total{};
  int64_t window_total = 0;
  int64_t other_input = 0;  // that ranges of loaders do not show, but the ledger charges to input
  struct Idle {
    CoverageCursor host;       // by all that the host did
    const IntervalSet& named;  // what of it is known by name
    size_t next = 0;           // of `named`
  };
  std::vector<std::vector<Idle>> idles(context.trace.processes.size());
  std::vector<IntervalSet> edges(timelines.size());  // of the host's window outside of the GPU's
  for (size_t gpu = 0; gpu < timelines.size(); ++gpu) {
    const GpuTimeline& t = timelines[gpu];
    const Interval window = WithoutTeardown(context, gpu, context.HostWindowOf(context.ranks.gpus[gpu].rank));
    if (window.length() <= 0) continue;
    window_total += window.length();
    const auto busy = [&](Bucket bucket) { return t.ledger[static_cast<size_t>(bucket)]; };
    total[0] += busy(Bucket::kTensor);
    total[1] += busy(Bucket::kOther) + busy(Bucket::kCommunication);
    total[2] += busy(Bucket::kCopy) + busy(Bucket::kMemset);
    const uint32_t process = context.ranks.gpus[gpu].process;
    const HostTime& host = hosts.Of(process);
    edges[gpu] = Subtract({window}, {t.window});
    CoverageCursor loaded(t.idle);
    loaded.Add(host.dataloader);
    other_input += std::max<int64_t>(busy(Bucket::kInput) - loaded.ns(), 0);
    for (const IntervalSet* idle : {&t.idle, static_cast<const IntervalSet*>(&edges[gpu])}) {
      CoverageCursor dataloader(*idle), named(*idle);
      dataloader.Add(host.dataloader);
      named.Add(host.named);
      total[3] += dataloader.ns();
      total[4] += named.ns() - dataloader.ns();
      total[5] -= named.ns();
      total[6] += Length(*idle);
      idles[process].push_back({CoverageCursor(*idle), host.named, 0});
    }
  }
  hosts.ForEachCpu([&](uint32_t process, Interval time) {
    for (Idle& idle : idles[process]) {
      for (; idle.next < idle.named.size() && idle.named[idle.next].start <= time.start; ++idle.next)
        idle.host.Add(idle.named[idle.next]);
      idle.host.Add(time);
    }
  });
  for (std::vector<Idle>& of_process : idles)
    for (Idle& idle : of_process) {
      for (; idle.next < idle.named.size(); ++idle.next) idle.host.Add(idle.named[idle.next]);
      total[5] += idle.host.ns();
      total[6] -= idle.host.ns();
    }
  const int64_t from_other = std::clamp<int64_t>(other_input, 0, std::max<int64_t>(total[6], 0));
  total[3] += other_input;
  total[6] -= from_other;
  total[5] -= other_input - from_other;
  const bool os_calls = context.trace.os_calls.size() > 0;
  // Programs load data without a word of it: that no range names it does not say that it takes no time.
  const bool names_input = total[3] > 0 || hosts.NamesInput();
  for (size_t i = 0; i < kCategories.size(); ++i) {
    ResourceUsageRow row{kCategories[i], static_cast<int64_t>(i) + 1, std::nullopt, std::nullopt};
    const bool captured = (i != 3 || names_input) && (i != 4 || os_calls);
    if (captured && window_total > 0) {
      row.ns = total[i] / static_cast<int64_t>(timelines.size());
      row.share = static_cast<double>(total[i]) / static_cast<double>(window_total);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<ResourceUsageRow> MergeResourceUsage(const std::vector<ProfileRows<ResourceUsageRow>>& profiles,
                                                 const FleetTables&) {
  struct Sum {
    ResourceUsageRow row;
    double ns = 0;
    int64_t gpus = 0;
  };
  std::map<int64_t, Sum> sums;  // by position
  double window = 0;
  for (const auto& [rows, gpus] : profiles) {
    double of_profile = 0;
    for (const ResourceUsageRow& row : rows) {
      Sum& sum = sums[row.position];
      sum.row = row;
      if (!row.ns) continue;
      sum.ns += static_cast<double>(*row.ns * gpus);
      sum.gpus += gpus;
      if (row.share && *row.share > 0)
        of_profile = std::max(of_profile, static_cast<double>(*row.ns * gpus) / *row.share);
    }
    window += of_profile;
  }
  std::vector<ResourceUsageRow> merged;
  for (auto& [position, sum] : sums) {
    sum.row.ns.reset();
    sum.row.share.reset();
    if (sum.gpus > 0) {
      sum.row.ns = std::llround(sum.ns / static_cast<double>(sum.gpus));
      if (window > 0) sum.row.share = sum.ns / window;
    }
    merged.push_back(std::move(sum.row));
  }
  return merged;
}

const Family& ResourceUsageFamily() {
  static const Family family = FamilyOf(ResourceUsageRelation(), ComputeResourceUsage)
                                   .MergedBy(ResourceUsageRelation(), MergeResourceUsage);
  return family;
}

}  // namespace dladvisor
