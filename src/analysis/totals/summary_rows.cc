// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/totals/summary_rows.h"

#include <re2/re2.h>

#include <array>
#include <string_view>

#include "src/analysis/context/api_kind.h"
#include "src/analysis/context/kernel_kind.h"
#include "src/analysis/context/tensor_core.h"
#include "src/analysis/family/family.h"
#include "src/hardware/precision.h"

namespace dladvisor {
namespace {

std::string_view KindWord(SummaryRowKind kind) {
  switch (kind) {
    case SummaryRowKind::kKernel:
      return "kernel";
    case SummaryRowKind::kCopy:
      return "copy";
    case SummaryRowKind::kSet:
      return "set";
    case SummaryRowKind::kApi:
      return "api";
    case SummaryRowKind::kRange:
      return "range";
    case SummaryRowKind::kOperator:
      return "operator";
    case SummaryRowKind::kOs:
      return "os";
  }
  return "";
}

// "void at::native::elementwise_kernel<128, ...>(int, ...)" -> "elementwise_kernel".
std::string BaseOfKernel(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  int depth = 0;
  size_t begin = 0, end = name.size();
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<') ++depth;
    if (c == '>' && depth > 0) --depth;
    if (depth == 0 && c == ':' && i + 1 < name.size() && name[i + 1] == ':') begin = i + 2;
    if (c == '(' && depth == 0 && i > begin) {
      end = i;
      break;
    }
  }
  std::string_view base = name.substr(begin, end - begin);
  // CUTLASS's kernels have their names as arguments.
  static const RE2 wrapped(R"(Kernel2?<((?:cutlass|sm\d+)[A-Za-z0-9_]+))");
  std::string inner;
  if (base.starts_with("Kernel") &&
      RE2::PartialMatch(re2::StringPiece(base.data(), base.size()), wrapped, &inner))
    return inner;
  base = base.substr(0, base.find('<'));
  while (!base.empty() && base.back() == ' ') base.remove_suffix(1);
  return std::string(base.empty() ? name : base);
}

// By what stands in its name: [CUDA memcpy HtoD], [CUDA memcpy Host-to-Device], Memcpy HtoD (Pinned ->
// Device), MEMORY_COPY_HOST_TO_DEVICE.
std::optional<std::string> DirectionOf(const std::string& name) {
  static const RE2 to_device("(?i)HtoD|Host[-_ ]?to[-_ ]?Device"),
      to_host("(?i)DtoH|Device[-_ ]?to[-_ ]?Host"),
      on_device("(?i)DtoD|Device[-_ ]?to[-_ ]?Device|copyBuffer"), between("(?i)PtoP|Peer[-_ ]?to[-_ ]?Peer"),
      managed("(?i)Unified Memory");
  if (RE2::PartialMatch(name, managed)) return "migration";
  if (RE2::PartialMatch(name, to_device)) return "to-device";
  if (RE2::PartialMatch(name, to_host)) return "to-host";
  if (RE2::PartialMatch(name, on_device)) return "on-device";
  if (RE2::PartialMatch(name, between)) return "between-devices";
  return std::nullopt;
}

std::optional<std::string> CallKind(std::string_view name) {
  if (name.starts_with("Lazy Function Loading") || name.starts_with("Runtime Triggered Module Loading"))
    return "loading";
  for (const std::string_view own :
       {"Activity Buffer Request", "Command Buffer Full", "Buffer Flush", "Instrumentation", "Resource"})
    if (name == own) return "profiler";
  switch (ClassifyApi(name)) {
    case ApiKind::kLaunch:
      return "launch";
    case ApiKind::kSync:
      return "wait";
    case ApiKind::kCopy:
    case ApiKind::kAsyncCopy:
      return "copy";
    case ApiKind::kAllocation:
      return "allocation";
    case ApiKind::kLoading:
      return "loading";
    case ApiKind::kPrefetch:
      return "prefetch";
    case ApiKind::kOther:
      break;
  }
  return std::nullopt;
}

bool IsOfDevice(SummaryRowKind kind) {
  return kind == SummaryRowKind::kKernel || kind == SummaryRowKind::kCopy || kind == SummaryRowKind::kSet;
}

// What a row takes of the time of its kind.
double OwnTime(const SummaryRow& row) {
  const bool nests = row.kind == SummaryRowKind::kOperator || row.kind == SummaryRowKind::kApi;
  return nests ? row.self_ns.value_or(row.total_ns) : row.total_ns;
}

void DescribeTotal(const SummaryRow& of, SummaryTotalRow& row) {
  switch (of.kind) {
    case SummaryRowKind::kKernel: {
      const KernelTraits traits = ClassifyKernel(of.name);
      row.does = KernelKind(of.name, traits);
      row.uses_tensor_cores = traits.tensor_core;
      if (const auto precision = PrecisionName(traits.precision); !precision.empty())
        row.precision = precision;
      row.short_name = BaseOfKernel(of.name);
      break;
    }
    case SummaryRowKind::kCopy:
      row.does = DirectionOf(of.name);
      break;
    case SummaryRowKind::kApi:
      row.does = CallKind(of.name);
      row.short_name = ApiBaseName(of.name);
      break;
    default:
      break;
  }
}

std::array<double, 8> SumsByKind(const SummaryTable& table) {
  std::array<double, 8> sums{};
  for (const SummaryRow& row : table.rows) sums[static_cast<size_t>(row.kind)] += OwnTime(row);
  return sums;
}

// The time that a row is a share of: of GPUs what kernels take, of operators what the host does in all.
// Ranges nest, and are shares of nothing.
std::optional<double> WholeOf(const SummaryTable& table, const std::array<double, 8>& sums,
                              SummaryRowKind kind) {
  if (kind == SummaryRowKind::kRange) return std::nullopt;
  if (IsOfDevice(kind) && table.device_ns) return table.device_ns;
  const bool on_host = kind == SummaryRowKind::kOperator || kind == SummaryRowKind::kApi;
  if (on_host && table.host_ns) return table.host_ns;
  return sums[static_cast<size_t>(kind)];
}

}  // namespace

