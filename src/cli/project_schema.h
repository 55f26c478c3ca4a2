// SPDX-License-Identifier: Apache-2.0
// What dladvisor.yaml may hold: a JSON schema for editors, and a page with every key.
#pragma once

#include <string>

namespace dladvisor {

std::string ProjectSchema();  // JSON schema, draft 7
std::string ProjectDocs();    // Markdown: every key, and the functions that SQL of rules may call

}  // namespace dladvisor
