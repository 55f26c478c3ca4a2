// SPDX-License-Identifier: Apache-2.0
// The SQL around a rule's expressions: its subjects with the values of its lets, under the alias `subject`,
// so that sub-queries can name the subject's columns unambiguously (subject.shop).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/rule.h"
#include "engine/store/database.h"

namespace dladvisor {

// How often a let is computed for a subject.
enum class LetValues : uint8_t {
  kWhereNamed,  // each time that it is named, as far as that decides anything
  kOnce,        // once, and not where it is named, which SQLite would copy it to
};

// SELECT of the subjects with the first `lets` lets as further columns.
std::string SubjectSql(const Rule& rule, size_t lets, LetValues values = LetValues::kWhereNamed);

// SELECT of one expression over SubjectSql(rule, lets); the expression starts at kExpressionOffset.
inline constexpr int kExpressionOffset = 8;
std::string ExpressionSql(const Rule& rule, size_t lets, const std::string& expression);

// A statement of the rule with its helpers before it, each computed once. What is added stands in front of
// the statement's text, but for a WITH of its own, which becomes a comma.
std::string WithHelpers(const Rule& rule, const std::string& statement);

// The rule's params as bindings.
std::vector<Binding> ParamBindings(const Rule& rule);

// Columns of the relations that an expression reads itself or through those of the first `lets` lets that it
// names, sorted; of these only those that `follow` is true for, where it is given. `db` needs only the
// schemas.
std::vector<ColumnRead> ExpressionReads(const Rule& rule, const Database& db, size_t lets,
                                        const std::string& expression,
                                        const std::vector<bool>* follow = nullptr);

}  // namespace dladvisor
