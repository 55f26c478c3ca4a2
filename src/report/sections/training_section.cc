// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/training_section.h"

#include <fmt/format.h>

#include <utility>

#include "engine/base/text.h"
#include "src/render/escape.h"

namespace dladvisor {
namespace {

class Row {
 public:
  explicit Row(const ReportTable& table) : table_(table) {}

  bool Has(const char* column) const { return !IsNull(CellOf(table_, 0, column)); }
  double Number(const char* column) const { return AsNumber(CellOf(table_, 0, column)).value_or(0); }
  std::string Text(const char* column, Unit unit = Unit::kNone) const {
    return Visible(FormatValue(CellOf(table_, 0, column), unit));
  }
  std::string Count(const char* column) const { return Text(column, Unit::kCount); }
  std::string Time(const char* column) const { return Text(column, Unit::kNanoseconds); }

 private:
  const ReportTable& table_;
};

std::string Throughput(const Row& row) {
  std::string text;
  for (const auto& [column, unit] : {std::pair{"samples_per_second", " samples/s"},
                                     {"tokens_per_second", " tokens/s"},
                                     {"tflops_per_gpu", " TFLOP/s per GPU"}})
    if (row.Has(column)) text += (text.empty() ? "" : ", ") + ThreeDigits(row.Number(column)) + unit;
  return text;
}

bool IsOfEpochs(const Row& row) { return row.Text("unit", Unit::kText) == "epoch"; }

// Of a log without the time of a step what its totals or its rates tell.
std::string WithoutTimes(const Row& row) {
  if (row.Has("loss_lines"))
    return row.Count("loss_lines") + " lines with losses, none with the time of a step";
  if (row.Has("first_steps")) return "it ends with its first steps, which start it";
  if (!(row.Number("lines") > 0)) return "no iteration known";
  const std::string counted = row.Number("iterations") > 1
                                  ? row.Count("iterations") + (IsOfEpochs(row) ? " epochs" : " iterations")
                                  : "";
  if (!counted.empty() && row.Number("runtime_ns") > 0)
    return fmt::format("{} in {}, {} each with what lies between", counted, row.Time("runtime_ns"),
                       FormatValue(row.Number("runtime_ns") / row.Number("iterations"), Unit::kNanoseconds));
  if (!counted.empty() && (row.Has("samples_per_second") || row.Has("tokens_per_second"))) return counted;
  return "no time of an iteration";
}

// What the mean leaves out: " after the first 10".
std::string WithoutWarmup(const Row& row) {
  if (!row.Has("iterations") || !row.Has("steady_iterations")) return "";
  const double left_out = row.Number("iterations") - row.Number("steady_iterations");
  if (!(left_out > 0)) return row.Number("lines") < 3 ? ", start-up included" : "";
  if (row.Number("attempts") > 1) return fmt::format(" without {:.0f} of warm-up", left_out);
  return left_out == 1 ? " after the first" : fmt::format(" after the first {:.0f}", left_out);
}

std::string Iterations(const Row& row) {
  if (!(row.Number("lines") > 0)) return "none known";
  std::string text = row.Has("iterations") ? row.Count("iterations") : row.Count("lines") + " lines";
  text += fmt::format(" ({} – {}", row.Text("first_iteration"), row.Text("last_iteration"));
  // A plan that it went beyond was another's.
  if (row.Has("planned") && row.Number("planned") >= row.Number("last_iteration"))
    text += " of " + row.Text("planned");
  text += ")";
  if (row.Number("attempts") > 1) text += fmt::format(" in {} attempts", row.Count("attempts"));
  if (row.Has("repeated_iterations"))
    text += fmt::format(", {} done twice", row.Count("repeated_iterations"));
  return text;
}

std::string SlowLines(const ReportModel& model, const Row& row) {
  std::string text = row.Count("slow_lines");
  if (!(row.Number("slow_lines") > 0)) return text;
  if (row.Has("slow_ns")) text += fmt::format(", {} over the median", row.Time("slow_ns"));
  const ReportTable* causes = FindTable(model, "slow_line_causes");
  for (size_t i = 0; causes != nullptr && i < causes->rows.rows.size(); ++i)
    text +=
        fmt::format("{}{} {}", i == 0 ? ": " : ", ", FormatValue(CellOf(*causes, i, "lines"), Unit::kCount),
                    Visible(FormatValue(CellOf(*causes, i, "cause"), Unit::kText)));
  return text;
}

std::string Parallelism(const Row& row) {
  std::string text = row.Has("world_size") ? row.Count("world_size") + " GPUs" : "";
  std::string parts;
  for (const auto& [column, name] :
       {std::pair{"tensor_parallel", "tensor"}, {"pipeline_parallel", "pipeline"}, {"data_parallel", "data"}})
    if (row.Has(column)) parts += fmt::format("{}{} {}", parts.empty() ? "" : " × ", name, row.Count(column));
  return text + (text.empty() || parts.empty() ? "" : ": ") + parts;
}

std::string Batch(const Row& row) {
  std::string text = row.Has("global_batch") ? row.Count("global_batch") + " samples" : "";
  if (row.Number("micro_batches") > 1)
    text += fmt::format(" in {} micro-batches of {}{}", row.Count("micro_batches"), row.Count("micro_batch"),
                        row.Number("data_parallel") > 1 ? " on each copy of the model" : "");
  else if (row.Has("micro_batch"))
    text += fmt::format("{}{} on each copy of the model", text.empty() ? "" : ", ", row.Count("micro_batch"));
  return text;
}

std::string Memory(const ReportTable& peaks) {
  const Row row(peaks);
  if (!row.Has("most_bytes")) return "";
  const std::string low = row.Text("least_bytes", Unit::kBytes), high = row.Text("most_bytes", Unit::kBytes);
  return fmt::format("{}{}{} at most {} ({} rank{})", low == high ? "" : low + " – ", high,
                     row.Has("device_bytes") ? " of " + row.Text("device_bytes", Unit::kBytes) : "",
                     row.Number("reserved") > 0 ? "reserved" : "allocated", row.Text("ranks"),
                     row.Number("ranks") == 1 ? "" : "s");
}

}  // namespace

const ReportTable* TrainingAlone(const ReportModel& model) {
  const ReportTable* training = HasGpuWork(model) ? nullptr : FindTable(model, "training");
  return training == nullptr || training->rows.rows.empty() ? nullptr : training;
}

std::string TrainingText(const ReportTable& training) {
  if (training.total_rows > 1)
    return fmt::format("{} training logs, none of them a trace", training.total_rows);
  const Row row(training);
  std::string text = fmt::format("A training log of {}, not a trace: ", row.Text("program", Unit::kText));
  if (row.Has("mean_ns"))
    text += fmt::format("{} {}{} of {} on average{}",
                        row.Has("iterations")      ? row.Count("iterations")
                        : row.Number("lines") == 1 ? "one line of"
                                                   : row.Count("lines") + " lines of",
                        IsOfEpochs(row) ? "epoch" : "iteration",
                        row.Has("iterations") && !(row.Number("iterations") > 1) ? "" : "s",
                        row.Time("mean_ns"), WithoutWarmup(row));
  else
    text += WithoutTimes(row);
  if (row.Has("mean_ns") && row.Has("median_ns") && row.Number("mean_ns") >= 1.05 * row.Number("median_ns"))
    text += fmt::format(", {} in the median line", row.Time("median_ns"));
  if (row.Has("slowest_ns") && row.Number("slowest_ns") >= 1.05 * row.Number("mean_ns"))
    text += ", up to " + row.Time("slowest_ns");
  if (row.Has("samples_per_second"))
    text += ", " + ThreeDigits(row.Number("samples_per_second")) + " samples/s";
  if (!row.Has("mean_ns") && row.Has("tokens_per_second"))
    text += ", " + ThreeDigits(row.Number("tokens_per_second")) + " tokens/s";
  if (row.Has("printed_mfu"))
    text += fmt::format(", {} of the GPUs' peak by its own count",
                        FormatValue(row.Number("printed_mfu"), Unit::kRatio));
  return text + EndedWith(training);
}

std::string EndedWith(const ReportTable& log) {
  constexpr size_t kLongestError = 100;  // that a headline bears
  std::string error = Visible(OneLine(FormatValue(CellOf(log, 0, "error"), Unit::kText)));
  if (IsNull(CellOf(log, 0, "error"))) return "";
  for (const std::string_view by_user : {"Interrupt", "SIGTERM", "SignalException"})
    if (error.find(by_user) != std::string::npos) return "";
  if (error.size() > kLongestError) error = error.substr(0, error.rfind(' ', kLongestError)) + " [...]";
  // What ended it without an exception is told in words.
  const std::string_view first = std::string_view(error).substr(0, error.find(' '));
  const bool exception =
      first.find("Error") != std::string_view::npos || first.find("Exception") != std::string_view::npos;
  return (exception ? "; it ended with " : "; it ended: ") + error;
}

std::vector<std::pair<std::string, std::string>> TrainingSummary(const ReportModel& model) {
  const ReportTable* training = FindTable(model, "training");
  if (training == nullptr || training->rows.rows.size() != 1) return {};
  const Row row(*training);
  std::vector<std::pair<std::string, std::string>> summary;
  const auto add = [&](const char* label, std::string value) {
    if (!value.empty()) summary.emplace_back(label, std::move(value));
  };
  add("Program", row.Text("program", Unit::kText));
  const bool epochs = IsOfEpochs(row);
  add(epochs ? "Epochs" : "Iterations", Iterations(row));
  if (row.Has("mean_ns"))
    add(epochs ? "Epoch Time" : "Iteration Time",
        fmt::format("{} on average{}, median line {}, slowest {}", row.Time("mean_ns"), WithoutWarmup(row),
                    row.Time("median_ns"), row.Time("slowest_ns")));
  if (row.Has("runtime_ns")) add("Training Time", row.Time("runtime_ns"));
  add("Throughput", Throughput(row));
  if (row.Has("model_tflops_per_gpu") && !row.Has("tflops_per_gpu"))
    add("Rate by the Model's Size",
        ThreeDigits(row.Number("model_tflops_per_gpu")) + " TFLOP/s per GPU" +
            (row.Has("mfu") ? ", " + row.Text("mfu", Unit::kRatio) + " of its peak" : ""));
  if (row.Has("printed_mfu")) add("Utilisation as Printed", row.Text("printed_mfu", Unit::kRatio));
  if (row.Has("epoch_ends"))
    add("Between Epochs",
        fmt::format("{} at {} ends of epochs", row.Time("between_epochs_ns"), row.Count("epoch_ends")));
  if (row.Has("other_lines"))
    add("Left Out", fmt::format("{} lines of other trainings in the log", row.Count("other_lines")));
  if (row.Has("evaluations"))
    add("Evaluations", fmt::format("{}, {} in all", row.Count("evaluations"), row.Time("evaluation_ns")));
  if (row.Has("skipped")) add("Skipped by the Loss Scaler", row.Count("skipped"));
  if (row.Number("nan") > 0) add("Iterations with NaN", row.Count("nan"));
  if (row.Has("slow_lines")) add("Slow Lines", SlowLines(model, row));
  add("Parallelism", Parallelism(row));
  add("Batch", Batch(row));
  if (row.Has("precision")) add("Precision", row.Text("precision", Unit::kText));
  if (row.Has("recompute")) add("Recomputed Activations", row.Text("recompute", Unit::kText));
  if (row.Has("bubble_share") && row.Number("pipeline_parallel") > 1)
    add("Pipeline Bubble by Schedule", row.Text("bubble_share", Unit::kRatio));
  if (const ReportTable* peaks = FindTable(model, "training_memory_peaks")) add("Memory", Memory(*peaks));
  return summary;
}

}  // namespace dladvisor
