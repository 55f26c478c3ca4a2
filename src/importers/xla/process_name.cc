// SPDX-License-Identifier: Apache-2.0
#include "src/importers/xla/process_name.h"

#include <re2/re2.h>

#include <charconv>

namespace dladvisor::xla {

std::optional<ProcessKind> ProcessKindOf(std::string_view name) {
  static const RE2 form(
      R"(^(?:/job:[^/]+)?(?:/replica:\d+)?(?:/task:\d+)?/(?:host:(CPU)|device:(?:XLA_)?(CPU|GPU|TPU|CUSTOM):(\d+))(?: \(.*\))?$)");
  re2::StringPiece host, device, ordinal;
  if (!RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), form, &host, &device, &ordinal))
    return std::nullopt;
  ProcessKind kind;
  std::from_chars(ordinal.data(), ordinal.data() + ordinal.size(), kind.ordinal);
  if (!host.empty())
    kind.kind = ProcessKind::Kind::kHost;
  else if (device == "GPU")
    kind.kind = ProcessKind::Kind::kGpu;
  else if (device == "TPU")
    kind.kind = ProcessKind::Kind::kTpu;
  return kind;
}

std::optional<int64_t> StreamOf(std::string_view thread) {
  static const RE2 form(R"(^(?i:stream) #(\d+)(?:\(|$))");
  int64_t stream = 0;
  if (!RE2::PartialMatch(re2::StringPiece(thread.data(), thread.size()), form, &stream)) return std::nullopt;
  return stream;
}

}  // namespace dladvisor::xla
