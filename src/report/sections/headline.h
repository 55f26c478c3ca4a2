// SPDX-License-Identifier: Apache-2.0
// What the report says first.
#pragma once

#include <string>

#include "src/report/model/report_model.h"

namespace dladvisor {

struct HeadlineText {
  std::string loss;    // "X ms of Y ms per step are lost; "
  std::string action;  // "first, do Z, which saves a – b ms per step (11 – 36 % of the loss)."; or ""
};
HeadlineText Headline(const ReportModel& model);

}  // namespace dladvisor
