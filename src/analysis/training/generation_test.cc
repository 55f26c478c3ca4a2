// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/generation_test.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include "engine/base/text.h"
#include "engine/base/value.h"
#include "src/analysis/family/family.h"
#include "src/analysis/hardware/gpu_peak.h"

namespace dladvisor {
namespace {

// A mixture of experts, by its name: of its weights a token reads a part.
bool ReadsAPart(const std::string& model) {
  static const RE2 experts(
      R"((?i)moe|\bA\d+(?:\.\d+)?B\b|\d+x\d+(?:\.\d+)?B|mixtral|gpt-oss|deepseek[23]|deepseek-v|llama4|scout|maverick)");
  return RE2::PartialMatch(model, experts);
}

bool Generates(const GenerationTest& test) { return test.generated_tokens > 0 && test.prompt_tokens == 0; }

std::string KindOfTest(const GenerationTest& test) {
  if (Generates(test)) return "generates";
  return test.generated_tokens == 0 ? "reads" : "both";
}

std::optional<std::string> TextUnlessEmpty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

// The fastest of these; null where there is none.
template <class Is>
const GenerationTest* FastestOf(const std::vector<GenerationTest>& tests, const std::string& model, Is is) {
  const GenerationTest* fastest = nullptr;
  for (const GenerationTest& test : tests)
    if (test.model == model && is(test) && (!fastest || test.tokens_per_s > fastest->tokens_per_s))
      fastest = &test;
  return fastest;
}

}  // namespace

const RelationOf<GenerationTestRow>& GenerationTestRelation() {
  using Row = GenerationTestRow;
  static const auto relation =
      RelationOf<Row>("generation_test",
                      "A row of llama-bench: how fast llama.cpp reads a prompt or generates tokens.")
          .Key("profile", &Row::profile, kProfileNumber, "Number of the file.")
          .Key("row", &Row::row, Unit::kNone, "Its number, from 0.")
          .Column("test", &Row::test, Unit::kText, "As it names it: pp512, tg128.")
          .Column("kind", &Row::kind, Unit::kText,
                  "generates (one token after the other), reads (a prompt) or both.")
          .Column("variant", &Row::variant, Unit::kText,
                  "The backend and the arguments that its table has columns of, by which rows of one test "
                  "differ; \"\" where it has none.")
          .Column("model", &Row::model, Unit::kText,
                  "Architecture, size and quantisation; unknown where not said.")
          .Column("backend", &Row::backend, Unit::kText, "As CUDA, ROCm, Vulkan, Metal, CPU; the same.")
          .Column("gpu", &Row::gpu, Unit::kText, "Model of the GPU; unknown where none or several are named.")
          .Column("tokens_per_s", &Row::tokens_per_s, Unit::kNone, "Its mean.")
          .Column("model_bytes", &Row::model_bytes, Unit::kBytes, "Of its weights; unknown where not said.")
          .Column("weight_bytes_per_s", &Row::weight_bytes_per_s, Unit::kBytesPerSecond,
                  "At which weights are read: model_bytes for each token that is generated; unknown of "
                  "prompts and of mixtures of experts, of whose weights a token reads a part.")
          .Column("memory_bytes_per_s", &Row::memory_bytes_per_s, Unit::kBytesPerSecond,
                  "What the memory of such a GPU carries at most; unknown of models that are not known.");
  return relation;
}

std::vector<GenerationTestRow> ComputeGenerationTests(const Context& context) {
  std::vector<GenerationTestRow> rows;
  for (const GenerationTest& test : context.trace.program_output.generations) {
    GenerationTestRow& row = rows.emplace_back();
    row.row = static_cast<int64_t>(rows.size()) - 1;
    row.test = test.test;
    row.kind = KindOfTest(test);
    row.variant = test.backend + (test.backend.empty() || test.settings.empty() ? "" : ", ") + test.settings;
    row.model = TextUnlessEmpty(test.model);
    row.backend = TextUnlessEmpty(test.backend);
    row.gpu = TextUnlessEmpty(test.gpu);
    row.tokens_per_s = test.tokens_per_s;
    if (test.model_bytes > 0) row.model_bytes = test.model_bytes;
    if (Generates(test) && test.model_bytes > 0 && !ReadsAPart(test.model))
      row.weight_bytes_per_s = test.tokens_per_s * test.model_bytes;
    if (test.gpu.empty()) continue;
    Device device;
    device.name = test.gpu;
    row.memory_bytes_per_s = PeaksOf(device, context.options.hardware.get()).memory_bytes_per_s;
    // More than its memory carries: a model of experts by another name.
    if (row.memory_bytes_per_s && row.weight_bytes_per_s.value_or(0) > *row.memory_bytes_per_s)
      row.weight_bytes_per_s.reset();
  }
  return rows;
}

std::string GenerationText(const std::vector<GenerationTest>& tests) {
  if (tests.empty()) return {};
  const std::string& model = tests.front().model;
  const GenerationTest* const generates = FastestOf(tests, model, Generates);
  const GenerationTest* const reads =
      FastestOf(tests, model, [](const GenerationTest& test) { return test.generated_tokens == 0; });
  const GenerationTest* const both = generates || reads ? nullptr : &tests.front();
  std::string text = model.empty() ? "a model" : model;
  const auto add = [&](const char* verb, const GenerationTest* test, const char* of) {
    if (!test) return;
    text += fmt::format("{} {} {} tokens/s{} ({})", text.find("tokens/s") == std::string::npos ? "" : " and",
                        verb, ThreeDigits(test->tokens_per_s), of, test->test);
  };
  add("generates", generates, "");
  add("reads", reads, " of prompts");
  add("takes in and generates", both, "");
  if (tests.size() > 2)
    text += fmt::format(", the fastest of {} results",
                        FormatValue(static_cast<int64_t>(tests.size()), Unit::kCount));
  return text;
}

const Family& GenerationTestFamily() {
  static const Family family = FamilyOf<std::vector<GenerationTestRow>>(GenerationTestRelation());
  return family;
}

}  // namespace dladvisor
