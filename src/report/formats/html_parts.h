// SPDX-License-Identifier: Apache-2.0
// Pieces of the HTML report as data for the templates.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/render/svg.h"
#include "src/render/template.h"
#include "src/report/model/report_model.h"

namespace dladvisor {

// Rows of a table, as many as DLProf's viewer shows at most at once; where there are more than kMaxOpenRows,
// and no script to page through them, they scroll.
inline constexpr size_t kMaxHtmlRows = 100, kMaxOpenRows = 50;
inline constexpr size_t kMaxRecords = 16;

// For {{> table_part}}. `columns` are the ones to show; `label` is what screen readers call the table.
data TableData(const ReportTable& table, const std::vector<size_t>& columns);
// The first kMaxRecords rows as label and value, for the wide tables of a row or two.
data RecordsData(const ReportTable& table);
// A panel of the dashboard with a ring: {{> donut_part}}.
data DonutCard(const std::string& id, const std::string& title, const std::string& tip,
               const std::vector<Segment>& segments, const std::string& center, const std::string& unknown);
data LegendData(const std::vector<Segment>& segments, bool explains_buckets = true);
data TextList(const std::vector<std::string>& texts);
// {label, value, unknown} for a list of figures.
data FigureList(const ReportModel& model, std::span<const std::string_view> ids);
// One row for each rule: {{> rules_part}}.
data RuleList(const Advice& advice);

}  // namespace dladvisor
