// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/hardware/gpu_peak.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/analysis/family/family.h"
#include "src/hardware/table/built_in_hardware.h"

namespace dladvisor {

const RelationOf<GpuPeakRow>& GpuPeakRelation() {
  using Row = GpuPeakRow;
  static const auto relation =
      RelationOf<Row>("gpu_peak",
                      "What each GPU with work can do at most, by precision and unit, without sparsity: the "
                      "figures of its model. A GPU whose model is not known has no rows.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
          .Key("device", &Row::device, Unit::kNone, "CUDA device ordinal.")
          .Key("precision", &Row::precision, Unit::kText,
               "fp64, fp32, tf32, fp16, bf16, fp8, fp6, fp4 or int8; products accumulate in FP32 or INT32.")
          .Key("unit", &Row::unit, Unit::kText, "matrix (tensor cores, matrix cores) or vector.")
          .Column("flops_per_s", &Row::flops_per_s, Unit::kFlopsPerSecond,
                  "Dense peak; operations per second for int8.")
          .Column("achievable_flops_per_s", &Row::achievable_flops_per_s, Unit::kFlopsPerSecond,
                  "What large products were measured to reach; unknown where nobody published it.")
          .Column("memory_bytes_per_s", &Row::memory_bytes_per_s, Unit::kBytesPerSecond,
                  "Peak bandwidth of the device's memory.")
          .Column("achievable_memory_bytes_per_s", &Row::achievable_memory_bytes_per_s, Unit::kBytesPerSecond,
                  "What was measured of it; unknown where nobody published it.")
          .Column("link_bytes_per_s", &Row::link_bytes_per_s, Unit::kBytesPerSecond,
                  "To other GPUs in one direction, all NVLink or xGMI links together.")
          .Column("host_bytes_per_s", &Row::host_bytes_per_s, Unit::kBytesPerSecond,
                  "To the host in one direction.")
          .Column(
              "launch_floor_ns", &Row::launch_floor_ns, Unit::kNanoseconds,
              "Shortest kernel that ran there, which none beats however little it does; unknown where none "
              "was shorter than 5 µs.")
          .Column("multiprocessor_share", &Row::multiprocessor_share, Unit::kRatio,
                  "Share of the model's multiprocessors that it has: below 1 on MIG slices and partitions, "
                  "whose peaks are scaled by it.")
          .Column("model", &Row::model, Unit::kText, "Model.")
          .Column("known_by", &Row::known_by, Unit::kText,
                  "model: from the program's table; declared: from dladvisor.yaml.")
          .Column("source", &Row::source, Unit::kText, "Where the figures are from.");
  return relation;
}

namespace {

// What is shorter is the clock's doing, what is longer did something.
constexpr Ns kShortestKernel = 500, kLongestFloor = 5000;

std::optional<int64_t> LaunchFloor(const Kernels& kernels, const GpuWork& work) {
  constexpr auto kRange = static_cast<uint64_t>(kLongestFloor - kShortestKernel);
  uint64_t least = kRange + 1;  // above the shortest that counts: what is below it wraps around
  for (const uint32_t k : work.kernels)
    least = std::min(least, static_cast<uint64_t>(kernels.end[k] - kernels.start[k] - kShortestKernel));
  if (least > kRange) return std::nullopt;
  return kShortestKernel + static_cast<Ns>(least);
}

Rates Scaled(Rates rates, double by) {
  for (Rate& rate : rates) rate.value *= by;
  return rates;
}

// The model's bandwidth as far as the profile does not contradict it, or the recorded one.
std::optional<double> MemoryBandwidth(const GpuModel& model, const Device& device, bool is_whole) {
  const std::optional<double> stated =
      model.recorded_memory_bytes_per_s ? model.recorded_memory_bytes_per_s : model.memory_bytes_per_s;
  if (!device.memory_bandwidth) return is_whole ? model.memory_bytes_per_s : std::nullopt;
  const auto recorded = static_cast<double>(*device.memory_bandwidth);
  if (!stated) return recorded;
  if (recorded < *stated * (1 - kPeakTolerance)) return recorded;
  return is_whole && recorded <= *stated * (1 + kPeakTolerance) ? model.memory_bytes_per_s : std::nullopt;
}

}  // namespace

GpuPeaks PeaksOf(const Device& device, const Hardware* declared_hardware) {
  const GpuDescription gpu{device.name, device.sm_count, device.memory_bytes};
  const GpuModel* model = declared_hardware ? FindModel(*declared_hardware, gpu) : nullptr;
  GpuPeaks peaks;
  peaks.declared = model != nullptr;
  if (!model) model = FindModel(BuiltInHardware(), gpu);
  const auto unknown = [&device] {
    GpuPeaks recorded;
    if (device.memory_bandwidth) recorded.memory_bytes_per_s = static_cast<double>(*device.memory_bandwidth);
    return recorded;
  };
  if (!model) return unknown();
  if (device.sm_count && model->multiprocessors)
    peaks.multiprocessor_share =
        static_cast<double>(*device.sm_count) / static_cast<double>(*model->multiprocessors);
  if (peaks.multiprocessor_share > 1 + kPeakTolerance) return unknown();
  const bool has_all = peaks.multiprocessor_share > 1 - kPeakTolerance;
  const bool is_whole = has_all && HasMemoryOf(*model, gpu);
  peaks.model = model->model;
  peaks.source = model->source;
  peaks.peaks = Scaled(model->peaks, peaks.multiprocessor_share);
  peaks.achievable = Scaled(model->achievable, peaks.multiprocessor_share);
  peaks.memory_bytes_per_s = MemoryBandwidth(*model, device, is_whole);
  if (is_whole && peaks.memory_bytes_per_s == model->memory_bytes_per_s)
    peaks.achievable_memory_bytes_per_s = model->achievable_memory_bytes_per_s;
  if (has_all) {  // slices have no peers, and share the way to the host
    peaks.link_bytes_per_s = model->link_bytes_per_s;
    peaks.host_bytes_per_s = model->host_bytes_per_s;
  }
  return peaks;
}

std::vector<GpuPeaks> ComputeGpuPeaks(const Context& context) {
  std::vector<GpuPeaks> all;
  for (size_t i = 0; i < context.ranks.gpus.size(); ++i) {
    GpuPeaks& peaks = all.emplace_back(
        PeaksOf(context.trace.devices[context.ranks.gpus[i].device], context.options.hardware.get()));
    peaks.launch_floor_ns = LaunchFloor(context.trace.kernels, context.work[i]);
  }
  return all;
}

std::vector<GpuPeakRow> ComputeGpuPeakRows(const Context& context, const std::vector<GpuPeaks>& peaks) {
  std::vector<GpuPeakRow> rows;
  for (size_t i = 0; i < peaks.size(); ++i) {
    const GpuPeaks& gpu = peaks[i];
    for (const Rate& peak : gpu.peaks) {
      GpuPeakRow& row = rows.emplace_back();
      row.rank = context.ranks.gpus[i].rank;
      row.device = context.trace.devices[context.ranks.gpus[i].device].ordinal;
      row.precision = PrecisionName(peak.precision);
      row.unit = ComputeUnitName(peak.unit);
      row.flops_per_s = peak.value;
      row.achievable_flops_per_s = gpu.Achievable(peak.precision, peak.unit);
      row.memory_bytes_per_s = gpu.memory_bytes_per_s;
      row.achievable_memory_bytes_per_s = gpu.achievable_memory_bytes_per_s;
      row.link_bytes_per_s = gpu.link_bytes_per_s;
      row.host_bytes_per_s = gpu.host_bytes_per_s;
      row.launch_floor_ns = gpu.launch_floor_ns;
      row.multiprocessor_share = gpu.multiprocessor_share;
      row.model = gpu.model;
      row.known_by = gpu.declared ? "declared" : "model";
      row.source = gpu.source;
    }
  }
  return rows;
}

const Family& GpuPeakFamily() {
  static const Family family = FamilyOf(GpuPeakRelation(), ComputeGpuPeakRows);
  return family;
}

}  // namespace dladvisor
