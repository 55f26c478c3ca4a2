// SPDX-License-Identifier: Apache-2.0
#include "src/importers/serving_log/serving_lines.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "src/importers/nvidia_smi/log_cell.h"

namespace dladvisor::serving_log {
namespace {

constexpr double kPercent = 0.01;

bool Has(std::string_view line, std::string_view words) { return line.find(words) != std::string_view::npos; }

// The number behind the first of these words.
std::optional<double> NumberAfter(std::string_view line, std::string_view words) {
  const size_t at = line.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view text = line.substr(at + words.size());
  double number = 0;
  const auto error = std::from_chars(text.data(), text.data() + text.size(), number).ec;
  return error == std::errc() && number >= 0 && number < 1e15 ? std::optional(number) : std::nullopt;
}

std::optional<int64_t> CountAfter(std::string_view line, std::string_view words) {
  const auto number = NumberAfter(line, words);
  return number ? std::optional(static_cast<int64_t>(*number)) : std::nullopt;
}

std::optional<double> ShareAfter(std::string_view line, std::string_view words, double scale) {
  const auto number = NumberAfter(line, words);
  return number && *number * scale <= 1 + 1e-9 ? std::optional(*number * scale) : std::nullopt;
}

// "[2026-08-01 23:43:46 TP0]", or vLLM's "INFO 08-01 23:43:46", whose year is not known: of a leap year, so
// that every day of a year has a time.
std::optional<int64_t> TimeOf(std::string_view line) {
  static const RE2 date(R"((?:^|[^\d/\\._-])(?:(\d{4})-)?(\d\d-\d\d)[ T](\d\d:\d\d:\d\d))");
  std::string year, day, clock;
  if (!RE2::PartialMatch(line, date, &year, &day, &clock)) return std::nullopt;
  const auto time = nvidia_smi::ParseTime((year.empty() ? "2000" : year) + "-" + day + " " + clock);
  return time ? std::optional(time->ns) : std::nullopt;
}

// What the engines say that they run on. SGLang calls a GPU of AMD "cuda", too.
std::string_view DeviceOf(std::string_view line) {
  static const RE2 platform(
      R"((?:[Dd]etected platform |device_config=(?:DeviceConfig\(device=)?'?)(cuda|rocm|npu|tpu|xpu|hpu|cpu)\b)"),
      argument(R"(ServerArgs\(.*\bdevice='(cuda|npu|tpu|xpu|hpu|cpu)')");
  if (Has(line, "vllm_ascend") || Has(line, "plugin ascend is activated") ||
      Has(line, "attention_backend='ascend'"))
    return "npu";
  if (Has(line, "attention_backend='aiter'")) return "amd";
  // llama.cpp's.
  if (Has(line, "ggml_metal_") || Has(line, "using device MTL0") || Has(line, "MTL0 :")) return "metal";
  const RE2* const pattern = Has(line, "detected platform ") || Has(line, "device_config=") ? &platform
                             : Has(line, "ServerArgs(")                                     ? &argument
                                                                                            : nullptr;
  re2::StringPiece device;
  if (pattern == nullptr || !RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *pattern, &device))
    return {};
  return device == "rocm" ? std::string_view("amd") : std::string_view(device.data(), device.size());
}

}  // namespace

bool ServingLinesReader::Line(std::string_view line) {
  const size_t before = log_.samples.size();
  bool answered = false;
  if (Has(line, "Avg prompt throughput: "))
    Statistics(line);
  else if (Has(line, "#running-req: "))
    Batch(line);
  else if (Has(line, "raft acceptance rate: "))
    Drafts(line);
  else if (Has(line, "num_scheduled_requests"))
    Iteration(line);
  else if (Has(line, "eval time =") || Has(line, " slot ") || line.starts_with("slot "))
    answered = Request(line);
  // A group of sequences that vLLM preempts; SGLang calls it a retraction.
  if (Has(line, " is preempted by ") || Has(line, "Retract requests")) ++log_.preemptions;
  Settings(line);
  // "finish build [module_rmsnorm], cost 45.3s", of AITER, which each line of its logger repeats.
  static const RE2 built(R"(finish build \[(\w+)\], cost (\d{1,6}(?:\.\d+)?)s)");
  std::string module;
  double seconds = 0;
  if (Has(line, "finish build [") && RE2::PartialMatch(line, built, &module, &seconds))
    builds_[module] = std::max(builds_[module], seconds);
  const std::optional<int64_t> began = start_.began(), ready = start_.ready();
  start_.Line(line, [line] { return TimeOf(line); });
  if (start_.began() && start_.began() != began) idle_.Starts(*start_.began());
  if (start_.ready() && start_.ready() != ready) idle_.Ready(*start_.ready());
  answers_ = answers_ || serves_ || Has(line, "\"POST /");
  Clock(line, log_.samples.size() > before);
  return answered || log_.samples.size() > before;
}

