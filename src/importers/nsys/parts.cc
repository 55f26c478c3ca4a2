// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nsys/parts.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/trace/parallel.h"

namespace dladvisor::nsys {

namespace {

constexpr int64_t kRowsPerPart = 50'000;
constexpr size_t kMostNames = 300'000;
constexpr size_t kPartsAhead = 12;  // of the one that is asked for

void Add(std::map<std::string, int64_t>& to, const std::map<std::string, int64_t>& from) {
  for (const auto& [table, rows] : from) to[table] += rows;
}

}  // namespace

// What one thread keeps from part to part: names are looked up once, and indices stay what they are.
struct Parts::Reading {
  Reading(const std::string& path, const Strings& strings)
      : db(path), names(strings, trace.names), hosts(db, names, trace), devices(db, trace) {}

  Part Take(Reader read, const RowRange& rows);

  Database db;
  Trace trace;  // its tables hold the part at hand
  Names names;
  Hosts hosts;
  Devices devices;
  std::vector<LaunchShape> shape_list;
  LaunchShapes shapes{shape_list};
  size_t names_taken = 0, processes_taken = 0, threads_taken = 0, devices_taken = 0, shapes_taken = 0;
  IndexMaps maps;  // of what was appended; the reading thread does not look at it
};

// What one thread makes of one part. Lists hold what it names and no part of the thread before it did.
struct Parts::Part {
  void AppendTo(Context& whole);

