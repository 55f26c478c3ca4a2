// SPDX-License-Identifier: Apache-2.0
#include "src/importers/memory_timeline/memory_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/text.h"
#include "src/importers/bytes/whole_text.h"

namespace dladvisor {
namespace {
using nlohmann::json;

// In the order of torch/profiler/_memory_profiler.py; the first number of a row is always 0.
constexpr auto kCategories =
    std::to_array<std::string_view>({"", "parameters", "states of the optimizer", "inputs", "temporaries",
                                     "activations", "gradients", "details of autograd", "unknown"});
// A document of HTML that holds the picture alone.
constexpr std::string_view kPicture = "<title>GPU Memory Timeline HTML</title>";

// "[[1726077563878112, 1726077563891027, ...], [[0, ...", times in µs and a row of sizes for each; or, of a
// raw timeline, "[[1726077563878112, 0, 1024, 3], ...": a time, an action, a size and its category.
bool IsTimeline(std::string_view head) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr size_t kOfTime = 12;
  if (!head.starts_with("[[")) return false;
  head.remove_prefix(2);
  const size_t end = head.find_first_not_of(kDigits);
  if (end == std::string_view::npos || end < kOfTime) return false;
  const std::string_view row = head.substr(0, head.find(']'));
  if (head.substr(end).starts_with(", ")) {
    const std::string_view second = head.substr(end + 2);
    const size_t length = std::min(second.find_first_not_of(kDigits), second.size());
    if (length == 1 && std::ranges::count(row, ',') == 3 &&
        row.find_first_not_of("0123456789, -[") == std::string_view::npos)
      return true;
    if (length < kOfTime) return false;
  }
  return row.size() == head.size() || head.substr(row.size()).starts_with("], [[0, ");
}

// Of the row whose sum is greatest, in words; "" where the file has none.
std::string Peak(const json& timeline) {
  if (!timeline.is_array() || timeline.size() != 2 || !timeline[1].is_array()) return {};
  std::vector<double> peak;
  double most = 0;
  for (const json& row : timeline[1]) {
    if (!row.is_array() || row.size() != kCategories.size()) return {};
    std::vector<double> bytes;
    for (const json& cell : row) {
      if (!cell.is_number()) return {};
      bytes.push_back(cell.get<double>());
    }
    const double sum = std::accumulate(bytes.begin(), bytes.end(), 0.0);
    if (sum <= most) continue;
    most = sum;
    peak = std::move(bytes);
  }
  if (most <= 0 || !std::isfinite(most)) return {};
  const auto largest = static_cast<size_t>(std::ranges::max_element(peak) - peak.begin());
  return fmt::format(": at its peak of {}, {} are {}", FormatValue(most, Unit::kBytes),
                     FormatValue(peak[largest] / most, Unit::kRatio), kCategories[largest]);
}

[[noreturn]] void Refuse(ByteSource& source) {
  std::string peak;
  if (source.Head().starts_with('[')) peak = Peak(json::parse(WholeText(source), nullptr, false));
  throw WrongKind(
      source.name(),
      fmt::format(
          "a timeline of memory by PyTorch's profiler (export_memory_timeline), which holds no times of "
          "operators{}",
          peak),
      "for what takes the time, give a trace of the same run: export_chrome_trace('trace.json'); to hold "
      "less, "
      "begin with what is largest at the peak (activations: a smaller batch, mixed precision, "
      "torch.utils.checkpoint)");
}

}  // namespace

constinit const Importer kMemoryTimelineImporter = {
    .in_list = "",
    .extensions = "",
    .more_extensions = ".json .gz .html",
    .fits =
        [](const Input& input) {
          constexpr size_t kWithin = 1024;
          return IsTimeline(input.head()) ||
                         input.head().substr(0, kWithin).find(kPicture) != std::string_view::npos
                     ? Importer::Fit::kYes
                     : Importer::Fit::kNo;
        },
    .read = [](Input& input) -> std::optional<Trace> { Refuse(input.bytes()); },
};

}  // namespace dladvisor
