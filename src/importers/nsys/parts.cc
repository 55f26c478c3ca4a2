// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nsys/parts.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <optional>
#include <utility>

#include "src/trace/parallel.h"

namespace dladvisor::nsys {

namespace {

constexpr int64_t kRowsPerPart = 50'000;

void Add(std::map<std::string, int64_t>& to, const std::map<std::string, int64_t>& from) {
  for (const auto& [table, rows] : from) to[table] += rows;
}

}  // namespace

// What one thread makes of one part.
struct Parts::Part {
  Part(const Database& db, const Strings& strings, const RowRange& rows)
      : names(strings, trace.names), hosts(db, names, trace), devices(db, trace), share{.rows = rows} {}

  void AppendTo(Context& whole);

  Trace trace;
  Names names;
  Hosts hosts;
  Devices devices;
  Domains domains;
  LaunchShapes shapes{trace.kernels.shapes};
  Share share;
};

void Parts::Part::AppendTo(Context& whole) {
  IndexMaps maps;
  for (NameId i = 0; i < trace.names.size(); ++i)
    maps.name.push_back(whole.trace.names.Intern(trace.names.View(i)));
  for (const int64_t id : hosts.process_ids()) maps.process.push_back(whole.hosts.Process(id));
  for (const int64_t id : hosts.thread_ids()) maps.thread.push_back(whole.hosts.Thread(id));
  for (size_t i = 0; i < trace.threads.size(); ++i)  // named by a row of the part
    if (std::string& known = whole.trace.threads[maps.thread[i]].name; known.empty())
      known = trace.threads[i].name;
  for (const Device& d : trace.devices) maps.device.push_back(whole.devices.ByOrdinal(d.ordinal));
  for (size_t i = 0; i < domains.keys().size(); ++i) {
    const auto [of, number] = domains.keys()[i];
    const uint32_t process = maps.process[of];
    maps.domain.push_back(whole.domains.Use(process, number));
    if (domains.names()[i] != kNoName) whole.domains.SetName(process, number, maps.name[domains.names()[i]]);
  }
  for (const LaunchShape& shape : trace.kernels.shapes) maps.shape.push_back(whole.shapes.IndexOf(shape));
  Trace::ForEachTable([&](auto table) { AppendRows(whole.trace.*table, trace.*table, maps); });

  CaptureHealth& health = whole.trace.health;
  Add(health.rows_read, trace.health.rows_read);
  Add(health.rows_skipped, trace.health.rows_skipped);
  health.negative_durations += trace.health.negative_durations;
  health.out_of_order += trace.health.out_of_order;
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
        next_ = jobs_.size();
        throw;
      }
      next_ = jobs_.size();
    } else {
      std::optional<Database> db;
      while (ReadNext(db)) {
      }
    }
  });
}

bool Parts::ReadNext(std::optional<Database>& db) {
  const size_t i = next_++;
  if (i >= jobs_.size()) return false;
  Job& job = jobs_[i];
  try {
    if (!db) db.emplace(job.path);
    auto part = std::make_unique<Part>(*db, strings_, job.rows);
    Context context{*db,           part->trace,  part->names, part->hosts, part->devices,
                    part->domains, part->shapes, nullptr,     &part->share};
    job.read(context);
    job.part.set_value(std::move(part));
  } catch (...) {
    job.part.set_exception(std::current_exception());
  }
  return true;
}

void Parts::Read(Context& whole, std::string_view table, Reader read) {
  Share before;
  bool in_parts = false;
  std::optional<Database> db;
  for (Job& job : jobs_) {
    if (job.table != table) continue;
    in_parts = true;
    std::future<std::unique_ptr<Part>> promised = job.part.get_future();
    while (promised.wait_for(std::chrono::seconds(0)) != std::future_status::ready && ReadNext(db)) {
    }
    const std::unique_ptr<Part> part = promised.get();
    Share& share = part->share;
    if (share.total > kMostTotal - before.total) {
      // Times this long cannot be summed over the whole: the rows before decide which rows to leave out.
      before.rows = {job.rows.first, RowRange{}.last};
      whole.share = &before;
      read(whole);
      whole.share = nullptr;
      return;
    }
    if (before.last_start && share.first_start && *share.first_start < *before.last_start)
      ++whole.trace.health.out_of_order;
    part->AppendTo(whole);
    before.total += share.total;
    if (share.last_start) before.last_start = share.last_start;
  }
  if (!in_parts) read(whole);
}

}  // namespace dladvisor::nsys