  std::shared_ptr<Reading> reading;  // which owns the names
  Trace trace;                       // its tables and health
  std::vector<std::string_view> names;
  std::vector<int64_t> processes, threads, devices;                // ids of the export; ordinals
  std::vector<std::pair<uint32_t, std::string>> names_of_threads;  // of all that rows named so far, by index
  std::vector<LaunchShape> shapes;
  Domains domains;
  Share share;
};

Parts::Part Parts::Reading::Take(Reader read, const RowRange& rows) {
  Part part;
  part.share.rows = rows;
  Context context{db, trace, names, hosts, devices, part.domains, shapes, nullptr, &part.share};
  read(context);
  Trace::ForEachTable([&](auto table) { std::swap(part.trace.*table, trace.*table); });
  std::swap(part.trace.health, trace.health);
  for (; names_taken < trace.names.size(); ++names_taken)
    part.names.push_back(trace.names.View(static_cast<NameId>(names_taken)));
  const auto take = [](const auto& all, size_t& taken, auto& into) {
    into.assign(all.begin() + static_cast<std::ptrdiff_t>(taken), all.end());
    taken = all.size();
  };
  take(hosts.process_ids(), processes_taken, part.processes);
  take(hosts.thread_ids(), threads_taken, part.threads);
  take(shape_list, shapes_taken, part.shapes);
  for (; devices_taken < trace.devices.size(); ++devices_taken)
    part.devices.push_back(trace.devices[devices_taken].ordinal);
  for (uint32_t i = 0; i < trace.threads.size(); ++i)
    if (!trace.threads[i].name.empty()) part.names_of_threads.emplace_back(i, trace.threads[i].name);
  return part;
}

void Parts::Part::AppendTo(Context& whole) {
  IndexMaps& maps = reading->maps;
  whole.trace.names.InternAll(names, maps.name);
  for (const int64_t id : processes) maps.process.push_back(whole.hosts.Process(id));
  for (const int64_t id : threads) maps.thread.push_back(whole.hosts.Thread(id));
  for (const auto& [thread, name] : names_of_threads)
    if (std::string& known = whole.trace.threads[maps.thread[thread]].name; known.empty()) known = name;
  for (const int64_t ordinal : devices) maps.device.push_back(whole.devices.ByOrdinal(ordinal));
  maps.domain.clear();
  for (size_t i = 0; i < domains.keys().size(); ++i) {
    const auto [of, number] = domains.keys()[i];
    const uint32_t process = maps.process[of];
    maps.domain.push_back(whole.domains.Use(process, number));
    if (domains.names()[i] != kNoName) whole.domains.SetName(process, number, maps.name[domains.names()[i]]);
  }
  for (const LaunchShape& shape : shapes) maps.shape.push_back(whole.shapes.IndexOf(shape));
  Trace::ForEachTable([&](auto table) { AppendRows(whole.trace.*table, trace.*table, maps); });

  CaptureHealth& health = whole.trace.health;
  Add(health.rows_read, trace.health.rows_read);
  Add(health.rows_skipped, trace.health.rows_skipped);
  health.negative_durations += trace.health.negative_durations;
}

void Parts::Plan(const Database& db, std::string_view table, Reader read) {
  const int64_t last = db.LastRow(table);
  if (last <= kRowsPerPart) return;
  // The first and last part take what hides below and above the usual numbers.
  for (RowRange rows; rows.first <= last; rows.first = rows.last + 1) {
    rows.last = std::max<int64_t>(rows.first, 1) + kRowsPerPart - 1;
    if (rows.last >= last) rows.last = RowRange{}.last;
    jobs_.push_back({db.path(), std::string(table), read, rows, {}});
    if (rows.last == RowRange{}.last) return;
  }
}

void Parts::ReadAhead(const std::function<void()>& take) {
  ParallelFor(std::min(jobs_.size() + 1, ThreadCount()), [&](size_t i) {
    if (i == 0) {
      try {
        take();
      } catch (...) {
        Stop();
        throw;
      }
      Stop();
    } else {
      std::shared_ptr<Reading> reading;
      for (size_t job = next_++; job < jobs_.size() && IsWanted(job); job = next_++)
        Read(jobs_[job], reading);
    }
  });
}

void Parts::Stop() {
  next_ = jobs_.size();
  asked_ = kNoMore;
  asked_.notify_all();
}

bool Parts::IsWanted(size_t job) const {
  size_t asked = asked_;
  for (; asked != kNoMore && job > asked + kPartsAhead; asked = asked_) asked_.wait(asked);
  return asked != kNoMore;
}

void Parts::Read(Job& job, std::shared_ptr<Reading>& reading) {
  try {
    // Where names hardly repeat, keeping them is of no use.
    if (!reading || reading->trace.names.size() > kMostNames)
      reading = std::make_shared<Reading>(job.path, strings_);
    auto part = std::make_unique<Part>(reading->Take(job.read, job.rows));
    part->reading = reading;
    job.part.set_value(std::move(part));
  } catch (...) {
    reading.reset();  // may hold rows of the part
    job.part.set_exception(std::current_exception());
  }
}

void Parts::Read(Context& whole, std::string_view table, Reader read) {
  if (one_by_one_) return read(whole);
  Share before;
  bool in_parts = false;
  for (size_t i = 0; i < jobs_.size(); ++i) {
    Job& job = jobs_[i];
    if (job.table != table) continue;
    in_parts = true;
    asked_ = i;
    asked_.notify_all();
    std::future<std::unique_ptr<Part>> promised = job.part.get_future();
    while (promised.wait_for(std::chrono::seconds(0)) != std::future_status::ready && next_ < jobs_.size())
      if (const size_t next = next_++; next < jobs_.size()) Read(jobs_[next], own_);
    const std::unique_ptr<Part> part = promised.get();
    Share& share = part->share;
    if (share.total > kMostTotal - before.total) {
      // Times this long cannot be summed over the whole: the rows before decide which rows to leave out. The
      // other parts would rely on what those left out name.
      next_ = jobs_.size();
      one_by_one_ = true;
      before.rows = {job.rows.first, RowRange{}.last};
      whole.share = &before;
      read(whole);
      whole.share = nullptr;
      return;
    }
    part->AppendTo(whole);
    before.total += share.total;
  }
  if (!in_parts) read(whole);
}

}  // namespace dladvisor::nsys
