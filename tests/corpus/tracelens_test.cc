// SPDX-License-Identifier: Apache-2.0
// FLOPs and TFLOP/s of operators against the tables that TraceLens's own tests expect of the same traces.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/analysis/efficiency/operator_work.h"
#include "src/importers/importers.h"
#include "tests/support/csv.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

constexpr double kRateTolerance = 0.005;

// A row of one of their tables: the calls of an operator with the same arguments.
struct TracelensRow {
  fs::path file;
  std::string name, shapes, types, strides, values;
  double flops = 0, kernel_ns = 0;
  int64_t calls = 0;
  bool bias = false;
  BatchOfRange batch;  // of an inference server

  // Their tables of backward passes name the forward operator, where that has the shapes.
  bool IsBackward() const {
    return file.filename().string().ends_with("SDPA_bwd.csv") && name.find("backward") == std::string::npos;
  }
  WorkResult OurWork() const {
    const Formula formula = IsBackward() ? BackwardFormulaOf(name) : FormulaOf(name);
    if (!formula) return WorkResult::Unknown(why::kNoFormula);
    return formula({Arguments(shapes, types, strides, values), &batch});
  }
};

// What differs and who is right: we are. They count both gradients where output_mask asks for one.
bool IsTheirError(const TracelensRow& row) {
  return row.name == "aten::convolution_backward" && row.values.find("[False, True, ") != std::string::npos;
}

// Python writes strings in single quotes.
std::string InDoubleQuotes(std::string text) {
  std::replace(text.begin(), text.end(), '\'', '"');
  return text;
}

std::vector<TracelensRow> ReadTracelens(const fs::path& file) {
  std::vector<TracelensRow> rows;
  for (auto& row : test::ReadCsvTable(file, {"name", "GFLOPS_first", "Input Dims_first"})) {
    if (row["GFLOPS_first"].empty()) continue;
    TracelensRow& of = rows.emplace_back();
    of.file = file;
    of.name = row["name"];
    of.shapes = row["Input Dims_first"];
    of.types = InDoubleQuotes(row["Input type_first"]);
    of.strides = row["Input Strides_first"];
    of.values = InDoubleQuotes(row["Concrete Inputs_first"]);
    of.flops = std::stod(row["GFLOPS_first"]) * 1e9;
    const auto length = [&](const std::string& column) {
      const std::string& text = row["param: " + column];
      return text.empty() ? int64_t{0} : static_cast<int64_t>(std::stod(text));
    };
    of.batch = {{length("c_sq"), length("c_sk"), length("c_sqsq"), length("c_sqsk")},
                {length("g_sq"), length("g_sk"), length("g_sqsq"), length("g_sqsk")}};
    of.kernel_ns = std::stod(row["Kernel Time (µs)_sum"]) * 1e3;
    of.calls = std::stoll(row["name_count"]);
    of.bias = row["param: bias"] == "True";
  }
  return rows;
}

std::vector<TracelensRow> AllRows() {
  std::vector<TracelensRow> rows;
  for (const fs::path& folder :
       {test::DataDir() / ".." / "truth" / "tracelens", test::DataDir() / "planted" / "AMD-AGI_TraceLens"}) {
    if (!fs::exists(folder)) continue;
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".csv") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files)
      for (TracelensRow& row : ReadTracelens(file)) rows.push_back(std::move(row));
  }
  return rows;
}

// TraceLens counts the addition of a product's bias, M x N, which PyTorch's registry does not.
double FlopsAsTracelens(const TracelensRow& row, const Work& work) {
  auto flops = static_cast<double>(*work.flops);
  if (work.kind == WorkKind::kMatrixProduct && row.bias) {
    const Arguments arguments(row.shapes, row.types, "", "");
    const size_t left = row.name == "aten::addmm" ? 1 : 0;
    if (const Tensor* a = arguments.TensorAt(left); a && a->rank() >= 2 && a->back() > 0)
      flops += flops / 2 / static_cast<double>(a->back());
  }
  return flops;
}

