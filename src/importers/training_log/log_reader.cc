// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/log_reader.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "src/importers/training_log/lines/durations.h"
#include "src/importers/training_log/lines/log_line.h"
#include "src/importers/training_log/lines/translated_words.h"
#include "src/importers/training_log/longest_training.h"
#include "src/importers/training_log/program/program_error.h"
#include "src/importers/training_log/steps/epoch_times.h"
#include "src/importers/training_log/steps/step_forms.h"
#include "src/importers/training_log/steps/stops.h"

namespace dladvisor::training_log {
namespace {
double TimeOf(const TrainingIteration& row) {
  return row.elapsed_ns.value_or(0) * static_cast<double>(row.covers.value_or(1));
}

// Of the iterations, the time that is known; a nanosecond of those of which the pace is.
double KnownTime(const TrainingLog& log) {
  double known = 0;
  for (const TrainingIteration& row : log.iterations) {
    known += TimeOf(row);
    if (row.samples_per_second || row.tokens_per_second) known += 1;
  }
  return known;
}

// Of two readings of the same lines: times before none, steps before epochs, loading before none, rounds of
// steps before as many starts of the training, and more of the time before less.
bool SaysMore(const TrainingLog& log, const TrainingLog& than) {
  if (log.empty() || than.empty()) return !log.empty();
  constexpr double kTimed = 1e6, kMore = 1.5, kAsManyLines = 0.9;
  const double time = KnownTime(log), other = KnownTime(than);
  if ((time > kTimed) != (other > kTimed)) return time > other;
  if (log.of_epochs != than.of_epochs) return than.of_epochs;
  if (log.timers.empty() != than.timers.empty()) return than.timers.empty();
  const bool as_many = static_cast<double>(log.iterations.size()) >=
                       kAsManyLines * static_cast<double>(than.iterations.size());
  if (time > kTimed && as_many && log.iterations.back().attempt < than.iterations.back().attempt) return true;
  return time > kMore * other;
}

// Whether it says neither what its steps take nor how many of anything are done in a second.
bool Untimed(const TrainingLog& log) {
  return KnownTime(log) == 0 && !log.runtime_ns && !log.samples_per_second;
}

// Arguments that are known, from which on a text is a training's even where it prints no iteration.
constexpr size_t kLeastSettings = 8;
// Lines with a loss that show a training which counts nothing.
constexpr int64_t kLeastLosses = 20;
// Beside the number of a step or epoch a loss shows as much as so many alone.
constexpr int64_t kOfCounted = 7;
// So many show a pace.
constexpr int64_t kStepsOfPace = 3;
// Lines that are known, from which on a text is no unknown program's.
constexpr int64_t kMostOfProgram = 1000;

// Lines behind an error, from which on it ended nothing that is known.
constexpr int64_t kLinesOfError = 500;

// "127.0.0.1:55766 - "POST /v1/chat/completions HTTP/1.1" 400 Bad Request": a server that failed itself says
// 5xx.
bool AnswersRequest(std::string_view line) {
  static const RE2 answer(R"re("(?:GET|POST|PUT|DELETE) /[^ "]* HTTP/1\.[01]" [1-4]\d\d\b)re");
  return line.find(" HTTP/1.") != std::string_view::npos && RE2::PartialMatch(line, answer);
}

}  // namespace

void LogReader::Line(std::string_view line) {
  if (measured.Line(line) || metrics.Line(line)) {
    ++lines_;
    ++(fenced_ ? fenced_rows_ : rows_);
    return;
  }
  if (const std::string dated = WithDateFirst(line); !dated.empty()) return Line(dated);
  if (const std::string known = InKnownWords(line); !known.empty()) return Line(known);
  if (const std::string_view table = prefix_.Without(line); summaries.Line(table)) {
    ++lines_;
    ++(fenced_ ? fenced_rows_ : rows_);
    return;
  }
  if (const auto pairs = records_.AsPairs(line)) {
    results_.Line(line);
    result_lines_.Line(line);
    ++lines_;
    Count(general_.Line(*pairs, records_.of_tracker()));
    if (records_.evaluated()) general_.Evaluation();
    return;
  }
  if (const auto step = spread_.Line(line)) Count(general_.Line(*step));
  results_.Line(line);
  result_lines_.Line(line);
  if (Trim(line).empty()) return;
  ++lines_;
  if (line.starts_with('|')) ++lines_of_tables_;
  transfers_.Line(line);
  printed_transfers_.Line(line);
  if (benchmarks_.Line(line) || generations_.Line(line) || perf_reports_.Line(line) || engines_.Line(line) ||
      loads_.Line(line) || functions_.Line(line) || engine_runs_.Line(line) || http_loads_.Line(line) ||
      bandwidths_.Line(line) || simulations_.Line(line))
    return;
  queue_.Line(line);
  if (line.find("packet loss") != std::string_view::npos) return;  // of a network
  static const RE2 loss(
      R"re((?:\b[Ll]oss|\bLOSS|[a-z_]loss|(?:_|[Tt]rain|[Vv]al|[Tt]est|[Tt]otal|[Aa]vg|[Mm]ean)Loss)\w*["']?[ :=]+-?\d)re"),
      counted(R"re((?i)\b(?:epoch|step|iter(?:ation)?)s?[ :=#\[(]{1,3}\d)re"),
      timed(R"re((?i)\b(?:step|iter(?:ation)?)[ :=#\[(]{1,3}\d.*\d ?m?s\b)re");
  if (line.size() < 1024 && line.find("oss") != std::string_view::npos && RE2::PartialMatch(line, loss)) {
    losses_ += RE2::PartialMatch(line, counted) ? kOfCounted : 1;
    ++loss_lines_;
    timed_losses_ += RE2::PartialMatch(line, timed);
  }
  // "37700 train 3.061522", of build-nanogpt's file.
  static const RE2 bare(R"(^\d{1,9} (?:train|val) \d{1,3}\.\d+\s*$)");
  if (line.size() < 64 && line.find(" train ") != std::string_view::npos && RE2::PartialMatch(line, bare)) {
    ++losses_;
    ++loss_lines_;
  }
  if (Trim(line).starts_with("```")) {
    fenced_ = !fenced_;
    document_ = true;
  }
  reader_of_settings_.Line(line, settings_);
  model_.Line(line, settings_);
  machine.Line(line);
  const bool is_iteration = megatron_.Line(line);
  Count(is_iteration);
  const std::string in_seconds = InSeconds(line);
  const std::string_view plain = in_seconds.empty() ? line : std::string_view(in_seconds);
  const bool is_step = steps_.Line(plain, lines_), is_general = general_.Line(plain);
  Count(is_step);
  Count(is_general);
  rates_.Line(line, is_iteration || is_step || is_general);
  if (const auto evaluation =
          is_step || is_general ? EvaluationBesideTraining(line) : TimeOfEvaluationLine(plain)) {
    ++evaluations_;
    evaluation_ns_ += *evaluation * kNsPerSecond;
  }
  ranks_.Line(plain);
  loading_.Line(plain, lines_);
  mlperf_.Line(line);
  epoch_bars_.Line(line, lines_);
  epoch_clock_.Line(line);
  pass_bars_.Line(line);
  lightning_.Line(line);
  Count(robots_.Line(line));
  if (experience_.Line(line)) {
    Count(true);
    settings_["plays"] = "True";
  }
  end_.Line(line, lines_);
  deepspeed_.Line(line);
  Count(trainer_.Line(line));
  tables.Line(line);
  monitors.Line(line);
  others.Line(line);
  // Of a log that is known to be another's the rest of its lines is, too.
  if (known_ < kMostOfProgram) figures_.Line(line);
  if (known_ < kMostOfProgram && (program_.Line(line, lines_) || GoesOnBehindError(line)))
    progress_line_ = lines_;
  if (servers.Line(line)) {
    Count(true);
    --known_;
  }
  // A start of another process, or an answer to a request behind the error of one.
  if (servers.Starts(line) || AnswersRequest(line)) end_.GoesOn();
}

TrainingLog LogReader::Finish() {
  TrainingLog log = megatron_.Finish(Setting("log_interval"));
  // "iteration 1/99 |" is how others begin, too.
  const bool timed = std::ranges::any_of(
      log.iterations, [](const TrainingIteration& row) { return row.elapsed_ns.has_value(); });
  TrainingLog steps = timed ? TrainingLog() : steps_.Finish();
  // A single line that looks like a program's may be part of another's output.
  if (steps.program == kBars) {
    TrainingLog bars = epoch_bars_.Finish();
    if (SaysMore(bars, steps)) steps = std::move(bars);
  }
  const bool own = steps.iterations.size() > 1 && steps.program != kAnyProgram &&
                   steps.program != kStepsAlone && steps.program != kEpochs;
  if (own) log = std::exchange(steps, {});
  if (log.empty()) log = trainer_.Finish((PrintsLosses() || end_.of_loop()) && steps.empty());
  if (log.program == kBars && !own) {
    TrainingLog bars = epoch_bars_.Finish();
    if (SaysMore(bars, log)) log = std::move(bars);
  }
  if (log.empty()) log = deepspeed_.Finish();
  if (log.empty() && !own) log = std::move(steps);
  if (log.empty() || (!own && (log.of_epochs || log.program == kAnyProgram || log.program == kStepsAlone))) {
    TrainingLog lines = general_.Finish();
    if (records_.of_epochs() && !lines.empty()) {
      lines.of_epochs = true;
      lines.program = kEpochs;
    }
    TrainingLog events = mlperf_.Finish();
    for (TrainingLog other :
         {std::move(lines), epoch_bars_.Finish(), epoch_clock_.Finish(), pass_bars_.Finish()})
      if (SaysMore(other, log)) log = std::move(other);
    // Of each epoch, and of the evaluations: a few lines of steps say less.
    if (SaysMore(events, log) || events.iterations.size() > log.iterations.size()) log = std::move(events);
  }
  if (TrainingLog robots = robots_.Finish(); !robots.empty()) log = std::move(robots);
  if (TrainingLog experience = experience_.Finish(); SaysMore(experience, log)) log = std::move(experience);
  // What its profiler measured of all steps says more than bars of some.
  if (TrainingLog profile = lightning_.Finish(); SaysMore(profile, log)) log = std::move(profile);
  if (log.empty() && servers.server().empty()) log = ranks_.Finish();
  if (log.empty() && Arguments() >= kLeastSettings)
    log.program =
        settings_.contains("tensor_model_parallel_size") || settings_.contains("model_parallel_size")
            ? "Megatron-LM"
            : "a program that prints its arguments";
  // A job that is cancelled before its bar counts hangs, or takes long to begin.
  const auto not_begun =
      log.empty() && end_.Cancelled() && servers.server().empty() ? trainer_.NotBegun() : std::nullopt;
  if (not_begun) log.program = "a program that stopped";
  if (log.empty() && end_.StopsTraining(lines_) && servers.server().empty())
    log.program = "a program that stopped";
  // Of a loop that times its parts these say more than its steps.
  if (!log.iterations.empty() && Untimed(log) && end_.error().empty() && servers.server().empty() &&
      figures_.TimesParts(static_cast<int64_t>(log.iterations.size()))) {
    figures_.KeepParts();
    return {};
  }
  const bool parts = log.empty() && PrintsLosses() && figures_.TimesParts(loss_lines_);
  if (parts) figures_.KeepParts();
  if (log.empty() && PrintsLosses()) program_.IsLearning();
  if (log.empty() && !document_ && servers.server().empty() && !Program().timed() && !figures_.OfTraining() &&
      !parts) {
    const bool few = !PrintsLosses() && PrintsFewSteps();
    if (PrintsLosses()) log.loss_lines = loss_lines_;
    if (few) log.first_steps = timed_losses_;
    if (few || PrintsLosses()) log.program = "a program that prints losses";
  }
  if (log.empty()) return log;
  ranks_.AddTo(log);
  rates_.AddTo(log);
  loading_.AddTo(log);
  if (log.evaluations == 0 && evaluations_ > 1 &&
      evaluations_ <= static_cast<int64_t>(log.iterations.size()) + 1) {
    log.evaluations = evaluations_;
    log.evaluation_ns = evaluation_ns_;
  }
  LeaveOutStops(log);
  KeepLongestTraining(log);
  log.error = not_begun
                  ? fmt::format("Slurm cancelled the job while its progress bar stood at 0 of {}", *not_begun)
              : log.iterations.empty() ? end_.last_error()
                                       : end_.error();
  if (!log.error.empty()) log.memory_taken = end_.memory_taken();
  if (const auto deepspeed = settings_.find("deepspeed");
      log.program == "Megatron-LM" && deepspeed != settings_.end() && deepspeed->second == "True")
    log.program = "Megatron-DeepSpeed";
  std::erase_if(settings_, [](const auto& setting) {
    return setting.first.starts_with("offload_") && setting.second == "none";
  });
  KeepGpuOfTensorFlow(log.program == "Keras" || log.program.find("TensorFlow") != std::string::npos,
                      settings_);
  settings_.merge(log.settings);
  log.settings = std::move(settings_);
  return log;
}

bool LogReader::PrintsLosses() const { return losses_ >= kLeastLosses; }

bool LogReader::PrintsFewSteps() const { return timed_losses_ > 0 && timed_losses_ < kStepsOfPace; }

std::string LogReader::EngineError() const {
  static const RE2 engine("CUDA|HIP|NCCL|Engine|Accelerator|OutOfMemory|out of memory");
  return RE2::PartialMatch(end_.error(), engine) ? end_.error() : "";
}

bool LogReader::EndsWithoutError() const {
  return error().empty() || RE2::PartialMatch(error(), "Interrupt|SignalException|SIGTERM");
}

bool LogReader::EndsServer() const {
  static const RE2 engine("(?i)memory|cache blocks|KV cache");
  return !servers.server().empty() && !EndsWithoutError() &&
         (servers.serves() || servers.engine_failed() || !EngineError().empty() ||
          RE2::PartialMatch(error(), engine));
}

ProgramOutput LogReader::Program() const {
  ProgramOutput output = program_.Finish();
  figures_.AddTo(output);
  output.transfers = transfers_.Finish();
  const bool printed = output.transfers.empty();
  if (printed) output.transfers = printed_transfers_.Finish();
  output.benchmarks = benchmarks_.Finish();
  for (const RequestBenchmark& report : perf_reports_.Finish()) output.benchmarks.push_back(report);
  for (const RequestBenchmark& run : engine_runs_.Finish()) output.benchmarks.push_back(run);
  if (!document_)
    for (const RequestBenchmark& report : http_loads_.Finish()) output.benchmarks.push_back(report);
  queue_.AddTo(output);
  output.generations = generations_.Finish();
  output.engines = engines_.Finish();
  if (!document_) output.loads = loads_.Finish();
  output.simulation = simulations_.Finish();
  // The client's own bar counts the requests of the result.
  for (const RequestBenchmark& result : output.benchmarks)
    std::erase_if(output.parts, [&](const ProgramPart& part) {
      return part.kind == ProgramPartKind::kBars && result.requests > 0 && part.done >= result.requests &&
             (part.name.empty() || !result.served);
    });
  output.error = ErrorOfProgram();
  others.AddTo(output);
  functions_.AddTo(output);
  if (!output.generations.empty()) output.program = "llama-bench";
  if (!output.engines.empty()) output.program = "TensorRT's trtexec";
  if (!output.loads.empty()) output.program = "Triton's perf_analyzer";
  if (output.simulation) output.program = output.simulation->program;
  if (!output.benchmarks.empty() && !output.benchmarks[0].program.empty())
    output.program = output.benchmarks[0].program;
  if (output.program.empty() && output.measured())
    output.program = output.transfers.empty()                                   ? "a benchmark of a server"
                     : printed                                                  ? "a benchmark of collectives"
                     : output.transfers[0].gpu.find("AMD") != std::string::npos ? "rccl-tests"
                                                                                : "nccl-tests";
  if (!document_) bandwidths_.AddTo(output);
  // What passes behind the error is nobody's work.
  if (!output.error.empty())
    std::erase_if(output.parts,
                  [&](const ProgramPart& part) { return part.longest_line > end_.error_line(); });
  if (!output.error.empty() && output.error == end_.error()) output.memory_taken = end_.memory_taken();
  // A document tells of errors of others; behind one that stands far above a program went on.
  const bool over = output.error == end_.error() && lines_ - end_.error_line() > kLinesOfError;
  if (!output.timed() && (document_ || over)) output.error.clear();
  return output;
}

ProgramOutput LogReader::Results() const {
  ProgramOutput output;
  output.results = results_.Finish();
  if (!output.results && !document_) output.results = result_lines_.Finish();
  if (output.results) output.program = "a benchmark";
  return output;
}

void LogReader::Count(bool known) {
  if (!known) return;
  ++(fenced_ ? fenced_lines_ : other_lines_);
  ++known_;
  end_.GoesOn();
}

bool LogReader::GoesOnBehindError(std::string_view line) {
  launcher_failed_ = launcher_failed_ || line.find("ChildFailedError") != std::string_view::npos;
  return !end_.last_error().empty() && lines_ > end_.error_line() && !launcher_failed_ &&
         SaysItWentWell(line);
}

size_t LogReader::Arguments() const {
  return static_cast<size_t>(std::ranges::count_if(settings_, [](const auto& setting) {
    return !setting.first.starts_with("slow_path_") && setting.first != "mixed_precision" &&
           setting.first != "plays" && setting.first != "experts" && setting.first != "adapter" &&
           setting.first != "model_parameters";
  }));
}
std::optional<int64_t> LogReader::Setting(const char* name) const {
  const auto found = settings_.find(name);
  return found == settings_.end() ? std::nullopt : Integer(found->second);
}

}  // namespace dladvisor::training_log
