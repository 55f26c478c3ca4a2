// SPDX-License-Identifier: Apache-2.0
// Checked rules as bytes. The build makes them of the built-in rules, which are thereby checked once and for
// all: a program reads the bytes back in microseconds, where reading and checking YAML takes milliseconds.
#pragma once

#include <string>
#include <string_view>

#include "engine/rules/knowledge_base.h"

namespace dladvisor {

std::string WriteRuleImage(const KnowledgeBase& knowledge);

// Fills `knowledge`, whose schemas must be those of the writer. REQUIRES: it holds no rules, and the image
// was written by this version of the program.
void ReadRuleImage(std::string_view image, KnowledgeBase& knowledge);

}  // namespace dladvisor
