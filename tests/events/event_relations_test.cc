// SPDX-License-Identifier: Apache-2.0
#include "src/events/event_relations.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "engine/store/database.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {

TEST(EventRelations, ShowTheColumnsOfATrace) {
  test::TraceBuilder builder;
  builder.Api(100, 110, "cudaLaunchKernel_v7000", 1);
  builder.Kernel(120, 150, "gemm<float>", 1);
  builder.Kernel(160, 170, "relu", 2);
  builder.Copy(200, 230, 4096, CopyDirection::kHostToDevice, MemoryKind::kPageable, MemoryKind::kDevice, 3);
  builder.Range(90, 180, "step 1");
  const auto relations = EventRelations(builder.trace);
  Database database;
  for (const auto& relation : relations) database.Add(*relation);
  const auto one = [&](const std::string& sql) { return database.Query(sql).rows.at(0); };
  EXPECT_EQ(one("SELECT count(*), sum(duration_ns) FROM kernel"),
            (std::vector<Value>{int64_t{2}, int64_t{40}}));
  EXPECT_EQ(one("SELECT name, pid, device, stream FROM kernel WHERE start_ns = 120"),
            (std::vector<Value>{"gemm<float>", int64_t{42}, int64_t{0}, int64_t{7}}));
  EXPECT_EQ(one("SELECT a.name FROM kernel AS k JOIN api_call AS a ON a.pid = k.pid AND a.correlation = "
                "k.correlation"),
            (std::vector<Value>{"cudaLaunchKernel_v7000"}));
  EXPECT_EQ(one("SELECT direction, source, destination, bytes FROM memcpy"),
            (std::vector<Value>{"host-to-device", "pageable", "device", int64_t{4096}}));
  EXPECT_EQ(one("SELECT name, tid, open FROM range"),
            (std::vector<Value>{"step 1", int64_t{42}, int64_t{0}}));
  EXPECT_TRUE(database.Query("SELECT * FROM memset").rows.empty());
}

TEST(EventRelations, SayRankAndStepWhereTheyBegin) {
  test::TraceBuilder builder;
  builder.Api(100, 110, "cudaLaunchKernel", 1);
  builder.Kernel(120, 150, "first", 1);
  builder.Kernel(200, 210, "between", 2);
  builder.Kernel(320, 330, "late", 3);
  EventPlaces places;
  places.rank_of_process = {3};
  places.steps[3] = {{7, 100, 150}, {8, 150, 300}};
  const auto relations = EventRelations(builder.trace, places);
  Database database;
  for (const auto& relation : relations) database.Add(*relation);
  EXPECT_EQ(database.Query("SELECT rank, step, name FROM kernel ORDER BY start_ns").rows,
            (std::vector<std::vector<Value>>{{int64_t{3}, int64_t{7}, "first"},
                                             {int64_t{3}, int64_t{8}, "between"},
                                             {int64_t{3}, Value(), "late"}}));
  EXPECT_EQ(database.Query("SELECT rank, step FROM api_call").rows,
            (std::vector<std::vector<Value>>{{int64_t{3}, int64_t{7}}}));
}

TEST(EventRelations, EveryColumnIsDocumentedAndReadable) {
  test::TraceBuilder builder;
  builder.Kernel(1, 2, "k", 1);
  builder.Set(2, 3, 2);
  builder.Os(1, 5, "read");
  builder.Overhead(1, 2, "init");
  builder.Memory(1, 100);
  for (const auto& relation : EventRelations(builder.trace)) {
    EXPECT_FALSE(relation->schema().doc.empty());
    EXPECT_EQ(relation->schema().columns[0].name, "start_ns");
    for (size_t c = 0; c < relation->schema().columns.size(); ++c) {
      EXPECT_FALSE(relation->schema().columns[c].doc.empty()) << relation->schema().name;
      for (size_t r = 0; r < relation->rows(); ++r) relation->At(r, c);
    }
  }
}

TEST(EventRelations, UnsortedTimesAreNotSearched) {
  test::TraceBuilder builder;
  builder.Kernel(50, 60, "late", 1);
  builder.Kernel(10, 20, "early", 2);
  for (const auto& relation : EventRelations(builder.trace))
    if (relation->schema().name == "kernel") {
      EXPECT_FALSE(relation->SortedColumn().has_value());
    }
}

TEST(EventRelations, AreSearchedByTimeWithoutLosingRows) {
  std::mt19937 random(6);
  test::TraceBuilder builder;
  Ns t = -50;
  for (int i = 0; i < 200; ++i) {
    t += static_cast<Ns>(random() % 4);  // several start together
    builder.Kernel(t, t + 5, "k", 0);
  }
  const auto relations = EventRelations(builder.trace);
  Database database;
  for (const auto& relation : relations) database.Add(*relation);
  const std::vector<Ns>& start = builder.trace.kernels.start;
  for (int round = 0; round < 200; ++round) {
    const Ns low = static_cast<Ns>(random() % 500) - 100, high = low + static_cast<Ns>(random() % 50) - 5;
    const auto count = [&](const std::string& where) {
      return std::get<int64_t>(database.Query("SELECT count(*) FROM kernel WHERE " + where).rows.at(0).at(0));
    };
    const auto expected = [&](auto holds) { return std::count_if(start.begin(), start.end(), holds); };
    EXPECT_EQ(count(fmt::format("start_ns >= {} AND start_ns < {}", low, high)),
              expected([&](Ns s) { return s >= low && s < high; }));
    EXPECT_EQ(count(fmt::format("start_ns > {} AND start_ns <= {}", low, high)),
              expected([&](Ns s) { return s > low && s <= high; }));
    EXPECT_EQ(count(fmt::format("start_ns = {}", low)), expected([&](Ns s) { return s == low; }));
    EXPECT_EQ(count(fmt::format("start_ns BETWEEN {} AND {} AND end_ns > {}", low, high, low + 6)),
              expected([&](Ns s) { return s >= low && s <= high && s + 5 > low + 6; }));
  }
}

TEST(EventRelations, WhatIsUnknownIsNull) {
  test::TraceBuilder builder;
  builder.Kernel(1, 2, "k", 1, kNoIndex, kNoIndex);
  builder.Api(1, 2, "cudaMalloc", 0, kNoIndex);
  const auto relations = EventRelations(builder.trace);
  Database database;
  for (const auto& relation : relations) database.Add(*relation);
  const std::vector<Value> nulls(2);
  EXPECT_EQ(database.Query("SELECT pid, device FROM kernel").rows.at(0), nulls);
  EXPECT_EQ(database.Query("SELECT pid, tid FROM api_call").rows.at(0), nulls);
}

}  // namespace
}  // namespace dladvisor
