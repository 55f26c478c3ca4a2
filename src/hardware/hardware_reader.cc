// SPDX-License-Identifier: Apache-2.0
#include "src/hardware/hardware_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "engine/base/text.h"

namespace dladvisor {
namespace {

constexpr double kGiga = 1e9, kTera = 1e12, kMega = 1e6, kGibi = 1024.0 * 1024 * 1024;

class HardwareReader {
 public:
  HardwareReader(const YamlFile& yaml, const Hardware& known, Problems& problems)
      : yaml_(yaml), known_(known), problems_(problems) {}

  Hardware Read(const YAML::Node& node) {
    YamlMap map(yaml_, node, "", "hardware", problems_);
    if (const YAML::Node architectures = map.Get("architectures"); architectures.IsDefined()) {
      if (!architectures.IsMap())
        problems_.Add(yaml_.PlaceOf(architectures), "", "'architectures' must be a mapping (name: rates)");
      else
        for (const auto& entry : architectures) ReadArchitecture(entry.first, entry.second);
    }
    if (const YAML::Node gpus = map.Get("gpus"); gpus.IsDefined()) {
      if (!gpus.IsSequence())
        problems_.Add(yaml_.PlaceOf(gpus), "", "'gpus' must be a list of GPU models");
      else
        for (const YAML::Node& gpu : gpus) ReadModel(gpu);
    }
    ReadUnnamed(map);
    map.Finish();
    return std::move(hardware_);
  }

 private:
  // A model as reports call it, or as profilers do.
  void ReadUnnamed(YamlMap& map) {
    const std::optional<std::string> name = map.Text("unnamed");
    if (!name) return;
    std::vector<std::string> known;
    for (const Hardware* from : std::initializer_list<const Hardware*>{&hardware_, &known_}) {
      for (const GpuModel& model : from->models)
        if (model.model == *name) {
          hardware_.unnamed = model;
          return;
        }
      if (const GpuModel* model = FindModel(*from, {*name, {}, {}})) {
        hardware_.unnamed = *model;
        return;
      }
      for (const GpuModel& model : from->models) known.push_back(model.model);
    }
    problems_.Add(map.PlaceOf(map.Get("unnamed")), "",
                  fmt::format("no GPU model '{}'{}: hardware.yaml lists them, and 'gpus' declares more",
                              *name, DidYouMean(*name, known)));
  }

  void ReadArchitecture(const YAML::Node& key, const YAML::Node& node) {
    Architecture architecture;
    architecture.name = key.IsScalar() ? key.Scalar() : "";
    YamlMap map(yaml_, node, "", "architecture " + architecture.name, problems_);
    ReadRates(map, "vector", ComputeUnit::kVector, 1, architecture.rates);
    ReadRates(map, "matrix", ComputeUnit::kMatrix, 1, architecture.rates);
    architecture.source = map.RequiredText("source");
    map.Finish();
    hardware_.architectures.push_back(std::move(architecture));
  }

  void ReadModel(const YAML::Node& node) {
    GpuModel gpu;
    YamlMap map(yaml_, node, "", "a GPU model", problems_);
    gpu.model = map.RequiredText("model");
    gpu.names = ReadNames(map, "names", /*own=*/true);
    gpu.shared_names = ReadNames(map, "shared_names", /*own=*/false);
    if (gpu.names.empty() && gpu.shared_names.empty())
      problems_.Add(map.place(), "", fmt::format("{} lacks 'names', as profilers print them", gpu.model));
    gpu.architecture = map.Text("architecture").value_or("");
    if (const auto count = Number(map, "multiprocessors")) gpu.multiprocessors = std::llround(*count);
    gpu.boost_clock_hz = Number(map, "boost_clock_mhz", kMega);
    gpu.matrix_clock_hz = Number(map, "matrix_clock_mhz", kMega);
    ReadRates(map, "vector_tflops", ComputeUnit::kVector, kTera, gpu.peaks);
    ReadRates(map, "matrix_tflops", ComputeUnit::kMatrix, kTera, gpu.peaks);
    gpu.memory_bytes = Number(map, "memory_gib", kGibi);
    gpu.memory_bytes_per_s = Number(map, "memory_gb_per_s", kGiga);
    gpu.recorded_memory_bytes_per_s = Number(map, "recorded_memory_gb_per_s", kGiga);
    gpu.link_bytes_per_s = Number(map, "link_gb_per_s", kGiga);
    gpu.host_bytes_per_s = Number(map, "host_gb_per_s", kGiga);
    gpu.source = map.RequiredText("source");
    if (const YAML::Node achievable = map.Get("achievable"); achievable.IsDefined())
      ReadAchievable(achievable, gpu);
    if (!gpu.architecture.empty()) CheckAgainstArchitecture(map, gpu);
    map.Finish();
    hardware_.models.push_back(std::move(gpu));
  }

  std::vector<std::string> ReadNames(YamlMap& map, const std::string& key, bool own) {
    std::vector<std::string> names;
    for (const auto& [name, place] : map.TextList(key)) {
      if (own && !names_.insert(name).second)
        problems_.Add(place, "",
                      fmt::format("'{}' names another model, too: list it under shared_names of both", name));
      names.push_back(name);
    }
    return names;
  }

