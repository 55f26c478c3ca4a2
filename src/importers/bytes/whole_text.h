// SPDX-License-Identifier: Apache-2.0
// All bytes of a file of a format that is small: one document, not a stream of events.
#pragma once

#include <string>

#include "src/importers/bytes/byte_source.h"

namespace dladvisor {

// Throws Error where it is larger than such documents are.
std::string WholeText(ByteSource& source);

}  // namespace dladvisor
