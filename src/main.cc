// SPDX-License-Identifier: Apache-2.0
#include "src/cli/cli.h"

int main(int argc, char** argv) { return dladvisor::Main(argc, argv); }
