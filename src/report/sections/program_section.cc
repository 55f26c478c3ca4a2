// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/program_section.h"

#include <fmt/format.h>

#include "engine/base/text.h"
#include "src/render/escape.h"
#include "src/report/sections/training_section.h"

namespace dladvisor {
namespace {

class ProgramCells {
 public:
  explicit ProgramCells(const ReportTable& table) : table_(table) {}

  bool Has(const char* column) const { return !IsNull(CellOf(table_, 0, column)); }
  double Number(const char* column) const { return AsNumber(CellOf(table_, 0, column)).value_or(0); }
  std::string Text(const char* column, Unit unit) const {
    return Visible(FormatValue(CellOf(table_, 0, column), unit));
  }
  std::string Count(const char* column) const { return Text(column, Unit::kCount); }
  std::string Time(const char* column) const { return Text(column, Unit::kNanoseconds); }
  std::string Quoted() const {
    return Has("name") ? fmt::format(" \"{}\"", Text("name", Unit::kText)) : std::string();
  }

 private:
  const ReportTable& table_;
};

std::string BarsText(const ProgramCells& cells) {
  const bool one = cells.Number("count") == 1;
  std::string text = one ? "its progress bar" : fmt::format("its {} progress bars", cells.Count("count"));
  text += cells.Quoted();
  if (one)
    text += fmt::format(" stands at {}{} after {}", cells.Count("done"),
                        cells.Has("total") ? " of " + cells.Count("total") : "", cells.Time("ns"));
  else
    text += fmt::format(" take {} for {}", cells.Time("ns"), cells.Count("done"));
  if (cells.Has("batches"))
    return text + fmt::format(", {} for each of {}, the others in next to no time", cells.Time("each_ns"),
                              cells.Count("batches"));
  if (cells.Has("each_ns")) text += fmt::format(", {} each", cells.Time("each_ns"));
  if (cells.Has("since")) text += fmt::format(" since it stood at {}", cells.Count("since"));
  return text;
}

std::string LinesText(const ProgramCells& cells) {
  const bool one = cells.Number("count") == 1;
  const auto each = [&](const char* counted) {
    return fmt::format(", {} each",
                       FormatValue(cells.Number("ns") / cells.Number(counted), Unit::kNanoseconds));
  };
  const std::string lines = one ? "the line" : fmt::format("{} lines", cells.Count("count"));
  const std::string passed =
      fmt::format("{} of {} pass", cells.Has("share") ? cells.Text("share", Unit::kRatio) : cells.Time("ns"),
                  cells.Has("duration_ns") ? "its " + cells.Time("duration_ns") : "its time");
  if (cells.Number("batches") == 1)
    return fmt::format("{} after {}{}, which come at once", passed, lines, cells.Quoted());
  if (cells.Has("batches"))
    return fmt::format("{} between {}{}, which come in {} batches{}", passed, lines, cells.Quoted(),
                       cells.Count("batches"), each("batches"));
  std::string text = fmt::format("{} after {}{}", passed, lines, cells.Quoted());
  if (cells.Has("each_ns"))
    text += fmt::format(", {} for each that these count", cells.Time("each_ns"));
  else if (!one && cells.Number("count") > 0)
    text += each("count");
  return text;
}

std::string FunctionText(const ProgramCells& cells) {
  std::string text = fmt::format("{} of the {} that it measured are in {}", cells.Text("share", Unit::kRatio),
                                 cells.Time("duration_ns"), cells.Text("name", Unit::kText));
  if (cells.Number("count") > 1) text += fmt::format(", called {} times", cells.Count("count"));
  return text;
}

std::string PartText(const ProgramCells& cells) {
  if (!cells.Has("kind")) return "";
  const std::string kind = cells.Text("kind", Unit::kText);
  return kind == "bars" ? BarsText(cells) : kind == "function" ? FunctionText(cells) : LinesText(cells);
}

// Between requests, where they are much of the time.
std::string PausesText(const ProgramCells& cells) {
  constexpr double kMuch = 0.1;
  return cells.Number("idle_share") < kMuch
             ? std::string()
             : fmt::format(", none for {} of {}", cells.Text("idle_share", Unit::kRatio),
                           cells.Time("requests_span_ns"));
}

// Lines after which next to nothing passes are not where the time goes.
bool TellsOfTime(const ProgramCells& cells) {
  constexpr double kNextToNothing = 0.01;
  return cells.Has("kind") && !(cells.Has("share") && cells.Number("share") < kNextToNothing);
}

}  // namespace

const ReportTable* ProgramAlone(const ReportModel& model) {
  const ReportTable* program = HasGpuWork(model) ? nullptr : FindTable(model, "program_log");
  return program == nullptr || program->rows.rows.empty() ? nullptr : program;
}

std::string ProgramText(const ReportTable& program) {
  if (program.total_rows > 1)
    return fmt::format("The outputs of {} programs, none of them a trace", program.total_rows);
  const ProgramCells cells(program);
  const std::string name = cells.Text("program", Unit::kText);
  std::string text = name == "a program" ? "The output of a program" : fmt::format("The output of {}", name);
  text += ", not a trace: ";
  if (cells.Has("measured"))
    text += cells.Text("measured", Unit::kText);
  else if (cells.Has("data_share"))
    text += fmt::format("{} of the time of its batches goes to waiting for their data",
                        cells.Text("data_share", Unit::kRatio));
  else if (cells.Has("communication_share"))
    text += fmt::format("{} of the time that it prints is communication",
                        cells.Text("communication_share", Unit::kRatio));
  else if (cells.Has("queue_share"))
    text += fmt::format("{} requests of {} each, {} of it in the queue", cells.Count("queue_lines"),
                        cells.Time("queued_request_ns"), cells.Text("queue_share", Unit::kRatio));
  else if (cells.Has("collection_share"))
    text += fmt::format("{} of the time that it prints goes to collecting garbage",
                        cells.Text("collection_share", Unit::kRatio));
  else if (cells.Has("requests"))
    text += fmt::format("{} requests of {} each, {} at once on average{}", cells.Count("requests"),
                        cells.Time("request_ns"), ThreeDigits(cells.Number("in_flight")), PausesText(cells));
  else if (TellsOfTime(cells))
    text += PartText(cells);
  else if (cells.Has("skipped_batches"))
    text += fmt::format("{} lines tell of a batch that is skipped for want of memory",
                        cells.Count("skipped_batches"));
  else if (cells.Has("figures"))
    text += "it prints " + cells.Text("figures", Unit::kText);
  else if (cells.Has("kind") && cells.Has("duration_ns"))
    text += fmt::format("what it prints does not tell where its {} go", cells.Time("duration_ns"));
  else
    return text + "it ended: " + cells.Text("error", Unit::kText);
  return text + EndedWith(program);
}

bool IsTableOfResults(const ReportTable& program) {
  return program.total_rows == 1 && ProgramCells(program).Text("program", Unit::kText) == "a benchmark";
}

std::vector<std::pair<std::string, std::string>> ProgramSummary(const ReportModel& model) {
  const ReportTable* program = FindTable(model, "program_log");
  if (program == nullptr || program->rows.rows.size() != 1) return {};
  const ProgramCells cells(*program);
  std::vector<std::pair<std::string, std::string>> summary;
  const auto add = [&](const char* label, std::string value) {
    summary.emplace_back(label, std::move(value));
  };
  add("Program", cells.Text("program", Unit::kText));
  if (cells.Has("duration_ns"))
    add("Time",
        cells.Time("duration_ns") +
            (cells.Has("pause_ns") ? fmt::format(", and a pause of {}", cells.Time("pause_ns")) : ""));
  // What passes between lines of requests are pauses.
  const bool parts = TellsOfTime(cells) && !cells.Has("requests");
  if (parts) add("Most of It", PartText(cells));
  if (parts && cells.Has("longest_ns") && cells.Number("count") > 1) add("Longest", cells.Time("longest_ns"));
  if (cells.Has("tokens_per_second"))
    add("Generated Tokens", ThreeDigits(cells.Number("tokens_per_second")) + "/s");
  if (cells.Has("requests"))
    add("Requests",
        fmt::format("{}, {} each, {} at once on average{}{}", cells.Count("requests"),
                    cells.Time("request_ns"), ThreeDigits(cells.Number("in_flight")), PausesText(cells),
                    cells.Has("slots") ? ", " + cells.Count("slots") + " worked on" : ""));
  if (cells.Has("data_share")) add("Waiting for Data", cells.Text("data_share", Unit::kRatio));
  if (cells.Has("communication_share")) add("Communication", cells.Text("communication_share", Unit::kRatio));
  if (cells.Has("queue_share"))
    add("Waiting in the Queue",
        fmt::format("{} of {}, {}", cells.Time("queue_ns"), cells.Time("queued_request_ns"),
                    cells.Text("queue_share", Unit::kRatio)));
  if (cells.Has("collection_share")) add("Collecting Garbage", cells.Text("collection_share", Unit::kRatio));
  if (cells.Has("measured")) add("Measured", cells.Text("measured", Unit::kText));
  if (cells.Has("figures")) add("It Prints", cells.Text("figures", Unit::kText));
  if (cells.Has("error")) add("Ended With", cells.Text("error", Unit::kText));
  return summary;
}

}  // namespace dladvisor
