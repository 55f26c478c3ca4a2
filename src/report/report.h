// SPDX-License-Identifier: Apache-2.0
// The report: one model made from relations and advice, and its renderers. It sees nothing of traces.
#pragma once

#include <string>

#include "engine/model/advice.h"
#include "engine/store/database.h"
#include "src/report/model/report_model.h"

namespace dladvisor {

enum class ReportFormat { kHtml, kMarkdown, kJson, kText };

ReportModel BuildReport(const Database& db, const Advice& advice, const ReportOptions& options);
std::string RenderReport(const ReportModel& model, ReportFormat format);

}  // namespace dladvisor
