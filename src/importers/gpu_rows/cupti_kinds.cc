// SPDX-License-Identifier: Apache-2.0
#include "src/importers/gpu_rows/cupti_kinds.h"

#include <array>
#include <cstddef>

namespace dladvisor::gpu_rows {
namespace {

template <typename Kind, size_t n>
Kind At(const std::array<Kind, n>& kinds, int64_t number) {
  return number < 0 || number >= static_cast<int64_t>(n) ? Kind::kUnknown
                                                         : kinds[static_cast<size_t>(number)];
}

}  // namespace

CopyDirection CopyDirectionOf(int64_t kind) {
  using enum CopyDirection;
  static constexpr std::array kDirections = {
      kUnknown,
      kHostToDevice,
      kDeviceToHost,
      kHostToDevice,    // to an array, which is device memory with a layout
      kDeviceToHost,    // from one
      kDeviceToDevice,  // between arrays
      kDeviceToDevice,  // from an array
      kDeviceToDevice,  // to one
      kDeviceToDevice,
      kHostToHost,
      kPeerToPeer,
      kUnifiedHostToDevice,
      kUnifiedDeviceToHost,
      kUnifiedDeviceToDevice,
  };
  return At(kDirections, kind);
}

SyncKind SyncKindOf(int64_t type) {
  using enum SyncKind;
  static constexpr std::array kKinds = {kUnknown, kEvent, kStreamWaitEvent, kStream, kContext};
  return At(kKinds, type);
}

}  // namespace dladvisor::gpu_rows
