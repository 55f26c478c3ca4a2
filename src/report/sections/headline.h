// SPDX-License-Identifier: Apache-2.0
// What the report says first.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "src/report/model/report_model.h"

namespace dladvisor {

// "X ms of Y ms per step are lost; do Z first; it saves a-b ms."
std::string Headline(const ReportModel& model);

// The finding whose recommendation the headline gives; nothing where there is none to give.
std::optional<size_t> DoFirst(const ReportModel& model);

}  // namespace dladvisor
