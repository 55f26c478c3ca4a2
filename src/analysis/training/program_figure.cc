// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/program_figure.h"

#include <fmt/format.h>

#include "engine/base/text.h"
#include "engine/base/value.h"
#include "src/analysis/family/family.h"

namespace dladvisor {
namespace {

constexpr size_t kMostInWords = 4;

std::string InUnit(const ProgramFigure& figure, double value) {
  return figure.unit.empty() ? FormatValue(value, Unit::kNanoseconds) : ThreeDigits(value);
}

// Totals of tables that have nothing in common.
bool IsOfSeveralTables(const ProgramFigure& figure) {
  constexpr double kSpread = 5;
  return figure.count > 1 && (figure.name == "Total" || figure.name == "total") &&
         figure.most > kSpread * figure.least;
}

}  // namespace

const RelationOf<ProgramFigureRow>& ProgramFigureRelation() {
  static const auto relation =
      RelationOf<ProgramFigureRow>(
          "program_figure",
          "Times and rates that the output of a program names: rates first, then the times "
          "of the greatest sum. Some may be parts of others.")
          .Key("profile", &ProgramFigureRow::profile, kProfileNumber, "Number of the file.")
          .Key("figure", &ProgramFigureRow::figure, Unit::kNone, "Its number, from 0.")
          .Column("name", &ProgramFigureRow::name, Unit::kText, "As it is printed.")
          .Column("unit", &ProgramFigureRow::unit, Unit::kText, "Of a rate, as tokens/s; unknown of a time.")
          .Column("count", &ProgramFigureRow::count, Unit::kCount, "How often it is printed.")
          .Column("mean_ns", &ProgramFigureRow::mean_ns, Unit::kNanoseconds, "Of times their mean.")
          .Column("least_ns", &ProgramFigureRow::least_ns, Unit::kNanoseconds, "The shortest.")
          .Column("most_ns", &ProgramFigureRow::most_ns, Unit::kNanoseconds, "The longest.")
          .Column("mean_rate", &ProgramFigureRow::mean_rate, Unit::kNone, "Of rates their mean.")
          .Column("least_rate", &ProgramFigureRow::least_rate, Unit::kNone, "The lowest.")
          .Column("most_rate", &ProgramFigureRow::most_rate, Unit::kNone, "The highest.");
  return relation;
}

std::vector<ProgramFigureRow> ComputeProgramFigures(const Context& context) {
  std::vector<ProgramFigureRow> rows;
  for (const ProgramFigure& figure : context.trace.program_output.figures) {
    ProgramFigureRow& row = rows.emplace_back();
    row.figure = static_cast<int64_t>(rows.size()) - 1;
    row.name = figure.name;
    row.count = figure.count;
    const double mean = figure.sum / static_cast<double>(figure.count);
    if (figure.unit.empty()) {
      row.mean_ns = mean;
      row.least_ns = figure.least;
      row.most_ns = figure.most;
    } else {
      row.unit = figure.unit;
      row.mean_rate = mean;
      row.least_rate = figure.least;
      row.most_rate = figure.most;
    }
  }
  return rows;
}

std::string FiguresText(const ProgramOutput& output) {
  std::string text;
  for (size_t i = 0, shown = 0; i < output.figures.size() && shown < kMostInWords; ++i) {
    const ProgramFigure& figure = output.figures[i];
    if (IsOfSeveralTables(figure) && output.figures.size() > 1) continue;
    ++shown;
    const std::string least = InUnit(figure, figure.least), most = InUnit(figure, figure.most);
    text += fmt::format("{}{} {}{}{}{}", text.empty() ? "" : ", ", figure.name, least,
                        least == most ? std::string() : " to " + most,
                        figure.unit.empty() ? std::string() : " " + figure.unit,
                        figure.count > 1 ? fmt::format(" ({} times)", figure.count) : std::string());
  }
  return text;
}

const Family& ProgramFigureFamily() {
  static const Family family = FamilyOf<std::vector<ProgramFigureRow>>(ProgramFigureRelation());
  return family;
}

}  // namespace dladvisor
