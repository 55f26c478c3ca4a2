// SPDX-License-Identifier: Apache-2.0
// What a profiler can be asked to record. A fact is declared with the capabilities that it needs
// (Column::capture); the words of each profiler (capture_words.h) say how it is asked
// for them.
#pragma once

namespace dladvisor::capability {

inline constexpr char kGpuWork[] = "gpu-work";  // kernels, copies and sets, and the calls that launch them
inline constexpr char kRanges[] = "ranges";     // the program's annotations and the framework's operators
inline constexpr char kOsCalls[] = "os-calls";
inline constexpr char kMessageCalls[] = "message-calls";  // of MPI and the like, by the host
inline constexpr char kPythonCalls[] = "python-calls";    // of its functions, by name
inline constexpr char kCpuStacks[] = "cpu-stacks";        // sampled, or of Python
inline constexpr char kPythonStacks[] = "python-calls cpu-stacks";
inline constexpr char kRangesOfGpuWork[] = "gpu-work ranges";
inline constexpr char kStacksOfOsCalls[] = "os-calls cpu-stacks";
inline constexpr char kThreadStates[] = "thread-states";  // when each thread is on a CPU, and on which
inline constexpr char kDeviceMemory[] = "device-memory";  // allocations
inline constexpr char kOperatorShapes[] = "operator-shapes";
inline constexpr char kCpuPageFaults[] = "cpu-page-faults";
inline constexpr char kGpuPageFaults[] = "gpu-page-faults";
inline constexpr char kGpuMetrics[] = "gpu-metrics";  // sampled hardware counters
inline constexpr char kTelemetry[] = "telemetry";     // utilisation, memory, power, clocks over time
inline constexpr char kMoreTime[] = "more-time";      // a capture that lasts until GPU work runs

}  // namespace dladvisor::capability
