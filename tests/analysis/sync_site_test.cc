// SPDX-License-Identifier: Apache-2.0
// Where the host waits for the GPU, and what the GPU misses meanwhile.
#include "src/analysis/host/sync_site.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

std::vector<SyncSiteRow> SitesOf(const TraceBuilder& b, const AnalysisOptions& options = {}) {
  const Context context = MakeContext(b.trace, options);
  return ComputeSyncSites(context, ComputeTimelines(context));
}

TEST(SyncSite, AWaitOfJaxIsForAnArray) {
  TraceBuilder b;
  b.Launch(5, 10, 100, "a");
  b.Api(20, 110, "np.asarray(jax.Array)", 0);
  const auto rows = SitesOf(b);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].kind, "stream");
}

TEST(SyncSite, CountsTheGpusIdlenessUntilTheNextLaunch) {
  TraceBuilder b;
  b.Range(0, 150, "loss");
  b.Launch(5, 10, 100, "a");
  b.Api(20, 110, "cudaStreamSynchronize_v3020", 0);
  b.Launch(200, 300, 400, "b");
  b.Range(500, 600, "log");
  b.Api(510, 520, "cudaStreamSynchronize_v3020", 0);
  const auto rows = SitesOf(b);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].site, "/loss");
  EXPECT_EQ(rows[0].api, "cudaStreamSynchronize");
  EXPECT_EQ(rows[0].kind, "stream");
  EXPECT_EQ(rows[0].calls, 1);
  EXPECT_EQ(rows[0].total_ns, 90);
  EXPECT_EQ(rows[0].max_ns, 90);
  EXPECT_EQ(rows[0].gpu_idle_ns, 100);  // from 100, when the work ended, to the launch at 200
  EXPECT_DOUBLE_EQ(rows[0].window_share.value(), 90.0 / 600);
  EXPECT_FALSE(rows[0].calls_per_step.has_value());
  EXPECT_EQ(rows[1].site, "/log");
  EXPECT_EQ(rows[1].gpu_idle_ns, 0) << "nothing follows that the GPU could have done";
}

TEST(SyncSite, ACopyOrASetEndsTheWaitsShadowToo) {
  for (const char* call : {"cudaMemcpy_v3020", "cudaMemcpyAsync_v3020", "cudaMemsetAsync_v3020"}) {
    TraceBuilder b;
    b.Launch(5, 10, 100, "a");
    b.Api(20, 110, "cudaDeviceSynchronize_v3020", 0);
    b.Api(150, 155, call, 7);
    if (std::string(call).find("Memset") == std::string::npos)
      b.Copy(180, 190, 64, CopyDirection::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice, 7);
    else
      b.Set(180, 190, 7);
    b.Launch(200, 300, 400, "b");
    const auto rows = SitesOf(b);
    ASSERT_EQ(rows.size(), 1u) << call;
    EXPECT_EQ(rows[0].kind, "device");
    EXPECT_EQ(rows[0].gpu_idle_ns, 50) << call;
  }
}

TEST(SyncSite, AnotherThreadsLaunchDoesNotEndIt) {
  TraceBuilder b;
  const uint32_t worker = b.AddThread(0, 43);
  b.Launch(5, 10, 100, "a");
  b.Api(20, 110, "cudaEventSynchronize_v3020", 0);
  b.Launch(120, 150, 160, "w", worker);
  b.Launch(200, 300, 400, "b");
  const auto rows = SitesOf(b);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].kind, "event");
  EXPECT_EQ(rows[0].site, "(no range)");
  EXPECT_EQ(rows[0].gpu_idle_ns, 50 + 40);
}

TEST(SyncSite, CopiesThatBlockAreWaits) {
  struct Case {
    const char* call;
    CopyDirection direction;
    MemoryKind source, destination;
    int64_t bytes;
    bool waits;
  };
  constexpr auto kToDevice = CopyDirection::kHostToDevice, kToHost = CopyDirection::kDeviceToHost;
  constexpr auto kPageable = MemoryKind::kPageable, kPinned = MemoryKind::kPinned,
                 kDevice = MemoryKind::kDevice;
  const Case cases[] = {
      {"cudaMemcpy", kToHost, kDevice, kPinned, 4, true},
      {"cudaMemcpy", kToDevice, kPageable, kDevice, 65536, false},
      {"cudaMemcpy", kToDevice, kPageable, kDevice, 65537, true},
      {"cudaMemcpy", CopyDirection::kDeviceToDevice, kDevice, kDevice, 1 << 20, false},
      {"cudaMemcpyAsync", kToHost, kDevice, kPinned, 1 << 20, false},
      {"cudaMemcpyAsync", kToHost, kDevice, kPageable, 4, true},  // tensor.item()
      {"cudaMemcpyAsync", kToDevice, kPageable, kDevice, 1 << 20, false},
  };
  for (const Case& c : cases) {
    TraceBuilder b;
    b.Launch(5, 10, 100, "a");
    b.Api(20, 130, c.call, 7);
    b.Copy(110, 120, c.bytes, c.direction, c.source, c.destination, 7);
    const auto rows = SitesOf(b);
    ASSERT_EQ(rows.size(), c.waits ? 1u : 0u) << c.call << " " << c.bytes;
    if (c.waits) {
      EXPECT_EQ(rows[0].kind, "copy");
      EXPECT_EQ(rows[0].total_ns, 110);
    }
  }
}

TEST(SyncSite, OnlyTheWindowAndOnlyTheRank) {
  TraceBuilder b;
  const uint32_t other = b.AddProcess(43), device = b.AddDevice(1);
  for (int step = 0; step < 3; ++step) {
    const Ns t = 1000 * step;
    b.Range(t, t + 900, "step " + std::to_string(step));
    b.Launch(t + 10, t + 20, t + 800, "k");
    b.Api(t + 30, t + 810, "cudaDeviceSynchronize", 0);
    b.Api(t + 820, t + 825, "cudaDeviceSynchronize", 0);
  }
  b.Launch(5, 10, 2800, "k", 1, other, device);
  AnalysisOptions options;
  options.steps = {1, 2};  // from 800 to 2800
  const auto rows = SitesOf(b, options);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].rank, 0);
  EXPECT_EQ(rows[0].site, "/step #");
  EXPECT_EQ(rows[0].calls, 4) << "at 820, 1030, 1820 and 2030";
  EXPECT_DOUBLE_EQ(rows[0].calls_per_step.value(), 2);
}

}  // namespace
}  // namespace dladvisor
