// SPDX-License-Identifier: Apache-2.0
// Results of llama.cpp's llama-bench, in each of the forms in which it writes them: the table of its terminal
// ("| llama 7B Q4_0 | 3.56 GiB | 6.74 B | CUDA | 99 | tg128 | 129.21 ± 0.24 |"), CSV, and JSON as an array or
// a record a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/trace/benchmarks.h"

namespace dladvisor::benchmark_log {

class GenerationLinesReader {
 public:
  // Whether the line is part of a table.
  bool Line(std::string_view line);
  std::vector<GenerationTest> Finish() const;

 private:
  void TakeDevice(std::string_view line);
  bool TakeRow(const std::vector<std::string>& cells);

  std::vector<std::string> names_;  // of the columns of the table that is open
  std::string gpu_;                 // of the next table
  bool several_ = false;            // whether it runs on more than one
  std::vector<GenerationTest> tests_;
};

// Whether a text begins as these forms do.
bool LooksLikeGenerationJson(std::string_view head);
bool LooksLikeGenerationCsv(std::string_view head);

// Nothing where the text is cut or has no result.
std::vector<GenerationTest> GenerationsOfJson(std::string_view text);
std::vector<GenerationTest> GenerationsOfCsv(std::string_view text);

}  // namespace dladvisor::benchmark_log
