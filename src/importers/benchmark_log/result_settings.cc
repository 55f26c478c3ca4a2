// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/result_settings.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <set>

#include "src/importers/benchmark_log/result_cells.h"

namespace dladvisor::benchmark_log {
namespace {

// Not every row needs to have it.
bool IsNumeric(const std::vector<std::string>& cells) {
  return std::ranges::all_of(
      cells, [](const std::string& cell) { return cell.empty() || NumberOfCell(cell).has_value(); });
}

std::string Words(std::string_view name) {
  std::string words(name);
  std::ranges::replace(words, '_', ' ');
  return words;
}

// Whether the same ways are there of several works: "gemm_naive, gemm_tiled, gemv_naive, gemv_tiled".
bool NamesSeveralWorks(const std::set<std::string>& values) {
  std::map<std::string, std::set<std::string>> works_of;
  for (const std::string& value : values) {
    const size_t end = value.find_first_of("_- ");
    if (end == std::string::npos || IsWay(value.substr(0, end))) continue;
    auto& works = works_of[value.substr(end + 1)];
    works.insert(value.substr(0, end));
    if (works.size() > 1) return true;
  }
  return false;
}

// Of different words two and more are ways to do the same, a quarter of all, and one is what others are
// compared with: a profile's names of kernels ("fused_adam", "flash_fwd") have none of these.
bool NamesWays(const std::vector<std::string>& cells) {
  static const RE2 base(
      R"((?i)(?:^|[_ -])(?:naive|baseline|ref(?:erence)?|eager|torch|pytorch|cublas|cudnn|numpy|unfused|sequential|serial|default|vanilla|native)$)");
  const std::set<std::string> values(cells.begin(), cells.end());
  const auto ways = static_cast<size_t>(std::ranges::count_if(values, IsWay));
  return ways >= 2 && 4 * ways >= values.size() && !NamesSeveralWorks(values) &&
         std::ranges::any_of(values, [](const std::string& value) { return RE2::PartialMatch(value, base); });
}

}  // namespace

Role RoleOfName(std::string_view name) {
  static const RE2 rate(
      R"((?i)throughput|bandwidth|\bbw\b|\bqps\b|\bfps\b|\btps\b|\brps\b|[gt]flops?(?:/s)?\b|(?:/|per[ _])s(?:ec(?:ond)?)?\b|(?:\b|_)(?:im(?:a?ge?)?s?|samples?|tok(?:en)?s?|req(?:uest)?s?|it(?:er(?:ation)?)?s?|frames?|steps?|batch(?:es)?|[kmg]i?b|examples?|seqs?|items?)_s(?:ec)?\b)"),
      time(
          R"((?i)latency|run ?_?time|duration|elapsed|ttft|tfft|response[ _]?time|first[ _]token|wall.?(?:clock|time)?|\b(?:real|cpu|gpu|step|iter|batch|epoch|train|infer|inference|exec)_?time\b|^time$|(?:time|mean|avg|total|compute)\w*[ _(\[]s[)\]]?$|(?:^|[ _(\[])(?:ns|us|µs|ms|secs?|seconds)[)\]]?$|[(\[]s[)\]]$|^(?:ns|us|µs|ms|s|secs?|seconds)(?:/|[ _]per[ _])|(?-i:[a-z](?:Ns|Us|Ms|Secs?|Seconds)$))"),
      status(R"((?i)^(?:status|state|success|error|outcome)$)"),
      ignored(
          R"((?i)std|dev\b|\bvar\b|(?:\b|_)(?:min|max|median)(?:\b|_(?:latency|time|ms|us|s\b))|(?:\b|_)p\d\d|speed ?_?up|efficien|(?:\b|_)v?r?mem|memory|_mi?b\b|_gi?b\b|\(mi?b\)|\(gi?b\)|util|power|watt|temp|acc\b|accuracy|\bloss|f1|score|error|theoretical|peak|timestamp|(?:start|end|begin|finish|arrival|creat\w*|submit|queue|wait|up|date)[ _]?time|offset|date|\bid\b|^index$|(?:^|_)idx$|_index$|seed|repeat|repetition|\brep\b|\brun\b|trial|timeout|^iter(?:ation)?s?$|^rounds?$|^n?_?runs$)");
  if (RE2::FullMatch(name, status)) return Role::kStatus;
  if (RE2::PartialMatch(name, ignored)) return Role::kIgnored;
  if (RE2::PartialMatch(name, rate)) return Role::kRate;
  // "hf_time", "sdpa_compile_time": of ways to do the same. "kernel_time" is of a part.
  static const RE2 of_way(R"((?i)^\w+_time$)");
  return RE2::PartialMatch(name, time) || (RE2::FullMatch(name, of_way) && IsWay(name)) ? Role::kTime
                                                                                        : Role::kSetting;
}

Role RoleOfWords(std::string_view name) {
  static const RE2 note(
      R"((?i)timestamp|\bdate|datetime|\bid\b|uuid|\bpath|file|notes?$|comment|url|command|\bcmd\b|version|commit|hash|unit$|message|error|speed ?_?up|efficien)");
  if (RoleOfName(name) == Role::kStatus) return Role::kStatus;
  return RE2::PartialMatch(name, note) ? Role::kIgnored : Role::kSetting;
}

bool IsTimeOfBatch(std::string_view name) {
  static const RE2 batch(
      R"((?i)latency|step|iter|batch|forward|backward|fwd|bwd|infer|pass\b|(?:\b|_)[mµun]s\b)"),
      whole("(?i)epoch|total|train|elapsed|duration|wall|e2e");
  return RE2::PartialMatch(name, batch) && !RE2::PartialMatch(name, whole);
}

bool IsRateOfBatches(std::string_view name) {
  static const RE2 batches(
      R"((?i)\bqps\b|quer(?:y|ies)|\bit(?:er(?:ation)?)?s?[ /_]|batch(?:es)?[ /_]|steps?[ /_])");
  return RE2::PartialMatch(name, batches);
}

bool IsRateOfOne(std::string_view name) {
  static const RE2 one(R"((?i)(?:/|per[ _])(?:user|gpu|device|node|rank|request|worker|stream))");
  return RE2::PartialMatch(name, one);
}

bool IsLoadOfDevice(std::string_view name) {
  static const RE2 each(R"((?i)(?:/ ?|per[ _-]?)(?:gpu|device|rank)|local|micro|^mbs$)");
  return RE2::PartialMatch(name, each);
}

bool IsNumberOfPieces(std::string_view name) {
  static const RE2 pieces(R"((?i)^(?:(?:num(?:ber)?|no|n|#)[ _.]*(?:of[ _])*)?micro[ _]?batches$)");
  return RE2::FullMatch(name, pieces);
}

bool IsOfProfile(std::string_view name) {
  static const RE2 profile(
      R"((?i)\b(?:calls?|counts?|instances|occurrences|percent|start|[pt]id|stream|op|ops|operator|function|event)\b)"),
      share(
          R"((?i)^(?:self|cpu|cuda|gpu|time|runtime|total|of|all|sum|cumulative|\W)*%(?:self|cpu|cuda|gpu|time|runtime|total|of|all|sum|cumulative|\W)*$)"),
      counted("(?i)(?:gpu|device|node|worker|thread|client)s?[ _]count");
  return RE2::FullMatch(name, share) ||
         (RE2::PartialMatch(name, profile) && !RE2::PartialMatch(name, counted));
}

bool AreStates(const std::vector<std::string>& texts) {
  static const RE2 state("(?i)(?:cold|warm|hot|first|second|hit|miss|steady)(?:[ _-](?:start|cache|run))?");
  return std::ranges::all_of(texts, [](const std::string& text) { return RE2::FullMatch(text, state); });
}

bool IsWay(std::string_view text) {
  static const RE2 way(
      R"((?i)\b(?:cpu|gpu|cuda|hip|seq|sequential|serial|par|parallel|omp|openmp|mpi|naive|tiled|wmma|hf|cublas|cudnn|torch|pytorch|torchscript|onnx(?:runtime)?|tensorrt|trt|openvino|triton|numpy|jax|xla|tensorflow|tf|keras|vllm|sglang|tgi|baseline|optimi[sz]ed|fused|unfused|fp16|fp32|fp64|fp8|tf32|bf16|float(?:16|32|64)|bfloat16|half|amp|autocast|int8|int4|awq|gptq|eager|compiled?|inductor|reduce-overhead|max-autotune|flash\w*|sdpa|math|mem[ -]?efficient|xformers|ddp|fsdp\d?|zero-?\d|dp|graph|graphs|streams?|sync|async|pinned|v\d+)\b)");
  return RE2::PartialMatch(Words(text), way);
}

SettingKind KindOfSetting(const std::string& name, const std::vector<std::string>& cells) {
  static const RE2 devices(
      R"((?i)^(?:(?:num(?:ber)?|no|n|#)[ _.]*(?:of[ _])*)?(?:gpus?|devices?|accelerators?|nodes?|ranks?|tpus?|chips?)(?:[ _](?:count|used))?$|world[ _]?size|^[td]p$|tp[ _]?size|(?:tensor|data)[ _]?parallel)"),
      load(
          R"((?i)batch|^bsz?$|^[mg]bs$|(?-i:^c$)|^conc$|^n?[ _]?parallel$|concurren|(?:^|[ _])(?:clients|users)$|num[ _]?(?:seqs|prompts)|in.?flight|micro)"),
      shares(
          R"((?i)thread|worker|proc|block|tile|chunk|stream|prefetch|queue[ _]?(?:depth|size|len)|stage|split|unroll|warp|buffer|shard|\bpp\b|table)"),
      counted(R"((?i)^(?:(?:num(?:ber)?|no|n|#|total|max)[ _.]*(?:of[ _])*)?batches$)"),
      given(
          R"((?i)^(?:model|network|net|arch(?:itecture)?|backbone|dataset|data|task|gpu|hardware|hw|machine|host|hostname|node|platform|query|layer|shapes?|cases?|test|problem|input|size|dims?|operation|collective|workload|benchmark|scenario|example|prompt|language|phase|part|component|section|kernel|function|name|type|metric)(?:[ _.-]?(?:name|case|id|size|shape|type|\d+))*$)"),
      hosts(R"((?i)^(?:cpu|gpu|cuda|mps|xpu|tpu|hip|rocm)(?::\d+)?$)");
  const std::string words = Words(name);
  if (!IsNumeric(cells)) {
    // "kernel" of naive, tiled and cublas names ways to do the same, and of gemm and softmax what is done.
    static const RE2 ways(
        R"((?i)^(?:kernel|function|name|type|test|case|operation|benchmark|algorithm)(?:[ _.-]?name)?$)");
    if (RE2::FullMatch(words, ways) && NamesWays(cells)) return SettingKind::kChoice;
    if (AreStates(cells)) return SettingKind::kGiven;
    static const RE2 device("(?i)^(?:device|gpu|platform|hardware)$");
    const bool host = RE2::FullMatch(words, device) && std::ranges::all_of(cells, [](const auto& cell) {
                        return RE2::FullMatch(cell, hosts);
                      });
    if (host) return SettingKind::kChoice;
    return RE2::FullMatch(words, given) || RE2::FullMatch(words, device) ? SettingKind::kGiven
                                                                         : SettingKind::kChoice;
  }
  // Devices from 0 on are their numbers.
  const bool from_0 = std::ranges::any_of(cells, [](const std::string& cell) {
    const auto number = NumberOfCell(cell);
    return number && number->value <= 0;
  });
  if (RE2::PartialMatch(words, devices)) return from_0 ? SettingKind::kGiven : SettingKind::kDevices;
  if (IsNumberOfPieces(words)) return SettingKind::kChoice;
  if (RE2::FullMatch(words, counted)) return SettingKind::kGiven;
  if (RE2::PartialMatch(words, load)) return from_0 ? SettingKind::kGiven : SettingKind::kLoad;
  return RE2::PartialMatch(words, shares) ? SettingKind::kChoice : SettingKind::kGiven;
}

}  // namespace dladvisor::benchmark_log
