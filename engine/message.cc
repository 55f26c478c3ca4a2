#include "engine/message.h"

#include <algorithm>
#include <kainjow/mustache.hpp>
#include <utility>

#include "engine/base/error.h"

namespace dladvisor {

std::string RenderMessage(const std::string& mustache, std::span<const NamedValue> scope) {
  kainjow::mustache::mustache message(mustache);
  if (!message.is_valid()) throw Error("message", message.error_message());
  message.set_custom_escape([](const std::string& text) { return text; });
  kainjow::mustache::data data;
  for (const NamedValue& named : scope) data.set(named.name, FormatValue(named.value, named.unit));
  for (const MessageName& name : MessageNames(mustache))
    if (std::none_of(scope.begin(), scope.end(), [&](const NamedValue& v) { return v.name == name.name; }))
      throw Error("message", "no value named '" + name.name + "'");
  return message.render(data);
}

std::vector<MessageName> MessageNames(const std::string& mustache) {
  std::vector<MessageName> names;
  for (size_t open = mustache.find("{{"); open != std::string::npos; open = mustache.find("{{", open + 2)) {
    const size_t close = mustache.find("}}", open);
    if (close == std::string::npos) break;
    const size_t first = mustache.find_first_not_of(" {&", open + 2);
    if (first >= close) continue;
    const size_t last = mustache.find_last_not_of(" }", close - 1);
    MessageName name{mustache.substr(first, last - first + 1), first};
    if (std::none_of(names.begin(), names.end(), [&](const MessageName& n) { return n.name == name.name; }))
      names.push_back(std::move(name));
  }
  return names;
}

}  // namespace dladvisor
