// SPDX-License-Identifier: Apache-2.0
#include "src/gate/runs/not_measured.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>
#include <vector>

#include "engine/base/text.h"
#include "src/capture/capability.h"
#include "src/capture/capture_words.h"
#include "src/gate/runs/metric.h"
#include "src/importers/words/importer_words.h"
#include "src/report/sections/capture_section.h"

namespace dladvisor {
namespace {

// What must be recorded for a metric, where that decides whether it is known.
struct Source {
  std::string_view metric;
  const char* capability;
  const char* what;  // with its verb, as the subject of "... not recorded"
};
constexpr std::array<Source, 6> kSources = {{
    {"gpu.utilization", capability::kGpuWork, "GPU work was"},
    {"tensor_core.efficiency", capability::kGpuWork, "GPU work was"},
    {"memory.peak", capability::kDeviceMemory, "Allocations of GPU memory were"},
    {"communication.exposed", capability::kGpuWork, "GPU work was"},
    {"op.time", capability::kRangesOfGpuWork, "GPU work in ranges of the program was"},
    {"range.time", capability::kRanges, "Ranges of the program were"},
}};

std::optional<double> NumberOf(const Database& db, const std::string& sql) {
  const ResultSet result = db.Query(sql, {}, 1);
  return result.rows.empty() ? std::nullopt : AsNumber(result.rows[0][0]);
}

bool IsOfLogsAlone(const Database& db) {
  return NumberOf(db,
                  "SELECT count(*) FROM profile WHERE format NOT IN ('nvidia-smi', 'training log', 'serving "
                  "log')") == 0;
}

std::string HowToKnow(const Database& db, const char* capability) {
  const std::vector<std::string> options = CaptureOptions({capability}, WordsOf(db));
  if (!options.empty()) return fmt::format("{}", fmt::join(options, " "));
  std::vector<std::string> ways;
  for (const std::string_view name : Split(capability, ' ')) ways.push_back(HowToRecord(name));
  return fmt::format("another profiler does ({})", fmt::join(ways, "; "));
}

std::string NotRecorded(const Database& db, const char* what, const char* capability) {
  return fmt::format("{} not recorded: {}.", what, HowToKnow(db, capability));
}

// Of what compares work with the peaks of GPUs.
std::string WhyNoEfficiency(const Database& db) {
  const ResultSet unknown = db.Query(
      "SELECT name FROM gpu WHERE name IS NOT NULL AND (rank, device) NOT IN (SELECT rank, device FROM "
      "gpu_peak) ORDER BY rank, device",
      {}, 1);
  if (!unknown.rows.empty())
    return fmt::format("The peaks of {} are not known: declare them in dladvisor.yaml (`hardware:`).",
                       FormatValue(unknown.rows[0][0], Unit::kText));
  constexpr double kNeeded = 0.5;
  const auto share = NumberOf(db, "SELECT known_work_share FROM run");
  if (share.value_or(0) <= 0) return NotRecorded(db, "Shapes of operators were", capability::kOperatorShapes);
  if (*share < kNeeded)
    return fmt::format("The work of {:.0f} % of the kernel time is known, and half of it is needed.",
                       100 * *share);
  if (NumberOf(db, "SELECT count(*) FROM gpu_peak").value_or(0) == 0)
    return "The profile names no GPU: say in dladvisor.yaml which it is (`hardware: {unnamed: MODEL}`).";
  return "Of the precisions that it computes in, or of its memory, this GPU's peak is not known.";
}

std::string WhyNoSteps(const Database& db) {
  if (IsOfLogsAlone(db))
    return "A log without iterations has no step: give a trace or a training's log for times; rules gate it "
           "alone "
           "with `step.time: off`.";
  return "It has no steady steps: put a range around each step (torch.profiler's `prof.step()`, or NVTX), or "
         "name the ranges with `--step-range REGEX`.";
}

}  // namespace

std::string WhyNotMeasured(const Database& db, std::string_view metric) {
  const std::string_view family = metric.substr(0, metric.find('/'));
  if (metric == "step.time") return WhyNoSteps(db);
  if (metric == "throughput")
    return "It is printed by trainings: give the training's log, too, if it prints samples per second.";
  if (metric == "run.mfu" || metric == "kernel.efficiency") return WhyNoEfficiency(db);
  if (family == "op.flops_per_s" && NumberOf(db, "SELECT count(*) FROM op_efficiency").value_or(0) == 0)
    return WhyNoEfficiency(db);
  const bool per_step = family == "op.time" || family == "kernel.time" || family == "ledger.time";
  if (per_step && NumberOf(db, "SELECT steps FROM run").value_or(0) == 0) return WhyNoSteps(db);
  const bool has_gpu_work = NumberOf(db, "SELECT count(*) FROM gpu").value_or(0) > 0;
  for (const Source& source : kSources) {
    if (source.metric != family || (has_gpu_work && source.capability == capability::kGpuWork)) continue;
    if (source.metric == "op.time" && NumberOf(db, "SELECT count(*) FROM op").value_or(0) > 0) continue;
    if (source.metric == "range.time" && NumberOf(db, "SELECT count(*) FROM range_name").value_or(0) > 0)
      continue;
    return NotRecorded(db, source.what, source.capability);
  }
  if (family != metric) return "Nothing in it has such a name.";
  if (metric == "communication.exposed")
    return "It runs no collective, or its GPU never waits for one alone.";
  return "Its profile does not say it.";
}

}  // namespace dladvisor