TEST(TraceLens, FlopsOfTheSameArguments) {
  const std::vector<TracelensRow> rows = AllRows();
  if (rows.empty()) GTEST_SKIP() << "no tables of TraceLens beside " << test::DataDir();
  std::map<std::string, std::pair<size_t, size_t>> compared;  // by operator: equal, all
  std::map<std::string, size_t> skipped;
  for (const TracelensRow& row : rows) {
    const WorkResult ours = row.OurWork();
    if (!ours.work || !ours.work->flops) {
      // Of what moves data they count a FLOP per element, and we none.
      if (!ours.work) ++skipped[row.name + ": " + std::string(ours.unknown)];
      continue;
    }
    auto& [equal, all] = compared[row.name];
    const double flops = FlopsAsTracelens(row, *ours.work);
    const bool same = std::abs(flops - row.flops) <= kRateTolerance * row.flops;
    equal += same;
    ++all;
    EXPECT_EQ(same, !IsTheirError(row)) << row.file.filename() << ": " << row.name << " " << row.shapes << " "
                                        << row.values << ": ours " << flops << ", theirs " << row.flops;
  }
  for (const auto& [name, counts] : compared)
    fmt::print("{:<60} {} of {} equal\n", name, counts.first, counts.second);
  for (const auto& [name, count] : skipped) fmt::print("{:<90} {} skipped\n", name, count);
}

// Calls and kernel time of operators of one kind with the same FLOPs: they name the outer operator where we
// name the inner one, aten::convolution for aten::cudnn_convolution.
struct CallsAndTime {
  int64_t calls = 0;
  double kernel_ns = 0;
  double all_ns = 0;  // with memory sets, and with kernels of other operators within the one that they name
};
using WorkKey = std::pair<WorkKind, int64_t>;

class OurCalls {
 public:
  explicit OurCalls(const fs::path& file) : trace_(ReadProfile(file)) {
    // They look at all steps, the first ones, too.
    const Context without = MakeContext(trace_, options_);
    for (const auto& [rank, steps] : without.steps.by_rank)
      if (!steps.empty()) options_.steps = {steps.front().number, steps.back().number};
    context_.emplace(MakeContext(trace_, options_));
    const OperatorWork work = ComputeOperatorWork(*context_);
    for (const OperatorWork::OfGpu& gpu : work.gpus)
      for (const OperatorWorkCall& call : gpu.calls) {
        const auto of = work.operators.ResultOf(work.operators[call.operation]).work;
        if (!of || !of->flops) continue;
        calls_.push_back({{of->kind, *of->flops}, call.range, static_cast<double>(call.kernel_ns)});
      }
  }

  // Of operators with this work. `name`: what they call them.
  CallsAndTime Find(const std::string& name, const WorkKey& key) const {
    CallsAndTime calls;
    for (const auto& [work, range, kernel_ns] : calls_)
      if (work == key && Around(range, name) != kNoIndex) {
        ++calls.calls;
        calls.kernel_ns += kernel_ns;
      }
    const auto add = [&](const GpuOperations& ops, const std::vector<uint32_t>& of_range) {
      for (size_t i = 0; i < ops.size(); ++i)
        if (IsWithin(of_range[i], name, key)) calls.all_ns += static_cast<double>(ops.end[i] - ops.start[i]);
    };
    add(trace_.kernels, context_->attribution.kernel_range);
    add(trace_.sets, context_->attribution.set_range);
    return calls;
  }

 private:
  // The innermost range of this name from this one on.
  uint32_t Around(uint32_t range, const std::string& name) const {
    while (range != kNoIndex && trace_.names.View(trace_.ranges.name[range]) != name)
      range = context_->attribution.range_parent[range];
    return range;
  }

  bool IsWithin(uint32_t range, const std::string& name, const WorkKey& key) const {
    const uint32_t around = Around(range, name);
    if (around == kNoIndex) return false;
    const OperatorArguments& of =
        trace_.operator_arguments[static_cast<size_t>(trace_.ranges.arguments[around])];
    const auto view = [&](NameId id) { return id == kNoName ? std::string_view() : trace_.names.View(id); };
    const WorkResult work =
        FormulaOf(name)({Arguments(view(of.shapes), view(of.types), view(of.strides), view(of.values))});
    return work.work && work.work->flops && WorkKey{work.work->kind, *work.work->flops} == key;
  }

