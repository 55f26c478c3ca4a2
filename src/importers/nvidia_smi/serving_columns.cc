// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nvidia_smi/serving_columns.h"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <utility>

namespace dladvisor::nvidia_smi {
namespace {

// A fraction is at most 1; a percentage of a cache in use is more, where its name says nothing (vLLM's own
// "perc" is a fraction).
constexpr double kMostOfFraction = 1.5, kPercent = 0.01;
constexpr double kMostRequests = 1e6;

// "vllm:num_requests_running" as "num_requests_running".
std::string PlainName(std::string_view name) {
  std::string plain;
  for (const char c : TrimCell(name))
    plain += std::isalnum(static_cast<unsigned char>(c)) != 0
                 ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                 : '_';
  static const RE2 server("^(?:vllm|sglang|server|llm)_");
  RE2::Replace(&plain, server, "");
  return plain;
}

std::optional<double> NumberIn(const std::vector<std::string_view>& cells, const std::optional<size_t>& at) {
  if (!at || *at >= cells.size()) return std::nullopt;
  const auto quantity = ParseQuantity(cells[*at]);
  return quantity && std::isfinite(quantity->number) && quantity->number >= 0
             ? std::optional(quantity->number)
             : std::nullopt;
}

std::optional<int64_t> RequestsIn(const std::vector<std::string_view>& cells,
                                  const std::optional<size_t>& at) {
  const auto number = NumberIn(cells, at);
  return number && *number <= kMostRequests ? std::optional(static_cast<int64_t>(*number)) : std::nullopt;
}

}  // namespace

ServingColumns::ServingColumns(const std::vector<std::string_view>& names) {
  static const RE2 running("(?:num_)?(?:requests|reqs)_running|(?:num_)?running_(?:requests|reqs)"),
      waiting("(?:num_)?(?:requests|reqs)_(?:waiting|queued)|(?:num_)?(?:waiting|queued?)_(?:requests|reqs)"),
      cache(
          "(?:gpu_)?(?:kv_)?cache_(?:usage|used|util\\w*)(?:_(?:perc|pct|percent|ratio))?|kv_cache_(?:pct|"
          "percent)"),
      generated("(?:gen|generated|generation)_tokens(?:_total)?"),
      preemptions("(?:num_)?preemptions(?:_total)?");
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string name = PlainName(names[i]);
    if (RE2::FullMatch(name, running)) running_ = i;
    if (RE2::FullMatch(name, waiting)) waiting_ = i;
    if (RE2::FullMatch(name, cache)) {
      cache_ = i;
      percent_ = name.ends_with("_pct") || name.ends_with("_percent");
    }
    if (RE2::FullMatch(name, generated)) generated_ = i;
    if (RE2::FullMatch(name, preemptions)) preemptions_ = i;
  }
}

void ServingColumns::Row(const std::vector<std::string_view>& cells, const std::optional<Time>& time) {
  // Of several GPUs each has a row at one time, and the server one state.
  if (time && last_ns_ == time->ns) return;
  ServingSample sample;
  sample.running = RequestsIn(cells, running_);
  if (!sample.running) return;
  sample.waiting = RequestsIn(cells, waiting_);
  sample.cache_used = NumberIn(cells, cache_);
  percent_ = percent_ || sample.cache_used.value_or(0) > kMostOfFraction;
  const auto tokens = NumberIn(cells, generated_), preemptions = NumberIn(cells, preemptions_);
  if (time) {
    sample.time_ns = time->ns;
    // Counters that fall are of a server that was started again.
    if (tokens && last_tokens_ && *tokens >= *last_tokens_ && last_ns_ && time->ns > *last_ns_)
      sample.generated_tokens_per_second =
          (*tokens - *last_tokens_) * 1e9 / static_cast<double>(time->ns - *last_ns_);
    last_ns_ = time->ns;
  }
  // What the server counted before the first row is no matter of these.
  if (preemptions && last_preemptions_)
    log_.preemptions += static_cast<int64_t>(
        *preemptions >= *last_preemptions_ ? *preemptions - *last_preemptions_ : *preemptions);
  if (tokens) last_tokens_ = tokens;
  if (preemptions) last_preemptions_ = preemptions;
  log_.samples.push_back(std::move(sample));
}

ServingLog ServingColumns::Finish() {
  const bool any = std::ranges::any_of(
      log_.samples, [](const ServingSample& sample) { return sample.running.value_or(0) > 0; });
  if (!any) return {};
  log_.program = "a server";
  log_.polled = true;
  for (ServingSample& sample : log_.samples)
    if (sample.cache_used) sample.cache_used = std::min(1.0, *sample.cache_used * (percent_ ? kPercent : 1));
  return std::move(log_);
}

}  // namespace dladvisor::nvidia_smi
