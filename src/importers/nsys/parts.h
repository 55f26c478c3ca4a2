// SPDX-License-Identifier: Apache-2.0
// Large tables read by several threads, over a connection each: a thread takes a range of rows at a time
// ("part"), with names and indices that mean something only to that thread. Parts are appended in the file's
// order, with what they name for the first time, so that the Trace is as if one thread had read it all:
// reading takes about half of the time of a report.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>

#include "src/importers/nsys/import_context.h"

namespace dladvisor::nsys {

class Parts {
 public:
  // Reads the rows of context.share, or all, into context.trace.
  using Reader = void (*)(Context& context);

  explicit Parts(const Strings& strings) : strings_(strings) {}

  // Before ReadAhead(): plans to read a table in parts, where it is large.
  void Plan(const Database& db, std::string_view table, Reader read);
  // Runs `take`, which calls Read(), while other threads read the parts that it will ask for. Parts that
  // nobody has asked for when it returns are left.
  void ReadAhead(const std::function<void()>& take);
  // Appends the next of the planned tables to whole.trace; one that is not large is read here and now.
  void Read(Context& whole, std::string_view table, Reader read);

 private:
  struct Reading;
  struct Part;
  struct Job {
    std::string path, table;
    Reader read;
    RowRange rows;
    std::promise<std::unique_ptr<Part>> part;
  };

  // `reading` is one for all parts of a thread: opening takes as long as reading thousands of rows.
  void Read(Job& job, std::shared_ptr<Reading>& reading);
  // Waits while a job is far ahead of the one that is asked for; false where no more are. Where names hardly
  // repeat, appending is slower than reading, and parts that lie about would need as much memory as the
  // Trace.
  bool IsWanted(size_t job) const;
  void Stop();

  static constexpr size_t kNoMore = SIZE_MAX;

  const Strings& strings_;
  std::deque<Job> jobs_;  // in the order of Plan() and of rows
  std::atomic<size_t> next_ = 0;
  std::atomic<size_t> asked_ = 0;  // index of the last job that Read() asked for
  std::shared_ptr<Reading> own_;   // of the thread that takes the parts
  bool one_by_one_ = false;        // tables that are still to come are read here and now
};

}  // namespace dladvisor::nsys
