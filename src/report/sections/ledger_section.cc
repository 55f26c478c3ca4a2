// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/ledger_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "src/render/bucket_words.h"
#include "src/render/color.h"

namespace dladvisor {

std::vector<Segment> LedgerSegments(const ReportTable& ledger, const Value& rank, const Value& device) {
  std::vector<Segment> segments;
  for (size_t row = 0; row < ledger.rows.rows.size(); ++row) {
    if (CellOf(ledger, row, "rank") != rank || CellOf(ledger, row, "device") != device) continue;
    const Value per_step = CellOf(ledger, row, "ns_per_step");
    const Value& ns = IsNull(per_step) ? CellOf(ledger, row, "ns") : per_step;
    const Value bucket = CellOf(ledger, row, "bucket");
    if (AsNumber(ns).value_or(0) <= 0 || IsNull(bucket)) continue;
    const std::string label = FormatValue(bucket, Unit::kText);
    segments.push_back({label, *AsNumber(ns), FormatValue(ns, Unit::kNanoseconds), ColorOf(label)});
  }
  // Other than where bars are compared, what is alike is ordered by size.
  std::ranges::stable_sort(segments, [](const Segment& a, const Segment& b) {
    const int part = PartOfBar(a.label), part_of_b = PartOfBar(b.label);
    return part != part_of_b || part == 0 ? IsDrawnBefore(a.label, b.label) : a.value > b.value;
  });
  return segments;
}

namespace {

// Exposed communication in two where it is known how much of it is waiting for others.
void SplitWaiting(const ReportModel& model, const ReportTable& ledger, std::vector<Segment>& segments) {
  const ReportTable* waits = FindTable(model, "exposed_waiting");
  const auto exposed = std::ranges::find(segments, "communication/exposed", &Segment::label);
  if (waits == nullptr || exposed == segments.end()) return;
  for (size_t row = 0; row < waits->rows.rows.size(); ++row) {
    if (CellOf(*waits, row, "rank") != CellOf(ledger, 0, "rank") ||
        CellOf(*waits, row, "device") != CellOf(ledger, 0, "device"))
      continue;
    const auto waiting = AsNumber(CellOf(*waits, row, "waiting_ns"));
    if (!waiting || *waiting < 0 || *waiting > exposed->value) return;
    if (*waiting == 0) {
      exposed->label = "communication/transfer";
      return;
    }
    const double rest = exposed->value - *waiting;
    const std::string color = exposed->color;
    *exposed = {"communication/waiting", *waiting, FormatValue(*waiting, Unit::kNanoseconds),
                color + " wait"};
    if (rest > 0)
      segments.insert(std::next(exposed),
                      {"communication/transfer", rest, FormatValue(rest, Unit::kNanoseconds), color});
    return;
  }
}

std::vector<Segment> SegmentsOf(const ReportModel& model, const char* table) {
  const ReportTable* ledger = FindTable(model, table);
  if (ledger == nullptr || ledger->rows.rows.empty()) return {};
  std::vector<Segment> segments =
      LedgerSegments(*ledger, CellOf(*ledger, 0, "rank"), CellOf(*ledger, 0, "device"));
  SplitWaiting(model, *ledger, segments);
  return segments;
}

std::string GpuOf(const ReportModel& model, const char* table) {
  const ReportTable* ledger = FindTable(model, table);
  if (ledger == nullptr || ledger->rows.rows.empty() || FigureNumber(model, "gpus").value_or(0) < 2)
    return "";
  const std::string gpu = "GPU " + FormatValue(CellOf(*ledger, 0, "device"), Unit::kNone);
  if (FigureNumber(model, "ranks").value_or(0) < 2) return gpu;
  return fmt::format("rank {}, {}", FormatValue(CellOf(*ledger, 0, "rank"), Unit::kNone), gpu);
}

}  // namespace

std::vector<Segment> HeadlineSegments(const ReportModel& model) {
  return SegmentsOf(model, "headline_ledger");
}

double InBucket(const ReportModel& model, std::string_view bucket) {
  for (const Segment& segment : HeadlineSegments(model))
    if (segment.label == bucket) return segment.value;
  return 0;
}
std::vector<Segment> TypicalSegments(const ReportModel& model) { return SegmentsOf(model, "typical_ledger"); }
std::string HeadlineGpu(const ReportModel& model) { return GpuOf(model, "headline_ledger"); }
std::string TypicalGpu(const ReportModel& model) { return GpuOf(model, "typical_ledger"); }

}  // namespace dladvisor