void ServingLinesReader::Clock(std::string_view line, bool loaded) {
  if (loaded) {
    const ServingSample& sample = log_.samples.back();
    if (!sample.time_ns || (log_.program != "vLLM" && log_.program != "SGLang")) return;
    const bool batch = log_.program == "SGLang";
    const bool none = !batch && sample.running == 0 && sample.waiting.value_or(0) == 0;
    const bool nothing = sample.generated_tokens_per_second.value_or(0) == 0 &&
                         sample.prompt_tokens_per_second.value_or(0) == 0;
    idle_.Add({*sample.time_ns, sample.engine, none, batch && alone_, nothing, batch && reads_long_});
    return;
  }
  constexpr size_t kLongestPrefix = 96;  // before a time
  if (server_.empty() && log_.samples.empty()) return;
  // Libraries print their lines with a year where the server has none, or another clock.
  const std::optional<int64_t> known = log_.samples.empty() ? start_.began() : log_.samples.back().time_ns;
  const auto time = TimeOf(line.substr(0, kLongestPrefix));
  constexpr int64_t kWeekNs = 7LL * 24 * 3600 * 1'000'000'000;
  if (time && (!known || (*time - *known < kWeekNs && *known - *time < kWeekNs))) idle_.Line(*time);
}

void ServingLinesReader::Statistics(std::string_view line) {
  ServingSample sample;
  sample.prompt_tokens_per_second = NumberAfter(line, "Avg prompt throughput: ");
  sample.generated_tokens_per_second = NumberAfter(line, "Avg generation throughput: ");
  sample.running = CountAfter(line, "Running: ");
  if (!sample.generated_tokens_per_second || !sample.running) return;
  log_.program = "vLLM";
  static const RE2 engine(R"(\bEngine (\d+):)");
  RE2::PartialMatch(line, engine, &sample.engine);
  sample.time_ns = TimeOf(line);
  sample.waiting = CountAfter(line, "Waiting: ");
  if (!sample.waiting) sample.waiting = CountAfter(line, "Pending: ");
  if (const auto swapped = CountAfter(line, "Swapped: "); swapped && sample.waiting)
    *sample.waiting += *swapped;
  sample.cache_used = ShareAfter(line, "KV cache usage: ", kPercent);
  sample.prefix_hits = ShareAfter(line, "Prefix cache hit rate: ", kPercent);
  if (!sample.prefix_hits) sample.prefix_hits = ShareAfter(line, "Prefix cache hit rate: GPU: ", kPercent);
  log_.samples.push_back(std::move(sample));
}

