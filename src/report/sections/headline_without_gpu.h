// SPDX-License-Identifier: Apache-2.0
// What the report says first of a profile that holds no GPU work: why that is, and what to do about it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "src/report/sections/headline.h"

namespace dladvisor {

// The root finding on what feeds a program of which nothing of the GPU was recorded.
std::optional<size_t> FedByHost(const Advice& advice);

// By the finding to begin with, what it orders ("first, do Z"), and what is doubtful of the whole profile.
HeadlineText HeadlineWithoutGpu(const ReportModel& model, std::optional<size_t> first,
                                const std::string& order, const std::string& doubt);

}  // namespace dladvisor
