#include "src/report/ranks_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "engine/base/text.h"
#include "src/report/escape.h"
#include "src/report/html_parts.h"

namespace dladvisor {
namespace {

constexpr size_t kMaxCohorts = 4, kMaxReasons = 4;

std::string Cell(const ReportTable& table, size_t row, const char* column, Unit unit = Unit::kNone) {
  return FormatValue(CellOf(table, row, column), unit);
}
double Number(const ReportTable& table, size_t row, const char* column) {
  return AsNumber(CellOf(table, row, column)).value_or(0);
}
std::string Time(double ns) { return FormatValue(ns, Unit::kNanoseconds); }
// "+561 µs".
std::string Signed(double ns) { return (ns > 0 ? "+" : "") + Time(ns); }

// "549 µs of it in gaps between kernels and 21.6 µs in kernels"; with signs where some of it is made up for.
std::string CauseText(const ReportTable& jitter, size_t row) {
  std::vector<std::pair<double, const char*>> causes = {
      {Number(jitter, row, "kernel_excess_ns"), "in kernels"},
      {Number(jitter, row, "gap_excess_ns"), "in gaps between kernels"},
      {Number(jitter, row, "start_excess_ns"), "before its first kernel"}};
  const double worst = Number(jitter, row, "worst_ns");
  // What is a hundredth of it says nothing.
  std::erase_if(causes, [&](const auto& cause) { return std::abs(cause.first) < 0.01 * worst; });
  std::ranges::stable_sort(causes, std::ranges::greater{}, [](const auto& cause) { return cause.first; });
  const bool some_earlier = !causes.empty() && causes.back().first < 0;
  std::string text;
  for (size_t i = 0; i < causes.size(); ++i) {
    const auto& [ns, where] = causes[i];
    text += fmt::format("{}{}{} {}",
                        i == 0                   ? ""
                        : i + 1 == causes.size() ? " and "
                                                 : ", ",
                        some_earlier ? Signed(ns) : Time(ns), i == 0 && !some_earlier ? " of it" : "", where);
  }
  return text;
}

std::string SentenceOf(const ReportTable& jitter, size_t row) {
  const auto text = [&](const char* column, Unit unit) { return Cell(jitter, row, column, unit); };
  const std::string cause = CauseText(jitter, row);
  const Value node = CellOf(jitter, row, "max_node");
  std::string sentence = fmt::format(
      "Of {} GPUs that run the same {} kernels a step, that of rank {} (GPU {}{}) is the slowest in step {}: "
      "{} behind the mean{}{}; that of rank {} is the fastest there.",
      text("peers", Unit::kCount), text("kernels_per_step", Unit::kCount), text("max_rank", Unit::kNone),
      text("max_device", Unit::kNone), IsNull(node) ? "" : ", node " + FormatValue(node, Unit::kNone),
      text("worst_step", Unit::kNone), text("worst_ns", Unit::kNanoseconds), cause.empty() ? "" : ", ", cause,
      text("min_rank", Unit::kNone));
  if (Number(jitter, row, "steps") < 2) return sentence;
  sentence += fmt::format(" Over {} steps the slowest GPU of each is {} behind", text("steps", Unit::kCount),
                          text("magnitude_ns", Unit::kNanoseconds));
  if (!IsNull(CellOf(jitter, row, "magnitude_share")))
    sentence += fmt::format(", {} of a step", text("magnitude_share", Unit::kRatio));
  return sentence + ".";
}

// "2 of 8 GPUs are compared with no other: no other GPU runs the same kernels (ranks 1, 3)."
std::string NotComparedText(const ReportTable& left_out, const ReportTable& ranks) {
  std::string text;
  double count = 0;
  for (size_t row = 0; row < left_out.rows.rows.size(); ++row) {
    const double gpus = Number(left_out, row, "gpus");
    count += gpus;
    if (row < kMaxReasons)
      text += fmt::format("{}{} (rank{} {}{})", row == 0 ? "" : "; ",
                          Cell(left_out, row, "not_compared", Unit::kText), gpus == 1 ? "" : "s",
                          Cell(left_out, row, "first_ranks", Unit::kText),
                          gpus > Number(left_out, row, "listed") ? ", ..." : "");
  }
  if (!(count > 0)) return "";
  return fmt::format("{} of {} GPUs {} not compared with others: {}{}.",
                     WithThousands(static_cast<int64_t>(count)),
                     WithThousands(static_cast<int64_t>(ranks.total_rows)), count == 1 ? "is" : "are", text,
                     left_out.rows.rows.size() > kMaxReasons ? "; ..." : "");
}

// "Rank 5", "Ranks 480–519".
std::string Numbered(const char* what, const Value& first, const Value& last) {
  if (first == last) return fmt::format("{} {}", what, FormatValue(first, Unit::kNone));
  return fmt::format("{}s {}–{}", what, FormatValue(first, Unit::kNone), FormatValue(last, Unit::kNone));
}

data HeatPlot(const ReportTable& table) {
  double most = 0;
  size_t places = 0, lines = 0, worst = 0;
  const size_t count = table.rows.rows.size();
  bool several_ranks = false, several_steps = false, several_devices = false;
  std::map<double, double> device_of;  // by rank
  for (size_t row = 0; row < count; ++row) {
    if (Number(table, row, "distance_ns") > most) worst = row;
    most = std::max(most, Number(table, row, "distance_ns"));
    places = std::max(places, static_cast<size_t>(Number(table, row, "place")) + 1);
    lines = std::max(lines, static_cast<size_t>(Number(table, row, "line")) + 1);
    several_ranks |= CellOf(table, row, "first_rank") != CellOf(table, row, "last_rank");
    several_steps |= CellOf(table, row, "first_step") != CellOf(table, row, "last_step");
    const auto [known, is_new] = device_of.emplace(Number(table, row, "rank"), Number(table, row, "device"));
    several_devices |= !is_new && known->second != Number(table, row, "device");
  }
  std::vector<std::string> columns(places);
  std::vector<HeatRow> rows(lines);
  for (HeatRow& row : rows) row.cells.resize(places);
  for (size_t row = 0; row < count; ++row) {
    const auto line = static_cast<size_t>(Number(table, row, "line"));
    const auto place = static_cast<size_t>(Number(table, row, "place"));
    const std::string gpu = several_devices ? ", GPU " + Cell(table, row, "device") : "";
    columns[place] = Numbered("Step", CellOf(table, row, "first_step"), CellOf(table, row, "last_step"));
    rows[line].label = Numbered("Rank", CellOf(table, row, "first_rank"), CellOf(table, row, "last_rank")) +
                       (several_ranks ? "" : gpu);
    const double excess = Number(table, row, "excess_ns");
    rows[line].cells[place] = {HeatClass(excess, most),
                               fmt::format("Rank {}{}, step {}: {}", Cell(table, row, "rank"), gpu,
                                           Cell(table, row, "step"), Signed(excess))};
  }
  std::vector<Segment> legend;
  for (int level = 4; level >= -4; --level) {
    const double above = most / 16 * std::pow(2, std::abs(level) - 1);
    legend.push_back({level == 4    ? "slower than the mean"
                      : level == -4 ? "faster"
                      : level == 0  ? "about the mean"
                                    : "",
                      0,
                      level == 0  ? "±" + Time(most / 16)
                      : level > 0 ? "> " + Time(above)
                                  : "< " + Time(-above),
                      level == 0 ? "h0" : fmt::format("{}{}", level > 0 ? 'h' : 'l', std::abs(level))});
  }
  std::string label = "Own time of each rank and step against the mean over the GPUs of the step";
  if (several_ranks || several_steps)
    label += fmt::format("; of several {} in a cell the one farthest from the mean is shown",
                         several_ranks && several_steps ? "ranks and steps"
                         : several_ranks                ? "ranks"
                                                        : "steps");
  const std::string description = fmt::format(
      "{} by {} cells; farthest from the mean is rank {} in step {}, {}.", lines, places,
      Cell(table, worst, "rank"), Cell(table, worst, "step"), Signed(Number(table, worst, "excess_ns")));
  data plot;
  plot.set("label", label);
  plot.set("svg", HeatMap("rank-heat", label, description, columns, rows));
  plot.set("legend", LegendData(legend));
  return plot;
}

struct Pair {
  std::vector<Line> lines;  // the slowest, then the fastest
  double least = 0, most = 0;
  bool empty() const {
    return std::ranges::all_of(lines, [](const Line& line) { return line.points.size() < 2; });
  }
};

Pair LinesOf(const ReportTable& table, const char* column) {
  Pair pair;
  Value rank, device;
  const size_t rows = table.rows.rows.size();
  for (size_t row = 0; row < rows; ++row) {
    if (row == 0 || CellOf(table, row, "rank") != rank || CellOf(table, row, "device") != device) {
      rank = CellOf(table, row, "rank");
      device = CellOf(table, row, "device");
      const bool slowest = pair.lines.empty();
      pair.lines.push_back(
          {fmt::format("Rank {}, the {}", Cell(table, row, "rank"), slowest ? "slowest" : "fastest"),
           "",
           slowest ? "c-slow" : "c-fast",
           {}});
    }
    const auto value = AsNumber(CellOf(table, row, column));
    if (!value) continue;
    pair.lines.back().points.emplace_back(Number(table, row, "position"), *value);
    pair.least = std::min(pair.least, *value);
    pair.most = std::max(pair.most, *value);
  }
  return pair;
}

// Both curves over the kernels of the step.
data CurvePlot(const std::string& id, const std::string& title, Pair pair, const std::vector<Mark>& marks,
               double last_position) {
  std::vector<Segment> legend;
  for (Line& line : pair.lines) {
    const auto farthest = std::ranges::max_element(
        line.points, {}, [](const std::pair<double, double>& point) { return std::abs(point.second); });
    if (farthest != line.points.end())
      line.text = fmt::format("{} at kernel {:.0f}", Time(farthest->second), farthest->first);
    legend.push_back({line.label, 0, line.text, line.color});
  }
  data plot;
  plot.set("label", title);
  plot.set("svg",
           LineChart(id, title, pair.lines, marks,
                     {Time(pair.most), Time(pair.least), "Kernel 0", fmt::format("{:.0f}", last_position)}));
  plot.set("legend", LegendData(legend));
  return plot;
}

}  // namespace

std::vector<std::string> RankSentences(const ReportModel& model) {
  std::vector<std::string> sentences;
  const ReportTable* jitter = FindTable(model, "jitter");
  const size_t rows = jitter == nullptr ? 0 : jitter->rows.rows.size();
  for (size_t row = 0; row < std::min(rows, kMaxCohorts); ++row)
    sentences.push_back(SentenceOf(*jitter, row));
  if (rows > kMaxCohorts)
    sentences.push_back(fmt::format("{} smaller groups of GPUs that run the same kernels are not told here.",
                                    jitter->total_rows - kMaxCohorts));
  const ReportTable *ranks = FindTable(model, "ranks"), *left_out = FindTable(model, "ranks_not_compared");
  if (ranks != nullptr && left_out != nullptr)
    if (const std::string text = NotComparedText(*left_out, *ranks); !text.empty()) sentences.push_back(text);
  return sentences;
}

data RankPlots(const ReportModel& model) {
  data plots{data::type::list};
  if (const ReportTable* steps = FindTable(model, "rank_steps"); steps && !steps->rows.rows.empty())
    plots << HeatPlot(*steps);
  const ReportTable* table = FindTable(model, "divergence");
  const ReportTable* jitter = FindTable(model, "jitter");
  if (table == nullptr || table->rows.rows.empty() || jitter == nullptr || jitter->rows.rows.empty())
    return plots;
  const double last = Number(*jitter, 0, "kernels_per_step") - 1;
  std::vector<Mark> marks;
  if (const auto position = AsNumber(CellOf(*jitter, 0, "first_position"))) {
    std::string kernel;
    for (size_t row = 0; row < table->rows.rows.size() && kernel.empty(); ++row)
      if (CellOf(*table, row, "position") == CellOf(*jitter, 0, "first_position"))
        kernel = ", " + Ellipsize(Visible(Cell(*table, row, "kernel", Unit::kText)), 60);
    marks.push_back({*position, 0, fmt::format("diverges from kernel {:.0f}{}", *position, kernel)});
  }
  const std::string step = Cell(*jitter, 0, "worst_step");
  if (Pair lines = LinesOf(*table, "end_excess_ns"); !lines.empty())
    plots << CurvePlot(
        "divergence",
        fmt::format("Time to the end of each kernel of step {}, minus the mean over the GPUs", step),
        std::move(lines), marks, last);
  if (Pair lines = LinesOf(*table, "delay_ns"); !lines.empty())
    plots << CurvePlot(
        "launch-delay",
        fmt::format("From launch to start of each kernel of step {}; near 0 the host does not keep up", step),
        std::move(lines), marks, last);
  return plots;
}

}  // namespace dladvisor
