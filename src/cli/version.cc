// SPDX-License-Identifier: Apache-2.0
#include "src/cli/version.h"

#include <fmt/format.h>
#include <simdjson.h>

#include "src/cli/session.h"

namespace dladvisor {

std::string VersionText() {
  return fmt::format("{}\nbuilt with {} for {}, {}\nlibraries: {}\nCPU: JSON is read by simdjson's {}",
                     kProgram, DLADVISOR_COMPILER, DLADVISOR_TARGET, DLADVISOR_BUILD, DLADVISOR_LIBRARIES,
                     simdjson::get_active_implementation()->name());
}

}  // namespace dladvisor
