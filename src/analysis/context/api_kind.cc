// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/api_kind.h"

#include <re2/re2.h>

#include <algorithm>
#include <initializer_list>
#include <set>

namespace dladvisor {

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

namespace {

// Of SYCL's runtime (Unified Runtime, before it the plugin interface) and of Level Zero below it.
ApiKind OfIntel(std::string_view name) {
  if (!name.starts_with("ur") && !name.starts_with("pi") && !name.starts_with("ze")) return ApiKind::kOther;
  static const RE2 sync(
      R"(^(ur|pi)(QueueFinish|EventWait|EventsWait)|^ze\w*HostSynchronize|^zeCommandQueueSynchronize)");
  static const RE2 launch(R"(^(ur|pi)(Enqueue|ext\w*Enqueue)\w*Launch|^zeCommandListAppendLaunch)");
  static const RE2 copy(
      R"(^(ur|pi)(Enqueue|ext\w*Enqueue)\w*?(Mem|USM)\w*(Read|Write|Copy|cpy)|^zeCommandListAppendMemoryCopy)");
  static const RE2 allocates(R"(^(ur|piext)USM(\w*Alloc|Free)|^zeMem(Alloc|Free))");
  static const RE2 loads(
      R"(^(ur|pi)Program(Build|Compile|Link|CreateWith)|^piProgramCreate$|^ze(Module|Kernel)Create)");
  const re2::StringPiece text(name.data(), name.size());
  if (RE2::PartialMatch(text, sync)) return ApiKind::kSync;
  if (RE2::PartialMatch(text, launch)) return ApiKind::kLaunch;
  if (RE2::PartialMatch(text, copy)) return ApiKind::kAsyncCopy;
  if (RE2::PartialMatch(text, allocates)) return ApiKind::kAllocation;
  return RE2::PartialMatch(text, loads) ? ApiKind::kLoading : ApiKind::kOther;
}

}  // namespace

ApiKind ClassifyApi(std::string_view name) {
  name = ApiBaseName(name);
  const auto starts = [&](std::initializer_list<std::string_view> prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view p) { return name.starts_with(p); });
  };
  if (starts({"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize",
              "cudaThreadSynchronize", "cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize",
              "hipDeviceSynchronize", "hipStreamSynchronize", "hipEventSynchronize", "jax.block_until_ready",
              "np.asarray(jax.Array)"}))
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
  if (starts({"cudaMemPrefetch", "cuMemPrefetch", "hipMemPrefetch"})) return ApiKind::kPrefetch;
  if (starts({"cuModuleLoad", "cuLibraryLoad", "cuLink", "hipModuleLoad"})) return ApiKind::kLoading;
  return OfIntel(name);
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

bool GivesGpusNothing(const Trace& trace) {
  static const RE2 asking(
      R"((cuda|cu|hip)(Init|Get\w+|DeviceGet\w*|CtxGet\w*|Set(Valid)?Devices?|DeviceSynchronize|DriverGetVersion|)"
      R"(RuntimeGetVersion|PointerGetAttributes?|PeekAtLastError|StreamIsCapturing|StreamGetCaptureInfo|)"
      R"(ThreadExchangeStreamCaptureMode|FuncGetAttributes))");
  const std::set<NameId> names(trace.api_calls.name.begin(), trace.api_calls.name.end());
  return std::ranges::all_of(names, [&](NameId id) {
    const std::string_view name = ApiBaseName(trace.names.View(id));
    return RE2::FullMatch(re2::StringPiece(name.data(), name.size()), asking);
  });
}

}  // namespace dladvisor
