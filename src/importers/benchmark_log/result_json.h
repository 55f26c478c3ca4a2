// SPDX-License-Identifier: Apache-2.0
// Results of a benchmark of one's own as JSON: an array of records ("[{"batch_size": 8, "latency_ms": 9.1},
// ..."), anywhere in the document, a record a line, records below the values of their settings ("{"fp16":
// {"8": {...}}}"), Google Benchmark's and pytest-benchmark's.
#pragma once

#include <optional>
#include <string_view>

#include "src/trace/benchmarks.h"

namespace dladvisor::benchmark_log {

// Whether a text may be such a document, and neither a trace nor a record a line.
bool LooksLikeResultJson(std::string_view head);

// An object that stands in a line of its own.
bool IsRecordLine(std::string_view line);

// Of a document, or of records a line; nothing where it is none.
std::optional<ResultTable> ResultsOfJson(std::string_view text);

}  // namespace dladvisor::benchmark_log
