// SPDX-License-Identifier: Apache-2.0
#include "engine/base/error.h"

#include <utility>

namespace dladvisor {

Error::Error(std::string where, std::string reason, std::string hint)
    : std::runtime_error(where + ": " + reason + (hint.empty() ? "" : "\n  " + hint)),
      where_(std::move(where)),
      reason_(std::move(reason)),
      hint_(std::move(hint)) {}

}  // namespace dladvisor
