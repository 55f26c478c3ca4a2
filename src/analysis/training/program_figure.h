// SPDX-License-Identifier: Apache-2.0
// Times and rates that a program prints by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"
#include "src/trace/program_output.h"

namespace dladvisor {

struct ProgramFigureRow {
  int64_t profile = 0, figure = 0;
  std::string name;
  std::optional<std::string> unit;
  int64_t count = 0;
  std::optional<double> mean_ns, least_ns, most_ns, mean_rate, least_rate, most_rate;
};
const RelationOf<ProgramFigureRow>& ProgramFigureRelation();

std::vector<ProgramFigureRow> ComputeProgramFigures(const Context& context);

// The first few in words: "decode 18.4 to 22.1 tokens/s (6 times), load 334 s".
std::string FiguresText(const ProgramOutput& output);

template <>
inline constexpr Computed kValue<std::vector<ProgramFigureRow>>{"program_figure rows", ComputeProgramFigures};

}  // namespace dladvisor
