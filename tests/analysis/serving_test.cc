// SPDX-License-Identifier: Apache-2.0
// The load of a server, as its log reports it.
#include "src/analysis/serving/serving.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {

ServingSample Sample(int64_t running, int64_t waiting, double cache, std::optional<double> generated) {
  ServingSample sample;
  sample.running = running;
  sample.waiting = waiting;
  sample.cache_used = cache;
  sample.generated_tokens_per_second = generated;
  if (!generated) sample.prompt_tokens_per_second = 1000;
  return sample;
}

ServingRow RowOf(std::vector<ServingSample> samples, std::map<std::string, std::string> settings = {}) {
  test::TraceBuilder b;
  b.trace.serving_log.program = "vLLM";
  b.trace.serving_log.samples = std::move(samples);
  b.trace.serving_log.settings = std::move(settings);
  const Context context = test::ContextOf(b.trace);
  const std::vector<ServingRow> rows = ComputeServing(context, ComputeServingLog(context));
  EXPECT_EQ(rows.size(), 1u);
  return rows.empty() ? ServingRow() : rows[0];
}

TEST(Serving, MeansLeaveOutIdleLines) {
  const ServingRow row = RowOf({Sample(4, 0, 0.1, 100), Sample(0, 0, 0, 0), Sample(8, 0, 0.2, 300)});
  EXPECT_EQ(row.lines, 3);
  EXPECT_EQ(row.loaded_lines, 2);
  EXPECT_DOUBLE_EQ(*row.mean_running, 6);
  EXPECT_EQ(row.most_running, 8);
  EXPECT_DOUBLE_EQ(*row.generated_tokens_per_second, 200);
  EXPECT_EQ(row.waiting_lines, 0);
}

// Requests shorter than the time between lines never run in one; what ends a burst is no load of its own.
TEST(Serving, CountsWhatRanBetweenTwoLines) {
  const ServingRow row =
      RowOf({Sample(0, 0, 0, 0), Sample(0, 0, 0, 40), Sample(0, 0, 0, 0), Sample(0, 0, 0, 44),
             Sample(0, 0, 0, 0), Sample(3, 0, 0, 90), Sample(0, 0, 0, 2)});
  EXPECT_EQ(row.loaded_lines, 3);
  EXPECT_DOUBLE_EQ(*row.generated_tokens_per_second, 58);
  EXPECT_DOUBLE_EQ(*row.mean_running, 5.0 / 3);
}

TEST(Serving, HowManyRanBetweenLinesIsUnknownWhereNoLineHasOneThatRuns) {
  const ServingRow row = RowOf({Sample(0, 0, 0, 0), Sample(0, 0, 0, 1.5), Sample(0, 0, 0, 12)});
  EXPECT_EQ(row.loaded_lines, 2);
  EXPECT_EQ(row.passed_lines, 2);
  EXPECT_EQ(row.most_running, 0);
  EXPECT_FALSE(row.mean_running);
}

TEST(Serving, AServerOfEmbeddingsReadsAndGeneratesNothing) {
  ServingSample reads = Sample(0, 0, 0, 0);
  reads.prompt_tokens_per_second = 5100;
  const ServingRow row = RowOf({reads, reads, Sample(0, 0, 0, 0)});
  EXPECT_EQ(row.loaded_lines, 2);
  EXPECT_DOUBLE_EQ(*row.prompt_tokens_per_second, 5100);
  EXPECT_FALSE(row.generated_tokens_per_second);
  EXPECT_FALSE(row.mean_running);
}

TEST(Serving, CountsWhatWaitsForTheCacheAndForAPlace) {
  const ServingRow row =
      RowOf({Sample(8, 5, 0.99, 1), Sample(8, 5, 0.5, 1), Sample(6, 5, 0.5, 1), Sample(8, 0, 0.99, 1)},
            {{"max_running_requests", "8"}});
  EXPECT_EQ(row.waiting_lines, 3);
  EXPECT_EQ(row.full_lines, 1);
  EXPECT_EQ(row.capped_lines, 1);
  EXPECT_EQ(row.max_running, 8);
  EXPECT_DOUBLE_EQ(*row.mean_waiting, 3.75);
  EXPECT_FALSE(row.mean_transferring) << "one engine does both";
}

