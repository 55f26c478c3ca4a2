// SPDX-License-Identifier: Apache-2.0
// Large tables, which several threads read in parts: the Trace is as if one thread had read them whole.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "src/importers/importers.h"
#include "src/trace/check_trace.h"
#include "src/trace/event_tables.h"
#include "tests/importers/large_export.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

// A value as it is without the indices of its trace.
template <class Column>
std::string Plain(const Trace& trace, const Column& column, size_t row, ColumnKind kind) {
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(column[0])>, uint32_t>)
    if (kind == ColumnKind::kName || kind == ColumnKind::kDomain)
      return std::string(trace.names.View(column[row]));
  if constexpr (std::is_same_v<Column, IntColumn>)
    if (kind == ColumnKind::kShape) {
      const LaunchShape& shape = trace.kernels.shapes.at(static_cast<size_t>(column[row]));
      return fmt::format("{} {}", fmt::join(shape.grid, ","), fmt::join(shape.block, ","));
    }
  return fmt::format("{}", static_cast<double>(column[row]));
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

  EXPECT_EQ(CheckTrace(parts), std::vector<std::string>());
  EXPECT_EQ(CheckTrace(whole), std::vector<std::string>());
  std::set<std::string> compared;
  Trace::ForEachTable([&]<class Table>(Table Trace::*table) {
    const Table &of_parts = parts.*table, &of_whole = whole.*table;
    Table::ForEachColumn([&](auto member, const EventColumn& about) {
      const auto &read = of_parts.*member, &expected = of_whole.*member;
      ASSERT_EQ(read.size(), expected.size()) << Table::kTable.name << " " << about.name;
      for (size_t i = 0; i < read.size(); ++i)
        ASSERT_EQ(Plain(parts, read, i, about.kind), Plain(whole, expected, i, about.kind))
            << Table::kTable.name << " " << about.name << " " << i;
      if (read.size() > 0) compared.insert(std::string(Table::kTable.name));
    });
  });
  EXPECT_EQ(compared, (std::set<std::string>{"kernel", "api_call", "range"}));

  EXPECT_EQ(parts.health.rows_read, whole.health.rows_read);
  EXPECT_EQ(parts.health.rows_skipped, whole.health.rows_skipped);
  EXPECT_EQ(parts.health.negative_durations, whole.health.negative_durations);
}

}  // namespace
}  // namespace dladvisor
