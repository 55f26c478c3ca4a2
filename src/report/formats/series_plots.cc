// SPDX-License-Identifier: Apache-2.0
#include "src/report/formats/series_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/text.h"
#include "src/render/escape.h"
#include "src/render/strip_chart.h"
#include "src/report/formats/html_parts.h"

namespace dladvisor {
namespace {

// A GPU that computes and whose clock is below this share of what is usual while it does, or whose
// power is; a GPU at work that runs a kernel for less than this; a limit that is all but reached.
constexpr double kLowClock = 0.85, kLowPower = 0.6, kAtWork = 0.5, kNoWork = 0.1, kAllButFull = 0.95;

// Of the lines that one point of the chart stands for.
constexpr double kMostSlow = 0.5;

using Number = std::optional<double>;

// Rows of one GPU in the table of the chart.
struct Gpu {
  Value profile, device;
  std::vector<size_t> rows;
};

Number CellIn(const ReportTable& table, size_t row, const char* column) {
  return AsNumber(CellOf(table, row, column));
}

std::vector<Gpu> GpusOf(const ReportTable& table) {
  std::vector<Gpu> gpus;
  for (size_t row = 0; row < table.rows.rows.size(); ++row) {
    const Value profile = CellOf(table, row, "profile"), device = CellOf(table, row, "device");
    if (gpus.empty() || gpus.back().profile != profile || gpus.back().device != device)
      gpus.push_back({profile, device, {}});
    gpus.back().rows.push_back(row);
  }
  return gpus;
}

Number MedianOf(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// What is known of a GPU for telling what is normal: its limits, and its median at work.
struct Normal {
  Number power_limit, memory_total, clock, power;
  size_t first_active = 0, last_active = 0;  // of its rows, with work
};

Normal NormalOf(const ReportModel& model, const ReportTable& table, const Gpu& gpu) {
  Normal normal;
  if (const ReportTable* summary = FindTable(model, "telemetry"))
    for (size_t row = 0; row < summary->rows.rows.size(); ++row) {
      if (CellOf(*summary, row, "profile") != gpu.profile || CellOf(*summary, row, "device") != gpu.device)
        continue;
      normal.power_limit = CellIn(*summary, row, "power_limit");
      normal.memory_total = CellIn(*summary, row, "total_memory_bytes");
    }
  std::vector<double> clocks, powers;
  normal.first_active = gpu.rows.size();
  // Of a GPU that is never much used, little use is work.
  const bool worked = std::ranges::any_of(
      gpu.rows, [&](size_t row) { return CellIn(table, row, "gpu_utilization").value_or(0) >= kAtWork; });
  for (size_t i = 0; i < gpu.rows.size(); ++i) {
    const Number busy = CellIn(table, gpu.rows[i], "gpu_utilization");
    if (!busy) continue;
    if (*busy >= (worked ? kAtWork : kNoWork)) {
      normal.first_active = std::min(normal.first_active, i);
      normal.last_active = i;
    }
    if (*busy < kAtWork) continue;
    if (const Number clock = CellIn(table, gpu.rows[i], "sm_clock_hz")) clocks.push_back(*clock);
    if (const Number power = CellIn(table, gpu.rows[i], "power_w")) powers.push_back(*power);
  }
  normal.clock = MedianOf(std::move(clocks));
  normal.power = MedianOf(std::move(powers));
  return normal;
}

struct Metric {
  const char* column;
  const char* title;
  Unit unit;
  // What is outside of what is normal in this row of the GPU, "" for nothing.
  std::function<std::string(const ReportTable&, const Gpu&, const Normal&, size_t, double)> outside;
};

const std::vector<Metric>& Metrics() {
  static const std::vector<Metric> metrics = {
      {"gpu_utilization", "Utilisation", Unit::kRatio,
       [](const ReportTable&, const Gpu&, const Normal& normal, size_t i, double value) {
         return std::string(value < kNoWork && i > normal.first_active && i < normal.last_active
                                ? "idle between times of work"
                                : "");
       }},
      {"power_w", "Power", Unit::kWatts,
       [](const ReportTable& table, const Gpu& gpu, const Normal& normal, size_t i, double value) {
         if (normal.power_limit && value >= kAllButFull * *normal.power_limit)
           return std::string("at the power limit");
         const bool busy = CellIn(table, gpu.rows[i], "gpu_utilization").value_or(0) >= kAllButFull;
         return std::string(busy && normal.power && value < kLowPower * *normal.power
                                ? "busy at far less power than usual"
                                : "");
       }},
      {"sm_clock_hz", "Clock of the Multiprocessors", Unit::kHertz,
       [](const ReportTable& table, const Gpu& gpu, const Normal& normal, size_t i, double value) {
         const bool busy = CellIn(table, gpu.rows[i], "gpu_utilization").value_or(0) >= kAtWork;
         const bool heat = CellIn(table, gpu.rows[i], "throttled_by_heat").value_or(0) > 0;
         if (heat) return std::string("held down by heat");
         return std::string(
             busy && normal.clock && value < kLowClock * *normal.clock ? "below its usual clock" : "");
       }},
      {"temperature_c", "Temperature", Unit::kCelsius,
       [](const ReportTable& table, const Gpu& gpu, const Normal&, size_t i, double) {
         return std::string(CellIn(table, gpu.rows[i], "throttled_by_heat").value_or(0) > 0
                                ? "clocks are held down by heat"
                                : "");
       }},
      {"memory_used_bytes", "Memory", Unit::kBytes,
       [](const ReportTable&, const Gpu&, const Normal& normal, size_t, double value) {
         return std::string(
             normal.memory_total && value >= kAllButFull * *normal.memory_total ? "memory all but full" : "");
       }},
  };
  return metrics;
}

// Neighbouring marks of the same text are one.
void AddMark(Strip& strip, double from, double to, std::string text) {
  if (text.empty()) return;
  if (!strip.marks.empty() && strip.marks.back().to == from && strip.marks.back().text == text)
    strip.marks.back().to = to;
  else
    strip.marks.push_back({from, to, std::move(text)});
}

std::string Ends(double value, bool timed) {
  return timed ? FormatValue(value, Unit::kNanoseconds) : fmt::format("sample {:.0f}", value);
}

// "idle between times of work", once each.
std::vector<Segment> MarkLegend(const std::vector<Strip>& strips) {
  std::vector<Segment> legend;
  std::map<std::string, std::set<double>> seen;  // where each begins
  for (const Strip& strip : strips)
    for (const Strip::Mark& mark : strip.marks) seen[mark.text].insert(mark.from);
  for (const auto& [text, places] : seen)
    legend.push_back({"Hatched: " + text, 0,
                      fmt::format("{} time{}", places.size(), places.size() == 1 ? "" : "s"), "c-marked"});
  return legend;
}

void AddPlot(data& plots, const std::string& id, const std::string& title, const std::vector<Strip>& strips,
             double first, double last, const std::pair<std::string, std::string>& ends) {
  data plot;
  plot.set("label", title);
  plot.set("svg", StripChart(id, title, strips, first, last, ends));
  plot.set("legend", LegendData(MarkLegend(strips)));
  plots << plot;
}

void TelemetryPlots(const ReportModel& model, data& plots) {
  const ReportTable* table = FindTable(model, "telemetry_chart");
  if (table == nullptr || table->rows.rows.size() < 3) return;
  const std::vector<Gpu> gpus = GpusOf(*table);
  const size_t rows = table->rows.rows.size();
  double first = CellIn(*table, 0, "start_ns").value_or(0), last = 0;
  bool timed = false, several = false;
  for (size_t row = 0; row < rows; ++row) {
    first = std::min(first, CellIn(*table, row, "start_ns").value_or(0));
    last = std::max(last, CellIn(*table, row, "end_ns").value_or(0));
    timed = timed || CellIn(*table, row, "timed").value_or(0) > 0;
    several = several || CellOf(*table, row, "profile") != gpus.front().profile;
  }
  for (const Metric& metric : Metrics()) {
    std::vector<Strip> strips;
    double most = 0;
    for (const Gpu& gpu : gpus) {
      const Normal normal = NormalOf(model, *table, gpu);
      Strip strip;
      strip.label = (several ? "File " + FormatValue(gpu.profile, Unit::kNone) + ", " : "") +
                    (IsNull(gpu.device) ? "All GPUs" : "GPU " + FormatValue(gpu.device, Unit::kNone));
      double sum = 0, greatest = 0;
      size_t known = 0;
      for (size_t i = 0; i < gpu.rows.size(); ++i) {
        const Number value = CellIn(*table, gpu.rows[i], metric.column);
        const double from = CellIn(*table, gpu.rows[i], "start_ns").value_or(0),
                     to = i + 1 < gpu.rows.size() ? CellIn(*table, gpu.rows[i + 1], "start_ns").value_or(0)
                                                  : last;
        strip.points.emplace_back(from, value);
        if (!value) continue;
        sum += *value;
        ++known;
        greatest = std::max(greatest, *value);
        AddMark(strip, from, to, metric.outside(*table, gpu, normal, i, *value));
      }
      if (known == 0) continue;
      strip.text = fmt::format("mean {}, most {}", FormatValue(sum / static_cast<double>(known), metric.unit),
                               FormatValue(greatest, metric.unit));
      if (metric.unit == Unit::kWatts) strip.limit = normal.power_limit;
      if (metric.unit == Unit::kBytes) strip.limit = normal.memory_total;
      most = std::max({most, greatest, strip.limit.value_or(0)});
      strips.push_back(std::move(strip));
    }
    if (strips.empty() || !(most > 0)) continue;
    if (metric.unit == Unit::kRatio) most = 1;
    for (Strip& strip : strips) {
      strip.most = most;
      strip.most_text = FormatValue(most, metric.unit);
    }
    AddPlot(plots, fmt::format("series-{}", metric.column), metric.title, strips, first, last,
            {Ends(first, timed), Ends(last, timed)});
  }
}

struct LogSeries {
  const char* column;
  const char* label;
  Unit unit;
};

std::string LogText(double value, Unit unit) {
  return unit == Unit::kNone ? ThreeDigits(value) : FormatValue(value, unit);
}

void TrainingPlots(const ReportModel& model, data& plots) {
  const ReportTable* table = FindTable(model, "training_chart");
  if (table == nullptr || table->rows.rows.size() < 3) return;
  static constexpr LogSeries kSeries[] = {{"mean_ns", "Time of an iteration", Unit::kNanoseconds},
                                          {"samples_per_second", "Samples per second", Unit::kNone},
                                          {"tokens_per_second", "Tokens per second", Unit::kNone},
                                          {"tflops_per_gpu", "TFLOP/s of a GPU", Unit::kNone},
                                          {"loss_scale", "Loss scale", Unit::kNone}};
  const size_t rows = table->rows.rows.size();
  std::vector<Strip> strips;
  for (const LogSeries& series : kSeries) {
    Strip strip;
    strip.label = series.label;
    std::vector<double> values;
    for (size_t row = 0; row < rows; ++row) {
      const auto x = static_cast<double>(row);
      const Number value = CellIn(*table, row, series.column);
      strip.points.emplace_back(x, value);
      if (series.unit == Unit::kNanoseconds) {
        strip.peaks.push_back(CellIn(*table, row, "slowest_ns"));
        strip.most = std::max(strip.most, strip.peaks.back().value_or(0));
      }
      if (!value) continue;
      values.push_back(*value);
      strip.most = std::max(strip.most, *value);
      std::string text;
      if (series.column == std::string_view("loss_scale")) {
        if (values.size() > 1 && *value < values[values.size() - 2]) text = "lowered after an overflow";
      } else if (CellIn(*table, row, "warmup").value_or(0) > 0) {
        text = "warm-up";
      } else if (CellIn(*table, row, "slow").value_or(0) >= kMostSlow) {
        const Value cause = CellOf(*table, row, "cause");
        text = IsNull(cause) ? "slow" : "slow: " + Visible(FormatValue(cause, Unit::kText));
      }
      AddMark(strip, x, x + 1, std::move(text));
    }
    if (values.size() < 3 || !(strip.most > 0)) continue;
    const double greatest = strip.most,
                 least = *std::ranges::min_element(values);  // of the lines, of their means
    if (series.unit == Unit::kNone && least == greatest && series.column == std::string_view("loss_scale"))
      continue;
    strip.text = fmt::format("median {}, {} to {}", LogText(MedianOf(values).value_or(0), series.unit),
                             LogText(least, series.unit), LogText(greatest, series.unit));
    strip.most_text = LogText(greatest, series.unit);
    strips.push_back(std::move(strip));
  }
  if (strips.empty()) return;
  double lines = 1;
  for (size_t row = 0; row < rows; ++row)
    lines = std::max(lines, CellIn(*table, row, "iterations").value_or(1));
  std::string title = "Iterations of the training's log";
  if (lines > 1)
    title += fmt::format(", each point the mean of up to {:.0f} lines; thin lines are the slowest", lines);
  AddPlot(plots, "series-training", title, strips, 0, static_cast<double>(rows),
          {"iteration " + FormatValue(CellOf(*table, 0, "first"), Unit::kNone),
           "iteration " + FormatValue(CellOf(*table, rows - 1, "last"), Unit::kNone)});
}

}  // namespace

data SeriesPlots(const ReportModel& model) {
  data plots{data::type::list};
  TrainingPlots(model, plots);
  TelemetryPlots(model, plots);
  return plots;
}

}  // namespace dladvisor
