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

// What SQL shows of a table: the schema and, for the table of a trace, how its cells are read. No template of
// the table: cells of all tables that are read alike are read by one function.
class View {
 public:
  // Of no trace: the schema alone.
  template <class Table>
  static View Of(const Trace* trace = nullptr, const Table* table = nullptr,
                 std::shared_ptr<const EventPlaces> places = nullptr) {
    View view;
    view.trace_ = trace;
    view.places_ = std::move(places);
    view.schema.name = Table::kTable.name;
    view.schema.doc = Table::kTable.doc;
    if (table) view.times_ = &RowTimes(*table);
    if constexpr (requires(Table t) { t.end; }) {
      view.has_end_ = true;
      if (table) view.ends_ = &table->end;
    }
    if constexpr (requires(Table t) { t.chains; })
      if (table) view.chains_ = &table->chains;
    constexpr bool kHasProcess = requires(Table t) { t.process; };
    constexpr bool kHasThread = requires(Table t) { t.thread; };
    if constexpr (kHasProcess)
      view.SetProcess(table ? &table->process : nullptr, false);
    else if constexpr (kHasThread)
      view.SetProcess(table ? &table->thread : nullptr, true);
    Table::ForEachColumn([&](auto member, const EventColumn& about) {
      if constexpr (std::is_same_v<Table, Kernels>)
        if (about.kind == ColumnKind::kShape) view.AddShape(table);
      if constexpr (std::is_same_v<Table, CpuSamples>)
        if (about.kind == ColumnKind::kChain) view.AddFunction(table ? &(table->*member) : nullptr);
      if (!about.name.empty()) view.Add(table ? &(table->*member) : nullptr, about);
    });
    if (kHasProcess || kHasThread) view.AddPlace();
    return view;
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
          return Put(Type::kText, about, true, Chain(column, first_frame_, kMostFrames));
        default:
          break;
      }
    }
    if constexpr (std::is_same_v<Column, IntColumn>)
      if (about.kind == ColumnKind::kArguments) return AddArguments(column);
    AddNumber<Cell>(column, about);
    if (has_end_ && about.kind == ColumnKind::kEnd)
      Put(Type::kInteger, {ColumnKind::kNumber, "duration_ns", "End minus start.", Unit::kNanoseconds}, false,
          [times = times_, ends = ends_](size_t i) { return CellView::Of((*ends)[i] - (*times)[i]); });
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

  // What rows tell their process by: a column of processes, or one of threads.
  template <class Column>
  void SetProcess(const Column* column, bool is_thread) {
    process_ = [=, t = trace_](size_t i) {
      const uint32_t index = i < column->size() ? static_cast<uint32_t>((*column)[i]) : kNoIndex;
      return is_thread && index != kNoIndex ? t->threads[index].process : index;
    };
  }

  void AddPlace() {
    const auto cell = [](std::optional<int64_t> number) {
      return number ? CellView::Of(*number) : CellView::Null();
    };
    Put(Type::kInteger, Shown("rank", Unit::kNone, "Rank of its process."), true,
        [=, process = process_, places = places_](size_t i) { return cell(places->RankOf(process(i))); });
    Put(Type::kInteger, Shown("step", Unit::kNone, "Step of the rank in whose time it begins, as in step."),
        true, [=, process = process_, times = times_, places = places_](size_t i) {
          const auto rank = places->RankOf(process(i));
          return cell(rank ? places->StepAt(*rank, (*times)[i]) : std::nullopt);
        });
  }

  void AddShape(const Kernels* kernels) {
    const auto add = [&](std::string_view name, std::string_view doc, auto dimensions, size_t axis) {
      Put(Type::kInteger, Shown(name, Unit::kCount, doc), true, [=](size_t i) {
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

  // The function that a sample was taken in, the first of the frames, which are in a column of their own.
  template <class Column>
  void AddFunction(const Column* column) {
    if constexpr (std::is_same_v<std::decay_t<decltype((*column)[0])>, uint32_t>)
      Put(Type::kText, NameColumn("function", "Function that was executed."), true, Chain(column, 0, 1));
    first_frame_ = 1;
  }

  // Frames of a call chain from `first` on, innermost first, as one text. The texts of all chains are made
  // when the first is read: a cell is a view.
  template <class Column>
  Getter Chain(const Column* column, size_t first, size_t last) {
    return [texts = std::make_shared<ChainTexts>(), column, trace = trace_, chains = chains_, first,
            last](size_t i) {
      const auto chain = static_cast<uint32_t>((*column)[i]);
      if (chain == kNoIndex) return CellView::Null();
      const std::string& text = texts->Get(trace->names, *chains, first, last)[chain];
      return text.empty() ? CellView::Null() : CellView::Of(text);
    };
  }

  const Trace* trace_ = nullptr;
  const std::vector<Ns>* times_ = nullptr;
  const std::vector<Ns>* ends_ = nullptr;
  const CallChains* chains_ = nullptr;
  bool has_end_ = false;
  size_t first_frame_ = 0;  // that a column of chains shows
  std::function<uint32_t(size_t row)> process_;
  std::shared_ptr<const EventPlaces> places_;
};

class EventRelation final : public Relation {
 public:
  EventRelation(View view, size_t rows, const std::vector<Ns>& times)
      : schema_(std::move(view.schema)), rows_(rows), getters_(std::move(view.getters)), times_(times) {}

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
    const Table& rows = trace.*table;
    relations.push_back(
        std::make_unique<EventRelation>(View::Of<Table>(&trace, &rows, shared), rows.size(), RowTimes(rows)));
  });
  return relations;
}

const std::vector<const Schema*>& EventSchemas() {
  static const std::vector<const Schema*> schemas = [] {
    static std::vector<Schema> held;
    ForEachShownTable([]<class Table>(Table Trace::*) { held.push_back(View::Of<Table>().schema); });
    std::vector<const Schema*> all;
    for (const Schema& schema : held) all.push_back(&schema);
    return all;
  }();
  return schemas;
}

}  // namespace dladvisor
