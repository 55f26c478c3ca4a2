// SPDX-License-Identifier: Apache-2.0
// JSON schemas, by Python's jsonschema.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace dladvisor::test {

// Of each YAML document why it does not fit the schema, a JSON text: one line, "" where it fits. Nothing where
// python3-jsonschema is not installed. Scalars are what YAML 1.2 has them for, and tags do not count.
std::optional<std::vector<std::string>> SchemaProblems(const std::string& schema,
                                                       const std::vector<std::string>& documents);

}  // namespace dladvisor::test
