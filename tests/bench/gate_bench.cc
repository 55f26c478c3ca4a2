// SPDX-License-Identifier: Apache-2.0
// ./dev bench gate [PROFILE...]: how often the gate calls the same program worse, and how sure it finds what
// it says it finds, over simulated runs whose steps vary as those of the given profiles (by default, of some
// of $DLADVISOR_DATA), with heavy tails, or with serial correlation, and which differ from run to run by
// what the gate knows only from its runs, its history, or what was declared. Beside it, on the same draws,
// the rules of other tools.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <numbers>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/store/database.h"
#include "src/fleet/load_profiles.h"
#include "src/gate/compare/comparison.h"
#include "src/trace/parallel.h"
#include "tests/bench/bench.h"
#include "tests/bench/other_gates.h"
#include "tests/gate/simulated_runs.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

constexpr size_t kGates = 2000, kSteps = 50, kHistoryRuns = 12, kFewestRecorded = 20;
constexpr double kRunEffects[] = {0.003, 0.01, 0.03, 0.10};

// Those with most steps.
constexpr const char* kProfiles[] = {
    "kineto/facebookresearch_param/et_replay__tests__data__linear_kineto--38621bfb.json.gz",
    "kineto/facebookresearch_param/et_replay__tests__data__resnet_kineto--29571b75.json.gz",
    "megatron_logs/bigscience-workshop_bigscience/"
    "experiments__gpt2-meg-ds-3d__meg_ds_3d_gpt2_perf_n16-ds-off.out",
    "megatron_logs/bigscience-workshop_bigscience/"
    "experiments__gpt2-meg-ds-3d__meg_ds_3d_gpt2_perf_n16-ds-on.out",
};

enum class Known { kRuns, kDeclared, kHistory, kNothing };

struct Setup {
  size_t baseline, candidate;
  Known known;
  const char* name;
};
constexpr Setup kSetups[] = {
    {1, 1, Known::kDeclared, "floor"}, {1, 1, Known::kHistory, "history"}, {1, 1, Known::kNothing, "nothing"},
    {3, 3, Known::kRuns, "runs"},      {5, 5, Known::kRuns, "runs"},       {10, 1, Known::kRuns, "runs"},
};

using GateRule = bool (*)(const PooledSteps&, const PooledSteps&);
constexpr std::array<GateRule, 3> kOtherRules = {RegressedByThreshold, RegressedByGoogleBenchmark,
                                                 RegressedByAsv};

// What one gate said of the same program, of the same runs slowed by what it calls minimal and by twice as
// much, and of new runs slowed by twice as much.
struct GateOutcome {
  bool is_false = false, found_once = false, found_twice = false, found_anew = false;
  std::optional<double> minimal_change;
  std::array<bool, std::size(kOtherRules)> other_false{}, other_found{};
};

RunNoise NoiseKnown(const Setup& setup, const test::StepNoise& noise, double run_sd, test::Random& random) {
  switch (setup.known) {
    case Known::kDeclared: {
      const double sure =
          2.807 * std::numbers::sqrt2 * run_sd;  // one of two is worse by more in 1 of 400 cases
      return NoiseOfFloor(sure / (1 - sure / 2), RunNoise::Source::kDeclared);
    }
    case Known::kHistory:
      return test::LearnFrom(test::MeansOf(test::DrawRuns(noise, run_sd, kHistoryRuns, kSteps, random)));
    case Known::kRuns:
    case Known::kNothing:
      return NoiseOfFloor(kAssumedFloor, RunNoise::Source::kAssumed);
  }
  return {};
}

