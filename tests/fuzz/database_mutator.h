// SPDX-License-Identifier: Apache-2.0
// Changes SQLite files as their readers see them: cells, rows, columns and tables. Bytes changed at random
// only ever find SQLite's own checks.
#pragma once

#include <cstddef>
#include <string>

namespace dladvisor::fuzz {

// The same database with one change, which `seed` decides; `bytes` where it is none, or cannot be changed.
std::string MutateDatabase(const std::string& bytes, unsigned seed);

// With the first rows of each table only; "" where it is no database.
std::string ShrinkDatabase(const std::string& bytes, size_t rows);

}  // namespace dladvisor::fuzz
