// SPDX-License-Identifier: Apache-2.0
// The events of a trace of XLA's profiler as rows of a Trace.
//
// GPU work is what stands on a GPU's streams; the lines that are derived from them count for nothing. On the
// host, Python functions begin with "$" ("$train.py:23 step"); what has a correlation id is a call of CUDA,
// named by the kernel that it launches or captures; all else is a range of the runtime or of the program. A
// step that the program marks (jax.profiler.StepTraceAnnotation, tf.profiler.experimental.Trace) has its
// number beside its name, and both are the name of its range here: "train step 5".
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/importers/kineto/batch.h"
#include "src/importers/kineto/event.h"
#include "src/importers/xla/annotated_operators.h"
#include "src/importers/xla/process_name.h"
#include "src/trace/trace.h"

namespace dladvisor::xla {

class Events {
 public:
  Events();
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  // Processes and threads are named before the events of theirs, as XLA writes them.
  void Add(const kineto::Event& event);
  // Ends the reading: rows in order, times from the first event on.
  Trace Finish();

  // Whether events stand before the name of their process or thread, which are left out.
  bool names_late() const { return names_late_; }
  // Whether processes of several hosts have events, or the same GPU of several.
  bool has_hosts() const { return has_hosts_; }
  bool has_tpu() const { return has_tpu_; }
  int64_t count() const { return count_; }

 private:
  using Event = kineto::Event;
  void AddName(const Event& e);
  void AddGpuWork(const Event& e, int64_t device, int64_t stream);
  void AddOfHost(const Event& e);
  void AddFrame(const Event& e, std::string_view name);
  void AddCall(const Event& e, std::string_view name);
  void AddRange(const Event& e, std::string_view name, NameId domain);
  NameId Name(std::string_view text) { return trace_.names.Intern(text); }
  uint32_t Thread(const Event& e);
  void DropInnerWaits();
  void EndWaitsWithWork();
  void MarkFramesOfJax();

  Trace trace_;
  gpu_rows::Tables tables_;
  std::map<int64_t, ProcessKind> processes_;
  std::map<std::pair<int64_t, int64_t>, std::string> threads_;
  const NameId domain_, annotation_;
  std::vector<OperatorOfCall> operators_;                // of kernels that say which
  std::string name_;                                     // scratch
  std::map<std::string, bool, std::less<>> signs_;       // of frameworks, that were seen
  std::set<int64_t> unnamed_;                            // processes with events so far
  std::set<std::pair<int64_t, int64_t>> unnamed_lines_;  // threads of GPUs with events so far
  std::map<int64_t, int64_t> pids_;                      // with events: of a GPU, and of the host (-1)
  bool has_tpu_ = false, names_late_ = false, has_hosts_ = false;
  int64_t count_ = 0;
};

}  // namespace dladvisor::xla
