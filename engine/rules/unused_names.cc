// SPDX-License-Identifier: Apache-2.0
#include "engine/rules/unused_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/message.h"
#include "engine/sql/sql_text.h"

namespace dladvisor {

void CheckUse(const Rule& rule, Problems& problems) {
  std::vector<std::string> sql;
  for (const Let& let : rule.lets) sql.push_back(let.sql);
  for (const Condition& condition : rule.when) sql.push_back(condition.sql);
  if (rule.saves) sql.push_back(rule.saves->high.sql);
  if (rule.saves && rule.saves->low) sql.push_back(rule.saves->low->sql);
  if (rule.saves && rule.saves->now) sql.push_back(rule.saves->now->sql);
  if (rule.evidence) sql.push_back(rule.evidence->sql);
  sql.push_back(rule.subject_sql);
  for (const Helper& helper : rule.helpers) sql.push_back(helper.sql);
  std::vector<MessageName> messages = MessageNames(rule.problem.text);
  for (const Message& message : rule.recommendation)
    for (MessageName& name : MessageNames(message.text)) messages.push_back(std::move(name));
  for (MessageName& name : MessageNames(rule.code.text)) messages.push_back(std::move(name));
  const auto in_message = [&](const std::string& name) {
    return std::any_of(messages.begin(), messages.end(),
                       [&](const MessageName& m) { return m.name == name; });
  };
  for (const Param& param : rule.params) {
    const bool used = std::any_of(sql.begin(), sql.end(), [&](const std::string& text) {
      return FindParameter(text, param.name).has_value();
    });
    if (!used && !in_message(param.name))
      problems.Add(param.place, rule.id, fmt::format("param '{}' is never used", param.name));
  }
  for (const Helper& helper : rule.helpers)
    if (std::ranges::none_of(
            sql, [&](const std::string& text) { return text != helper.sql && NamesWord(text, helper.name); }))
      problems.Add(helper.place, rule.id, fmt::format("'{}' in 'with' is never used", helper.name));
  for (const Let& let : rule.lets) {
    const bool used = std::any_of(sql.begin(), sql.end(), [&](const std::string& text) {
      return NamesWord(text, let.name) || FindParameter(text, let.name).has_value();
    });
    if (!used && !in_message(let.name))
      problems.Add(let.place, rule.id, fmt::format("let '{}' is never used", let.name));
  }
}

}  // namespace dladvisor
