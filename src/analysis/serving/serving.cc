// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/serving/serving.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "src/analysis/family/family.h"
#include "src/trace/error_remedy.h"

namespace dladvisor {
namespace {

// Of the KV cache: a request that needs a few hundred tokens more than are free waits from about here on.
constexpr double kFull = 0.95;
// Of the most requests that may run: a line is of one moment, in which some have just ended.
constexpr double kAtLimit = 0.9;

class KnownMean {
 public:
  template <class T>
  void Add(const std::optional<T>& value, double weight) {
    if (!value) return;
    sum_ += static_cast<double>(*value) * weight;
    count_ += weight;
  }
  std::optional<double> value() const { return count_ > 0 ? std::optional(sum_ / count_) : std::nullopt; }

 private:
  double sum_ = 0, count_ = 0;  // the weights of all
};

template <class T>
void KeepMost(const std::optional<T>& value, std::optional<T>& most) {
  if (value && (!most || *value > *most)) most = value;
}

std::optional<int64_t> CountOf(const ServingLog& log, const char* name) {
  const auto found = log.settings.find(name);
  if (found == log.settings.end()) return std::nullopt;
  int64_t number = 0;
  const std::string& text = found->second;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc() || number <= 0)
    return std::nullopt;
  return number;
}

std::optional<std::string> TextOf(const ServingLog& log, const char* name) {
  const auto found = log.settings.find(name);
  return found == log.settings.end() ? std::nullopt : std::optional(found->second);
}

// For another request of the mean size of those that run.
bool HasNoRoom(const ServingLogRow& line) {
  const auto running = static_cast<double>(line.running.value_or(0));
  return running > 0 && line.cache_used.value_or(0) * (running + 1) > running;
}

// As many requests as run in nearly all lines in which others wait: without a limit their number goes with
// their lengths and with the load.
constexpr int64_t kManyWaitingLines = 20;
constexpr double kNearlyAll = 0.9;
std::optional<int64_t> SeenLimit(const std::vector<ServingLogRow>& log) {
  std::map<int64_t, int64_t> lines;  // by the requests that run
  int64_t waiting = 0;
  for (const ServingLogRow& line : log) {
    if (!(line.waiting.value_or(0) > 0) || line.running.value_or(0) <= 0) continue;
    ++waiting;
    // What has no room has no limit of its own.
    if (line.cache_used.value_or(0) < kFull && !HasNoRoom(line)) ++lines[*line.running];
  }
  if (waiting < kManyWaitingLines) return std::nullopt;
  for (const auto& [running, count] : lines)
    if (static_cast<double>(count) >= kNearlyAll * static_cast<double>(waiting)) return running;
  return std::nullopt;
}

void AddServingLines(const std::vector<ServingLogRow>& log, bool polled, ServingRow& row) {
  KnownMean running, waiting, transferring, prompt, generated, accepted, length, prefix, cache;
  std::set<std::optional<std::string>> engines;
  std::map<std::optional<std::string>, bool> ran_before;
  // Beside lines of decoding, those of prefill are no mean over time: each is of the moments in which it
  // runs.
  const bool decodes = std::ranges::any_of(
      log, [](const ServingLogRow& line) { return line.generated_tokens_per_second.has_value(); });
  if (!row.max_running) row.seen_limit = SeenLimit(log);
  const std::optional<int64_t> limit = row.max_running ? row.max_running : row.seen_limit;
  for (const ServingLogRow& line : log) {
    engines.insert(line.engine);
    KeepMost(line.start_ns, row.duration_ns);
    KeepMost(line.running, row.most_running);
    KeepMost(line.waiting, row.most_waiting);
    KeepMost(line.cache_used, row.most_cache_used);
    KeepMost(line.generated_tokens_per_second, row.most_generated_tokens_per_second);
    // What ran between two lines, and has ended by both: one request at the least. A server of embeddings
    // reads, and generates nothing.
    const bool idle = std::exchange(ran_before[line.engine], line.running.value_or(0) > 0) == false &&
                      line.running == 0 && line.waiting.value_or(0) == 0;
    const bool generates = line.generated_tokens_per_second.value_or(0) > 0;
    const bool passed = idle && (generates || line.prompt_tokens_per_second.value_or(0) > 0);
    if (!passed && !(line.running.value_or(0) + line.waiting.value_or(0) > 0)) continue;
    ++row.loaded_lines;
    row.passed_lines += passed;
    if (passed) KeepMost(std::optional<int64_t>(1), row.most_running);
    // The mean of rates is that of all tokens over all of the time.
    const double lasts = line.lasts_ns.value_or(1);
    // A line of prefill alone has no more than the requests of that batch.
    if (passed ? generates : polled || line.generated_tokens_per_second.has_value())
      running.Add(passed ? std::optional<int64_t>(1) : line.running, lasts);
    waiting.Add(line.waiting, lasts);
    transferring.Add(line.transferring, lasts);
    if (line.generated_tokens_per_second || !decodes) prompt.Add(line.prompt_tokens_per_second, lasts);
    if (!passed || generates) generated.Add(line.generated_tokens_per_second, lasts);
    accepted.Add(line.accepted_share, lasts);
    length.Add(line.accepted_length, lasts);
    prefix.Add(line.prefix_hit_share, lasts);
    if (!passed) cache.Add(line.cache_used, lasts);
    if (!line.waiting) continue;
    const bool waits = *line.waiting > 0;
    row.waiting_lines = row.waiting_lines.value_or(0) + waits;
    const bool at_limit =
        limit && line.running && static_cast<double>(*line.running) >= kAtLimit * static_cast<double>(*limit);
    if (line.cache_used)
      row.full_lines = row.full_lines.value_or(0) +
                       (waits && (*line.cache_used >= kFull || (!at_limit && HasNoRoom(line))));
    if (limit && line.running)
      row.capped_lines =
          row.capped_lines.value_or(0) + (waits && at_limit && line.cache_used.value_or(0) < kFull);
  }
  row.lines = static_cast<int64_t>(log.size());
  row.engines = static_cast<int64_t>(engines.size());
  // What came and went between all lines was one at the least, and how many at once no line says.
  const bool seen = row.passed_lines < row.loaded_lines;
  if (seen) row.mean_running = running.value();
  if (!seen && row.loaded_lines > 0) row.most_running = 0;
  row.mean_waiting = waiting.value();
  row.mean_transferring = transferring.value();
  row.prompt_tokens_per_second = prompt.value();
  row.generated_tokens_per_second = generated.value();
  row.accepted_share = accepted.value();
  row.accepted_length = length.value();
  row.prefix_hit_share = prefix.value();
  row.mean_cache_used = cache.value();
}

}  // namespace

