// Pieces of the HTML report as data for the templates. A Mustache section sees the names of all the sections
// around it, so every object sets every name that its part uses; absent texts are `false`, which is falsy.
#pragma once

#include <kainjow/mustache.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/report/finding_groups.h"
#include "src/report/layout.h"

namespace dladvisor {

using kainjow::mustache::data;

// Rows of a table; where there are more than kMaxOpenRows, and no script to page through them, they scroll.
inline constexpr size_t kMaxHtmlRows = 200, kMaxOpenRows = 50;
inline constexpr size_t kMaxRecords = 16;

// For {{> table_part}}. `columns` are the ones to show; `label` is what screen readers call the table.
data TableData(const ReportTable& table, const std::vector<size_t>& columns);
// The first kMaxRecords rows as label and value, for the wide tables of a row or two.
data RecordsData(const ReportTable& table);
// A panel of the dashboard with a ring: {{> donut_part}}.
data DonutCard(const std::string& id, const std::string& title, const std::string& tip,
               const std::vector<Segment>& segments, const std::string& center, const std::string& unknown);
data LegendData(const std::vector<Segment>& segments);
// The figure of the schedule, where there is a pipeline: a list for {{#plots}}.
data PipelinePlots(const ReportModel& model);
// The heat map of ranks and steps, and the curves of the slowest and the fastest GPU: the same.
data RankPlots(const ReportModel& model);
// {label, value, unknown} for a list of figures.
data FigureList(const ReportModel& model, std::span<const std::string_view> ids);
// Fired findings, roots first and each followed by what it explains: {{> finding_part}}.
data FindingList(const ReportModel& model, const std::vector<FindingGroup>& groups);
// One row for each rule: {{> rules_part}}.
data RuleList(const Advice& advice);
// Content of a file of templates/.
std::string Template(std::string_view path);
// A value that the template prints, or false.
data TextOrFalse(const std::string& text);

}  // namespace dladvisor
