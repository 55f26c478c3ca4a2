// SPDX-License-Identifier: Apache-2.0
// Findings as people read them: the same finding of several ranks or GPUs is one entry, "each of GPUs 0–7 is
// idle 70.1 – 74.9 % of the analysed time".
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/report/model/report_model.h"

namespace dladvisor {

struct FindingGroup {
  std::vector<size_t> findings;  // indices into Advice::findings, at least one
  size_t depth = 0;              // 0: a root; below it what it explains
  RenderedMessage problem;
  std::vector<std::string> recommendation;
  std::string subject;  // what the problem does not say of it: "ranks 0–3, GPU 1", or ""
  std::string saving;   // "up to 4.50 ms per step", of the one that saves most; or ""
  std::string per_day;  // of the same in money and energy (day_saving.h); or ""
};

// Every fired finding in one group, in order of display: a root, what it causes, what those cause. Findings
// are of one group where they are of one rule, under the same one, and differ only by rank, device,
// profile and figures.
std::vector<FindingGroup> GroupFindings(const ReportModel& model);

}  // namespace dladvisor
