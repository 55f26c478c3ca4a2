#include "engine/message.h"

#include <algorithm>
#include <kainjow/mustache.hpp>

#include "engine/base/error.h"

namespace dladvisor {

std::string RenderMessage(const std::string& mustache, std::span<const NamedValue> scope) {
  kainjow::mustache::mustache message(mustache);
  if (!message.is_valid()) throw Error("message", message.error_message());
  message.set_custom_escape([](const std::string& text) { return text; });
  kainjow::mustache::data data;
  for (const NamedValue& named : scope) data.set(named.name, FormatValue(named.value, named.unit));
  for (const std::string& name : MessageNames(mustache))
    if (std::none_of(scope.begin(), scope.end(), [&](const NamedValue& v) { return v.name == name; }))
      throw Error("message", "no value named '" + name + "'");
  return message.render(data);
}

std::vector<std::string> MessageNames(const std::string& mustache) {
  std::vector<std::string> names;
  for (size_t open = mustache.find("{{"); open != std::string::npos; open = mustache.find("{{", open + 2)) {
    const size_t close = mustache.find("}}", open);
    if (close == std::string::npos) break;
    std::string name = mustache.substr(open + 2, close - open - 2);
    const size_t first = name.find_first_not_of(" {&");
    const size_t last = name.find_last_not_of(" }");
    if (first == std::string::npos || last == std::string::npos) continue;
    name = name.substr(first, last - first + 1);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace dladvisor
