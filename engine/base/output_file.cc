// SPDX-License-Identifier: Apache-2.0
#include "engine/base/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "engine/base/error.h"

namespace dladvisor {
namespace fs = std::filesystem;
namespace {

std::string Reason(int error) {
  return fmt::format("cannot be written: {}", std::generic_category().message(error));
}

bool WriteAll(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

void WriteFileWhole(const fs::path& path, std::string_view content) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) throw Error(path.string(), "is a folder", "Name a file inside it.");
  // A device such as /dev/stdout is written in place: renaming over it would replace it.
  const bool special = fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::string aside =
      special ? path.string() : fmt::format("{}/.{}.XXXXXX", folder.string(), path.filename().string());
  const int fd = special ? ::open(aside.c_str(), O_WRONLY | O_CLOEXEC) : ::mkostemp(aside.data(), O_CLOEXEC);
  if (fd < 0)
    throw Error(path.string(), Reason(errno), "Check that its folder exists and that you may write there.");
  int error = WriteAll(fd, content) && (special || ::fsync(fd) == 0) ? 0 : errno;
  if (!special && error == 0) {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(fd, 0666 & ~mask) != 0) error = errno;
  }
  if (::close(fd) != 0 && error == 0) error = errno;
  if (!special && error == 0 && ::rename(aside.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    if (!special) ::unlink(aside.c_str());
    throw Error(path.string(), Reason(error), "Check the free space and that you may write there.");
  }
}

std::string ReadWhole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace dladvisor
