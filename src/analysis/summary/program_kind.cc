// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/summary/program_kind.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/base/value.h"
#include "src/analysis/context/api_kind.h"
#include "src/analysis/context/operator_tree.h"
#include "src/analysis/context/range_text.h"
#include "src/analysis/context/serving_step.h"
#include "src/analysis/summary/framework_name.h"
#include "src/trace/distinct_names.h"

namespace dladvisor {
namespace {

using Names = std::vector<std::string_view>;  // each once

// A loop of five rounds runs each of its kernels five times or more, and any network has more kernels.
constexpr int64_t kLeastRuns = 5, kLeastKernels = 200, kLeastSteps = 3, kCountedSteps = 3;
constexpr size_t kLeastPerStep = 8;
constexpr Ns kLeastWork = 1'000'000;  // shorter than the time of starting a program that would repeat it

// Below what anybody waits for.
constexpr Ns kBriefWork = 50'000'000;

// Of fewer launches a share says nothing; of a captured graph not one in ten runs.
constexpr int64_t kLeastCaptured = 100, kLaunchesPerRunKernel = 10;

Names NamesOf(const Trace& trace, const std::vector<NameId>& column) {
  Names names;
  for (const NameId id : DistinctNames(trace, column)) names.push_back(trace.names.View(id));
  return names;
}

// Without what single calls append.
Names RangesOf(const Context& context) {
  Names names;
  for (uint32_t i = 0; i < context.texts->size(); ++i) names.push_back(context.texts->TextAt(i));
  return names;
}

// A name that matches: the first in alphabetic order, so that it does not depend on ids.
std::optional<std::string> Matching(const Names& names, const RE2& pattern) {
  std::optional<std::string_view> first;
  for (const std::string_view name : names)
    if ((!first || name < *first) && RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), pattern))
      first = name;
  return first ? std::optional<std::string>(*first) : std::nullopt;
}

// A name of a range or a kernel that matches.
std::optional<std::string> Evidence(const Names& ranges, const RE2& of_ranges, const Names& kernels,
                                    const RE2& of_kernels) {
  if (auto range = Matching(ranges, of_ranges)) return "range " + *range;
  if (auto kernel = Matching(kernels, of_kernels)) return "kernel " + *kernel;
  return std::nullopt;
}

// Kineto's events of accelerators that are not read, by their process or category.
std::optional<ProgramKind> OtherAccelerator(const Trace& trace) {
  if (const auto process = trace.facts.find("accelerator"); process != trace.facts.end())
    return ProgramKind{program_kind::kAccelerator, "events of " + process->second};
  static const RE2 category(R"(^(mtia|hpu|glow|tpu|npu)_)");
  for (const auto& [name, rows] : trace.health.rows_skipped)
    if (rows > 0 && RE2::PartialMatch(name, category))
      return ProgramKind{program_kind::kAccelerator, "events " + name};
  return std::nullopt;
}

// Operators of an accelerator that is no GPU of CUDA or ROCm, as Apple's (aten::_mps_convolution).
std::optional<ProgramKind> OperatorOfAccelerator(const Names& ranges) {
  static const RE2 of_device(R"((?i)^aten::(\w*_)?(mps|xpu|hpu|npu|mtia)(_\w*)?$)");
  const auto range = Matching(ranges, of_device);
  return range ? std::optional(ProgramKind{program_kind::kAccelerator, "operator " + *range}) : std::nullopt;
}

