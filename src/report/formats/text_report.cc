// SPDX-License-Identifier: Apache-2.0
#include "src/report/formats/text_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/render/bucket_words.h"
#include "src/render/escape.h"
#include "src/render/svg.h"
#include "src/render/text_writer.h"
#include "src/report/model/column_style.h"
#include "src/report/sections/capture_section.h"
#include "src/report/sections/dashboard.h"
#include "src/report/sections/finding_groups.h"
#include "src/report/sections/findings_section.h"
#include "src/report/sections/ledger_section.h"
#include "src/report/sections/log_section.h"
#include "src/report/sections/pipeline_section.h"
#include "src/report/sections/ranks_section.h"
#include "src/report/sections/telemetry_section.h"

namespace dladvisor {
namespace {

constexpr size_t kMaxFindings = 8;

void WriteLeftOut(TextWriter& out, const std::string& text) {
  if (!text.empty()) out.Line("  " + text + ".");
}

void WriteFigures(TextWriter& out, const ReportModel& model, std::span<const std::string_view> ids) {
  for (const Figure* figure : ShownFigures(model, ids)) {
    std::string value = Visible(FormatValue(figure->value, figure->unit));
    if (IsNull(figure->value)) value += " (" + Visible(figure->unknown_because) + ")";
    out.Wrapped("  " + Left(figure->label, 30), value);
  }
}

const char* StyleOfSeverity(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "1;31";
    case Severity::kWarning:
      return "1;33";
    case Severity::kInfo:
      return "1;34";
  }
  return "1";
}

void WriteFindings(TextWriter& out, const ReportModel& model) {
  const Advice& advice = *model.advice;
  const std::vector<FindingGroup> groups = GroupFindings(model);
  out.Heading(fmt::format("Recommendations ({})", groups.size()));
  if (groups.empty()) out.Line("  No rule fired.");
  for (size_t i = 0; i < std::min(groups.size(), kMaxFindings); ++i) {
    const FindingGroup& group = groups[i];
    const Finding& finding = advice.findings[group.findings[0]];
    const std::string indent(2 + 2 * std::min<size_t>(group.depth, 3), ' ');
    const std::string mark = group.depth > 0 ? "↳ " : "• ";
    out.Wrapped(
        indent + mark,
        Prose(group.problem.text) +
            (group.subject.empty() ? "" : " (" + Ellipsize(Visible(group.subject), out.width()) + ")"),
        StyleOfSeverity(finding.severity));
    for (const std::string& recommendation : group.recommendation)
      out.Wrapped(indent + "  → ", Prose(recommendation));
    const std::string rule = fmt::format("{}  [{}]", SeverityName(finding.severity), Visible(finding.rule)),
                      saves = group.saving.empty() ? "" : "saves " + group.saving;
    const bool one_line = Columns(indent + saves + rule) + 4 <= out.width();
    if (!saves.empty() && !one_line) out.Line(indent + "  " + out.Styled(saves, "32"));
    out.Line(indent + "  " + (saves.empty() || !one_line ? "" : out.Styled(saves, "32") + "  ") + rule);
    if (!group.per_day.empty()) out.Wrapped(indent + "  ", group.per_day);
  }
  if (groups.size() > kMaxFindings) {
    const size_t left_out = groups.size() - kMaxFindings;
    out.Wrapped(
        "  … ",
        fmt::format("{} more finding{} left out here: `dladvisor report PROFILE -o report.html` shows {}.",
                    left_out, left_out == 1 ? " is" : "s are", left_out == 1 ? "it" : "them"));
  }
  if (const std::string total = TotalSavingText(model); !total.empty() && groups.size() > 1)
    out.Wrapped("  ", total, "32");
}

// A twentieth of a per cent says nothing: such buckets are one line.
void WriteLedger(TextWriter& out, const ReportModel& model) {
  std::vector<Segment> segments = HeadlineSegments(model);
  if (segments.empty()) return;
  double total = 0, rest = 0;
  for (const Segment& segment : segments) total += segment.value;
  std::erase_if(segments, [&](const Segment& segment) {
    const bool small = segment.value < 0.0005 * total;
    if (small) rest += segment.value;
    return small;
  });
  std::ranges::stable_sort(segments, std::ranges::greater{}, &Segment::value);
  if (rest > 0) segments.push_back({"other buckets", rest, FormatValue(rest, Unit::kNanoseconds), ""});
  const std::string gpu = HeadlineGpu(model);
  out.Heading((FigureNumber(model, "step_time") ? "Time Ledger of a Step" : "Time Ledger") +
              (gpu.empty() ? "" : " (" + gpu + ")"));
  // What buckets mean, where the line has room for it beside a bar.
  constexpr size_t kWords = 37, kLeastWidth = 92;
  const size_t words = out.width() < kLeastWidth ? 0 : kWords;
  for (const Segment& segment : segments) {
    const std::string_view meaning = BucketWords(segment.label);
    out.Line(fmt::format("  {}{}  {}  {}{}", Left(Visible(segment.label), 24),
                         Right(FormatValue(segment.value / total, Unit::kRatio), 8), Right(segment.text, 9),
                         words > 0 ? Left(meaning == segment.label ? "" : std::string(meaning), words) : "",
                         out.Styled(ShareBar(segment.value / total, out.width() - words), "36")));
  }
}

void WriteBreakdown(TextWriter& out, const ReportModel& model) {
  const ReportTable* usage = FindTable(model, "resource_usage");
  if (usage == nullptr || usage->rows.rows.empty()) return;
  out.Heading("Resource Usage Breakdown");
  for (size_t row = 0; row < usage->rows.rows.size(); ++row) {
    const Value share = CellOf(*usage, row, "share");
    out.Line(fmt::format("  {}{}  {}  {}",
                         Left(FormatValue(CellOf(*usage, row, "category"), Unit::kText), 24),
                         Right(FormatValue(share, Unit::kRatio), 8),
                         Right(FormatValue(CellOf(*usage, row, "ns"), Unit::kNanoseconds), 9),
                         out.Styled(ShareBar(AsNumber(share).value_or(0), out.width()), "36")));
  }
}

// Rows of tables wrap on a narrow terminal; names of a few letters would say nothing.
constexpr size_t kNarrowest = 80;
size_t RowWidth(const TextWriter& out) { return std::max(out.width(), kNarrowest); }

void WriteTopOps(TextWriter& out, const ReportModel& model) {
  const ReportTable* ops = FindTable(model, "top_ops");
  if (ops == nullptr || ops->rows.rows.empty()) return;
  out.Heading("Top 10 GPU Ops");
  if (!ops->scope.empty()) out.Line("  " + ops->scope);
  out.Line(out.Styled("    GPU Time     Calls  TC Eligible  Using TC  Op Name", "2"));
  for (size_t row = 0; row < ops->rows.rows.size(); ++row) {
    const auto cell = [&](const char* column) {
      return CellText(CellOf(*ops, row, column), StyleOf({column, Unit::kNone}));
    };
    out.Line(fmt::format("  {} {} {} {}  {}", Right(cell("gpu_ns"), 10), Right(cell("calls"), 9),
                         Right(cell("tensor_core_eligible"), 12), Right(cell("uses_tensor_cores"), 9),
                         Ellipsize(Visible(cell("op")), RowWidth(out) - 48)));
  }
}

void WriteMemoryOperators(TextWriter& out, const ReportModel& model) {
  const ReportTable* operators = FindTable(model, "memory_operators");
  if (operators == nullptr || operators->rows.rows.empty()) return;
  out.Heading(operators->title);
  out.Line(out.Styled("  Self Allocated  Allocated  Self Increase     Calls  Operator", "2"));
  for (size_t row = 0; row < operators->rows.rows.size(); ++row) {
    const auto cell = [&](const char* column) {
      return CellText(CellOf(*operators, row, column), StyleOf({column, Unit::kNone}));
    };
    out.Line(fmt::format("  {} {} {} {}  {}", Right(cell("self_allocated_bytes"), 14),
                         Right(cell("allocated_bytes"), 10), Right(cell("self_increase_bytes"), 14),
                         Right(cell("calls"), 9), Ellipsize(Visible(cell("name")), RowWidth(out) - 54)));
  }
}

void WritePipelines(TextWriter& out, const ReportModel& model) {
  const std::vector<std::string> sentences = PipelineSentences(model);
  const ReportTable* stages = FindTable(model, "pipeline_stages");
  if (sentences.empty() || stages == nullptr) return;
  out.Heading("Pipeline");
  for (const std::string& sentence : sentences) out.Wrapped("  ", Visible(sentence));
  out.Line(out.Styled("  Stage   Rank            F            B            W         Work   Bubble", "2"));
  for (const size_t row : DrawnStages(model)) {
    const auto cell = [&](const char* column, size_t width) {
      return Right(CellText(CellOf(*stages, row, column), StyleOf({column, Unit::kNone})), width);
    };
    out.Line(fmt::format("  {} {} {} {} {} {} {}", cell("stage", 5), cell("rank", 6), cell("forward_ns", 12),
                         cell("backward_ns", 12), cell("weight_ns", 12), cell("work_ns", 12),
                         cell("bubble_share", 8)));
  }
  WriteLeftOut(out, StagesLeftOutText(model));
}

void WriteProfilesToOpen(TextWriter& out, const ReportModel& model) {
  const ReportTable* table = FindTable(model, "profiles_to_open");
  if (table == nullptr || table->rows.rows.empty()) return;
  const auto cell = [&](size_t row, const char* column) {
    return CellText(CellOf(*table, row, column), StyleOf({column, Unit::kNone}));
  };
  out.Line(fmt::format("  To open in the timeline viewer, at step {}:", cell(0, "step")));
  for (size_t row = 0; row < table->rows.rows.size(); ++row) {
    const std::string lead =
        fmt::format("  {} rank {}{}  {} – {} s  ", Left(cell(row, "pace"), 8), Right(cell(row, "rank"), 4),
                    IsNull(CellOf(*table, row, "node")) ? "" : ", node " + cell(row, "node"),
                    cell(row, "start_s"), cell(row, "end_s"));
    const size_t room = out.width() - std::min(out.width() - 8, Columns(lead));
    // Ranks differ by the name of the file.
    std::string path = Visible(cell(row, "path"));
    if (Columns(path) > room) path.erase(0, path.rfind('/') + 1);
    out.Line(lead + Ellipsize(path, room));
  }
}

void WriteRanks(TextWriter& out, const ReportModel& model) {
  const ReportTable* ranks = FindTable(model, "ranks");
  if (ranks == nullptr || ranks->rows.rows.empty()) return;
  out.Heading("Ranks");
  for (const std::string& sentence : RankSentences(model)) out.Wrapped("  ", Visible(sentence));
  WriteProfilesToOpen(out, model);
  if (!HasTimesOfRanks(*ranks)) return;
  out.Line(out.Styled("   Rank  GPU  Node     Local    Excess   Kernels      Gaps      Late   Waiting", "2"));
  for (size_t row = 0; row < std::min(ranks->rows.rows.size(), kTopRanks); ++row) {
    const auto cell = [&](const char* column, size_t width) {
      return Right(CellText(CellOf(*ranks, row, column), StyleOf({column, Unit::kNone})), width);
    };
    out.Line(fmt::format("  {} {} {} {} {} {} {} {} {}", cell("rank", 5), cell("device", 4), cell("node", 5),
                         cell("own_ns", 9), cell("excess_ns", 9), cell("kernel_ns", 9), cell("gap_ns", 9),
                         cell("start_gap_ns", 9), cell("waiting_ns", 9)));
  }
  if (ranks->total_rows > kTopRanks)
    out.Line(fmt::format("  … and {} that are less behind.", ranks->total_rows - kTopRanks));
}

void WriteTelemetry(TextWriter& out, const ReportModel& model) {
  const ReportTable* telemetry = FindTable(model, "telemetry");
  if (telemetry == nullptr || telemetry->rows.rows.empty()) return;
  out.Heading(telemetry->title);
  out.Line(
      out.Styled("  File GPU Samples    Busy Peak Memory       of  Power     of  Highest  SM Clock", "2"));
  for (size_t row = 0; row < telemetry->rows.rows.size(); ++row) {
    const auto cell = [&](const char* column, size_t width) {
      return Right(CellText(CellOf(*telemetry, row, column), StyleOf({column, Unit::kNone})), width);
    };
    out.Line(fmt::format("  {} {} {} {} {} {} {} {} {} {}", cell("profile", 4), cell("device", 3),
                         cell("samples", 7), cell("gpu_utilization", 7), cell("peak_memory_bytes", 11),
                         cell("total_memory_bytes", 8), cell("mean_power", 6), cell("power_limit", 6),
                         cell("highest_temperature", 8), cell("mean_sm_clock", 9)));
  }
  WriteLeftOut(out, LeftOutText(*telemetry, telemetry->rows.rows.size()));
}

void WriteLog(TextWriter& out, const ReportModel& model) {
  const LogSummary log = LogSummaryOf(model);
  if (log.items.empty()) return;
  out.Heading(log.title);
  for (const auto& [label, value] : log.items) out.Wrapped("  " + Left(label, 30), Visible(value));
  const ReportTable* timers = FindTable(model, "training_timers");
  if (timers == nullptr || timers->rows.rows.empty()) return;
  out.Heading(timers->title);
  constexpr size_t kMostTimers = 12;
  for (size_t row = 0; row < std::min(timers->rows.rows.size(), kMostTimers); ++row) {
    const auto time = [&](const char* column) {
      return FormatValue(CellOf(*timers, row, column), Unit::kNanoseconds);
    };
    const Value share = CellOf(*timers, row, "share");
    const bool ranks = IsNull(CellOf(*timers, row, "mean_ns"));
    out.Line(
        fmt::format("  {}{}  {}  {}",
                    Left(Ellipsize(Visible(FormatValue(CellOf(*timers, row, "timer"), Unit::kText)), 38), 38),
                    Right(FormatValue(share, Unit::kRatio), 8),
                    ranks ? time("least_rank_ns") + " – " + time("most_rank_ns") : Right(time("mean_ns"), 9),
                    ranks ? "" : out.Styled(ShareBar(AsNumber(share).value_or(0), out.width()), "36")));
  }
  WriteLeftOut(out, LeftOutText(*timers, kMostTimers));
}

}  // namespace

