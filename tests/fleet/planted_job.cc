// SPDX-License-Identifier: Apache-2.0
#include "tests/fleet/planted_job.h"

#include <algorithm>
#include <set>

#include "engine/inference/inference.h"
#include "src/cli/session.h"
#include "tests/fleet/job_digest.h"

namespace dladvisor::test {

using example::Cause;
using example::Job;
using example::JobOptions;
using example::Plant;

const char* RuleOf(Cause cause) {
  switch (cause) {
    case Cause::kLaunches:
      return "slow-host";
    case Cause::kSlowGpu:
      return "slow-gpu";
    case Cause::kSlowLink:
      return "slow-link";
    case Cause::kLargeInput:
      return "input-imbalance";
    case Cause::kNone:
      break;
  }
  return "";
}

JobOptions SmallJob(uint64_t seed) {
  JobOptions options;
  options.nodes = 4;
  options.gpus_per_node = 2;
  options.steps = 16;
  options.kernels = 80;
  options.buckets = 2;
  options.seed = seed;
  return options;
}

Plant DrawPlant(Cause cause, const JobOptions& options, double share, std::mt19937_64& draw) {
  Plant plant;
  plant.cause = cause;
  plant.rank = static_cast<int64_t>(draw() % static_cast<uint64_t>(options.ranks()));
  plant.first_step = static_cast<int>(draw() % 4);
  plant.last_step = options.steps - 1 - static_cast<int>(draw() % 4);
  plant.share = share;
  plant.first_kernel = 8 + static_cast<int>(draw() % 16);
  plant.last_kernel = plant.first_kernel + 30;
  return plant;
}

Advice AdviceOn(const Digest& digest) {
  static const KnowledgeBase knowledge = LoadRules({}, {});
  Database database;
  for (const Table& table : digest.relations) database.Add(table);
  Digest rest;
  for (const Schema* schema : AllSchemas())
    if (!digest.Find(schema->name)) rest.relations.emplace_back(*schema);
  for (const Table& table : rest.relations) database.Add(table);
  return Infer(knowledge, database);
}

std::vector<NamedCause> NamedCauses(const Digest& digest) {
  static const std::set<std::string> causes = {"slow-host", "slow-gpu", "slow-link", "input-imbalance",
                                               "straggling-node"};
  const Advice advice = AdviceOn(digest);
  std::vector<NamedCause> named;
  for (const Finding& finding : advice.findings) {
    if (finding.outcome != Outcome::kFired || !causes.contains(finding.rule)) continue;
    NamedCause& one = named.emplace_back();
    one.rule = finding.rule;
    for (const NamedValue& key : finding.subject) {
      const auto* number = std::get_if<int64_t>(&key.value);
      if (key.name == "rank" && number) one.rank = *number;
      if (key.name == "node" && number) one.node = *number;
      if (const auto* text = std::get_if<std::string>(&key.value); text && key.name == "ranks")
        one.ranks = *text;
    }
  }
  return named;
}

bool IsNamed(const std::vector<NamedCause>& named, const Plant& plant, const JobOptions& options) {
  return std::ranges::any_of(named, [&](const NamedCause& one) {
    if (one.rule != RuleOf(plant.cause)) return false;
    if (plant.cause != Cause::kSlowLink) return one.rank == plant.rank;
    const int64_t first = plant.rank / options.gpus_per_node * options.gpus_per_node;
    return one.ranks == std::to_string(first) + ", " + std::to_string(first + 1);
  });
}

int CountRight(Cause cause, double share, int seeds) {
  int right = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    std::mt19937_64 draw(static_cast<uint64_t>(seed) * 977 + static_cast<uint64_t>(cause));
    JobOptions options = SmallJob(static_cast<uint64_t>(seed));
    if (cause != Cause::kNone) options.plants = {DrawPlant(cause, options, share, draw)};
    const std::vector<NamedCause> named = NamedCauses(DigestOfJob(Job(options)));
    right += cause == Cause::kNone ? named.empty()
                                   : named.size() == 1 && IsNamed(named, options.plants[0], options);
  }
  return right;
}

}  // namespace dladvisor::test