// A value that the host has computed is read in no time: who waits for values waits for a device.
std::optional<ProgramKind> WaitsForValues(const Trace& trace) {
  constexpr int64_t kLeastReads = 3;
  constexpr double kLeastShare = 0.1;
  int64_t reads = 0;
  Ns waited = 0, first = std::numeric_limits<Ns>::max(), last = std::numeric_limits<Ns>::min();
  for (size_t i = 0; i < trace.ranges.size(); ++i) {
    if (trace.ranges.open[i] || trace.names.View(trace.ranges.domain[i]) != kOperatorDomain) continue;
    const Ns length = trace.ranges.end[i] - trace.ranges.start[i];
    first = std::min(first, trace.ranges.start[i]);
    last = std::max(last, trace.ranges.end[i]);
    if (length < kLeastWork || trace.names.View(trace.ranges.name[i]) != "aten::_local_scalar_dense")
      continue;
    ++reads;
    waited += length;
  }
  if (reads < kLeastReads || static_cast<double>(waited) < kLeastShare * static_cast<double>(last - first))
    return std::nullopt;
  return ProgramKind{program_kind::kAccelerator, fmt::format("{} reads of single values wait for it", reads)};
}

// An operator that computes on a GPU only launches there: that half of its calls take longer than any launch
// shows that the host computes. First calls load what they need, so that one or two say nothing.
std::optional<ProgramKind> ComputesItself(const Trace& trace) {
  static const RE2 product(R"(aten::(addmm|mm|bmm|baddbmm|_convolution))");
  constexpr size_t kLeastCalls = 3;
  std::map<NameId, std::vector<Ns>> calls;
  for (size_t i = 0; i < trace.ranges.size(); ++i) {
    if (trace.ranges.open[i] || trace.names.View(trace.ranges.domain[i]) != kOperatorDomain) continue;
    const std::string_view name = trace.names.View(trace.ranges.name[i]);
    if (RE2::FullMatch(re2::StringPiece(name.data(), name.size()), product))
      calls[trace.ranges.name[i]].push_back(trace.ranges.end[i] - trace.ranges.start[i]);
  }
  for (auto& [name, times] : calls) {
    if (times.size() < kLeastCalls) continue;
    const auto middle = times.begin() + static_cast<ptrdiff_t>((times.size() - 1) / 2);
    std::ranges::nth_element(times, middle);
    if (*middle >= kLeastWork)
      return ProgramKind{program_kind::kHost,
                         fmt::format("calls of {} take {}, not the microseconds of a launch to a GPU",
                                     trace.names.View(name),
                                     FormatValue(Value(static_cast<double>(*middle)), Unit::kNanoseconds))};
  }
  return std::nullopt;
}

// Where PyTorch's profiler recorded calls to CUDA, a product on a GPU would show its launch.
std::optional<ProgramKind> RunsProducts(const Trace& trace) {
  static const RE2 product(R"(aten::(addmm|mm|bmm|baddbmm|_convolution))");
  if (trace.format != "kineto") return std::nullopt;
  Ns longest = 0;
  std::string_view longest_name;
  for (size_t i = 0; i < trace.ranges.size(); ++i) {
    const std::string_view name = trace.names.View(trace.ranges.name[i]);
    const Ns length = trace.ranges.end[i] - trace.ranges.start[i];
    if (trace.ranges.open[i] || length <= longest ||
        trace.names.View(trace.ranges.domain[i]) != kOperatorDomain ||
        !RE2::FullMatch(re2::StringPiece(name.data(), name.size()), product))
      continue;
    longest = length;
    longest_name = name;
  }
  if (longest < kLeastWork) return std::nullopt;
  return ProgramKind{program_kind::kHost,
                     fmt::format("{}, and no launch among the calls to CUDA", longest_name)};
}