// Two long requests fill it as far as no third fits, whatever they leave.
TEST(Serving, ACacheWithoutRoomForAnotherIsFull) {
  EXPECT_EQ(RowOf({Sample(2, 7, 0.9, 40), Sample(2, 7, 0.6, 40), Sample(40, 7, 0.9, 40)}).full_lines, 1);
  EXPECT_EQ(RowOf({Sample(2, 7, 0.9, 40)}, {{"max_running_requests", "2"}}).full_lines, 0);
}

// A line is of one moment: some requests have just ended.
TEST(Serving, NearlyAllThatAreAllowedAreAtTheLimit) {
  const ServingRow row =
      RowOf({Sample(61, 40, 0.1, 1), Sample(50, 40, 0.1, 1)}, {{"max_running_requests", "64"}});
  EXPECT_EQ(row.capped_lines, 1);
}

TEST(Serving, WithoutALimitNothingIsCapped) { EXPECT_FALSE(RowOf({Sample(8, 5, 0.5, 1)}).capped_lines); }

TEST(Serving, LinesOfPrefillAreNoMeanBesideDecoding) {
  const ServingRow mixed = RowOf({Sample(1, 0, 0.1, {}), Sample(9, 0, 0.1, 50)});
  EXPECT_FALSE(mixed.prompt_tokens_per_second);
  EXPECT_DOUBLE_EQ(*mixed.mean_running, 9);
  const ServingRow prefill = RowOf({Sample(1, 0, 0.1, {}), Sample(3, 0, 0.1, {})});
  EXPECT_DOUBLE_EQ(*prefill.prompt_tokens_per_second, 1000);
  EXPECT_FALSE(prefill.mean_running);
}

TEST(Serving, RatesOfRequestsAreOfAllTokensOverAllTheirTime) {
  std::vector<ServingSample> samples = {Sample(1, 0, 0, 100), Sample(1, 0, 0, 40)};
  samples[0].lasts_ns = 1e9;
  samples[1].lasts_ns = 9e9;
  EXPECT_DOUBLE_EQ(*RowOf(samples).generated_tokens_per_second, 46);
}

ServingRow PolledRow(int64_t lines, const std::function<int64_t(int64_t)>& running, double cache = 0.3) {
  test::TraceBuilder b;
  b.trace.serving_log.program = "a server";
  b.trace.serving_log.polled = true;
  for (int64_t i = 0; i < lines; ++i) {
    ServingSample& sample = b.trace.serving_log.samples.emplace_back();
    sample.running = running(i);
    sample.waiting = 1 + i % 5;
    sample.cache_used = cache;
  }
  const Context context = test::ContextOf(b.trace);
  return ComputeServing(context, ComputeServingLog(context)).at(0);
}

TEST(Serving, CountersAloneGiveAMeanOfWhatRuns) {
  EXPECT_DOUBLE_EQ(*PolledRow(10, [](int64_t i) { return 2 + 2 * (i % 2); }).mean_running, 3);
}

TEST(Serving, AsManyInEachLineAsOthersWaitAreALimit) {
  const ServingRow row = PolledRow(40, [](int64_t i) { return i == 0 ? 31 : 32; });
  EXPECT_EQ(row.seen_limit, 32);
  EXPECT_EQ(row.capped_lines, 40);
  EXPECT_FALSE(PolledRow(40, [](int64_t i) { return 28 + i % 5; }).seen_limit);
  EXPECT_FALSE(PolledRow(10, [](int64_t) { return 32; }).seen_limit);  // seen too seldom
  EXPECT_FALSE(PolledRow(
                   40, [](int64_t) { return 32; }, 0.98)
                   .seen_limit);  // it is the cache that is full
}

TEST(Serving, TimesThatGoBackAreUnknown) {
  test::TraceBuilder b;
  ServingSample december = Sample(1, 0, 0, 1), january = december;
  december.time_ns = 1000;
  january.time_ns = 10;
  b.trace.serving_log.samples = {december, january};
  const std::vector<ServingLogRow> rows = ComputeServingLog(test::ContextOf(b.trace));
  EXPECT_EQ(rows[0].start_ns, 0);
  EXPECT_FALSE(rows[1].start_ns);
}

}  // namespace
}  // namespace dladvisor
