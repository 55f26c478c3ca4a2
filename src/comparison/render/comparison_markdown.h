// SPDX-License-Identifier: Apache-2.0
// A comparison as GitHub-flavoured Markdown, e.g. for the text of a pull request.
#pragma once

#include <string>

#include "src/comparison/compare_runs.h"

namespace dladvisor {

std::string RenderComparisonMarkdown(const RunsCompared& compared, const std::string& generator);

}  // namespace dladvisor
