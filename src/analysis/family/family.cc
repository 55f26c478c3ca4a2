// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/family/family.h"

#include <algorithm>

namespace dladvisor {

const Table* FleetTables::Find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(tables, [&](const Table& table) { return table.schema().name == name; });
  return found == tables.end() ? nullptr : &*found;
}

Family MakeFamily(const Schema& schema, std::vector<const ValueKind*> inputs,
                  std::function<std::shared_ptr<void>(const ComputedValues& values)> compute) {
  auto kind = std::make_shared<ValueKind>();
  kind->name = schema.name;
  kind->inputs = std::move(inputs);
  kind->subject = SubjectOf(kind->inputs);
  kind->compute = std::move(compute);
  Family family;
  family.schema = &schema;
  family.kind = std::move(kind);
  return family;
}

std::shared_ptr<void> SharedRelation(Table table) {
  return std::shared_ptr<Relation>(std::make_shared<Table>(std::move(table)));
}

}  // namespace dladvisor
