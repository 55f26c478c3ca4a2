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

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/int_column.h"
#include "engine/base/string_pool.h"
#include "engine/base/value.h"
#include "engine/store/row_member.h"

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
  // What must be recorded for it where it can be absent: names apart by spaces, or "". One that is for some
  // rows alone is followed by their values of the last key column: "gpu-work
  // os-calls:idle/os,idle/communication".
  std::string capture;
  Numbering numbering = {};  // of its integers, or none
};

// The names in Column::capture that are for one of these rows, by their values of the last key column; all of
// them where no rows are given.
std::vector<std::string_view> CapabilitiesOf(std::string_view capture,
                                             std::span<const std::string> rows = {});

struct Schema {
  std::string name;
  std::string doc;
  std::vector<std::string> key;  // names of the key columns, in order
  std::vector<Column> columns;

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

// The same with a text of its own.
Value ToValue(const CellView& cell);

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
  explicit Table(Schema schema);
  Table(Table&& other) noexcept;
  Table& operator=(Table&& other) noexcept;
  ~Table() override;

  const Schema& schema() const override { return schema_; }
  size_t rows() const override { return columns_.empty() ? 0 : columns_[0].values.size(); }
  CellView At(size_t row, size_t column) const override;
  // The first column, where its cells are sorted integers.
  std::optional<size_t> SortedColumn() const override;
  RowEstimate EstimatedRows() const override;

  Value ValueAt(size_t row, size_t column) const;

  // What cells of a column of texts store that have this one, as one of integers stores these; and whether a
  // cell is known and stores that. Rows are tested so without a look at texts.
  int64_t StoredFor(std::string_view text) const { return texts_.Find(text); }
  bool Stores(size_t row, size_t column, int64_t stored) const {
    const Cells& cells = columns_[column];
    return cells.values[row] == stored && (cells.known.empty() || cells.known[row]);
  }

  // How many different texts there are in all columns, of one cell which, nothing where it is unknown, and
  // that text. REQUIRES: the column is one of texts.
  size_t texts() const { return texts_.size(); }
  std::optional<NameId> StoredText(size_t row, size_t column) const {
    const Cells& cells = columns_[column];
    if (!cells.known.empty() && !cells.known[row]) return std::nullopt;
    return static_cast<NameId>(cells.values[row]);
  }
  std::string_view TextOf(NameId id) const { return texts_.View(id); }

  // REQUIRES: one value per column, each NULL or of the column's type (an integer is taken for a real).
  void AddRow(const std::vector<Value>& row);
  // Adds a cell to one column, as AddRow() does; each column must get as many. What is of another type than
  // the column is unknown.
  void AddCell(size_t column, const CellView& cell);
  // Adds many cells to a column: integers, reals by their bits, texts by their ids. Where `unknown` says so
  // of any, that cell's value is 0.
  void AddCells(size_t column, std::span<const int64_t> values, std::span<const uint8_t> unknown);
  // The id of a text; it is looked up in `texts` first.
  NameId IdOf(std::string_view text) { return texts_.Intern(text); }
  NameId IdOf(std::string_view text, InternedViews& texts) { return texts.Intern(text, texts_); }
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

// The declaration of a relation whose rows are structs of one type, of which it knows where the members lie.
class RowRelation {
 public:
  RowRelation(std::string_view name, std::string_view doc);

  const Schema& schema() const { return schema_; }

 protected:
  // `capture` is as of Column.
  void Add(std::string_view name, RowMember member, Unit unit, std::string_view doc, std::string_view capture,
           Numbering numbering, bool is_key);
  Table TableOf(const RawRows& rows) const;
  // Adds the rows to a table of this schema. `texts` by column.
  void Append(const RawRows& rows, std::vector<InternedViews>& texts, Table& table) const;
  // Sets the members of as many rows as the table has, `row_size` bytes apart.
  void Fill(const Table& table, std::byte* rows, size_t row_size) const;

  Schema schema_;

 private:
  std::vector<RowMember> members_;  // by column
};

// The declaration of a relation whose rows analyses build as plain structs of type Row.
template <class Row>
class RelationOf : public RowRelation {
 public:
  using RowRelation::RowRelation;

  template <class T>
  RelationOf& Key(std::string_view name, T Row::*member, Unit unit, std::string_view doc) {
    Add(name, RowMember::Of<Row>(member), unit, doc, {}, {}, true);
    return *this;
  }

  // The same of a number of something.
  template <class T>
  RelationOf& Key(std::string_view name, T Row::*member, Numbering numbering, std::string_view doc) {
    Add(name, RowMember::Of<Row>(member), Unit::kNone, doc, {}, numbering, true);
    return *this;
  }
  template <class T>
  RelationOf& Column(std::string_view name, T Row::*member, Numbering numbering, std::string_view doc) {
    Add(name, RowMember::Of<Row>(member), Unit::kNone, doc, {}, numbering, false);
    return *this;
  }

  // T is int64_t, double, bool, std::string, or std::optional of one of them (nullable); or a string_view of
  // what outlives the rows.
  // `capture` is as of Column.
  template <class T>
  RelationOf& Column(std::string_view name, T Row::*member, Unit unit, std::string_view doc,
                     std::string_view capture = {}) {
    Add(name, RowMember::Of<Row>(member), unit, doc, capture, {}, false);
    return *this;
  }

  Table ToTable(std::span<const Row> rows) const { return TableOf(Raw(rows)); }

  // Adds rows to a table of this schema, part by part. Views of texts must outlive it.
  class Appender {
   public:
    Appender(const RelationOf& of, Table& table)
        : of_(of), table_(table), texts_(of.schema().columns.size()) {}
    void Append(std::span<const Row> rows) { of_.Append(Raw(rows), texts_, table_); }

   private:
    const RelationOf& of_;
    Table& table_;
    std::vector<InternedViews> texts_;  // by column
  };

  // The rows of a table that this or another version declared, by name of column: what it lacks keeps the
  // default of Row. Their string_views are of the table.
  std::vector<Row> ToRows(const Table& table) const {
    std::vector<Row> rows(table.rows());
    Fill(table, reinterpret_cast<std::byte*>(rows.data()), sizeof(Row));
    return rows;
  }

 private:
  static RawRows Raw(std::span<const Row> rows) {
    return {reinterpret_cast<const std::byte*>(rows.data()), rows.size(), sizeof(Row)};
  }
};

}  // namespace dladvisor
