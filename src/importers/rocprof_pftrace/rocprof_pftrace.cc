// SPDX-License-Identifier: Apache-2.0
#include "src/importers/rocprof_pftrace/rocprof_pftrace.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "src/importers/gpu_rows/gpu_work.h"
#include "src/importers/rocm/rocm_trace.h"
#include "src/importers/rocprof_pftrace/slices.h"

namespace dladvisor {
namespace {

using pftrace::Slice;
using pftrace::SliceReader;

constexpr std::string_view kKernels = "kernel_dispatch", kCopies = "memory_copy", kHip = "hip_api";

// Of a call's category; nothing where it is none.
std::optional<rocm::Domain> DomainOf(std::string_view category) {
  if (category == kHip) return rocm::Domain::kHip;
  if (category == "hsa_api") return rocm::Domain::kHsa;
  if (category == "marker_api") return rocm::Domain::kMarker;
  if (category == "rccl_api") return rocm::Domain::kRccl;
  return std::nullopt;
}

// The node of an agent, by number or as "Agent-4" beside the type "GPU"; nothing for a processor.
std::optional<int64_t> Gpu(const Slice& slice, const std::string& key) {
  constexpr int64_t kLast = 4095;
  if (const std::string_view type = slice.Text(key + "_type"); !type.empty() && type != "GPU")
    return std::nullopt;
  std::optional<int64_t> node = slice.Number(key);
  std::string_view text = slice.Text(key);
  for (const std::string_view prefix : {"Agent", "GPU"})
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  if (const size_t begin = text.find_first_of("0123456789"); begin != std::string_view::npos) {
    int64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data() + begin, text.data() + text.size(), number);
    if (failed == std::errc()) node = number;
  }
  return node && *node >= 0 && *node <= kLast ? node : std::nullopt;
}

class Records {
 public:
  Records() : rows_("rocprofv3", "rocprofv3") {}

  void LookAt(const Slice& slice) {
    has_hip_ = has_hip_ || slice.category == kHip;
    known_ = known_ || slice.category == kKernels || slice.category == kCopies || DomainOf(slice.category);
  }
  // Whether it holds what rocprofv3 writes.
  bool IsKnown() const { return known_; }

  void Add(const Slice& slice, int64_t pid) {
    const std::optional<rocm::Domain> domain = DomainOf(slice.category);
    const bool is_kernel = slice.category == kKernels;
    if (!domain && !is_kernel && slice.category != kCopies) return;
    rocm::RocmTrace::Table& table = rows_.TableOf(std::string(slice.category));
    if (!rows_.Use(table, slice.Number("begin_ns"), slice.Number("end_ns"))) return;
    pid_ = pid;
    const bool is_used = domain ? AddRegion(slice, *domain) : is_kernel ? AddKernel(slice) : AddCopy(slice);
    table.skipped += !is_used;
  }
  Trace Finish() { return rows_.Finish(); }

 private:
  static int64_t CorrelationOf(const Slice& slice) {
    const int64_t number = slice.Number("corr_id").value_or(0);
    return number > 0 ? number : kNoCorrelation;
  }
  rocm::Work WorkOf(const Slice& slice, int64_t device) const {
    const std::optional<int64_t> stream = slice.Number("stream_ID");
    return {.start = slice.Number("begin_ns").value_or(0),
            .end = slice.Number("end_ns").value_or(0),
            .pid = pid_,
            .device = device,
            .stream = stream ? *stream : slice.Number("queue").value_or(0),
            .correlation = CorrelationOf(slice)};
  }

  // By either name, as versions differ.
  static std::optional<int64_t> Either(const Slice& slice, std::string_view name, std::string_view other) {
    const std::optional<int64_t> number = slice.Number(name);
    return number ? number : slice.Number(other);
  }

