#include "src/analysis/launches.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace dladvisor {
namespace {

// API calls of each process by correlation, the first call of a correlation.
class CallIndex {
 public:
  explicit CallIndex(const Trace& trace) : by_process_(trace.processes.size()) {
    const ApiCalls& calls = trace.api_calls;
    const auto each = [&](auto visit) {
      for (uint32_t i = 0; i < calls.size(); ++i) {
        if (calls.correlation[i] <= 0 || calls.thread[i] == kNoIndex) continue;  // 0: no GPU work
        const uint32_t process = trace.threads[calls.thread[i]].process;
        if (process != kNoIndex) visit(by_process_[process], calls.correlation[i], i);
      }
    };
    each([](Process& p, int64_t correlation, uint32_t) {
      p.first = std::min(p.first, correlation);
      p.last = std::max(p.last, correlation);
      ++p.calls;
    });
    for (Process& p : by_process_)
      if (p.IsDense()) p.dense.assign(static_cast<size_t>(p.last - p.first) + 1, kNoIndex);
    each([](Process& p, int64_t correlation, uint32_t i) {
      if (!p.IsDense())
        p.sparse.emplace_back(correlation, i);
      else if (uint32_t& call = p.dense[static_cast<size_t>(correlation - p.first)]; call == kNoIndex)
        call = i;
    });
    for (Process& p : by_process_) std::sort(p.sparse.begin(), p.sparse.end());
  }

  uint32_t Find(uint32_t process, int64_t correlation) const {
    if (process == kNoIndex || correlation <= 0) return kNoIndex;
    const Process& p = by_process_[process];
    if (p.IsDense())
      return correlation < p.first || correlation > p.last
                 ? kNoIndex
                 : p.dense[static_cast<size_t>(correlation - p.first)];
    const auto found =
        std::lower_bound(p.sparse.begin(), p.sparse.end(), std::pair(correlation, uint32_t{0}));
    return found != p.sparse.end() && found->first == correlation ? found->second : kNoIndex;
  }

 private:
  // The profiler numbers the calls of a process, so that a table by number is mostly full; it is six times as
  // fast to fill and ask as a sorted list. A file may hold any numbers, though.
  struct Process {
    int64_t first = std::numeric_limits<int64_t>::max(), last = 0, calls = 0;
    std::vector<uint32_t> dense;
    std::vector<std::pair<int64_t, uint32_t>> sparse;
    bool IsDense() const { return calls > 0 && (last - first) / 8 < calls; }
  };

  std::vector<Process> by_process_;
};

std::vector<uint32_t> Join(const CallIndex& index, const GpuOps& ops) {
  std::vector<uint32_t> calls(ops.size());
  for (size_t i = 0; i < ops.size(); ++i) calls[i] = index.Find(ops.process[i], ops.correlation[i]);
  return calls;
}

}  // namespace

Launches FindLaunches(const Trace& trace) {
  const CallIndex index(trace);
  return {Join(index, trace.kernels), Join(index, trace.copies), Join(index, trace.sets),
          Join(index, trace.graph_launches)};
}

std::string_view ApiBaseName(std::string_view name) {
  for (const std::string_view suffix : {"_ptsz", "_ptds"})
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  const size_t version = name.rfind("_v");
  if (version != std::string_view::npos && version + 2 < name.size() &&
      name.find_first_not_of("0123456789", version + 2) == std::string_view::npos)
    name = name.substr(0, version);
  for (const std::string_view suffix : {"_ptsz", "_ptds"})
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  return name;
}

ApiKind ClassifyApi(std::string_view name) {
  name = ApiBaseName(name);
  const auto starts = [&](std::initializer_list<std::string_view> prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view p) { return name.starts_with(p); });
  };
  if (starts({"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize",
              "cudaThreadSynchronize", "cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize",
              "hipDeviceSynchronize", "hipStreamSynchronize", "hipEventSynchronize"}))
    return ApiKind::kSync;
  if (starts({"cudaMemcpy", "cuMemcpy", "hipMemcpy"}))
    return name.find("Async") != std::string_view::npos ? ApiKind::kAsyncCopy : ApiKind::kCopy;
  if (starts({"cudaLaunch", "cuLaunch", "cudaGraphLaunch", "cuGraphLaunch", "hipLaunch", "hipModuleLaunch",
              "hipExtModuleLaunch", "hipGraphLaunch"}))
    return ApiKind::kLaunch;
  if (starts({"cudaMalloc", "cudaFree", "cudaHostAlloc", "cudaHostRegister", "cudaHostUnregister",
              "cuMemAlloc", "cuMemFree", "cuMemHost", "cuMemCreate", "cuMemMap", "cuMemUnmap", "cuMemRelease",
              "cuMemSetAccess", "cuMemAddressReserve", "cuMemAddressFree", "hipMalloc", "hipFree",
              "hipHostMalloc"}))
    return ApiKind::kAllocation;
  if (starts({"cuModuleLoad", "cuLibraryLoad", "cuLinkComplete", "cuLinkAdd", "hipModuleLoad"}))
    return ApiKind::kLoading;
  return ApiKind::kOther;
}

std::vector<ApiKind> ClassifyApis(const Trace& trace) {
  std::vector<ApiKind> kinds(trace.names.size(), ApiKind::kOther);
  std::vector<uint8_t> known(trace.names.size(), 0);
  for (const NameId name : trace.api_calls.name)
    if (!known[name]) {
      known[name] = 1;
      kinds[name] = ClassifyApi(trace.names.View(name));
    }
  return kinds;
}

}  // namespace dladvisor
