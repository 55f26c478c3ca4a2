// SQLite's files of one connection, kept in memory and counted: the temporary tables and sorts that SQLite
// spills to files, so that an endless recursion fills neither the disk nor the memory. No other file can be
// opened. Not the heap limit of SQLite, which is the whole process's.
#pragma once

#include <sqlite3.h>

#include <string>

#include "engine/store/meter.h"

namespace dladvisor {

class MemoryVfs {
 public:
  explicit MemoryVfs(Meter* meter);
  MemoryVfs(const MemoryVfs&) = delete;
  MemoryVfs& operator=(const MemoryVfs&) = delete;

  // Opens an in-memory database whose temporary files lie here; this object must outlive it. Writes beyond
  // the meter's bytes fail with SQLITE_FULL.
  int Open(sqlite3** db);

 private:
  std::string name_;
  sqlite3_vfs vfs_{};
};

}  // namespace dladvisor