// Whoever uses a GPU of NVIDIA calls its driver some hundred times (ioctl) to begin with, and none while it
// is at work. That the profile holds the beginning shows in what an interpreter does in the first second,
// while it has one thread: it opens its modules and sets up its signals. A few calls are for the terminal.
// What launches other programs is not what uses the GPU.
std::optional<ProgramKind> CallsNoDriver(const Trace& trace) {
  constexpr size_t kLeastOpened = 10, kMostToTerminal = 10;
  constexpr Ns kBeginning = 1'000'000'000;
  static const RE2 open(R"(f?open(at)?(64)?)"), signal(R"(sigaction|signal)"), driver(R"(ioctl)"),
      of_profiler(R"(OS runtime libraries .*)");
  static const RE2 launcher(
      R"(^(.*/)?(mpirun|mpiexec|orterun|prterun|orted|prted|srun|torchrun|env|numactl|(ba|da|z)?sh|nsys.*)$)");
  if (std::ranges::any_of(trace.processes, [](const Process& p) { return RE2::FullMatch(p.name, launcher); }))
    return std::nullopt;
  const OsCalls& calls = trace.os_calls;
  const auto is = [&](size_t call, const RE2& function) {
    const std::string_view name = trace.names.View(calls.name[call]);
    return RE2::FullMatch(re2::StringPiece(name.data(), name.size()), function);
  };
  std::vector<size_t> early;
  size_t opened = 0, signals = 0, to_driver = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    to_driver += is(i, driver);
    if (calls.start[i] < kBeginning && !is(i, of_profiler)) early.push_back(i);
  }
  std::ranges::sort(early, {}, [&](size_t call) { return std::pair(calls.start[call], call); });
  for (const size_t call : early) {
    if (calls.thread[call] != calls.thread[early.front()]) break;
    opened += is(call, open);
    signals += is(call, signal);
  }
  if (opened < kLeastOpened || signals == 0 || to_driver >= kMostToTerminal) return std::nullopt;
  return ProgramKind{
      program_kind::kHost,
      fmt::format("of its {} calls of the operating system none is to a GPU's driver", calls.size())};
}

// Operators that exist for the host only, or no sign of a GPU where the profiler would show one.
std::optional<ProgramKind> HostOnly(const Trace& trace, const Names& ranges) {
  if (!GivesGpusNothing(trace)) return std::nullopt;
  static const RE2 of_gpus(
      R"((?i)cudnn_?(?:[a-hj-z]|i[a-rt-z])|cuda|\bhip|miopen|nccl|rccl|cublas|_flash_attention|_efficient_attention|_fused_(adam|sgd)|Fused(Adam|SGD|Lamb))");
  static const RE2 of_hosts(
      R"((?i)^aten::(_?mkldnn|mkl_|_?nnpack|_?thnn_conv|_?slow_conv\w*(_cpu|_forward)?$)|^mkldnn|^gloo:|^onednn|^(Tfrt|PjRt)Cpu\w*::Execute|^ThunkExecutor::Execute)");
  if (Matching(ranges, of_gpus)) return std::nullopt;
  if (auto other = OperatorOfAccelerator(ranges)) return other;
  if (auto range = Matching(ranges, of_hosts))
    return ProgramKind{program_kind::kHost, *range + " runs on CPUs alone"};
  const bool asked = trace.api_calls.size() > 0;
  if (auto waits = WaitsForValues(trace); waits && !asked) return waits;
  if (auto computing = ComputesItself(trace)) return computing;
  if (asked) return RunsProducts(trace);
  // Where calls to CUDA were asked for and none came, how the program ended is more to ask; where they were
  // not, to trace them.
  if (trace.format == "nsys" && !trace.capture_options.contains("gpu_traced"))
    if (auto calls = CallsNoDriver(trace)) return calls;
  // PyTorch's profiler lists the GPUs that it sees, whether their work is recorded or not.
  const auto listed = trace.facts.find("listed_gpus");
  if (listed == trace.facts.end()) return std::nullopt;
  if (trace.format == "nsys" && listed->second == "0")
    return ProgramKind{program_kind::kHost, "no driver of an NVIDIA GPU on the machine"};
  bool operators = false;
  for (size_t i = 0; i < trace.ranges.size() && !operators; ++i)
    operators = trace.names.View(trace.ranges.domain[i]) == kOperatorDomain;
  if (operators && listed->second == "0")
    return ProgramKind{program_kind::kHost, trace.format == "timeline"
                                                ? "operators, all of them on the CPU"
                                                : "operators, and an empty list of GPUs"};
  if (trace.ranges.size() == 0 && trace.frames.size() > 0)
    return ProgramKind{program_kind::kHost, "Python functions, and not one operator"};
  return std::nullopt;
}

