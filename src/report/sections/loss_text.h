// SPDX-License-Identifier: Apache-2.0
// How much time the headline says is lost, to what, and what part of it a saving is.
#pragma once

#include <optional>
#include <string>

#include "src/report/model/report_model.h"

namespace dladvisor {

// A GPU that computes nearly all the time has no loss to speak of: what it computes is what to look at.
inline constexpr double kSmallLoss = 0.05;

// "86.9 ms of 235 ms per step are lost (37 %), 61.5 ms of it to launching kernels". What is lost is all but
// computing: where `claim`, of the finding to begin with, saves more of that, it says so.
std::string LossText(const ReportModel& model, const std::optional<SavingClaim>& claim);

// Whether most of what is lost is idle for a reason that the profile does not show, and another would.
bool LossAwaitsAnotherCapture(const ReportModel& model);

// "The GPU computes for 49.0 µs of 3.07 ms, which tells little of a program at work": of a single cold call,
// of which no share says anything. `finding` is what says that it is one.
std::string ColdCallText(const ReportModel& model, const Finding& finding);

// Whether a claim is on computing, alone or with all else.
bool OfComputing(const SavingClaim& claim);

// " (11 – 36 % of the loss)": of the step, or of what is analysed, where computing is saved.
std::string ShareText(const ReportModel& model, const Finding& finding);

}  // namespace dladvisor