const RelationOf<ServingRow>& ServingRelation() {
  static const auto relation =
      RelationOf<ServingRow>("serving",
                             "A server of language models as reported by its log, one row per log. Means are "
                             "over lines with requests, which it calls loaded.")
          .Key("profile", &ServingRow::profile, kProfileNumber, "Number of the file.")
          .Column("program", &ServingRow::program, Unit::kText,
                  "Whose lines they are: vLLM, SGLang, TensorRT-LLM, llama.cpp.")
          .Column("accelerator", &ServingRow::accelerator, Unit::kText,
                  "What it runs on: cuda, amd, npu (Ascend), tpu, xpu (Intel), hpu (Gaudi), metal (Apple) or "
                  "cpu; unknown where the log does not say.")
          .Column("lines", &ServingRow::lines, Unit::kCount, "Lines that report its load.")
          .Column("loaded_lines", &ServingRow::loaded_lines, Unit::kCount,
                  "Of these, the ones with requests that run or wait, or that ran since an idle line before.")
          .Column("passed_lines", &ServingRow::passed_lines, Unit::kCount,
                  "Of these, the ones in which none runs any more.")
          .Column("engines", &ServingRow::engines, Unit::kCount, "Engines or ranks that print.")
          .Column("duration_ns", &ServingRow::duration_ns, Unit::kNanoseconds,
                  "From the first line to the last; unknown where they have no times.")
          .Column(
              "served_ns", &ServingRow::served_ns, Unit::kNanoseconds,
              "From when it is ready, or the first line of its load, to the last line of any kind that has "
              "a time, of all its starts; unknown where lines have none, and of engines that are no "
              "server's.")
          .Column(
              "idle_ns", &ServingRow::idle_ns, Unit::kNanoseconds,
              "Of that the time without a request, by pauses between the lines of its load and what these "
              "say.")
          .Column("span_ns", &ServingRow::span_ns, Unit::kNanoseconds,
                  "From the first line with a time to the last, starts included; unknown as above.")
          .Column("mean_running", &ServingRow::mean_running, Unit::kNone,
                  "Requests that an engine decodes at once, on average; unknown for one that only reads "
                  "prompts, and where no line has a request that runs.")
          .Column("mean_waiting", &ServingRow::mean_waiting, Unit::kNone,
                  "Requests that wait for a place, on average; unknown where lines do not say.")
          .Column("mean_transferring", &ServingRow::mean_transferring, Unit::kNone,
                  "Requests that wait for their keys and values, on average; unknown where one engine reads "
                  "prompts and decodes.")
          .Column("most_running", &ServingRow::most_running, Unit::kCount, "The most of them in a line.")
          .Column("most_waiting", &ServingRow::most_waiting, Unit::kCount, "The most requests that wait.")
          .Column("waiting_lines", &ServingRow::waiting_lines, Unit::kCount,
                  "Loaded lines in which requests wait; unknown where lines do not say.")
          .Column(
              "full_lines", &ServingRow::full_lines, Unit::kCount,
              "Of these, the ones in which at least 95 % of the KV cache is in use, or so much that another "
              "request of the mean size of those that run has no room, while fewer run than are allowed.")
          .Column("capped_lines", &ServingRow::capped_lines, Unit::kCount,
                  "Of the lines in which requests wait, the ones in which nearly max_running requests run "
                  "and the "
                  "cache has room; unknown where neither max_running nor seen_limit is known.")
          .Column("most_cache_used", &ServingRow::most_cache_used, Unit::kRatio,
                  "The most of the KV cache that was in use.")
          .Column("mean_cache_used", &ServingRow::mean_cache_used, Unit::kRatio,
                  "Part of it that was in use on average.")
          .Column("prompt_tokens_per_second", &ServingRow::prompt_tokens_per_second, Unit::kNone,
                  "Mean of what an engine reads of prompts; unknown where its lines are of single batches.")
          .Column("generated_tokens_per_second", &ServingRow::generated_tokens_per_second, Unit::kNone,
                  "Mean of what an engine generates.")
          .Column("most_generated_tokens_per_second", &ServingRow::most_generated_tokens_per_second,
                  Unit::kNone, "The most of it in a line.")
          .Column("accepted_share", &ServingRow::accepted_share, Unit::kRatio,
                  "Mean part of drafted tokens that were right; unknown without speculative decoding.")
          .Column("accepted_length", &ServingRow::accepted_length, Unit::kNone,
                  "Mean number of tokens that a step of it brings.")
          .Column("prefix_hit_share", &ServingRow::prefix_hit_share, Unit::kRatio,
                  "Mean part of the prompts' tokens that the cache had.")
          .Column("error", &ServingRow::error, Unit::kText,
                  "Exception of the engine that ends the log; unknown where none is printed.")
          .Column("remedy", &ServingRow::remedy, Unit::kText,
                  "What to do about it, by its words; unknown where these say nothing that is known.")
          .Column("gpu_memory_bytes", &ServingRow::gpu_memory_bytes, Unit::kBytes,
                  "Memory of the GPU on which that found none; unknown where it does not say whose the "
                  "memory was.")
          .Column("others_memory_bytes", &ServingRow::others_memory_bytes, Unit::kBytes,
                  "Of it, what was not the failing process's.")
          .Column("gpu_layers", &ServingRow::gpu_layers, Unit::kCount,
                  "Layers of the model that are on the GPU; unknown where the log does not say.")
          .Column("layers", &ServingRow::layers, Unit::kCount,
                  "Layers of the model, as the same line counts them.")
          .Column("cache_tokens", &ServingRow::cache_tokens, Unit::kCount, "Tokens that the KV cache holds.")
          .Column("max_running", &ServingRow::max_running, Unit::kCount,
                  "Most requests that an engine runs at once by its arguments (--max-num-seqs, "
                  "--max-running-requests); unknown where the log does not print it.")
          .Column("seen_limit", &ServingRow::seen_limit, Unit::kCount,
                  "Requests that run in nearly all lines in which others wait and the KV cache, where lines "
                  "tell it, has room; unknown where max_running is known, and where their number varies.")
          .Column("max_length", &ServingRow::max_length, Unit::kCount, "Longest request, in tokens.")
          .Column("preemptions", &ServingRow::preemptions, Unit::kCount,
                  "Lines that report requests thrown out of the cache, to be computed again.")
          .Column(
              "eager", &ServingRow::eager, Unit::kNone,
              "1 where CUDA graphs are switched off by argument; unknown where the log does not print it.")
          .Column(
              "links", &ServingRow::links, Unit::kText,
              "What the engine warns of the links between the GPUs of tensor parallelism: nodes, that they "
              "are of several nodes; pcie, that more than two have no NVLink; p2p, that they do not reach "
              "each other's memory. Unknown where it warns of nothing.")
          .Column("default_moe", &ServingRow::default_moe, Unit::kNone,
                  "1 where the server says that it has no tuned kernel of experts for this GPU.")
          .Column("untuned_shapes", &ServingRow::untuned_shapes, Unit::kCount,
                  "Shapes of weights for whose products a library says that it has no tuned kernel (AITER).")
          .Column("host_weights_bytes", &ServingRow::host_weights_bytes, Unit::kBytes,
                  "What each GPU may leave of its weights in the host's memory (--cpu-offload-gb); unknown "
                  "where the log does not print it.")
          .Column("forced_quantization", &ServingRow::forced_quantization, Unit::kText,
                  "Kernels of quantised weights that the arguments force, where the server says that it has "
                  "faster ones; unknown where it does not.")
          .Column("faster_quantization", &ServingRow::faster_quantization, Unit::kText,
                  "The ones that it says are faster.")
          .Column("last_stage", &ServingRow::last_stage, Unit::kText,
                  "Of a start that the log does not show to the end, the part that it is in; unknown where "
                  "lines do not say.")
          .Column(
              "starts", &ServingRow::starts, Unit::kCount,
              "Starts of which the log has the first line and the one that says that it is ready; unknown "
              "without one.")
          .Column("start_ns", &ServingRow::start_ns, Unit::kNanoseconds, "What all of these took.")
          .Column("engine_begins_ns", &ServingRow::engine_begins_ns, Unit::kNanoseconds,
                  "Of that what passes before the engine begins to start: imports, and reading the "
                  "configuration; unknown where lines do not say.")
          .Column("weights_ns", &ServingRow::weights_ns, Unit::kNanoseconds,
                  "Of that the downloading and reading of the weights; unknown where lines do not say.")
          .Column("download_ns", &ServingRow::download_ns, Unit::kNanoseconds,
                  "The downloading of them, also of a start that does not end; unknown where lines do not "
                  "say.")
          .Column("weights_bytes", &ServingRow::weights_bytes, Unit::kBytes,
                  "What the weights take of a GPU's memory; unknown where lines do not say.")
          .Column("compile_ns", &ServingRow::compile_ns, Unit::kNanoseconds,
                  "Of the starts what was compiled in; unknown where lines do not say.")
          .Column("capture_ns", &ServingRow::capture_ns, Unit::kNanoseconds,
                  "Of the starts the capture of CUDA graphs; unknown where lines do not say.")
          .Column("build_ns", &ServingRow::build_ns, Unit::kNanoseconds,
                  "What AITER takes to compile its modules, all of them together; unknown where it compiles "
                  "none.");
  return relation;
}