void ServingLinesReader::Batch(std::string_view line) {
  static const RE2 head(R"(\b(Decode|Prefill) batch\b)");
  std::string kind;
  if (!RE2::PartialMatch(line, head, &kind)) return;
  ServingSample sample;
  sample.running = CountAfter(line, "#running-req: ");
  if (!sample.running) return;
  log_.program = "SGLang";
  static const RE2 engine(R"(^\[[\d:. T-]+ ((?:[A-Z]+\d+ ?)+)\])");
  RE2::PartialMatch(line, engine, &sample.engine);
  sample.time_ns = TimeOf(line);
  sample.waiting = CountAfter(line, "#queue-req: ");
  sample.transferring = CountAfter(line, "#transfer-req: ");
  sample.cache_used = ShareAfter(line, "token usage: ", 1);
  static const RE2 graph(R"(\b[a-z]+ graph: (True|False))");
  std::string graphs;
  if (kind == "Decode") {
    sample.generated_tokens_per_second = NumberAfter(line, "gen throughput (token/s): ");
    sample.accepted = ShareAfter(line, "accept rate: ", 1);
    sample.accepted_length = NumberAfter(line, "accept len: ");
    if (RE2::PartialMatch(line, graph, &graphs)) sample.graphs = graphs == "True";
  } else {
    // What runs beside the batch; the batch itself is of new requests.
    *sample.running += CountAfter(line, "#new-seq: ").value_or(0);
    sample.prompt_tokens_per_second = NumberAfter(line, "input throughput (token/s): ");
    const auto fresh = NumberAfter(line, "#new-token: "), cached = NumberAfter(line, "#cached-token: ");
    if (fresh && cached && *fresh + *cached > 0) sample.prefix_hits = *cached / (*fresh + *cached);
  }
  // What is read in a moment leaves nothing to do behind it.
  constexpr double kShortPrompt = 2048;
  alone_ = kind == "Prefill" && CountAfter(line, "#running-req: ") == 0;
  reads_long_ = kind == "Prefill" && NumberAfter(line, "#new-token: ").value_or(kShortPrompt) >= kShortPrompt;
  log_.samples.push_back(std::move(sample));
}

// TensorRT-LLM's, of one step of its executor: "iter = 198, global_rank = 0, ..., host_step_time = 5.06ms,
// ..., num_scheduled_requests: 10, states = {..., 'num_generation_tokens': 16}" ("elapsed_time = 0.00506s"
// before its version 1.0). Steps of several ranks are the same ones.
void ServingLinesReader::Iteration(std::string_view line) {
  static const RE2 head(R"(\biter = \d+, global_rank = (\d+),.*num_scheduled_requests[:=] ?(\d+))"),
      step(R"(\b(?:host_step_time = ([\d.]+)ms|elapsed_time = ([\d.]+)s))");
  int64_t rank = 0;
  ServingSample sample;
  std::string ms, seconds;
  int64_t running = 0;
  if (!RE2::PartialMatch(line, head, &rank, &running) || rank != 0) return;
  log_.program = "TensorRT-LLM";
  sample.running = running;
  sample.time_ns = TimeOf(line.substr(std::min(line.find("timestamp = "), line.size())));
  if (RE2::PartialMatch(line, step, &ms, &seconds)) {
    const double length = NumberAfter(ms.empty() ? seconds : ms, "").value_or(0) * (ms.empty() ? 1 : 1e-3);
    const auto generated = NumberAfter(line, "'num_generation_tokens': "),
               read = NumberAfter(line, "'num_ctx_tokens': ");
    // Tokens of steps as CUDA graphs are padded to the size of the graph.
    const auto own =
        generated ? std::optional(std::min(*generated, static_cast<double>(running))) : generated;
    if (length > 0 && own) sample.generated_tokens_per_second = *own / length;
    if (length > 0 && read) sample.prompt_tokens_per_second = *read / length;
  }
  if (const auto used = ShareAfter(line, "kv_cache_util = ", 1)) sample.cache_used = used;
  log_.samples.push_back(std::move(sample));
}

// The programs of llama.cpp that answer one prompt after the other print the times of each when it is done.
static bool IsOfOneRequest(std::string_view line) {
  return Has(line, "llama_perf_context_print:") || Has(line, "llama_print_timings:") ||
         Has(line, "common_perf_print:");
}

