// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/memcpy_kind.h"

#include <array>
#include <string_view>
#include <utility>

namespace dladvisor::kineto {

MemoryKind MemoryOf(std::string_view text) {
  using Memories = std::pair<std::string_view, MemoryKind>;
  static constexpr std::array kMemories = {
      Memories{"Pageable", MemoryKind::kPageable},
      Memories{"pageable", MemoryKind::kPageable},
      Memories{"1", MemoryKind::kPageable},
      Memories{"Pinned", MemoryKind::kPinned},
      Memories{"pinned", MemoryKind::kPinned},
      Memories{"2", MemoryKind::kPinned},
      Memories{"Device", MemoryKind::kDevice},
      Memories{"device", MemoryKind::kDevice},
      Memories{"3", MemoryKind::kDevice},
      Memories{"Device Static", MemoryKind::kDevice},
      Memories{"device_static", MemoryKind::kDevice},
      Memories{"6", MemoryKind::kDevice},
      Memories{"Array", MemoryKind::kArray},
      Memories{"array", MemoryKind::kArray},
      Memories{"4", MemoryKind::kArray},
      Memories{"Managed", MemoryKind::kManaged},
      Memories{"managed", MemoryKind::kManaged},
      Memories{"5", MemoryKind::kManaged},
      Memories{"Managed Static", MemoryKind::kManaged},
      Memories{"managed_static", MemoryKind::kManaged},
      // Of Intel's GPUs: memory of the system, and that of SYCL's allocations.
      Memories{"MEMORY(Unknown)", MemoryKind::kPageable},
      Memories{"HOST", MemoryKind::kPinned},
      Memories{"DEVICE", MemoryKind::kDevice},
      Memories{"SHARED", MemoryKind::kManaged},
      Memories{"7", MemoryKind::kManaged},
  };
  for (const auto& [name, kind] : kMemories)
    if (text == name) return kind;
  return MemoryKind::kUnknown;
}

namespace {

// `text` holds "HtoD", "HostToDevice" or "M2D". Arrays are device memory with a layout.
CopyDirection DirectionIn(std::string_view text) {
  using Direction = std::pair<std::string_view, CopyDirection>;
  static constexpr std::array kDirections = {
      Direction{"HtoD", CopyDirection::kHostToDevice},
      Direction{"HostToDevice", CopyDirection::kHostToDevice},
      Direction{"HtoA", CopyDirection::kHostToDevice},
      Direction{"DtoH", CopyDirection::kDeviceToHost},
      Direction{"AtoH", CopyDirection::kDeviceToHost},
      Direction{"DeviceToHost", CopyDirection::kDeviceToHost},
      Direction{"DtoD", CopyDirection::kDeviceToDevice},
      Direction{"DeviceToDevice", CopyDirection::kDeviceToDevice},
      Direction{"DtoA", CopyDirection::kDeviceToDevice},
      Direction{"AtoD", CopyDirection::kDeviceToDevice},
      Direction{"AtoA", CopyDirection::kDeviceToDevice},
      Direction{"PtoP", CopyDirection::kPeerToPeer},
      Direction{"PeerToPeer", CopyDirection::kPeerToPeer},
      Direction{"HtoH", CopyDirection::kHostToHost},
      Direction{"HostToHost", CopyDirection::kHostToHost},
      // Of Intel's GPUs, "M" being memory that SYCL did not allocate.
      Direction{"M2D", CopyDirection::kHostToDevice},
      Direction{"H2D", CopyDirection::kHostToDevice},
      Direction{"D2M", CopyDirection::kDeviceToHost},
      Direction{"D2H", CopyDirection::kDeviceToHost},
      Direction{"D2D", CopyDirection::kDeviceToDevice},
  };
  for (const auto& [name, direction] : kDirections)
    if (text.find(name) != std::string_view::npos) return direction;
  return CopyDirection::kUnknown;
}

}  // namespace

MemcpyKind MemcpyKindOf(const Event& copy) {
  constexpr std::string_view kHostToHost = "9";  // which some writers have no name for
  if (!copy.copy_kind.empty())
    return {copy.copy_kind == kHostToHost ? CopyDirection::kHostToHost : DirectionIn(copy.copy_kind),
            MemoryOf(copy.from), MemoryOf(copy.to)};
  MemcpyKind kind{.direction = DirectionIn(copy.name)};
  const std::string_view name = copy.name;
  const size_t open = name.find('('), arrow = name.find(" -> "), close = name.rfind(')');
  if (open == std::string_view::npos || arrow == std::string_view::npos || close == std::string_view::npos ||
      arrow < open || close < arrow)
    return kind;
  kind.from = MemoryOf(name.substr(open + 1, arrow - open - 1));
  kind.to = MemoryOf(name.substr(arrow + 4, close - arrow - 4));
  return kind;
}

MemoryKind SetMemoryOf(const Event& set) {
  if (!set.memory.empty()) return MemoryOf(set.memory);
  const size_t open = set.name.find('('), close = set.name.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return MemoryKind::kUnknown;
  return MemoryOf(set.name.substr(open + 1, close - open - 1));
}

}  // namespace dladvisor::kineto
