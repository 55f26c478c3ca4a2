// SPDX-License-Identifier: Apache-2.0
#include "src/importers/rocpd/rocpd_reader.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "src/importers/gpu_rows/gpu_work.h"
#include "src/importers/rocm/agent.h"

namespace dladvisor::rocpd {
namespace {

using nlohmann::json;
using sqlite::Rows;

constexpr int64_t kLastDevice = 4095;

json ObjectIn(std::string_view text) {
  json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return object.is_object() ? object : json::object();
}

}  // namespace

Reader::Reader(const sqlite::Database& db, std::string id, rocm::RocmTrace& rows)
    : db_(db), id_(std::move(id)), rows_(rows) {}

bool Reader::HasTimes() const {
  for (const std::string_view table : {"rocpd_kernel_dispatch", "rocpd_region"})
    if (db_.Has(Name(table))) {
      const Rows rows(db_, Name(table), {"start", "end"});
      if (!rows.HasColumn(0) || !rows.HasColumn(1)) return false;
    }
  return true;
}

void Reader::Read() {
  ReadStrings();
  ReadNode();
  ReadProcesses();
  ReadThreads();
  ReadAgents();
  ReadSymbols();
  ReadEvents();
  ReadTracks();
  ReadRegions();
  ReadMarks();
  ReadKernels();
  ReadCopies();
  ReadMemory();
  Rows metadata(db_, Name("rocpd_metadata"), {"tag", "value"});
  while (metadata.Next())
    if (metadata.Text(0) == "schema_version") rows_.trace().schema_version = metadata.Text(1);
}

std::string_view Reader::Text(int64_t id) const {
  const auto found = strings_.find(id);
  return found == strings_.end() ? std::string_view() : std::string_view(found->second);
}

void Reader::ReadStrings() {
  Rows strings(db_, Name("rocpd_string"), {"id", "string"});
  while (strings.Next())
    if (const auto id = strings.Integer(0)) strings_[*id] = strings.Text(1);
  Rows categories(db_, Name("rocpd_info_category"), {"id", "name"});  // since schema 4
  while (categories.Next())
    if (const auto id = categories.Integer(0)) categories_[*id] = categories.Text(1);
}

void Reader::ReadNode() {
  Rows rows(db_, Name("rocpd_info_node"), {"machine_id", "hostname", "system_name", "release"});
  while (rows.Next()) {
    machines_.emplace(rows.Text(0));
    Trace& trace = rows_.trace();
    if (!rows.Text(1).empty()) trace.facts["host"] = rows.Text(1);
    if (!rows.Text(2).empty())
      trace.facts["os"] = std::string(rows.Text(2)) + " " + std::string(rows.Text(3));
  }
}

void Reader::ReadProcesses() {
  Rows rows(db_, Name("rocpd_info_process"), {"id", "pid", "command", "environment"});
  while (rows.Next()) {
    const auto id = rows.Integer(0);
    if (!id) continue;
    pids_[*id] = rows.Integer(1, *id);
    Trace& trace = rows_.trace();
    if (trace.command.empty() && !rows.Text(2).empty()) trace.command = {std::string(rows.Text(2))};
    if (!trace.environment.empty()) continue;
    const json environment = ObjectIn(rows.Text(3));
    for (const auto& [name, value] : environment.items())
      if (value.is_string()) trace.environment[name] = value.get<std::string>();
  }
}

void Reader::ReadThreads() {
  Rows rows(db_, Name("rocpd_info_thread"), {"id", "tid"});
  while (rows.Next())
    if (const auto id = rows.Integer(0)) tids_[*id] = rows.Integer(1, *id);
}

void Reader::ReadAgents() {
  enum : size_t { kId, kType, kOrdinal, kName, kModel, kProduct, kMore };
  Rows rows(db_, Name("rocpd_info_agent"),
            {"id", "type", "type_index", "name", "model_name", "product_name", "extdata"});
  while (rows.Next()) {
    const auto id = rows.Integer(kId);
    if (!id) continue;
    const Agent agent{.is_gpu = rows.Text(kType) == "GPU", .ordinal = rows.Integer(kOrdinal, *id)};
    if (agent.ordinal < 0 || agent.ordinal > kLastDevice) continue;
    agents_[*id] = agent;
    if (!agent.is_gpu) continue;
    Device device = rocm::DeviceOf(ObjectIn(rows.Text(kMore)), rows.Text(kProduct), rows.Text(kName));
    device.ordinal = agent.ordinal;
    rows_.Describe(std::move(device));
  }
}

void Reader::ReadSymbols() {
  Rows rows(db_, Name("rocpd_info_kernel_symbol"), {"id", "display_name", "kernel_name", "arch_vgpr_count"});
  while (rows.Next())
    if (const auto id = rows.Integer(0)) {
      const std::string_view shown = rows.Text(1);
      symbols_[*id] = {.name = std::string(shown.empty() ? rows.Text(2) : shown),
                       .registers = rows.Integer(3, 0)};
    }
}

void Reader::ReadEvents() {
  Rows rows(db_, Name("rocpd_event"), {"id", "category_id", "stack_id", "parent_stack_id", "extdata"});
  while (rows.Next()) {
    const auto id = rows.Integer(0);
    if (!id) continue;
    events_[*id] = {
        .category = rows.Integer(1, -1), .stack = rows.Integer(2, 0), .parent = rows.Integer(3, 0)};
    if (rows.Text(4).size() > 2) messages_[*id] = rows.Text(4);
  }
}

void Reader::ReadTracks() {
  Rows rows(db_, Name("rocpd_track"), {"pid", "tid", "agent_id", "queue_id", "stream_id", "id"});
  while (rows.Next())
    if (const auto id = rows.Integer(5)) tracks_[*id] = PlaceOf(rows, 0);
}

Reader::Place Reader::PlaceOf(const Rows& rows, size_t first) const {
  enum : size_t { kPid, kTid, kAgent, kQueue, kStream, kTrack };
  const auto known = [](const auto& map, int64_t id) {
    const auto found = map.find(id);
    return found == map.end() ? id : found->second;
  };
  if (!rows.HasColumn(first)) {
    const auto track = tracks_.find(rows.Integer(first + kTrack, -1));
    return track == tracks_.end() ? Place{} : track->second;
  }
  return {.pid = known(pids_, rows.Integer(first + kPid, 0)),
          .tid = known(tids_, rows.Integer(first + kTid, 0)),
          .agent = rows.Integer(first + kAgent, -1),
          .queue = rows.Integer(first + kQueue, 0),
          .stream = rows.Integer(first + kStream, 0)};
}

rocm::Domain Reader::DomainOf(int64_t event) const {
  const auto found = events_.find(event);
  if (found == events_.end()) return rocm::Domain::kOther;
  const auto& names = categories_.empty() ? strings_ : categories_;
  const auto name = names.find(found->second.category);
  return name == names.end() ? rocm::Domain::kOther : rocm::DomainOf(name->second);
}

std::string Reader::MessageOf(int64_t event) const {
  const auto found = messages_.find(event);
  if (found == messages_.end()) return "";
  const json more = ObjectIn(found->second);
  const auto message = more.find("message");
  return message != more.end() && message->is_string() ? message->get<std::string>() : "";
}

int64_t Reader::Correlation(int64_t event) const {
  const auto found = events_.find(event);
  if (found == events_.end() || found->second.stack <= 0) return kNoCorrelation;
  int64_t number = found->second.stack;
  constexpr int kMostCalls = 8;  // within each other
  for (int i = 0; i < kMostCalls; ++i) {
    const auto caller = callers_.find(number);
    if (caller == callers_.end()) break;
    number = caller->second;
  }
  return number;
}

std::optional<int64_t> Reader::Gpu(int64_t agent) const {
  const auto found = agents_.find(agent);
  return found == agents_.end() || !found->second.is_gpu ? std::nullopt
                                                         : std::optional(found->second.ordinal);
}

void Reader::ReadRegions() {
  enum : size_t { kStart, kEnd, kName, kEvent, kPlace };
  const std::vector<std::string_view> columns = {"start", "end",      "name_id",  "event_id",  "pid",
                                                 "tid",   "agent_id", "queue_id", "stream_id", "track_id"};
  {
    Rows rows(db_, Name("rocpd_region"), {"event_id"});
    while (rows.Next() && !has_hip_) has_hip_ = DomainOf(rows.Integer(0, -1)) == rocm::Domain::kHip;
  }
  Rows rows(db_, Name("rocpd_region"), columns);
  rocm::RocmTrace::Table& table = rows_.TableOf("rocpd_region");
  while (rows.Next()) {
    if (!rows_.Use(table, rows.Integer(kStart), rows.Integer(kEnd))) continue;
    const int64_t event = rows.Integer(kEvent, -1);
    const rocm::Domain domain = DomainOf(event);
    const auto about = events_.find(event);
    if (domain == rocm::Domain::kOther || about == events_.end()) continue;
    const auto [category, stack, parent] = about->second;
    if (domain != rocm::Domain::kHip && has_hip_ && parent > 0 && parent != stack) callers_[stack] = parent;
    const Place place = PlaceOf(rows, kPlace);
    const std::string text = domain == rocm::Domain::kMarker ? MessageOf(event) : "";
    rows_.AddRegion(rows_.Thread(place.pid, place.tid),
                    {.domain = domain,
                     .name = Text(rows.Integer(kName, -1)),
                     .text = text,
                     .start = *rows.Integer(kStart),
                     .end = *rows.Integer(kEnd),
                     .correlation = stack > 0 ? stack : kNoCorrelation},
                    has_hip_);
  }
}

// What takes no time.
void Reader::ReadMarks() {
  Rows rows(db_, Name("rocpd_sample"), {"timestamp", "track_id", "event_id"});
  rocm::RocmTrace::Table& table = rows_.TableOf("rocpd_sample");
  while (rows.Next()) {
    const int64_t event = rows.Integer(2, -1);
    if (DomainOf(event) != rocm::Domain::kMarker) continue;
    if (!rows_.Use(table, rows.Integer(0), rows.Integer(0))) continue;
    const auto track = tracks_.find(rows.Integer(1, -1));
    const std::string message = MessageOf(event);
    if (track == tracks_.end() || message.empty()) continue;
    const Ns time = *rows.Integer(0);
    rows_.AddRange(rows_.Thread(track->second.pid, track->second.tid), message, "", time, time,
                   RangeKind::kMark);
  }
}

void Reader::ReadKernels() {
  enum : size_t {
    kStart,
    kEnd,
    kKernel,
    kEvent,
    kShared,
    kScratch,
    kGrid,
    kBlock = kGrid + 3,
    kPlace = kBlock + 3
  };
  Rows rows(db_, Name("rocpd_kernel_dispatch"),
            {"start", "end", "kernel_id", "event_id", "group_segment_size", "private_segment_size",
             "grid_size_x", "grid_size_y", "grid_size_z", "workgroup_size_x", "workgroup_size_y",
             "workgroup_size_z", "pid", "tid", "agent_id", "queue_id", "stream_id", "track_id"});
  rocm::RocmTrace::Table& table = rows_.TableOf("rocpd_kernel_dispatch");
  const bool has_shapes = rows.HasColumn(kGrid) && rows.HasColumn(kBlock);
  while (rows.Next()) {
    if (!rows_.Use(table, rows.Integer(kStart), rows.Integer(kEnd))) continue;
    const Place place = PlaceOf(rows, kPlace);
    const auto gpu = Gpu(place.agent);
    if (!gpu) {
      ++table.skipped;
      continue;
    }
    const auto symbol = symbols_.find(rows.Integer(kKernel, -1));
    rocm::KernelLaunch kernel{.name = "[unnamed]",
                              .shared_bytes = rows.Integer(kShared, 0),
                              .local_bytes = rows.Integer(kScratch, -1)};
    if (symbol != symbols_.end()) {
      if (!symbol->second.name.empty()) kernel.name = symbol->second.name;
      kernel.registers = symbol->second.registers;
    }
    if (has_shapes) {
      std::array<int64_t, 3> items{}, block{};
      for (size_t i = 0; i < 3; ++i) {
        items[i] = rows.Integer(kGrid + i, 1);
        block[i] = rows.Integer(kBlock + i, 1);
      }
      kernel.shape = rocm::ShapeOfItems(items, block);
    }
    rows_.AddKernel({.start = *rows.Integer(kStart),
                     .end = *rows.Integer(kEnd),
                     .pid = place.pid,
                     .device = *gpu,
                     .stream = place.stream,
                     .correlation = Correlation(rows.Integer(kEvent, -1))},
                    kernel);
  }
}

void Reader::ReadCopies() {
  enum : size_t { kStart, kEnd, kName, kEvent, kBytes, kFrom, kTo, kPlace };
  Rows rows(db_, Name("rocpd_memory_copy"),
            {"start", "end", "name_id", "event_id", "size", "src_agent_id", "dst_agent_id", "pid", "tid",
             "agent_id", "queue_id", "stream_id", "track_id"});
  rocm::RocmTrace::Table& table = rows_.TableOf("rocpd_memory_copy");
  while (rows.Next()) {
    if (!rows_.Use(table, rows.Integer(kStart), rows.Integer(kEnd))) continue;
    const Place place = PlaceOf(rows, kPlace);
    const int64_t bytes = rows.Integer(kBytes, 0);
    const auto from = Gpu(rows.Integer(kFrom, -1)), to = Gpu(rows.Integer(kTo, -1));
    CopyDirection direction = rocm::DirectionOf(Text(rows.Integer(kName, -1)));
    if (direction == CopyDirection::kDeviceToDevice && from && to && *from != *to)
      direction = CopyDirection::kPeerToPeer;
    const auto gpu = from ? from : to;
    if (!gpu || bytes < 0) {  // between two places of the host
      ++table.skipped;
      continue;
    }
    rows_.AddCopy({.start = *rows.Integer(kStart),
                   .end = *rows.Integer(kEnd),
                   .pid = place.pid,
                   .device = *gpu,
                   .stream = place.stream,
                   .correlation = Correlation(rows.Integer(kEvent, -1))},
                  direction, bytes);
  }
}

// What is freed has the address of what was allocated, and no size.
void Reader::ReadMemory() {
  enum : size_t { kStart, kEnd, kType, kLevel, kAddress, kBytes, kPlace };
  Rows rows(db_, Name("rocpd_memory_allocate"),
            {"start", "end", "type", "level", "address", "size", "pid", "tid", "agent_id", "queue_id",
             "stream_id", "track_id"});
  rocm::RocmTrace::Table& table = rows_.TableOf("rocpd_memory_allocate");
  struct Allocated {
    int64_t device, bytes;
  };
  std::unordered_map<int64_t, Allocated> held;
  while (rows.Next()) {
    if (!rows_.Use(table, rows.Integer(kStart), rows.Integer(kEnd)) || rows.Text(kLevel) != "REAL") continue;
    const Place place = PlaceOf(rows, kPlace);
    const int64_t address = rows.Integer(kAddress, 0), bytes = rows.Integer(kBytes, 0);
    const Ns time = *rows.Integer(kEnd);
    if (rows.Text(kType) == "ALLOC") {
      const auto gpu = Gpu(place.agent);
      if (!gpu || bytes <= 0 || bytes > gpu_rows::kMostBytes) continue;
      held[address] = {*gpu, bytes};
      rows_.AddMemory(place.pid, *gpu, time, bytes, address);
    } else if (const auto freed = held.find(address); freed != held.end()) {
      rows_.AddMemory(place.pid, freed->second.device, time, -freed->second.bytes, address);
      held.erase(freed);
    }
  }
}

}  // namespace dladvisor::rocpd
