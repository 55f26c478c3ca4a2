// SPDX-License-Identifier: Apache-2.0
#include "src/gate/runs/sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace dladvisor {
namespace {

bool AreOneRecording(const GateRun& a, const GateRun& b) {
  const std::string recording = a.Recording();
  return !recording.empty() && recording == b.Recording();
}

std::vector<GateRun> WithoutRepeated(std::vector<GateRun> runs, std::vector<std::string>& notes) {
  std::vector<GateRun> kept;
  for (GateRun& run : runs) {
    const auto known =
        std::ranges::find_if(kept, [&](const GateRun& other) { return AreOneRecording(other, run); });
    if (known == kept.end())
      kept.push_back(std::move(run));
    else
      notes.push_back(
          fmt::format("{} is the same recording as {}, and both count as one run.", run.name, known->name));
  }
  return kept;
}

void NumberJobs(GateSides& sides) {
  std::vector<GateRun*> timed;
  size_t jobs = 0;
  for (std::vector<GateRun>* side : {&sides.baseline, &sides.candidate}) {
    const size_t untimed = jobs++;
    for (GateRun& run : *side) {
      run.job = untimed;
      if (run.start_utc_ns) timed.push_back(&run);
    }
  }
  std::ranges::stable_sort(timed, {},
                           [](const GateRun* run) { return std::pair(run->host, *run->start_utc_ns); });
  for (size_t i = 0; i < timed.size(); ++i) {
    const bool follows = i > 0 && timed[i]->host == timed[i - 1]->host &&
                         *timed[i]->start_utc_ns - *timed[i - 1]->start_utc_ns <= kLongestPauseNs;
    if (!follows) ++jobs;
    timed[i]->job = jobs - 1;
  }
}

}  // namespace

GateSides ToSides(std::vector<GateRun> baseline, std::vector<GateRun> candidate) {
  GateSides sides;
  sides.baseline = WithoutRepeated(std::move(baseline), sides.notes);
  sides.candidate = WithoutRepeated(std::move(candidate), sides.notes);
  for (const GateRun& run : sides.candidate)
    for (const GateRun& other : sides.baseline)
      if (AreOneRecording(other, run))
        sides.notes.push_back(
            fmt::format("{} is the same recording as {} of the baseline.", run.name, other.name));
  NumberJobs(sides);
  return sides;
}

}  // namespace dladvisor
