// SPDX-License-Identifier: Apache-2.0
// The events of one chunk of a trace as columns. Chunks are read side by side and appended in their order, so
// that the result does not depend on how many threads read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/importers/gpu_rows/gpu_work.h"
#include "src/importers/gpu_rows/row_tables.h"
#include "src/importers/kineto/event.h"
#include "src/importers/kineto/event_category.h"
#include "src/importers/kineto/launches.h"
#include "src/importers/kineto/npu_times.h"
#include "src/importers/kineto/spans.h"
#include "src/trace/trace.h"

namespace dladvisor::kineto {

// The number of a token (7, "7" or "stream 7"); -1 for texts without one, as "Spans".
int64_t IdOf(std::string_view token);

class Batch {
 public:
  Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  void Add(const Event& event);
  // Appends the rows of `chunk`, which is left empty.
  void Append(Batch& chunk);

  // Times are those of the trace, rows in the trace's order, and GPU work has no process yet.
  Trace trace;
  gpu_rows::Tables tables;
  Launches launches;
  // Names that metadata give, by pid and (pid, tid); "" for processes that are none (devices, spans).
  std::map<int64_t, std::string> process_names;
  std::map<std::pair<int64_t, int64_t>, std::string> thread_names;
  std::map<std::string, int64_t> rows_read, rows_skipped, rows_unknown;  // by category
  Ns span_start = kUnknown, span_end = kUnknown;                         // of the profiler's own record
  NpuTimes npu;
  Spans spans;                   // of no use where any event is of a kind that PyTorch's profiler writes
  Spans legacy_gpu;              // of torch.autograd.profiler: operators as two CUDA events enclose them
  bool texts_are_plain = false;  // those of events to come: nothing in them is an escape

 private:
  struct Known {
    std::string name;
    EventCategory category;
    int64_t* rows_read;
  };
  const Known& KnownCategory(std::string_view name);
  NameId Name(std::string_view text);
  NameId Raw(std::string_view text) { return text.empty() ? kNoName : trace.names.Intern(text); }

  bool HasKnownEvents() const;
  void KeepSpan(const Event& e) {
    if (!HasKnownEvents()) spans.Add(e, trace.names);
  }
  void AddMetadata(const Event& e);
  void AddKernel(const Event& e);
  void AddCopy(const Event& e);
  void AddSet(const Event& e);
  // Of a device that is no GPU: a copy or a kernel, by its name.
  void AddDeviceWork(const Event& e);
  void AddApiCall(const Event& e);
  void AddSync(const Event& e);
  void AddOperator(const Event& e, NameId domain);
  void AddPythonFunction(const Event& e);
  void AddOverhead(const Event& e);
  void AddMemory(const Event& e);
  void AddCounter(const Event& e);
  void AddGraphEvent(const Event& e);
  void AddGpuOperation(GpuOperations& ops, const Event& e);
  int64_t Collective(const Event& e);
  uint32_t Thread(const Event& e);

  const NameId operator_, annotation_, module_;  // domains of ranges
  std::string buffer_;                           // scratch
  std::vector<Known> known_;                     // categories met before
  std::vector<NameId> short_names_;              // of kernels, by name
};

}  // namespace dladvisor::kineto
