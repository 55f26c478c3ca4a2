// SPDX-License-Identifier: Apache-2.0
// Relations: the facts that rules see. A relation is declared once, with a doc line, key columns and, for
// every column, type, unit, doc, nullability and what must be recorded for it; the SQL table, the
// `facts` listing, checks, message formatting and "profile again with ..." all come from that declaration.
//
//   struct ShopRow { int64_t shop; std::optional<double> busy_share; };
//   const RelationOf<ShopRow>& ShopRelation() {
//     static const RelationOf<ShopRow> r = RelationOf<ShopRow>("shop", "One row per shop.")
//         .Key("shop", &ShopRow::shop, Unit::kNone, "Number.")
//         .Column("busy_share", &ShopRow::busy_share, Unit::kRatio, "Share of ...", "door-counts");
//     return r;
//   }
//   Table table = ShopRelation().ToTable(rows);
//   std::vector<ShopRow> same = ShopRelation().ToRows(table);
#pragma once

#include <cassert>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/base/int_column.h"
#include "engine/base/string_pool.h"
#include "engine/base/value.h"

namespace dladvisor {

// What the integers of a column number, of which each source of rows has its own: who puts several sources
// together gives them new numbers.
struct Numbering {
  std::string_view name;
  bool operator==(const Numbering&) const = default;
};

struct Column {
  std::string name;
  Type type = Type::kInteger;
  Unit unit = Unit::kNone;
  std::string doc;
  bool nullable = false;
  std::string capture;  // what must be recorded for it where it can be absent: names apart by spaces, or ""
  Numbering numbering = {};  // of its integers, or none
};

struct Schema {
  std::string name;
  std::string doc;
  std::vector<std::string> key;  // names of the key columns, in order
  std::vector<Column> columns;
  std::string capture = {};  // what must be recorded for it to have rows, as of Column

  // Index of the column, or nothing.
  std::optional<size_t> Find(std::string_view column) const;
};

// One cell, borrowing its text from the relation.
struct CellView {
  enum class Kind : uint8_t { kNull, kInteger, kReal, kText };
  Kind kind = Kind::kNull;
  int64_t integer = 0;
  double real = 0;
  std::string_view text;

  static CellView Null() { return {}; }
  static CellView Of(int64_t v) { return {Kind::kInteger, v, 0, {}}; }
  static CellView Of(double v) { return {Kind::kReal, 0, v, {}}; }
  static CellView Of(std::string_view v) { return {Kind::kText, 0, 0, v}; }
};

// How many rows a relation is expected to have, in all and for each value of its sorted column.
struct RowEstimate {
  double rows = 10'000;
  double per_value = 2;
  bool is_exact = false;  // so many there are
};

// Read-only rows. Implementations: Table (owned values), views over columns of events (no copies), and
// relations whose rows are computed when they are first read.
// Immutable once handed to a Database, therefore safe to read from several threads.
class Relation {
 public:
  virtual ~Relation() = default;
  virtual const Schema& schema() const = 0;
  virtual size_t rows() const = 0;
  virtual CellView At(size_t row, size_t column) const = 0;
  // Statements are planned with these two, also statements that never run: neither may compute rows.
  // A column whose cells are non-null integers in ascending order, for range push-down; nothing if none.
  virtual std::optional<size_t> SortedColumn() const { return std::nullopt; }
  virtual RowEstimate EstimatedRows() const { return {}; }
};

// Rows of owned values, column by column, an integer in as few bytes as the largest of its column needs, and
// each different text once.
class Table final : public Relation {
 public:
  explicit Table(Schema schema) : schema_(std::move(schema)), columns_(schema_.columns.size()) {}

  const Schema& schema() const override { return schema_; }
  size_t rows() const override { return columns_.empty() ? 0 : columns_[0].values.size(); }
  CellView At(size_t row, size_t column) const override;
  // The first column, where its cells are sorted integers.
  std::optional<size_t> SortedColumn() const override;
  RowEstimate EstimatedRows() const override;

  Value ValueAt(size_t row, size_t column) const;

  // REQUIRES: one value per column, each NULL or of the column's type (an integer is taken for a real).
  void AddRow(const std::vector<Value>& row);
  // Adds a cell to one column, as AddRow() does; each column must get as many. What is of another type than
  // the column is unknown.
  void AddCell(size_t column, const CellView& cell);
  // The same of many, of which each text is looked up in `texts` first.
  void AddCell(size_t column, const CellView& cell, InternedViews& texts);
  void Reserve(size_t rows);

 private:
  struct Cells {
    IntColumn values;         // integers, reals by their bits, texts by their ids
    std::vector<bool> known;  // empty while all are
  };
  void Add(size_t column, bool known, int64_t value);

  Schema schema_;
  StringPool texts_;
  std::vector<Cells> columns_;
  bool sorted_ = true;          // the first column
  size_t distinct_values_ = 0;  // of the first column while it is sorted
};

// The rows as `schema` has them, by name of column: what `from`, of another version, lacks is unknown.
Table WithSchema(const Table& from, const Schema& schema);

// The declaration of a relation whose rows analyses build as plain structs of type Row.
template <class Row>
class RelationOf {
 public:
  RelationOf(std::string name, std::string doc) : schema_{std::move(name), std::move(doc), {}, {}, {}} {}

