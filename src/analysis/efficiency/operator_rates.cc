// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/efficiency/operator_rates.h"

#include <algorithm>

#include "src/analysis/work/count.h"

namespace dladvisor {
namespace {

constexpr std::string_view kUnknownGpu = "the peaks of this GPU are not known";
constexpr std::string_view kUnknownPrecision = "the precision that the kernel computes in is not known";
constexpr std::string_view kNoPeak = "the GPU has no peak of this precision";
constexpr std::string_view kAbovePeak =
    "faster than the peak: shapes, types or the GPU are not what the profile says";
constexpr std::string_view kCached =
    "bytes pass faster than through the memory: they lie in a cache, or are read as repeated dimensions";
constexpr std::string_view kWinograd = "a Winograd convolution does fewer operations than are counted";

RateLimit ComputeLimit(const GpuPeaks& gpu, Precision precision) {
  for (const ComputeUnit unit : {ComputeUnit::kMatrix, ComputeUnit::kVector})
    if (const auto peak = gpu.Peak(precision, unit)) return {peak, gpu.Achievable(precision, unit)};
  return {};
}

}  // namespace

GpuLimits LimitsOf(const GpuPeaks& peaks) {
  GpuLimits limits;
  for (size_t i = 0; i < kPrecisions; ++i) limits.compute[i] = ComputeLimit(peaks, static_cast<Precision>(i));
  limits.memory = {peaks.memory_bytes_per_s, peaks.achievable_memory_bytes_per_s};
  limits.floor_ns = static_cast<double>(peaks.launch_floor_ns.value_or(0));
  limits.peaks_known = peaks.is_known();
  return limits;
}

void OperatorTotals::Add(const CallGroup& group, const DistinctOperators& operators, const GpuLimits& gpu) {
  const auto& of = operators[group.operation];
  const WorkClass& work = operators.ClassOf(of);
  const auto number = [&](WorkNumber which) { return operators.NumberOf(of, which); };
  calls += group.calls;
  recomputed += group.recomputed;
  kernels += group.kernels;
  gpu_ns += group.gpu_ns;
  if (!work.kind) {
    unknown = work.unknown;
    return;
  }
  last = &of;
  memory = &gpu.memory;
  const auto times = static_cast<double>(group.calls);
  double in_compute = 0, in_memory = 0, in_compute_at_peak = 0, in_memory_at_peak = 0;  // ns of one call
  if (work.Has(kFlops)) {
    has_flops = true;
    precision_known = group.precision != Precision::kUnknown;
    compute = &gpu.compute[static_cast<size_t>(group.precision)];
    const auto of_call = static_cast<double>(*number(kFlops));
    flops += times * of_call;
    if (compute->peak) {
      in_compute = of_call / compute->best() * kNsPerSecond;
      in_compute_at_peak = of_call / *compute->peak * kNsPerSecond;
      peak_ns += times * in_compute_at_peak;
      model_peak_ns += static_cast<double>(group.calls - group.recomputed) *
                       static_cast<double>(*number(kModelFlops)) / *compute->peak * kNsPerSecond;
    }
  }
  winograd |= group.winograd;
  std::optional<int64_t> moved = number(kBytes);
  if (!moved && group.element_bytes > 0)
    moved = (Count(*number(kUntypedElements)) * group.element_bytes).value();
  if (moved) {
    has_bytes = true;
    const auto of_call = static_cast<double>(*moved);
    bytes += times * of_call;
    if (memory->peak) {
      in_memory = of_call / memory->best() * kNsPerSecond;
      in_memory_at_peak = of_call / *memory->peak * kNsPerSecond;
    }
  } else {
    bytes_unknown = work.bytes_unknown;
  }
  compute_ns += times * in_compute;
  memory_ns += times * in_memory;
  floor_ns += times * gpu.floor_ns;
  attainable_ns += times * std::max({in_compute, in_memory, gpu.floor_ns});
  at_peak_ns += times * std::max({in_compute_at_peak, in_memory_at_peak, gpu.floor_ns});
}

void OperatorTotals::Add(const OperatorTotals& other) {
  calls += other.calls;
  recomputed += other.recomputed;
  kernels += other.kernels;
  gpu_ns += other.gpu_ns;
  if (other.last != nullptr) {
    last = other.last;
    memory = other.memory;
  }
  if (other.has_flops) {
    compute = other.compute;
    precision_known = other.precision_known;
  }
  flops += other.flops;
  bytes += other.bytes;
  compute_ns += other.compute_ns;
  memory_ns += other.memory_ns;
  floor_ns += other.floor_ns;
  attainable_ns += other.attainable_ns;
  at_peak_ns += other.at_peak_ns;
  model_peak_ns += other.model_peak_ns;
  peak_ns += other.peak_ns;
  has_flops |= other.has_flops;
  has_bytes |= other.has_bytes;
  winograd |= other.winograd;
  if (!other.unknown.empty()) unknown = other.unknown;
  if (!other.bytes_unknown.empty()) bytes_unknown = other.bytes_unknown;
}

OperatorRates RatesOf(const OperatorTotals& totals, const GpuLimits& gpu) {
  OperatorRates rates;
  const auto ns = static_cast<double>(totals.gpu_ns);
  const bool bytes_known = totals.bytes_known();
  if (totals.has_flops) rates.flops_per_s = totals.flops / ns * kNsPerSecond;
  if (bytes_known) rates.bytes_per_s = totals.bytes / ns * kNsPerSecond;
  if (totals.has_flops && !totals.precision_known)
    rates.unknown = kUnknownPrecision;
  else if (totals.has_flops && !totals.compute->peak)
    rates.unknown = gpu.peaks_known ? kNoPeak : kUnknownGpu;
  else if (!bytes_known)
    rates.unknown = totals.bytes_unknown;
  else if (!totals.memory->peak)
    rates.unknown = kUnknownGpu;
  if (totals.has_flops && totals.compute->peak) {
    const double share = *rates.flops_per_s / *totals.compute->peak;
    if (share <= 1) {
      rates.compute_share = share;
    } else {
      rates.above_peak = !totals.winograd;
      rates.unknown = rates.above_peak ? kAbovePeak : kWinograd;
      rates.flops_per_s.reset();
      if (rates.above_peak) rates.bytes_per_s.reset();
    }
    if (rates.above_peak) return rates;
  }
  if (bytes_known && totals.memory->peak) {
    const double share = *rates.bytes_per_s / *totals.memory->peak;
    if (share > 1) {
      rates.above_memory = true;
      rates.unknown = kCached;
      rates.bytes_per_s.reset();
      return rates;
    }
    rates.memory_share = share;
  }
  if (!rates.unknown.empty()) return rates;
  // Who is faster than what was measured as achievable is compared with the peak.
  rates.attainable_ns = totals.attainable_ns > ns ? std::min(totals.at_peak_ns, ns) : totals.attainable_ns;
  return rates;
}

}  // namespace dladvisor
