// SPDX-License-Identifier: Apache-2.0
// The period of a sequence: training repeats its kernels step after step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace dladvisor {

struct SequencePeriod {
  size_t period = 0;  // items per repetition
  size_t first = 0;   // index of the first item of the first whole repetition
  size_t count = 0;   // whole repetitions, one after another from `first`
};

// The least that a repetition must be.
struct PeriodCriteria {
  size_t items = 8, names = 3, repeats = 3;
};

// See step_detection.h for the criteria. Takes n log n time.
std::optional<SequencePeriod> FindPeriod(std::span<const uint32_t> sequence,
                                         const PeriodCriteria& least = {});

// Rounds that differ in the order of their items alone, as sweeps in alternating directions do, are two:
// where some half of the period has the same items as the rest, and half of them at the same places, that
// half is the period. Else what was found.
SequencePeriod WithoutAlternation(std::span<const uint32_t> sequence, const SequencePeriod& found);

}  // namespace dladvisor
