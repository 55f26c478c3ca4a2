// SPDX-License-Identifier: Apache-2.0
#include "src/trace/trace.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <type_traits>
#include <utility>

#include "src/trace/event_tables.h"

namespace dladvisor {
namespace {

// Calls visit(column, EventColumn) for the columns of all tables.
template <class SomeTrace, class Visit>
void VisitAll(SomeTrace& trace, Visit visit) {
  Trace::ForEachTable([&](auto table) { VisitColumns(trace.*table, visit); });
}

bool IsTime(const EventColumn& about) {
  return about.kind == ColumnKind::kStart || about.kind == ColumnKind::kEnd ||
         about.kind == ColumnKind::kTime;
}

// Keeps the devices `order`, in that order, and renumbers those of the events, which are among them.
void ArrangeDevices(Trace& trace, const std::vector<uint32_t>& order) {
  if (order.size() == trace.devices.size() && std::is_sorted(order.begin(), order.end())) return;
  std::vector<Device> arranged;
  std::vector<uint32_t> place(trace.devices.size(), kNoIndex);
  for (const uint32_t i : order) {
    place[i] = static_cast<uint32_t>(arranged.size());
    arranged.push_back(std::move(trace.devices[i]));
  }
  trace.devices = std::move(arranged);
  VisitAll(trace, [&]<class Column>(Column& column, const EventColumn& about) {
    if constexpr (HoldsIndices<Column>)
      if (about.kind == ColumnKind::kDevice)
        for (size_t i = 0; i < column.size(); ++i)
          if (column[i] != kNoIndex) SetIndex(column, i, place[column[i]]);
  });
}

}  // namespace

Trace::Trace() = default;
Trace::Trace(Trace&& other) noexcept = default;
Trace& Trace::operator=(Trace&& other) noexcept = default;
Trace::~Trace() = default;

const std::vector<uint32_t>* IndexMaps::Of(ColumnKind kind) const {
  switch (kind) {
    case ColumnKind::kNumber:
    case ColumnKind::kStart:
    case ColumnKind::kEnd:
    case ColumnKind::kTime:
      return nullptr;
    case ColumnKind::kName:
      return &name;
    case ColumnKind::kDomain:
      return &domain;
    case ColumnKind::kProcess:
      return &process;
    case ColumnKind::kThread:
      return &thread;
    case ColumnKind::kDevice:
      return &device;
    case ColumnKind::kShape:
      return &shape;
    case ColumnKind::kArguments:
      return &arguments;
    case ColumnKind::kCollective:
      return &collective;
    case ColumnKind::kChain:
      return &chain;
  }
  return nullptr;
}

void SetOrigin(Trace& trace, Ns origin) {
  VisitAll(trace, [&]<class Column>(Column& column, const EventColumn& about) {
    if constexpr (std::is_same_v<Column, std::vector<Ns>>)
      if (IsTime(about))
        for (Ns& time : column)
          if (time >= 0 || !about.unknown_if_negative) time -= origin;
  });
}

std::optional<Ns> FirstTime(const Trace& trace) {
  std::optional<Ns> first;
  VisitAll(trace, [&]<class Column>(const Column& column, const EventColumn& about) {
    if constexpr (std::is_same_v<Column, std::vector<Ns>>)
      if (about.kind == ColumnKind::kStart || about.kind == ColumnKind::kTime)
        for (const Ns time : column)
          if (time >= 0 || !about.unknown_if_negative) first = std::min(first.value_or(time), time);
  });
  return first;
}

namespace {

// Far above what is built, and far below what products of two overflow with.
void ForgetImpossibleFigures(Device& device) {
  constexpr int64_t kMostMultiprocessors = 1 << 16, kMostPerSecond = int64_t{1} << 50,
                    kMostBytes = int64_t{1} << 50, kMostVersion = 1 << 16;
  const auto bound = [](std::optional<int64_t>& figure, int64_t least, int64_t most) {
    if (figure && (*figure < least || *figure > most)) figure.reset();
  };
  bound(device.sm_count, 1, kMostMultiprocessors);
  bound(device.memory_bytes, 1, kMostBytes);
  bound(device.memory_bandwidth, 1, kMostPerSecond);
  bound(device.l2_bytes, 1, kMostBytes);
  bound(device.clock_hz, 1, kMostPerSecond);
  bound(device.compute_major, 0, kMostVersion);
  bound(device.compute_minor, 0, kMostVersion);
  bound(device.shared_bytes_per_sm, 1, kMostBytes);
  bound(device.threads_per_sm, 1, kMostMultiprocessors);
  bound(device.blocks_per_sm, 1, kMostMultiprocessors);
  bound(device.registers_per_sm, 1, kMostBytes);
}

}  // namespace

void DropUnusedDevices(Trace& trace) {
  std::set<uint32_t> used;
  VisitAll(trace, [&]<class Column>(const Column& column, const EventColumn& about) {
    if constexpr (HoldsIndices<Column>)
      if (about.kind == ColumnKind::kDevice)
        for (size_t i = 0; i < column.size(); ++i) used.insert(column[i]);
  });
  used.erase(kNoIndex);
  ArrangeDevices(trace, {used.begin(), used.end()});
}

void SortDevices(Trace& trace) {
  for (Device& device : trace.devices) ForgetImpossibleFigures(device);
  std::vector<uint32_t> order(trace.devices.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto below = [&](uint32_t a, uint32_t b) {
    return trace.devices[a].ordinal < trace.devices[b].ordinal;
  };
  std::stable_sort(order.begin(), order.end(), below);
  ArrangeDevices(trace, order);
}

}  // namespace dladvisor
