// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nsight_compute/profiler_messages.h"

#include <re2/re2.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <utility>

#include "src/importers/nsight_compute/line_text.h"

namespace dladvisor::nsight_compute {
namespace {

constexpr size_t kLongestText = 1200, kMostMessages = 40;

struct Topic {
  std::string_view about;
  const char* pattern;
};

// The first that fits; of spills and conflicts some speak of patterns of access, too.
constexpr auto kTopics = std::to_array<Topic>({
    {"spills",
     R"((?i)register spill|local memory spill|spilling|access pattern for local|uncoalesced local)"},
    {"bank-conflicts", R"((?i)bank conflict|uncoalesced shared|excessive wavefronts)"},
    {"uncoalesced",
     R"((?i)uncoalesced|access pattern for (?:global|loads|stores)|bytes transmitted per sector|excessive sectors)"},
    {"small-grid",
     R"((?i)grid is too small|which is less than the GPU's|fewer (?:thread )?blocks than multiprocessors)"},
    {"tail", R"((?i)tail effect|partial wave)"},
    {"block-size", R"((?i)threads in a warp are masked off|multiple of 32 threads)"},
    {"occupancy",
     R"((?i)theoretical occupancy|achieved occupancy|theoretical warps per scheduler|calculated theoretical)"},
    {"stalls", R"((?i)being stalled)"},
    {"divergence", R"((?i)threads being active|Instructions are executed in warps)"},
    {"not-fused", R"((?i)non-fused)"},
    {"imbalance", R"((?i)imbalance|instance value)"},
    {"roof", R"((?i)utilizing greater than)"},
    {"balance", R"((?i)well-balanced)"},
    {"low-use", R"((?i)low compute throughput and memory|pipelines are under-utilized)"},
    {"issue", R"((?i)Every scheduler is capable)"},
    {"pipe", R"((?i)highest-utilized pipeline)"},
});

std::string AboutOf(const std::string& text) {
  static const auto patterns = [] {
    std::array<std::unique_ptr<RE2>, kTopics.size()> all;
    for (size_t i = 0; i < kTopics.size(); ++i) all[i] = std::make_unique<RE2>(kTopics[i].pattern);
    return all;
  }();
  for (size_t i = 0; i < kTopics.size(); ++i)
    if (RE2::PartialMatch(text, *patterns[i])) return std::string(kTopics[i].about);
  return "";
}

std::optional<double> Share(const std::string& percent) {
  if (percent.empty()) return std::nullopt;
  const double share = std::strtod(percent.c_str(), nullptr) / 100;
  return share >= 0 && share <= 1 ? std::optional(share) : std::nullopt;
}

}  // namespace

std::optional<ProfilerMessage> MessageOf(std::string_view line) {
  static const RE2 first(R"(^\s{2,}(OPT|WRN|INF|OK|ERR)\s{2,}(\S.*)$)"),
      speedup(R"(^Est\. (Local )?Speedup: (\d{1,3}(?:\.\d+)?)%\s*)");
  std::string kind, text;
  if (!RE2::PartialMatch(Piece(line), first, &kind, &text)) return std::nullopt;
  ProfilerMessage message;
  message.kind = kind;
  std::string local, percent;
  re2::StringPiece rest(text);
  if (RE2::Consume(&rest, speedup, &local, &percent)) {
    message.is_local = !local.empty();
    message.most_speedup = Share(percent);
  }
  AddTo(message, {rest.data(), rest.size()});
  return message;
}

void AddTo(ProfilerMessage& message, std::string_view line) {
  const std::string_view words = Trim(line);
  if (words.empty() || message.text.size() >= kLongestText) return;
  if (!message.text.empty()) message.text += ' ';
  for (const char c : words.substr(0, kLongestText - message.text.size()))
    if (c >= 0x20 && c <= 0x7E) message.text += c;
}

void TakeMessage(ProfilerMessage message, KernelMeasurement& kernel) {
  static const RE2 pipe(R"(^(.{2,40}?) (?:pipeline )?is the highest-utilized pipeline \((\d+(?:\.\d+)?)%\))"),
      peaks(
          R"((?i)achieved (?:close to )?(\d+)% of this device's fp32 peak performance and (?:close to )?(\d+)% of its fp64)"),
      multiprocessors(R"(less than the GPU's (\d{1,4}) multiprocessors)");
  if (message.text.empty()) return;
  message.about = AboutOf(message.text);
  std::string name, percent, other;
  if (kernel.pipe.empty() && RE2::PartialMatch(message.text, pipe, &name, &percent)) {
    kernel.pipe = name;
    kernel.pipe_share = Share(percent);
  }
  if (RE2::PartialMatch(message.text, peaks, &percent, &other)) {
    kernel.fp32_share = Share(percent);
    kernel.fp64_share = Share(other);
  }
  if (!kernel.multiprocessors && RE2::PartialMatch(message.text, multiprocessors, &percent))
    kernel.multiprocessors = std::strtod(percent.c_str(), nullptr);
  if (kernel.messages.size() < kMostMessages) kernel.messages.push_back(std::move(message));
}

}  // namespace dladvisor::nsight_compute