// llama.cpp's: "slot launch_slot_: id 3 | task 62 | processing task", then, when the request is done, "prompt
// eval time = 124.60 ms / 218 tokens (...)", "eval time = 329.83 ms / 25 tokens (...)" and "slot release:
// ...".
bool ServingLinesReader::Request(std::string_view line) {
  static const RE2 times(R"((prompt )?eval time = *([\d.]+) ms / *(\d+) (?:tokens|runs))"),
      slot(R"(\bid +(\d{1,6}) \| task)");
  int64_t id = 0;
  const bool named = Has(line, " | task ") && RE2::PartialMatch(line, slot, &id);
  if (named && Has(line, "launch_slot_") && Has(line, "processing task")) {
    requests_.Launch(id);
    server_ = "llama.cpp";
    return false;
  }
  if (named && Has(line, " release: ") && Has(line, "stop processing")) {
    requests_.Release(id);
    return false;
  }
  if (named && Has(line, "print_timing")) timed_slot_ = id;
  std::string prompt;
  double ms = 0, tokens = 0;
  const bool one = !requests_.any() && IsOfOneRequest(line);
  if ((!requests_.any() && !one) || !RE2::PartialMatch(line, times, &prompt, &ms, &tokens)) return false;
  if (!prompt.empty()) {
    prompt_ms_ = ms;
    prompt_tokens_ = tokens;
    return false;
  }
  const double seconds = (std::exchange(prompt_ms_, 0) + ms) * 1e-3;
  const double read = std::exchange(prompt_tokens_, 0);
  if (!(seconds > 0) || (one && tokens <= 1)) return false;
  log_.program = "llama.cpp";
  if (!one) {
    requests_.Times(std::exchange(timed_slot_, std::nullopt), {seconds * 1e9, read, tokens});
    return true;
  }
  log_.settings.emplace("max_running_requests", "1");
  ServingSample sample;
  sample.running = 1;
  sample.prompt_tokens_per_second = read / seconds;
  sample.generated_tokens_per_second = tokens / seconds;
  sample.lasts_ns = seconds * 1e9;
  log_.samples.push_back(std::move(sample));
  return true;
}

// vLLM's line of speculative decoding, which follows that of the throughput.
void ServingLinesReader::Drafts(std::string_view line) {
  if (log_.samples.empty() || log_.samples.back().accepted) return;
  ServingSample& sample = log_.samples.back();
  sample.accepted = ShareAfter(line, "Avg Draft acceptance rate: ", kPercent);
  if (!sample.accepted) sample.accepted = ShareAfter(line, "Draft acceptance rate: ", 1);
  sample.accepted_length = NumberAfter(line, "Mean acceptance length: ");
}

