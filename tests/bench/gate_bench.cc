// SPDX-License-Identifier: Apache-2.0
// ./dev bench gate [PROFILE...]: how often the gate calls the same program worse, and how often it finds in
// new runs what it calls detectable, over simulated runs whose steps vary as those of the given profiles (by
// default, of some of $DLADVISOR_DATA), with heavy tails, or with serial correlation. Jobs differ, and runs
// of a job, and there is drift over the day; the gate knows of it by its runs, its history, or what was
// declared. Beside it, on the same draws, the rules of other tools. First, findings that come and go, and
// trends and budgets over histories whose runs depend on the ones before.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <numbers>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/store/database.h"
#include "src/fleet/load_profiles.h"
#include "src/gate/compare/comparison.h"
#include "src/gate/judge/metric_verdict.h"
#include "src/gate/judge/rule_verdict.h"
#include "src/gate/judge/trend.h"
#include "src/gate/model/history.h"
#include "src/trace/parallel.h"
#include "tests/bench/bench.h"
#include "tests/bench/other_gates.h"
#include "tests/gate/simulated_runs.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

// Of a run; of runs that are alone, as those that tell how heavy the tail of their noise is.
constexpr size_t kSteps = 50, kStepsOfSingle = 100, kHistoryRuns = 12, kFewestRecorded = 20;
constexpr double kJobEffects[] = {0.003, 0.01, 0.03, 0.10};
constexpr double kDrift = 0.01, kShareOfRun = 0.1;  // of a run's own effect in that of its job

// Those with most steps.
constexpr const char* kProfiles[] = {
    "kineto/facebookresearch_param/et_replay__tests__data__resnet_kineto--29571b75.json.gz",
    "megatron_logs/bigscience-workshop_bigscience/"
    "experiments__gpt2-meg-ds-3d__meg_ds_3d_gpt2_perf_n16-ds-on.out",
};

enum class Known { kNothing, kDeclared, kHistory };
enum class Taken { kInOneJob, kInJobs, kInTurns };  // the runs of a side

struct Setup {
  size_t runs;  // a side
  Taken taken;
  Known known;
  const char* name;
};
constexpr Setup kSetups[] = {
    {1, Taken::kInOneJob, Known::kNothing, "nothing"},  {3, Taken::kInOneJob, Known::kNothing, "nothing"},
    {10, Taken::kInOneJob, Known::kNothing, "nothing"}, {2, Taken::kInJobs, Known::kNothing, "nothing"},
    {3, Taken::kInJobs, Known::kNothing, "nothing"},    {10, Taken::kInJobs, Known::kNothing, "nothing"},
    {3, Taken::kInTurns, Known::kNothing, "nothing"},   {5, Taken::kInTurns, Known::kNothing, "nothing"},
    {10, Taken::kInTurns, Known::kNothing, "nothing"},  {1, Taken::kInOneJob, Known::kDeclared, "floor"},
    {3, Taken::kInOneJob, Known::kDeclared, "floor"},   {1, Taken::kInOneJob, Known::kHistory, "history"},
    {2, Taken::kInOneJob, Known::kHistory, "history"},  {3, Taken::kInOneJob, Known::kHistory, "history"},
    {10, Taken::kInOneJob, Known::kHistory, "history"}, {3, Taken::kInJobs, Known::kHistory, "history"},
    {10, Taken::kInJobs, Known::kHistory, "history"},
};

const char* NameOf(Taken taken) {
  switch (taken) {
    case Taken::kInOneJob:
      return "one job";
    case Taken::kInJobs:
      return "jobs";
    case Taken::kInTurns:
      return "turns";
  }
  return "";
}

using GateRule = bool (*)(const PooledSteps&, const PooledSteps&);
constexpr std::array<GateRule, 3> kOtherRules = {RegressedByThreshold, RegressedByGoogleBenchmark,
                                                 RegressedByAsv};

// What one gate said of the same program, and of new runs slowed by what it calls detectable.
struct GateOutcome {
  bool is_false = false, found = false;
  std::optional<double> detectable;
  std::array<bool, std::size(kOtherRules)> other_false{}, other_found{};
};

struct Draw {
  test::SimulatedRuns baseline, candidate;
};

size_t StepsOf(const Setup& setup) { return setup.runs == 1 ? kStepsOfSingle : kSteps; }

