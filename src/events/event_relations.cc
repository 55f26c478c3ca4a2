// SPDX-License-Identifier: Apache-2.0
#include "src/events/event_relations.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "src/trace/event_tables.h"

namespace dladvisor {
namespace {

using Getter = std::function<CellView(size_t row)>;
constexpr size_t kMostFrames = 64;

std::string_view TextOf(CopyDirection d) { return CopyDirectionName(d); }
std::string_view TextOf(MemoryKind k) { return MemoryKindName(k); }
std::string_view TextOf(SyncKind k) { return SyncKindName(k); }
std::string_view TextOf(RangeKind k) { return RangeKindName(k); }
std::string_view TextOf(TelemetryMetric m) { return TelemetryMetricName(m); }

CellView CellOf(double value) { return CellView::Of(value); }
CellView CellOf(int64_t value) { return CellView::Of(value); }
template <class Kind>
requires std::is_enum_v<Kind> CellView CellOf(Kind value) { return CellView::Of(TextOf(value)); }

template <class Number>
constexpr Type TypeOf() {
  return std::is_enum_v<Number>             ? Type::kText
         : std::is_floating_point_v<Number> ? Type::kReal
                                            : Type::kInteger;
}

class ChainTexts {
 public:
  const std::vector<std::string>& Get(const StringPool& names, const CallChains& chains, size_t first,
                                      size_t last) {
    std::call_once(once_, [&] {
      for (const std::vector<NameId>& frames : chains) {
        std::string& text = texts_.emplace_back();
        for (size_t i = first; i < std::min(last, frames.size()); ++i)
          text.append(i > first ? " < " : "").append(names.View(frames[i]));
      }
    });
    return texts_;
  }

 private:
  std::once_flag once_;
  std::vector<std::string> texts_;
};

// What SQL shows of a table: the schema and, for the table of a trace, how its cells are read.
template <class Table>
class View {
 public:
  // Of no trace: the schema alone.
  explicit View(const Trace* trace = nullptr, const Table* table = nullptr,
                std::shared_ptr<const EventPlaces> places = nullptr)
      : trace_(trace), table_(table), places_(std::move(places)) {
    schema.name = Table::kTable.name;
    schema.doc = Table::kTable.doc;
    Table::ForEachColumn([&](auto member, const EventColumn& about) {
      const auto* column = table_ ? &(table_->*member) : nullptr;
      if constexpr (std::is_same_v<Table, Kernels>)
        if (about.kind == ColumnKind::kShape) AddShape();
      if (!about.name.empty()) Add(column, about);
    });
    if constexpr (
        requires(Table t) { t.process; } || requires(Table t) { t.thread; })
      AddPlace();
  }

  Schema schema;
  std::vector<Getter> getters;

 private:
  void Put(Type type, const EventColumn& about, bool nullable, Getter get) {
    schema.columns.push_back(
        {std::string(about.name), type, about.unit, std::string(about.doc), nullable, ""});
    getters.push_back(std::move(get));
  }

  template <class Column>
  void Add(const Column* column, const EventColumn& about) {
    using Cell = std::decay_t<decltype((*column)[0])>;
    if constexpr (std::is_same_v<Cell, uint32_t>) {
      switch (about.kind) {
        case ColumnKind::kName:
        case ColumnKind::kDomain:
          return Put(Type::kText, about, false,
                     [=, t = trace_](size_t i) { return CellView::Of(t->names.View((*column)[i])); });
        case ColumnKind::kProcess:
          return Put(Type::kInteger, about, true,
                     [=, t = trace_](size_t i) { return Pid(*t, (*column)[i]); });
        case ColumnKind::kThread:
          return AddThread(column, about);
        case ColumnKind::kDevice:
          return Put(Type::kInteger, about, true, [=, t = trace_](size_t i) {
            const uint32_t device = (*column)[i];
            return device == kNoIndex ? CellView::Null() : CellView::Of(t->devices[device].ordinal);
          });
        case ColumnKind::kChain:
          return AddChain(column, about);
        default:
          break;
      }
    }
    if constexpr (std::is_same_v<Column, IntColumn>)
      if (about.kind == ColumnKind::kArguments) return AddArguments(column);
    AddNumber<Cell>(column, about);
    if constexpr (requires(Table t) { t.end; })
      if (about.kind == ColumnKind::kEnd)
        Put(Type::kInteger, {ColumnKind::kNumber, "duration_ns", "End minus start.", Unit::kNanoseconds},
            false, [t = table_](size_t i) { return CellView::Of(t->end[i] - t->start[i]); });
  }