// Launches between the calls that begin and end a capture are written into a graph.
std::optional<ProgramKind> GraphCapture(const Trace& trace) {
  static const RE2 begin(R"(^(cuda|cu|hip)StreamBeginCapture)"), end(R"(^(cuda|cu|hip)StreamEndCapture)");
  const ApiCalls& calls = trace.api_calls;
  if (!Matching(NamesOf(trace, calls.name), begin)) return std::nullopt;
  const std::vector<ApiKind> kinds = ClassifyApis(trace);
  constexpr int64_t kNone = -1;
  std::vector<int64_t> captured(trace.threads.size(), kNone);  // in the capture that the thread is in
  int64_t launches = 0, written = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    const std::string_view name = trace.names.View(calls.name[i]);
    const bool known = calls.thread[i] != kNoIndex;
    if (kinds[calls.name[i]] == ApiKind::kLaunch) {
      ++launches;
      if (known && captured[calls.thread[i]] != kNone) ++captured[calls.thread[i]];
    } else if (known && name.find("Capture") != std::string_view::npos) {
      const re2::StringPiece text(name.data(), name.size());
      int64_t& of_thread = captured[calls.thread[i]];
      if (RE2::PartialMatch(text, begin)) of_thread = 0;
      if (!RE2::PartialMatch(text, end)) continue;
      written += std::max<int64_t>(0, of_thread);
      of_thread = kNone;
    }
  }
  const auto kernels = static_cast<int64_t>(trace.kernels.size());
  if (launches < kLeastCaptured || (kernels * kLaunchesPerRunKernel >= launches && written * 2 < launches))
    return std::nullopt;
  return ProgramKind{program_kind::kGraphCapture,
                     fmt::format("{} launches, of which {} ran", launches, kernels)};
}

// Steady steps, or steps of networks, which run more than a few kernels: the first of them counts too, and
// one is enough where the profiler let others pass before it recorded.
bool Loops(const Context& context) {
  const bool counted = context.steps.range_pattern == "ProfilerStep#";
  for (const auto& [rank, list] : context.steps.by_rank) {
    if (context.StepCount(rank) >= kLeastSteps) return true;
    const size_t rounds = list.size();
    if (rounds == 0 || context.trace.kernels.size() < kLeastPerStep * rounds) continue;
    if (static_cast<int64_t>(rounds) >= kLeastSteps || (counted && list.front().number >= kCountedSteps))
      return true;
  }
  return false;
}

// The GPU's work, where it is over sooner than the program has started.
std::optional<ProgramKind> OverBeforeLong(const Context& context) {
  std::optional<Interval> longest;
  for (const Interval& window : context.windows)
    if (!longest || window.length() > longest->length()) longest = window;
  if (!longest || longest->length() >= kBriefWork) return std::nullopt;
  const Ns start_up = longest->start - context.activity.start;
  if (start_up <= longest->length()) return std::nullopt;
  constexpr double kMillisecond = 1e6;
  return ProgramKind{program_kind::kOneShot,
                     fmt::format("{:.3g} ms of GPU work after a start of {:.3g} ms",
                                 static_cast<double>(longest->length()) / kMillisecond,
                                 static_cast<double>(start_up) / kMillisecond)};
}

// A program that says what it measures has warmed up, and knows what it wants to know.
bool Measures(const Context& context) {
  constexpr size_t kLeastMeasured = 20;  // kernels
  if (context.phases.empty()) return false;
  size_t measured = 0;
  for (size_t gpu = 0; gpu < context.windows.size(); ++gpu)
    for (const uint32_t kernel : context.work[gpu].kernels)
      measured += context.trace.kernels.start[kernel] >= context.windows[gpu].start &&
                  context.trace.kernels.end[kernel] <= context.windows[gpu].end;
  return measured >= kLeastMeasured;
}

