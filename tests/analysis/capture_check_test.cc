// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/summary/capture_check.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;
using testing::HasSubstr;

CaptureCheckRow RowOf(const TraceBuilder& b, const std::string& check) {
  const auto rows = ComputeCaptureChecks(test::ContextOf(b.trace));
  const auto found = std::ranges::find(rows, check, &CaptureCheckRow::check);
  return found == rows.end() ? CaptureCheckRow() : *found;
}

void AddSync(TraceBuilder& b, SyncKind kind, Ns start, Ns end, int64_t record) {
  Syncs& s = b.trace.syncs;
  s.start.push_back(start);
  s.end.push_back(end);
  s.process.push_back(0);
  s.device.push_back(0);
  s.stream.push_back(b.trace.kernels.size() == 0 ? 0 : b.trace.kernels.stream[0]);
  s.correlation.push_back(0);
  s.kind.push_back(kind);
  s.record_correlation.push_back(record);
}

TEST(CaptureCheck, NothingToLookAtIsNoRow) {
  EXPECT_TRUE(ComputeCaptureChecks(test::ContextOf(TraceBuilder().trace)).empty());
}

TEST(CaptureCheck, KernelsThatBeginBeforeTheirLaunch) {
  TraceBuilder b;
  b.Launch(100, 95, 120, "early");
  b.Launch(200, 170, 190, "earlier");
  b.Launch(300, 300, 320, "right");
  const CaptureCheckRow row = RowOf(b, "kernel-before-launch");
  EXPECT_EQ(row.checked, 3);
  EXPECT_EQ(row.violations, 2);
  EXPECT_EQ(row.worst_ns, 30);
  EXPECT_THAT(row.example.value(), HasSubstr("earlier"));
}

TEST(CaptureCheck, WaitsForEvents) {
  TraceBuilder b;
  b.Api(100, 110, "cudaEventRecord", 7);
  b.Api(500, 510, "cudaEventRecordWithFlags", 8);
  AddSync(b, SyncKind::kStreamWaitEvent, 200, 201, 7);
  AddSync(b, SyncKind::kStreamWaitEvent, 400, 401, 8);   // recorded later
  AddSync(b, SyncKind::kStreamWaitEvent, 410, 411, 99);  // by no call that is there
  AddSync(b, SyncKind::kEvent, 420, 421, -1);
  const CaptureCheckRow named = RowOf(b, "wait-without-record");
  EXPECT_EQ(named.checked, 4);
  EXPECT_EQ(named.violations, 1);
  EXPECT_THAT(named.example.value(), HasSubstr("event wait"));
  const CaptureCheckRow past = RowOf(b, "wait-before-record");
  EXPECT_EQ(past.checked, 3);
  EXPECT_EQ(past.violations, 2);
  EXPECT_EQ(past.worst_ns, 100);
}

TEST(CaptureCheck, RecordsThatNoProfilerNamesAreNotMissing) {
  TraceBuilder b;
  AddSync(b, SyncKind::kStreamWaitEvent, 200, 201, 0);
  EXPECT_EQ(RowOf(b, "wait-without-record").checked, 0);
}

TEST(CaptureCheck, WaitsForStreams) {
  TraceBuilder b;
  b.Launch(100, 110, 300, "long");
  b.Launch(105, 300, 320, "next");
  AddSync(b, SyncKind::kStream, 200, 330, 0);  // as waits should be
  AddSync(b, SyncKind::kStream, 210, 280, 0);  // ends too early
  AddSync(b, SyncKind::kStream, 400, 410, 0);
  const CaptureCheckRow begin = RowOf(b, "stream-wait-overlaps-kernel");
  EXPECT_EQ(begin.checked, 3);
  EXPECT_EQ(begin.violations, 2);
  EXPECT_EQ(begin.worst_ns, 100);
  const CaptureCheckRow end = RowOf(b, "stream-wait-ends-before-kernel");
  EXPECT_EQ(end.violations, 1);
  EXPECT_EQ(end.worst_ns, 20);
}

TEST(CaptureCheck, CollectivesWithoutMetadataAndSharedNumbers) {
  TraceBuilder b;
  Trace& trace = b.trace;
  trace.collectives = {{}, {}};
  Collective& whole = trace.collectives[1];
  whole.name = whole.dtype = trace.names.Intern("x");
  whole.in_elements = whole.out_elements = whole.group_size = 2;
  trace.operator_arguments.resize(2);
  trace.operator_arguments[1].collective = 1;
  const std::string backward = "autograd::engine::evaluate_function: ";
  b.Range(0, 10, "record_param_comms");
  b.Range(20, 30, "record_param_comms");
  b.Range(40, 50, backward + "MulBackward0");
  b.Range(60, 70, backward + "AddBackward0");
  b.Range(80, 90, backward + "MulBackward0");
  b.Range(100, 110, "aten::mul");
  for (const int64_t arguments : {0, 1, 0, 0, 0, 0}) trace.ranges.arguments.push_back(arguments);
  for (const int64_t sequence : {-1, -1, 5, 5, 6, 6}) trace.ranges.sequence.push_back(sequence);
  for (int i = 0; i < 6; ++i) trace.ranges.forward_thread.push_back(0);
  const CaptureCheckRow described = RowOf(b, "collective-without-metadata");
  EXPECT_EQ(described.checked, 2);
  EXPECT_EQ(described.violations, 1);
  const CaptureCheckRow shared = RowOf(b, "backward-sequence-shared");
  EXPECT_EQ(shared.checked, 2);
  EXPECT_EQ(shared.violations, 1);
  EXPECT_THAT(shared.example.value(), HasSubstr("number 5"));
}

}  // namespace
}  // namespace dladvisor
