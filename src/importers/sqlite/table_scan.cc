// SPDX-License-Identifier: Apache-2.0
#include "src/importers/sqlite/table_scan.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include "engine/base/cancellation.h"
#include "engine/base/error.h"
#include "src/importers/sqlite/damaged.h"

namespace dladvisor::sqlite {
namespace {

constexpr size_t kFileHeader = 100, kPagesAtOnce = 16, kMostLevels = 20;
constexpr size_t kNowhere = std::numeric_limits<size_t>::max();
constexpr unsigned char kInnerPage = 5, kLeafPage = 13;

// As the format stores numbers: the highest byte first.
template <size_t kBytes>
uint64_t Number(const unsigned char* at) {
  uint64_t value = 0;
  std::memcpy(&value, at, kBytes);
  if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap64(value);
  return value >> (64 - 8 * kBytes);
}

// Bytes of a value.
size_t SizeOf(uint64_t type) {
  constexpr unsigned char kSizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return type < 12 ? kSizes[type] : static_cast<size_t>((type - 12) / 2);
}

}  // namespace

bool ScannedCell::IsNull() const {
  return type == 0 || type == 10 || type == 11 || (IsReal() && std::isnan(Real()));
}

double ScannedCell::Real() const { return std::bit_cast<double>(First64()); }

struct TableScan::Walk {
  int64_t first, last;
  const std::function<void()>& visit;
};

TableScan::TableScan(const std::filesystem::path& file, int64_t root, std::vector<int> columns)
    : path_(file.string()),
      file_(open(file.c_str(), O_RDONLY | O_CLOEXEC)),
      inner_(kMostLevels),
      columns_(std::move(columns)),
      cells_(columns_.size()) {
  if (file_ < 0)
    throw Error(path_, "cannot be opened: " + std::generic_category().message(errno),
                "check that you may read the file");
  unsigned char head[kFileHeader];
  const off_t size = lseek(file_, 0, SEEK_END);
  if (pread(file_, head, sizeof head, 0) != static_cast<ssize_t>(sizeof head)) {
    close(file_);
    throw Damaged(path_, "the SQLite database is truncated");
  }
  const auto page = static_cast<size_t>(Number<2>(head + 16));
  page_bytes_ = page == 1 ? 65536 : page;
  usable_ = page_bytes_ - std::min<size_t>(page_bytes_, head[20]);
  const uint64_t pages = static_cast<uint64_t>(size) / std::max<size_t>(page_bytes_, 1);
  pages_ = static_cast<uint32_t>(std::min<uint64_t>(pages, std::numeric_limits<uint32_t>::max() - 1));
  if (page_bytes_ < 512 || usable_ < 480 || root < 1 || root > pages_) {
    close(file_);
    throw Damaged(path_, "the SQLite database is damaged: a table without pages");
  }
  root_ = static_cast<uint32_t>(root);
  for (size_t slot = 0; slot < columns_.size(); ++slot) {
    const auto column = static_cast<size_t>(columns_[slot]);
    if (column >= slots_.size()) slots_.resize(column + 1, kNowhere);
    slots_[column] = slot;
  }
  offsets_.resize(columns_.size());
}

TableScan::~TableScan() { close(file_); }

void TableScan::Fail() const {
  throw Damaged(path_, "the SQLite database is damaged: database disk image is malformed");
}

void TableScan::Read(uint32_t page, size_t pages, std::vector<unsigned char>& into) const {
  const size_t size = pages * page_bytes_;
  into.resize(size + ScannedCell::kSlack);
  const auto start = static_cast<off_t>((uint64_t{page} - 1) * page_bytes_);
  for (size_t done = 0; done < size;) {
    const ssize_t got = pread(file_, into.data() + done, size - done, start + static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) Fail();  // cut since it was opened
    done += static_cast<size_t>(got);
  }
}

const unsigned char* TableScan::Page(uint32_t number) {
  if (number < 1 || number > pages_) Fail();
  if (number < window_first_ || number - window_first_ >= window_pages_) {
    window_pages_ = 0;
    const auto pages = static_cast<uint32_t>(std::min<size_t>(kPagesAtOnce, pages_ - number + 1));
    Read(number, pages, window_);
    window_first_ = number;
    window_pages_ = pages;
  }
  return window_.data() + (number - window_first_) * page_bytes_;
}

uint64_t TableScan::Varint(const unsigned char*& at, const unsigned char* end) const {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) {
    if (at >= end) Fail();
    const unsigned char byte = *at++;
    value = value << 7 | (byte & 0x7F);
    if (byte < 0x80) return value;
  }
  if (at >= end) Fail();
  return value << 8 | *at++;
}

// Of a sound file each page has one place: more visits come from pages that refer to each other.
void TableScan::CountPage() {
  ThrowIfCancelled();
  if (++visited_ > pages_) Fail();
}

void TableScan::ForEach(int64_t first, int64_t last, const std::function<void()>& visit) {
  visited_ = 0;
  VisitPage({first, last, visit}, root_, 0);
}

