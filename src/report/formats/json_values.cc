// SPDX-License-Identifier: Apache-2.0
#include "src/report/formats/json_values.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "engine/base/text.h"
#include "src/report/model/column_style.h"

namespace dladvisor {

OrderedJson ToJson(const std::optional<double>& number) {
  return number && std::isfinite(*number) ? OrderedJson(*number) : OrderedJson();
}

OrderedJson ToJson(const Value& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return *integer;
  if (const auto* real = std::get_if<double>(&value)) return ToJson(std::optional<double>(*real));
  if (const auto* text = std::get_if<std::string>(&value)) return ValidUtf8(*text);
  return nullptr;
}

OrderedJson ToJson(const std::vector<std::string>& texts) {
  OrderedJson items = OrderedJson::array();
  for (const std::string& text : texts) items.push_back(ValidUtf8(text));
  return items;
}

OrderedJson ToJson(const std::optional<SavingClaim>& saves) {
  if (!saves) return nullptr;
  return {{"low_ns", ToJson(saves->low_ns)},
          {"high_ns", ToJson(saves->high_ns)},
          {"bucket", ValidUtf8(saves->bucket)}};
}

OrderedJson SubjectToJson(const Finding& finding) {
  OrderedJson subject = OrderedJson::object();
  for (const NamedValue& key : finding.subject) subject[ValidUtf8(key.name)] = ToJson(key.value);
  return subject;
}

OrderedJson ColumnsToJson(const ResultSet& rows) {
  OrderedJson items = OrderedJson::array();
  for (const ResultColumn& column : rows.columns) {
    const ColumnStyle style = StyleOf(column);
    items.push_back({{"name", ValidUtf8(column.name)},
                     {"label", ValidUtf8(style.label)},
                     {"unit", std::string(UnitName(style.unit))}});
  }
  return items;
}

OrderedJson RowsToJson(const ResultSet& rows, size_t most) {
  OrderedJson items = OrderedJson::array();
  for (size_t i = 0; i < std::min(rows.rows.size(), most); ++i) {
    OrderedJson cells = OrderedJson::array();
    for (const Value& value : rows.rows[i]) cells.push_back(ToJson(value));
    items.push_back(std::move(cells));
  }
  return items;
}

}  // namespace dladvisor
