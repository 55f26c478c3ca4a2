// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/host/set_kind.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

TEST(SetKind, OnlyHostMemoryBlocks) {
  TraceBuilder b;
  const auto set = [&](Ns start, MemoryKind memory, const char* call) {
    b.Api(start, start + 5, call, start + 1);
    b.Set(start + 6, start + 8, start + 1);
    b.trace.sets.memory.back() = memory;
  };
  set(0, MemoryKind::kDevice, "cudaMemset_v3020");
  set(10, MemoryKind::kManaged, "cudaMemset_v3020");
  set(20, MemoryKind::kPinned, "cudaMemsetAsync_v3020");
  b.Set(30, 40, 0);
  const auto rows = ComputeSetKinds(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 4u);
  std::map<std::string, std::string> blocking;
  for (const SetKindRow& row : rows) blocking[row.memory + "/" + row.blocking] = std::to_string(row.call_ns);
  EXPECT_TRUE(blocking.contains("device/async"));
  EXPECT_EQ(blocking["managed/blocking"], "5");
  EXPECT_TRUE(blocking.contains("pinned/async"));
  EXPECT_TRUE(blocking.contains("device/unknown"));
}

}  // namespace
}  // namespace dladvisor