Draw DrawGate(const Setup& setup, const test::StepNoise& noise, const test::RunEffects& effects,
              test::Random& random) {
  if (setup.taken == Taken::kInTurns) {
    auto [baseline, candidate] = test::DrawTurns(noise, effects, setup.runs, StepsOf(setup), random);
    return {std::move(baseline), std::move(candidate)};
  }
  const size_t jobs = setup.taken == Taken::kInJobs ? setup.runs : 1;
  const auto side = [&](size_t first) {
    return test::DrawJobs(noise, effects, jobs, setup.runs / jobs, StepsOf(setup), first, random);
  };
  return {side(0), side(jobs)};
}

RunNoise NoiseKnown(const Setup& setup, const test::StepNoise& noise, const test::RunEffects& effects,
                    test::Random& random) {
  const RunNoise nothing = NoiseOfFloor(kAssumedFloor, RunNoise::Source::kAssumed);
  switch (setup.known) {
    case Known::kDeclared: {
      // Of a sine the square is one half in the mean; one of two runs is worse by more in 1 of 400 cases.
      const double sd = std::hypot(effects.job_sd, effects.run_sd, effects.drift / std::numbers::sqrt2);
      const double sure = 2.807 * std::numbers::sqrt2 * sd;
      return NoiseOfFloor(sure / (1 - sure / 2), RunNoise::Source::kDeclared);
    }
    case Known::kHistory: {
      std::vector<double> means;
      for (const RunMean& run :
           test::MeansOf(test::DrawJobs(noise, effects, kHistoryRuns, 1, StepsOf(setup), 0, random)))
        means.push_back(run.mean);
      return test::LearnFrom(means).value_or(nothing);
    }
    case Known::kNothing:
      break;
  }
  return nothing;
}

GateOutcome Gate(const Setup& setup, const test::StepNoise& noise, const test::RunEffects& effects,
                 test::Random random) {
  const Draw runs = DrawGate(setup, noise, effects, random);
  const RunNoise known = NoiseKnown(setup, noise, effects, random);
  const RunComparison same = Compare(test::MeansOf(runs.baseline), test::MeansOf(runs.candidate), known, {});
  GateOutcome outcome;
  outcome.is_false = same.verdict == Verdict::kRegressed;
  outcome.detectable = same.detectable;
  const PooledSteps before(test::StepsOf(runs.baseline)), after(test::StepsOf(runs.candidate));
  for (size_t i = 0; i < kOtherRules.size(); ++i) outcome.other_false[i] = kOtherRules[i](before, after);
  if (!same.detectable) return outcome;
  const Draw anew = DrawGate(setup, noise, effects, random);
  const std::vector<RunMean> slowed = test::Slowed(test::MeansOf(anew.candidate), *same.detectable);
  ComparisonOptions verdict_alone;  // what would be called detectable takes most of the time
  verdict_alone.gates = false;
  outcome.found =
      Compare(test::MeansOf(anew.baseline), slowed, known, verdict_alone).verdict == Verdict::kRegressed;
  const PooledSteps before_anew(test::StepsOf(anew.baseline));
  const PooledSteps slowed_steps = PooledSteps(test::StepsOf(anew.candidate)).Slowed(*same.detectable);
  for (size_t i = 0; i < kOtherRules.size(); ++i)
    outcome.other_found[i] = kOtherRules[i](before_anew, slowed_steps);
  return outcome;
}

struct Line {
  double is_false = 0, unknown = 0, detectable = 0;  // unknown: gates that call nothing detectable
  double found = 0;                                  // of the others
  std::array<double, std::size(kOtherRules)> other_false{}, other_found{};
};

Line Measure(const Setup& setup, const test::StepNoise& noise, const test::RunEffects& effects,
             uint32_t line_number, size_t gates) {
  std::vector<GateOutcome> outcomes(gates);
  ParallelFor(gates, [&](size_t i) {
    std::seed_seq seed{line_number, static_cast<uint32_t>(i)};
    outcomes[i] = Gate(setup, noise, effects, test::Random(seed));
  });
  Line line;
  std::vector<double> changes;
  for (const GateOutcome& outcome : outcomes)
    if (outcome.detectable) changes.push_back(*outcome.detectable);
  const double named = static_cast<double>(changes.size());
  line.unknown = 1 - named / static_cast<double>(gates);
  for (const GateOutcome& outcome : outcomes) {
    line.is_false += outcome.is_false / static_cast<double>(gates);
    if (named > 0) line.found += outcome.found / named;
    for (size_t i = 0; i < kOtherRules.size(); ++i) {
      line.other_false[i] += outcome.other_false[i] / static_cast<double>(gates);
      if (named > 0) line.other_found[i] += outcome.other_found[i] / named;
    }
  }
  std::ranges::sort(changes);
  if (!changes.empty()) line.detectable = changes[changes.size() / 2];
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
  models.push_back(test::AutoregressiveNoise(0.9, 0.05));
  return models;
}

