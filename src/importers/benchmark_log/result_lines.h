// SPDX-License-Identifier: Apache-2.0
// Results of a benchmark of one's own that are printed as pairs of names and values: a line for each
// ("backend=eager batch=8 latency_ms=12.4"), a block of lines for each below its heading ("=== tiled ===",
// "Time: 4.8 ms"), or each by its name ("Naive kernel: 14.2 ms", "2 GPUs: 802 images/s").
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/importers/benchmark_log/result_pairs.h"
#include "src/importers/benchmark_log/result_table.h"

namespace dladvisor::benchmark_log {

class ResultLinesReader {
 public:
  void Line(std::string_view line);
  // Nothing where the text is mostly something else, or its results differ in nothing that may be chosen.
  std::optional<ResultTable> Finish() const;

 private:
  struct Read {
    std::string heading;  // text without values above it
    size_t block = 0;     // of lines below one heading
    PairsOfLine line;
    std::optional<NamedResult> named;
  };
  // What may be a result: its settings may stand in texts, too.
  struct Record {
    std::vector<std::string> texts;
    Pairs pairs;
    size_t lines = 0;
  };

  void Heading(std::string_view line, bool framed);
  std::vector<Record> ByLine() const;
  std::vector<Record> ByBlock() const;
  std::vector<Record> ByName() const;
  std::optional<ResultTable> TableOf(std::vector<Record> records) const;
  bool IsTold(const ResultTable& table) const;

  std::vector<Read> read_;
  std::string heading_;
  bool any_framed_ = false;  // headings between signs, "=== tiled ===": no other line is one then
  bool under_rule_ = false;  // of signs alone, so that what follows is a heading
  size_t block_ = 0, lines_ = 0;
  std::vector<double> speedups_;  // that lines tell
};

}  // namespace dladvisor::benchmark_log
