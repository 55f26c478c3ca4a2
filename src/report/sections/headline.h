// SPDX-License-Identifier: Apache-2.0
// What the report says first.
#pragma once

#include <string>

#include "src/report/model/report_model.h"

namespace dladvisor {

// "X ms of Y ms per step are lost; do Z first; it saves a-b ms."
std::string Headline(const ReportModel& model);

}  // namespace dladvisor
