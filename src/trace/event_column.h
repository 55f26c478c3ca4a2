// SPDX-License-Identifier: Apache-2.0
// What is declared of a column of an event table, once, beside the table: what its values are, whether it may
// be missing, and how SQL shows it. Appending, sorting, checking (event_tables.h, check_trace.h) and the
// relations (src/events) all follow from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/base/value.h"

namespace dladvisor {

// What the values are. Times are moved with the clock, and indices are renumbered when a part of a trace is
// appended to the whole; kNoIndex is an unknown process, thread, device or call chain.
enum class ColumnKind : uint8_t {
  kNumber,  // also enumerations and flags
  kStart,   // of an interval; the first column of its table
  kEnd,     // of the same interval
  kTime,    // of an instant; the first column of its table
  kName,    // NameId
  kDomain,  // NameId; while a part is read, the importer's number of it
  kProcess,
  kThread,
  kDevice,
  kShape,       // into Kernels::shapes
  kArguments,   // into Trace::operator_arguments
  kCollective,  // into Trace::collectives
  kChain,       // into `chains` of the table
};

struct EventColumn {
  ColumnKind kind = ColumnKind::kNumber;
  std::string_view name, doc;  // for SQL; without a name it is not shown
  Unit unit = Unit::kNone;
  bool may_be_empty = false;         // where the source has none
  bool unknown_if_negative = false;  // shown as NULL

  constexpr EventColumn MayBeEmpty() const {
    EventColumn column = *this;
    column.may_be_empty = true;
    return column;
  }
  constexpr EventColumn UnknownIfNegative() const {
    EventColumn column = *this;
    column.unknown_if_negative = true;
    return column;
  }
};

// Also of enumerations, which SQL shows as text.
constexpr EventColumn Shown(std::string_view name, Unit unit, std::string_view doc) {
  return {ColumnKind::kNumber, name, doc, unit};
}
constexpr EventColumn Hidden(ColumnKind kind = ColumnKind::kNumber) { return {kind, {}, {}}; }
constexpr EventColumn StartColumn() {
  return {ColumnKind::kStart, "start_ns", "Start on the profile's clock.", Unit::kNanoseconds};
}
constexpr EventColumn EndColumn() {  // SQL shows the duration, too
  return {ColumnKind::kEnd, "end_ns", "End on the profile's clock.", Unit::kNanoseconds};
}
constexpr EventColumn TimeColumn(std::string_view doc = "Time on the profile's clock.") {
  return {ColumnKind::kTime, "start_ns", doc, Unit::kNanoseconds};
}
constexpr EventColumn NameColumn(std::string_view name, std::string_view doc) {
  return {ColumnKind::kName, name, doc, Unit::kText};
}
constexpr EventColumn DomainColumn(std::string_view name, std::string_view doc) {
  return {ColumnKind::kDomain, name, doc, Unit::kText};
}
constexpr EventColumn ProcessColumn(std::string_view doc = "Process.") {
  return {ColumnKind::kProcess, "pid", doc};
}
// In a table without processes SQL shows that of the thread, too.
constexpr EventColumn ThreadColumn(std::string_view doc = "Thread.") {
  return {ColumnKind::kThread, "tid", doc};
}
constexpr EventColumn DeviceColumn(std::string_view doc = "CUDA device ordinal.") {
  return {ColumnKind::kDevice, "device", doc};
}
// SQL shows shapes and types.
constexpr EventColumn ArgumentsColumn() { return {ColumnKind::kArguments, "shapes", {}, Unit::kText}; }
// SQL shows the innermost function of samples as a column of its own.
constexpr EventColumn ChainColumn(std::string_view doc) {
  return {ColumnKind::kChain, "callers", doc, Unit::kText};
}

// A table of events as SQL shows it; without a doc it is not shown.
struct EventTable {
  std::string_view name, doc;
};

}  // namespace dladvisor
