// SPDX-License-Identifier: Apache-2.0
// The report: one model made from relations and advice, and its renderers. It sees nothing of traces.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "engine/model/advice.h"
#include "engine/store/database.h"
#include "src/report/model/queries.h"
#include "src/report/model/report_model.h"

namespace dladvisor {

// Of more profiles or ranks than this tables may hold some alone, and then say which.
inline constexpr size_t kMostWithoutScope = 16;

enum class ReportFormat { kHtml, kMarkdown, kJson, kText };

// Rows of a table that a report of this format shows.
size_t RowsShown(ReportFormat format);
// The rows that a report has of a table.
ReportTable ReadTable(const Database& db, const TableQuery& query, size_t shown_rows = kMaxReportRows);
// The names of what a report reads tables of. Relations that are computed when they are first read may be
// computed before, side by side.
std::set<std::string> RelationsOfReport(const Database& db);
ReportModel BuildReport(const Database& db, const Advice& advice, const ReportOptions& options);
std::string RenderReport(const ReportModel& model, ReportFormat format);

}  // namespace dladvisor
