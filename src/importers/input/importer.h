// SPDX-License-Identifier: Apache-2.0
// What an importer is: a folder that declares one of these, and a line in the table of importers.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "src/importers/input/input.h"
#include "src/trace/trace.h"

namespace dladvisor {

struct Importer {
  enum class Fit : uint8_t { kNo, kUnlessAnother, kYes };

  // What it reads, in the list of everything readable; empty where another one names it.
  std::string_view in_list;
  // How its files end, separated by blanks: usually, and also.
  std::string_view extensions, more_extensions;

  // Whether it can read this, by the first bytes, the database's tables or, only where these say nothing, the
  // name.
  Fit (*fits)(const Input& input);
  // Nothing where it is none of its files after all. Throws Error where it is one and cannot be read.
  std::optional<Trace> (*read)(Input& input);
};

}  // namespace dladvisor
