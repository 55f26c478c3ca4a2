// SPDX-License-Identifier: Apache-2.0
#include "src/importers/rpd/rpd_reader.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "engine/base/error.h"

namespace dladvisor::rpd {
namespace {

using sqlite::Rows;

constexpr int64_t kLastDevice = 1'000'000;

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

bool IsCall(std::string_view name, std::string_view domain) {
  return domain == "hip" || name.starts_with("hip") || name.starts_with("__hip") ||
         name.starts_with("cuda") ||
         (name.starts_with("cu") && name.size() > 2 && name[2] >= 'A' && name[2] <= 'Z');
}

bool IsOfTracer(std::string_view name) {
  return name.find("Table::") != std::string_view::npos || name.ends_with("_callback") ||
         name == "rpdflush" || name == "BLOCKING";
}

// Calls whose grid is in work-items, whichever library the tracer uses.
bool CountsItems(std::string_view call) {
  return call == "hipExtModuleLaunchKernel" || call == "hipHccModuleLaunchKernel";
}

}  // namespace

Reader::Reader(const sqlite::Database& db) : db_(db), rows_("rpd", "rpd_tracer") {}

Trace Reader::Read() {
  ReadStrings("rocpd_string", strings_);
  has_own_arguments_ = db_.Has("rocpd_ustring");
  if (has_own_arguments_) ReadStrings("rocpd_ustring", arguments_);
  LookAtTracer();
  ReadCalls();
  ReadKernelCalls();
  ReadCopyCalls();
  ReadLaunches();
  ReadOperations();
  Rows metadata(db_, "rocpd_metadata", {"tag", "value"});
  while (metadata.Next())
    if (metadata.Text(0) == "schema_version") rows_.trace().schema_version = metadata.Text(1);
  return rows_.Finish();
}

void Reader::ReadStrings(std::string_view table, std::unordered_map<int64_t, std::string>& strings) {
  Rows rows(db_, table, {"id", "string"});
  while (rows.Next())
    if (const auto id = rows.Integer(0)) strings[*id] = rows.Text(1);
}

std::string_view Reader::Text(int64_t id) const {
  const auto found = strings_.find(id);
  return found == strings_.end() ? std::string_view() : std::string_view(found->second);
}

std::string_view Reader::Arguments(int64_t id) const {
  if (!has_own_arguments_) return Text(id);
  const auto found = arguments_.find(id);
  return found == arguments_.end() ? std::string_view() : std::string_view(found->second);
}

// Which library the tracer uses says what the numbers mean: roctracer gives grids as the call has them,
// rocprofiler-sdk in work-items.
void Reader::LookAtTracer() {
  bool has_tracer = false;
  for (const auto& [id, text] : strings_) {
    counts_items_ = counts_items_ || text.starts_with("MEMORY_COPY_") || text == "Memcpy" ||
                    text == "RocprofDataSource::buffer_callback";
    has_tracer = has_tracer || text == "hcc_activity_callback" || text.starts_with("CopyHostTo") ||
                 text.starts_with("CopyDeviceTo") || text == "Task" || text.starts_with("cuda");
  }
  knows_grids_ = counts_items_ != has_tracer;
}

void Reader::ReadCalls() {
  enum : size_t { kStart, kEnd, kId, kPid, kTid, kName, kArguments, kDomain };
  Rows rows(db_, "rocpd_api", {"start", "end", "id", "pid", "tid", "apiName_id", "args_id", "domain_id"});
  rocm::RocmTrace::Table& table = rows_.TableOf("rocpd_api");
  while (rows.Next()) {
    const auto id = rows.Integer(kId);
    if (!rows_.Use(table, rows.Integer(kStart), rows.Integer(kEnd))) continue;
    const int64_t pid = rows.Integer(kPid, 0);
    const std::string_view name = Text(rows.Integer(kName, -1));
    const std::string_view arguments = Arguments(rows.Integer(kArguments, -1));
    const std::string_view domain = Text(rows.Integer(kDomain, -1));
    const uint32_t thread = rows_.Thread(pid, rows.Integer(kTid, pid));
    const Ns start = *rows.Integer(kStart), end = *rows.Integer(kEnd);
    if (IsOfTracer(name)) {
      rows_.AddOverhead(thread, name, start, end);
    } else if (!IsCall(name, domain)) {
      // A marker is the text of roctx, or the name that the program gives by rlog.
      const bool is_marker = name == "UserMarker";
      const std::string_view text = is_marker ? arguments : name;
      if (!text.empty())
        rows_.AddRange(thread, text, is_marker ? "" : domain, start, end,
                       start == end ? RangeKind::kMark : RangeKind::kPushPop);
    } else {
      static const RE2 stream(R"(\bstream"?\s*[=:]\s*"?(0x[0-9a-fA-F]+))");
      Call call{.pid = pid, .name = rows_.Name(name), .correlation = table.read};
      std::string pointer;
      if (RE2::PartialMatch(Piece(arguments), stream, &pointer)) call.stream = Stream(pid, pointer);
      rows_.AddCall(thread, name, start, end, call.correlation);
      if (id) calls_.insert_or_assign(*id, std::move(call));
    }
  }
}

// Streams are numbered as they appear, the default one is 0.
int64_t Reader::Stream(int64_t pid, std::string_view pointer) {
  if (pointer.find_first_not_of("0x") == std::string_view::npos) return 0;
  int64_t next = 1;
  for (auto of = streams_.lower_bound({pid, ""}); of != streams_.end() && of->first.first == pid; ++of)
    ++next;
  return streams_.try_emplace({pid, std::string(pointer)}, next).first->second;
}

void Reader::ReadKernelCalls() {
  enum : size_t { kId, kStream, kGrid, kBlock = kGrid + 3, kShared = kBlock + 3 };
  Rows rows(db_, "rocpd_kernelapi",
            {"api_ptr_id", "stream", "gridX", "gridY", "gridZ", "workgroupX", "workgroupY", "workgroupZ",
             "groupSegmentSize"});
  while (rows.Next()) {
    const auto call = calls_.find(rows.Integer(kId, -1));
    if (call == calls_.end()) continue;
    if (!rows.Text(kStream).empty()) call->second.stream = Stream(call->second.pid, rows.Text(kStream));
    call->second.shared_bytes = rows.Integer(kShared, 0);
    std::array<int64_t, 3> grid{}, block{};
    bool has_shape = rows.HasColumn(kGrid) && rows.HasColumn(kBlock);
    for (size_t i = 0; i < 3; ++i) {
      grid[i] = rows.Integer(kGrid + i, 1);
      block[i] = rows.Integer(kBlock + i, 1);
      has_shape = has_shape && grid[i] > 0 && block[i] > 0;
    }
    const bool in_items = counts_items_ || CountsItems(rows_.trace().names.View(call->second.name));
    if (!has_shape || (!knows_grids_ && !in_items)) continue;
    call->second.shape = in_items ? rocm::ShapeOfItems(grid, block) : LaunchShape{grid, block};
  }
}

void Reader::ReadCopyCalls() {
  Rows rows(db_, "rocpd_copyapi", {"api_ptr_id", "stream", "size"});
  while (rows.Next()) {
    const auto call = calls_.find(rows.Integer(0, -1));
    if (call == calls_.end()) continue;
    if (!rows.Text(1).empty()) call->second.stream = Stream(call->second.pid, rows.Text(1));
    call->second.bytes = rows.Integer(2, 0);
  }
}

void Reader::ReadLaunches() {
  Rows rows(db_, "rocpd_api_ops", {"api_id", "op_id"});
  while (rows.Next()) {
    const auto api = rows.Integer(0), operation = rows.Integer(1);
    if (api && operation) launchers_.insert_or_assign(*operation, *api);
  }
}

// That of the call where it has one, else what ran before on the same queue.
int64_t Reader::StreamOfWork(const Call* call, int64_t device, int64_t queue) {
  int64_t& last = queues_[{device, queue}];
  if (call != nullptr && call->stream) last = *call->stream;
  return last;
}

void Reader::ReadOperations() {
  enum : size_t { kStart, kEnd, kId, kDevice, kQueue, kType, kDescription };
  // Kernels first: they tell which device a process uses where its copies do not.
  for (const bool kernels : {true, false}) {
    Rows rows(db_, "rocpd_op", {"start", "end", "id", "gpuId", "queueId", "opType_id", "description_id"});
    rocm::RocmTrace::Table& table = rows_.TableOf("rocpd_op");
    while (rows.Next()) {
      const std::string_view type = Text(rows.Integer(kType, -1));
      const bool is_kernel =
          type == "KernelExecution" || type == "Task" || type.starts_with("KERNEL_DISPATCH");
      if (is_kernel != kernels) continue;
      if (!rows_.Use(table, rows.Integer(kStart), rows.Integer(kEnd))) continue;
      const auto device = rows.Integer(kDevice);
      if (!device || *device < 0 || *device > kLastDevice) {
        ++table.skipped;
        continue;
      }
      const auto launcher = launchers_.find(rows.Integer(kId, -1));
      const auto call = launcher == launchers_.end() ? calls_.end() : calls_.find(launcher->second);
      Call* of = call == calls_.end() ? nullptr : &call->second;
      rocm::Work work{.start = *rows.Integer(kStart), .end = *rows.Integer(kEnd), .device = *device};
      if (of != nullptr) {
        work.pid = of->pid;
        work.correlation = of->correlation;
      } else if (!rows_.trace().processes.empty()) {
        work.pid = rows_.trace().processes.front().pid;
      }
      if (is_kernel) {
        const auto [known, is_new] = devices_.try_emplace(work.pid, *device);
        if (!is_new && known->second != *device) known->second = -1;
      }
      AddOperation({.type = type,
                    .kernel = is_kernel ? Text(rows.Integer(kDescription, -1)) : std::string_view(),
                    .call = of,
                    .queue = rows.Integer(kQueue, 0),
                    .of_graph = of != nullptr && rows_.trace().names.View(of->name).find("GraphLaunch") !=
                                                     std::string_view::npos},
                   work);
    }
  }
}

// With rocprofiler-sdk the tracer writes 0 as the GPU of all copies.
std::optional<int64_t> Reader::DeviceOfCopy(int64_t pid) const {
  const auto known = devices_.find(pid);
  if (known == devices_.end() || known->second < 0) return std::nullopt;
  return known->second;
}

void Reader::AddOperation(const Operation& operation, rocm::Work work) {
  const bool is_copy = operation.type.starts_with("Copy") || operation.type.starts_with("MEMORY_COPY") ||
                       operation.type == "Memcpy";
  if (is_copy && counts_items_) {
    const auto device = DeviceOfCopy(work.pid);
    if (!device && work.device == 0 && devices_.contains(work.pid)) {
      ++rows_.TableOf("rocpd_op").skipped;
      return;
    }
    work.device = device.value_or(work.device);
  }
  work.stream = StreamOfWork(operation.call, work.device, operation.queue);
  if (is_copy)
    return rows_.AddCopy(work, rocm::DirectionOf(operation.type),
                         operation.call == nullptr || operation.of_graph ? 0 : operation.call->bytes);
  if (operation.type == "FillBuffer") return rows_.AddSet(work, 0);
  if (operation.type == "Marker" || operation.type == "Barrier") return;
  rocm::KernelLaunch kernel{.name = operation.kernel.empty() ? operation.type : operation.kernel};
  if (kernel.name.empty()) kernel.name = "[unnamed]";
  if (operation.call != nullptr && !operation.of_graph) {
    kernel.shape = operation.call->shape;
    kernel.shared_bytes = operation.call->shared_bytes;
  }
  rows_.AddKernel(work, kernel);
}

}  // namespace dladvisor::rpd
