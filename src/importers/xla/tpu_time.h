// SPDX-License-Identifier: Apache-2.0
// What a TPU did, of traces of XLA's profiler that are not read for it: enough to say where the time is, so
// that whoever gives such a trace knows what to look at in the tool that reads it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "src/importers/kineto/event.h"
#include "src/trace/events.h"

namespace dladvisor::xla {

class TpuTime {
 public:
  // Processes and lines are named before their events. The line of single ops counts; that of modules holds
  // the same time once more.
  void Add(const kineto::Event& event);

  // ": the ops of TPU 0 take 67.2 of the 67.2 ms from its first to its last, 63 % of it convolution fusion,
  // ..."; "" where none was recorded. Of the TPU with the lowest number.
  std::string Text() const;
  // ", beginning with ..."; or "".
  std::string Begin() const;

 private:
  struct Device {
    Ns first = 0, last = 0, busy = 0;
    bool any = false;
    std::map<std::string, Ns, std::less<>> by_category, custom_calls;  // these by name, without their numbers
  };
  std::map<int64_t, int64_t> ordinals_;  // of TPUs, by process
  std::set<std::pair<int64_t, int64_t>> lines_;
  std::map<int64_t, Device> devices_;  // by ordinal
};

}  // namespace dladvisor::xla
