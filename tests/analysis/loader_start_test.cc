// SPDX-License-Identifier: Apache-2.0
// Starts of a loader's workers where nothing of the GPU was recorded, on drawn traces.
#include "src/analysis/host/loader_start.h"

#include <gtest/gtest.h>

#include <string_view>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

constexpr Ns kOneMs = 1'000'000;

struct Told {
  std::string_view before = "aten::random_", loader = "_MultiProcessingDataLoaderIter";
  Ns starting = 900 * kOneMs, last = 40 * kOneMs;
  int numbers = 1;
  bool order = true, call = false, work = false, gpu = false;
};

// An epoch of ten batches, of a millisecond each.
std::vector<LoaderStartRow> StartsOf(const Told& told) {
  TraceBuilder b;
  const auto fetch = [&](Ns start, Ns length) {
    b.Range(start, start + length, "enumerate(DataLoader)#" + std::string(told.loader) + ".__next__");
  };
  test::AddRange(b, 0, 1000, "aten::empty");
  test::AddRange(b, 2000, 3000, told.before);
  test::AddRange(b, 4000, 5000, "aten::item");
  if (told.call) b.Api(10 * kOneMs, 11 * kOneMs, "cudaMemcpy", 7);
  Ns at = told.starting + 5000;
  for (int i = 0; i < told.numbers; ++i)
    test::AddRange(b, at + i * 2000, at + i * 2000 + 1000, "aten::random_");
  if (told.order) test::AddRange(b, at + 20'000, at + 30'000, "aten::randperm");
  if (told.work) test::AddRange(b, at + 40'000, at + 50'000, "aten::mm");
  at += kOneMs;
  for (int i = 0; i < 10; ++i, at += kOneMs) {
    fetch(at, kOneMs / 10);
    test::AddRange(b, at + kOneMs / 2, at + kOneMs / 2 + 1000, "aten::conv2d");
  }
  if (told.last > 0) fetch(at, told.last);
  if (told.gpu) b.Kernel(at, at + 1000, "k", 0);
  return ComputeLoaderStarts(test::ContextOf(b.trace));
}

TEST(LoaderStart, WorkersStartBeforeTheFirstBatchAndEndBehindTheLast) {
  const auto rows = StartsOf({});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].starts, 1);
  EXPECT_EQ(rows[0].starting_ns, 900 * kOneMs);
  EXPECT_EQ(rows[0].ending_ns, 40 * kOneMs);
  EXPECT_EQ(rows[0].batches, 10);
  EXPECT_EQ(rows[0].batches_ns, 10 * kOneMs);
  EXPECT_NEAR(rows[0].share, 940.0 / 951, 0.001);
  EXPECT_EQ(StartsOf({.last = 0})[0].ending_ns, 0);
  EXPECT_EQ(StartsOf({.last = kOneMs / 5})[0].ending_ns, 0) << "a batch like others";
}

TEST(LoaderStart, AnOrderThatIsNotDrawnTakesNoSeed) {
  EXPECT_EQ(StartsOf({.numbers = 0, .order = false}).size(), 1u);
  EXPECT_TRUE(StartsOf({.numbers = 1, .order = false}).empty())
      << "the seed of the workers, behind other work";
  EXPECT_TRUE(StartsOf({.numbers = 2}).empty()) << "seeds of the workers and of the order";
}

TEST(LoaderStart, NotWithoutASeedBeforeNorWorkBehindIt) {
  EXPECT_TRUE(StartsOf({.before = "aten::mm"}).empty());
  EXPECT_TRUE(StartsOf({.work = true}).empty());
  EXPECT_TRUE(StartsOf({.call = true}).empty());
}

TEST(LoaderStart, NotOfALoaderWithoutWorkersNorABriefStartNorBesideGpuWork) {
  EXPECT_TRUE(StartsOf({.loader = "_SingleProcessDataLoaderIter"}).empty());
  EXPECT_TRUE(StartsOf({.starting = 40 * kOneMs}).empty());
  EXPECT_TRUE(StartsOf({.gpu = true}).empty());
}

}  // namespace
}  // namespace dladvisor
