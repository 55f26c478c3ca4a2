// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/base/error.h"

namespace dladvisor::sqlite {

// A database that is truncated or damaged.
class Damaged : public Error {
 public:
  Damaged(const std::string& where, const std::string& reason)
      : Error(where, reason, "copy the file again, or have its profiler write or export it again") {}
};

}  // namespace dladvisor::sqlite