bool IsOfNetworks(std::string_view framework) {
  return framework == "PyTorch" || framework == "PyTorch/XLA" || framework == "TensorFlow" ||
         framework == "JAX" || framework == "PaddlePaddle";
}

// TensorFlow records one call of a session: with operators that update variables it is a whole step.
std::optional<ProgramKind> RecordedStep(const Trace& trace, const Names& ranges) {
  static const RE2 updates(R"(^(Resource)?(Sparse)?Apply[A-Z]\w*$)");
  constexpr size_t kLeastInStep = 20;
  if (trace.format != "timeline" || trace.kernels.size() < kLeastInStep) return std::nullopt;
  const auto update = Matching(ranges, updates);
  if (!update) return std::nullopt;
  return ProgramKind{program_kind::kTraining, fmt::format("operator {}", *update)};
}

// Whether the second half of so many kernels, or the last third, repeats those before it.
bool EndsWithAPassAgain(const Kernels& kernels, const std::vector<uint32_t>& order) {
  const size_t count = order.size();
  for (size_t pass = count / 3; pass > 0 && 2 * pass <= count; ++pass) {
    size_t same = 0;
    while (same < pass &&
           kernels.name[order[count - 1 - same]] == kernels.name[order[count - 1 - same - pass]])
      ++same;
    if (same == pass) return true;
  }
  return false;
}

// A model that is loaded parameter by parameter before the first kernel, and of which no second pass
// follows: it would end with the same kernels again.
std::optional<ProgramKind> OnePassOfModel(const Context& context) {
  constexpr size_t kLeastParameters = 50, kLeastSizes = 10, kMostKernelsOfPass = 10'000;
  constexpr double kMostlyAhead = 0.9;  // of all copies to the GPU
  const Copies& copies = context.trace.copies;
  for (const GpuWork& work : context.work) {
    if (work.kernels.empty() || work.kernels.size() > kMostKernelsOfPass) continue;
    const Ns first = context.trace.kernels.start[work.kernels.front()];
    std::unordered_set<int64_t> sizes;
    size_t ahead = 0, all = 0;
    for (const uint32_t copy : work.copies) {
      if (copies.direction[copy] != CopyDirection::kHostToDevice) continue;
      ++all;
      if (copies.start[copy] >= first) continue;
      ++ahead;
      sizes.insert(copies.bytes[copy]);
    }
    if (ahead < kLeastParameters || sizes.size() < kLeastSizes || work.kernels.size() > ahead ||
        static_cast<double>(ahead) < kMostlyAhead * static_cast<double>(all) ||
        EndsWithAPassAgain(context.trace.kernels, work.kernels))
      continue;
    return ProgramKind{program_kind::kOneShot, fmt::format("{} kernels after {} copies that load a model",
                                                           work.kernels.size(), ahead)};
  }
  return std::nullopt;
}

std::optional<ProgramKind> OneShot(const Context& context, const Names& names) {
  const Kernels& all = context.trace.kernels;
  const auto kernels = static_cast<int64_t>(all.size()), distinct = static_cast<int64_t>(names.size());
  const std::optional<std::string> framework = FrameworkName(context.trace, *context.texts);
  const bool many = kernels >= kLeastKernels;
  // Many kernels of a network in little time are an excerpt of its loop; those of other programs are all
  // there is.
  if (kernels == 0 || context.trace.graph_launches.size() > 0 || Loops(context) || Measures(context))
    return std::nullopt;
  const bool of_network = framework && IsOfNetworks(*framework);
  if (of_network)
    if (auto pass = OnePassOfModel(context)) return pass;
  if (many && of_network) return std::nullopt;
  if (auto brief = OverBeforeLong(context)) return brief;
  if (many) return std::nullopt;
  Ns work = 0;
  for (size_t i = 0; i < all.size(); ++i) work += all.end[i] - all.start[i];
  if (kernels >= kLeastRuns * std::max<int64_t>(distinct, 1) && work >= kLeastWork) return std::nullopt;
  return ProgramKind{program_kind::kOneShot,
                     fmt::format("{} kernel{} of {} name{}", kernels, kernels == 1 ? "" : "s", distinct,
                                 distinct == 1 ? "" : "s")};
}

}  // namespace

