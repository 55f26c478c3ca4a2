// SPDX-License-Identifier: Apache-2.0
#include "engine/inference/missing_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include "engine/model/subject.h"
#include "engine/sql/sql_text.h"

namespace dladvisor {
namespace {

// What is there, and yet gives no value.
std::string WithoutResult(const std::set<ColumnRead>& reads) {
  std::set<std::string> relations;
  for (const ColumnRead& read : reads) relations.insert(read.relation);
  return relations.empty() ? "its SQL has no value here"
                           : fmt::format("no row of {} is as the rule asks, or what it divides by is 0",
                                         fmt::join(relations, ", "));
}

void AddOnce(std::vector<std::string>& texts, const std::string& text) {
  if (!text.empty() && std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
}

// As IS of SQL has it.
bool IsSame(const CellView& cell, const Value& value) {
  switch (cell.kind) {
    case CellView::Kind::kNull:
      return IsNull(value);
    case CellView::Kind::kText: {
      const auto* text = std::get_if<std::string>(&value);
      return text && *text == cell.text;
    }
    case CellView::Kind::kInteger:
      if (const auto* integer = std::get_if<int64_t>(&value)) return *integer == cell.integer;
      return AsNumber(value) == static_cast<double>(cell.integer);
    case CellView::Kind::kReal:
      return AsNumber(value) == cell.real;
  }
  return false;
}

// What an index has for cells that are the same.
CellView CellLike(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return CellView::Of(std::string_view(*text));
  if (const auto* integer = std::get_if<int64_t>(&value)) return CellView::Of(*integer);
  constexpr double kMost = 9e18;
  const double number = AsNumber(value).value_or(0);
  return CellView::Of(static_cast<int64_t>(std::abs(number) < kMost ? number : 0));
}

void AddCapture(Finding& finding, const std::string& name) {
  if (!name.empty() && std::ranges::find(finding.capture, name) == finding.capture.end())
    finding.capture.push_back(name);
}

}  // namespace

void MissingFacts::Name(Finding& finding) {
  std::vector<bool> unknown;  // conditions and values
  for (size_t i = 0; i < rule_.when.size(); ++i) unknown.push_back(!finding.why[i].holds);
  for (size_t i = 0; i < values_; ++i) unknown.push_back(IsNull(scope_[i].value));
  auto [known, is_new] = missing_.try_emplace(std::move(unknown));
  if (is_new) {
    if (Find(finding))
      known->second = {finding.missing, finding.lacks, finding.capture};
    else
      missing_.erase(known);
  } else {
    finding.missing = known->second.facts;
    finding.lacks = known->second.lacks;
    finding.capture = known->second.capture;
  }
}

// Whether they are columns of the subject alone, so that they are those of every subject with the same
// unknown values.
bool MissingFacts::Find(Finding& finding) {
  bool of_own = true;
  std::vector<bool> unknown_lets;
  for (size_t i = subject_columns_; i < values_; ++i) unknown_lets.push_back(IsNull(scope_[i].value));
  std::set<ColumnRead> missing, candidates;
  for (size_t i = 0; i < rule_.when.size(); ++i) {
    if (finding.why[i].holds) continue;
    std::set<ColumnRead> nulls, absent, elsewhere;
    for (const ColumnRead& read : Reads(i, unknown_lets)) {
      const Schema* schema = db_.FindRelation(read.relation);
      const auto column = schema ? schema->Find(read.column) : std::nullopt;
      if (!column) continue;
      if (schema->columns[*column].nullable) candidates.insert(read);
      const NamedValue* own = OwnColumn(read);
      of_own &= own != nullptr;
      const Lack lack = own ? LackOfOwn(*own) : LackOf(read, *schema);
      if (lack.kind == Lack::kNull) nulls.insert(read);
      if (lack.kind == Lack::kNoRow) absent.insert(read);
      if (lack.kind == Lack::kNullElsewhere) elsewhere.insert(read);
    }
    missing.merge(!nulls.empty() ? nulls : !absent.empty() ? absent : elsewhere);
  }
  if (missing.empty()) {
    missing = candidates;
    AddOnce(finding.lacks, WithoutResult(candidates));
  } else {
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> columns;  // by relation and rows
    for (const ColumnRead& read : missing) {
      const NamedValue* own = OwnColumn(read);
      const Lack lack = own ? LackOfOwn(*own) : LackOf(read, *db_.FindRelation(read.relation));
      if (lack.kind != Lack::kNoRow)
        columns[{read.relation, lack.text}].push_back(read.relation + "." + read.column);
      else
        AddOnce(finding.lacks, lack.text);
    }
    for (const auto& [of, unknown] : columns)
      AddOnce(finding.lacks, fmt::format("{} {} unknown{}", fmt::join(unknown, ", "),
                                         unknown.size() == 1 ? "is" : "are", of.second));
  }
  for (const ColumnRead& read : missing) {
    finding.missing.push_back(read.relation + "." + read.column);
    const Schema* schema = db_.FindRelation(read.relation);
    const NamedValue* own = OwnColumn(read);
    const Lack lack = own ? LackOfOwn(*own) : LackOf(read, *schema);
    for (const std::string_view name :
         CapabilitiesOf(schema->columns[*schema->Find(read.column)].capture, lack.rows))
      AddCapture(finding, std::string(name));
  }
  return of_own;
}

const NamedValue* MissingFacts::OwnColumn(const ColumnRead& read) const {
  if (read.relation != rule_.subject_relation) return nullptr;
  for (size_t i = 0; i < subject_columns_; ++i)
    if (scope_[i].name == read.column) return &scope_[i];
  return nullptr;
}

const std::vector<ColumnRead>& MissingFacts::Reads(size_t condition, const std::vector<bool>& lets) {
  auto [entry, is_new] = reads_.try_emplace({condition, lets});
  if (is_new)
    entry->second = ExpressionReads(rule_, db_, rule_.lets.size(), rule_.when[condition].sql, &lets);
  return entry->second;
}

MissingFacts::Lack MissingFacts::LackOfOwn(const NamedValue& value) {
  if (!IsNull(value.value)) return {};
  return {Lack::kNull, ""};
}

// Whether another relation has no row, or a NULL in the column, for this subject: the rows that match it
// are those whose shared key columns are equal.
const MissingFacts::Lack& MissingFacts::LackOf(const ColumnRead& read, const Schema& schema) {
  std::vector<Binding> keys;
  std::vector<Value> values;
  for (const std::string& key : schema.key)
    for (size_t i = 0; i < subject_columns_; ++i)
      if (scope_[i].name == key && std::ranges::find(rule_.subject_key, key) != rule_.subject_key.end()) {
        keys.push_back({key, scope_[i].value});
        values.push_back(scope_[i].value);
      }
  auto [entry, is_new] = lacks_.try_emplace({read.relation, read.column, std::move(values)});
  if (is_new) {
    const RowsOfColumn rows = Look(read, schema, keys);
    if (!rows.any)
      entry->second = {Lack::kNoRow, NoRowText(read, keys)};
    else if (rows.any_null)
      entry->second = NullOf(read, schema, rows, keys);
  }
  return entry->second;
}

// Visits the rows that have these values.
void MissingFacts::ForEachMatch(const Relation& relation, const std::vector<Binding>& keys,
                                const std::function<void(size_t)>& visit) {
  const Schema& schema = relation.schema();
  std::vector<size_t> columns;
  std::vector<EqualTo> values;
  bool is_indexed = !keys.empty() && relation.rows() < EqualIndex::kNone;
  for (const Binding& key : keys) {
    columns.push_back(*schema.Find(key.name));
    values.emplace_back(relation, columns.back(), CellLike(key.value));
    is_indexed &= schema.columns[columns.back()].type != Type::kReal;  // of which an index knows nothing
  }
  const auto look = [&](size_t row) {
    for (size_t i = 0; i < keys.size(); ++i)
      if (!IsSame(relation.At(row, columns[i]), keys[i].value)) return;
    visit(row);
  };
  if (!is_indexed) {
    for (size_t row = 0; row < relation.rows(); ++row) look(row);
    return;
  }
  // Of thousands of subjects each has its rows: not all are gone through for each.
  const EqualIndex& index = indexes_.try_emplace({&relation, columns}, relation, columns).first->second;
  for (uint32_t row = index.First(values); row != EqualIndex::kNone; row = index.After(row)) look(row);
}

MissingFacts::RowsOfColumn MissingFacts::Look(const ColumnRead& read, const Schema& schema,
                                              const std::vector<Binding>& keys) {
  const Relation& relation = *db_.FindRows(read.relation);
  const size_t column = *schema.Find(read.column);
  const auto is_null = [&](size_t row) { return relation.At(row, column).kind == CellView::Kind::kNull; };
  RowsOfColumn found;
  ForEachMatch(relation, keys, [&](size_t row) {
    found.any = true;
    found.any_null |= is_null(row);
  });
  if (!found.any_null || schema.key.empty()) return found;
  const size_t last_key = *schema.Find(schema.key.back());
  ForEachMatch(relation, keys, [&](size_t row) {
    found.nulls[ToValue(relation.At(row, last_key))] |= is_null(row);
    if (found.nulls.size() > kMostLooked) found.nulls.erase(std::prev(found.nulls.end()));
  });
  return found;
}

std::string MissingFacts::NoRowText(const ColumnRead& read, const std::vector<Binding>& keys) const {
  if (keys.empty() || db_.RowCount(read.relation) == 0)
    return fmt::format("{} has no rows here", read.relation);
  std::vector<std::string> shown;
  for (const Binding& key : keys)
    shown.push_back(fmt::format("{} {}", key.name, FormatValue(key.value, Unit::kNone)));
  return fmt::format("{} has no row of {}", read.relation, fmt::join(shown, ", "));
}

// " of bucket idle/input, idle/os and 3 more", where the last of the keys tells the rows of a subject
// apart. Of rows that the rule names only those.
MissingFacts::Lack MissingFacts::NullOf(const ColumnRead& read, const Schema& schema,
                                        const RowsOfColumn& rows, const std::vector<Binding>& keys) const {
  constexpr size_t kMost = 3;
  if (schema.key.empty() || schema.key.back() == read.column) return {Lack::kNull};
  const std::string& key = schema.key.back();
  if (const auto bound = std::ranges::find(keys, key, &Binding::name); bound != keys.end())
    return {Lack::kNull, "", {FormatValue(bound->value, Unit::kNone)}};
  std::vector<std::string> nulls, named;
  bool names_rows = false;
  for (const auto& [row, is_null] : rows.nulls) {
    const std::string name = FormatValue(row, Unit::kNone);
    const bool is_named = sql_.find("'" + name + "'") != std::string::npos;
    if (is_null) nulls.push_back(name);
    if (is_null && is_named) named.push_back(name);
    names_rows |= is_named;
  }
  const Lack::Kind kind = names_rows && named.empty() ? Lack::kNullElsewhere : Lack::kNull;
  std::vector<std::string> rows_of = named.empty() ? std::move(nulls) : std::move(named), shown = rows_of;
  const size_t more = shown.size() - std::min(shown.size(), kMost);
  shown.resize(shown.size() - more);
  return {kind,
          fmt::format(" of {} {}{}", key, fmt::join(shown, ", "),
                      more > 0 ? fmt::format(" and {} more", more) : ""),
          std::move(rows_of)};
}

void InheritMissing(const Finding& from, Finding& to) {
  for (const std::string& fact : from.missing)
    if (std::ranges::find(to.missing, fact) == to.missing.end()) to.missing.push_back(fact);
  std::ranges::sort(to.missing);
  for (const std::string& name : from.capture) AddCapture(to, name);
  for (const std::string& text : from.lacks) AddOnce(to.lacks, text);
}

}  // namespace dladvisor
