// SPDX-License-Identifier: Apache-2.0
// What reads bytes of strangers, each as a fuzzer drives it: bytes in, and whatever comes of them but an
// Error is a defect.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace dladvisor::fuzz {

struct Reader {
  std::string_view name;
  void (*read)(const std::string& bytes);
  bool is_database;  // inputs are SQLite files, whose rows and schemas are mutated rather than their bytes
};

std::span<const Reader> Readers();

// Null where there is none of that name.
const Reader* FindReader(std::string_view name);

// The reader that a file is a seed for, by its content; null where none takes it.
const Reader* ReaderOf(const std::string& path);

}  // namespace dladvisor::fuzz
