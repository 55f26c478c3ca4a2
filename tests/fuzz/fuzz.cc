// SPDX-License-Identifier: Apache-2.0
// One program for all readers, with libFuzzer's main: fuzz --reader=NAME [OPTION...] FOLDER...
// A sanitizer's report, a crash, an exception that is no Error, more time or memory than is allowed:
// libFuzzer writes the input to a file, which becomes a case in tests/fuzz/cases/NAME.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "tests/fuzz/database_mutator.h"
#include "tests/fuzz/readers.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

const dladvisor::fuzz::Reader* reader = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = (*argv)[i];
    if (argument.starts_with("--reader=")) reader = dladvisor::fuzz::FindReader(argument.substr(9));
  }
  if (reader != nullptr) return 0;
  std::fputs("--reader=NAME is one of", stderr);
  for (const auto& each : dladvisor::fuzz::Readers()) std::fprintf(stderr, " %s", each.name.data());
  std::fputs("\n", stderr);
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  reader->read(std::string(data, data + size));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  if (!reader->is_database || seed % 16 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::string changed = dladvisor::fuzz::MutateDatabase(std::string(data, data + size), seed);
  if (changed.size() > max_size) return size;
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}
