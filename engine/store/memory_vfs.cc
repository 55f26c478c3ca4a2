#include "engine/store/memory_vfs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace dladvisor {
namespace {

constexpr sqlite3_int64 kChunk = 64 << 10;
// Copying a byte is this much less work than looking at it.
constexpr sqlite3_int64 kCopied = 8;

struct Storage {
  Meter* meter;
  sqlite3_int64 size = 0;
  std::vector<std::unique_ptr<char[]>> chunks;

  ~Storage() { Resize(0); }

  void Resize(sqlite3_int64 bytes) {
    const auto wanted = static_cast<size_t>((bytes + kChunk - 1) / kChunk);
    const auto before = static_cast<sqlite3_int64>(chunks.size());
    while (chunks.size() < wanted) chunks.push_back(std::make_unique<char[]>(kChunk));
    chunks.resize(wanted);
    meter->stored_bytes += (static_cast<sqlite3_int64>(wanted) - before) * kChunk;
    size = bytes;
  }

  // Calls `copy(stored, done, n)` for each piece that lies in one chunk.
  template <typename Copy>
  void ForPieces(sqlite3_int64 offset, sqlite3_int64 bytes, Copy copy) {
    meter->Work(bytes / kCopied);
    for (sqlite3_int64 done = 0; done < bytes;) {
      const sqlite3_int64 at = offset + done, n = std::min(bytes - done, kChunk - at % kChunk);
      copy(chunks[static_cast<size_t>(at / kChunk)].get() + at % kChunk, done, static_cast<size_t>(n));
      done += n;
    }
  }
};

struct File : sqlite3_file {
  Storage* storage;
};

Storage& Of(sqlite3_file* file) { return *static_cast<File*>(file)->storage; }

int Close(sqlite3_file* file) {
  delete static_cast<File*>(file)->storage;
  return SQLITE_OK;
}

int Read(sqlite3_file* file, void* to, int amount, sqlite3_int64 offset) {
  Storage& storage = Of(file);
  const sqlite3_int64 there = std::clamp<sqlite3_int64>(storage.size - offset, 0, amount);
  storage.ForPieces(offset, there, [&](const char* stored, sqlite3_int64 done, size_t n) {
    std::memcpy(static_cast<char*>(to) + done, stored, n);
  });
  if (there == amount) return SQLITE_OK;
  std::memset(static_cast<char*>(to) + there, 0, static_cast<size_t>(amount - there));
  return SQLITE_IOERR_SHORT_READ;
}

int Write(sqlite3_file* file, const void* from, int amount, sqlite3_int64 offset) {
  Storage& storage = Of(file);
  try {
    if (offset + amount > storage.size) {
      const sqlite3_int64 growth = offset + amount - storage.size;
      if (storage.meter->stored_bytes + growth > storage.meter->max_bytes) return SQLITE_FULL;
      storage.Resize(offset + amount);
    }
  } catch (const std::bad_alloc&) {
    return SQLITE_FULL;
  }
  storage.ForPieces(offset, amount, [&](char* stored, sqlite3_int64 done, size_t n) {
    std::memcpy(stored, static_cast<const char*>(from) + done, n);
  });
  return SQLITE_OK;
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (size < Of(file).size) Of(file).Resize(size);
  return SQLITE_OK;
}

int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  *size = Of(file).size;
  return SQLITE_OK;
}

int CheckReservedLock(sqlite3_file*, int* held) {
  *held = 0;
  return SQLITE_OK;
}

const sqlite3_io_methods kMethods = [] {
  const auto nothing = [](sqlite3_file*, int) { return SQLITE_OK; };
  sqlite3_io_methods methods{};
  methods.iVersion = 1;
  methods.xClose = Close;
  methods.xRead = Read;
  methods.xWrite = Write;
  methods.xTruncate = Truncate;
  methods.xSync = nothing;
  methods.xFileSize = FileSize;
  methods.xLock = nothing;
  methods.xUnlock = nothing;
  methods.xCheckReservedLock = CheckReservedLock;
  methods.xFileControl = [](sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; };
  methods.xSectorSize = [](sqlite3_file*) { return 4096; };
  methods.xDeviceCharacteristics = [](sqlite3_file*) { return 0; };
  return methods;
}();

int Open(sqlite3_vfs* vfs, const char*, sqlite3_file* file, int flags, int* flags_out) {
  constexpr int kTemporary =
      SQLITE_OPEN_TEMP_DB | SQLITE_OPEN_TRANSIENT_DB | SQLITE_OPEN_TEMP_JOURNAL | SQLITE_OPEN_SUBJOURNAL;
  file->pMethods = nullptr;
  if (!(flags & kTemporary)) return SQLITE_CANTOPEN;
  auto* storage = new (std::nothrow) Storage{static_cast<Meter*>(vfs->pAppData), 0, {}};
  if (!storage) return SQLITE_NOMEM;
  static_cast<File*>(file)->storage = storage;
  file->pMethods = &kMethods;
  if (flags_out) *flags_out = flags;
  return SQLITE_OK;
}

int Access(sqlite3_vfs*, const char*, int, int* result) {
  *result = 0;
  return SQLITE_OK;
}

int CurrentTime(sqlite3_vfs*, double* days) {
  *days = 0;
  return SQLITE_OK;
}

int Randomness(sqlite3_vfs*, int bytes, char* to) {
  std::memset(to, 0, static_cast<size_t>(bytes));
  return bytes;
}

}  // namespace

MemoryVfs::MemoryVfs(Meter* meter) : name_(fmt::format("dladvisor-{}", static_cast<const void*>(this))) {
  vfs_.iVersion = 1;
  vfs_.szOsFile = sizeof(File);
  vfs_.mxPathname = 512;
  vfs_.zName = name_.c_str();
  vfs_.pAppData = meter;
  vfs_.xOpen = dladvisor::Open;
  vfs_.xDelete = [](sqlite3_vfs*, const char*, int) { return SQLITE_OK; };
  vfs_.xAccess = Access;
  vfs_.xFullPathname = [](sqlite3_vfs*, const char*, int, char*) { return SQLITE_CANTOPEN; };
  vfs_.xRandomness = Randomness;
  vfs_.xSleep = [](sqlite3_vfs*, int) { return 0; };
  vfs_.xCurrentTime = CurrentTime;
  vfs_.xGetLastError = [](sqlite3_vfs*, int, char*) { return 0; };
}

// The name is known to SQLite only while the database is opened, which keeps the pointer.
int MemoryVfs::Open(sqlite3** db) {
  if (const int rc = sqlite3_vfs_register(&vfs_, 0); rc != SQLITE_OK) return rc;
  const int rc = sqlite3_open_v2(
      ":memory:", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, name_.c_str());
  sqlite3_vfs_unregister(&vfs_);
  if (rc == SQLITE_OK) sqlite3_exec(*db, "PRAGMA temp_store=FILE", nullptr, nullptr, nullptr);
  return rc;
}

}  // namespace dladvisor
