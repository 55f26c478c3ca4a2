#include "src/analysis/resource_usage.h"

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/host_activity.h"
#include "src/analysis/op_path.h"

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

struct HostTime {
  IntervalSet dataloader, file, cpu;
};

HostTime HostTimeOf(const Context& context, uint32_t process) {
  const Trace& trace = context.trace;
  const auto owns = [&](uint32_t thread) {
    return thread != kNoIndex && trace.threads[thread].process == process;
  };
  std::vector<Interval> dataloader, file, cpu;
  std::vector<uint8_t> has_child(trace.ranges.size(), 0);
  for (const uint32_t parent : context.attribution.range_parent)
    if (parent != kNoIndex) has_child[parent] = 1;
  for (uint32_t i = 0; i < trace.ranges.size(); ++i) {
    if (!owns(trace.ranges.thread[i]) || trace.ranges.open[i] || trace.ranges.kind[i] != RangeKind::kPushPop)
      continue;
    const Interval time{trace.ranges.start[i], trace.ranges.end[i]};
    if (DoingOfRange(trace.names.View(trace.ranges.name[i])) == Bucket::kInput)
      dataloader.push_back(time);
    else if (!has_child[i] || (context.paths->IsCall(i) && context.paths->IsMarked(context.paths->Of(i))))
      cpu.push_back(time);
  }
  for (size_t i = 0; i < trace.api_calls.size(); ++i)
    if (owns(trace.api_calls.thread[i])) cpu.push_back({trace.api_calls.start[i], trace.api_calls.end[i]});
  for (size_t i = 0; i < trace.os_calls.size(); ++i)
    if (owns(trace.os_calls.thread[i]) && IsFileCall(trace.names.View(trace.os_calls.name[i])))
      file.push_back({trace.os_calls.start[i], trace.os_calls.end[i]});
  return {Union(std::move(dataloader)), Union(std::move(file)), Union(std::move(cpu))};
}

}  // namespace

const RelationOf<ResourceUsageRow>& ResourceUsageRelation() {
  static const auto relation =
      RelationOf<ResourceUsageRow>(
          "resource_usage",
          "DLProf's resource usage breakdown of the analysed window: exclusive, the first category counts.")
          .Key("category", &ResourceUsageRow::category, Unit::kText,
               "Using Tensor Cores, Not Using Tensor Cores, Memory, Dataloader, I/O, CPU, Other.")
          .Column("position", &ResourceUsageRow::position, Unit::kNone, "Order of the category, from 1.")
          .Column("ns", &ResourceUsageRow::ns, Unit::kNanoseconds,
                  "Time, the mean over GPUs; unknown where not captured.", "--trace=cuda,nvtx,osrt")
          .Column("share", &ResourceUsageRow::share, Unit::kRatio, "Of the window.",
                  "--trace=cuda,nvtx,osrt");
  return relation;
}

std::vector<ResourceUsageRow> ComputeResourceUsage(const Context& context,
                                                   const std::vector<GpuTimeline>& timelines) {
  std::vector<ResourceUsageRow> rows;
  if (timelines.empty()) return rows;
  std::map<uint32_t, HostTime> hosts;
  std::array<int64_t, kCategories.size()> total{};
  int64_t window_total = 0;
  for (size_t gpu = 0; gpu < timelines.size(); ++gpu) {
    const GpuTimeline& t = timelines[gpu];
    const Interval window = context.HostWindowOf(context.ranks.gpus[gpu].rank);
    if (window.length() <= 0) continue;
    window_total += window.length();
    const uint32_t process = context.ranks.gpus[gpu].process;
    const auto [host, is_new] = hosts.try_emplace(process);
    if (is_new) host->second = HostTimeOf(context, process);
    IntervalSet rest{window};
    size_t category = 0;
    const auto take = [&](const IntervalSet& set) {
      const IntervalSet part = Intersect(rest, set);
      total[category++] += Length(part);
      rest = Subtract(rest, part);
    };
    take(t.tensor);
    take(t.kernels);
    take(Union(t.copies, t.sets));
    take(host->second.dataloader);
    take(host->second.file);
    take(host->second.cpu);
    total[category] += Length(rest);
  }
  const bool os_calls = context.trace.os_calls.size() > 0;
  const bool ranges = context.trace.ranges.size() > 0;
  for (size_t i = 0; i < kCategories.size(); ++i) {
    ResourceUsageRow row{kCategories[i], static_cast<int64_t>(i) + 1, std::nullopt, std::nullopt};
    const bool captured = (i != 3 || ranges) && (i != 4 || os_calls);
    if (captured && window_total > 0) {
      row.ns = total[i] / static_cast<int64_t>(timelines.size());
      row.share = static_cast<double>(total[i]) / static_cast<double>(window_total);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace dladvisor
