// SPDX-License-Identifier: Apache-2.0
// Direction and memory of copies and sets: in their names, "Memcpy HtoD (Pageable -> Device)", or, where the
// name is "Memcpy" alone, in their arguments.
#pragma once

#include <string_view>

#include "src/importers/kineto/event.h"
#include "src/trace/kinds.h"

namespace dladvisor::kineto {

struct MemcpyKind {
  CopyDirection direction = CopyDirection::kUnknown;
  MemoryKind from = MemoryKind::kUnknown, to = MemoryKind::kUnknown;
};

// As in names ("Device Static"), as in arguments ("device_static"), or CUPTI's number.
MemoryKind MemoryOf(std::string_view text);
MemcpyKind MemcpyKindOf(const Event& copy);
MemoryKind SetMemoryOf(const Event& set);

}  // namespace dladvisor::kineto
