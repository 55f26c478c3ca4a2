// SPDX-License-Identifier: Apache-2.0
// One event of a Chrome trace, as far as any importer wants to know: texts are views into the chunk it was
// parsed from, and what it does not contain keeps its default.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "src/trace/trace.h"

namespace dladvisor::kineto {

inline constexpr int64_t kUnknown = std::numeric_limits<int64_t>::min();

struct Event {
  char phase =
      0;  // 'X' complete, 'i' instant, 'M' metadata, 's' and 'f' flows, 'C' counter, 'B' and 'E' ends
  std::string_view category, name;  // the name without its quotes, and with its escapes
  std::string_view pid, tid;        // tokens: a number, or a quoted text
  std::string_view flow;            // token: the number that both ends of a flow share
  Ns start = kUnknown, duration = kUnknown;

  // Arguments of GPU work.
  int64_t correlation = kUnknown, device = kUnknown, stream = kUnknown;
  std::array<int64_t, 3> grid{}, block{};
  bool has_shape = false;
  int64_t registers = 0, shared_bytes = 0, graph_node = 0, bytes = kUnknown;
  double blocks_per_sm = -1, occupancy = -1, gigabytes_per_second = -1;
  std::string_view sync_kind;
  int64_t record_correlation = 0;
  std::string_view external;                       // token: the number of the operator that it belongs to
  std::string_view copy_kind, from, to, memory;    // "HtoD"; "pageable"; a number where CUPTI has no name
  int64_t graph = 0, original_stream = kUnknown;   // the CUDA stream where `stream` is a lane for display
  int64_t event_handle = 0, requested = kUnknown;  // of an event's record; bytes that a call asks to copy

  // Of operators: raw JSON.
  std::string_view shapes, types, strides, values, stack, module;
  int64_t sequence = kUnknown, forward_thread = 0;

  // Of collectives.
  std::string_view collective, dtype, group, group_ranks;
  int64_t group_size = -1, in_elements = -1, out_elements = -1;
  int64_t collective_sequence = -1;       // within the process group
  std::string_view collective_operation;  // a hash of group and sequence

  // Of XLA's profiler, which writes numbers as text.
  std::string_view kernel_details, memcpy_details, memset_details, hlo_module, hlo_category, step_number,
      annotation;

  // Of ONNX Runtime's nodes: what they compute, and which of its providers does.
  std::string_view node_operator, node_provider;

  double counter = std::numeric_limits<double>::quiet_NaN();

  // Of the allocator.
  int64_t allocator_bytes = kUnknown, address = 0, device_type = kUnknown, allocator_device = 0;
  int64_t allocated = kUnknown, reserved = kUnknown;

  // As rocprof records them.
  Ns exact_start = kUnknown, exact_end = kUnknown;
  std::string_view calling_process, calling_thread, call_arguments;

  std::string_view value;  // of metadata: the name that it gives
};

// Calls visit(event) for each of "[EVENT, ...]", which 64 readable bytes must follow. False where the text is
// no such list; events before the place where that shows have been visited.
class EventParser {
 public:
  EventParser();
  ~EventParser();
  EventParser(const EventParser&) = delete;
  EventParser& operator=(const EventParser&) = delete;

  template <class Visit>
  bool Parse(std::string_view list, size_t capacity, Visit visit) {
    if (!Begin(list, capacity)) return false;
    Event event;
    while (Next(event)) visit(event);
    return IsWhole();
  }

 private:
  bool Begin(std::string_view list, size_t capacity);
  bool Next(Event& event);
  bool IsWhole() const;

  struct State;
  State* state_;
};

// The number whose digits a token is, 18 at most; -1 where it is anything else.
inline int64_t WholeNumber(std::string_view token) {
  if (token.empty() || token.size() > 18) return -1;
  int64_t number = 0;
  for (const char c : token) {
    if (c < '0' || c > '9') return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

// "1414456661474.551" microseconds as nanoseconds, to the digit; kUnknown where the token is not a number.
Ns NanosecondsOf(std::string_view microseconds);

// A JSON string's content, without quotes, with its escapes resolved into `buffer` where it has any.
std::string_view Unescape(std::string_view text, std::string& buffer);

}  // namespace dladvisor::kineto
