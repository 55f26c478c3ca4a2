// SPDX-License-Identifier: Apache-2.0
// What programs print or save that send requests over HTTP and know nothing of what answers them: wrk, hey,
// ApacheBench, k6, Locust, Vegeta.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/trace/benchmarks.h"

namespace dladvisor::benchmark_log {

class HttpLoadLinesReader {
 public:
  // Whether the line is one of such a report.
  bool Line(std::string_view line);
  // Reports with the requests of a second and the time of one.
  std::vector<RequestBenchmark> Finish() const;

 private:
  enum class Tool { kNone, kWrk, kHey, kApache, kK6, kLocust, kVegeta, kLocustTable };
  void Begin(Tool tool);
  bool OfWrk(std::string_view line);
  bool OfHey(std::string_view line);
  bool OfApache(std::string_view line);
  bool OfK6(std::string_view line);
  bool OfLocust(std::string_view line);
  bool OfLocustTable(std::string_view line);
  // A row of all requests together.
  void TakeAll(const std::vector<std::string>& cells);
  void NameWaits();
  void TakeKind(const std::vector<std::string>& cells);
  bool OfVegeta(std::string_view line);

  Tool tool_ = Tool::kNone;
  bool summary_ = false;                       // hey's heading was the line before
  std::vector<std::string> columns_;           // of Locust's file
  double since_ = 0;                           // of its history, the first second with users
  std::vector<RequestBenchmark::Kind> kinds_;  // of the requests in it
  std::vector<RequestBenchmark> reports_;
};

}  // namespace dladvisor::benchmark_log
