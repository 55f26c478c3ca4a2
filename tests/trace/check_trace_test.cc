// SPDX-License-Identifier: Apache-2.0
#include "src/trace/check_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "src/trace/event_tables.h"

namespace dladvisor {
namespace {

// Two kernels, two ranges and a run of a thread, as they must be.
Trace Sound() {
  Trace trace;
  trace.processes.push_back({42, "python"});
  trace.threads.push_back({0, 42, ""});
  trace.devices.emplace_back();
  const NameId name = trace.names.Intern("gemm");
  Kernels& k = trace.kernels;
  k.shapes.push_back({});
  for (const Ns start : {10, 20}) {
    k.start.push_back(start);
    k.end.push_back(start + 5);
    k.process.push_back(0);
    k.device.push_back(0);
    for (IntColumn* column : {&k.stream, &k.correlation, &k.graph_node, &k.grid, &k.block, &k.registers,
                              &k.shared_bytes, &k.shape})
      column->push_back(0);
    k.name.push_back(name);
    k.short_name.push_back(name);
  }
  Ranges& r = trace.ranges;
  for (const Ns end : {30, 20}) {
    r.start.push_back(5);
    r.end.push_back(end);
    r.thread.push_back(0);
    r.name.push_back(name);
    r.domain.push_back(kNoName);
    r.kind.push_back(RangeKind::kPushPop);
    r.open.push_back(0);
  }
  for (const Ns start : {0, 50}) {
    trace.cpu_runs.start.push_back(start);
    trace.cpu_runs.end.push_back(start + 40);
    trace.cpu_runs.thread.push_back(0);
    trace.cpu_runs.cpu.push_back(3);
  }
  return trace;
}

TEST(CheckTrace, FindsNothingInASoundTrace) {
  EXPECT_EQ(CheckTrace(Sound()), std::vector<std::string>());
  EXPECT_EQ(CheckTrace(Trace()), std::vector<std::string>());
}

TEST(CheckTrace, NamesTheColumnAndTheRow) {
  const auto check = [](const std::function<void(Trace&)>& damage) {
    Trace trace = Sound();
    damage(trace);
    return CheckTrace(trace);
  };
  using testing::ElementsAre;
  EXPECT_THAT(check([](Trace& t) { t.kernels.device.Set(1, 1); }),
              ElementsAre("kernel.device: row 1 refers to 1 of 1"));
  EXPECT_THAT(check([](Trace& t) { t.kernels.device.Set(1, kNoIndex); }), ElementsAre());
  EXPECT_THAT(check([](Trace& t) { t.kernels.start[1] = 9; }),
              ElementsAre("kernel.start_ns: row 1 is out of order"));
  EXPECT_THAT(check([](Trace& t) { t.kernels.end[0] = 9; }),
              ElementsAre("kernel.end_ns: row 0 ends before it starts"));
  EXPECT_THAT(check([](Trace& t) { t.kernels.name.pop_back(); }),
              ElementsAre("kernel.name: 1 rows, and the table 2"));
  EXPECT_THAT(check([](Trace& t) { t.kernels.shape.Set(0, 1); }),
              ElementsAre("kernel.#14: row 0 refers to 1 of 1"));
  EXPECT_THAT(check([](Trace& t) { t.kernels.occupancy.push_back(1); }),
              ElementsAre("kernel.#16: 1 rows, and the table 2"));
  EXPECT_THAT(check([](Trace& t) { t.ranges.name[0] = 9; }),
              ElementsAre("range.name: row 0 refers to 9 of 2"));
  EXPECT_THAT(check([](Trace& t) {
                t.ranges.end = {20, 30};
              }),
              ElementsAre("range.end_ns: row 1 is longer than the one before, which starts with it"));
  EXPECT_THAT(check([](Trace& t) { t.cpu_runs.start[1] = 39; }),
              ElementsAre("cpu_run.start_ns: row 1 begins while its thread still runs"));
  EXPECT_THAT(check([](Trace& t) { t.threads[0].process = 1; }),
              ElementsAre("thread.process: row 0 refers to 1 of 1"));
  EXPECT_THAT(check([](Trace& t) { t.devices.emplace_back(); }),
              ElementsAre("device.ordinal: row 1 is not above the one before"));
}

TEST(EventTables, AppendingAPartRenumbersItsIndices) {
  Trace whole = Sound(), part = Sound();
  IndexMaps maps;
  maps.name = {kNoName, whole.names.Intern("of the part")};
  maps.domain = maps.name;
  maps.process = maps.device = maps.shape = maps.thread = {0};
  Trace::ForEachTable([&](auto table) { AppendRows(whole.*table, part.*table, maps); });
  ASSERT_EQ(whole.kernels.size(), 4u);
  EXPECT_EQ(whole.names.View(whole.kernels.name[1]), "gemm");
  EXPECT_EQ(whole.names.View(whole.kernels.name[3]), "of the part");
  SortByStart(whole.kernels);
  EXPECT_EQ(whole.kernels.start, (std::vector<Ns>{10, 10, 20, 20}));
  EXPECT_EQ(whole.names.View(whole.kernels.name[1]), "of the part");
  EXPECT_THROW(AppendRows(whole.kernels, part.kernels, {}), std::out_of_range);
}

TEST(EventTables, TimesMoveAndDevicesAreRenumberedInAllTables) {
  Trace trace = Sound();
  trace.devices[0].ordinal = 3;
  trace.devices.emplace_back().ordinal = 1;
  trace.telemetry.time = {-1};
  trace.page_faults.device = {1};
  EXPECT_EQ(FirstTime(trace), 0);
  SetOrigin(trace, 4);
  EXPECT_EQ(trace.kernels.end, (std::vector<Ns>{11, 21}));
  EXPECT_EQ(trace.telemetry.time, (std::vector<Ns>{-1}));
  SortDevices(trace);
  EXPECT_EQ(trace.devices[1].ordinal, 3);
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(trace.kernels.device[i], 1u);
  EXPECT_EQ(trace.page_faults.device, (std::vector<uint32_t>{0}));
  trace.page_faults.device.clear();
  DropUnusedDevices(trace);
  EXPECT_EQ(trace.devices.size(), 1u);
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(trace.kernels.device[i], 0u);
}

}  // namespace
}  // namespace dladvisor
