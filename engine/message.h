// Mustache messages whose values print by their unit: {{idle_share}} -> "31.0 %". Text is not HTML-escaped
// here (renderers escape); a name that is not in scope is an Error. Plain variables are all there is: words
// that depend on a value are a `let` with iif().
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/advice.h"

namespace dladvisor {

std::string RenderMessage(const std::string& mustache, std::span<const NamedValue> scope);
// A name between {{ }} and where it starts.
struct MessageName {
  std::string name;
  size_t offset = 0;
};
// Every name in a message, once, for checks at load.
std::vector<MessageName> MessageNames(const std::string& mustache);

}  // namespace dladvisor