  template <class Cell, class Column>
  void AddNumber(const Column* column, const EventColumn& about) {
    using Wide = std::conditional_t<std::is_enum_v<Cell>, Cell,
                                    std::conditional_t<std::is_floating_point_v<Cell>, double, int64_t>>;
    if constexpr (!std::is_enum_v<Cell>)
      if (about.unknown_if_negative)
        return Put(TypeOf<Cell>(), about, true, [column](size_t i) {
          return column->size() == 0 || (*column)[i] < 0 ? CellView::Null()
                                                         : CellOf(static_cast<Wide>((*column)[i]));
        });
    Put(TypeOf<Cell>(), about, false, [column](size_t i) { return CellOf(static_cast<Wide>((*column)[i])); });
  }

  static CellView Pid(const Trace& trace, uint32_t process) {
    return process == kNoIndex ? CellView::Null() : CellView::Of(trace.processes[process].pid);
  }

  template <class Column>
  void AddThread(const Column* column, const EventColumn& about) {
    if (!schema.Find("pid"))
      Put(Type::kInteger, ProcessColumn(), true, [=, t = trace_](size_t i) {
        const uint32_t thread = (*column)[i];
        return thread == kNoIndex ? CellView::Null() : Pid(*t, t->threads[thread].process);
      });
    Put(Type::kInteger, about, true, [=, t = trace_](size_t i) {
      return column->size() == 0 || (*column)[i] == kNoIndex ? CellView::Null()
                                                             : CellView::Of(t->threads[(*column)[i]].tid);
    });
  }

  static std::optional<int64_t> RankOf(const Trace& trace, const Table& table, const EventPlaces& places,
                                       size_t row) {
    uint32_t process = kNoIndex;
    if constexpr (requires(Table t) { t.process; }) {
      if (row < table.process.size()) process = table.process[row];
    } else {
      if (row < table.thread.size() && table.thread[row] != kNoIndex)
        process = trace.threads[table.thread[row]].process;
    }
    return places.RankOf(process);
  }

  void AddPlace() {
    const auto cell = [](std::optional<int64_t> number) {
      return number ? CellView::Of(*number) : CellView::Null();
    };
    Put(Type::kInteger, Shown("rank", Unit::kNone, "Rank of its process."), true,
        [=, t = trace_, table = table_, places = places_](size_t i) {
          return cell(RankOf(*t, *table, *places, i));
        });
    Put(Type::kInteger, Shown("step", Unit::kNone, "Step of the rank in whose time it begins, as in step."),
        true, [=, t = trace_, table = table_, places = places_](size_t i) {
          const auto rank = RankOf(*t, *table, *places, i);
          return cell(rank ? places->StepAt(*rank, RowTimes(*table)[i]) : std::nullopt);
        });
  }

  void AddShape() {
    const auto add = [&](std::string_view name, std::string_view doc, auto dimensions, size_t axis) {
      Put(Type::kInteger, Shown(name, Unit::kCount, doc), true, [=, kernels = table_](size_t i) {
        if (kernels->shape.size() == 0) return CellView::Null();
        const int64_t size = (kernels->shapes[static_cast<size_t>(kernels->shape[i])].*dimensions)[axis];
        return size == 0 ? CellView::Null() : CellView::Of(size);
      });
    };
    add("grid_x", "Thread blocks along x.", &LaunchShape::grid, 0);
    add("grid_y", "Thread blocks along y.", &LaunchShape::grid, 1);
    add("grid_z", "Thread blocks along z.", &LaunchShape::grid, 2);
    add("block_x", "Threads of a block along x.", &LaunchShape::block, 0);
    add("block_y", "Threads of a block along y.", &LaunchShape::block, 1);
    add("block_z", "Threads of a block along z.", &LaunchShape::block, 2);
  }

  void AddArguments(const IntColumn* column) {
    const auto add = [&](std::string_view name, std::string_view doc, NameId OperatorArguments::*field) {
      Put(Type::kText, NameColumn(name, doc), true, [=, t = trace_](size_t i) {
        if (column->size() == 0) return CellView::Null();
        const NameId text = t->operator_arguments[static_cast<size_t>((*column)[i])].*field;
        return text == kNoName ? CellView::Null() : CellView::Of(t->names.View(text));
      });
    };
    add("shapes", "Shapes of an operator's arguments, in JSON.", &OperatorArguments::shapes);
    add("types", "Types of an operator's arguments, in JSON.", &OperatorArguments::types);
  }

