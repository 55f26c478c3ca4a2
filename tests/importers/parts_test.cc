// Large tables, which several threads read in parts: the Trace is as if one thread had read them whole.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/importers/importer.h"
#include "tests/importers/large_export.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

std::vector<std::string> Names(const Trace& trace, const std::vector<NameId>& ids) {
  std::vector<std::string> names;
  for (const NameId id : ids) names.emplace_back(trace.names.View(id));
  return names;
}

std::vector<int64_t> Values(const IntColumn& column) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < column.size(); ++i) values.push_back(column[i]);
  return values;
}

TEST(Parts, AreAsTheWhole) {
  const test::ScratchDir dir;
  const Trace parts = ReadProfile(test::MakeLargeExport(dir.path() / "parts.sqlite", true));
  const Trace whole = ReadProfile(test::MakeLargeExport(dir.path() / "whole.sqlite", false));
  EXPECT_EQ(whole.kernels.size(), 120'000u - 24 - 3);
  EXPECT_EQ(whole.api_calls.size(), 120'000u - 2);

  ASSERT_EQ(parts.processes.size(), whole.processes.size());
  for (size_t i = 0; i < whole.processes.size(); ++i)
    EXPECT_EQ(parts.processes[i].pid, whole.processes[i].pid);
  ASSERT_EQ(parts.threads.size(), whole.threads.size());
  for (size_t i = 0; i < whole.threads.size(); ++i) {
    EXPECT_EQ(parts.threads[i].tid, whole.threads[i].tid);
    EXPECT_EQ(parts.threads[i].process, whole.threads[i].process);
    EXPECT_EQ(parts.threads[i].name, whole.threads[i].name);
  }
  ASSERT_EQ(parts.devices.size(), whole.devices.size());
  for (size_t i = 0; i < whole.devices.size(); ++i)
    EXPECT_EQ(parts.devices[i].ordinal, whole.devices[i].ordinal);

  EXPECT_EQ(parts.kernels.start, whole.kernels.start);
  EXPECT_EQ(parts.kernels.end, whole.kernels.end);
  EXPECT_EQ(parts.kernels.process, whole.kernels.process);
  EXPECT_EQ(parts.kernels.device, whole.kernels.device);
  EXPECT_EQ(Values(parts.kernels.stream), Values(whole.kernels.stream));
  EXPECT_EQ(Values(parts.kernels.correlation), Values(whole.kernels.correlation));
  EXPECT_EQ(Values(parts.kernels.grid), Values(whole.kernels.grid));
  EXPECT_EQ(Names(parts, parts.kernels.name), Names(whole, whole.kernels.name));
  EXPECT_EQ(Names(parts, parts.kernels.short_name), Names(whole, whole.kernels.short_name));

  EXPECT_EQ(parts.api_calls.start, whole.api_calls.start);
  EXPECT_EQ(parts.api_calls.end, whole.api_calls.end);
  EXPECT_EQ(parts.api_calls.thread, whole.api_calls.thread);
  EXPECT_EQ(Values(parts.api_calls.result), Values(whole.api_calls.result));
  EXPECT_EQ(Names(parts, parts.api_calls.name), Names(whole, whole.api_calls.name));

  EXPECT_EQ(parts.ranges.start, whole.ranges.start);
  EXPECT_EQ(parts.ranges.end, whole.ranges.end);
  EXPECT_EQ(parts.ranges.open, whole.ranges.open);
  EXPECT_EQ(parts.ranges.thread, whole.ranges.thread);
  EXPECT_EQ(Names(parts, parts.ranges.name), Names(whole, whole.ranges.name));
  EXPECT_EQ(Names(parts, parts.ranges.domain), Names(whole, whole.ranges.domain));

  EXPECT_EQ(parts.health.rows_read, whole.health.rows_read);
  EXPECT_EQ(parts.health.rows_skipped, whole.health.rows_skipped);
  EXPECT_EQ(parts.health.negative_durations, whole.health.negative_durations);
  EXPECT_EQ(parts.health.out_of_order, whole.health.out_of_order);
}

}  // namespace
}  // namespace dladvisor
