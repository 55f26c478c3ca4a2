// SPDX-License-Identifier: Apache-2.0
// The bytes of a profile in order, from a file, a pipe or the standard input, unpacked where they are gzip
// and as UTF-8 where they are UTF-16 with a byte order mark, as Windows PowerShell redirects output. Both are
// found from the content. One file may hold several gzip members, as pigz and bgzip write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace dladvisor {

class ByteSource {
 public:
  // "-" is the standard input. Throws Error where there is nothing to read.
  explicit ByteSource(const std::filesystem::path& path);
  // A text that was found within the file of this name.
  ByteSource(std::string name, std::string text);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // The first bytes, up to kHead; they are read again afterwards.
  static constexpr size_t kHead = 64 * 1024;
  std::string_view Head() const { return head_; }

  // Fills `to` as far as there are bytes; less than `size` only at the end.
  size_t Read(char* to, size_t size);

  // Begins anew; false where that cannot be done (a pipe).
  bool Rewind();

  bool IsCompressed() const { return inflate_ != nullptr; }
  // What is wrong with the end, "" where nothing is: packed data that stop early or are damaged.
  const std::string& damage() const { return damage_; }
  const std::string& name() const { return name_; }

 private:
  struct Inflate;
  struct Utf16;
  size_t ReadBytes(char* to, size_t size);  // unpacked
  size_t ReadText(char* to, size_t size);
  size_t ReadRaw(char* to, size_t size);
  size_t ReadPlain(char* to, size_t size);
  size_t ReadPacked(char* to, size_t size);
  void Begin();

  std::string name_, head_, damage_;
  size_t head_at_ = 0;  // of head_, what has been read
  std::string text_;    // that is read in place of a file
  size_t text_at_ = 0;
  int fd_ = -1;
  bool owned_ = false;
  std::string raw_head_;  // bytes as stored, read to detect the compression
  size_t raw_at_ = 0;
  std::unique_ptr<Inflate> inflate_;
  std::unique_ptr<Utf16> utf16_;
};

}  // namespace dladvisor
