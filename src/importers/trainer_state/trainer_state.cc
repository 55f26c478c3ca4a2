// SPDX-License-Identifier: Apache-2.0
#include "src/importers/trainer_state/trainer_state.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "src/importers/bytes/plain_json.h"
#include "src/importers/bytes/whole_text.h"
#include "src/importers/training_log/log_reader.h"

namespace dladvisor {
namespace {
using nlohmann::json;

constexpr std::string_view kWhat = "trainer_state.json of Hugging Face's Trainer";
constexpr std::string_view kRecords = "\"log_history\"";

// As the Trainer prints a record: {'loss': 2.25, 'epoch': 0.1}.
std::string Printed(const json& record) {
  std::string line;
  for (const auto& [name, value] : record.items())
    if (value.is_number()) line += fmt::format("{}'{}': {}", line.empty() ? "{" : ", ", name, value.dump());
  return line.empty() ? line : line + "}";
}

// Of a record that holds a step's loss, with the steps since the one before it.
std::optional<TrainingIteration> StepOf(const json& record, const std::vector<TrainingIteration>& before) {
  const auto number = record.find("step"), loss = record.find("loss");
  if (number == record.end() || loss == record.end() || !number->is_number_integer() ||
      !(loss->is_number() || loss->is_null()))
    return std::nullopt;
  TrainingIteration step;
  step.iteration = number->get<int64_t>();
  if (loss->is_number()) step.loss = loss->get<double>();
  step.covers = step.iteration - (before.empty() ? 0 : before.back().iteration);
  if (*step.covers <= 0) return std::nullopt;
  return step;
}

Trace ReadState(ByteSource& source) {
  const json state = json::parse(PlainJson(WholeText(source)), nullptr, false);
  if (state.is_discarded())
    throw WrongKind(source.name(), fmt::format("a {} that is cut or not JSON", kWhat), "copy it again");
  const auto records = state.is_object() ? state.find("log_history") : state.end();
  if (!state.is_object() || records == state.end() || !records->is_array())
    throw WrongKind(source.name(), "JSON with a \"log_history\", but not as Hugging Face's Trainer writes it",
                    "give what the training printed, with its progress bar");
  training_log::LogReader reader;
  std::vector<TrainingIteration> steps;
  for (const json& record : *records) {
    if (!record.is_object()) continue;
    reader.Line(Printed(record));
    if (const auto step = StepOf(record, steps)) steps.push_back(*step);
  }
  TrainingLog log = reader.Finish();
  if (log.iterations.empty()) log.iterations = std::move(steps);
  if (log.iterations.empty() && !log.runtime_ns)
    throw WrongKind(source.name(), fmt::format("a {} without a record of a step", kWhat),
                    "give what the training printed, with its progress bar: python train.py 2>&1 | tee "
                    "train.log");
  log.program = "Hugging Face Trainer";
  Trace trace;
  trace.path = source.name();
  trace.format = "training log";
  trace.facts["profiler"] = log.program;
  trace.health.rows_read["iterations"] = static_cast<int64_t>(log.iterations.size());
  trace.training_log = std::move(log);
  return trace;
}

}  // namespace

constinit const Importer kTrainerStateImporter = {
    .in_list = "trainer_state.json of Hugging Face's Trainer",
    .extensions = "",
    .more_extensions = ".json",
    .fits =
        [](const Input& input) {
          const std::string_view head = input.head();
          return head.starts_with('{') && head.find(kRecords) != std::string_view::npos &&
                         head.find("\"global_step\"") < head.find(kRecords)
                     ? Importer::Fit::kYes
                     : Importer::Fit::kNo;
        },
    .read = [](Input& input) { return std::optional(ReadState(input.bytes())); },
};

}  // namespace dladvisor
