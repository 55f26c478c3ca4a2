// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/headline_without_gpu.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <vector>

#include "src/report/sections/capture_section.h"
#include "src/report/sections/host_alone.h"

namespace dladvisor {
namespace {

// What comes next on a host program, whose findings do not say what they save.
std::string NextOnHost(const Advice& advice, size_t first) {
  for (const std::string_view rule : {"training-mode-on-host", "single-host-pass", "host-program"}) {
    const auto next = FindingOf(advice, rule);
    if (!next || next == first || advice.findings[*next].recommendation.empty()) continue;
    const Finding& finding = advice.findings[*next];
    if (rule != "host-program" || Holds(finding, "known") || Holds(finding, "brief"))
      return "; then " + FirstThing(finding);
  }
  return "";
}

// What feeds a program of which nothing of the GPU was recorded, or keeps it busy otherwise.
struct HostInput {
  std::string_view rule, text;
  std::string_view holds;  // the let of the rule that says so; "" where the rule itself does
};
constexpr std::array kHostInputs = std::to_array<HostInput>({
    {"random-on-host", "The host makes the input for much of the time", ""},
    {"operators-in-a-loop", "The host calls the same few operators for much of the time", ""},
    {"workers-start", "The loader's workers start and end for much of the time", ""},
    {"host-loading", "The host loads data for most of the time", ""},
    {"stage-dominates", "The host loads data for much of the time", "loads"},
});

std::optional<size_t> Feeding(const Advice& advice, const HostInput& input) {
  const auto found = FindingOf(advice, input.rule);
  if (!found || input.holds.empty() || Holds(advice.findings[*found], input.holds)) return found;
  return std::nullopt;
}

// The program's range that takes most of its time.
std::string StageText(const Advice& advice) {
  const auto stage = FindingOf(advice, "stage-dominates");
  if (!stage || Holds(advice.findings[*stage], "library")) return "";
  std::string name, share;
  for (const PlacedValue& placed : advice.findings[*stage].problem.values) {
    if (placed.value.name == "name") name = FormatValue(placed.value.value, placed.value.unit);
    if (placed.value.name == "share") share = FormatValue(placed.value.value, placed.value.unit);
  }
  return name.empty() || share.empty() ? "" : fmt::format("; the range {} takes {} of the time", name, share);
}

}  // namespace

std::optional<size_t> FedByHost(const Advice& advice) {
  for (const HostInput& input : kHostInputs)
    if (const auto feeding = Feeding(advice, input)) return feeding;
  return std::nullopt;
}

HeadlineText HeadlineWithoutGpu(const ReportModel& model, std::optional<size_t> first,
                                const std::string& order, const std::string& doubt) {
  const Advice& advice = *model.advice;
  if (!doubt.empty()) return {doubt + "What is there holds no GPU work.", ""};
  if (const auto other = FindingOf(advice, "other-accelerator"); first && other) {
    for (const PlacedValue& placed : advice.findings[*other].problem.values)
      if (placed.value.name == "computing_share" && AsNumber(placed.value.value))
        return {fmt::format("The NPU computes for {} of its time; ",
                            FormatValue(placed.value.value, placed.value.unit)),
                order + "."};
    return {"The work is on an accelerator that is not read; ", order + "."};
  }
  if (first && advice.findings[*first].rule == "program-failed")
    return {"The program ended before any GPU work; ", order + "."};
  if (UsesNoGpu(model))
    return {first ? "The program uses no GPU; " : "The program uses no GPU.",
            first ? order + NextOnHost(advice, *first) + "." : ""};
  for (const HostInput& input : kHostInputs)
    if (Feeding(advice, input))
      return {fmt::format("{}, and nothing of the GPU was recorded; ", input.text),
              order + ", then record the GPU's work."};
  const auto none = FindingOf(advice, "no-gpu-work");
  const std::string_view next = none && !advice.findings[*none].recommendation.empty()
                                    ? advice.findings[*none].recommendation.front().FirstSentence()
                                    : std::string_view();
  // A profiler that does not know the driver may have lost the calls.
  if (CalledNoGpu(model) && !next.starts_with("Profile with a newer version"))
    return {
        (next.starts_with("See whether CUDA can be traced")
             ? std::string("Nothing was recorded, though CUDA was traced")
             : std::string("No GPU work was recorded: the program made no CUDA call while it was traced")) +
            (none ? "; " : "."),
        none ? fmt::format("first, {}.", FirstThing(advice.findings[*none])) : ""};
  // Calls of the program were recorded: the flags were right.
  if (const auto lost = FindingOf(advice, "gpu-trace-missing")) {
    const auto host = HostAloneBeforeWhatIsMissing(advice);
    const bool begins = host && host->root == first;
    return {"Launches were recorded, and nothing of the GPU; " +
                (begins ? fmt::format("for {} of the program's time only the host computes; ",
                                      FormatValue(host->share, Unit::kRatio))
                        : ""),
            fmt::format("first, {}.", FirstThing(advice.findings[begins ? host->root : *lost]))};
  }
  if (const auto counted = FindingOf(advice, "counters-profiled"))
    return {"Hardware counters were profiled, not times; ",
            fmt::format("first, {}.", FirstThing(advice.findings[*counted]))};
  // What another capture with more options would not show.
  if (!next.empty() && !next.starts_with("Profile again with"))
    return {"No GPU work was recorded; ", fmt::format("first, {}.", FirstThing(advice.findings[*none]))};
  const std::vector<std::string> flags = CaptureFlags(model);
  return {
      "No GPU work was recorded" + StageText(advice) +
          (flags.empty() ? std::string(".")
                         : fmt::format("; profile again{} with {}.",
                                       FindingOf(advice, "first-use-unrecorded") ? ", after a warm-up," : "",
                                       fmt::join(flags, flags[0].starts_with("--") ? " " : ", "))),
      ""};
}

}  // namespace dladvisor
