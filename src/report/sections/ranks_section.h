// SPDX-License-Identifier: Apache-2.0
// What the report says of ranks that run the same work.
#pragma once

#include <string>
#include <vector>

#include "src/report/model/report_model.h"

namespace dladvisor {

// Rows of the table `ranks` that Markdown and text show.
inline constexpr size_t kTopRanks = 8;

// "+561 µs".
std::string SignedTime(double ns);

// Whether any row of the table `ranks` holds times.
bool HasTimesOfRanks(const ReportTable& ranks);

// Who is slowest in which step, by how much and by what: one for each of the largest cohorts; and which ranks
// are not compared. None where there are fewer than two ranks.
std::vector<std::string> RankSentences(const ReportModel& model);

}  // namespace dladvisor
