// SPDX-License-Identifier: Apache-2.0
// What was judged, for people: at the terminal, and as docs/ACCURACY.md.
#pragma once

#include <string>
#include <vector>

#include "tests/corpus/evaluation/judge.h"

namespace dladvisor::evaluation {

// Every finding, cause, range, figure and first recommendation that is not right, one line each.
std::string Misses(const std::vector<JudgedFile>& files);

// `half`: seen, unseen, or "" for both. Misses of the unseen half only where asked for.
std::string AsText(const std::vector<JudgedFile>& files, const std::vector<JudgedPair>& pairs,
                   const std::string& half, bool misses_of_unseen);
std::string AsMarkdown(const std::vector<JudgedFile>& files, const std::vector<JudgedPair>& pairs);

}  // namespace dladvisor::evaluation
