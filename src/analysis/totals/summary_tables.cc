// SPDX-License-Identifier: Apache-2.0
// What totals by name, which a profiler printed, say of one profile.
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/family.h"
#include "src/analysis/totals/summary_rows.h"

namespace dladvisor {
namespace {

struct SummaryTableRow {
  int64_t profile = 0, summary = 0;
  std::string tool;
  std::optional<std::string> title, device, unrecorded;
  int64_t rows = 0;
  bool shows_gpu = false, one_by_one = false;
  std::optional<double> device_ns, host_ns;
  std::optional<int64_t> kernel_names, kernels;
  std::optional<double> kernel_ns, communication_ns;
  std::optional<int64_t> copies;
  std::optional<double> copy_ns, to_device_ns, to_host_ns, on_device_ns, migration_ns, to_device_bytes,
      to_host_bytes, migration_bytes;
  std::optional<double> api_ns, launch_ns, launch_own_ns, wait_ns, copy_call_ns, allocation_ns,
      allocation_own_ns, loading_ns;
  std::optional<int64_t> launches, graph_launches, waits, copy_calls, allocations;
  bool hides_graphs = false;
  std::optional<double> operator_ns, wall_ns, outside_ns, span_ns, pause_ns, longest_pause_ns;
  std::optional<int64_t> pauses;
  std::optional<int64_t> steps, operations;
  std::optional<std::string> main_kind, main_name;
  std::optional<int64_t> main_calls;
  std::optional<double> main_ns, main_share;
};

void AddTo(std::optional<double>& sum, double ns) { sum = sum.value_or(0) + ns; }
void AddTo(std::optional<int64_t>& sum, int64_t count) { sum = sum.value_or(0) + count; }

double HostTime(const SummaryTotalRow& row) { return row.self_ns.value_or(row.total_ns); }

// Without the longest call, which may be the first: it loads code, or creates a context.
double WithoutLongest(const SummaryTotalRow& row) {
  if (!row.max_ns) return HostTime(row);
  return std::max(0.0, row.total_ns - *row.max_ns);
}

// Nor what calls wait for room in the queue: no more than the median of all.
double OwnOfLaunches(const SummaryTotalRow& row) {
  const double rest = WithoutLongest(row);
  return row.median_ns ? std::min(rest, *row.median_ns * static_cast<double>(row.calls)) : rest;
}

void AddCopy(const SummaryTotalRow& row, SummaryTableRow& table) {
  AddTo(table.copies, row.calls);
  // A table of sizes alone has no times.
  if (row.total_ns <= 0) return;
  AddTo(table.copy_ns, row.total_ns);
  const std::string_view to = row.does ? std::string_view(*row.does) : std::string_view();
  if (to == "to-device") AddTo(table.to_device_ns, row.total_ns);
  if (to == "to-host") AddTo(table.to_host_ns, row.total_ns);
  if (to == "on-device") AddTo(table.on_device_ns, row.total_ns);
  if (to == "migration") AddTo(table.migration_ns, row.total_ns);
}

void AddBytes(const SummaryTotalRow& row, SummaryTableRow& table) {
  if (!row.bytes || !row.does) return;
  if (*row.does == "to-device") AddTo(table.to_device_bytes, *row.bytes);
  if (*row.does == "to-host") AddTo(table.to_host_bytes, *row.bytes);
  if (*row.does == "migration") AddTo(table.migration_bytes, *row.bytes);
}

void AddCall(const SummaryTotalRow& row, SummaryTableRow& table) {
  AddTo(table.api_ns, HostTime(row));
  const std::string_view does = row.does ? std::string_view(*row.does) : std::string_view();
  if (does == "launch") {
    AddTo(table.launches, row.calls);
    if (row.name.find("GraphLaunch") != std::string::npos) AddTo(table.graph_launches, row.calls);
    AddTo(table.launch_ns, HostTime(row));
    AddTo(table.launch_own_ns, OwnOfLaunches(row));
  } else if (does == "wait") {
    AddTo(table.waits, row.calls);
    AddTo(table.wait_ns, HostTime(row));
  } else if (does == "copy") {
    AddTo(table.copy_calls, row.calls);
    AddTo(table.copy_call_ns, HostTime(row));
  } else if (does == "allocation") {
    AddTo(table.allocations, row.calls);
    AddTo(table.allocation_ns, HostTime(row));
    AddTo(table.allocation_own_ns, WithoutLongest(row));
  } else if (does == "loading") {
    AddTo(table.loading_ns, HostTime(row));
  }
}

// Where no kernels are listed, what an operator that calls collectives makes the GPU do is theirs.
void AddCollectivesOfOperators(const std::vector<const SummaryTotalRow*>& rows, SummaryTableRow& table) {
  if (table.kernels || table.communication_ns) return;
  for (const SummaryTotalRow* row : rows)
    if (row->name == "record_param_comms" && row->device_self_ns.value_or(0) > 0)
      table.communication_ns = row->device_self_ns;
}

void AddRow(const SummaryTotalRow& row, SummaryTableRow& table) {
  ++table.rows;
  if (row.kind == "kernel") {
    if (row.does == "communication") {
      AddTo(table.communication_ns, row.total_ns);
      return;
    }
    AddTo(table.kernel_names, int64_t{1});
    AddTo(table.kernels, row.calls);
    if (row.total_ns > 0) AddTo(table.kernel_ns, row.total_ns);
  } else if (row.kind == "copy") {
    AddCopy(row, table);
    AddBytes(row, table);
  } else if (row.kind == "api") {
    AddCall(row, table);
  } else if (row.kind == "operator") {
    AddTo(table.operator_ns, row.self_ns.value_or(0));
  }
}

constexpr std::string_view kSteps = "ProfilerStep*";

// The main thread waits in it for autograd's, whose operators have rows of their own.
bool WaitsForBackward(const SummaryTotalRow& row) {
  return row.kind == "operator" && row.name.find("run_backward") != std::string::npos;
}

// Of operators on the host, those that compute products of matrices together, where they are several.
struct Products {
  int64_t rows = 0, calls = 0;
  double ns = 0;
  std::optional<double> share;
  std::string names;
};
Products ProductsOf(const std::vector<const SummaryTotalRow*>& rows) {
  static const RE2 product(
      "aten::(?:addmm|mm|bmm|baddbmm|matmul|linear|_?mkl(?:dnn)?_linear|addmv|mv|_addmm_activation)");
  Products sum;
  for (const SummaryTotalRow* row : rows) {
    if (row->kind != "operator" || !(HostTime(*row) > 0) || !RE2::FullMatch(row->name, product)) continue;
    ++sum.rows;
    sum.calls += row->calls;
    sum.ns += HostTime(*row);
    if (row->share) AddTo(sum.share, *row->share);
    sum.names += (sum.names.empty() ? "" : ", ") + row->name;
  }
  return sum;
}

// A thread that waits in one may have nothing to do, whatever the program waits for.
bool IsIdleThread(const SummaryTotalRow& row) {
  static const RE2 wait(
      "(?:pthread_cond_(?:timed|clock)?wait|pthread_join|p?poll|epoll_p?wait2?|p?select|"
      "sem_(?:timed|clock)?wait|"
      "futex|(?:clock_)?nanosleep|u?sleep|wait(?:pid|id|[34])?|sig(?:timed)?wait(?:info)?|pause|accept4?)(?:"
      "64)?");
  return row.kind == "os" && RE2::FullMatch(row.name, wait);
}

// What takes most: of the GPU's time where that is known, else of the host's. Ranges nest, and threads of the
// operating system wait at once.
void FindMain(const std::vector<const SummaryTotalRow*>& rows, SummaryTableRow& table) {
  constexpr auto kOrder = std::to_array<std::array<std::string_view, 3>>(
      {{"kernel", "copy", "set"}, {"operator", "api", ""}, {"range", "os", ""}});
  for (const auto& kinds : kOrder) {
    const SummaryTotalRow* most = nullptr;
    for (const SummaryTotalRow* row : rows)
      if (std::ranges::find(kinds, row->kind) != kinds.end() && row->name != kSteps &&
          !WaitsForBackward(*row) && !IsIdleThread(*row) &&
          (most == nullptr || HostTime(*row) > HostTime(*most)))
        most = row;
    if (most == nullptr || HostTime(*most) <= 0) continue;
    table.main_kind = most->kind;
    table.main_name = most->short_name;
    table.main_calls = most->calls;
    table.main_ns = HostTime(*most);
    const bool of_device = kinds.front() == "kernel";
    if (of_device && table.device_ns && *table.main_ns <= *table.device_ns)
      table.main_share = *table.main_ns / *table.device_ns;
    else if (!of_device && most->kind != "os")  // whose time is mostly that of threads without work
      table.main_share = most->share;
    if (kinds.front() != "operator") return;
    if (const Products products = ProductsOf(rows); products.rows > 1 && products.ns > *table.main_ns) {
      table.main_kind = "operator";
      table.main_name = "matrix products (" + products.names + ")";
      table.main_calls = products.calls;
      table.main_ns = products.ns;
      table.main_share = products.share;
    }
    return;
  }
}

// Older profilers of PyTorch list no kernels: what the GPU does is that of operators.
bool FindMainOfGpu(const std::vector<const SummaryTotalRow*>& rows, SummaryTableRow& table) {
  const SummaryTotalRow* most = nullptr;
  for (const SummaryTotalRow* row : rows) {
    if (row->kind == "kernel" || row->kind == "copy" || row->kind == "set") return false;
    if (row->kind == "operator" && row->device_self_ns.value_or(0) > 0 &&
        (most == nullptr || *row->device_self_ns > *most->device_self_ns))
      most = row;
  }
  if (most == nullptr || !table.device_ns || *most->device_self_ns > *table.device_ns) return false;
  table.main_kind = "gpu-operator";
  table.main_name = most->short_name;
  table.main_calls = most->calls;
  table.main_ns = most->device_self_ns;
  table.main_share = *table.main_ns / *table.device_ns;
  return true;
}

// Of PyTorch's tables the time of the program, at least: that of steps, where the profiler was told of them.
// Else its threads take turns: while autograd's runs, the main thread waits, in no operator or in the range
// of the program around the backward pass, whose own time is therefore left out.
std::optional<double> WallTime(const std::vector<const SummaryTotalRow*>& rows,
                               std::optional<double> host_ns) {
  static const RE2 backward("^autograd::|Backward|^Optimizer\\.|::backward"),
      operators(R"(::|Backward\d*$|^enumerate\(DataLoader\)|^Optimizer\.zero_grad)");
  if (!host_ns) return std::nullopt;
  bool trains = false;
  double waiting = 0;
  for (const SummaryTotalRow* row : rows) {
    if (row->kind != "operator") continue;
    if (row->name == kSteps && row->total_ns > 0) return row->total_ns;
    trains = trains || RE2::PartialMatch(row->name, backward);
    if (!RE2::PartialMatch(row->name, operators)) waiting = std::max(waiting, row->self_ns.value_or(0));
  }
  return trains ? std::max(0.0, *host_ns - waiting) : *host_ns;
}

// What the main thread does outside of operators and ranges: steps' own time, without what autograd's thread
// does in it.
void AddSteps(const std::vector<const SummaryTotalRow*>& rows, SummaryTableRow& table) {
  for (const SummaryTotalRow* row : rows) {
    if (row->kind != "operator" || row->name != kSteps) continue;
    table.steps = row->calls;
    if (table.host_ns && table.wall_ns && row->self_ns)
      table.outside_ns = std::max(0.0, *row->self_ns - std::max(0.0, *table.host_ns - *table.wall_ns));
  }
}

// Work of the GPU, at least: some rows are not listed.
std::optional<int64_t> Operations(const std::vector<const SummaryTotalRow*>& rows,
                                  const SummaryTableRow& table) {
  int64_t listed = 0, by_operators = 0;
  for (const SummaryTotalRow* row : rows) {
    if (row->kind == "kernel" || row->kind == "copy" || row->kind == "set") listed += row->calls;
    if (row->kind == "operator" && row->device_self_ns.value_or(0) > 0) by_operators += row->calls;
  }
  const int64_t most = std::max({listed, by_operators, table.launches.value_or(0)});
  return most > 0 ? std::optional(most) : std::nullopt;
}

// Whether launches outside of CUDA graphs account for all kernels that are listed, so that those of graphs
// are not among them: Nsight Systems records a graph as one block unless it is asked for its nodes.
bool HidesGraphs(const SummaryTableRow& table) {
  constexpr double kRoundedUp = 1.02;
  if (!table.graph_launches || !table.launches) return false;
  const auto others = static_cast<double>(*table.launches - *table.graph_launches);
  return static_cast<double>(table.kernels.value_or(0)) <= kRoundedUp * others;
}

std::optional<double> DeviceTime(const std::vector<const SummaryTotalRow*>& rows) {
  std::optional<double> sum;
  for (const SummaryTotalRow* row : rows)
    if (row->kind == "kernel" || row->kind == "copy" || row->kind == "set") AddTo(sum, row->total_ns);
  return sum && *sum > 0 ? sum : std::nullopt;
}

const RelationOf<SummaryTableRow>& SummaryTableRelation() {
  static const auto relation =
      RelationOf<SummaryTableRow>(
          "summary_table",
          "One row per profile of which a profiler printed totals by name (nsys stats, nvprof, "
          "key_averages().table(), rocprof, Nsight Compute), with sums over summary_total. What no row is "
          "about is unknown, "
          "and so is what ran when.")
          .Key("profile", &SummaryTableRow::profile, kProfileNumber, "Number of the file.")
          .Key("summary", &SummaryTableRow::summary, Unit::kNone,
               "Number of the profile in the file, from 0.")
          .Column("tool", &SummaryTableRow::tool, Unit::kText,
                  "nsys stats, nvprof, torch.profiler, rocprof, Nsight Compute, or a script that made a "
                  "table of its own.")
          .Column("title", &SummaryTableRow::title, Unit::kText,
                  "What stands above it, or the report that it is of; unknown where nothing does.")
          .Column(
              "device", &SummaryTableRow::device, Unit::kText,
              "As the columns of torch.profiler call it: CUDA (which AMD's GPUs are, too), XPU, NPU, HPU, "
              "MTIA; unknown of others.")
          .Column("unrecorded", &SummaryTableRow::unrecorded, Unit::kText,
                  "What nsys stats says that the profile holds nothing of, and the table does not list: cuda "
                  "(calls, and with them kernels and copies) or kernels; unknown of others.")
          .Column("rows", &SummaryTableRow::rows, Unit::kCount, "Rows of summary_total.")
          .Column("shows_gpu", &SummaryTableRow::shows_gpu, Unit::kNone,
                  "Whether it would show what a GPU does: not of a table with columns of the CPU alone.")
          .Column("one_by_one", &SummaryTableRow::one_by_one, Unit::kNone,
                  "Whether each kernel was measured alone, by Nsight Compute at clocks that it set: nothing "
                  "else ran "
                  "beside it, and its caches may have been emptied.")
          .Column("device_ns", &SummaryTableRow::device_ns, Unit::kNanoseconds,
                  "Kernels, copies and sets; where a total is printed below, that.")
          .Column("host_ns", &SummaryTableRow::host_ns, Unit::kNanoseconds,
                  "The total of operators on the host that is printed below; of all threads, waits included.")
          .Column("kernel_names", &SummaryTableRow::kernel_names, Unit::kCount,
                  "Rows of kernels that are no collectives.")
          .Column("kernels", &SummaryTableRow::kernels, Unit::kCount, "How often these ran.")
          .Column("kernel_ns", &SummaryTableRow::kernel_ns, Unit::kNanoseconds, "What these took.")
          .Column("communication_ns", &SummaryTableRow::communication_ns, Unit::kNanoseconds,
                  "What kernels of collectives took, their waits for other ranks included.")
          .Column("copies", &SummaryTableRow::copies, Unit::kCount, "Copies.")
          .Column("copy_ns", &SummaryTableRow::copy_ns, Unit::kNanoseconds, "What they took on the GPU.")
          .Column("to_device_ns", &SummaryTableRow::to_device_ns, Unit::kNanoseconds,
                  "Of it copies to the GPU.")
          .Column("to_host_ns", &SummaryTableRow::to_host_ns, Unit::kNanoseconds, "Of it copies to the host.")
          .Column("on_device_ns", &SummaryTableRow::on_device_ns, Unit::kNanoseconds,
                  "Of it copies within a GPU.")
          .Column("migration_ns", &SummaryTableRow::migration_ns, Unit::kNanoseconds,
                  "Of it pages of managed memory.")
          .Column("to_device_bytes", &SummaryTableRow::to_device_bytes, Unit::kBytes,
                  "Copied to the GPU; unknown without a table of sizes.")
          .Column("to_host_bytes", &SummaryTableRow::to_host_bytes, Unit::kBytes, "Copied to the host.")
          .Column("migration_bytes", &SummaryTableRow::migration_bytes, Unit::kBytes,
                  "Pages of managed memory.")
          .Column("api_ns", &SummaryTableRow::api_ns, Unit::kNanoseconds,
                  "What the host spends in calls of CUDA or HIP.")
          .Column("launches", &SummaryTableRow::launches, Unit::kCount, "Calls that launch.")
          .Column("graph_launches", &SummaryTableRow::graph_launches, Unit::kCount,
                  "Of these the ones of CUDA graphs.")
          .Column("hides_graphs", &SummaryTableRow::hides_graphs, Unit::kNone,
                  "Whether the kernels within CUDA graphs are not listed: launches outside of graphs account "
                  "for all that are.")
          .Column("launch_ns", &SummaryTableRow::launch_ns, Unit::kNanoseconds,
                  "What they take on the host, waits for room in the queue included.")
          .Column("launch_own_ns", &SummaryTableRow::launch_own_ns, Unit::kNanoseconds,
                  "The same without the longest call, and no more than the median for each, where printed.")
          .Column("waits", &SummaryTableRow::waits, Unit::kCount, "Calls that wait for the GPU.")
          .Column("wait_ns", &SummaryTableRow::wait_ns, Unit::kNanoseconds, "What they take.")
          .Column("copy_calls", &SummaryTableRow::copy_calls, Unit::kCount, "Calls that copy.")
          .Column("copy_call_ns", &SummaryTableRow::copy_call_ns, Unit::kNanoseconds,
                  "What they take on the host, which includes waiting for the kernels before them.")
          .Column("allocations", &SummaryTableRow::allocations, Unit::kCount,
                  "Calls that allocate or free memory of a GPU, or pinned memory.")
          .Column("allocation_ns", &SummaryTableRow::allocation_ns, Unit::kNanoseconds, "What they take.")
          .Column("allocation_own_ns", &SummaryTableRow::allocation_own_ns, Unit::kNanoseconds,
                  "The same without the longest call of each, of which the first creates a context.")
          .Column("loading_ns", &SummaryTableRow::loading_ns, Unit::kNanoseconds, "Loading code to the GPU.")
          .Column("operator_ns", &SummaryTableRow::operator_ns, Unit::kNanoseconds,
                  "What the operators that are listed take on the host, without what they call.")
          .Column(
              "wall_ns", &SummaryTableRow::wall_ns, Unit::kNanoseconds,
              "The time of the program, at least: of steps where PyTorch's profiler was told of them, else "
              "of operators and calls, whose threads take turns; without loading code. Unknown of other "
              "tools.")
          .Column(
              "outside_ns", &SummaryTableRow::outside_ns, Unit::kNanoseconds,
              "Of steps what the main thread spends outside of operators and ranges; unknown without steps.")
          .Column(
              "span_ns", &SummaryTableRow::span_ns, Unit::kNanoseconds,
              "From the first start of work on the GPU to the last end, of tables of single operations of "
              "one GPU; unknown of totals.")
          .Column(
              "pauses", &SummaryTableRow::pauses, Unit::kCount,
              "Of that the times of 1 ms and more without work, as far as starts are told exactly enough; "
              "unknown as that.")
          .Column("pause_ns", &SummaryTableRow::pause_ns, Unit::kNanoseconds, "What they last.")
          .Column("longest_pause_ns", &SummaryTableRow::longest_pause_ns, Unit::kNanoseconds,
                  "And the longest.")
          .Column("steps", &SummaryTableRow::steps, Unit::kCount,
                  "Steps that PyTorch's profiler was told of.")
          .Column(
              "operations", &SummaryTableRow::operations, Unit::kCount,
              "Kernels, copies and sets, at least: by launches, by those that are listed, or by operators.")
          .Column(
              "main_kind", &SummaryTableRow::main_kind, Unit::kText,
              "Of what takes most, as in summary_total: on the GPU where that is known, else on the host; "
              "gpu-operator where no kernels are listed, and an operator takes most of the GPU.")
          .Column("main_name", &SummaryTableRow::main_name, Unit::kText, "Its short name.")
          .Column("main_calls", &SummaryTableRow::main_calls, Unit::kCount, "How often it ran.")
          .Column("main_ns", &SummaryTableRow::main_ns, Unit::kNanoseconds, "What it takes.")
          .Column("main_share", &SummaryTableRow::main_share, Unit::kRatio,
                  "Of device_ns, or of the host's time; unknown of ranges.");
  return relation;
}

std::optional<std::string> Unrecorded(const Context& context, const SummaryTableRow& table) {
  const auto lacks = [&](std::string_view data) {
    return std::ranges::find(context.trace.health.missing_tables, data) !=
           context.trace.health.missing_tables.end();
  };
  if (table.tool != "nsys stats" || table.kernels || table.communication_ns) return std::nullopt;
  if (lacks("CUDA trace data") && !table.copies && !table.api_ns) return "cuda";
  if (lacks("CUDA kernel data")) return "kernels";
  return std::nullopt;
}

std::vector<SummaryTableRow> ComputeSummaryTables(const Context& context,
                                                  const std::vector<SummaryTotalRow>& totals) {
  std::vector<SummaryTableRow> tables;
  for (const SummaryTable& of : context.trace.summary_tables) {
    SummaryTableRow& table = tables.emplace_back();
    table.summary = static_cast<int64_t>(tables.size()) - 1;
    table.tool = of.tool;
    if (!of.title.empty()) table.title = of.title;
    if (!of.device.empty()) table.device = of.device;
    table.shows_gpu = of.has_device;
    table.one_by_one = of.is_one_by_one;
    if (of.span_ns) {
      table.span_ns = of.span_ns;
      table.pauses = of.pauses;
      table.pause_ns = of.pause_ns;
      table.longest_pause_ns = of.longest_pause_ns;
    }
    std::vector<const SummaryTotalRow*> rows;
    for (const SummaryTotalRow& row : totals)
      if (row.summary == table.summary) {
        rows.push_back(&row);
        AddRow(row, table);
      }
    table.host_ns = of.host_ns;
    table.device_ns = of.device_ns ? of.device_ns : DeviceTime(rows);
    if (of.tool == "torch.profiler") table.wall_ns = WallTime(rows, of.host_ns);
    AddSteps(rows, table);
    // A program loads code once, whatever the profile is of.
    if (table.wall_ns) table.wall_ns = std::max(0.0, *table.wall_ns - table.loading_ns.value_or(0));
    AddCollectivesOfOperators(rows, table);
    table.hides_graphs = HidesGraphs(table);
    table.unrecorded = Unrecorded(context, table);
    table.operations = Operations(rows, table);
    if (!FindMainOfGpu(rows, table)) FindMain(rows, table);
  }
  return tables;
}

}  // namespace

const Family& SummaryTableFamily() {
  static const Family family = FamilyOf(SummaryTableRelation(), ComputeSummaryTables);
  return family;
}

}  // namespace dladvisor
