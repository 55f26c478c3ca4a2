// SPDX-License-Identifier: Apache-2.0
// What the report says of all findings and of what they save; finding_groups.h has their texts.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "src/report/model/report_model.h"

namespace dladvisor {

// Every fired finding once, in order of display, with its depth: a root, what it causes, what those cause.
std::vector<std::pair<size_t, size_t>> FindingTree(const Advice& advice);
// "1.20 ms – 4.50 ms per step", "up to 4.50 ms per step", "up to 4.50 ms of start-up" where code is loaded
// once, or "" where no saving is claimed.
std::string SavingText(const ReportModel& model, const Finding& finding);
// Whether a replay of the profile finds most of what it saves behind time in which the GPU waits.
bool IsBehindLosses(const SavingClaim& saves);
// The same with what it saves alone, where others save most of that time: "up to 4.50 ms per step beside the
// others, up to 355 ms alone", "nothing beside the others, up to 355 ms alone". Of work that a replay
// of the profile finds behind time in which the GPU waits: "up to 1.00 ms now, up to 4.50 ms per step without
// idle time".
std::string SavingBesideOthersText(const ReportModel& model, const Finding& finding);
// What all recommendations save together, which no ledger bucket gives twice; "" where there is nothing to
// add.
std::string TotalSavingText(const ReportModel& model);
// "9 of 11 rules could look, 1 has nothing of its kind in the profile".
std::string CoverageText(const Advice& advice);

}  // namespace dladvisor
