// SPDX-License-Identifier: Apache-2.0
// The facts of a run written by hand, in the relations that analyses declare.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/analysis/efficiency/op_efficiency.h"
#include "src/analysis/ops/kernel_name.h"
#include "src/analysis/ops/op.h"
#include "src/analysis/ops/op_kernel.h"
#include "src/analysis/ops/range_name.h"
#include "src/analysis/summary/gpu.h"
#include "src/analysis/summary/profile.h"
#include "src/analysis/summary/run.h"
#include "src/analysis/summary/system.h"
#include "src/analysis/timeline/step.h"
#include "src/analysis/timeline/step_ledger.h"
#include "src/fleet/load_profiles.h"

namespace dladvisor::test {

class Facts {
 public:
  template <class Row>
  Facts& Give(const RelationOf<Row>& relation, std::vector<Row> rows) {
    tables_.push_back(std::make_shared<Table>(relation.ToTable(rows)));
    return *this;
  }

  // Relations that were not given are empty. The facts must outlive it.
  Database Build() const {
    Database database;
    for (const Schema* schema : AllSchemas()) database.Add(std::make_unique<Table>(*schema));
    for (const auto& table : tables_) database.Add(*table);
    return database;
  }

 private:
  std::vector<std::shared_ptr<const Table>> tables_;
};

// A run of rank 0 on one A100 with these steps, all of their time in one bucket of the ledger.
Facts RunOf(const std::vector<int64_t>& steps);

}  // namespace dladvisor::test