std::string RenderText(const ReportModel& model) {
  TextWriter out(model.options.text);
  const std::string generator = Visible(model.options.generator);
  out.Line(out.Styled(Ellipsize(Visible(model.options.title), out.width() - 2 - Columns(generator)), "1") +
           "  " + out.Styled(generator, "2"));
  if (!model.options.banner.empty()) out.Wrapped("! ", Visible(OneLine(model.options.banner)), "33");
  out.Line();
  out.Wrapped("", Visible(model.headline), "1");
  WriteFindings(out, model);
  WriteLedger(out, model);
  WriteRanks(out, model);
  WritePipelines(out, model);
  WriteLog(out, model);
  WriteTelemetry(out, model);
  if (TelemetryAlone(model) == nullptr && !IsProgramsLogAlone(model)) {
    out.Heading("Performance Summary");
    WriteFigures(out, model, PerformanceFigures());
  }
  WriteBreakdown(out, model);
  WriteTopOps(out, model);
  WriteMemoryOperators(out, model);
  if (!ShownFigures(model, SystemFigures()).empty()) {
    out.Heading("System Configuration");
    WriteFigures(out, model, SystemFigures());
  }
  out.Line();
  const std::vector<std::string> flags = CaptureFlags(model);
  if (const std::string line = HardwareToDeclare(model); !line.empty()) {
    out.Wrapped("", "To compare with this GPU's peaks, declare them in dladvisor.yaml:");
    out.Wrapped("  ", Visible(line));
  }
  out.Wrapped("", CoverageText(*model.advice) + ".");
  const std::string joined = Visible(fmt::format("{}", fmt::join(flags, " ")));
  if (!flags.empty() && !IsProgramsLogAlone(model) && TelemetryAlone(model) != nullptr)
    out.Line("To let more rules decide, log with:\n  " +
             (IsJetson(model) ? "tegrastats --interval 1000 --logfile tegrastats.log"
                              : "nvidia-smi " + joined + " --format=csv -l 1"));
  else if (joined.find_first_not_of(' ') != std::string::npos)
    out.Wrapped("To let more rules decide, profile again with: ", joined);
  return out.Take();
}

}  // namespace dladvisor
