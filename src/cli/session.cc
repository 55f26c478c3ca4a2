#include "src/cli/session.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "engine/rule_image.h"

namespace dladvisor {

const char* const kProgram = "dladvisor " DLADVISOR_VERSION;

// Generated from rules/ by the build.
std::span<const EmbeddedFile> EmbeddedRules();
std::span<const EmbeddedFile> EmbeddedRuleImage();  // one file

void ProfileOptions::AddTo(CLI::App& command) {
  command.add_option("PROFILE", path, "Nsight Systems export (.sqlite or .nsys-rep) or digest")->required();
  command.add_option("--steps", steps, "Analyse only these steps, e.g. 3:107");
  command.add_option("--step-range", step_range, "Regular expression of the range that is a step");
}

AnalysisOptions ProfileOptions::ToAnalysisOptions() const {
  AnalysisOptions options;
  if (!steps.empty()) {
    const size_t colon = steps.find(':');
    int64_t first = 0, last = 0;
    const auto parse = [](std::string_view text, int64_t& number) {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      return error == std::errc() && end == text.data() + text.size() && !text.empty();
    };
    const std::string_view text = steps;
    if (colon == std::string::npos || !parse(text.substr(0, colon), first) ||
        !parse(text.substr(colon + 1), last) || first > last)
      throw Error("--steps " + steps, "is no range of steps", "Give FIRST:LAST, e.g. --steps 3:107.");
    options.steps = {first, last};
  }
  if (!step_range.empty()) {
    RE2::Options quiet;
    quiet.set_log_errors(false);
    const RE2 pattern(step_range, quiet);
    if (!pattern.ok())
      throw Error("--step-range " + step_range, "is no regular expression: " + pattern.error(),
                  "RE2 syntax, e.g. --step-range 'iteration (\\d+)'.");
    options.step_range = step_range;
  }
  return options;
}

KnowledgeBase LoadRules(const CommonOptions& common) {
  KnowledgeBase knowledge = EmptyKnowledge();
  ReadRuleImage(EmbeddedRuleImage()[0].content, knowledge);
  for (const std::string& folder : common.rule_folders) knowledge.AddLayer(ReadRuleFolder(folder));
  return knowledge;
}

std::vector<RuleFile> LoadRuleTests(const CommonOptions& common) {
  std::vector<RuleFile> files = EmbeddedRuleFiles(EmbeddedRules(), /*tests=*/true);
  for (const std::string& folder : common.rule_folders)
    for (RuleFile& file : ReadRuleFolder(folder, /*tests=*/true)) files.push_back(std::move(file));
  return files;
}

Stages::Stages(const CommonOptions& common)
    : common_(common),
      terminal_(!common.quiet && isatty(STDERR_FILENO) != 0),
      start_(std::chrono::steady_clock::now()),
      begin_(start_) {}

Stages::~Stages() { End(); }

void Stages::Begin(std::string name) {
  End();
  name_ = std::move(name);
  begin_ = std::chrono::steady_clock::now();
  if (terminal_ && begin_ - start_ > std::chrono::seconds(1)) fmt::print(stderr, "{} ...\n", name_);
}

void Stages::End() {
  if (!name_.empty() && common_.stats) {
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin_;
    fmt::print(stderr, "{:<12} {:8.1f} ms\n", name_, took.count());
  }
  name_.clear();
}

void RefuseToOverwrite(const std::string& output, const std::string& input) {
  std::error_code ignored;
  if (std::filesystem::equivalent(output, input, ignored))
    throw Error(output, "is the profile itself", "Choose another file for the output.");
}

}  // namespace dladvisor