// Trends of a program that does not change, over histories whose runs depend on the ones before, and of one
// that becomes 8 % slower in fifteen steps; and a budget of 5 % for fifteen merges.
void MeasureTrends() {
  constexpr size_t kSeries = 200, kCreeping = 50;  // a creep takes all orders
  constexpr size_t kMerges = 15;
  constexpr double kBudget = 0.05;
  fmt::print(
      "Histories of {} and {} programs, in %: of the same program called regressed by the trend, and of +8 % "
      "in 15 steps; the same of a budget of {:.0f} % for {} merges.\n"
      "{:<14}{:>6}{:>6} |{:>9}{:>9} |{:>9}{:>9}\n",
      kSeries, kCreeping, 100 * kBudget, kMerges, "correlation", "sd", "runs", "false", "found", "false",
      "found");
  struct Outcome {
    bool by_trend = false, by_budget = false;
  };
  uint32_t number = 0;
  for (const double correlation : {0.0, 0.5, 0.8, 0.9})
    for (const double sd : {0.003, 0.01, 0.03})
      for (const size_t runs : {20, 60}) {
        std::vector<std::array<Outcome, 2>> outcomes(kSeries);
        ++number;
        ParallelFor(kSeries, [&](size_t i) {
          std::seed_seq seed{number, static_cast<uint32_t>(i)};
          test::Random random(seed);
          for (const bool creeps : {false, true}) {
            if (creeps && i >= kCreeping) continue;
            std::vector<HistoryRun> history;
            const std::vector<double> series = test::CorrelatedRuns(runs, correlation, sd, random);
            for (size_t r = 0; r < runs; ++r) {
              const double steps =
                  creeps
                      ? std::min<double>(
                            15, std::max<double>(0, static_cast<double>(r + 18) - static_cast<double>(runs)))
                      : 0;
              history.emplace_back().values["step.time"] = {"Step time", Unit::kNanoseconds,
                                                            series[r] * (1 + 0.08 / 15 * steps)};
            }
            const auto creep = CreepOver(kMerges, kBudget, history, "", "step.time", {});
            outcomes[i][creeps] = {TrendOf(history, "", "step.time", {}).verdict == Verdict::kRegressed,
                                   creep && creep->verdict == Verdict::kRegressed};
          }
        });
        std::array<double, 2> by_trend{}, by_budget{};
        for (const auto& outcome : outcomes)
          for (const bool creeps : {false, true}) {
            const double all = static_cast<double>(creeps ? kCreeping : kSeries);
            by_trend[creeps] += outcome[creeps].by_trend / all;
            by_budget[creeps] += outcome[creeps].by_budget / all;
          }
        fmt::print("{:<14}{:>6.1f}{:>6} |{:>9.2f}{:>9.1f} |{:>9.2f}{:>9.1f}\n", correlation, 100 * sd, runs,
                   100 * by_trend[0], 100 * by_trend[1], 100 * by_budget[0], 100 * by_budget[1]);
        std::fflush(stdout);
      }
}

// A finding that fires where a time is above a threshold, in runs of one program: by chance, and more alike
// in runs of one job.
constexpr test::RunEffects kFlapping = {.job_sd = 0.03, .run_sd = 0.003, .drift = kDrift};

std::vector<GateRun> FlappingRuns(const test::SimulatedRuns& runs, double threshold, bool is_measured) {
  const std::vector<RunMean> means = test::MeansOf(runs);
  std::vector<GateRun> drawn(runs.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    drawn[i].job = runs[i].job;
    if (is_measured) drawn[i].measurements = {{"ledger.time/idle/input", means[i]}};
    if (means[i].mean <= threshold) continue;
    Finding& finding = drawn[i].findings.emplace_back();
    finding.rule = "near-threshold";
    finding.outcome = Outcome::kFired;
    if (is_measured) finding.saves = SavingClaim{"idle/input", 0, 1, 1};
  }
  return drawn;
}

