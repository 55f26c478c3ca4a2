// SPDX-License-Identifier: Apache-2.0
#include "engine/rules/message_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "engine/base/error.h"
#include "engine/base/text.h"

namespace dladvisor {
namespace {

// A value of no known unit may be a time.
Unit UnitOf(const MessageScope& scope, const std::string& name) {
  const auto type = scope.types.find(name);
  return type == scope.types.end() ? Unit::kNanoseconds : type->second.unit.value_or(Unit::kNanoseconds);
}

// What an author may write after a value that brings its unit: "12.3 ms ms".
std::string UnitAfter(const std::string& text, const MessageName& name, const SqlType& type) {
  using Units = std::vector<std::string>;
  static const std::map<Unit, Units> units = {
      {Unit::kNanoseconds, {"ns", "us", "µs", "ms", "s", "seconds", "milliseconds", "nanoseconds"}},
      {Unit::kRatio, {"%", "percent"}},
      {Unit::kBytes, {"bytes", "B", "kB", "KB", "MB", "GB", "KiB", "MiB", "GiB"}}};
  const auto known = type.unit ? units.find(*type.unit) : units.end();
  if (known == units.end()) return "";
  size_t at = text.find("}}", name.offset);
  if (at == std::string::npos) return "";
  at = std::min(text.find_first_not_of("} ", at), text.size());
  const std::string word = text.substr(at, text.find_first_of(" \n.,;:)", at) - at);
  return std::ranges::count(known->second, word) > 0 ? word : "";
}

bool EndsWord(const std::string& text, size_t at) {
  return at >= text.size() || !(std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
}

// Of "{{share * 100}}" as the author wrote it.
std::string NoPlainValue(const std::string& text, const MessageName& name) {
  const size_t open = text.rfind("{{", name.offset), close = text.find("}}", name.offset);
  if (open == std::string::npos || close == std::string::npos) return "opens {{ and does not close it";
  const std::string tag = text.substr(open + 2, close - open - 2);
  return fmt::format(
      "{{{{{}}}}} is not a plain value: for words that depend on a value make a let with iif(), and "
      "calculate "
      "in a let",
      tag);
}

// Where a {{ stands that another follows before it is closed, or npos.
size_t FindOpenBraces(const std::string& text) {
  for (size_t open = text.find("{{"); open != std::string::npos;) {
    const size_t inner = text.find_first_not_of('{', open), close = text.find("}}", open);
    if (text.find("{{", inner) < close) return open;
    open = text.find("{{", close);
  }
  return std::string::npos;
}

}  // namespace

void CheckMessage(const Message& message, const MessageScope& scope, Problems& problems, Problems& warnings) {
  const std::vector<std::string>& names = scope.names;
  if (const size_t open = FindOpenBraces(message.text); open != std::string::npos)
    return problems.AddInText(message.place, scope.rule, "opens {{ and does not close it", message.text,
                              static_cast<int>(message.text.find_first_not_of(' ', open + 2)));
  const std::vector<MessageName> used = MessageNames(message.text);
  for (const MessageName& name : used) {
    if (std::any_of(used.begin(), used.end(),
                    [&](const MessageName& n) { return n.name == name.name && n.section != name.section; })) {
      problems.AddInText(
          message.place, scope.rule,
          fmt::format("'{}' is both a section and a value: make a let for the section", name.name),
          message.text, static_cast<int>(name.offset));
      return;
    }
    if (std::find(names.begin(), names.end(), name.name) != names.end()) {
      if (name.per_period && UnitOf(scope, name.name) != Unit::kNanoseconds)
        problems.AddInText(message.place, scope.rule,
                           fmt::format("'{}' is no time: '/step' is for values in ns", name.name),
                           message.text, static_cast<int>(name.offset));
      continue;
    }
    problems.AddInText(message.place, scope.rule,
                       IsName(name.name)
                           ? fmt::format("no value named '{}'{}", name.name, DidYouMean(name.name, names))
                           : NoPlainValue(message.text, name),
                       message.text, static_cast<int>(name.offset));
    return;  // a tag that is not a value may change what the rest means
  }
  for (const MessageName& name : used)
    if (const auto type = scope.types.find(name.name); type != scope.types.end() && !name.section)
      if (const std::string unit = UnitAfter(message.text, name, type->second); !unit.empty())
        warnings.Add(message.place, scope.rule,
                     fmt::format("{{{{{}}}}} brings its unit: leave out '{}' after it", name.name, unit));
  if (const size_t at = message.text.find("{%");
      at != std::string::npos && message.text.find("%}", at) != std::string::npos)
    warnings.AddInText(message.place, scope.rule,
                       "{% ... %} is shown as it is: {{#name}}...{{/name}} shows what it holds where name is "
                       "neither NULL, 0 nor empty",
                       message.text, static_cast<int>(at));
  for (const std::string& name : names)
    for (const std::string& other : {"%(" + name + ")s", "$" + name, "<" + name + ">", "#{" + name + "}"})
      if (const size_t at = message.text.find(other);
          at != std::string::npos && EndsWord(message.text, at + other.size()))
        warnings.AddInText(message.place, scope.rule,
                           fmt::format("{} is shown as it is: {{{{{}}}}} is the value", other, name),
                           message.text, static_cast<int>(at));
  for (const std::string& name : names)
    if (const size_t at = message.text.find("{" + name + "}");
        at != std::string::npos && (at == 0 || message.text[at - 1] != '{'))
      warnings.Add(message.place, scope.rule,
                   fmt::format("{{{0}}} is shown as it is: {{{{{0}}}}} is the value", name));
  std::vector<NamedValue> values;
  for (const std::string& name : names) values.push_back({name, Value(int64_t{1}), Unit::kNone});
  try {
    RenderMessage(message.text, values);
  } catch (const Error& error) {
    problems.Add(message.place, scope.rule, error.reason());
  }
}

}  // namespace dladvisor
