// SPDX-License-Identifier: Apache-2.0
// What lines of any program's output say of the machine that it ran on: its GPUs, and the version of the
// framework. A GPU is taken only where a line states it as one ("GPU 0: Tesla T4", "Device 0: NVIDIA RTX
// A6000, compute capability 8.6", "CUDA:0 (Tesla T4, 15110MiB)", `"gpu_name": "NVIDIA L4"`), or where a cell
// of a table holds nothing else: prose may name GPUs that others have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/trace/trace.h"

namespace dladvisor {

class MachineLines {
 public:
  void Line(std::string_view line);

  // Adds what is known to a trace without devices of its own: GPUs that are numbered, where there are several
  // or their memory is known, else their names, and how many there are is unknown; and the framework, where
  // the trace names none.
  void GiveTo(Trace& trace) const;

 private:
  bool TakeWithMemory(std::string_view line);
  Device& DeviceOf(int64_t ordinal);
  void TakeNames(std::string_view line);

  std::vector<Device>
      devices_;  // that lines number, in order of their numbers; of ranks where lines name these
  std::vector<std::string> names_;  // of GPUs that no line numbers
  std::string framework_;
};

// Of a text that is at hand as a whole.
void GiveMachineOf(std::string_view text, Trace& trace);

}  // namespace dladvisor
