// Relations that rule files declare: a SELECT over other relations, evaluated before the rules that read it.
//
//   relation: tiny_kernel_op
//   doc: Ops that spend their time in kernels shorter than their launch.
//   key: [rank, op]
//   columns: {rank: {type: int}, op: {type: text}, tiny_ns: {type: int, unit: ns, doc: Time in such
//   kernels.}} sql: SELECT rank, op, sum(gpu_ns) AS tiny_ns FROM op_kernel WHERE avg_gpu_ns < avg_api_ns
//   GROUP BY rank, op
#pragma once

#include <memory>
#include <string>

#include "engine/database.h"
#include "engine/relation.h"
#include "engine/rule.h"
#include "engine/yaml_reader.h"

namespace dladvisor {

// Keys, kinds and names. `stem` is the file's name, which must be the relation's.
DerivedRelation ReadDerivedRelation(const YamlFile& yaml, const std::string& stem, Problems& problems);

// Its SQL against the relations that `empty` holds; fills `reads` and what columns inherit from the facts
// they are made of: whether they may be NULL, and the capture flags that supply them.
void CheckDerivedRelation(DerivedRelation& relation, const Database& empty, Problems& problems);

// Its rows. Throws SqlError where the SQL is stopped or gives a value of another type than declared.
std::unique_ptr<Table> Evaluate(const DerivedRelation& relation, const Database& db);

}  // namespace dladvisor
