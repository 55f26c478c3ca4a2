// SPDX-License-Identifier: Apache-2.0
// Which work of one run is that of another. Libraries, versions and vendors call the same work otherwise
// (cuBLAS has `nvjet_...` where rocBLAS has `Cijk_...` and a compiler `triton_...`), so that what has no
// partner of its own name is put together, step by step: with what the same operator launches for the same
// kind of work, then with all that is left of the kind.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/comparison/recorded_run.h"

namespace dladvisor {

struct WorkAmount {
  double calls = 0, ns = 0;
  std::optional<double> attained_share;
};

enum class MatchedBy { kName, kOperator, kKind, kNothing };
// "name", "operator", "kind", "".
std::string_view MatchedByName(MatchedBy matched);

struct WorkPair {
  std::string before_name, after_name;         // of the one with most time; "" where the side has none
  size_t before_others = 0, after_others = 0;  // more names that are put together with it
  std::string kind;
  MatchedBy matched = MatchedBy::kNothing;
  std::optional<WorkAmount> before, after;
};

// Work of equal names; what is left stands alone. In order of the first time found, those of `before` first.
std::vector<WorkPair> MatchByName(std::span<const RecordedWork> before, std::span<const RecordedWork> after);

// Operators by path; then by what is left of it without the names of libraries.
std::vector<WorkPair> MatchOperators(std::span<const RecordedWork> before,
                                     std::span<const RecordedWork> after);

// Operators by name, shapes and type; then all shapes of one operator.
std::vector<WorkPair> MatchShapes(std::span<const RecordedWork> before, std::span<const RecordedWork> after);

// By name, then by the last range of the operator's path and kind, then by kind.
std::vector<WorkPair> MatchKernels(std::span<const RecordedWork> before, std::span<const RecordedWork> after);

// Sums by kind: "" counts to "other".
std::vector<WorkPair> SumByKind(std::span<const RecordedWork> before, std::span<const RecordedWork> after);

}  // namespace dladvisor
