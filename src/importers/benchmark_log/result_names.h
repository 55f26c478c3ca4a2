// SPDX-License-Identifier: Apache-2.0
// Tables of benchmarks whose names hold the settings: Google Benchmark's, pytest-benchmark's, hyperfine's,
// nvbench's.
#pragma once

#include "src/importers/benchmark_log/result_columns.h"

namespace dladvisor::benchmark_log {

// "BM_Softmax/naive/1024", "test_attention[flash]": names that hold the settings get a column for each part.
void SplitNames(RawResults& table);
// Of pytest-benchmark's statistics the mean, with its unit. Whether the table is of these.
bool KeepMeanOfPytest(RawResults& table);
// The same of hyperfine's, whose commands are what is compared.
bool KeepMeanOfHyperfine(RawResults& table);
// Of nvbench's columns the GPU's time beside its axes.
void KeepTimeOfNvbench(RawResults& table);
void EraseColumn(RawResults& table, size_t column);

}  // namespace dladvisor::benchmark_log
