// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/host/sampled_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "src/analysis/timeline/stack_function.h"

namespace dladvisor {
namespace {

constexpr int64_t kNamedPart = 20;   // a function has one of so many samples to be named
constexpr int64_t kLeadingPart = 5;  // and of so many to tell what the program does
constexpr int64_t kBusyPart = 10;    // threads with fewer of the busiest one's samples wake now and then
constexpr size_t kMostNamed = 3;

// "libgomp" of a frame "[libgomp.so.1.0.0]", which has no name; "" of another.
std::string LibraryOf(std::string_view frame) {
  const size_t end = frame.find(".so");
  return frame.starts_with("[lib") && end != std::string_view::npos ? std::string(frame.substr(1, end - 1))
                                                                    : "";
}

std::string NameOfStack(const Trace& trace, const std::vector<NameId>& chain) {
  for (const NameId frame : chain)
    if (std::string own = OwnFunction(trace.names.View(frame)); !own.empty()) return own;
  for (const NameId frame : chain)
    if (std::string library = LibraryOf(trace.names.View(frame)); !library.empty()) return library;
  return "";
}

// The first of them where it has one of `first_part` samples, and those that follow with one of `part`.
std::string TextOf(const SampledFunctions& sampled, int64_t first_part, int64_t part) {
  std::string text;
  for (size_t i = 0; i < std::min(kMostNamed, sampled.functions.size()); ++i) {
    const SampledFunction& function = sampled.functions[i];
    if ((i == 0 ? first_part : part) * function.samples < sampled.samples) break;
    text += fmt::format("{}{} ({:.0f} %)", text.empty() ? "" : ", ", function.name,
                        100.0 * static_cast<double>(function.samples) / static_cast<double>(sampled.samples));
  }
  return text;
}

}  // namespace

SampledFunctions FindSampledFunctions(const Trace& trace, Interval time,
                                      const std::function<bool(uint32_t)>& is_wanted) {
  const CpuSamples& samples = trace.cpu_samples;
  SampledFunctions found;
  const auto at = std::lower_bound(samples.time.begin(), samples.time.end(), time.start);
  const auto first = static_cast<size_t>(at - samples.time.begin());
  std::unordered_map<uint32_t, int64_t> threads;
  int64_t busiest = 0;
  for (size_t i = first; i < samples.size() && samples.time[i] < time.end; ++i)
    if (is_wanted(samples.thread[i])) busiest = std::max(busiest, ++threads[samples.thread[i]]);
  std::erase_if(threads, [&](const auto& thread) { return kBusyPart * thread.second < busiest; });
  found.threads = static_cast<int64_t>(threads.size());
  std::unordered_map<uint32_t, int64_t> chains;
  for (size_t i = first; i < samples.size() && samples.time[i] < time.end; ++i) {
    if (!threads.contains(samples.thread[i])) continue;
    ++found.samples;
    if (samples.chain[i] != kNoIndex) ++chains[samples.chain[i]];
  }
  std::unordered_map<std::string, int64_t> functions;
  for (const auto& [chain, count] : chains)
    if (const std::string name = NameOfStack(trace, samples.chains[chain]); !name.empty())
      functions[name] += count;
  for (const auto& [name, count] : functions) found.functions.push_back({name, count});
  std::ranges::sort(found.functions, [](const SampledFunction& a, const SampledFunction& b) {
    return std::tie(b.samples, a.name) < std::tie(a.samples, b.name);
  });
  return found;
}

std::string FunctionsText(const SampledFunctions& sampled) { return TextOf(sampled, kNamedPart, kNamedPart); }

std::string LeadingFunctionsText(const SampledFunctions& sampled) {
  return TextOf(sampled, kNamedPart, kLeadingPart);
}

}  // namespace dladvisor
