// SPDX-License-Identifier: Apache-2.0
#include "engine/base/freed_memory.h"
#include "src/cli/cli.h"

int main(int argc, char** argv) {
  dladvisor::ReuseFreedMemory();
  return dladvisor::Main(argc, argv);
}