void ServingLinesReader::Settings(std::string_view line) {
  if (Has(line, "LLM engine (v") || Has(line, "vLLM API server version") ||
      (Has(line, "(APIServer pid=") && Has(line, "] non-default args: {")))
    server_ = "vLLM";
  if (Has(line, "server_args=ServerArgs(")) server_ = "SGLang";
  if (line.starts_with("srv ") && Has(line, "load_model: loading model")) server_ = "llama.cpp";
  if (Has(line, "[TensorRT-LLM] TensorRT") || Has(line, "[TRT-LLM]")) server_ = "TensorRT-LLM";
  if (Has(line, "vLLM API server version") || Has(line, "server_args=ServerArgs(") ||
      Has(line, "trtllm-serve") || Has(line, "(APIServer pid="))
    serves_ = true;
  // In the words of vLLM and of SGLang, whose first line may be missing.
  const bool vllm =
                 Has(line, "EngineCore failed to start") || Has(line, "EngineCore encountered a fatal error"),
             sglang = Has(line, "Scheduler hit an exception: ");
  if (vllm || sglang) {
    engine_failed_ = true;
    if (server_.empty()) server_ = vllm ? "vLLM" : "SGLang";
  }
  static const RE2 cache(R"(KV cache size: ([\d,]+) tokens|\bmax_total_num_tokens=(\d+))");
  std::string first, second;
  if ((Has(line, "KV cache size: ") || Has(line, "max_total_num_tokens=")) &&
      RE2::PartialMatch(line, cache, &first, &second)) {
    std::string digits = first.empty() ? second : first;
    std::erase(digits, ',');
    int64_t tokens = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), tokens).ec == std::errc() && tokens > 0)
      log_.cache_tokens = tokens;
  }
  static const RE2 layers(R"(offloaded (\d+)/(\d+) layers to GPU)"),
      slots(R"(\b(?:n_parallel|n_slots) = (\d+))");
  if (Has(line, "layers to GPU") && RE2::PartialMatch(line, layers, &first, &second)) {
    log_.settings["gpu_layers"] = first;
    log_.settings["layers"] = second;
  }
  if ((Has(line, "n_parallel = ") || Has(line, "n_slots = ")) && RE2::PartialMatch(line, slots, &first))
    log_.settings["max_running_requests"] = first;
  if (const std::string_view device = DeviceOf(line); !device.empty()) {
    std::string& known = log_.settings["device"];
    if (known.empty() || device == "npu" || device == "amd") known = device;
  }
  if (Has(line, "Performance might be sub-optimal! Config file not found"))
    log_.settings["moe_config"] = "default";
  // "you specified quantization=gptq explicitly, so forcing gptq. Use quantization=gptq_marlin for faster
  // inference"
  static const RE2 faster(R"(so forcing (\w+)\. Use quantization=(\w+) for faster)");
  if (Has(line, " for faster inference") && RE2::PartialMatch(line, faster, &first, &second)) {
    log_.settings["forced_quantization"] = first;
    log_.settings["faster_quantization"] = second;
  }
  // "Custom allreduce is disabled because ...", of vLLM and SGLang; Ray's of a group that it places.
  if (Has(line, "ustom allreduce is disabled") || Has(line, "reserved number of GPUs")) {
    const bool nodes = Has(line, "spans across nodes") || Has(line, "spread out to 2+ nodes");
    const char* links = nodes                                   ? "nodes"
                        : Has(line, "more than two PCIe-only")  ? "pcie"
                        : Has(line, "lacks GPU P2P capability") ? "p2p"
                                                                : "";
    if (*links != '\0' && (nodes || !log_.settings.contains("links"))) log_.settings["links"] = links;
  }
  // "shape is M:32768, N:20480, K:3072, not found tuned config in ...", of AITER.
  static const RE2 untuned(R"(shape is M:\d+, N:(\d+), K:(\d+),? not found tuned config)");
  if (Has(line, "not found tuned config") && RE2::PartialMatch(line, untuned, &first, &second))
    untuned_.emplace(first, second);
  // As key of a dictionary, or as argument of a call. Both engines print their arguments on long lines.
  struct Argument {
    const char *words, *name;
  };
  static constexpr std::array kArguments =
      std::to_array<Argument>({{"max_num_seqs", "max_running_requests"},
                               {"max_running_requests", "max_running_requests"},
                               {"max_model_len", "max_length"},
                               {"max_seq_len", "max_length"},
                               {"context_len", "max_length"},
                               {"tensor_parallel_size", "tensor_parallel_size"},
                               {"tp_size", "tensor_parallel_size"},
                               {"enforce_eager", "eager"},
                               {"disable_cuda_graph", "eager"},
                               {"kv_cache_dtype", "kv_cache_dtype"},
                               {"quantization", "quantization"},
                               {"cpu_offload_gb", "host_weights_gb"},
                               {"disaggregation_mode", "disaggregation_mode"}});
  static const RE2 value(R"(^'?[=:] ?'?(\d+|True|False|[a-z][\w.-]*))");
  for (const auto& [words, name] : kArguments) {
    for (size_t at = line.find(words); at != std::string_view::npos; at = line.find(words, at + 1)) {
      const char before = at == 0 ? ' ' : line[at - 1];
      std::string text;
      if (before != ' ' && before != '\'' && before != '(' && before != ',') continue;
      // "set 'enforce_eager=True'" is advice of the engine, and "'enforce_eager': True" a setting.
      const std::string_view after = line.substr(at + std::string_view(words).size());
      if ((before == '\'') != after.starts_with('\'')) continue;
      if (RE2::PartialMatch(after, value, &text)) log_.settings[name] = text;
      break;
    }
  }
}

bool ServingLinesReader::Starts(std::string_view line) {
  return Has(line, "vLLM API server version") || Has(line, "server_args=ServerArgs(");
}

ServingLog ServingLinesReader::Finish() {
  start_.Finish(log_);
  if (answers_) idle_.Finish(log_);
  requests_.AddTo(log_);
  log_.untuned_shapes = static_cast<int64_t>(untuned_.size());
  double build_seconds = 0;
  for (const auto& [module, took] : builds_) build_seconds += took;
  if (build_seconds > 0) log_.build_ns = build_seconds * 1e9;
  return std::move(log_);
}

}  // namespace dladvisor::serving_log
