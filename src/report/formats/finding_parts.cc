// SPDX-License-Identifier: Apache-2.0
#include "src/report/formats/finding_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <utility>

#include "engine/base/text.h"
#include "engine/inference/explanation.h"
#include "src/render/escape.h"
#include "src/report/formats/html_parts.h"
#include "src/report/sections/condition_words.h"
#include "src/report/sections/finding_words.h"

namespace dladvisor {
namespace {

// Of a finding of many GPUs: what made it of the first ones.
constexpr size_t kMaxMembers = 16;
constexpr size_t kMostLetters = 200;  // of a value

std::string Shown(const std::string& text) { return Ellipsize(Visible(text), kMostLetters); }

data Texts(const std::vector<std::string>& texts) {
  data items{data::type::list};
  for (const std::string& text : texts) items << data{"html", ProseHtml(text)};
  return items;
}

bool IsWebAddress(const std::string& url) {
  return url.starts_with("https://") || url.starts_with("http://");
}

data References(const std::vector<std::string>& references) {
  data items{data::type::list};
  for (const std::string& reference : references) {
    data item;
    item.set("text", reference);
    item.set("href", IsWebAddress(reference) ? data{reference} : data{false});
    items << item;
  }
  return items;
}

// Escaped line by line: a line's end is one.
std::string CodeHtml(const std::string& code) {
  std::string html, line;
  for (std::istringstream lines(code); std::getline(lines, line);)
    html += (html.empty() ? "" : "\n") + EscapeHtml(line);
  return html;
}

data LabelledFacts(const Finding& finding) {
  data items{data::type::list};
  for (const auto& [label, value] : KeyFacts(finding)) {
    data item;
    item.set("label", label);
    item.set("value", Shown(value));
    items << item;
  }
  return items;
}

data Conditions(const Finding& finding) {
  data items{data::type::list};
  for (const ConditionTrace& condition : finding.why)
    for (const ConditionWords& words : WordsOf(condition)) {
      data item;
      item.set("what", words.what);
      item.set("here", Shown(words.here));
      item.set("wanted", Shown(words.wanted));
      item.set("apart", words.apart);
      item.set("limit", TextOrFalse(words.limit));
      item.set("mark", !condition.holds ? "?" : *condition.holds ? "✓" : "✗");
      item.set("word", TruthText(condition.holds));
      items << item;
    }
  return items;
}

std::vector<size_t> AllColumns(const ResultSet& rows) {
  std::vector<size_t> columns(rows.columns.size());
  for (size_t i = 0; i < columns.size(); ++i) columns[i] = i;
  return columns;
}

// What made one finding of a group: its conditions and their values, its evidence.
data Reasons(const Finding& finding, size_t index, const std::string& heading, bool first) {
  data item;
  item.set("anchor", first ? data{false} : data{FindingAnchor(finding)});
  item.set("heading", TextOrFalse(heading));
  item.set("conditions", Conditions(finding));
  item.set("has_conditions", !finding.why.empty());
  data evidence{data::type::list};
  if (!finding.evidence.rows.empty()) {
    const ReportTable table{
        fmt::format("evidence-{}", index), "Evidence", "", finding.evidence_sql, finding.evidence,
        finding.evidence.rows.size()};
    evidence << TableData(table, AllColumns(finding.evidence));
  }
  item.set("evidence", evidence);
  item.set("error", TextOrFalse(OneLine(finding.error)));
  return item;
}

std::string SubjectText(const Finding& finding) {
  std::string text;
  for (const NamedValue& key : finding.subject)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key.name, FormatValue(key.value, key.unit));
  return text;
}

// The saving as parts of a bar as long as a step, or as what is analysed.
void SetSavingBar(const ReportModel& model, const FindingGroup& group, data& item) {
  item.set("bar", false);
  const bool has_steps = FigureNumber(model, "step_time").has_value();
  const auto whole = FigureNumber(model, has_steps ? "step_time" : "window");
  if (group.saving.empty() || !whole || !(*whole > 0)) return;
  double low = 0, high = 0;
  for (const size_t index : group.findings) {
    const std::optional<SavingClaim>& saves = model.advice->findings[index].saves;
    if (!saves || !(saves->high_ns.value_or(0) > high)) continue;
    high = *saves->high_ns;
    low = saves->low_ns.value_or(0);
  }
  if (!(high > 0)) return;
  const double sure = std::clamp(low / *whole, 0.0, 1.0), most = std::clamp(high / *whole, 0.0, 1.0);
  item.set("bar", true);
  item.set("sure", fmt::format("{:.2f}", sure * 100));
  item.set("maybe", fmt::format("{:.2f}", (most - sure) * 100));
  const std::string least = fmt::format("{:.0f}", sure * 100), share = fmt::format("{:.0f}", most * 100);
  item.set("of_whole",
           ProseHtml(fmt::format("{}{} % of {} {}",
                                 most < 0.005     ? "less than "
                                 : !(low > 0)     ? "up to "
                                 : least == share ? ""
                                                  : least + " – ",
                                 most < 0.005 ? "1" : share, has_steps ? "a step of" : "the analysed",
                                 FormatValue(*whole, Unit::kNanoseconds))));
}

data FindingData(const ReportModel& model, const FindingGroup& group, size_t number) {
  const Advice& advice = *model.advice;
  const Finding& finding = advice.findings[group.findings[0]];
  data item;
  item.set("id", FindingAnchor(finding));
  item.set("number", fmt::format("{}", number));
  item.set("rule", finding.rule);
  item.set("title", OneLine(finding.title));
  item.set("severity", std::string(SeverityName(finding.severity)));
  item.set("confidence", std::string(ConfidenceName(finding.confidence)));
  item.set("subject", TextOrFalse(group.subject));
  item.set("problem", ProseHtml(OneLine(group.problem.FirstSentence())));
  const std::string rest = OneLine(group.problem.AfterFirstSentence());
  item.set("more", rest.empty() ? data{false} : data{ProseHtml(rest)});
  item.set("saving", group.saving.empty() ? data{false} : data{ProseHtml(group.saving)});
  item.set("per_day", group.per_day.empty() ? data{false} : data{ProseHtml(group.per_day)});
  SetSavingBar(model, group, item);
  const bool alone = group.findings.size() == 1;
  const data facts = alone ? LabelledFacts(finding) : data{data::type::list};
  item.set("facts", facts);
  item.set("has_facts", !facts.is_empty_list());
  item.set("code", finding.code.empty() ? data{false} : data{CodeHtml(finding.code)});
  item.set("bucket", TextOrFalse(finding.saves ? finding.saves->bucket : ""));
  item.set("depth", fmt::format("{}", std::min<size_t>(group.depth, 3)));
  item.set("nested", group.depth > 0);
  item.set("recommendations", Texts(group.recommendation));
  data members{data::type::list};
  for (const size_t member : std::span(group.findings).first(std::min(group.findings.size(), kMaxMembers)))
    members << Reasons(advice.findings[member], member, alone ? "" : SubjectText(advice.findings[member]),
                       member == group.findings[0]);
  item.set("members", members);
  item.set("members_left",
           group.findings.size() > kMaxMembers
               ? data{WithThousands(static_cast<int64_t>(group.findings.size() - kMaxMembers))}
               : data{false});
  item.set("references", References(finding.references));
  item.set("has_references", !finding.references.empty());
  return item;
}

}  // namespace

data FindingList(const ReportModel& model, const std::vector<FindingGroup>& groups) {
  data items{data::type::list};
  for (size_t i = 0; i < groups.size(); ++i) items << FindingData(model, groups[i], i + 1);
  return items;
}

}  // namespace dladvisor
