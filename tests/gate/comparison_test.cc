// SPDX-License-Identifier: Apache-2.0
#include "src/gate/compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/gate/simulated_runs.h"

namespace dladvisor {
namespace {

using ::testing::HasSubstr;
using Runs = std::vector<RunMean>;

const RunNoise kNothingKnown = NoiseOfFloor(kAssumedFloor, RunNoise::Source::kAssumed);

RunNoise Declared(double floor) { return NoiseOfFloor(floor, RunNoise::Source::kDeclared); }

// A run of 100 steps of that mean, whose mean has the error `error` by noise within it.
RunMean RunOf(double mean, double error = 0) {
  RunMean run;
  run.mean = mean;
  run.variance = run.likely_variance = error * error;
  run.degrees = run.likely_degrees = 99;
  run.steps = 100;
  run.independent_steps = 100;
  return run;
}

Runs RunsOf(std::initializer_list<double> means) {
  Runs runs;
  for (const double mean : means) runs.push_back(RunOf(mean));
  return runs;
}

RunComparison CompareMeans(std::initializer_list<double> baseline, std::initializer_list<double> candidate,
                           const RunNoise& noise = kNothingKnown, const ComparisonOptions& options = {}) {
  return Compare(RunsOf(baseline), RunsOf(candidate), noise, options);
}

TEST(Comparison, OneRunASideFailsOnlyBeyondTheFloor) {
  EXPECT_EQ(CompareMeans({100}, {104}, Declared(0.05)).verdict, Verdict::kInconclusive);
  EXPECT_EQ(CompareMeans({100}, {104.99}, Declared(0.05)).verdict, Verdict::kInconclusive);
  const RunComparison worse = CompareMeans({100}, {105.01}, Declared(0.05));
  EXPECT_EQ(worse.verdict, Verdict::kRegressed);
  EXPECT_NEAR(*worse.fails_from, 0.05, 1e-4);
  EXPECT_EQ(worse.noise, "runs differ by up to 5.0 %, as the project declares");
  EXPECT_EQ(worse.why, "It is 5.0 % worse, more than the 5.0 % that noise explains.");
  EXPECT_EQ(CompareMeans({105.01}, {100}, Declared(0.05)).verdict, Verdict::kImproved);
}

TEST(Comparison, KnowingNothingAssumesThatRunsDifferMuch) {
  const RunComparison worse = CompareMeans({100}, {123});
  EXPECT_EQ(worse.verdict, Verdict::kInconclusive);
  EXPECT_EQ(worse.noise, "runs are assumed to differ by up to 50.0 %, as their variation is not known");
  EXPECT_EQ(worse.why, "It seems 23.0 % worse, but noise explains up to 50.0 %.");
  EXPECT_EQ(CompareMeans({100, 101}, {123, 125}).verdict, Verdict::kInconclusive);
  EXPECT_EQ(CompareMeans({100}, {151}).verdict, Verdict::kRegressed);
}

TEST(Comparison, TrustsAShortHistoryLess) {
  const RunNoise of_few{RunNoise::Source::kHistory, 0.01, 7, 8};
  const RunNoise of_many{RunNoise::Source::kHistory, 0.01, 99, 100};
  const RunComparison few = CompareMeans({100}, {104.5}, of_few),
                      many = CompareMeans({100}, {104.5}, of_many);
  EXPECT_GT(*few.fails_from, *many.fails_from);
  EXPECT_EQ(few.verdict, Verdict::kInconclusive);
  EXPECT_EQ(many.verdict, Verdict::kRegressed);
  EXPECT_EQ(few.noise, "runs differ by 1.0 % (8 runs of the history)");
}

TEST(Comparison, CallsAChangeWithinTheZoneEqual) {
  EXPECT_EQ(CompareMeans({100}, {102.9}, Declared(0.001)).verdict, Verdict::kPass);
  EXPECT_EQ(CompareMeans({100}, {103.1}, Declared(0.001)).verdict, Verdict::kRegressed);
  ComparisonOptions options;
  options.floor = 5;
  const RunComparison small = CompareMeans({100}, {104.9}, Declared(0.001), options);
  EXPECT_EQ(small.verdict, Verdict::kPass);
  EXPECT_NEAR(*small.fails_from, 0.05, 1e-12);
  EXPECT_EQ(small.why, "It changed by 4.9 %, by less than the project's absolute floor.");
  EXPECT_EQ(CompareMeans({100}, {105.1}, Declared(0.001), options).verdict, Verdict::kRegressed);
  EXPECT_EQ(CompareMeans({100}, {101}).why, "It changed by 1.0 %; up to 3.0 % counts as equal.");
}

TEST(Comparison, RunsTellTheirNoise) {
  ComparisonOptions options;
  options.alpha = 0.005;
  const RunComparison worse = CompareMeans({100, 101, 99}, {110, 111, 109}, kNothingKnown, options);
  EXPECT_EQ(worse.verdict, Verdict::kRegressed);
  // 4.604 standard errors with 4 degrees of freedom, of runs that differ by 1 % of both means.
  const double error = 4.60409 * std::sqrt((0.01 * 0.01 + 1 / 110. / 110.) / 2 * 2 / 3) * 105;
  EXPECT_NEAR(*worse.low, 0.1 - error / 100, 1e-5);
  EXPECT_NEAR(*worse.high, 0.1 + error / 100, 1e-5);
  EXPECT_EQ(worse.noise, "runs differ by 1.0 % (3 and 3 runs)");
  EXPECT_EQ(CompareMeans({100, 108, 92}, {110, 118, 102}).verdict, Verdict::kInconclusive);
}

TEST(Comparison, OneRunIsJudgedByTheSpreadOfTheOthers) {
  const RunComparison worse = CompareMeans({100, 101, 99, 100.5, 99.5}, {106});
  EXPECT_EQ(worse.verdict, Verdict::kRegressed);
  EXPECT_EQ(CompareMeans({100, 101, 99, 100.5, 99.5}, {103.5}).verdict, Verdict::kInconclusive);
  // Steps that vary more than runs widen it.
  Runs spiky = {RunOf(106, 4)};
  EXPECT_EQ(Compare(RunsOf({100, 101, 99, 100.5, 99.5}), spiky, kNothingKnown, {}).verdict,
            Verdict::kInconclusive);
}

TEST(Comparison, NoiseWithinRunsAddsToWhatIsDeclared) {
  const Runs baseline = {RunOf(100, 0.1)}, candidate = {RunOf(110, 5)};
  const RunComparison worse = Compare(baseline, candidate, Declared(0.05), {});
  EXPECT_EQ(worse.verdict, Verdict::kInconclusive);
  EXPECT_EQ(worse.noise,
            "runs differ by up to 5.0 %, as the project declares; steps vary the difference by 5.0 %");
}

TEST(Comparison, OneLongStepIsNoAlarm) {
  test::Steps steps(40, 1.0), spike = steps;
  for (size_t i = 0; i < steps.size(); ++i) steps[i] = spike[i] = 1 + 0.001 * static_cast<double>(i % 7);
  spike[11] = 30;
  const Runs a = {MeanOfSteps(steps)}, b = {MeanOfSteps(spike)};
  EXPECT_EQ(Compare(a, b, Declared(0.02), {}).verdict, Verdict::kInconclusive);
}

TEST(Comparison, CallsNothingDetectableWhereOneStepMakesTheNoise) {
  test::Steps steps(80);
  for (size_t i = 0; i < steps.size(); ++i) steps[i] = 1 + 0.001 * static_cast<double>(i * 11 % 7);
  test::Steps spike = steps;
  spike[11] = 3;
  const Runs even = {MeanOfSteps(steps)}, spiky = {MeanOfSteps(spike)};
  const RunComparison without = Compare(even, even, Declared(0.02), {});
  EXPECT_TRUE(without.detectable);
  EXPECT_THAT(without.noise, Not(HasSubstr("one long step")));
  const RunComparison with = Compare(even, spiky, Declared(0.02), {});
  EXPECT_FALSE(with.detectable);
  EXPECT_THAT(with.noise,
              HasSubstr("; one long step makes so much of it that no change is called detectable"));
}

TEST(Comparison, CallsNothingDetectableWhereStepsHaveAHeavyTail) {
  // One of ten steps is longer, all of them alike or as quantiles of a distribution without variance.
  test::Steps alike(100), heavy;
  for (size_t i = 0; i < alike.size(); ++i) alike[i] = 1 + 0.001 * static_cast<double>(i * 11 % 7);
  heavy = alike;
  for (size_t i = 0; i < alike.size(); i += 10) {
    alike[i] = 1.5;
    heavy[i] = 1 + 0.1 * std::pow(1 - static_cast<double>(i) / 100, -1.2);
  }
  const auto compared = [](const test::Steps& steps) {
    const Runs runs = {MeanOfSteps(steps), MeanOfSteps(steps)};
    return Compare(runs, runs, Declared(0.2), {});
  };
  EXPECT_TRUE(compared(alike).detectable);
  EXPECT_THAT(compared(alike).noise, Not(HasSubstr("detectable")));
  EXPECT_FALSE(compared(heavy).detectable);
  EXPECT_THAT(compared(heavy).noise, HasSubstr("; a few steps are so much longer than the others that"));
}

TEST(Comparison, CallsNothingDetectableOfStepsTooFewToShowALongOne) {
  test::Random random(3);
  const auto compared = [&](size_t steps) {
    const auto run = [&] { return Runs{MeanOfSteps(test::IndependentNoise(0.02).draw(random, steps))}; };
    return Compare(run(), run(), Declared(0.05), {});
  };
  EXPECT_TRUE(compared(75).detectable);
  EXPECT_FALSE(compared(74).detectable);
  EXPECT_THAT(compared(74).noise,
              HasSubstr("; 148 steps do not show how often one is long, so that no change is called "
                        "detectable: record 150"));
  // Where noise is assumed nothing is promised anyhow.
  const Runs few = {MeanOfSteps(test::IndependentNoise(0.02).draw(random, 20))};
  EXPECT_THAT(Compare(few, few, kNothingKnown, {}).noise, Not(HasSubstr("detectable")));
}

TEST(Comparison, FewStepsAreNoAlarm) {
  const Runs few = {MeanOfSteps(test::Steps{100, 101, 99})}, slow = {MeanOfSteps(test::Steps(40, 300.0))};
  const RunComparison worse = Compare(few, slow, Declared(0.02), {});
  EXPECT_EQ(worse.verdict, Verdict::kInconclusive);
  EXPECT_EQ(worse.why, "Too few steps: 3 and 40; the noise within a run takes 5.");
  EXPECT_FALSE(worse.fails_from);
  EXPECT_EQ(Compare(few, few, Declared(0.02), {}).verdict, Verdict::kPass);
  const Runs runs(3, few[0]), slow_runs(3, MeanOfSteps(test::Steps{300, 301}));
  EXPECT_EQ(Compare(runs, slow_runs, kNothingKnown, {}).verdict, Verdict::kRegressed);
}

// Drift of 20 % over the runs, and 5 % between the programs.
Runs Interleaved(bool candidate, size_t runs) {
  Runs drifting;
  for (size_t i = 0; i < runs; ++i) {
    const double position = static_cast<double>(2 * i + candidate);
    drifting.push_back(
        RunOf((100 + 2 * position + 0.1 * static_cast<double>(i % 3)) * (candidate ? 1.05 : 1)));
    drifting.back().start_utc_ns = static_cast<int64_t>(position) * 1'000'000'000;
  }
  return drifting;
}

TEST(Comparison, CallsNothingDetectableOfFewPairs) {
  const auto compared = [](size_t pairs) {
    return Compare(Interleaved(false, pairs), Interleaved(true, pairs), kNothingKnown, {});
  };
  EXPECT_TRUE(compared(5).detectable);
  EXPECT_THAT(compared(5).noise, Not(HasSubstr("detectable")));
  EXPECT_FALSE(compared(4).detectable);
  EXPECT_THAT(
      compared(4).noise,
      HasSubstr("; the differences of 4 pairs of runs tell too little of how the next differ, so that no "
                "change is called detectable: take 5 pairs"));
}

TEST(Comparison, InterleavedRunsArePaired) {
  Runs baseline = Interleaved(false, 6), candidate = Interleaved(true, 5);
  std::ranges::reverse(baseline);
  const RunComparison paired = Compare(baseline, candidate, kNothingKnown, {});
  EXPECT_THAT(paired.noise, HasSubstr("5 pairs taken in turns"));
  EXPECT_EQ(paired.verdict, Verdict::kRegressed);
  // Two of a kind in sequence are not turns.
  std::swap(baseline[2].start_utc_ns, candidate[4].start_utc_ns);
  const RunComparison unpaired = Compare(baseline, candidate, kNothingKnown, {});
  EXPECT_EQ(unpaired.verdict, Verdict::kInconclusive);
  EXPECT_EQ(unpaired.noise.find("pairs"), std::string::npos);
}

TEST(Comparison, AggregatesRunsAsAsked) {
  ComparisonOptions options;
  const auto values = [&](Aggregation aggregation) {
    options.aggregation = aggregation;
    const RunComparison c = CompareMeans({10, 11, 30}, {12, 14, 16, 30}, kNothingKnown, options);
    return std::pair(c.baseline, c.candidate);
  };
  EXPECT_EQ(values(Aggregation::kMean), std::pair(17.0, 18.0));
  EXPECT_EQ(values(Aggregation::kMedian), std::pair(11.0, 15.0));
  EXPECT_EQ(values(Aggregation::kOptimistic), std::pair(10.0, 12.0));
  EXPECT_EQ(values(Aggregation::kPessimistic), std::pair(30.0, 30.0));
  options.lower_is_better = false;
  EXPECT_EQ(values(Aggregation::kOptimistic), std::pair(30.0, 30.0));
}

TEST(Comparison, HigherMayBeBetter) {
  ComparisonOptions options;
  options.lower_is_better = false;
  const RunComparison worse = CompareMeans({0.8}, {0.6}, Declared(0.1), options);
  EXPECT_EQ(worse.verdict, Verdict::kRegressed);
  EXPECT_NEAR(*worse.change, -0.25, 1e-12);
  EXPECT_NEAR(*worse.fails_from, 1 - 1 / 1.1, 1e-4);
  EXPECT_EQ(CompareMeans({0.6}, {0.8}, Declared(0.1), options).verdict, Verdict::kImproved);
}

TEST(Comparison, TheSameIsEqualWhateverTheNoise) {
  for (const RunNoise& noise : {kNothingKnown, Declared(0)})
    for (const double value : {0.0, -3.0, 1e-9, 100.0}) {
      const RunComparison same = CompareMeans({value}, {value}, noise);
      EXPECT_EQ(same.verdict, Verdict::kPass);
      EXPECT_EQ(same.why, "It is the same.");
    }
  EXPECT_EQ(CompareMeans({100, 100, 100}, {100, 100, 100}).verdict, Verdict::kPass);
  EXPECT_EQ(CompareMeans({100, 100, 100}, {110, 110, 110}).verdict, Verdict::kRegressed);
}

TEST(Comparison, OfZeroIsAbsolute) {
  ComparisonOptions options;
  options.floor = 2;
  const RunComparison small = CompareMeans({0}, {1}, Declared(0.05), options);
  EXPECT_EQ(small.verdict, Verdict::kPass);
  EXPECT_FALSE(small.change || small.low || small.high || small.fails_from);
  EXPECT_EQ(CompareMeans({0}, {3}, Declared(0.05), options).verdict, Verdict::kRegressed);
  EXPECT_EQ(CompareMeans({3}, {0}, Declared(0.05), options).verdict, Verdict::kImproved);
  EXPECT_EQ(CompareMeans({-10}, {-5}, Declared(0.05), options).verdict, Verdict::kRegressed);
  EXPECT_NEAR(*CompareMeans({-10}, {-5}, Declared(0.05), options).change, 0.5, 1e-12);
}

TEST(Comparison, SaysWhenARunHasNoValue) {
  const RunComparison none = CompareMeans({100}, {std::numeric_limits<double>::quiet_NaN()});
  EXPECT_EQ(none.verdict, Verdict::kInconclusive);
  EXPECT_FALSE(none.change);
}

TEST(Comparison, IsSymmetric) {
  for (const double candidate : {80.0, 96.0, 101.0, 107.0, 130.0}) {
    const Verdict there = CompareMeans({100}, {candidate}, Declared(0.06)).verdict;
    const Verdict back = CompareMeans({candidate}, {100}, Declared(0.06)).verdict;
    EXPECT_EQ(there == Verdict::kRegressed, back == Verdict::kImproved) << candidate;
    EXPECT_EQ(there == Verdict::kImproved, back == Verdict::kRegressed) << candidate;
  }
}

TEST(Comparison, NoiseIsTheLargestOfWhatIsKnown) {
  // Runs that differ by 1 %, where the history or the project knows of more.
  const RunNoise learned{RunNoise::Source::kHistory, 0.06, 30, 31};
  for (const RunNoise& known : {learned, Declared(0.25)}) {
    EXPECT_EQ(CompareMeans({100, 101, 99}, {110, 111, 109}, known).verdict, Verdict::kInconclusive);
    EXPECT_EQ(CompareMeans({100, 101, 99, 100.5, 99.5}, {110}, known).verdict, Verdict::kInconclusive);
  }
  // And of less.
  const RunComparison spread = CompareMeans({100, 108, 92}, {120, 128, 112}, Declared(0.01));
  EXPECT_EQ(spread.verdict, Verdict::kInconclusive);
  EXPECT_THAT(spread.noise, HasSubstr("(3 and 3 runs)"));
}

Runs OfJob(Runs runs, size_t job) {
  for (RunMean& run : runs) run.job = job;
  return runs;
}

TEST(Comparison, RunsOfOneJobAreOneDrawOfItsNoise) {
  const Runs before = OfJob(RunsOf({100, 100.3, 99.8}), 0), after = RunsOf({106, 106.2, 105.9});
  const RunComparison other_job = Compare(before, OfJob(after, 1), kNothingKnown, {});
  EXPECT_EQ(other_job.verdict, Verdict::kInconclusive);
  EXPECT_THAT(other_job.noise, HasSubstr("3 and 3 runs count as 1 and 1"));
  EXPECT_FALSE(other_job.detectable);
  const RunComparison same_job = Compare(before, OfJob(after, 0), kNothingKnown, {});
  EXPECT_EQ(same_job.verdict, Verdict::kRegressed);
  EXPECT_TRUE(same_job.detectable);
  // What differs between runs of a job adds to what is known of jobs.
  const Runs noisy = OfJob(RunsOf({100, 112, 88}), 0), slow = OfJob(RunsOf({107, 119, 95}), 1);
  EXPECT_EQ(Compare(before, OfJob(after, 1), Declared(0.05), {}).verdict, Verdict::kRegressed);
  EXPECT_EQ(Compare(noisy, slow, Declared(0.05), {}).verdict, Verdict::kInconclusive);
}

TEST(Comparison, ThreeJobsASideTellTheirNoise) {
  Runs before, after;
  for (size_t job = 0; job < 3; ++job)
    for (const double run : {-0.1, 0.1}) {
      before.push_back(OfJob(RunsOf({100 + 3 * (static_cast<double>(job) - 1) + run}), job)[0]);
      after.push_back(OfJob(RunsOf({108 + 3 * (static_cast<double>(job) - 1) + run}), 3 + job)[0]);
    }
  const RunComparison of_jobs = Compare(before, after, kNothingKnown, {});
  EXPECT_EQ(of_jobs.verdict, Verdict::kInconclusive);
  EXPECT_THAT(of_jobs.noise, HasSubstr("(3 and 3 jobs of 6 and 6 runs)"));
}

TEST(Comparison, PairsMayBeInEitherOrder) {
  Runs before = RunsOf({100, 100.4, 100.2, 99.9}), after = RunsOf({106, 106.3, 106.1, 106});
  const int64_t before_at[] = {0, 3, 4, 7}, after_at[] = {1, 2, 5, 6};
  for (size_t i = 0; i < 4; ++i) {
    before[i].start_utc_ns = before_at[i];
    after[i].start_utc_ns = after_at[i];
  }
  EXPECT_THAT(Compare(before, after, kNothingKnown, {}).noise, HasSubstr("4 pairs taken in turns"));
}

// New runs of such a program may show more noise, as their steps depend on each other for longer, and then
// fewer of them are independent: the gate of these takes more for noise for both reasons.
TEST(Comparison, NeedsMoreWhereStepsShowBadlyHowLongTheyDepend) {
  const auto detectable = [](double likely_degrees) {
    RunMean run;
    run.mean = 1;
    run.variance = run.likely_variance = 1e-4;
    run.degrees = 20;
    run.likely_degrees = likely_degrees;
    run.steps = 100;
    RunMean other = run;
    run.job = 0;
    other.job = 1;
    return *Compare(Runs{run}, Runs{other}, NoiseOfFloor(0.001, RunNoise::Source::kDeclared), {}).detectable;
  };
  EXPECT_GT(detectable(4), 1.14 * detectable(20));
}

// Shares of 200 gates: of the same program, and of new runs that are slower by what the gate calls
// detectable.
struct Shares {
  double is_false = 0, found = 0;
};

struct Layout {
  size_t before, after;  // jobs
  size_t runs = 1;       // of each
  bool with_history = false;
};

Shares Simulate(const test::StepNoise& noise, const test::RunEffects& effects, const Layout& layout,
                Aggregation aggregation = Aggregation::kMean) {
  constexpr size_t kGates = 200, kHistory = 16;
  const size_t steps = layout.runs == 1 && layout.before == 1 ? 80 : 40;  // which show their tail
  test::Random random(11);
  ComparisonOptions options;
  options.aggregation = aggregation;
  const auto draw = [&](size_t jobs, size_t first) {
    return test::MeansOf(test::DrawJobs(noise, effects, jobs, layout.runs, steps, first, random));
  };
  Shares shares;
  double named = 0;
  for (size_t i = 0; i < kGates; ++i) {
    RunNoise known = kNothingKnown;
    if (layout.with_history) {
      std::vector<double> means;
      for (const RunMean& run : test::MeansOf(test::DrawJobs(noise, effects, kHistory, 1, steps, 0, random)))
        means.push_back(run.mean);
      known = test::LearnFrom(means).value_or(known);
    }
    const RunComparison same = Compare(draw(layout.before, 0), draw(layout.after, 100), known, options);
    shares.is_false += same.verdict == Verdict::kRegressed;
    if (!same.detectable) continue;
    ++named;
    const Runs before = draw(layout.before, 0);
    const Runs slowed = test::Slowed(draw(layout.after, 100), *same.detectable);
    shares.found += Compare(before, slowed, known, options).verdict == Verdict::kRegressed;
  }
  return {shares.is_false / kGates, shares.found / named};
}

TEST(Comparison, IsRightAboutSimulatedRuns) {
  for (const test::StepNoise& noise : {test::IndependentNoise(0.02), test::AutoregressiveNoise(0.9, 0.05)})
    for (const double job_sd : {0.01, 0.03})
      for (const Layout& layout :
           {Layout{1, 1, 1, true}, {1, 1, 3, true}, {3, 3}, {10, 1}, {3, 5}, {3, 3, 2}}) {
        SCOPED_TRACE(noise.name + " " + std::to_string(job_sd) + " " + std::to_string(layout.before) + ":" +
                     std::to_string(layout.after) + " x " + std::to_string(layout.runs));
        const Shares shares = Simulate(noise, {job_sd, 0.003, 0.01}, layout);
        EXPECT_LE(shares.is_false, 0.015);
        EXPECT_GT(shares.found, 0.70);
        EXPECT_LT(shares.found, 0.95);
      }
}

TEST(Comparison, IsRightWhateverIsTakenOfTheRuns) {
  for (const Aggregation aggregation :
       {Aggregation::kMedian, Aggregation::kOptimistic, Aggregation::kPessimistic})
    for (const Layout& layout : {Layout{3, 3}, {5, 5}, {10, 1}, {3, 7}}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(aggregation)) + " " + std::to_string(layout.before));
      const Shares shares = Simulate(test::IndependentNoise(0.02), {0.05}, layout, aggregation);
      EXPECT_LE(shares.is_false, 0.02);
    }
}

