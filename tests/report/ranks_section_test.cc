// SPDX-License-Identifier: Apache-2.0
// The view of ranks: sentences, the profiles to open, the heat map, the curves and the tables.
#include "src/report/sections/ranks_section.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "src/render/svg.h"
#include "tests/report/fixture.h"

namespace dladvisor::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using I = int64_t;

// Ranks of 4 steps from 100 on; the last rank is 80 us behind in all, 160 us in step 102, the others 20 us
// ahead.
FakeRun JobWithJitter(I ranks, I steps = 4, double probability = 1e-6) {
  FakeRun run;
  run.Give("run", {{{"name", "job"}, {"ranks", ranks}, {"gpus", ranks}}});
  const I slow = ranks - 1;
  for (I rank = 0; rank < ranks; ++rank) {
    const bool late = rank == slow;
    run.Give("profile", {{{"profile", rank},
                          {"path", fmt::format("job/rank_{}.sqlite", rank)},
                          {"format", "nsys"},
                          {"kernels", I{300}}}});
    run.Give("rank", {{{"rank", rank},
                       {"device", rank % 8},
                       {"profile", rank},
                       {"node", rank / 8},
                       {"host", "node"},
                       {"cohort", I{0}},
                       {"steps", steps},
                       {"own_ns", 1e6 + static_cast<double>(rank)},
                       {"excess_ns", late ? 100e3 : -20e3},
                       {"kernel_ns", 9e5},
                       {"gap_ns", 1e5},
                       {"start_gap_ns", 0.0},
                       {"waiting_ns", 2e5}}});
    for (I step = 100; step < 100 + steps; ++step) {
      run.Give("rank_step", {{{"rank", rank},
                              {"device", rank % 8},
                              {"step", step},
                              {"own_ns", I{1'000'000}},
                              {"excess_ns", !late         ? -20e3
                                            : step == 102 ? 160e3
                                                          : 80e3}}});
      run.Give("step", {{{"rank", rank},
                         {"step", step},
                         {"start_ns", step * 10'000'000 + rank},
                         {"end_ns", (step + 1) * 10'000'000}}});
    }
  }
  run.Give("jitter", {{{"cohort", I{0}},
                       {"peers", ranks},
                       {"steps", steps},
                       {"kernels_per_step", I{3}},
                       {"magnitude_ns", 100e3},
                       {"magnitude_share", 0.05},
                       {"worst_step", I{102}},
                       {"worst_ns", 160e3},
                       {"max_rank", slow},
                       {"max_device", slow % 8},
                       {"min_rank", I{1}},
                       {"min_device", I{1}},
                       {"typical_rank", I{0}},
                       {"typical_device", I{0}},
                       {"kernel_excess_ns", 30e3},
                       {"gap_excess_ns", 131e3},
                       {"start_excess_ns", -1e3}}});
  run.Give("straggler", {{{"rank", slow},
                          {"device", slow % 8},
                          {"first_step", I{100}},
                          {"last_step", 99 + steps},
                          {"probability", probability},
                          {"first_position", I{1}}}});
  for (I position = 0; position < 3; ++position)
    for (const I rank : {I{1}, slow})
      run.Give("divergence", {{{"rank", rank},
                               {"device", rank % 8},
                               {"step", I{102}},
                               {"position", position},
                               {"kernel", position == 1 ? "gelu" : "gemm"},
                               {"end_excess_ns", rank == 1 ? -10e3 : 80e3 * static_cast<double>(position)},
                               {"delay_ns", rank == 1 ? I{2'000'000} : I{5'000}}}});
  return run;
}

ReportModel Build(const Database& db) {
  static const Advice advice;
  return BuildReport(db, advice, {"job", "", "dladvisor 0.1.0", false});
}

// With lines and columns of text joined.
std::string Flat(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  for (size_t at; (at = text.find("  ")) != std::string::npos;) text.erase(at, 1);
  return text;
}

TEST(RanksView, SaysWhoIsSlowestAndWhy) {
  FakeRun run = JobWithJitter(4);
  const Database db = run.Build();
  EXPECT_THAT(
      RankSentences(Build(db)),
      ElementsAre(
          "Of 4 GPUs that run the same 3 kernels a step, that of rank 3 (GPU 3, node 0) is the slowest "
          "in step 102: 160 µs behind the mean of the others, 131 µs of it in gaps between kernels and 30.0 "
          "µs in "
          "kernels; that of rank 1 is the fastest there. Over 4 steps the slowest GPU of each is "
          "100 µs behind, 5.0 % of a step."));
}

TEST(RanksView, SaysWhichAreNotCompared) {
  FakeRun run = JobWithJitter(4);
  run.Give("rank", {{{"rank", I{4}}, {"device", I{0}}, {"profile", I{4}}, {"not_compared", "no steps"}},
                    {{"rank", I{5}}, {"device", I{0}}, {"profile", I{4}}, {"not_compared", "no steps"}}});
  const Database db = run.Build();
  EXPECT_EQ(RankSentences(Build(db)).back(),
            "2 of 6 GPUs are not compared with others: no steps (ranks 4, 5).");
}

TEST(RanksView, HasNoTableOfRanksWithoutTimes) {
  for (const ReportFormat format : {ReportFormat::kText, ReportFormat::kMarkdown}) {
    const auto render = [&](Value own_ns) {
      FakeRun run;
      run.Give("run", {{{"name", "job"}, {"ranks", I{2}}, {"gpus", I{2}}}});
      for (const I rank : {0, 1})
        run.Give("rank", {{{"rank", rank},
                           {"device", rank},
                           {"profile", rank},
                           {"own_ns", own_ns},
                           {"not_compared", "no steps"}}});
      return Flat(Render(run, format));
    };
    EXPECT_THAT(render({}), AllOf(HasSubstr("No GPU is compared with others: no steps (ranks 0, 1)."),
                                  Not(HasSubstr("Excess"))));
    EXPECT_THAT(render(I{1000}), HasSubstr("Excess"));
  }
}

TEST(RanksView, EveryFormatHasTheSentenceAndTheProfilesToOpen) {
  for (const ReportFormat format : kFormats) {
    const std::string text = Flat(Render(JobWithJitter(4), format));
    if (format != ReportFormat::kJson) {
      EXPECT_THAT(text, HasSubstr("160 µs behind the mean of the others"));
      EXPECT_THAT(text, AllOf(HasSubstr("1.020000"), HasSubstr("1.030000"))) << text;
    }
    for (const char* part : {"slowest", "typical", "fastest", "rank_3.sqlite", "rank_0.sqlite"}) {
      // Markdown escapes the underscore.
      std::string plain = text;
      std::erase(plain, '\\');
      EXPECT_THAT(plain, HasSubstr(part));
    }
  }
}

TEST(RanksView, OfOneProfileThereIsNoneToOpen) {
  FakeRun run;
  run.Give("run", {{{"name", "job"}, {"ranks", I{1}}, {"gpus", I{2}}}});
  run.Give("profile", {{{"profile", I{0}}, {"path", "run.sqlite"}, {"format", "nsys"}, {"kernels", I{9}}}});
  for (const I device : {I{0}, I{1}})
    run.Give("rank", {{{"rank", I{0}}, {"device", device}, {"profile", I{0}}, {"excess_ns", 1.0}}});
  for (const ReportFormat format : kFormats) {
    const std::string text = Render(run, format);
    for (const char* part :
         {"is the slowest", "Profiles to Open", "Ranks\n", "id=\"ranks\"", "\"rank_steps\""})
      EXPECT_THAT(text, Not(HasSubstr(part)));
  }
}

TEST(RanksView, DrawsTheHeatMapAndTheCurves) {
  const std::string html = Render(JobWithJitter(4), ReportFormat::kHtml);
  EXPECT_THAT(html, HasSubstr("<title>Rank 3, step 102: +160 µs</title>"));
  EXPECT_THAT(html, HasSubstr("<rect class=\"h3\""));
  EXPECT_THAT(html, HasSubstr("<title>Rank 0, step 100: -20.0 µs</title>"));
  EXPECT_THAT(html, HasSubstr("<rect class=\"l1\""));
  EXPECT_THAT(html, HasSubstr("4 by 4 cells; farthest from the mean is rank 3 in step 102, +160 µs."));
  EXPECT_THAT(html, HasSubstr("diverges from kernel 1, gelu"));
  EXPECT_THAT(html, HasSubstr("Rank 3, the slowest: 160 µs at kernel 2"));
  EXPECT_THAT(html, HasSubstr("Rank 1, the fastest: 2.00 ms at kernel 0"));
}

TEST(RanksView, LeavesOutTheMarkThatChanceExplains) {
  EXPECT_THAT(Render(JobWithJitter(4, 4, 0.5), ReportFormat::kHtml), Not(HasSubstr("diverges from")));
}

TEST(RanksView, OfManyRanksAndStepsCellsStandForSeveral) {
  FakeRun run = JobWithJitter(480, 120);
  const Database db = run.Build();
  const ReportModel model = Build(db);
  const ReportTable* cells = FindTable(model, "rank_steps");
  ASSERT_NE(cells, nullptr);
  EXPECT_EQ(cells->rows.rows.size(), cells->total_rows);
  EXPECT_LE(cells->total_rows, 1400u);
  // The last one holds the slow rank, whose worst step is in the first place.
  double most = 0;
  for (size_t row = 0; row < cells->rows.rows.size(); ++row)
    most = std::max(most, *AsNumber(CellOf(*cells, row, "distance_ns")));
  EXPECT_EQ(most, 160e3);
  EXPECT_EQ(CellOf(*cells, 0, "first_rank"), Value(I{0}));
  EXPECT_EQ(CellOf(*cells, cells->rows.rows.size() - 1, "last_rank"), Value(I{479}));
  EXPECT_EQ(CellOf(*cells, cells->rows.rows.size() - 1, "last_step"), Value(I{219}));
  const std::string html = RenderReport(model, ReportFormat::kHtml);
  EXPECT_THAT(html,
              HasSubstr("of several ranks and steps in a cell the one farthest from the mean is shown"));
  EXPECT_THAT(html, HasSubstr("<title>Rank 479, step 102: +160 µs</title>"));
  const size_t start = html.find("<svg class=\"heat\"");
  ASSERT_NE(start, std::string::npos);
  EXPECT_LT(html.find("</svg>", start) - start, 150'000u);
  EXPECT_THAT(html, HasSubstr("100 of 480 rows shown"));
}

TEST(RanksView, TextShowsTheRanksMostBehind) {
  const std::string text = Render(JobWithJitter(12), ReportFormat::kText);
  EXPECT_THAT(text, HasSubstr("… and 4 that are less behind."));
  const size_t header = text.find("   Rank  GPU  Node");
  ASSERT_NE(header, std::string::npos);
  EXPECT_THAT(Flat(text.substr(header)), HasSubstr("Waiting 11 3 1 1.00 ms 100 µs 900 µs 100 µs 0 ns"));
}

TEST(RanksView, ShowsClocksThatAreOff) {
  FakeRun run = JobWithJitter(4);
  const auto clock = [](I rank, Value uncertainty, Value skew) {
    return Row{{"rank", rank},    {"device", I{0}},   {"offset_ns", I{7}},  {"uncertainty_ns", uncertainty},
               {"skew_ns", skew}, {"drift_ppm", 0.0}, {"collectives", I{3}}};
  };
  run.Give("clock", {clock(0, I{500}, I{10}), clock(1, I{500}, I{-1'000'001}), clock(2, Value(), I{0})});
  const Database db = run.Build();
  const ReportModel model = Build(db);
  const ReportTable* clocks = FindTable(model, "clocks");
  ASSERT_NE(clocks, nullptr);
  ASSERT_EQ(clocks->rows.rows.size(), 2u);
  EXPECT_EQ(CellOf(*clocks, 0, "rank"), Value(I{1}));
  EXPECT_EQ(CellOf(*clocks, 1, "rank"), Value(I{2}));
}

TEST(HeatMap, LimitsDoubleFromASixteenthOn) {
  EXPECT_EQ(HeatClass(0, 0), "h0");
  EXPECT_EQ(HeatClass(1, 16), "h0");
  EXPECT_EQ(HeatClass(1.5, 16), "h1");
  EXPECT_EQ(HeatClass(-3, 16), "l2");
  EXPECT_EQ(HeatClass(8, 16), "h3");
  EXPECT_EQ(HeatClass(16, 16), "h4");
  EXPECT_EQ(HeatClass(-16, 16), "l4");
}

}  // namespace
}  // namespace dladvisor::test
