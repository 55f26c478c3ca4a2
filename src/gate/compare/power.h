// SPDX-License-Identifier: Apache-2.0
// What a gate of these runs would have called a regression, and what gates of as many new runs find.
#pragma once

#include <optional>
#include <span>

#include "src/gate/compare/comparison.h"

namespace dladvisor {

// The share of gates that find a change that is called detectable.
inline constexpr double kPower = 0.8;

// See RunComparison::fails_from and ::detectable; here without the zone that counts as equal, and with it.
// `before` and `after` are what the sides aggregate to.
std::optional<double> LimitOfNoise(std::span<const RunMean> baseline, std::span<const RunMean> candidate,
                                   double before, double after, const RunNoise& between,
                                   const ComparisonOptions& options);
std::optional<double> DetectableChange(std::span<const RunMean> baseline, std::span<const RunMean> candidate,
                                       double before, double after, const RunNoise& between,
                                       const ComparisonOptions& options);

// Whether a single step makes so much of the noise that new runs may have much more or less of it, as spikes
// do, which have no variance that few runs could show. Nothing is called detectable then.
bool HangsOnOneStep(std::span<const RunMean> baseline, std::span<const RunMean> candidate,
                    const DifferenceNoise& noise);

}  // namespace dladvisor
