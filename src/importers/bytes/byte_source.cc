// SPDX-License-Identifier: Apache-2.0
#include "src/importers/bytes/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include "engine/base/cancellation.h"
#include "engine/base/error.h"

namespace dladvisor {
namespace fs = std::filesystem;

namespace {

constexpr size_t kPacked = 1 << 20;  // bytes of packed data read at a time

int OpenForReading(const fs::path& path) {
  const std::string where = path.string();
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (status.type() == fs::file_type::not_found)
    throw Error(where, "no such file", "check the path; it is taken relative to the current folder");
  if (status.type() == fs::file_type::none)
    throw Error(where, "cannot be read: " + failed.message(),
                "check the permissions of the file and its folders");
  if (fs::is_directory(status))
    throw Error(where, "is a folder, not a profile", "name one of the profile files in it");
  if (!fs::is_regular_file(status) && !fs::is_fifo(status) && !fs::is_character_file(status))
    throw Error(where, "is not a regular file", "save the profile to a file first");
  // A pipe that nobody writes to is empty; opened otherwise it would be waited for without end.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    throw Error(where, fmt::format("cannot be read: {}", std::strerror(errno)),
                errno == EACCES ? "make it readable: chmod u+r '" + where + "'" : "");
  if (const int flags = ::fcntl(fd, F_GETFL); flags >= 0) ::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
  return fd;
}

}  // namespace

struct ByteSource::Inflate {
  inflate_state state;
  std::vector<uint8_t> packed = std::vector<uint8_t>(kPacked);
  bool at_end = false;

  void Begin() {
    isal_inflate_init(&state);
    state.crc_flag = ISAL_GZIP;
    at_end = false;
  }
};

// What is read of UTF-16, as UTF-8.
struct ByteSource::Utf16 {
  bool big_endian = false;
  std::string bytes;  // read, not yet of a whole character
  std::string text;   // decoded, from `text_at` on not yet given
  size_t text_at = 0;

