// SPDX-License-Identifier: Apache-2.0
// Relations that rule files declare: a SELECT over other relations, evaluated before the rules that read it.
//
//   relation: dear_order
//   doc: Orders above the average price.
//   key: [shop, number]
//   columns:
//     shop: {type: int}
//     number: {type: int}
//     price: {type: real, doc: In euros.}
//   sql: SELECT shop, number, price FROM orders WHERE price > (SELECT avg(price) FROM orders)
#pragma once

#include <memory>
#include <string>

#include "engine/model/rule.h"
#include "engine/rules/yaml_reader.h"
#include "engine/store/database.h"
#include "engine/store/relation.h"

namespace dladvisor {

// Keys, kinds and names. `stem` is the file's name, which must be the relation's.
DerivedRelation ReadDerivedRelation(const YamlFile& yaml, const std::string& stem, Problems& problems);

// Its SQL against the relations that `empty` holds; fills `reads` and what columns inherit from the facts
// they are made of: whether they may be NULL, and what must be recorded for them.
void CheckDerivedRelation(DerivedRelation& relation, const Database& empty, Problems& problems);

// Its rows. Throws SqlError where the SQL is stopped or gives a value of another type than declared.
std::unique_ptr<Table> Evaluate(const DerivedRelation& relation, const Database& db);

}  // namespace dladvisor
