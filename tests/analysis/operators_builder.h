// SPDX-License-Identifier: Apache-2.0
// Draws operators one after the other, each with one kernel, on a GPU of 100 TFLOP/s FP16 and 1 TB/s.
#pragma once

#include <string_view>
#include <vector>

#include "src/analysis/efficiency/operator_work.h"
#include "src/analysis/hardware/gpu_peak.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor::test {

class OperatorsBuilder : public TraceBuilder {
 public:
  OperatorsBuilder() { trace.operator_arguments.emplace_back(); }

  // What an operator was called with; its range is the last one.
  void Arguments(std::string_view shapes, std::string_view types = "", std::string_view values = "",
                 int64_t sequence = -1, int64_t forward_thread = 0) {
    OperatorArguments arguments;
    if (!shapes.empty()) arguments.shapes = trace.names.Intern(shapes);
    if (!types.empty()) arguments.types = trace.names.Intern(types);
    if (!values.empty()) arguments.values = trace.names.Intern(values);
    trace.ranges.arguments.push_back(static_cast<int64_t>(trace.operator_arguments.size()));
    trace.operator_arguments.push_back(arguments);
    trace.ranges.sequence.push_back(sequence);
    trace.ranges.forward_thread.push_back(forward_thread);
  }

  void Operator(Ns start, Ns end, std::string_view name, std::string_view shapes, std::string_view types = "",
                std::string_view values = "", int64_t sequence = -1, int64_t forward_thread = 0) {
    AddRange(*this, start, end, name);
    Arguments(shapes, types, values, sequence, forward_thread);
  }

  // A call with one kernel that lasts so long.
  void Call(std::string_view name, std::string_view shapes, std::string_view types, Ns duration,
            std::string_view kernel = kGemm, uint32_t thread = 0) {
    AddRange(*this, now_, now_ + 10, name, "cpu_op", thread);
    Arguments(shapes, types);
    Launch(now_ + 1, now_ + 10, now_ + 10 + duration, kernel, thread);
    now_ += 10 + duration;
  }

  static GpuPeaks Peaks() {
    GpuPeaks gpu;
    gpu.model = "drawn";
    gpu.peaks = {{Precision::kFp16, ComputeUnit::kMatrix, 100e12},
                 {Precision::kTf32, ComputeUnit::kMatrix, 50e12},
                 {Precision::kFp32, ComputeUnit::kVector, 10e12}};
    gpu.memory_bytes_per_s = 1e12;
    gpu.launch_floor_ns = 1000;
    return gpu;
  }

 private:
  Ns now_ = 0;
};

inline constexpr const char* kTwoHalves = R"(["c10::Half", "c10::Half"])";

}  // namespace dladvisor::test