// How often a finding that comes and goes fails a gate where new findings are errors: by the number of its
// runs alone, and where the time that it claims is measured. Last, how often one does that is new, as the
// time became longer by a half and its threshold lies in between.
void MeasureFindings() {
  constexpr size_t kDraws = 4000;
  constexpr double kChances[] = {0.01, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9}, kLonger = 1.5;
  const test::StepNoise noise = test::IndependentNoise(0.02);
  const auto draw = [&](Taken taken, size_t runs, test::Random& random) {
    if (taken == Taken::kInTurns) return test::DrawTurns(noise, kFlapping, runs, kSteps, random);
    const size_t jobs = taken == Taken::kInJobs ? runs : 1;
    auto before = test::DrawJobs(noise, kFlapping, jobs, runs / jobs, kSteps, 0, random);
    return std::pair(std::move(before),
                     test::DrawJobs(noise, kFlapping, jobs, runs / jobs, kSteps, jobs, random));
  };
  test::Random of_many(1);
  std::vector<double> means;
  for (const RunMean& mean : test::MeansOf(test::DrawJobs(noise, kFlapping, 20'000, 1, kSteps, 0, of_many)))
    means.push_back(mean.mean);
  std::ranges::sort(means);
  GatePolicy policy;
  policy.new_findings = Level::kError;
  const KnowledgeBase none({});
  const auto failing = [&](Taken taken, size_t runs, bool is_measured, double threshold, double longer) {
    std::vector<uint8_t> fails(kDraws, 0);
    ParallelFor(kDraws, [&](size_t i) {
      test::Random random(kDraws * runs + i);
      auto [first, second] = draw(taken, runs, random);
      for (test::SimulatedRun& run : second)
        for (double& step : run.steps) step *= longer;
      const std::vector<GateRun> before = FlappingRuns(first, threshold, is_measured),
                                 after = FlappingRuns(second, threshold, is_measured);
      const MetricVerdicts metrics = JudgeMetrics(before, after, policy, {});
      fails[i] =
          std::ranges::any_of(JudgeRules(before, after, none, policy, metrics.longer),
                              [](const RuleVerdict& rule) { return rule.verdict == Verdict::kRegressed; });
    });
    return 100.0 * static_cast<double>(std::ranges::count(fails, 1)) / kDraws;
  };
  fmt::print("A finding that fires in so many of all runs, in % of {} gates: fails as new.\n{:<34}", kDraws,
             "");
  for (const double chance : kChances) fmt::print("{:>8.0f} %", 100 * chance);
  fmt::print("{:>10}\n", "found");
  for (const bool is_measured : {false, true})
    for (const auto& [taken, name] :
         {std::pair(Taken::kInJobs, "a job each"), std::pair(Taken::kInOneJob, "one job a side"),
          std::pair(Taken::kInTurns, "in turns in one job")})
      for (const size_t runs : {1, 2, 3, 4, 5, 10}) {
        fmt::print("{:<34}", fmt::format("{} runs, {}{}", runs, name, is_measured ? ", time" : ""));
        for (const double chance : kChances) {
          const auto at = static_cast<size_t>((1 - chance) * static_cast<double>(means.size()));
          fmt::print("{:>10.2f}", failing(taken, runs, is_measured, means[at], 1));
        }
        fmt::print("{:>10.1f}\n", failing(taken, runs, is_measured, (1 + kLonger) / 2, kLonger));
        std::fflush(stdout);
      }
}

void MeasureMetrics(const std::vector<fs::path>& profiles, std::string_view only, size_t gates) {
  const std::vector<test::StepNoise> models = NoiseModels(profiles);
  const auto percent = [](double share) { return fmt::format("{:.1f}", 100 * share); };
  const auto print = [&](const std::string& noise, const std::string& sd, const std::string& runs,
                         const std::string& taken, const std::string& known, const Line& line) {
    fmt::print("{:<26}{:>5}{:>5} {:<8}{:<8}{:>7.2f}{:>11}{:>6}{:>7} ", noise, sd, runs, taken, known,
               100 * line.is_false, percent(line.detectable), percent(line.unknown), percent(line.found));
    for (size_t i = 0; i < kOtherRules.size(); ++i)
      fmt::print(" |{:>7}{:>8}", percent(line.other_false[i]), percent(line.other_found[i]));
    fmt::print("\n");
    std::fflush(stdout);
  };
  fmt::print(
      "All in %. {} gates a line, {} steps a run, {} of a single one. sd: of the noise between jobs; that "
      "between runs of a job "
      "is "
      "a tenth of it, and drift over the day {:.0f} %. runs: of each side, in one job a side, each in a job "
      "of "
      "its own, or both sides in turns in one job. false: the same program called worse; detectable: median "
      "of what gates call so; none: gates that do not; found: of new runs slowed by it, called worse.\n",
      gates, kSteps, kStepsOfSingle, 100 * kDrift);
  fmt::print("{:<26}{:>5}{:>5} {:<8}{:<8}{:>7}{:>11}{:>6}{:>7}  |{:>15} |{:>15} |{:>15}\n", "", "", "", "",
             "", "", "", "", "", "threshold 5 %", "Google Bench.", "asv");
  fmt::print("{:<26}{:>5}{:>5} {:<8}{:<8}{:>7}{:>11}{:>6}{:>7} ", "noise of steps", "sd", "runs", "taken in",
             "known", "false", "detectable", "none", "found");
  for (size_t i = 0; i < kOtherRules.size(); ++i) fmt::print(" |{:>7}{:>8}", "false", "found");
  fmt::print("\n");
  double worst_false = 0, least_found = 1, most_found = 0;
  std::array<std::vector<Line>, std::size(kSetups)> by_setup;
  std::vector<std::pair<std::string, std::vector<Line>>> rest;  // by noise of steps
  uint32_t number = 0;
  for (const test::StepNoise& noise : models)
    for (const double job_sd : kJobEffects)
      for (const Setup& setup : kSetups) {
        const test::RunEffects effects{job_sd, kShareOfRun * job_sd, kDrift};
        ++number;
        const std::string name = fmt::format("{} {} {} {} {}", noise.name, percent(job_sd), setup.runs,
                                             NameOf(setup.taken), setup.name);
        if (name.find(only) == std::string::npos) continue;
        const Line line = Measure(setup, noise, effects, number, gates);
        by_setup[static_cast<size_t>(&setup - kSetups)].push_back(line);
        print(noise.name, percent(job_sd), std::to_string(setup.runs), NameOf(setup.taken), setup.name, line);
        worst_false = std::max(worst_false, line.is_false);
        if (line.unknown > 0.1) {  // named where noise looks small by chance
          if (rest.empty() || rest.back().first != noise.name) rest.emplace_back(noise.name, 0);
          if (line.unknown < 1) rest.back().second.push_back(line);
          continue;
        }
        least_found = std::min(least_found, line.found);
        most_found = std::max(most_found, line.found);
      }
  if (std::ranges::all_of(by_setup, [](const auto& lines) { return lines.empty(); }))
    throw Error(std::string(only), "stands in no line", "`bench gate-lines \"\" 1` prints all lines.");
  fmt::print(
      "\nBy setup: false failures, the most of any noise; of the kinds in which nine of ten gates name a "
      "detectable "
      "change, their number, its median, the mean of what is found of it, the least and the most; false by "
      "other rules, the most.\n");
  for (size_t i = 0; i < std::size(kSetups); ++i) {
    if (by_setup[i].empty()) continue;
    Line most;
    std::vector<double> detectable, found;
    for (const Line& line : by_setup[i]) {
      most.is_false = std::max(most.is_false, line.is_false);
      for (size_t rule = 0; rule < kOtherRules.size(); ++rule)
        most.other_false[rule] = std::max(most.other_false[rule], line.other_false[rule]);
      if (line.unknown > 0.1) continue;
      detectable.push_back(line.detectable);
      found.push_back(line.found);
    }
    fmt::print("{:>3} {:<8}{:<8}{:>6.2f}{:>4}", kSetups[i].runs, NameOf(kSetups[i].taken), kSetups[i].name,
               100 * most.is_false, found.size());
    if (!found.empty()) {
      std::ranges::sort(detectable);
      const double mean =
          std::accumulate(found.begin(), found.end(), 0.0) / static_cast<double>(found.size());
      fmt::print("{:>8}{:>7}{:>7}{:>7}", percent(detectable[detectable.size() / 2]), percent(mean),
                 percent(std::ranges::min(found)), percent(std::ranges::max(found)));
    }
    for (const double other : most.other_false) fmt::print(" |{:>7}", percent(other));
    fmt::print("\n");
  }
  fmt::print("Of all lines: at most {:.2f} % false", 100 * worst_false);
  if (least_found <= most_found)
    fmt::print("; of those in which nine of ten gates name a detectable change, {:.1f} to {:.1f} % found",
               100 * least_found, 100 * most_found);
  fmt::print(".\n");
  for (const auto& [noise, lines] : rest) {
    if (lines.empty()) continue;
    double named = 0, found = 0;
    for (const Line& line : lines) {
      named += 1 - line.unknown;
      found += (1 - line.unknown) * line.found;
    }
    fmt::print("{}: {} lines in which fewer do; {:.1f} % of their gates, of which {:.1f} % is found\n", noise,
               lines.size(), 100 * named / static_cast<double>(lines.size()), 100 * found / named);
  }
}

}  // namespace

void MeasureGate(const std::vector<fs::path>& profiles) {
  MeasureFindings();
  MeasureTrends();
  MeasureMetrics(profiles, "", kGatesOfALine);
}

void MeasureGateLines(std::string_view only, size_t gates) { MeasureMetrics({}, only, gates); }

}  // namespace dladvisor