  void ReadAchievable(const YAML::Node& node, GpuModel& gpu) {
    YamlMap map(yaml_, node, "", "achievable", problems_);
    ReadRates(map, "vector_tflops", ComputeUnit::kVector, kTera, gpu.achievable);
    ReadRates(map, "matrix_tflops", ComputeUnit::kMatrix, kTera, gpu.achievable);
    gpu.achievable_memory_bytes_per_s = Number(map, "memory_gb_per_s", kGiga);
    gpu.achievable_source = map.RequiredText("source");
    map.Finish();
    for (const Rate& rate : gpu.achievable) {
      const auto peak = FindRate(gpu.peaks, rate.precision, rate.unit);
      if (peak && rate.value > *peak)
        problems_.Add(map.place(), "",
                      fmt::format("achievable {} {} is above the peak", ComputeUnitName(rate.unit),
                                  PrecisionName(rate.precision)));
    }
    if (gpu.achievable_memory_bytes_per_s > gpu.memory_bytes_per_s)
      problems_.Add(map.place(), "", "the achievable memory_gb_per_s is above that of the model");
  }

  // Compares stated peaks with those that follow from the chip, and derives them where none is stated.
  void CheckAgainstArchitecture(YamlMap& map, GpuModel& gpu) {
    const YAML::Node named = map.Get("architecture");
    const Architecture* architecture = hardware_.FindArchitecture(gpu.architecture);
    if (!architecture) architecture = known_.FindArchitecture(gpu.architecture);
    if (!architecture) {
      std::vector<std::string> names;
      for (const auto* from : {&std::as_const(hardware_), &known_})
        for (const Architecture& other : from->architectures) names.push_back(other.name);
      return problems_.Add(map.PlaceOf(named), "",
                           fmt::format("no architecture '{}'{}; known: {}", gpu.architecture,
                                       DidYouMean(gpu.architecture, names), fmt::join(names, ", ")));
    }
    if (!gpu.multiprocessors || !gpu.boost_clock_hz)
      return problems_.Add(
          map.PlaceOf(named), "",
          fmt::format(
              "{} lacks 'multiprocessors' or 'boost_clock_mhz', from which its architecture gives peaks",
              gpu.model));
    if (gpu.matrix_clock_hz &&
        (*gpu.matrix_clock_hz > *gpu.boost_clock_hz || *gpu.matrix_clock_hz < 0.75 * *gpu.boost_clock_hz))
      problems_.Add(map.PlaceOf(map.Get("matrix_clock_mhz")), "",
                    "'matrix_clock_mhz' must be between 75 and 100 % of 'boost_clock_mhz'");
    if (gpu.peaks.empty()) {
      for (const Rate& rate : architecture->rates)
        gpu.peaks.push_back(
            {rate.precision, rate.unit, *DerivePeak(*architecture, gpu, rate.precision, rate.unit)});
      return;
    }
    for (const Rate& peak : gpu.peaks) CheckPeak(map, *architecture, gpu, peak);
  }

  void CheckPeak(YamlMap& map, const Architecture& architecture, const GpuModel& gpu, const Rate& peak) {
    const std::string key(peak.unit == ComputeUnit::kVector ? "vector_tflops" : "matrix_tflops");
    const std::string precision(PrecisionName(peak.precision));
    const Place place = yaml_.PlaceOf(map.Get(key)[precision]);
    const auto derived = DerivePeak(architecture, gpu, peak.precision, peak.unit);
    if (!derived)
      return problems_.Add(
          place, "",
          fmt::format("{} has no {} units for {}", architecture.name, ComputeUnitName(peak.unit), precision));
    const double ratio = peak.value / *derived;
    if (std::abs(ratio - 1) <= kPeakTolerance) return;
    const bool sparse = std::abs(ratio - 2) <= 2 * kPeakTolerance;
    problems_.Add(
        place, "",
        fmt::format(
            "{}: {} of {:.4g} TFLOP/s is {:.2f} times the {:.4g} that {} multiprocessors of {} give; {}",
            gpu.model, precision, peak.value / kTera, ratio, *derived / kTera, *gpu.multiprocessors,
            architecture.name,
            sparse ? "it may be the figure with sparsity: give the dense one"
                   : "correct it, the multiprocessors or the clock"));
  }

  void ReadRates(YamlMap& map, const std::string& key, ComputeUnit unit, double scale, Rates& rates) {
    const YAML::Node node = map.Get(key);
    if (!node.IsDefined()) return;
    if (!node.IsMap())
      return problems_.Add(yaml_.PlaceOf(node), "",
                           fmt::format("'{}' must be a mapping (fp16: number)", key));
    for (const auto& entry : node) {
      const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
      const auto precision = ParsePrecision(name);
      const auto value = NumberOf(entry.second);
      if (!precision)
        problems_.Add(
            yaml_.PlaceOf(entry.first), "",
            fmt::format("no precision '{}': fp64, fp32, tf32, fp16, bf16, fp8, fp6, fp4, int8", name));
      else if (!value)
        problems_.Add(yaml_.PlaceOf(entry.second), "", fmt::format("'{}' must be a number above 0", name));
      else
        rates.push_back({*precision, unit, *value * scale});
    }
  }

  std::optional<double> Number(YamlMap& map, const std::string& key, double scale = 1) {
    const YAML::Node node = map.Get(key);
    if (!node.IsDefined()) return std::nullopt;
    const auto value = NumberOf(node);
    if (!value) {
      problems_.Add(yaml_.PlaceOf(node), "", fmt::format("'{}' must be a number above 0", key));
      return std::nullopt;
    }
    return *value * scale;
  }

  static std::optional<double> NumberOf(const YAML::Node& node) {
    if (!node.IsScalar()) return std::nullopt;
    const std::optional<double> number = AsNumber(ScalarValue(node));
    return number && *number > 0 ? number : std::nullopt;
  }

  const YamlFile& yaml_;
  const Hardware& known_;
  Problems& problems_;
  Hardware hardware_;
  std::set<std::string> names_;
};

}  // namespace

Hardware ReadHardware(const YamlFile& yaml, const YAML::Node& node, const Hardware& known,
                      Problems& problems) {
  return HardwareReader(yaml, known, problems).Read(node);
}

}  // namespace dladvisor
