#include "src/importers/importer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "engine/base/error.h"
#include "src/importers/dlprof.h"
#include "src/importers/nsys/nsys.h"
#include "src/importers/nsys_report.h"

namespace dladvisor {
namespace fs = std::filesystem;

namespace {

constexpr size_t kHeadBytes = 64 * 1024;  // enough to meet the first keys of any trace
constexpr char kReadable[] =
    "dladvisor reads SQLite exports of Nsight Systems: nsys export --type sqlite REPORT.nsys-rep";

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

// The first bytes of a regular file. Throws Error for everything that is none or cannot be read.
std::string Head(const fs::path& path) {
  const std::string where = path.string();
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (status.type() == fs::file_type::not_found)
    throw Error(where, "no such file", "check the path; it is taken relative to the current folder");
  if (status.type() == fs::file_type::none)
    throw Error(where, "cannot be read: " + failed.message(),
                "check the permissions of the file and its folders");
  if (fs::is_directory(status))
    throw Error(where, "is a folder, not a profile",
                "name the profile files in it, for example " + where + "/*.sqlite");
  if (!fs::is_regular_file(status))
    throw Error(where, "is no regular file", "save the profile to a file first");

  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0)
    throw Error(where, fmt::format("cannot be read: {}", std::strerror(errno)),
                errno == EACCES ? "make it readable: chmod u+r '" + where + "'" : "");
  std::string head(kHeadBytes, '\0');
  size_t got = 0;
  while (got < head.size()) {
    const ssize_t n = ::read(file.fd, head.data() + got, head.size() - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(where, fmt::format("cannot be read: {}", std::strerror(errno)));
    if (n == 0) break;
    got += static_cast<size_t>(n);
  }
  head.resize(got);
  if (head.empty())
    throw Error(where, "the file is empty", "the capture or export did not finish; run it again");
  return head;
}

bool LooksLikeText(std::string_view head) {
  return std::none_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r' && byte != '\f' && byte != 0x1B;
  });
}

[[noreturn]] void RefuseContent(const fs::path& path, std::string_view head) {
  const std::string where = path.string();
  if (head.starts_with("\x1f\x8b")) {
    if (path.filename().string().find(".json") != std::string::npos)
      throw Error(
          where, "by its name a compressed PyTorch profiler (Chrome) trace, which this version does not read",
          kReadable);
    throw Error(where, "a gzip file, which this version does not read",
                "if it is a compressed export, unpack it first: gunzip -k '" + where + "'");
  }
  const size_t first = head.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && (head[first] == '{' || head[first] == '[');
  if (json) {
    const auto mentions = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
    if (mentions("\"traceEvents\"") || mentions("\"deviceProperties\"") || mentions("\"ph\""))
      throw Error(where, "looks like a PyTorch profiler (Chrome) trace, which this version does not read",
                  kReadable);
    throw Error(where, "a JSON file, which this version does not read", kReadable);
  }
  throw Error(where,
              fmt::format("not a profile: {}, neither a SQLite database nor an Nsight Systems report",
                          LooksLikeText(head) ? "a text file" : "unknown binary content"),
              kReadable);
}

}  // namespace

Trace ReadProfile(const fs::path& path) {
  const std::string head = Head(path);
  if (head.starts_with("SQLite format 3"))
    return IsDlprofDatabase(path) ? ReadDlprofDatabase(path) : ReadNsysExport(path);
  const std::string extension = path.extension().string();
  if (extension == ".nsys-rep" || extension == ".qdrep") return ReadNsysReport(path);
  RefuseContent(path, head);
}

}  // namespace dladvisor