  void Append(uint32_t c) {
    if (c < 0x80) {
      text += static_cast<char>(c);
    } else if (c < 0x800) {
      text += static_cast<char>(0xC0 | (c >> 6));
      text += static_cast<char>(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
      text += static_cast<char>(0xE0 | (c >> 12));
      text += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
      text += static_cast<char>(0x80 | (c & 0x3F));
    } else {
      text += static_cast<char>(0xF0 | (c >> 18));
      text += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
      text += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
      text += static_cast<char>(0x80 | (c & 0x3F));
    }
  }

  // All of `bytes` but the beginning of a character that goes on behind it.
  void Decode() {
    constexpr uint32_t kReplacement = 0xFFFD;
    const auto unit = [&](size_t at) -> uint32_t {
      const auto low = static_cast<uint8_t>(bytes[at + (big_endian ? 1 : 0)]),
                 high = static_cast<uint8_t>(bytes[at + (big_endian ? 0 : 1)]);
      return uint32_t{high} << 8 | low;
    };
    const auto is_high = [](uint32_t c) { return c >= 0xD800 && c < 0xDC00; };
    const auto is_low = [](uint32_t c) { return c >= 0xDC00 && c < 0xE000; };
    size_t at = 0;
    for (; at + 1 < bytes.size(); at += 2) {
      const uint32_t c = unit(at);
      if (is_high(c)) {
        if (at + 3 >= bytes.size()) break;
        if (const uint32_t next = unit(at + 2); is_low(next)) {
          Append(0x10000 + ((c - 0xD800) << 10) + (next - 0xDC00));
          at += 2;
          continue;
        }
      }
      Append(is_high(c) || is_low(c) ? kReplacement : c);
    }
    bytes.erase(0, at);
  }
};

ByteSource::ByteSource(const fs::path& path) : name_(path == "-" ? "the standard input" : path.string()) {
  owned_ = path != "-";
  fd_ = owned_ ? OpenForReading(path) : STDIN_FILENO;
  try {
    Begin();
  } catch (...) {
    if (owned_) ::close(fd_);
    throw;
  }
}

ByteSource::ByteSource(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {
  Begin();
}

ByteSource::~ByteSource() {
  if (owned_) ::close(fd_);
}

void ByteSource::Begin() {
  raw_at_ = 0;
  raw_head_.assign(2, '\0');
  raw_head_.resize(ReadPlain(raw_head_.data(), raw_head_.size()));
  if (raw_head_.empty())
    throw Error(name_, "the file is empty", "the capture or export did not finish; run it again");
  if (raw_head_ == "\x1f\x8b") {
    if (!inflate_) inflate_ = std::make_unique<Inflate>();
    inflate_->Begin();
  }
  damage_.clear();
  head_at_ = 0;
  utf16_.reset();
  std::string head(kHead, '\0');
  head.resize(ReadBytes(head.data(), head.size()));
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) {
    utf16_ = std::make_unique<Utf16>();
    utf16_->big_endian = head[0] == '\xfe';
    utf16_->bytes = head.substr(2);
    head.assign(kHead, '\0');
    head.resize(ReadText(head.data(), head.size()));
  }
  // What was emptied while a program wrote it begins with zeros up to where that program goes on.
  while (head.starts_with('\0')) {
    head.erase(0, head.find_first_not_of('\0'));
    const size_t rest = head.size();
    head.resize(kHead);
    head.resize(rest + ReadText(head.data() + rest, kHead - rest));
    if (head.empty() && damage_.empty())
      throw Error(name_, "the file holds zeros alone", "the capture or export did not finish; run it again");
  }
  head_ = std::move(head);
}

bool ByteSource::Rewind() {
  text_at_ = 0;
  if (fd_ >= 0 && ::lseek(fd_, 0, SEEK_SET) != 0) return false;
  Begin();
  return true;
}

size_t ByteSource::Read(char* to, size_t size) {
  const size_t from_head = std::min(size, head_.size() - head_at_);
  std::memcpy(to, head_.data() + head_at_, from_head);
  head_at_ += from_head;
  if (from_head == size) return size;
  to += from_head;
  size -= from_head;
  return from_head + ReadText(to, size);
}

size_t ByteSource::ReadBytes(char* to, size_t size) {
  return inflate_ ? ReadPacked(to, size) : ReadRaw(to, size);
}

size_t ByteSource::ReadText(char* to, size_t size) {
  if (!utf16_) return ReadBytes(to, size);
  Utf16& utf16 = *utf16_;
  size_t got = 0;
  while (got < size) {
    if (utf16.text_at == utf16.text.size()) {
      utf16.text.clear();
      utf16.text_at = 0;
      utf16.Decode();
      if (utf16.text.empty()) {
        std::string more(kPacked, '\0');
        more.resize(ReadBytes(more.data(), more.size()));
        if (more.empty()) break;
        utf16.bytes += more;
        utf16.Decode();
      }
    }
    const size_t part = std::min(size - got, utf16.text.size() - utf16.text_at);
    std::memcpy(to + got, utf16.text.data() + utf16.text_at, part);
    utf16.text_at += part;
    got += part;
  }
  return got;
}

size_t ByteSource::ReadRaw(char* to, size_t size) {
  const size_t from_head = std::min(size, raw_head_.size() - raw_at_);
  std::memcpy(to, raw_head_.data() + raw_at_, from_head);
  raw_at_ += from_head;
  return from_head + ReadPlain(to + from_head, size - from_head);
}

size_t ByteSource::ReadPlain(char* to, size_t size) {
  size_t got = 0;
  if (fd_ < 0) {
    got = text_.copy(to, size, text_at_);
    text_at_ += got;
    return got;
  }
  while (got < size) {
    ThrowIfCancelled();
    const ssize_t n = ::read(fd_, to + got, size - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(name_, fmt::format("cannot be read: {}", std::strerror(errno)));
    if (n == 0) break;
    got += static_cast<size_t>(n);
  }
  return got;
}

size_t ByteSource::ReadPacked(char* to, size_t size) {
  inflate_state& state = inflate_->state;
  size_t got = 0;
  while (got < size && !inflate_->at_end) {
    if (state.avail_in == 0) {
      state.next_in = inflate_->packed.data();
      state.avail_in = static_cast<uint32_t>(
          ReadRaw(reinterpret_cast<char*>(inflate_->packed.data()), inflate_->packed.size()));
    }
    const bool no_more = state.avail_in == 0;
    if (state.block_state == ISAL_BLOCK_FINISH) {  // of a member; another may follow
      if (no_more || *state.next_in == 0) {        // zeros pad what tapes hold
        inflate_->at_end = true;
        break;
      }
      uint8_t* const next = state.next_in;
      const uint32_t available = state.avail_in;
      inflate_->Begin();
      state.next_in = next;
      state.avail_in = available;
    }
    const auto room = static_cast<uint32_t>(std::min<size_t>(size - got, 1 << 30));
    state.next_out = reinterpret_cast<uint8_t*>(to + got);
    state.avail_out = room;
    const int result = isal_inflate(&state);
    got += room - state.avail_out;
    if (result < 0) {
      damage_ = "its gzip data are damaged";
      inflate_->at_end = true;
    } else if (no_more && state.avail_out > 0 && state.block_state != ISAL_BLOCK_FINISH) {
      damage_ = "its gzip data end early";
      inflate_->at_end = true;
    }
  }
  return got;
}

}  // namespace dladvisor
