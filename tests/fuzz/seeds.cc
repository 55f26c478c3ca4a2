// SPDX-License-Identifier: Apache-2.0
// Seeds for the fuzzers, out of real files: fuzz-seeds FOLDER FILE... writes each file, made small, into the
// folder of the reader that takes it.
#include <fmt/format.h>
#include <zlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fuzz/database_mutator.h"
#include "tests/fuzz/readers.h"

namespace {

namespace fs = std::filesystem;
using namespace dladvisor;

constexpr size_t kRows = 30;                 // of each table
constexpr size_t kMostBytes = 32 << 10;      // of a text
constexpr size_t kMostOfDatabase = 900'000;  // ./dev fuzz cuts what is longer than a million bytes
constexpr size_t kMostRead = 32 << 20;       // larger files take long

// Unpacked, where it is packed; "" where it is too large.
std::string BytesOf(const std::string& path) {
  std::string bytes(kMostRead, '\0');
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return "";
  const int read = gzread(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  if (read < 0 || static_cast<size_t>(read) == bytes.size()) return "";
  bytes.resize(static_cast<size_t>(read));
  return bytes;
}

void Write(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

// Small, and still the reader's: a text's beginning, or its end, as logs say only there what a run did.
bool WriteSeed(const fuzz::Reader& reader, const std::string& bytes, const fs::path& to) {
  if (reader.is_database) {
    std::string small = fuzz::ShrinkDatabase(bytes, kRows);
    for (size_t rows = kRows / 2; rows > 0 && small.size() > kMostOfDatabase; rows /= 2)
      small = fuzz::ShrinkDatabase(bytes, rows);
    if (!small.empty()) Write(to, small);
    return !small.empty();
  }
  if (bytes.empty()) return false;
  Write(to, bytes.substr(0, kMostBytes));
  if (bytes.size() <= kMostBytes || fuzz::ReaderOf(to) == &reader) return true;
  Write(to, bytes.substr(bytes.size() - kMostBytes));
  if (fuzz::ReaderOf(to) == &reader) return true;
  fs::remove(to);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: fuzz-seeds FOLDER FILE...\n", stderr);
    return 2;
  }
  int written = 0;
  for (int i = 2; i < argc; ++i) {
    const fuzz::Reader* reader = fuzz::ReaderOf(argv[i]);
    if (reader == nullptr) continue;
    const fs::path folder = fs::path(argv[1]) / reader->name;
    fs::create_directories(folder);
    const fs::path name =
        fs::path(argv[i]).extension() == ".yaml" ? fs::path(argv[i]).filename() : fs::path();
    written += WriteSeed(*reader, BytesOf(argv[i]), folder / fmt::format("{:03}{}", i, name.string()));
  }
  std::printf("%d seeds in %s\n", written, argv[1]);
}
