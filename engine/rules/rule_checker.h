// SPDX-License-Identifier: Apache-2.0
// Checks rules against the declared relations, without a trace: every statement is prepared, every name must
// exist and be used, types and units must fit. What rules refer to is evaluation_order.h's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/model/rule.h"
#include "engine/model/savings.h"
#include "engine/rules/yaml_reader.h"
#include "engine/sql/type_inference.h"
#include "engine/store/database.h"
#include "engine/store/relation.h"

namespace dladvisor {

// Types of the columns that a statement reads, by their names: nothing where columns of a name differ.
ResolveName TypesOfReads(const Database& db, std::vector<ColumnRead> reads);

// Types of `text`; what nobody means in it is a problem at its place.
SqlTypes CheckTypes(const std::string& text, const Place& place, const std::string& rule,
                    const ResolveName& resolve, Problems& problems);

// Problems of one rule by itself. Fills what follows from its SQL: the subject's key, units, the relations
// that it reads, the comparisons of its conditions. `empty` has every relation, without rows.
void CheckRule(Rule& rule, const Database& empty, const std::optional<Ledger>& ledger, Problems& problems,
               Problems& warnings);

}  // namespace dladvisor
