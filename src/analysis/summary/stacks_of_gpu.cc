// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/summary/stacks_of_gpu.h"

#include <re2/re2.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "src/analysis/context/api_kind.h"

namespace dladvisor {
namespace {

// Of fewer frames a stack is that of a sample without one: where it was, and no more.
constexpr size_t kLeastFrames = 3;

bool HoldsLaunches(const Trace& trace) {
  const std::vector<ApiKind> kinds = ClassifyApis(trace);
  return std::ranges::any_of(trace.api_calls.name,
                             [&](NameId name) { return kinds[name] == ApiKind::kLaunch; });
}

// Names of functions by id, each looked at once.
class NamesMatching {
 public:
  NamesMatching(const Trace& trace, const RE2& pattern) : trace_(trace), pattern_(pattern) {}
  bool operator()(NameId id) {
    const auto [known, is_new] = known_.try_emplace(id, false);
    if (is_new) {
      const std::string_view name = trace_.names.View(id);
      known->second = RE2::FullMatch(re2::StringPiece(name.data(), name.size()), pattern_);
    }
    return known->second;
  }

 private:
  const Trace& trace_;
  const RE2& pattern_;
  std::map<NameId, bool> known_;
};

std::optional<std::string> CallInStacks(const Trace& trace) {
  // Not what asks for versions and devices, which is called where there is no GPU as well.
  static const RE2 of_gpu(
      R"((cuda|hip)(Malloc|Memcpy|Memset|Launch|Free|Stream|Event|DeviceSynchronize)\w*|cu(Launch|Mem|Module|CtxSync|Stream|Event)\w*|__pgi_uacc_cuda_\w+)");
  NamesMatching matches(trace, of_gpu);
  std::optional<std::string_view> first;
  for (const CallChains* chains : {&trace.cpu_samples.chains, &trace.os_calls.chains})
    for (const std::vector<NameId>& chain : *chains)
      for (const NameId frame : chain)
        if (matches(frame) && (!first || trace.names.View(frame) < *first)) first = trace.names.View(frame);
  return first ? std::optional<std::string>(*first) : std::nullopt;
}

void AddWaitInStacks(const Trace& trace, StacksOfGpu& found) {
  static const RE2 waits(R"((cuda|hip)(Device|Stream|Event)Synchronize|cu(Ctx|Stream|Event)Synchronize)");
  // As nsys writes of stacks that it could not read to their end.
  static const RE2 cut(R"(\[Broken backtraces\])");
  NamesMatching matches(trace, waits), is_cut(trace, cut);
  struct Wait {
    std::optional<NameId> in;
    Ns start = 0, end = 0;
  };
  std::map<uint32_t, Wait> threads;
  const CpuSamples& samples = trace.cpu_samples;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (samples.chain[i] == kNoIndex) continue;
    const std::vector<NameId>& chain = samples.chains[samples.chain[i]];
    if (chain.size() < kLeastFrames) continue;
    const auto frame = std::ranges::find_if(chain, std::ref(matches));
    if (frame == chain.end() && std::ranges::any_of(chain, std::ref(is_cut))) continue;
    Wait& wait = threads[samples.thread[i]];
    const std::optional<NameId> in = frame != chain.end() ? std::optional(*frame) : std::nullopt;
    if (in != wait.in) wait = {in, samples.time[i], samples.time[i]};
    wait.end = samples.time[i];
  }
  for (const auto& [thread, wait] : threads) {
    if (!wait.in || wait.end - wait.start <= found.wait_ns.value_or(0)) continue;
    found.wait = trace.names.View(*wait.in);
    found.wait_ns = wait.end - wait.start;
  }
}

}  // namespace

StacksOfGpu FindStacksOfGpu(const Trace& trace) {
  StacksOfGpu found;
  if (trace.kernels.size() > 0 || trace.graph_launches.size() > 0 || HoldsLaunches(trace)) return found;
  found.call = CallInStacks(trace);
  if (found.call) AddWaitInStacks(trace, found);
  return found;
}

}  // namespace dladvisor
