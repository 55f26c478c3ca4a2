// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/host_alone.h"

#include <algorithm>
#include <map>

#include "engine/base/text.h"
#include "engine/base/value.h"
#include "src/render/escape.h"

namespace dladvisor {
namespace {

// Share of the program's time.
constexpr double kMostOfTheProgram = 0.5;

}  // namespace

std::string WithoutFullStop(std::string_view sentence) {
  std::string line = OneLine(sentence);
  while (!line.empty() && (line.back() == '.' || line.back() == ' ')) line.pop_back();
  return line;
}

std::optional<size_t> FindingOf(const Advice& advice, std::string_view rule) {
  for (const size_t root : advice.Roots())
    if (advice.findings[root].rule == rule) return root;
  return std::nullopt;
}

bool Holds(const Finding& finding, std::string_view name) {
  return std::ranges::any_of(finding.lets, [&](const NamedValue& let) {
    return let.name == name && AsNumber(let.value).value_or(0) > 0;
  });
}

std::string FirstThing(const Finding& finding) {
  if (finding.recommendation.empty()) return WithoutFullStop(finding.title);
  std::string text = WithoutFullStop(finding.recommendation[0].FirstSentence());
  // A value of several sentences, as of what to do about an operator: its first says what, the others how.
  constexpr size_t kLong = 200;
  const size_t end = text.size() > kLong ? text.find(". ") : std::string::npos;
  if (end != std::string::npos && end + 2 < text.size() && text[end + 2] >= 'A' && text[end + 2] <= 'Z')
    text.resize(end);
  return WithinSentence(text);
}

std::optional<HostAlone> HostAloneForMostOfTheTime(const Advice& advice, bool at_the_start) {
  struct Parts {
    HostAlone all;
    double longest = 0;
  };
  std::map<double, Parts> processes;
  for (const size_t root : advice.Roots()) {
    const Finding& finding = advice.findings[root];
    // Input that is read once is a start, and a thread that waits computes nothing.
    if (finding.rule != "host-computes-alone" || Holds(finding, "reading") || Holds(finding, "waits"))
      continue;
    if (at_the_start && !Holds(finding, "starting")) continue;
    double pid = 0, share = 0, ns = 0;
    for (const PlacedValue& placed : finding.problem.values) {
      const double value = AsNumber(placed.value.value).value_or(0);
      if (placed.value.name == "pid") pid = value;
      if (placed.value.name == "share_of_program_time") share = value;
      if (placed.value.name == "time_without_cuda_calls_ns") ns = value;
    }
    Parts& parts = processes[pid];
    parts.all.share += share;
    if (share <= parts.longest) continue;
    parts.longest = share;
    parts.all.root = root;
    parts.all.program_ns = share > 0 ? ns / share : 0;
  }
  HostAlone longest;
  for (const auto& [pid, parts] : processes)
    if (parts.all.share > longest.share) longest = parts.all;
  return longest.share > kMostOfTheProgram ? std::optional(longest) : std::nullopt;
}

std::optional<HostAlone> HostAloneBeforeWhatIsMissing(const Advice& advice) {
  return FindingOf(advice, "gpu-trace-missing") ? HostAloneForMostOfTheTime(advice, true) : std::nullopt;
}

std::optional<size_t> WritesForLonger(const Advice& advice, double ns) {
  for (const size_t root : advice.Roots()) {
    const Finding& finding = advice.findings[root];
    if (finding.rule != "host-computes-alone" || !Holds(finding, "writing")) continue;
    for (const PlacedValue& placed : finding.problem.values)
      if (placed.value.name == "time_without_cuda_calls_ns" && AsNumber(placed.value.value).value_or(0) > ns)
        return root;
  }
  return std::nullopt;
}

}  // namespace dladvisor