// What a gate called the same program worse for: three runs in one job against those of an older job.
TEST(Comparison, ANewJobIsNoRegression) {
  for (const bool with_history : {false, true}) {
    const Shares shares = Simulate(test::IndependentNoise(0.02), {0.03, 0.003}, {1, 1, 3, with_history});
    EXPECT_LE(shares.is_false, 0.015) << with_history;
  }
}

TEST(Comparison, SaysThatAPartOfTheRunsIsSlower) {
  // On the mean 2.5 % slower, which counts as equal.
  const RunComparison half =
      CompareMeans({100, 100.3, 99.7, 100.1}, {100.1, 99.8, 105.1, 104.8, 100.2, 105.2}, Declared(0.1));
  EXPECT_EQ(half.verdict, Verdict::kInconclusive);
  EXPECT_EQ(
      half.why,
      "It changed by 2.5 %; up to 3.0 % counts as equal. But the candidate's runs fall in two groups: 3 of "
      "6 are 5.0 % worse than the others, so that the mean of all is that of no run.");
  EXPECT_EQ(CompareMeans({100, 100.3, 99.7, 100.1}, {100.1, 105.1, 99.9, 104.9}, Declared(0.1)).verdict,
            Verdict::kInconclusive);
  ComparisonOptions rate;
  rate.lower_is_better = false;
  EXPECT_THAT(CompareMeans({100, 100.3, 99.7, 100.1}, {100.1, 95.1, 99.9, 94.9}, Declared(0.1), rate).why,
              HasSubstr("2 of 4 are 5.0 % worse than the others"));
}

