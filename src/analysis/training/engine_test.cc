// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/engine_test.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/text.h"
#include "engine/base/value.h"
#include "src/analysis/family/family.h"

namespace dladvisor {

const RelationOf<EngineTestRow>& EngineTestRelation() {
  using Row = EngineTestRow;
  static const auto relation =
      RelationOf<Row>("engine_test",
                      "A performance summary of TensorRT's trtexec. Times are of one inference.")
          .Key("profile", &Row::profile, kProfileNumber, "Number of the file.")
          .Key("test", &Row::test, Unit::kNone, "Its number, from 0.")
          .Column("queries_per_s", &Row::queries_per_s, Unit::kNone, "Inferences a second.")
          .Column("batch", &Row::batch, Unit::kCount, "Samples of one; unknown where not said.")
          .Column("samples_per_s", &Row::samples_per_s, Unit::kNone, "queries_per_s · batch.")
          .Column("precision", &Row::precision, Unit::kText,
                  "What the engine may compute in, as FP32+FP16; unknown where not said.")
          .Column("graph", &Row::graph, Unit::kNone,
                  "1 where it runs as a CUDA graph; unknown where not said.")
          .Column("latency_ns", &Row::latency_ns, Unit::kNanoseconds, "Copies and computing, on average.")
          .Column("enqueue_ns", &Row::enqueue_ns, Unit::kNanoseconds, "What launching takes the host.")
          .Column("upload_ns", &Row::upload_ns, Unit::kNanoseconds, "Copying the input to the GPU.")
          .Column("compute_ns", &Row::compute_ns, Unit::kNanoseconds, "Computing on the GPU.")
          .Column("download_ns", &Row::download_ns, Unit::kNanoseconds, "Copying the output back.")
          .Column("compute_share", &Row::compute_share, Unit::kRatio,
                  "Of the time of all, that of computing on the GPU; above 1 where several streams overlap.");
  return relation;
}

std::vector<EngineTestRow> ComputeEngineTests(const Context& context) {
  std::vector<EngineTestRow> rows;
  for (const EngineTest& test : context.trace.program_output.engines) {
    EngineTestRow& row = rows.emplace_back();
    row.test = static_cast<int64_t>(rows.size()) - 1;
    row.queries_per_s = test.queries_per_s;
    if (test.batch > 0) {
      row.batch = test.batch;
      row.samples_per_s = test.queries_per_s * static_cast<double>(test.batch);
    }
    if (!test.precision.empty()) row.precision = test.precision;
    if (test.graph) row.graph = *test.graph;
    row.latency_ns = test.latency_ns;
    row.enqueue_ns = test.enqueue_ns;
    row.upload_ns = test.upload_ns;
    row.compute_ns = test.compute_ns;
    row.download_ns = test.download_ns;
    if (test.wall_ns.value_or(0) > 0 && test.all_compute_ns)
      row.compute_share = *test.all_compute_ns / *test.wall_ns;
  }
  return rows;
}

std::string EnginesText(const std::vector<EngineTest>& tests) {
  if (tests.empty()) return {};
  const EngineTest& fastest = *std::ranges::max_element(tests, {}, &EngineTest::queries_per_s);
  return fmt::format("{} inferences/s of {} on the GPU each{}", ThreeDigits(fastest.queries_per_s),
                     FormatValue(fastest.compute_ns.value_or(0), Unit::kNanoseconds),
                     tests.size() > 1 ? fmt::format(", the fastest of {} results", tests.size()) : "");
}

const Family& EngineTestFamily() {
  static const Family family = FamilyOf<std::vector<EngineTestRow>>(EngineTestRelation());
  return family;
}

}  // namespace dladvisor