GateOutcome Gate(const Setup& setup, const test::StepNoise& noise, double run_sd, test::Random random) {
  const auto baseline = test::DrawRuns(noise, run_sd, setup.baseline, kSteps, random);
  const auto candidate = test::DrawRuns(noise, run_sd, setup.candidate, kSteps, random);
  const RunNoise known = NoiseKnown(setup, noise, run_sd, random);
  const std::vector<RunMean> before = test::MeansOf(baseline), after = test::MeansOf(candidate);
  const auto regressed = [&](double slowed) {
    return Compare(before, test::Slowed(after, slowed), known, {}).verdict == Verdict::kRegressed;
  };
  const RunComparison same = Compare(before, after, known, {});
  GateOutcome outcome;
  outcome.is_false = same.verdict == Verdict::kRegressed;
  outcome.minimal_change = same.minimal_change;
  const PooledSteps pooled_before(baseline), pooled_after(candidate);
  for (size_t i = 0; i < kOtherRules.size(); ++i)
    outcome.other_false[i] = kOtherRules[i](pooled_before, pooled_after);
  if (!same.minimal_change) return outcome;
  outcome.found_once = regressed(*same.minimal_change);
  outcome.found_twice = regressed(2 * *same.minimal_change);
  const auto anew = test::DrawRuns(noise, run_sd, setup.candidate, kSteps, random);
  const std::vector<RunMean> slowed_anew = test::Slowed(test::MeansOf(anew), 2 * *same.minimal_change);
  outcome.found_anew = Compare(before, slowed_anew, known, {}).verdict == Verdict::kRegressed;
  const PooledSteps slowed = pooled_after.Slowed(2 * *same.minimal_change);
  for (size_t i = 0; i < kOtherRules.size(); ++i)
    outcome.other_found[i] = kOtherRules[i](pooled_before, slowed);
  return outcome;
}

struct Line {
  double is_false = 0, unknown = 0, median_change = 0;     // unknown: no change was called minimal
  double found_once = 0, found_twice = 0, found_anew = 0;  // of the others
  std::array<double, std::size(kOtherRules)> other_false{}, other_found{};
};

Line Measure(const Setup& setup, const test::StepNoise& noise, double run_sd, uint32_t line_number) {
  std::vector<GateOutcome> outcomes(kGates);
  ParallelFor(kGates, [&](size_t i) {
    std::seed_seq seed{line_number, static_cast<uint32_t>(i)};
    outcomes[i] = Gate(setup, noise, run_sd, test::Random(seed));
  });
  Line line;
  std::vector<double> changes;
  for (const GateOutcome& outcome : outcomes)
    if (outcome.minimal_change) changes.push_back(*outcome.minimal_change);
  const double known = static_cast<double>(changes.size());
  line.unknown = 1 - known / kGates;
  for (const GateOutcome& outcome : outcomes) {
    line.is_false += outcome.is_false / static_cast<double>(kGates);
    line.found_once += outcome.found_once / known;
    line.found_twice += outcome.found_twice / known;
    line.found_anew += outcome.found_anew / known;
    for (size_t i = 0; i < kOtherRules.size(); ++i) {
      line.other_false[i] += outcome.other_false[i] / static_cast<double>(kGates);
      line.other_found[i] += outcome.other_found[i] / known;
    }
  }
  std::ranges::sort(changes);
  if (!changes.empty()) line.median_change = changes[changes.size() / 2];
  return line;
}

// Steady steps of a profile, or iterations of a training's log; relative to their mean.
std::vector<double> RecordedSteps(const fs::path& path) {
  const Profile profile = LoadProfile(path, {});
  const Database database = profile.OpenDatabase();
  std::vector<double> steps;
  for (const char* sql :
       {"SELECT duration_ns FROM step WHERE rank = 0 AND warmup = 0 ORDER BY start_ns",
        "SELECT elapsed_ns FROM training_log WHERE warmup = 0 AND covers = 1 AND elapsed_ns "
        "IS NOT NULL ORDER BY attempt, iteration"}) {
    if (!steps.empty()) break;
    for (const auto& row : database.Query(sql).rows) steps.push_back(AsNumber(row[0]).value_or(0));
  }
  double sum = 0;
  for (const double step : steps) sum += step;
  for (double& step : steps) step *= static_cast<double>(steps.size()) / sum;
  return steps;
}