  Trace trace_;
  AnalysisOptions options_;
  std::optional<Context> context_;
  struct Call {
    WorkKey work;
    uint32_t range;
    double kernel_ns;
  };
  std::vector<Call> calls_;
};

// The trace that a table belongs to: "tests__traces__h100__NAME_perf_report_csvs__GEMM.csv".
fs::path TraceOf(const fs::path& table) {
  static const std::map<std::string, std::string> others = {
      {"tests__traces__inference__sglang_decode",
       "tests__traces__inference__sglang_decode__sglang_Qwen3-8B_decode"},
      {"tests__traces__inference__sglang_prefilldecode",
       "tests__traces__inference__sglang_prefilldecode__sglang_Qwen3-8B_prefilldecode"},
      {"tests__traces__inference__vllm_decode_full",
       "tests__traces__inference__vllm_decode_full__graph_execution"},
      {"tests__traces__mi300__resnet_act_checkpoint_recompute",
       "tests__traces__mi300__resnet_act_checkpoint"},
  };
  std::string name = table.filename().string();
  for (const char* part : {"_perf_report_csvs__", "__perf_csvs__"})
    if (const size_t at = name.find(part); at != std::string::npos) name.resize(at);
  if (const auto other = others.find(name); other != others.end()) name = other->second;
  return test::DataDir() / "kineto" / "AMD-AGI_TraceLens" / (name + ".json.gz");
}

// Their time of an operator has the memory sets and other operators within it: the addition of a
// convolution's bias, the zeros that attention begins with. Ours does not, as those are operators of their
// own.
TEST(TraceLens, RatesOfTheSameTraces) {
  std::map<fs::path, std::vector<TracelensRow>> tables;  // by trace
  for (TracelensRow& row : AllRows())
    if (const fs::path trace = TraceOf(row.file); fs::exists(trace)) tables[trace].push_back(std::move(row));
  if (tables.empty()) GTEST_SKIP() << "no traces of TraceLens's tables in " << test::DataDir();
  for (const auto& [trace, rows] : tables) {
    std::map<std::pair<std::string, WorkKey>, CallsAndTime> theirs;
    for (const TracelensRow& row : rows) {
      const WorkResult work = row.OurWork();
      if (!work.work || !work.work->flops || IsTheirError(row)) continue;
      CallsAndTime& sum = theirs[{row.name, {work.work->kind, *work.work->flops}}];
      sum.calls += row.calls;
      sum.kernel_ns += row.kernel_ns;
    }
    const OurCalls ours(trace);
    size_t equal = 0, with_others = 0, absent = 0;
    for (const auto& [key, sum] : theirs) {
      const auto& [name, work] = key;
      const CallsAndTime mine = ours.Find(name, work);
      if (mine.calls == 0) {  // they read another trace besides, in which the graph was captured
        ++absent;
        continue;
      }
      const auto same = [&](double ns) {
        return std::abs(ns - sum.kernel_ns) <= kRateTolerance * sum.kernel_ns;
      };
      EXPECT_EQ(mine.calls, sum.calls)
          << trace.filename() << ": " << name << " of " << work.second << " FLOPs";
      EXPECT_TRUE(same(mine.kernel_ns) || (mine.kernel_ns < sum.kernel_ns && same(mine.all_ns)))
          << trace.filename() << ": " << name << " of " << work.second
          << " FLOPs: " << static_cast<double>(work.second * mine.calls) / mine.kernel_ns / 1e3
          << " TFLOP/s, theirs " << static_cast<double>(work.second * sum.calls) / sum.kernel_ns / 1e3;
      ++(same(mine.kernel_ns) ? equal : with_others);
    }
    fmt::print("{:<80} {} of {} rates equal, {} with other operators within, {} of a captured graph\n",
               trace.filename().string(), equal, theirs.size(), with_others, absent);
  }
}

}  // namespace
}  // namespace dladvisor
