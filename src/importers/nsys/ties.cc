// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nsys/ties.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "src/trace/event_tables.h"
#include "src/trace/parallel.h"

namespace dladvisor::nsys {
namespace {

// Compares values that are indices by what they stand for: the numbers depend on the order of rows.
class Comparison {
 public:
  explicit Comparison(const Trace& trace) : trace_(trace) {}

  template <class Table>
  bool Before(const Table& table, size_t a, size_t b) const {
    std::partial_ordering order = std::partial_ordering::equivalent;
    VisitColumns(table, [&]<class Column>(const Column& column, const EventColumn& about) {
      if (order != 0 || column.size() == 0) return;
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(column[0])>, uint32_t>) {
        if (about.kind == ColumnKind::kChain) {
          if constexpr (requires { table.chains; }) order = OfChains(table.chains, column[a], column[b]);
        } else {
          order = OfIndices(about.kind, column[a], column[b]);
        }
      } else if (about.kind == ColumnKind::kShape) {
        const auto& shapes = trace_.kernels.shapes;
        order = shapes[static_cast<size_t>(column[a])] <=> shapes[static_cast<size_t>(column[b])];
      } else if constexpr (std::is_same_v<Table,
                                          Ranges>) {  // the longest first, since it encloses the others
        order =
            about.kind == ColumnKind::kEnd ? OfValues(column[b], column[a]) : OfValues(column[a], column[b]);
      } else {
        order = OfValues(column[a], column[b]);
      }
    });
    return order < 0;
  }

 private:
  template <class Value>
  static std::partial_ordering OfValues(const Value& a, const Value& b) {
    return a <=> b;
  }

  std::partial_ordering OfIndices(ColumnKind kind, uint32_t a, uint32_t b) const {
    if (a == b) return std::partial_ordering::equivalent;
    switch (kind) {
      case ColumnKind::kName:
      case ColumnKind::kDomain:
        return trace_.names.View(a) <=> trace_.names.View(b);
      case ColumnKind::kProcess:
        return Pid(a) <=> Pid(b);
      case ColumnKind::kThread:
        return Tid(a) <=> Tid(b);
      case ColumnKind::kDevice:
        return Ordinal(a) <=> Ordinal(b);
      default:
        return a <=> b;
    }
  }

  std::partial_ordering OfChains(const CallChains& chains, uint32_t a, uint32_t b) const {
    if (a == b) return std::partial_ordering::equivalent;
    if (a == kNoIndex || b == kNoIndex) return a <=> b;
    return std::lexicographical_compare_three_way(
        chains[a].begin(), chains[a].end(), chains[b].begin(), chains[b].end(),
        [&](NameId x, NameId y) { return trace_.names.View(x) <=> trace_.names.View(y); });
  }

  int64_t Pid(uint32_t process) const { return process == kNoIndex ? -1 : trace_.processes[process].pid; }
  std::tuple<int64_t, int64_t> Tid(uint32_t thread) const {
    if (thread == kNoIndex) return {-1, -1};
    return {Pid(trace_.threads[thread].process), trace_.threads[thread].tid};
  }
  int64_t Ordinal(uint32_t device) const { return device == kNoIndex ? -1 : trace_.devices[device].ordinal; }

  const Trace& trace_;
};

// Puts row order[i] at first + i.
template <class Table>
void Permute(Table& table, size_t first, const std::vector<size_t>& order) {
  VisitColumns(table, [&]<class Column>(Column& column, const EventColumn&) {
    if (column.size() == 0) return;
    std::vector<std::remove_cvref_t<decltype(column[0])>> values;
    for (const size_t row : order) values.push_back(column[row]);
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_base_of_v<IntColumn, Column>)
        column.Set(first + i, values[i]);
      else
        column[first + i] = values[i];
    }
  });
}

}  // namespace

void OrderRowsThatStartTogether(Trace& trace) {
  const Comparison comparison(trace);
  std::vector<std::function<void()>> tables;  // what orders each: none reads the rows of another
  Trace::ForEachTable([&]<class Table>(Table Trace::*member) {
    if constexpr (!std::is_same_v<Table, Streams>)
      tables.emplace_back([&comparison, &table = trace.*member] {
        std::vector<size_t> order;
        const std::vector<Ns>& times = RowTimes(table);
        for (size_t first = 0, last = 0; first < times.size(); first = last) {
          last = first + 1;
          while (last < times.size() && times[last] == times[first]) ++last;
          if (last == first + 1) continue;
          order.clear();
          for (size_t i = first; i < last; ++i) order.push_back(i);
          const auto before = [&](size_t a, size_t b) { return comparison.Before(table, a, b); };
          if (std::is_sorted(order.begin(), order.end(), before)) continue;
          std::stable_sort(order.begin(), order.end(), before);
          Permute(table, first, order);
        }
      });
  });
  ParallelFor(tables.size(), [&](size_t i) { tables[i](); });
}

}  // namespace dladvisor::nsys
