// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/training_setting.h"

#include <charconv>
#include <initializer_list>

#include "src/analysis/family/family.h"

namespace dladvisor {
namespace {

using Settings = std::map<std::string, std::string>;

std::optional<std::string> Text(const Settings& settings, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto found = settings.find(name); found != settings.end()) return found->second;
  return std::nullopt;
}

std::optional<int64_t> CountSetting(const Settings& settings, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto text = Text(settings, {name});
    int64_t number = 0;
    if (text && std::from_chars(text->data(), text->data() + text->size(), number).ec == std::errc() &&
        number > 0 && number < int64_t{1} << 40)
      return number;
  }
  return std::nullopt;
}

std::optional<std::string> PrecisionOf(const Settings& settings) {
  const auto fp8 = Text(settings, {"fp8"});
  if (fp8 && *fp8 != "None" && *fp8 != "False") return "fp8";
  if (Text(settings, {"bf16"}) == "True") return "bf16";
  if (Text(settings, {"fp16"}) == "True") return "fp16";
  return Text(settings, {"fp16"}) == "False" ? std::optional<std::string>("fp32") : std::nullopt;
}

std::optional<std::string> RecomputeOf(const Settings& settings) {
  if (const auto granularity = Text(settings, {"recompute_granularity"}))
    return *granularity == "None" ? "none" : *granularity;
  const auto old = Text(settings, {"checkpoint_activations"});
  return old ? std::optional<std::string>(*old == "True" ? "full" : "none") : std::nullopt;
}

}  // namespace

const RelationOf<TrainingSettingRow>& TrainingSettingRelation() {
  static const auto relation =
      RelationOf<TrainingSettingRow>("training_setting",
                                     "Arguments of a training that its log prints and that matter for its "
                                     "speed: parallel sizes, batch sizes, precision, recomputation.")
          .Key("profile", &TrainingSettingRow::profile, kProfileNumber, "Number of the file.")
          .Key("name", &TrainingSettingRow::name, Unit::kText, "Argument, as the program calls it.")
          .Column("value", &TrainingSettingRow::value, Unit::kText, "Its value, as printed.");
  return relation;
}

std::vector<TrainingSettingRow> ComputeTrainingSettings(const Context& context) {
  std::vector<TrainingSettingRow> rows;
  for (const auto& [name, value] : context.trace.training_log.settings) rows.push_back({0, name, value});
  return rows;
}

TrainingSizes SizesOf(const Trace& trace) {
  const Settings& settings = trace.training_log.settings;
  TrainingSizes sizes;
  sizes.world_size = trace.world_size;
  sizes.tensor_parallel = CountSetting(settings, {"tensor_model_parallel_size", "model_parallel_size"});
  sizes.pipeline_parallel = CountSetting(settings, {"pipeline_model_parallel_size", "pipe_parallel_size"});
  sizes.virtual_stages = CountSetting(settings, {"virtual_pipeline_model_parallel_size"});
  if (!sizes.virtual_stages && sizes.pipeline_parallel) sizes.virtual_stages = 1;
  sizes.data_parallel = CountSetting(settings, {"data_parallel_size"});
  if (!sizes.data_parallel && sizes.world_size && sizes.tensor_parallel) {
    const int64_t model = *sizes.tensor_parallel * sizes.pipeline_parallel.value_or(1) *
                          CountSetting(settings, {"context_parallel_size"}).value_or(1);
    if (*sizes.world_size % model == 0) sizes.data_parallel = *sizes.world_size / model;
  }
  sizes.micro_batch =
      CountSetting(settings, {"micro_batch_size", "train_micro_batch_size_per_gpu", "batch_size"});
  sizes.global_batch = CountSetting(settings, {"global_batch_size", "train_batch_size"});
  const auto accumulated = CountSetting(settings, {"gradient_accumulation_steps"});
  if (sizes.micro_batch && sizes.global_batch && accumulated && !sizes.data_parallel &&
      *sizes.global_batch % (*sizes.micro_batch * *accumulated) == 0)
    sizes.data_parallel = *sizes.global_batch / (*sizes.micro_batch * *accumulated);
  if (sizes.micro_batch && sizes.global_batch && sizes.data_parallel) {
    const int64_t at_once = *sizes.micro_batch * *sizes.data_parallel;
    if (*sizes.global_batch % at_once == 0) sizes.micro_batches = *sizes.global_batch / at_once;
  }
  if (!sizes.micro_batches && sizes.pipeline_parallel.value_or(1) == 1) sizes.micro_batches = accumulated;
  sizes.seq_length = CountSetting(settings, {"seq_length"});
  sizes.precision = PrecisionOf(settings);
  sizes.recompute = RecomputeOf(settings);
  return sizes;
}

const Family& TrainingSettingFamily() {
  static const Family family = FamilyOf(TrainingSettingRelation(), ComputeTrainingSettings);
  return family;
}

}  // namespace dladvisor
