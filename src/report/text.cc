// The terminal report: about sixty lines, readable at 100 columns.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/report/escape.h"
#include "src/report/layout.h"

namespace dladvisor {
namespace {

constexpr size_t kWidth = 100;
constexpr size_t kMaxFindings = 8;

class Writer {
 public:
  explicit Writer(bool color) : color_(color) {}

  // `style` is an SGR parameter, e.g. "1" for bold.
  std::string Styled(const std::string& text, const char* style) const {
    return color_ ? fmt::format("\x1b[{}m{}\x1b[0m", style, text) : text;
  }
  void Line(const std::string& line = "") { text_ += line + "\n"; }
  void Heading(const std::string& title) {
    Line();
    Line(Styled(title, "1"));
  }
  // Words of `text` filled into lines, the first after `lead`, the others under it.
  void Wrapped(const std::string& lead, const std::string& text, const char* style = nullptr) {
    const size_t indent = Columns(lead);
    std::string line;
    std::string prefix = lead;
    const auto flush = [&] {
      Line(prefix + (style != nullptr ? Styled(line, style) : line));
      prefix.assign(indent, ' ');
      line.clear();
    };
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
      if (!line.empty() && indent + Columns(line) + 1 + Columns(word) > kWidth) flush();
      if (!line.empty()) line += ' ';
      line += Ellipsize(word, kWidth - indent);
    }
    flush();
  }
  std::string Take() { return std::move(text_); }

 private:
  bool color_;
  std::string text_;
};

std::string Prose(std::string_view text) { return Visible(OneLine(text)); }

// fmt pads by code points, which is what Columns counts.
std::string Right(const std::string& text, size_t width) {
  const size_t columns = Columns(text);
  return std::string(columns < width ? width - columns : 0, ' ') + text;
}
std::string Left(const std::string& text, size_t width) {
  const size_t columns = Columns(text);
  return text + std::string(columns < width ? width - columns : 0, ' ');
}

void WriteFigures(Writer& out, const ReportModel& model, std::span<const std::string_view> ids) {
  for (const std::string_view id : ids) {
    const Figure* figure = FindFigure(model, id);
    if (figure == nullptr) continue;
    std::string value = Visible(FormatValue(figure->value, figure->unit));
    if (IsNull(figure->value)) value += " (" + Visible(figure->unknown_because) + ")";
    out.Line("  " + Left(figure->label, 30) + Ellipsize(value, kWidth - 32));
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

void WriteFindings(Writer& out, const ReportModel& model) {
  const Advice& advice = *model.advice;
  const auto tree = FindingTree(advice);
  out.Heading(fmt::format("Recommendations ({})", tree.size()));
  if (tree.empty()) out.Line("  No rule fired.");
  size_t number = 0;
  for (const auto& [index, depth] : tree) {
    if (number == kMaxFindings) {
      out.Line(fmt::format("  … and {} more: see the HTML report.", tree.size() - number));
      break;
    }
    ++number;
    const Finding& finding = advice.findings[index];
    const std::string indent(2 + 2 * std::min<size_t>(depth, 3), ' ');
    const std::string mark = depth > 0 ? "↳ " : "• ";
    const std::string subject = SubjectText(finding);
    out.Wrapped(indent + mark,
                Prose(finding.problem) + (subject.empty() ? "" : " (" + Visible(subject) + ")"),
                StyleOfSeverity(finding.severity));
    if (!finding.recommendation.empty()) out.Wrapped(indent + "  → ", Prose(finding.recommendation[0]));
    const std::string saving = SavingText(model, finding);
    out.Line(fmt::format("{}  {}{}  [{}]", indent,
                         saving.empty() ? "" : out.Styled("saves " + saving, "32") + "  ",
                         SeverityName(finding.severity), Visible(finding.rule)));
  }
  if (const std::string total = TotalSavingText(model); !total.empty() && tree.size() > 1)
    out.Wrapped("  ", total, "32");
}

void WriteBreakdown(Writer& out, const ReportModel& model) {
  const ReportTable* usage = FindTable(model, "resource_usage");
  if (usage == nullptr || usage->rows.rows.empty()) return;
  out.Heading("Resource Usage Breakdown");
  for (size_t row = 0; row < usage->rows.rows.size(); ++row) {
    const Value share = CellOf(*usage, row, "share");
    const double part = std::clamp(AsNumber(share).value_or(0), 0.0, 1.0);
    std::string bar;
    for (int i = 0; i < static_cast<int>(part * 40 + 0.5); ++i) bar += "█";
    out.Line(fmt::format(
        "  {}{}  {}  {}", Left(FormatValue(CellOf(*usage, row, "category"), Unit::kText), 24),
        Right(FormatValue(share, Unit::kRatio), 8),
        Right(FormatValue(CellOf(*usage, row, "ns"), Unit::kNanoseconds), 9), out.Styled(bar, "36")));
  }
}

void WriteTopOps(Writer& out, const ReportModel& model) {
  const ReportTable* ops = FindTable(model, "top_ops");
  if (ops == nullptr || ops->rows.rows.empty()) return;
  out.Heading("Top 10 GPU Ops");
  out.Line(out.Styled("     GPU Time (ns)      Calls  TC Eligible  Using TC  Op Name", "2"));
  for (size_t row = 0; row < ops->rows.rows.size(); ++row) {
    const auto cell = [&](const char* column) {
      return CellText(CellOf(*ops, row, column), StyleOf({column, Unit::kNone}));
    };
    out.Line(fmt::format("  {} {} {} {}  {}", Right(cell("gpu_ns"), 16), Right(cell("calls"), 10),
                         Right(cell("tensor_core_eligible"), 12), Right(cell("uses_tensor_cores"), 9),
                         Ellipsize(Visible(cell("op")), kWidth - 55)));
  }
}

}  // namespace

std::string RenderText(const ReportModel& model) {
  Writer out(model.options.color);
  const std::string generator = Visible(model.options.generator);
  out.Line(out.Styled(Ellipsize(Visible(model.options.title), kWidth - 2 - Columns(generator)), "1") + "  " +
           out.Styled(generator, "2"));
  if (!model.options.banner.empty()) out.Wrapped("! ", Visible(OneLine(model.options.banner)), "33");
  out.Line();
  out.Wrapped("", Visible(model.headline), "1");
  WriteFindings(out, model);
  out.Heading("Performance Summary");
  WriteFigures(out, model, PerformanceFigures());
  WriteBreakdown(out, model);
  WriteTopOps(out, model);
  out.Heading("System Configuration");
  WriteFigures(out, model, SystemFigures());
  out.Line();
  const std::vector<std::string> flags = CaptureFlags(model);
  out.Line(CoverageText(*model.advice) + ".");
  if (!flags.empty())
    out.Wrapped("To let more rules decide, profile again with: ",
                Visible(fmt::format("{}", fmt::join(flags, " "))));
  return out.Take();
}

}  // namespace dladvisor