// False where the rows from here on are behind the last.
bool TableScan::VisitPage(const Walk& walk, uint32_t number, size_t level) {
  CountPage();
  const unsigned char* page = Page(number);
  const size_t header = number == 1 ? kFileHeader : 0;
  // Only a root may be without rows: every page that is looked at has some.
  if (level > 0 && Number<2>(page + header + 3) == 0) Fail();
  if (page[header] == kLeafPage) return VisitLeaf(walk, page, header);
  if (page[header] != kInnerPage || level == kMostLevels) Fail();
  std::vector<unsigned char>& copy = inner_[level];
  copy.assign(page, page + usable_);
  const unsigned char* const end = copy.data() + usable_;
  const auto count = static_cast<size_t>(Number<2>(copy.data() + header + 3));
  if (header + 12 + 2 * count > usable_) Fail();
  const unsigned char* const pointers = copy.data() + header + 12;
  for (size_t i = 0; i < count; ++i) {
    const auto offset = static_cast<size_t>(Number<2>(pointers + 2 * i));
    if (offset + 4 > usable_) Fail();
    const unsigned char* at = copy.data() + offset;
    const auto child = static_cast<uint32_t>(Number<4>(at));
    at += 4;
    const auto key = static_cast<int64_t>(Varint(at, end));  // the last row of the child
    if (key < walk.first) continue;
    if (!VisitPage(walk, child, level + 1) || key >= walk.last) return false;
  }
  return VisitPage(walk, static_cast<uint32_t>(Number<4>(copy.data() + header + 8)), level + 1);
}

bool TableScan::VisitLeaf(const Walk& walk, const unsigned char* page, size_t header) {
  const unsigned char* const end = page + usable_;
  const auto count = static_cast<size_t>(Number<2>(page + header + 3));
  if (header + 8 + 2 * count > usable_) Fail();
  const unsigned char* const pointers = page + header + 8;
  for (size_t i = 0; i < count; ++i) {
    const auto offset = static_cast<size_t>(Number<2>(pointers + 2 * i));
    if (offset >= usable_) Fail();
    const unsigned char* at = page + offset;
    const uint64_t size = *at < 0x80 ? *at++ : Varint(at, end);
    const auto row = static_cast<int64_t>(Varint(at, end));
    if (row < walk.first) continue;
    if (row > walk.last) return false;
    if (size > uint64_t{pages_} * page_bytes_) Fail();
    Payload payload{at, static_cast<size_t>(size), static_cast<size_t>(size), 0};
    if (const size_t most = usable_ - 35; payload.size > most) {
      const size_t least = (usable_ - 12) * 32 / 255 - 23;
      payload.local = least + (payload.size - least) % (usable_ - 4);
      if (payload.local > most) payload.local = least;
    }
    const bool overflows = payload.local < payload.size;
    if (static_cast<size_t>(end - at) < payload.local + (overflows ? 4 : 0)) Fail();
    if (overflows) payload.overflow = static_cast<uint32_t>(Number<4>(at + payload.local));
    Decode(payload);
    walk.visit();
  }
  return true;
}

void TableScan::Decode(Payload payload) {
  const unsigned char* at = payload.bytes;
  const uint64_t header = Varint(at, payload.bytes + payload.local);
  if (header > payload.size) Fail();
  const auto header_size = static_cast<size_t>(header);
  if (header_size > payload.local) Complete(payload);
  if (header_size != header_.size() || std::memcmp(payload.bytes, header_.data(), header_size) != 0)
    DecodeHeader(payload, header_size);
  if (needed_ > payload.size) Fail();
  if (needed_ > payload.local) Complete(payload);
  for (size_t i = 0; i < cells_.size(); ++i) cells_[i].bytes = payload.bytes + offsets_[i];
}

void TableScan::DecodeHeader(const Payload& payload, size_t header_size) {
  header_.clear();
  const unsigned char *at = payload.bytes, *const end = payload.bytes + header_size;
  Varint(at, payload.bytes + payload.local);  // its own size
  std::ranges::fill(cells_, ScannedCell{});
  std::ranges::fill(offsets_, 0);
  needed_ = header_size;
  size_t offset = header_size;
  for (size_t column = 0; column < slots_.size() && at < end; ++column) {
    const uint64_t type = *at < 0x80 ? *at++ : Varint(at, end);
    if (type / 2 > payload.size) Fail();
    const size_t size = SizeOf(type);
    if (const size_t slot = slots_[column]; slot != kNowhere) {
      cells_[slot].type = type;
      offsets_[slot] = offset;
      needed_ = std::max(needed_, offset + size);
    }
    offset += size;
  }
  header_.assign(payload.bytes, payload.bytes + header_size);
}

// Puts together what lies on several pages.
void TableScan::Complete(Payload& payload) {
  payload_.assign(payload.bytes, payload.bytes + payload.local);
  std::vector<unsigned char> page;
  for (uint32_t next = payload.overflow; payload_.size() < payload.size;) {
    if (next < 1 || next > pages_) Fail();
    CountPage();
    Read(next, 1, page);
    const size_t count = std::min(payload.size - payload_.size(), usable_ - 4);
    payload_.insert(payload_.end(), page.begin() + 4, page.begin() + 4 + static_cast<std::ptrdiff_t>(count));
    next = static_cast<uint32_t>(Number<4>(page.data()));
  }
  payload_.resize(payload.size + ScannedCell::kSlack);
  payload.bytes = payload_.data();
  payload.local = payload.size;
}

}  // namespace dladvisor::sqlite
