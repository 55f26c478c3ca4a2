// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/pipeline/pipeline_name.h"

#include <array>
#include <charconv>
#include <map>
#include <vector>

namespace dladvisor {
namespace {

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

// By its first letter: "F", "forward", "bwd", "I" for the gradient of the input, "wgrad", "optim".
std::optional<PipelinePhase> PhaseOfWord(std::string_view word) {
  if (word.empty()) return std::nullopt;
  switch (word[0] | 0x20) {
    case 'f':
      return PipelinePhase::kForward;
    case 'b':
    case 'i':
      return PipelinePhase::kBackward;
    case 'w':
      return PipelinePhase::kWeight;
    case 'o':
      return PipelinePhase::kOptimizer;
    default:
      return std::nullopt;
  }
}

// Nothing for no digits, or too many.
std::optional<int64_t> NumberOf(std::string_view digits) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && !digits.empty() && end == digits.data() + digits.size()
             ? std::optional(number)
             : std::nullopt;
}

// A name cannot be one of ours that begins with none of these letters; this rules out most ranges.
bool MayBeKnown(std::string_view name) {
  static constexpr std::string_view kFirst = "FBWOP";
  return !name.empty() && (kFirst.find(name[0]) != std::string_view::npos || name.ends_with("_step") ||
                           name.ends_with("_pass"));
}

}  // namespace

const char* PipelinePhaseName(PipelinePhase phase) {
  static constexpr std::array kNames = {"F", "B", "W", "Optimizer"};
  return kNames[static_cast<size_t>(phase)];
}

std::optional<PipelinePhase> PipelinePhaseOf(std::string_view name) {
  for (const PipelinePhase phase :
       {PipelinePhase::kForward, PipelinePhase::kBackward, PipelinePhase::kWeight, PipelinePhase::kOptimizer})
    if (name == PipelinePhaseName(phase)) return phase;
  return std::nullopt;
}

PipelineNames::PipelineNames(const std::string& pattern) {
  if (!pattern.empty()) pattern_ = std::make_unique<RE2>(pattern, RE2::Quiet);
}

std::optional<PipelineName> PipelineNames::ParseByOption(std::string_view name) const {
  const int groups = pattern_->NumberOfCapturingGroups();
  std::vector<re2::StringPiece> found(static_cast<size_t>(groups) + 1);
  if (!pattern_->Match(Piece(name), 0, name.size(), RE2::UNANCHORED, found.data(), groups + 1))
    return std::nullopt;
  const std::map<std::string, int>& named = pattern_->NamedCapturingGroups();
  const auto group = [&](const char* key, int position) {
    const auto at = named.find(key);
    const int n = at != named.end() ? at->second : named.empty() ? position : 0;
    if (n == 0 || n > groups || found[static_cast<size_t>(n)].data() == nullptr) return std::string_view();
    return std::string_view(found[static_cast<size_t>(n)].data(), found[static_cast<size_t>(n)].size());
  };
  const auto number = [&](const char* key, int position) { return NumberOf(group(key, position)); };
  const auto phase = PhaseOfWord(group("phase", 1));
  if (!phase) return std::nullopt;
  return PipelineName{*phase, number("micro_batch", 2), number("chunk", 3), std::nullopt,
                      PipelineNaming::kOption};
}

std::optional<PipelineName> PipelineNames::Parse(std::string_view name) const {
  static const RE2 numbered(R"(([FBW])(\d+)(?:[._](\d+))?(?:[._](\d+))?)");
  static const RE2 clear(R"(W_clear[._](\d+)(?:[._](\d+))?)");
  static const RE2 of_stage(R"(PP:(\d+)([FBIW])(\d+))");
  static const RE2 of_torch(R"((Forward|Backward)(?: weight)? (\d+))");
  static const RE2 of_framework(R"((?:[\w.]+[./])?(?:_exec_)?(forward|backward|optimizer)_(?:pass|step))");
  if (pattern_)
    if (auto own = ParseByOption(name)) return own;
  if (!MayBeKnown(name)) return std::nullopt;
  std::string word, part, other;
  int64_t first = 0, second = 0;
  if (RE2::FullMatch(Piece(name), numbered, &word, &first, &part, &other))
    return PipelineName{*PhaseOfWord(word), first, NumberOf(part), NumberOf(other), PipelineNaming::kOwn};
  if (RE2::FullMatch(Piece(name), clear, &first, &part))
    return PipelineName{PipelinePhase::kWeight, std::nullopt, first, NumberOf(part), PipelineNaming::kOwn};
  if (name == "Optimizer")
    return PipelineName{PipelinePhase::kOptimizer, std::nullopt, std::nullopt, std::nullopt,
                        PipelineNaming::kOwn};
  if (RE2::FullMatch(Piece(name), of_stage, &first, &word, &second))
    return PipelineName{*PhaseOfWord(word), second, first, std::nullopt, PipelineNaming::kOwn};
  if (RE2::FullMatch(Piece(name), of_torch, &word, &first)) {
    const bool weight = name.find(" weight ") != std::string_view::npos;
    return PipelineName{weight ? PipelinePhase::kWeight : *PhaseOfWord(word), first, std::nullopt,
                        std::nullopt, PipelineNaming::kFramework};
  }
  if (name.starts_with("Optimizer.step"))
    return PipelineName{PipelinePhase::kOptimizer, std::nullopt, std::nullopt, std::nullopt,
                        PipelineNaming::kFramework};
  if (RE2::FullMatch(Piece(name), of_framework, &word))
    return PipelineName{*PhaseOfWord(word), std::nullopt, std::nullopt, std::nullopt,
                        PipelineNaming::kFramework};
  return std::nullopt;
}

std::string CheckPipelinePattern(const std::string& pattern) {
  const RE2 compiled(pattern, RE2::Quiet);
  if (!compiled.ok()) return "is not a valid regular expression: " + compiled.error();
  const auto& named = compiled.NamedCapturingGroups();
  if (compiled.NumberOfCapturingGroups() == 0) return "has no group for the phase";
  if (!named.empty() && !named.contains("phase")) return "has named groups, but none named phase";
  return "";
}

}  // namespace dladvisor
