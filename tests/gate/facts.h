// The facts of a run written by hand, in the relations that analyses declare.
#pragma once

#include <list>
#include <span>
#include <string>
#include <vector>

#include "src/analysis/gpu.h"
#include "src/analysis/kernel_name.h"
#include "src/analysis/op.h"
#include "src/analysis/profile.h"
#include "src/analysis/range_name.h"
#include "src/analysis/run.h"
#include "src/analysis/step.h"
#include "src/analysis/step_ledger.h"
#include "src/analysis/system.h"
#include "src/fleet/profile.h"

namespace dladvisor::test {

class Facts {
 public:
  template <class Row>
  Facts& Give(const RelationOf<Row>& relation, std::vector<Row> rows) {
    tables_.push_back(relation.ToTable(rows));
    return *this;
  }

  // Relations that were not given are empty. The facts must outlive it.
  Database Build() const {
    Database database;
    for (const Schema* schema : AllSchemas()) database.Add(std::make_unique<Table>(*schema));
    for (const Table& table : tables_) database.Add(table);
    return database;
  }

 private:
  std::list<Table> tables_;
};

// A run of rank 0 on one A100 with these steps, all of their time in one bucket of the ledger.
Facts RunOf(const std::vector<int64_t>& steps);

}  // namespace dladvisor::test
