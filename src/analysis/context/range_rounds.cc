// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/range_rounds.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "src/analysis/context/api_kind.h"

namespace dladvisor {
namespace {

constexpr size_t kLeastRounds = 5;  // fewer may be anything
constexpr size_t kLeastSequences = 2;
constexpr double kLeastShareWaited = 0.9;

// The text with its number replaced, where it is that of a round; "" for what is no round by its name.
std::string PatternOf(std::string_view text) {
  static const RE2 other(
      R"((?i)epoch|warm.?up|bench|trial|layer|block|attention|attn|mlp|expert|optimi[sz]er|zero_?grad|loss|)"
      R"(backward|validat|checkpoint|data_?load|next_batch|CompiledFxGraph|torch-compiled|captur|kernel|)"
      R"(^(nccl|cublas|cudnn|cusparse|cusolver|cufft|cuda|cu|cub|thrust|aten|mpi|gloo|c10d)(::|:|_|[A-Z]))");
  static const RE2 numbered(
      R"(((?:^|[^A-Za-z])(?i:(?:mini|micro)?[-_ ]?batch|frame|token|image|request|query|sample|cycle|tick|round|turn)[_ #:]*)(\d+)$)");
  const re2::StringPiece piece(text.data(), text.size());
  if (text.empty() || RE2::PartialMatch(piece, other)) return "";
  re2::StringPiece before, number;
  if (RE2::PartialMatch(piece, numbered, &before, &number))
    return std::string(text.substr(0, text.size() - number.size())) + "#";
  return std::string(text);
}

// Domains of libraries mark calls of theirs; the program's own is the default one.
bool IsOfProgram(std::string_view domain) {
  return domain.empty() || domain == "user_annotation" || domain == "TensorRT" || domain == "TSL";
}

}  // namespace

std::vector<RangeRounds> FindRangeRounds(const Trace& trace, const RangeTexts& texts) {
  const Ranges& ranges = trace.ranges;
  std::vector<std::string> patterns(texts.size());
  for (uint32_t text = 0; text < texts.size(); ++text) patterns[text] = PatternOf(texts.TextAt(text));
  const auto eligible = [&](size_t i) {
    return !ranges.open[i] && ranges.kind[i] != RangeKind::kMark && ranges.thread[i] != kNoIndex &&
           IsOfProgram(trace.names.View(ranges.domain[i])) &&
           !patterns[texts.IndexOf(ranges.name[i])].empty();
  };
  std::map<std::pair<uint32_t, std::string_view>, size_t> count;
  for (size_t i = 0; i < ranges.size(); ++i)
    if (eligible(i)) ++count[{ranges.thread[i], patterns[texts.IndexOf(ranges.name[i])]}];
  struct Found {
    std::vector<StepRange> ranges;
    size_t enclosed = 0;
  };
  std::map<std::pair<uint32_t, std::string_view>, Found> found;
  std::map<uint32_t, Ns> end;  // by thread, of the outermost range so far
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (!eligible(i)) continue;
    const std::pair<uint32_t, std::string_view> key{ranges.thread[i],
                                                    patterns[texts.IndexOf(ranges.name[i])]};
    if (count[key] < kLeastRounds) continue;
    Ns& outermost = end.try_emplace(key.first, ranges.start[i]).first->second;
    Found& of_text = found[key];
    if (ranges.start[i] < outermost) {
      ++of_text.enclosed;
      continue;
    }
    of_text.ranges.push_back({static_cast<int64_t>(of_text.ranges.size()), {ranges.start[i], ranges.end[i]}});
    outermost = ranges.end[i];
  }
  std::vector<RangeRounds> rounds;
  for (auto& [key, of_text] : found)
    if (of_text.enclosed == 0 && of_text.ranges.size() >= kLeastRounds)
      rounds.push_back({key.first, std::string(key.second), std::move(of_text.ranges)});
  return rounds;
}

bool HoldSeveral(const RangeRounds& rounds, size_t sequences, const Trace& trace) {
  const size_t count = rounds.ranges.size();
  if (sequences < kLeastSequences * count) return false;
  const std::vector<ApiKind> kinds = ClassifyApis(trace);
  const ApiCalls& calls = trace.api_calls;
  std::vector<size_t> waits(count, 0);
  size_t all = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    const ApiKind kind = kinds[calls.name[i]];
    if (calls.thread[i] != rounds.thread || (kind != ApiKind::kSync && kind != ApiKind::kCopy)) continue;
    const auto after = std::upper_bound(rounds.ranges.begin(), rounds.ranges.end(), calls.start[i],
                                        [](Ns time, const StepRange& r) { return time < r.time.start; });
    if (after == rounds.ranges.begin()) continue;
    ++waits[static_cast<size_t>(after - rounds.ranges.begin()) - 1];
    ++all;
  }
  const auto waited = static_cast<double>(count - static_cast<size_t>(std::ranges::count(waits, 0U)));
  return waited >= kLeastShareWaited * static_cast<double>(count) && 2 * all <= sequences;
}

}  // namespace dladvisor
