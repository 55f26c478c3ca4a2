// SPDX-License-Identifier: Apache-2.0
#include "src/trace/check_trace.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <type_traits>

#include "src/trace/event_tables.h"

namespace dladvisor {
namespace {

class Check {
 public:
  explicit Check(const Trace& trace) : trace_(trace) {}

  std::vector<std::string> Run() {
    CheckIndices("thread.process", trace_.threads.size(), trace_.processes.size(), true,
                 [&](size_t i) { return trace_.threads[i].process; });
    for (size_t i = 1; i < trace_.devices.size(); ++i)
      if (trace_.devices[i].ordinal <= trace_.devices[i - 1].ordinal)
        Found("device.ordinal", fmt::format("row {} is not above the one before", i));
    for (const OperatorArguments& arguments : trace_.operator_arguments) {
      for (const NameId name : {arguments.shapes, arguments.types, arguments.strides, arguments.values,
                                arguments.stack, arguments.module})
        if (name >= trace_.names.size()) Found("operator_arguments", "a name is none");
      if (arguments.collective != 0 && arguments.collective >= trace_.collectives.size())
        Found("operator_arguments", "a collective is none");
    }
    for (const Collective& c : trace_.collectives)
      for (const NameId name : {c.name, c.dtype, c.group, c.group_ranks})
        if (name >= trace_.names.size()) Found("collectives", "a name is none");
    Trace::ForEachTable([&](auto table) { CheckTable(trace_.*table); });
    CheckLongestFirst(trace_.ranges);
    CheckRunsOfThreads(trace_.cpu_runs);
    return std::move(found_);
  }

 private:
  void Found(const std::string& where, const std::string& what) { found_.push_back(where + ": " + what); }

  template <class Table>
  void CheckTable(const Table& table) {
    static_assert(ListsAllColumns<Table>(), "a column is missing from ForEachColumn()");
    size_t number = 0;
    VisitColumns(table, [&](const auto& column, const EventColumn& about) {
      const std::string where =
          fmt::format("{}.{}", Table::kTable.name,
                      about.name.empty() ? fmt::format("#{}", number) : std::string(about.name));
      ++number;
      if (column.size() != table.size() && !(about.may_be_empty && column.size() == 0))
        return Found(where, fmt::format("{} rows, and the table {}", column.size(), table.size()));
      CheckColumn(table, column, about, where);
    });
    if constexpr (requires { table.chains; })
      for (const std::vector<NameId>& chain : table.chains)
        for (const NameId name : chain)
          if (name >= trace_.names.size())
            Found(std::string(Table::kTable.name) + ".chains", "a name is none");
  }

  template <class Table, class Values>
  void CheckColumn(const Table& table, const Values& values, const EventColumn& about,
                   const std::string& where) {
    const auto indices = [&](size_t size, bool may_be_unknown) {
      if constexpr (std::is_same_v<Values, std::vector<uint32_t>> || std::is_base_of_v<IntColumn, Values>)
        CheckIndices(where, values.size(), size, may_be_unknown, [&](size_t i) { return values[i]; });
      else
        Found(where, "is of a type that holds no indices");
    };
    switch (about.kind) {
      case ColumnKind::kNumber:
        return;
      case ColumnKind::kStart:
      case ColumnKind::kTime:
        for (size_t i = 1; i < values.size(); ++i)
          if (values[i] < values[i - 1]) return Found(where, fmt::format("row {} is out of order", i));
        return;
      case ColumnKind::kEnd:
        if constexpr (requires { table.end; })
          for (size_t i = 0; i < table.size(); ++i)
            if (table.end[i] < table.start[i])
              return Found(where, fmt::format("row {} ends before it starts", i));
        return;
      case ColumnKind::kName:
      case ColumnKind::kDomain:
        return indices(trace_.names.size(), false);
      case ColumnKind::kProcess:
        return indices(trace_.processes.size(), true);
      case ColumnKind::kThread:
        return indices(trace_.threads.size(), true);
      case ColumnKind::kDevice:
        return indices(trace_.devices.size(), true);
      case ColumnKind::kShape:
        return indices(trace_.kernels.shapes.size(), false);
      case ColumnKind::kArguments:
        return indices(trace_.operator_arguments.size(), false);
      case ColumnKind::kCollective:
        return indices(std::max<size_t>(1, trace_.collectives.size()), false);  // 0 is none
      case ColumnKind::kChain:
        if constexpr (requires { table.chains; }) indices(table.chains.size(), true);
    }
  }

  template <class At>
  void CheckIndices(const std::string& where, size_t rows, size_t size, bool may_be_unknown, At at) {
    for (size_t i = 0; i < rows; ++i) {
      const auto index = static_cast<int64_t>(at(i));
      if (may_be_unknown && index == kNoIndex) continue;
      if (index < 0 || index >= static_cast<int64_t>(size))
        return Found(where, fmt::format("row {} refers to {} of {}", i, index, size));
    }
  }

  void CheckLongestFirst(const Ranges& r) {
    for (size_t i = 1; i < r.size(); ++i)
      if (r.start[i] == r.start[i - 1] && r.end[i] > r.end[i - 1])
        return Found("range.end_ns",
                     fmt::format("row {} is longer than the one before, which starts with it", i));
  }

  void CheckRunsOfThreads(const CpuRuns& runs) {
    std::map<uint32_t, Ns> end;
    for (size_t i = 0; i < runs.size(); ++i) {
      const auto [last, is_first] = end.try_emplace(runs.thread[i], runs.end[i]);
      if (!is_first && runs.start[i] < last->second)
        return Found("cpu_run.start_ns", fmt::format("row {} begins while its thread still runs", i));
      last->second = runs.end[i];
    }
  }

  const Trace& trace_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> CheckTrace(const Trace& trace) { return Check(trace).Run(); }

}  // namespace dladvisor