  // Sizes are of all dimensions together.
  bool AddKernel(const Slice& slice) {
    const std::optional<int64_t> gpu = Gpu(slice, "agent");
    if (!gpu) return false;
    rocm::KernelLaunch kernel{
        .name = slice.name.empty() ? "[unnamed]" : slice.name,
        .registers = slice.Number("VGPR_Count").value_or(0),
        .shared_bytes = Either(slice, "LDS_Block_Size", "group_segment_size").value_or(0),
        .local_bytes = Either(slice, "Scratch_Size", "private_segment_size").value_or(-1)};
    const auto items = slice.Number("grid_size"), block = slice.Number("workgroup_size");
    if (items && block) kernel.shape = rocm::ShapeOfItems({*items, 1, 1}, {*block, 1, 1});
    rows_.AddKernel(WorkOf(slice, *gpu), kernel);
    return true;
  }

  bool AddCopy(const Slice& slice) {
    CopyDirection direction = rocm::DirectionOf(slice.name);
    const auto from = Gpu(slice, "src_agent"), to = Gpu(slice, "dst_agent");
    const bool comes_from_gpu =
        direction == CopyDirection::kDeviceToHost || direction == CopyDirection::kDeviceToDevice;
    if (direction == CopyDirection::kDeviceToDevice && from && to && *from != *to)
      direction = CopyDirection::kPeerToPeer;
    const auto gpu = comes_from_gpu ? from : to;
    if (!gpu || direction == CopyDirection::kHostToHost) return false;
    const int64_t bytes = slice.Number("copy_bytes").value_or(0);
    rows_.AddCopy(WorkOf(slice, *gpu), direction, bytes > 0 && bytes <= gpu_rows::kMostBytes ? bytes : 0);
    return true;
  }

  bool AddRegion(const Slice& slice, rocm::Domain domain) {
    const bool has_text = domain == rocm::Domain::kMarker && !slice.name.starts_with("roctx");
    rows_.AddRegion(rows_.Thread(pid_, slice.Number("tid").value_or(0)),
                    {.domain = domain,
                     .name = slice.name,
                     .text = has_text ? slice.name : std::string_view(),
                     .start = slice.Number("begin_ns").value_or(0),
                     .end = slice.Number("end_ns").value_or(0),
                     .correlation = CorrelationOf(slice)},
                    has_hip_);
    return true;
  }

  rocm::RocmTrace rows_;
  int64_t pid_ = 0;
  bool has_hip_ = false, known_ = false;
};

Trace Read(Input& input) {
  Records records;
  SliceReader reader;
  reader.ForEach(input.bytes(), [&](const Slice& slice) { records.LookAt(slice); });
  if (!records.IsKnown())
    throw WrongKind(input.name(), "a trace of Perfetto that rocprofv3 did not write",
                    "give what the profiler of the GPU writes itself: of AMD's the database of rocprofv3 "
                    "(--output-format rocpd) or its JSON, of PyTorch export_chrome_trace('trace.json')");
  if (!input.bytes().Rewind())
    throw Error(input.name(), "a trace of rocprofv3 that cannot be read twice", "give it as a file");
  const bool is_whole =
      reader.ForEach(input.bytes(), [&](const Slice& slice) { records.Add(slice, reader.pid()); });
  Trace trace = records.Finish();
  trace.path = input.name();
  if (!is_whole) {
    trace.health.truncated = true;
    trace.health.notes.push_back("The trace ends early: only what comes before was read.");
  }
  return trace;
}

// Perfetto writes what it was asked to record among the first packets.
bool IsPerfetto(const Input& input) {
  constexpr size_t kWithin = 4096;
  const std::string_view head = input.head().substr(0, kWithin);
  return head.starts_with('\n') && head.find("track_event") != std::string_view::npos && !input.IsText();
}

}  // namespace

constinit const Importer kRocprofPerfettoImporter = {
    .in_list = "",
    .extensions = "",
    .more_extensions = ".pftrace",
    .fits = [](const Input& input) { return IsPerfetto(input) ? Importer::Fit::kYes : Importer::Fit::kNo; },
    .read = [](Input& input) { return std::optional(Read(input)); },
};

}  // namespace dladvisor