  template <class Column>
  void AddChain(const Column* column, const EventColumn& about) {
    size_t first = 0;
    if constexpr (std::is_same_v<Table, CpuSamples>) {
      Put(Type::kText, NameColumn("function", "Function that was executed."), true, Chain(column, 0, 1));
      first = 1;
    }
    Put(Type::kText, about, true, Chain(column, first, kMostFrames));
  }

  // Frames of a call chain from `first` on, innermost first, as one text. The texts of all chains are made
  // when the first is read: a cell is a view.
  template <class Column>
  Getter Chain(const Column* column, size_t first, size_t last) {
    if constexpr (requires(Table t) { t.chains; })
      return [texts = std::make_shared<ChainTexts>(), column, trace = trace_, table = table_, first,
              last](size_t i) {
        const uint32_t chain = (*column)[i];
        if (chain == kNoIndex) return CellView::Null();
        const std::string& text = texts->Get(trace->names, table->chains, first, last)[chain];
        return text.empty() ? CellView::Null() : CellView::Of(text);
      };
    else
      return [](size_t) { return CellView::Null(); };
  }

  const Trace* trace_;
  const Table* table_;
  std::shared_ptr<const EventPlaces> places_;
};

class EventRelation final : public Relation {
 public:
  template <class Table>
  EventRelation(View<Table> view, const Table& table)
      : schema_(std::move(view.schema)),
        rows_(table.size()),
        getters_(std::move(view.getters)),
        times_(RowTimes(table)) {}

  const Schema& schema() const override { return schema_; }
  size_t rows() const override { return rows_; }
  CellView At(size_t row, size_t column) const override { return getters_[column](row); }
  std::optional<size_t> SortedColumn() const override {
    std::call_once(once_, [&] {
      is_sorted_ = std::is_sorted(times_.begin(), times_.end()) &&
                   !(schema_.columns[0].nullable && !times_.empty() && times_.front() < 0);
    });
    return is_sorted_ ? std::optional<size_t>(0) : std::nullopt;  // start_ns is always the first column
  }
  RowEstimate EstimatedRows() const override { return {.rows = static_cast<double>(rows_)}; }

 private:
  Schema schema_;
  size_t rows_;
  std::vector<Getter> getters_;
  const std::vector<Ns>& times_;
  mutable std::once_flag once_;  // most relations are never read
  mutable bool is_sorted_ = false;
};

// Calls visit(&Trace::TABLE) for each table that SQL shows.
template <class Visit>
void ForEachShownTable(Visit visit) {
  Trace::ForEachTable([&]<class Table>(Table Trace::*table) {
    if constexpr (!Table::kTable.doc.empty()) visit(table);
  });
}

}  // namespace

std::optional<int64_t> EventPlaces::RankOf(uint32_t process) const {
  if (process >= rank_of_process.size() || rank_of_process[process] < 0) return std::nullopt;
  return rank_of_process[process];
}

std::optional<int64_t> EventPlaces::StepAt(int64_t rank, Ns time) const {
  const auto of_rank = steps.find(rank);
  if (of_rank == steps.end()) return std::nullopt;
  const auto after = std::ranges::upper_bound(of_rank->second, time, {}, &Step::begin);
  if (after == of_rank->second.begin() || time >= std::prev(after)->end) return std::nullopt;
  return std::prev(after)->number;
}

std::vector<std::unique_ptr<Relation>> EventRelations(const Trace& trace, EventPlaces places) {
  const auto shared = std::make_shared<const EventPlaces>(std::move(places));
  std::vector<std::unique_ptr<Relation>> relations;
  ForEachShownTable([&]<class Table>(Table Trace::*table) {
    relations.push_back(
        std::make_unique<EventRelation>(View<Table>(&trace, &(trace.*table), shared), trace.*table));
  });
  return relations;
}

const std::vector<const Schema*>& EventSchemas() {
  static const std::vector<const Schema*> schemas = [] {
    static std::vector<Schema> held;
    ForEachShownTable([]<class Table>(Table Trace::*) { held.push_back(View<Table>().schema); });
    std::vector<const Schema*> all;
    for (const Schema& schema : held) all.push_back(&schema);
    return all;
  }();
  return schemas;
}

}  // namespace dladvisor