std::vector<test::StepNoise> NoiseModels(std::vector<fs::path> profiles) {
  if (profiles.empty())
    for (const char* name : kProfiles) profiles.push_back(test::DataDir() / name);
  std::vector<test::StepNoise> models;
  for (const fs::path& path : profiles) {
    try {
      std::vector<double> steps = RecordedSteps(path);
      if (steps.size() < kFewestRecorded) {
        fmt::print("left out: {}: only {} steps\n", path.string(), steps.size());
        continue;
      }
      models.push_back(test::ResampledNoise(fmt::format("profile {}", models.size() + 1), std::move(steps)));
      fmt::print("{}: {}\n", models.back().name, path.filename().string());
    } catch (const Error& error) {
      fmt::print("left out: {}\n", error.what());
    }
  }
  models.push_back(test::SpikyNoise());
  models.push_back(test::HeavyTailedNoise());
  models.push_back(test::AutoregressiveNoise(0.5, 0.05));
  models.push_back(test::AutoregressiveNoise(0.9, 0.05));
  return models;
}

}  // namespace

void MeasureGate(const std::vector<fs::path>& profiles) {
  const std::vector<test::StepNoise> models = NoiseModels(profiles);
  const auto percent = [](double share) { return fmt::format("{:.1f}", 100 * share); };
  const auto print = [&](const std::string& noise, const std::string& sd, const std::string& runs,
                         const std::string& known, const Line& line) {
    fmt::print("{:<26}{:>5}{:>6} {:<8}{:>7.2f}{:>9}{:>6}{:>7}{:>7}{:>7} ", noise, sd, runs, known,
               100 * line.is_false, percent(line.median_change), percent(line.unknown),
               percent(line.found_once), percent(line.found_twice), percent(line.found_anew));
    for (size_t i = 0; i < kOtherRules.size(); ++i)
      fmt::print(" |{:>7}{:>8}", percent(line.other_false[i]), percent(line.other_found[i]));
    fmt::print("\n");
    std::fflush(stdout);
  };
  fmt::print(
      "All in %. {} gates a line, {} steps a run. false: the same program called worse; minimal: median of "
      "the "
      "changes that gates call minimal; none: gates without. Found of regressions: 1x and 2x, where the "
      "gate's own runs are slowed by what it calls minimal and twice that; new, where new runs are slowed by "
      "twice that, which also meets what the gate did not know of its noise.\n",
      kGates, kSteps);
  fmt::print("{:<26}{:>5}{:>6} {:<8}{:>7}{:>9}{:>6}{:>7}{:>7}{:>7}  |{:>15} |{:>15} |{:>15}\n", "", "", "",
             "", "", "", "", "found", "found", "found", "threshold 5 %", "Google Bench.", "asv");
  fmt::print("{:<26}{:>5}{:>6} {:<8}{:>7}{:>9}{:>6}{:>7}{:>7}{:>7} ", "noise of steps", "sd", "runs", "known",
             "false", "minimal", "none", "1x", "2x", "new");
  for (size_t i = 0; i < kOtherRules.size(); ++i) fmt::print(" |{:>7}{:>8}", "false", "2x");
  fmt::print("\n");
  Line worst{0, 0, 0, 1, 1, 1, {}, {1, 1, 1}};
  uint32_t number = 0;
  for (const test::StepNoise& noise : models)
    for (const double run_sd : kRunEffects)
      for (const Setup& setup : kSetups) {
        const Line line = Measure(setup, noise, run_sd, ++number);
        print(noise.name, percent(run_sd), fmt::format("{}:{}", setup.baseline, setup.candidate), setup.name,
              line);
        worst.is_false = std::max(worst.is_false, line.is_false);
        worst.median_change = std::max(worst.median_change, line.median_change);
        worst.unknown = std::max(worst.unknown, line.unknown);
        worst.found_once = std::min(worst.found_once, line.found_once);
        worst.found_twice = std::min(worst.found_twice, line.found_twice);
        worst.found_anew = std::min(worst.found_anew, line.found_anew);
        for (size_t i = 0; i < kOtherRules.size(); ++i) {
          worst.other_false[i] = std::max(worst.other_false[i], line.other_false[i]);
          worst.other_found[i] = std::min(worst.other_found[i], line.other_found[i]);
        }
      }
  print("worst of each", "", "", "", worst);
}

}  // namespace dladvisor
