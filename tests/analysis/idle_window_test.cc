// SPDX-License-Identifier: Apache-2.0
// The window that idle time is counted in, and the longest gaps that are listed.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/store/database.h"
#include "src/analysis/ops/range_name.h"
#include "src/analysis/summary/profile.h"
#include "src/analysis/summary/run.h"
#include "src/analysis/timeline/bucket.h"
#include "src/analysis/timeline/gpu_timeline.h"
#include "src/analysis/timeline/time_ledger.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

TEST(IdleWindow, WithoutStepsTheWindowIsFromFirstToLastOperation) {
  TraceBuilder b;
  const uint32_t other = b.AddProcess(43), device = b.AddDevice(1);
  for (int step = 0; step < 3; ++step) b.Range(100 * step, 100 * step + 90, "step " + std::to_string(step));
  b.Launch(50, 55, 90, "a");
  b.Launch(150, 155, 190, "a");
  b.Launch(250, 255, 290, "a");
  b.Launch(260, 265, 280, "b", 1, other, device);
  const Context context = test::ContextOf(b.trace);
  const auto timelines = ComputeTimelines(context);
  ASSERT_EQ(timelines.size(), 2u);
  EXPECT_EQ(timelines[0].ledger[static_cast<size_t>(Bucket::kLaunch)], 50 + 60 + 60);
  EXPECT_EQ(timelines[1].window, (Interval{265, 280}));
  EXPECT_EQ(timelines[1].ledger[static_cast<size_t>(Bucket::kOther)], 15);
}

TEST(IdleWindow, AProfileOfOneCallIsAllOfIt) {
  for (const auto& [format, start] : {std::pair("timeline", 0), std::pair("kineto", 86)}) {
    TraceBuilder b;
    b.trace.format = format;
    b.Range(0, 80, "IteratorGetNext");
    b.Launch(85, 86, 90, "a");
    b.Launch(87, 88, 150, "b");
    const auto timelines = ComputeTimelines(test::ContextOf(b.trace));
    ASSERT_EQ(timelines.size(), 1u);
    EXPECT_EQ(timelines[0].window.start, start) << format;
  }
}

