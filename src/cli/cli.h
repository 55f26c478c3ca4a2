// SPDX-License-Identifier: Apache-2.0
// The command line: one command, one file. Results go to stdout, messages to stderr.
#pragma once

namespace dladvisor {

// Exit status: 0 clean, 1 gate failed, 2 not comparable, 3 bad usage or unreadable input.
int Main(int argc, char** argv);

}  // namespace dladvisor