TEST(Comparison, SaysNothingOfGroupsThatAreNone) {
  // The baseline has them, too; they are better; they are not far apart; it is one run; or runs of two jobs.
  EXPECT_EQ(CompareMeans({100, 105.1, 99.9, 105}, {100.1, 105, 99.8, 104.9}, Declared(0.1)).groups, "");
  EXPECT_EQ(CompareMeans({100, 100.2, 99.9, 100.1}, {100.1, 95, 99.9, 94.9}, Declared(0.1)).groups, "");
  EXPECT_EQ(CompareMeans({100, 100.2, 99.9, 100.1}, {100.1, 102, 99.9, 101.9}, Declared(0.1)).groups, "");
  EXPECT_EQ(CompareMeans({100, 100.2, 99.9, 100.1}, {100.1, 100, 99.9, 105}, Declared(0.1)).groups, "");
  Runs jobs = RunsOf({100.1, 99.9, 105, 104.9});
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i].job = i / 2;
  EXPECT_EQ(Compare(RunsOf({100, 100.2, 99.9, 100.1}), jobs, Declared(0.1), {}).groups, "");
}

TEST(Comparison, NormalNoiseSeldomLooksLikeGroups) {
  test::Random random(1);
  std::normal_distribution<double> normal(100, 5);
  size_t said = 0;
  for (int i = 0; i < 400; ++i) {
    Runs before, after;
    for (int r = 0; r < 6; ++r) {
      before.push_back(RunOf(normal(random)));
      after.push_back(RunOf(normal(random)));
    }
    said += !Compare(before, after, Declared(0.2), {}).groups.empty();
  }
  EXPECT_LE(said, 4U);
}

}  // namespace
}  // namespace dladvisor
