// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/load_test.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/text.h"
#include "engine/base/value.h"
#include "src/analysis/family/family.h"

namespace dladvisor {

const RelationOf<LoadTestRow>& LoadTestRelation() {
  using Row = LoadTestRow;
  static const auto relation =
      RelationOf<Row>("load_test",
                      "A server under so many requests at once, as Triton's perf_analyzer measured it. Times "
                      "are of one request.")
          .Key("profile", &Row::profile, kProfileNumber, "Number of the file.")
          .Key("test", &Row::test, Unit::kNone, "Its number, from 0; those of fewer requests at once first.")
          .Column("concurrency", &Row::concurrency, Unit::kCount, "Requests that the client has open.")
          .Column("infer_per_s", &Row::infer_per_s, Unit::kNone, "Its throughput, in inferences a second.")
          .Column("latency_ns", &Row::latency_ns, Unit::kNanoseconds,
                  "As the client sees it: the median, or else what the client stabilises on.")
          .Column("server_ns", &Row::server_ns, Unit::kNanoseconds,
                  "In the server, on average; unknown where not said, as what follows.")
          .Column("queue_ns", &Row::queue_ns, Unit::kNanoseconds, "Of it waiting in the queue.")
          .Column("compute_ns", &Row::compute_ns, Unit::kNanoseconds, "Of it executing the model.")
          .Column("copy_ns", &Row::copy_ns, Unit::kNanoseconds, "Of it making inputs and outputs ready.")
          .Column("queue_share", &Row::queue_share, Unit::kRatio, "queue_ns / server_ns.")
          .Column("per_execution", &Row::per_execution, Unit::kNone,
                  "Samples of an execution, on average: what batching brings together.");
  return relation;
}

std::vector<LoadTestRow> ComputeLoadTests(const Context& context) {
  std::vector<LoadTestRow> rows;
  for (const LoadTest& test : context.trace.program_output.loads) {
    LoadTestRow& row = rows.emplace_back();
    row.test = static_cast<int64_t>(rows.size()) - 1;
    row.concurrency = test.concurrency;
    row.infer_per_s = test.infer_per_s;
    row.latency_ns = test.latency_ns;
    row.server_ns = test.server_ns;
    row.queue_ns = test.queue_ns;
    row.compute_ns = test.compute_ns;
    row.copy_ns = test.copy_ns;
    if (test.server_ns.value_or(0) > 0 && test.queue_ns) row.queue_share = *test.queue_ns / *test.server_ns;
    if (test.executions > 0 && test.inferences > 0)
      row.per_execution = static_cast<double>(test.inferences) / static_cast<double>(test.executions);
  }
  return rows;
}

std::string LoadsText(const std::vector<LoadTest>& tests) {
  if (tests.empty()) return {};
  const LoadTest& fastest = *std::ranges::max_element(tests, {}, &LoadTest::infer_per_s);
  return fmt::format("{} inferences/s with {} request{} at once{}", ThreeDigits(fastest.infer_per_s),
                     fastest.concurrency, fastest.concurrency == 1 ? "" : "s",
                     tests.size() > 1 ? fmt::format(", the most of {} results", tests.size()) : "");
}

const Family& LoadTestFamily() {
  static const Family family = FamilyOf<std::vector<LoadTestRow>>(LoadTestRelation());
  return family;
}

}  // namespace dladvisor