  template <class T>
  RelationOf& Key(std::string name, T Row::*member, Unit unit, std::string doc) {
    schema_.key.push_back(name);
    return Column(std::move(name), member, unit, std::move(doc));
  }

  // The same of a number of something.
  template <class T>
  RelationOf& Key(std::string name, T Row::*member, Numbering numbering, std::string doc) {
    schema_.key.push_back(name);
    return Column(std::move(name), member, numbering, std::move(doc));
  }
  template <class T>
  RelationOf& Column(std::string name, T Row::*member, Numbering numbering, std::string doc) {
    Column(std::move(name), member, Unit::kNone, std::move(doc));
    schema_.columns.back().numbering = numbering;
    return *this;
  }

  // T is int64_t, double, bool, std::string, or std::optional of one of them (nullable); or a string_view of
  // what outlives the rows.
  // `capture` is as of Column.
  template <class T>
  RelationOf& Column(std::string name, T Row::*member, Unit unit, std::string doc, std::string capture = {}) {
    using Plain = typename Unwrap<T>::type;
    constexpr Type type = kIsText<Plain>                  ? Type::kText
                          : std::is_same_v<Plain, double> ? Type::kReal
                                                          : Type::kInteger;
    schema_.columns.push_back(
        {std::move(name), type, unit, std::move(doc), Unwrap<T>::optional, std::move(capture)});
    adders_.push_back([member](std::span<const Row> rows, size_t column, InternedViews& texts, Table& table) {
      if constexpr (std::is_same_v<Plain, std::string_view>)
        for (const Row& row : rows) table.AddCell(column, ViewOf(row.*member), texts);
      else
        for (const Row& row : rows) table.AddCell(column, ViewOf(row.*member));
    });
    setters_.push_back([member](const CellView& cell, Row& row) { SetFrom(cell, row.*member); });
    return *this;
  }

  // What must be recorded for it to have rows.
  RelationOf& Needs(std::string capture) {
    schema_.capture = std::move(capture);
    return *this;
  }

  const Schema& schema() const { return schema_; }

  Table ToTable(std::span<const Row> rows) const {
    Table table(schema_);
    table.Reserve(rows.size());
    Appender(*this, table).Append(rows);
    return table;
  }

  // Adds rows to a table of this schema, part by part. Views of texts must outlive it.
  class Appender {
   public:
    Appender(const RelationOf& of, Table& table) : of_(of), table_(table), texts_(of.adders_.size()) {}
    void Append(std::span<const Row> rows) {
      for (size_t column = 0; column < texts_.size(); ++column)
        of_.adders_[column](rows, column, texts_[column], table_);
    }

   private:
    const RelationOf& of_;
    Table& table_;
    std::vector<InternedViews> texts_;  // by column
  };

  // The rows of a table that this or another version declared, by name of column: what it lacks keeps the
  // default of Row. Their string_views are of the table.
  std::vector<Row> ToRows(const Table& table) const {
    std::vector<Row> rows(table.rows());
    for (size_t c = 0; c < schema_.columns.size(); ++c)
      if (const auto found = table.schema().Find(schema_.columns[c].name))
        for (size_t i = 0; i < rows.size(); ++i) setters_[c](table.At(i, *found), rows[i]);
    return rows;
  }

 private:
  template <class T>
  struct Unwrap {
    using type = T;
    static constexpr bool optional = false;
  };
  template <class T>
  struct Unwrap<std::optional<T>> {
    using type = T;
    static constexpr bool optional = true;
  };
  template <class T>
  static constexpr bool kIsText = std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>;

  template <class T>
  static CellView ViewOf(const T& v) {
    if constexpr (kIsText<T>)
      return CellView::Of(std::string_view(v));
    else if constexpr (std::is_same_v<T, double>)
      return CellView::Of(v);
    else
      return CellView::Of(static_cast<int64_t>(v));
  }
  template <class T>
  static CellView ViewOf(const std::optional<T>& v) {
    return v ? ViewOf(*v) : CellView::Null();
  }
  // Cells of another type, and NULL where the member cannot be unknown, leave it as it is.
  template <class T>
  static void SetFrom(const CellView& cell, T& member) {
    using Plain = typename Unwrap<T>::type;
    if constexpr (kIsText<Plain>) {
      if (cell.kind == CellView::Kind::kText) member = Plain(cell.text);
    } else if constexpr (std::is_same_v<Plain, double>) {
      if (cell.kind == CellView::Kind::kReal) member = cell.real;
      if (cell.kind == CellView::Kind::kInteger) member = static_cast<double>(cell.integer);
    } else if (cell.kind == CellView::Kind::kInteger) {
      member = static_cast<Plain>(cell.integer);
    }
  }

  Schema schema_;
  using Adder = std::function<void(std::span<const Row>, size_t column, InternedViews& texts, Table& table)>;
  std::vector<Adder> adders_;
  std::vector<std::function<void(const CellView&, Row&)>> setters_;
};

}  // namespace dladvisor
