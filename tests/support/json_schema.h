// SPDX-License-Identifier: Apache-2.0
// JSON schemas, by Python's jsonschema.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace dladvisor::test {

// An interpreter that has the package python3-jsonschema; "" where none does.
std::string PythonWithJsonschema();

// The first things that are wrong with the JSON files in the folder that end in `ending`, each with its file;
// "" where all keep to the schema.
std::string SchemaErrors(const std::filesystem::path& schema, const std::filesystem::path& folder,
                         const std::string& ending = ".json");

// Of each YAML document why it does not fit the schema, a JSON text: one line, "" where it fits. Nothing
// where python3-jsonschema is not installed. Scalars are what YAML 1.2 has them for, and tags do not count.
std::optional<std::vector<std::string>> SchemaProblems(const std::string& schema,
                                                       const std::vector<std::string>& documents);

}  // namespace dladvisor::test