TEST(IdleWindow, ALoaderBesideTheTrainingLoopHasAPaceOfItsOwn) {
  const auto paced = [](double share, const std::string& range) {
    TimeLedgerRow waits;
    waits.bucket = BucketName(Bucket::kInput);
    waits.ns_per_step = waits.recurring_ns = 100;
    waits.share = share;
    RangeNameRow loads;
    loads.name = range;
    const Table ledger = TimeLedgerRelation().ToTable(std::vector{waits}),
                ranges = RangeNameRelation().ToTable(std::vector{loads});
    Database database;
    database.Add(ledger);
    database.Add(ranges);
    return AsNumber(database.Query(TimeLedger().paced_from_outside).rows[0][0]).value_or(-1) != 0;
  };
  const std::string workers = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
  EXPECT_TRUE(paced(0.3, workers));
  EXPECT_FALSE(paced(0.01, workers)) << "fetching a batch that is there";
  EXPECT_FALSE(paced(0.3, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"));
}

TEST(IdleWindow, WhatThereIsOneOfNeedsNoNumber) {
  const auto single = [](int64_t ranks, int64_t gpus, size_t profiles) {
    RunRow run;
    run.ranks = ranks;
    run.gpus = gpus;
    const Table runs = RunRelation().ToTable(std::vector{run}),
                files = ProfileRelation().ToTable(std::vector<ProfileRow>(profiles));
    Database database;
    for (const Table* table : {&runs, &files}) database.Add(*table);
    std::string nouns;
    for (const auto& row : database.Query(TimeLedger().single).rows)
      nouns += FormatValue(row[0], Unit::kText) + " ";
    return nouns;
  };
  EXPECT_EQ(single(1, 1, 1), "gpu rank ");
  EXPECT_EQ(single(1, 2, 1), "rank ");
  EXPECT_EQ(single(2, 2, 2), "");
  EXPECT_EQ(single(0, 0, 1), "rank ") << "no GPU work was recorded";
  EXPECT_EQ(single(0, 0, 2), "");
}

TEST(IdleWindow, FasterKernelsAreLimitedByTheHostWhereTheProfilerDoesNotSlowItToThat) {
  const auto limited = [](const std::string& format, double utilization, bool has_ranges = true) {
    WhatIfRow kernels;
    kernels.change = "kernels";
    kernels.saves_ns = 100;
    ProfileRow profile;
    profile.format = format;
    RunRow run;
    run.gpu_utilization = utilization;
    const Table what_if = WhatIfRelation().ToTable(std::vector{kernels}),
                profiles = ProfileRelation().ToTable(std::vector{profile}),
                runs = RunRelation().ToTable(std::vector{run}),
                ranges = RangeNameRelation().ToTable(std::vector<RangeNameRow>(has_ranges ? 1 : 0));
    Database database;
    for (const Table* table : {&what_if, &profiles, &runs, &ranges}) database.Add(*table);
    return !database.Query(TimeLedger().work_limit).rows.empty();
  };
  EXPECT_TRUE(limited("kineto", 0.55));
  EXPECT_FALSE(limited("kineto", 0.7)) << "the host may be no limit without the profiler";
  EXPECT_TRUE(limited("kineto", 0.7, false)) << "calls alone slow the host less";
  EXPECT_TRUE(limited("nsys", 0.7));
  EXPECT_FALSE(limited("nsys", 0.8));
}

TEST(IdleWindow, GapsAtTheEdgesOfTheWindowAreCut) {
  TraceBuilder b;
  for (int step = 0; step < 4; ++step) {
    b.Range(1000 * step, 1000 * step + 900, "step " + std::to_string(step));
    b.Launch(1000 * step + 100, 1000 * step + 110, 1000 * step + 800, "k");
  }
  AnalysisOptions options;
  options.steps = {1, 2};
  const Context context = MakeContext(b.trace, options);
  const GpuTimeline timeline = ComputeTimelines(context).at(0);
  EXPECT_EQ(timeline.window, (Interval{800, 2800}));
  ASSERT_EQ(timeline.gaps.size(), 2u);
  EXPECT_EQ(timeline.gaps[0].time, (Interval{800, 1110}));
  EXPECT_EQ(timeline.gaps[1].time, (Interval{1800, 2110}));
  EXPECT_EQ(timeline.window.length() - Length(timeline.idle), 2 * 690);
}

TEST(IdleWindow, WithoutDataLoaderRangesInputIsUnknown) {
  TraceBuilder b;
  b.Launch(0, 5, 100, "a");
  b.Range(0, 50, "forward");
  const Context context = test::ContextOf(b.trace);
  for (const TimeLedgerRow& row : ComputeTimeLedger(context, ComputeTimelines(context)))
    if (row.bucket == "idle/input" || row.bucket == "idle/os") {
      EXPECT_FALSE(row.ns.has_value()) << row.bucket;
    }
}

TEST(IdleWindow, WithoutCallsEveryCauseIsUnknown) {
  TraceBuilder b;
  b.Kernel(50, 100, "a", 1);
  b.Kernel(150, 200, "b", 2);
  b.Range(0, 200, "DataLoader");
  const Context context = test::ContextOf(b.trace);
  std::map<std::string, int64_t> known;
  for (const TimeLedgerRow& row : ComputeTimeLedger(context, ComputeTimelines(context)))
    if (row.ns) known[row.bucket] = *row.ns;
  EXPECT_EQ(known, (std::map<std::string, int64_t>{{"compute/tensor", 0},
                                                   {"compute/other", 100},
                                                   {"communication/exposed", 0},
                                                   {"copy", 0},
                                                   {"memset", 0},
                                                   {"idle/unknown", 50}}));
}

TEST(IdleWindow, TheLongestGapsAreListed) {
  TraceBuilder b;
  const uint32_t other = b.AddDevice(1);
  Ns t = 0;
  for (int i = 0; i < 1500; ++i) {
    b.Range(t, t + 8, "linear");
    b.Launch(t + 4, t + 10, t + 20, i % 2 ? "odd" : "even");
    t += 30 + i;
  }
  b.Launch(t, t + 1, t + 100'000, "other GPU", 0, 0, other);  // the first has nothing more to do
  const Context context = test::ContextOf(b.trace);
  const auto timelines = ComputeTimelines(context);
  const auto rows = ComputeIdleGaps(context, timelines);
  ASSERT_EQ(rows.size(), 1001u) << "1000 of the first GPU, one of the other";
  EXPECT_EQ(rows[0].cause, "idle/unknown");
  EXPECT_EQ(rows[0].ended_by, "");
  EXPECT_FALSE(rows[0].starved_ns || rows[0].range || rows[0].thread);
  EXPECT_EQ(rows[1].cause, "idle/launch");
  EXPECT_EQ(rows[1].ended_by, "odd");
  EXPECT_EQ(rows[1].duration_ns, 1498 + 20);  // the pause before the last launch
  EXPECT_EQ(rows[1].starved_ns, 1498 + 14);
  EXPECT_EQ(rows[1].range, "/linear");
  EXPECT_EQ(rows[1].thread, 42);
  for (size_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(rows[i].end_ns - rows[i].start_ns, rows[i].duration_ns);
    if (i > 0) {
      EXPECT_LE(rows[i].duration_ns, rows[i - 1].duration_ns);
    }
  }
}

TEST(IdleWindow, GapsNameTheOperatorThatFillsThemCallByCall) {
  TraceBuilder b;
  b.Launch(0, 10, 100, "a");
  b.Range(0, 2000, "loop");
  b.Range(105, 2000, "half");
  b.Range(110, 400, "sample");
  b.Range(120, 390, "inner");
  b.Range(410, 700, "sample");
  b.Range(710, 980, "sample");
  b.Launch(1000, 1010, 1100, "b");
  b.Range(1110, 1400, "sample");
  b.Range(1410, 1980, "copy");
  b.Launch(2000, 2010, 2100, "c");
  const Context context = test::ContextOf(b.trace);
  const auto rows = ComputeIdleGaps(context, ComputeTimelines(context));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].start_ns, 100);
  EXPECT_EQ(rows[0].host_activity, "sample");
  EXPECT_EQ(rows[1].host_activity, "half");
}

TEST(IdleWindow, GapsNameWhatTheHostWasIn) {
  TraceBuilder b;
  b.Launch(0, 10, 100, "a");
  b.Frame(5, 2000, "train.py(1): main");
  b.Frame(90, 990, "train.py(5): preprocess");
  b.Frame(200, 300, "train.py(9): resize");
  b.Launch(1000, 1010, 1100, "b");
  b.Range(1150, 1195, "aten::to");  // 80 % of nothing: too short
  b.Launch(1300, 1310, 1400, "c");
  b.Range(1405, 1695, "aten::nonzero");
  b.Launch(1700, 1710, 1800, "d");
  b.Kernel(2000, 2100, "e", 999);  // without a call
  const Context context = test::ContextOf(b.trace);
  const auto rows = ComputeIdleGaps(context, ComputeTimelines(context));
  ASSERT_EQ(rows.size(), 4u);  // longest first
  EXPECT_EQ(rows[0].cause, "idle/input");
  EXPECT_EQ(rows[0].host_activity, "train.py(5): preprocess");
  EXPECT_EQ(rows[1].host_activity, "aten::nonzero");
  EXPECT_EQ(rows[2].host_activity, "train.py(1): main");
  EXPECT_EQ(rows[3].host_activity, std::nullopt);
}

TEST(IdleWindow, KnowsWhatWasFetchedBeforeAGap) {
  TraceBuilder b;
  b.Launch(0, 10, 100, "a");
  const auto fetch = [&](Ns start, Ns end, int64_t bytes, int64_t correlation) {
    b.Api(start - 5, end, "cudaMemcpyAsync", correlation);
    b.Copy(start, end, bytes, CopyDirection::kDeviceToHost, MemoryKind::kDevice, MemoryKind::kPageable,
           correlation);
  };
  fetch(110, 120, 4096, 101);
  fetch(130, 140, 8, 102);
  b.Launch(400, 410, 500, "b");
  b.Launch(700, 710, 800, "c");
  const Context context = test::ContextOf(b.trace);
  std::map<int64_t, int64_t> fetched;
  for (const IdleGapRow& gap : ComputeIdleGaps(context, ComputeTimelines(context)))
    fetched[gap.start_ns] = gap.fetched_bytes;
  EXPECT_EQ(fetched.at(140), 4104);
  EXPECT_EQ(fetched.at(120), 4096);
  EXPECT_EQ(fetched.at(100), 0);
  EXPECT_EQ(fetched.at(500), 0);
}

}  // namespace
}  // namespace dladvisor
