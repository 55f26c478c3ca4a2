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
  std::string head(kHead, '\0');
  head.resize(inflate_ ? ReadPacked(head.data(), head.size()) : ReadRaw(head.data(), head.size()));
  head_ = std::move(head);
}

bool ByteSource::Rewind() {
  if (::lseek(fd_, 0, SEEK_SET) != 0) return false;
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
  return from_head + (inflate_ ? ReadPacked(to, size) : ReadRaw(to, size));
}

size_t ByteSource::ReadRaw(char* to, size_t size) {
  const size_t from_head = std::min(size, raw_head_.size() - raw_at_);
  std::memcpy(to, raw_head_.data() + raw_at_, from_head);
  raw_at_ += from_head;
  return from_head + ReadPlain(to + from_head, size - from_head);
}

size_t ByteSource::ReadPlain(char* to, size_t size) {
  size_t got = 0;
  while (got < size) {
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
