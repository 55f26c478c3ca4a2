// SPDX-License-Identifier: Apache-2.0
#include "src/importers/rocprof_json/records.h"

#include <array>
#include <limits>
#include <utility>

#include "src/importers/gpu_rows/gpu_work.h"
#include "src/importers/rocm/agent.h"

namespace dladvisor::rocprof_json {
namespace {

using nlohmann::json;

const json& At(const json& object, const char* key) {
  static const json none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

std::optional<int64_t> Number(const json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  return value.is_number_integer() ? std::optional(value.get<int64_t>()) : std::nullopt;
}
int64_t Number(const json& value, int64_t fallback) { return Number(value).value_or(fallback); }

// {"handle": 7}
std::optional<int64_t> Handle(const json& value) { return Number(At(value, "handle")); }

std::string_view Text(const json& value) {
  return value.is_string() ? std::string_view(value.get_ref<const std::string&>()) : std::string_view();
}

std::array<int64_t, 3> Dimensions(const json& value) {
  return {Number(At(value, "x"), 1), Number(At(value, "y"), 1), Number(At(value, "z"), 1)};
}

int64_t CorrelationOf(const json& record) {
  const int64_t number = Number(At(At(record, "correlation_id"), "internal"), 0);
  return number > 0 ? number : kNoCorrelation;
}

}  // namespace

void Records::Add(const std::vector<std::string>& path, const json& element) {
  const std::string& first = path.at(0);
  if (path.size() == 1) {
    if (first == "metadata") AddProcess(element);
    if (first == "agents") AddAgent(element);
    if (first == "kernel_symbols") AddSymbol(element);
    return;
  }
  const std::string& table = path[1];
  if (first == "strings") {
    if (table == "buffer_records") AddNames(element);
    if (table == "marker_api")
      if (const auto number = Number(At(element, "key"))) messages_[*number] = Text(At(element, "value"));
    return;
  }
  if (first != "buffer_records") return;
  const bool is_region = table.ends_with("_api");
  if (!is_region && table != "kernel_dispatch" && table != "memory_copy" && table != "memory_allocation")
    return;
  rocm::RocmTrace::Table& rows = rows_.TableOf(table);
  if (!rows_.Use(rows, Number(At(element, "start_timestamp")), Number(At(element, "end_timestamp")))) return;
  const bool is_used = is_region                    ? AddRegion(element)
                       : table == "kernel_dispatch" ? AddKernel(element)
                       : table == "memory_copy"     ? AddCopy(element)
                                                    : AddMemory(element);
  rows.skipped += !is_used;
}

void Records::AddProcess(const json& metadata) {
  ++processes_;
  pid_ = Number(At(metadata, "pid"), 0);
  Trace& trace = rows_.trace();
  const json& node = At(metadata, "node");
  if (const std::string_view host = Text(At(node, "hostname")); !host.empty()) trace.facts["host"] = host;
  if (const std::string_view os = Text(At(node, "system_name")); !os.empty())
    trace.facts["os"] = std::string(os) + " " + std::string(Text(At(node, "release")));
  const json& command = At(metadata, "command");
  trace.command.clear();
  if (command.is_array())
    for (const json& word : command) trace.command.emplace_back(Text(word));
}

void Records::AddAgent(const json& agent) {
  const auto id = Handle(At(agent, "id"));
  constexpr int64_t kGpu = 2, kLast = 4095;
  const int64_t ordinal = Number(At(agent, "logical_node_type_id"), Number(At(agent, "logical_node_id"), -1));
  if (!id || ordinal < 0 || ordinal > kLast) return;
  const bool is_gpu = Number(At(agent, "type")) == kGpu;
  agents_[*id] = {.is_gpu = is_gpu, .ordinal = ordinal};
  if (!is_gpu) return;
  Device device = rocm::DeviceOf(agent, Text(At(agent, "product_name")), Text(At(agent, "name")));
  device.ordinal = ordinal;
  rows_.Describe(std::move(device));
}

void Records::AddSymbol(const json& symbol) {
  const auto id = Number(At(symbol, "kernel_id"));
  if (!id) return;
  Kernel kernel{.registers = Number(At(symbol, "arch_vgpr_count"), 0)};
  for (const char* key : {"formatted_kernel_name", "demangled_kernel_name", "kernel_name"})
    if (kernel.name.empty()) kernel.name = Text(At(symbol, key));
  symbols_[*id] = std::move(kernel);
}

void Records::AddNames(const json& names) {
  Names& added = names_.emplace_back();
  added.kind = Text(At(names, "kind"));
  const json& operations = At(names, "operations");
  if (operations.is_array())
    for (const json& operation : operations) added.operations.emplace_back(Text(operation));
}

const Records::Names* Records::NamesOf(const json& record) const {
  const auto kind = Number(At(record, "kind"));
  return kind && *kind >= 0 && *kind < static_cast<int64_t>(names_.size())
             ? &names_[static_cast<size_t>(*kind)]
             : nullptr;
}

std::string_view Records::OperationOf(const json& record) const {
  const Names* names = NamesOf(record);
  const auto operation = Number(At(record, "operation"));
  if (names == nullptr || !operation || *operation < 0 ||
      *operation >= static_cast<int64_t>(names->operations.size()))
    return "";
  return names->operations[static_cast<size_t>(*operation)];
}

std::optional<int64_t> Records::Gpu(const json& record, const char* key) const {
  const auto id = Handle(At(record, key));
  const auto agent = id ? agents_.find(*id) : agents_.end();
  return agent == agents_.end() || !agent->second.is_gpu ? std::nullopt
                                                         : std::optional(agent->second.ordinal);
}

rocm::Work Records::WorkOf(const json& record, int64_t device) const {
  const auto stream = Handle(At(record, "stream_id"));
  return {.start = Number(At(record, "start_timestamp"), 0),
          .end = Number(At(record, "end_timestamp"), 0),
          .pid = pid_,
          .device = device,
          .stream = stream ? *stream : Handle(At(At(record, "dispatch_info"), "queue_id")).value_or(0),
          .correlation = CorrelationOf(record)};
}

bool Records::AddKernel(const json& record) {
  const json& info = At(record, "dispatch_info");
  const auto gpu = Gpu(info, "agent_id");
  if (!gpu) return false;
  rocm::KernelLaunch kernel{
      .name = "[unnamed]",
      .shape = rocm::ShapeOfItems(Dimensions(At(info, "grid_size")), Dimensions(At(info, "workgroup_size"))),
      .shared_bytes = Number(At(info, "group_segment_size"), 0),
      .local_bytes = Number(At(info, "private_segment_size"), -1)};
  if (const auto symbol = symbols_.find(Number(At(info, "kernel_id"), -1)); symbol != symbols_.end()) {
    if (!symbol->second.name.empty()) kernel.name = symbol->second.name;
    kernel.registers = symbol->second.registers;
  }
  rows_.AddKernel(WorkOf(record, *gpu), kernel);
  return true;
}

bool Records::AddCopy(const json& record) {
  CopyDirection direction = rocm::DirectionOf(OperationOf(record));
  const auto from = Gpu(record, "src_agent_id"), to = Gpu(record, "dst_agent_id");
  if (direction == CopyDirection::kDeviceToDevice && from && to && *from != *to)
    direction = CopyDirection::kPeerToPeer;
  const auto gpu = from ? from : to;
  if (!gpu) return false;  // between two places of the host
  rows_.AddCopy(WorkOf(record, *gpu), direction, Number(At(record, "bytes"), 0));
  return true;
}

// What is freed has the address of what was allocated, and no size.
bool Records::AddMemory(const json& record) {
  const json& at = At(record, "address");
  const auto address = at.is_object() ? Handle(at) : Number(at);
  const std::string_view operation = OperationOf(record);
  if (!address || operation.find("VMEM") != std::string_view::npos) return address.has_value();
  const Ns time = Number(At(record, "end_timestamp"), 0);
  if (operation.ends_with("_ALLOCATE")) {
    const auto gpu = Gpu(record, "agent_id");
    const int64_t bytes = Number(At(record, "allocation_size"), 0);
    if (!gpu || bytes <= 0 || bytes > gpu_rows::kMostBytes) return true;  // of the host
    held_[*address] = {*gpu, bytes};
    rows_.AddMemory(pid_, *gpu, time, bytes, *address);
  } else if (const auto freed = held_.find(*address); freed != held_.end()) {
    rows_.AddMemory(pid_, freed->second.device, time, -freed->second.bytes, *address);
    held_.erase(freed);
  }
  return true;
}

bool Records::AddRegion(const json& record) {
  const Names* names = NamesOf(record);
  if (names == nullptr) return false;
  const rocm::Domain domain = rocm::DomainOf(names->kind);
  has_hip_ = has_hip_ || domain == rocm::Domain::kHip;
  const int64_t correlation = CorrelationOf(record);
  const int64_t caller = Number(At(At(record, "correlation_id"), "ancestor"), 0);
  if (domain != rocm::Domain::kHip && has_hip_ && caller > 0 && caller != correlation)
    callers_[correlation] = caller;
  const auto message = domain == rocm::Domain::kMarker ? messages_.find(correlation) : messages_.end();
  rows_.AddRegion(
      rows_.Thread(pid_, Number(At(record, "thread_id"), 0)),
      {.domain = domain,
       .name = OperationOf(record),
       .text = message == messages_.end() ? std::string_view() : std::string_view(message->second),
       .start = Number(At(record, "start_timestamp"), 0),
       .end = Number(At(record, "end_timestamp"), 0),
       .correlation = correlation},
      has_hip_);
  return true;
}

Trace Records::Finish() {
  // With HSA traced as well, work is of the call of HSA within that of HIP.
  const auto follow = [&](GpuOperations& ops) {
    constexpr int kMostCalls = 8;  // within each other
    for (size_t i = 0; i < ops.size() && !callers_.empty(); ++i)
      for (int k = 0; k < kMostCalls; ++k) {
        const auto caller = callers_.find(ops.correlation[i]);
        if (caller == callers_.end()) break;
        ops.correlation.Set(i, caller->second);
      }
  };
  follow(rows_.trace().kernels);
  follow(rows_.trace().copies);
  return rows_.Finish();
}

}  // namespace dladvisor::rocprof_json
