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

template <class T>
void Append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void Append(IntColumn& to, const IntColumn& from) { to.Append(from); }

// Indices of a part, as those of the whole.
void Append(std::vector<uint32_t>& to, const std::vector<uint32_t>& from, const std::vector<uint32_t>& map) {
  for (const uint32_t i : from) to.push_back(i == kNoIndex ? kNoIndex : map[i]);
}

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
  Share share;
};

void Parts::Part::AppendTo(Context& whole) {
  std::vector<uint32_t> name, process, thread, device, domain;
  for (NameId i = 0; i < trace.names.size(); ++i)
    name.push_back(whole.trace.names.Intern(trace.names.View(i)));
  for (const int64_t id : hosts.process_ids()) process.push_back(whole.hosts.Process(id));
  for (const int64_t id : hosts.thread_ids()) thread.push_back(whole.hosts.Thread(id));
  for (size_t i = 0; i < trace.threads.size(); ++i)  // named by a row of the part
    if (std::string& known = whole.trace.threads[thread[i]].name; known.empty())
      known = trace.threads[i].name;
  for (const Device& d : trace.devices) device.push_back(whole.devices.ByOrdinal(d.ordinal));
  for (size_t i = 0; i < domains.keys().size(); ++i) {
    const auto [of, number] = domains.keys()[i];
    domain.push_back(whole.domains.Use(process[of], number));
    if (domains.names()[i] != kNoName) whole.domains.SetName(process[of], number, name[domains.names()[i]]);
  }

  Kernels& k = whole.trace.kernels;
  const Kernels& from_k = trace.kernels;
  Append(k.start, from_k.start);
  Append(k.end, from_k.end);
  Append(k.process, from_k.process, process);
  Append(k.device, from_k.device, device);
  Append(k.stream, from_k.stream);
  Append(k.correlation, from_k.correlation);
  Append(k.graph_node, from_k.graph_node);
  Append(k.name, from_k.name, name);
  Append(k.short_name, from_k.short_name, name);
  Append(k.grid, from_k.grid);
  Append(k.block, from_k.block);
  Append(k.registers, from_k.registers);
  Append(k.shared_bytes, from_k.shared_bytes);
  std::map<LaunchShape, uint32_t> shapes;
  for (const LaunchShape& shape : k.shapes) shapes.try_emplace(shape, static_cast<uint32_t>(shapes.size()));
  std::vector<uint32_t> shape_of;
  for (const LaunchShape& shape : from_k.shapes) {
    const auto [known, is_new] = shapes.try_emplace(shape, static_cast<uint32_t>(k.shapes.size()));
    if (is_new) k.shapes.push_back(shape);
    shape_of.push_back(known->second);
  }
  for (size_t i = 0; i < from_k.shape.size(); ++i)
    k.shape.push_back(shape_of[static_cast<size_t>(from_k.shape[i])]);

  ApiCalls& a = whole.trace.api_calls;
  const ApiCalls& from_a = trace.api_calls;
  Append(a.start, from_a.start);
  Append(a.end, from_a.end);
  Append(a.thread, from_a.thread, thread);
  Append(a.correlation, from_a.correlation);
  Append(a.name, from_a.name, name);
  Append(a.result, from_a.result);

  Ranges& r = whole.trace.ranges;
  const Ranges& from_r = trace.ranges;
  Append(r.start, from_r.start);
  Append(r.end, from_r.end);
  Append(r.thread, from_r.thread, thread);
  Append(r.end_thread, from_r.end_thread, thread);
  Append(r.name, from_r.name, name);
  Append(r.domain, from_r.domain, domain);
  Append(r.kind, from_r.kind);
  Append(r.open, from_r.open);

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
    Context context{*db,           part->trace,   part->names, part->hosts,
                    part->devices, part->domains, nullptr,     &part->share};
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
      // Times so long are not the whole's to sum up: which rows to leave out is told by those before.
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