std::optional<ProgramKind> FindProgramKind(const Context& context) {
  const Trace& trace = context.trace;
  const Names kernels = NamesOf(trace, trace.kernels.name), ranges = RangesOf(context);
  if (context.ranks.gpus.empty()) {
    if (trace.telemetry.size() > 0) return ProgramKind{program_kind::kLog, "samples of telemetry"};
    if (trace.training_log.iterations.size() > 0 || trace.training_log.runtime_ns ||
        trace.training_log.loss_lines > 0)
      return ProgramKind{program_kind::kLog, "lines of a training's log"};
    if (!trace.serving_log.empty()) return ProgramKind{program_kind::kLog, "lines of a server's log"};
    if (!trace.program_spans.empty()) return ProgramKind{program_kind::kLog, "spans that a program marked"};
    if (!trace.summary_tables.empty())
      return ProgramKind{program_kind::kLog, "totals by name that a profiler printed"};
    if (!trace.program_output.empty()) return ProgramKind{program_kind::kLog, "lines of a program's output"};
    if (auto accelerator = OtherAccelerator(trace)) return accelerator;
    return HostOnly(trace, ranges);
  }
  if (auto capture = GraphCapture(trace)) return capture;
  if (auto step = RecordedStep(trace, ranges)) return step;
  if (auto one_shot = OneShot(context, kernels)) return one_shot;

  for (const std::string_view range : ranges)
    if (!ServingStepPattern(range).empty())
      return ProgramKind{program_kind::kServing, fmt::format("range {}", range)};
  static const RE2 serving_ranges(R"(^\[Executor\] |^(vllm|sglang|tensorrt_llm|trtllm)\b)");
  static const RE2 serving_kernels(R"(\b(vllm|sglang|tensorrt_llm)::)");
  if (auto evidence = Evidence(ranges, serving_ranges, kernels, serving_kernels))
    return ProgramKind{program_kind::kServing, *evidence};
  static const RE2 training_ranges(
      R"((?i)^Optimizer\.(step|zero_grad)|Backward\d*$|^autograd::engine|\bbackward\b|\boptimizer[._ ]?step|AccumulateGrad)");
  static const RE2 training_kernels(
      R"((?i)backward|[_:]bwd|bwd_|wgrad|\badamw?\b|adam_?(functor|kernel)|sgd_?(functor|momentum))");
  if (auto evidence = Evidence(ranges, training_ranges, kernels, training_kernels))
    return ProgramKind{program_kind::kTraining, *evidence};
  if (const auto framework = FrameworkName(trace, *context.texts); framework && IsOfNetworks(*framework))
    return ProgramKind{program_kind::kInference, *framework + " without a backward pass"};
  static const RE2 engines(R"(^(TensorRT|TRT)\b|ExecutionContext::(enqueue|execute))"),
      engine_kernels(R"(^trt_|\btrt_)");
  if (auto evidence = Evidence(ranges, engines, kernels, engine_kernels))
    return ProgramKind{program_kind::kInference, *evidence};
  return ProgramKind{program_kind::kComputing, "no framework of neural networks"};
}

std::string_view StrongerKind(std::string_view a, std::string_view b) {
  using namespace program_kind;
  static constexpr std::array kOrder = {kTraining, kServing,     kInference, kComputing, kGraphCapture,
                                        kOneShot,  kAccelerator, kHost,      kLog};
  return std::ranges::find(kOrder, a) <= std::ranges::find(kOrder, b) ? a : b;
}

}  // namespace dladvisor
