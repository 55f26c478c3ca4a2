// SPDX-License-Identifier: Apache-2.0
// The rows of a table straight from the pages of a SQLite file (https://sqlite.org/fileformat2.html), which
// takes a fraction of the time of a statement: of large tables.
//
// The file is hostile until read: nothing outside of a page is read, and what does not fit the format is
// Damaged.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dladvisor::sqlite {

// A value as a record holds it.
struct ScannedCell {
  static constexpr size_t kSlack = 8;  // bytes that may be read from where any value begins

  uint64_t type = 0;  // the format's serial type
  const unsigned char* bytes = nullptr;

  bool IsNull() const;
  bool IsText() const { return type >= 12; }  // text or blob
  std::string_view Text() const { return {reinterpret_cast<const char*>(bytes), (type - 12) / 2}; }
  bool IsReal() const { return type == 7; }
  double Real() const;  // REQUIRES: IsReal()
  bool IsInteger() const { return type >= 1 && type <= 9 && type != 7; }
  // REQUIRES: IsInteger()
  int64_t Integer() const {
    constexpr unsigned char kUnusedBits[] = {0, 56, 48, 40, 32, 16, 0};
    return type >= 8 ? static_cast<int64_t>(type - 8) : static_cast<int64_t>(First64()) >> kUnusedBits[type];
  }

 private:
  // The first eight bytes, of which the format stores the highest first.
  uint64_t First64() const {
    uint64_t value = 0;
    std::memcpy(&value, bytes, sizeof value);
    return std::endian::native == std::endian::little ? __builtin_bswap64(value) : value;
  }
};

class TableScan {
 public:
  // Of a table of rows with numbers, whose B-tree has its root at a page. `columns`: those asked for, by
  // their place in the table.
  TableScan(const std::filesystem::path& file, int64_t root, std::vector<int> columns);
  ~TableScan();
  TableScan(const TableScan&) = delete;
  TableScan& operator=(const TableScan&) = delete;

  // Calls `visit` at each row from `first` to `last`, in the order of the file.
  void ForEach(int64_t first, int64_t last, const std::function<void()>& visit);
  // Of the row at hand, in the order of `columns`; what its record is too short for is NULL.
  const ScannedCell* cells() const { return cells_.data(); }

 private:
  struct Walk;
  struct Payload {
    const unsigned char* bytes;
    size_t local, size;  // on the page, in all
    uint32_t overflow;   // the page that holds more, or 0
  };

  [[noreturn]] void Fail() const;
  void Read(uint32_t page, size_t pages, std::vector<unsigned char>& into) const;
  const unsigned char* Page(uint32_t number);
  void CountPage();
  bool VisitPage(const Walk& walk, uint32_t number, size_t level);
  bool VisitLeaf(const Walk& walk, const unsigned char* page, size_t header);
  void Decode(Payload payload);
  void DecodeHeader(const Payload& payload, size_t header_end);
  void Complete(Payload& payload);
  uint64_t Varint(const unsigned char*& at, const unsigned char* end) const;

  std::string path_;
  int file_;
  uint32_t root_ = 0, pages_ = 0;
  uint32_t visited_ = 0;  // pages
  size_t page_bytes_ = 0, usable_ = 0;
  std::vector<unsigned char> window_;  // some pages from window_first_ on
  uint32_t window_first_ = 0, window_pages_ = 0;
  std::vector<std::vector<unsigned char>> inner_;  // the inner page of each level
  std::vector<unsigned char> payload_;             // of a row that is on several pages
  std::vector<int> columns_;
  std::vector<size_t> slots_;  // by column of the table, where it is in `columns`, or kNowhere
  // What the header of the row before says, as most rows have the same.
  std::vector<unsigned char> header_;
  std::vector<size_t> offsets_;
  size_t needed_ = 0;  // bytes of the payload, up to the last column asked for
  std::vector<ScannedCell> cells_;
};

}  // namespace dladvisor::sqlite
