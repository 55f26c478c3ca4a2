// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/serving/serving_log.h"

#include <utility>

#include "src/analysis/family/family.h"

namespace dladvisor {

const RelationOf<ServingLogRow>& ServingLogRelation() {
  static const auto relation =
      RelationOf<ServingLogRow>(
          "serving_log",
          "One row per line in which a server of language models (vLLM, SGLang) reports its load.")
          .Key("profile", &ServingLogRow::profile, kProfileNumber, "Number of the file.")
          .Key("line", &ServingLogRow::line, Unit::kNone, "Number of the line among them, from 0.")
          .Column("engine", &ServingLogRow::engine, Unit::kText,
                  "Engine or rank that prints, as the line names it; unknown of a server with one.")
          .Column("start_ns", &ServingLogRow::start_ns, Unit::kNanoseconds,
                  "Time since the first line; unknown where lines have no time.")
          .Column("running", &ServingLogRow::running, Unit::kCount, "Requests in the batch.")
          .Column("waiting", &ServingLogRow::waiting, Unit::kCount, "Requests that wait for a place in it.")
          .Column(
              "transferring", &ServingLogRow::transferring, Unit::kCount,
              "Requests whose keys and values are on their way from where prompts are read; unknown where "
              "one engine does both.")
          .Column(
              "lasts_ns", &ServingLogRow::lasts_ns, Unit::kNanoseconds,
              "Time that its rates are of: of a request that others ran beside, its part of theirs; unknown "
              "of lines at an interval.")
          .Column("prompt_tokens_per_second", &ServingLogRow::prompt_tokens_per_second, Unit::kNone,
                  "Tokens of prompts that are read in a second; unknown for a line of SGLang's decoding.")
          .Column("generated_tokens_per_second", &ServingLogRow::generated_tokens_per_second, Unit::kNone,
                  "Tokens that are generated in a second; unknown for a line of SGLang's prefill.")
          .Column("cache_used", &ServingLogRow::cache_used, Unit::kRatio, "Part of the KV cache in use.")
          .Column("prefix_hit_share", &ServingLogRow::prefix_hit_share, Unit::kRatio,
                  "Part of the prompts' tokens that the cache had already.")
          .Column("accepted_share", &ServingLogRow::accepted_share, Unit::kRatio,
                  "Part of the drafted tokens that were right; unknown without speculative decoding.")
          .Column("accepted_length", &ServingLogRow::accepted_length, Unit::kNone,
                  "Tokens that a step of speculative decoding brings, on average.")
          .Column("graphs", &ServingLogRow::graphs, Unit::kNone,
                  "1 where the batch ran as a CUDA graph; unknown where the line does not say.");
  return relation;
}

std::vector<ServingLogRow> ComputeServingLog(const Context& context) {
  std::vector<ServingLogRow> rows;
  std::optional<int64_t> first;
  for (const ServingSample& sample : context.trace.serving_log.samples) {
    ServingLogRow& row = rows.emplace_back();
    row.line = static_cast<int64_t>(rows.size()) - 1;
    if (!sample.engine.empty()) row.engine = sample.engine;
    if (!first) first = sample.time_ns;
    // Without a year, what comes after New Year seems to come before it.
    if (sample.time_ns && *sample.time_ns >= *first) row.start_ns = *sample.time_ns - *first;
    row.running = sample.running;
    row.waiting = sample.waiting;
    row.transferring = sample.transferring;
    row.lasts_ns = sample.lasts_ns;
    row.prompt_tokens_per_second = sample.prompt_tokens_per_second;
    row.generated_tokens_per_second = sample.generated_tokens_per_second;
    row.cache_used = sample.cache_used;
    row.prefix_hit_share = sample.prefix_hits;
    row.accepted_share = sample.accepted;
    row.accepted_length = sample.accepted_length;
    row.graphs = sample.graphs;
  }
  return rows;
}

const Family& ServingLogFamily() {
  static const Family family = FamilyOf<std::vector<ServingLogRow>>(ServingLogRelation());
  return family;
}

}  // namespace dladvisor
