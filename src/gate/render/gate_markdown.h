// SPDX-License-Identifier: Apache-2.0
// The Markdown. Lists are cut to the same number of rows, halved until all of it fits into a comment.
#pragma once

#include <cstddef>
#include <string>

#include "src/gate/model/verdict.h"

namespace dladvisor {

// For a comment on a pull request and a job's summary. GitHub takes at most 65,536 characters as a comment:
// lists are cut so that it fits and say how many are left out.
inline constexpr size_t kMaxCommentSize = 65'000;
std::string RenderGateMarkdown(const GateResult& result);

}  // namespace dladvisor
