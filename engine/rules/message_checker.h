// SPDX-License-Identifier: Apache-2.0
// Checks what a rule says: its values exist and fit where they stand.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/model/message.h"
#include "engine/model/rule.h"
#include "engine/rules/yaml_reader.h"
#include "engine/sql/sql_type.h"

namespace dladvisor {

// What a message may name.
struct MessageScope {
  std::string rule;                             // its id
  std::vector<std::string> names;               // params, columns of the subject, lets
  const std::map<std::string, SqlType>& types;  // of columns and lets, as far as they are known
};

void CheckMessage(const Message& message, const MessageScope& scope, Problems& problems, Problems& warnings);

}  // namespace dladvisor