const RelationOf<SummaryTotalRow>& SummaryTotalRelation() {
  static const auto relation =
      RelationOf<SummaryTotalRow>(
          "summary_total",
          "One row per name of a table of totals that a profiler printed (nsys stats, nvprof, "
          "key_averages().table(), rocprof, Nsight Compute). They have no timeline.")
          .Key("profile", &SummaryTotalRow::profile, kProfileNumber, "Number of the file.")
          .Key("summary", &SummaryTotalRow::summary, Unit::kNone,
               "Number of the profile in the file, from 0.")
          .Key("row", &SummaryTotalRow::row, Unit::kNone, "Number of the row, as printed, from 0.")
          .Column("kind", &SummaryTotalRow::kind, Unit::kText,
                  "kernel, copy, set, api (calls of CUDA or HIP), operator (of PyTorch), range (NVTX and "
                  "others), os.")
          .Column("name", &SummaryTotalRow::name, Unit::kText, "As printed, which may be cut.")
          .Column("short_name", &SummaryTotalRow::short_name, Unit::kText,
                  "Of kernels without arguments, of calls without their version.")
          .Column(
              "does", &SummaryTotalRow::does, Unit::kText,
              "What a kernel computes (kernel_name.kind), where a copy goes (to-device, to-host, on-device, "
              "between-devices, migration of managed memory), what a call does (launch, wait, copy, "
              "allocation, loading, prefetch, profiler: its own work); unknown of others.")
          .Column("precision", &SummaryTotalRow::precision, Unit::kText,
                  "Of a kernel, by its name; unknown where that does not say it.")
          .Column("uses_tensor_cores", &SummaryTotalRow::uses_tensor_cores, Unit::kNone,
                  "Of a kernel, by its name; unknown where that does not say it.")
          .Column("calls", &SummaryTotalRow::calls, Unit::kCount, "How often it ran.")
          .Column("total_ns", &SummaryTotalRow::total_ns, Unit::kNanoseconds,
                  "In all; of operators on the host, with what they call.")
          .Column(
              "share", &SummaryTotalRow::share, Unit::kRatio,
              "Of its kind's time, or of the total that is printed below (Self CUDA, Self CPU); unknown of "
              "ranges, which nest.")
          .Column("average_ns", &SummaryTotalRow::average_ns, Unit::kNanoseconds, "For each call.")
          .Column("median_ns", &SummaryTotalRow::median_ns, Unit::kNanoseconds, "Unknown where not printed.")
          .Column("min_ns", &SummaryTotalRow::min_ns, Unit::kNanoseconds, "Unknown where not printed.")
          .Column("max_ns", &SummaryTotalRow::max_ns, Unit::kNanoseconds, "Unknown where not printed.")
          .Column("bytes", &SummaryTotalRow::bytes, Unit::kBytes, "Of copies; unknown where not printed.")
          .Column("self_ns", &SummaryTotalRow::self_ns, Unit::kNanoseconds,
                  "On the host, without what it calls; of operators and their calls only.")
          .Column("device_ns", &SummaryTotalRow::device_ns, Unit::kNanoseconds,
                  "What an operator makes the GPU do, with what it calls; unknown of others.")
          .Column("device_self_ns", &SummaryTotalRow::device_self_ns, Unit::kNanoseconds,
                  "The same without what it calls.");
  return relation;
}

std::vector<SummaryTotalRow> ComputeSummaryTotals(const Context& context) {
  std::vector<SummaryTotalRow> rows;
  int64_t summary = 0;
  for (const SummaryTable& table : context.trace.summary_tables) {
    const std::array<double, 8> sums = SumsByKind(table);
    int64_t number = 0;
    for (const SummaryRow& of : table.rows) {
      SummaryTotalRow& row = rows.emplace_back();
      row.summary = summary;
      row.row = number++;
      row.kind = KindWord(of.kind);
      row.name = of.name;
      row.short_name = of.name;
      row.calls = of.calls;
      row.total_ns = of.total_ns;
      row.average_ns = of.average_ns;
      if (!row.average_ns && of.calls > 0 && of.total_ns > 0)
        row.average_ns = of.total_ns / static_cast<double>(of.calls);
      row.median_ns = of.median_ns;
      row.min_ns = of.min_ns;
      row.max_ns = of.max_ns;
      row.bytes = of.bytes;
      row.self_ns = of.self_ns;
      if (!IsOfDevice(of.kind)) {
        row.device_ns = of.device_ns;
        row.device_self_ns = of.device_self_ns;
      }
      DescribeTotal(of, row);
      if (const auto whole = WholeOf(table, sums, of.kind); whole && *whole > 0 && OwnTime(of) <= *whole)
        row.share = OwnTime(of) / *whole;
    }
    ++summary;
  }
  return rows;
}

const Family& SummaryTotalFamily() {
  static const Family family = FamilyOf<std::vector<SummaryTotalRow>>(SummaryTotalRelation());
  return family;
}

}  // namespace dladvisor
