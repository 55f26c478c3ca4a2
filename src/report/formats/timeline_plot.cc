// SPDX-License-Identifier: Apache-2.0
#include "src/report/formats/timeline_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/text.h"
#include "src/render/color.h"
#include "src/render/escape.h"
#include "src/render/kernel_label.h"
#include "src/render/svg.h"
#include "src/report/formats/html_parts.h"
#include "src/report/sections/finding_words.h"

namespace dladvisor {
namespace {

constexpr double kLabelRoom = 112;
constexpr size_t kMostFlags = 9, kLabelLetters = 60, kHoverLetters = 60;
// A box is drawn pale where events take less than half of it; a flag stands on idle time of this part of a
// step and more.
constexpr double kFull = 0.5, kLeastFlagged = 0.01;

struct DrawnGpu {
  size_t first = 0, end = 0;  // rows
  std::vector<Lane> lanes;
  std::vector<double> lane_numbers;
};

bool IsRange(const std::string& bucket) { return bucket == "range"; }

std::string BoxText(const ReportTable& table, size_t row) {
  const double duration = CellNumber(table, row, "duration_ns"), busy = CellNumber(table, row, "busy_ns");
  const std::string name = CellText(table, row, "name", Unit::kText),
                    bucket = CellText(table, row, "bucket", Unit::kText);
  std::string text = fmt::format(
      "{}: {}, at {}", Ellipsize(Visible(IsRange(bucket) ? name : KernelLabel(name)), kHoverLetters),
      FormatValue(duration, Unit::kNanoseconds),
      FormatValue(CellNumber(table, row, "into_step_ns"), Unit::kNanoseconds));
  if (busy < kFull * duration) text += fmt::format(", busy {:.0f} %", 100 * busy / duration);
  return text;
}

DrawnGpu DrawGpu(const ReportTable& table, size_t first) {
  DrawnGpu gpu{first, first, {}, {}};
  const Value rank = CellOf(table, first, "rank"), device = CellOf(table, first, "device");
  const auto rows = table.rows.rows.size();
  std::vector<std::string> kernels;
  for (;
       gpu.end < rows && CellOf(table, gpu.end, "rank") == rank && CellOf(table, gpu.end, "device") == device;
       ++gpu.end)
    if (CellText(table, gpu.end, "bucket", Unit::kText).starts_with("compute/"))
      kernels.push_back(CellText(table, gpu.end, "name", Unit::kText));
  const auto labels = KernelLabels(kernels, kLabelLetters);
  for (size_t row = first; row < gpu.end; ++row) {
    const double lane = CellNumber(table, row, "lane");
    if (gpu.lane_numbers.empty() || gpu.lane_numbers.back() != lane) {
      const std::string name = CellText(table, row, "lane_name", Unit::kText);
      const bool is_deeper = !gpu.lanes.empty() && gpu.lanes.back().text == name;  // of the same thread
      gpu.lane_numbers.push_back(lane);
      gpu.lanes.push_back({is_deeper ? "" : name, name, {}});
    }
    const std::string bucket = CellText(table, row, "bucket", Unit::kText),
                      name = CellText(table, row, "name", Unit::kText);
    const auto label = labels.find(name);
    Box box;
    box.start = CellNumber(table, row, "into_step_ns");
    box.end = box.start + CellNumber(table, row, "duration_ns");
    box.label = bucket.starts_with("idle/") ? name.substr(name.find('/') + 1)
                                            : Visible(label == labels.end() ? name : label->second);
    box.text = BoxText(table, row);
    box.color = IsRange(bucket) ? "c-range" : ColorOf(bucket);
    box.light = CellNumber(table, row, "busy_ns") < kFull * CellNumber(table, row, "duration_ns");
    gpu.lanes.back().boxes.push_back(std::move(box));
  }
  for (Lane& lane : gpu.lanes) lane.text += fmt::format(", {} boxes", lane.boxes.size());
  return gpu;
}

// Of a bucket and its parts; lanes show communication whether it is exposed or not.
bool Holds(const std::string& drawn, const std::string& saved) {
  return drawn == saved || drawn.starts_with(saved + "/") || saved.starts_with(drawn + "/");
}

// Whether a finding of the group is about this GPU, or about no GPU in particular.
bool IsAbout(const Advice& advice, const FindingGroup& group, const ReportTable& table, size_t row) {
  return std::ranges::any_of(group.findings, [&](size_t index) {
    return std::ranges::all_of(advice.findings[index].subject, [&](const NamedValue& key) {
      return (key.name != "rank" && key.name != "device") || key.value == CellOf(table, row, key.name);
    });
  });
}

// Where within the drawn step the finding's evidence begins; nothing where none does. `complete`: whether it
// is few enough to be all that there is.
struct EvidencePlace {
  std::optional<double> into_step_ns;
  bool has_times = false, complete = false;
};

EvidencePlace PlaceOf(const Finding& finding, const ReportTable& table, size_t drawn) {
  constexpr size_t kMostOfAll = 3;
  const ResultSet& evidence = finding.evidence;
  const auto start = std::ranges::find(evidence.columns, "start_ns", &ResultColumn::name);
  if (start == evidence.columns.end()) return {};
  EvidencePlace place{{}, !evidence.rows.empty(), evidence.rows.size() <= kMostOfAll};
  const auto column = static_cast<size_t>(start - evidence.columns.begin());
  const double begin = CellNumber(table, drawn, "step_start_ns"),
               length = CellNumber(table, drawn, "step_ns");
  for (const auto& row : evidence.rows)
    if (const auto at = AsNumber(row[column]); at && *at >= begin && *at < begin + length) {
      place.into_step_ns = *at - begin;
      break;
    }
  return place;
}

// At the finding's evidence; where the step does not hold it, on the longest box of the bucket that the
// finding would save from, unless the evidence is all that there is.
std::vector<Flag> FlagsOf(const ReportModel& model, const std::vector<FindingGroup>& groups,
                          const ReportTable& table, const DrawnGpu& gpu) {
  std::vector<Flag> flags;
  std::map<size_t, size_t> taken;  // by row: one flag each
  for (size_t i = 0; i < groups.size() && flags.size() < kMostFlags; ++i) {
    const Finding& finding = model.advice->findings[groups[i].findings[0]];
    if (!finding.saves || groups[i].depth > 0 || !IsAbout(*model.advice, groups[i], table, gpu.first))
      continue;
    const EvidencePlace place = PlaceOf(finding, table, gpu.first);
    if (place.has_times && !place.into_step_ns && place.complete) continue;
    size_t longest = gpu.end;
    for (size_t row = gpu.first; row < gpu.end; ++row) {
      const std::string bucket = CellText(table, row, "bucket", Unit::kText);
      if (!Holds(bucket, finding.saves->bucket) || taken.contains(row)) continue;
      const double start = CellNumber(table, row, "into_step_ns");
      if (place.into_step_ns && (*place.into_step_ns < start ||
                                 *place.into_step_ns >= start + CellNumber(table, row, "duration_ns")))
        continue;
      if (longest == gpu.end || CellNumber(table, row, "busy_ns") > CellNumber(table, longest, "busy_ns"))
        longest = row;
    }
    if (longest == gpu.end ||
        (!place.into_step_ns &&
         CellNumber(table, longest, "busy_ns") < kLeastFlagged * CellNumber(table, longest, "step_ns")))
      continue;
    taken.emplace(longest, i);
    const double lane = CellNumber(table, longest, "lane");
    Flag flag;
    flag.lane = static_cast<size_t>(std::ranges::find(gpu.lane_numbers, lane) - gpu.lane_numbers.begin());
    flag.when = place.into_step_ns.value_or(CellNumber(table, longest, "into_step_ns"));
    flag.number = fmt::format("{}", i + 1);
    flag.text = OneLine(finding.title);
    flag.href = "#" + FindingAnchor(finding);
    flags.push_back(std::move(flag));
  }
  return flags;
}

// Which colours are there; how much time it all takes is what the ledger says.
std::vector<Segment> LegendOf(const ReportTable& table, const DrawnGpu& gpu) {
  std::vector<Segment> legend;
  for (size_t row = gpu.first; row < gpu.end; ++row) {
    const std::string bucket = CellText(table, row, "bucket", Unit::kText);
    if (!IsRange(bucket) && std::ranges::find(legend, bucket, &Segment::label) == legend.end())
      legend.push_back({bucket, 0, "", ColorOf(bucket)});
  }
  return legend;
}

// Which of all steps it is.
const char* KindOfStep(const ReportModel& model, const Value& step) {
  if (FigureNumber(model, "profiled_iterations") == 1.0) return "";
  if (FigureNumber(model, "ranks").value_or(0) < 2) return ", of median length";
  const ReportTable* jitter = FindTable(model, "jitter");
  const bool worst =
      jitter != nullptr && !jitter->rows.rows.empty() && CellOf(*jitter, 0, "worst_step") == step;
  return worst ? ", the worst of all" : "";
}

}  // namespace

data TimelinePlots(const ReportModel& model, const std::vector<FindingGroup>& groups) {
  data plots{data::type::list};
  const ReportTable* table = FindTable(model, "timeline");
  if (table == nullptr) return plots;
  const size_t rows = table->rows.rows.size();
  for (size_t first = 0; first < rows;) {
    const DrawnGpu gpu = DrawGpu(*table, first);
    const double length = CellNumber(*table, first, "step_ns");
    std::vector<std::pair<double, std::string>> ticks;
    for (const double at : RoundTicks(length))
      ticks.emplace_back(at, at > 0 ? FormatValue(at, Unit::kNanoseconds) : "0");
    std::string title = IsNull(CellOf(*table, first, "step"))
                            ? fmt::format("The analysed time ({})", FormatValue(length, Unit::kNanoseconds))
                            : fmt::format("Step {} ({}){}", CellText(*table, first, "step", Unit::kNone),
                                          FormatValue(length, Unit::kNanoseconds),
                                          KindOfStep(model, CellOf(*table, first, "step")));
    if (FigureNumber(model, "ranks").value_or(0) > 1)
      title += fmt::format(", rank {}", CellText(*table, first, "rank", Unit::kNone));
    if (FigureNumber(model, "gpus").value_or(0) > 1)
      title += fmt::format(", GPU {}", CellText(*table, first, "device", Unit::kNone));
    if (first > 0) title += ", for comparison";
    data plot;
    plot.set("label", title);
    plot.set("svg", LaneChart(fmt::format("timeline-{}", first), title, gpu.lanes, ticks,
                              FlagsOf(model, groups, *table, gpu), kLabelRoom));
    plot.set("legend", LegendData(LegendOf(*table, gpu)));
    plots << plot;
    first = gpu.end;
  }
  return plots;
}

}  // namespace dladvisor
