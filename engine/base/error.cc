// SPDX-License-Identifier: Apache-2.0
#include "engine/base/error.h"

#include <string_view>
#include <utility>

namespace dladvisor {

Error::Error(std::string where, std::string reason, std::string hint)
    : std::runtime_error(where + ": " + reason + (hint.empty() ? "" : "\n  " + hint)),
      where_(std::move(where)),
      reason_(std::move(reason)),
      hint_(std::move(hint)) {}

std::string InOneLine(std::string message) {
  constexpr std::string_view kBetween = "\n  ";
  for (size_t at; (at = message.find(kBetween)) != std::string::npos;) {
    const size_t hint = at + kBetween.size();
    const bool sentence = hint < message.size() && message[hint] >= 'A' && message[hint] <= 'Z';
    message.replace(at, kBetween.size(), sentence ? ". " : "; ");
  }
  return message;
}

}  // namespace dladvisor
