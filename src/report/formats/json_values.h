// SPDX-License-Identifier: Apache-2.0
// Values of the report as JSON: text as the profile has it but for invalid UTF-8, numbers that are not finite
// as null.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/advice.h"
#include "engine/store/database.h"

namespace dladvisor {

using OrderedJson = nlohmann::ordered_json;

OrderedJson ToJson(const std::optional<double>& number);
OrderedJson ToJson(const Value& value);
OrderedJson ToJson(const std::vector<std::string>& texts);
// {low_ns, high_ns, bucket}, or null.
OrderedJson ToJson(const std::optional<SavingClaim>& saves);
// The key columns by name.
OrderedJson SubjectToJson(const Finding& finding);
OrderedJson ColumnsToJson(const ResultSet& rows);
// The first rows.
OrderedJson RowsToJson(const ResultSet& rows, size_t most = SIZE_MAX);

}  // namespace dladvisor