std::vector<ServingRow> ComputeServing(const Context& context, const std::vector<ServingLogRow>& log) {
  const ServingLog& serving = context.trace.serving_log;
  if (serving.empty()) return {};
  ServingRow row;
  row.program = serving.program;
  row.accelerator = TextOf(serving, "device");
  if (!serving.error.empty()) row.error = serving.error;
  if (const std::string_view remedy = ErrorRemedy(serving.error); !remedy.empty()) row.remedy = remedy;
  if (serving.memory_taken) {
    row.gpu_memory_bytes = serving.memory_taken->total_bytes;
    row.others_memory_bytes = serving.memory_taken->others_bytes;
  }
  row.layers = CountOf(serving, "layers");
  if (row.layers) row.gpu_layers = CountOf(serving, "gpu_layers").value_or(0);
  row.cache_tokens = serving.cache_tokens;
  row.max_running = CountOf(serving, "max_running_requests");
  row.max_length = CountOf(serving, "max_length");
  row.preemptions = serving.preemptions;
  if (const auto eager = serving.settings.find("eager"); eager != serving.settings.end())
    row.eager = eager->second == "True";
  row.links = TextOf(serving, "links");
  row.default_moe = serving.settings.contains("moe_config");
  row.build_ns = serving.build_ns;
  row.untuned_shapes = serving.untuned_shapes;
  constexpr double kBytesOfGb = 1024.0 * 1024 * 1024;  // as both engines count them
  if (serving.settings.contains("host_weights_gb"))
    row.host_weights_bytes =
        static_cast<double>(CountOf(serving, "host_weights_gb").value_or(0)) * kBytesOfGb;
  row.forced_quantization = TextOf(serving, "forced_quantization");
  row.faster_quantization = TextOf(serving, "faster_quantization");
  if (!serving.last_stage.empty()) row.last_stage = serving.last_stage;
  row.weights_bytes = serving.weights_bytes;
  row.span_ns = serving.span_ns;
  row.served_ns = serving.served_ns;
  row.idle_ns = serving.idle_ns;
  row.download_ns = serving.download_ns;
  if (serving.starts > 0) {
    row.starts = serving.starts;
    row.start_ns = serving.start_ns;
    row.engine_begins_ns = serving.engine_begins_ns;
    row.weights_ns = serving.weights_ns;
    row.compile_ns = serving.compile_ns;
    row.capture_ns = serving.capture_ns;
  }
  AddServingLines(log, serving.polled, row);
  return {row};
}

const Family& ServingFamily() {
  static const Family family = FamilyOf<std::vector<ServingRow>>(ServingRelation());
  return family;
}

}  // namespace dladvisor
