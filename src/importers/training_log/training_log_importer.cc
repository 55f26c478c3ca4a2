// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/training_log_importer.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "src/importers/bytes/lines.h"
#include "src/importers/nvidia_smi/table_log.h"
#include "src/importers/serving_log/serving_lines.h"
#include "src/importers/summary_table/summary_lines.h"
#include "src/importers/training_log/deepspeed.h"
#include "src/importers/training_log/device_lines.h"
#include "src/importers/training_log/durations.h"
#include "src/importers/training_log/epoch_bars.h"
#include "src/importers/training_log/epoch_clock.h"
#include "src/importers/training_log/general_lines.h"
#include "src/importers/training_log/lerobot.h"
#include "src/importers/training_log/lightning_profile.h"
#include "src/importers/training_log/log_line.h"
#include "src/importers/training_log/longest_training.h"
#include "src/importers/training_log/megatron.h"
#include "src/importers/training_log/mlperf.h"
#include "src/importers/training_log/other_lines.h"
#include "src/importers/training_log/printed_figures.h"
#include "src/importers/training_log/printed_text.h"
#include "src/importers/training_log/program_error.h"
#include "src/importers/training_log/program_time.h"
#include "src/importers/training_log/record_lines.h"
#include "src/importers/training_log/run_end.h"
#include "src/importers/training_log/settings.h"
#include "src/importers/training_log/step_forms.h"
#include "src/importers/training_log/step_lines.h"
#include "src/importers/training_log/stops.h"
#include "src/importers/training_log/trainer.h"

namespace dladvisor {
namespace {
using training_log::DeepSpeedReader;
using training_log::EpochBarsReader;
using training_log::EpochClockReader;
using training_log::GeneralLinesReader;
using training_log::LeRobotReader;
using training_log::LightningProfileReader;
using training_log::MegatronReader;
using training_log::MlperfReader;
using training_log::SettingsReader;
using training_log::StepLinesReader;
using training_log::TrainerReader;

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

// Arguments that are known, from which on a text is a training's even where it prints no iteration.
constexpr size_t kLeastSettings = 8;
// Lines with a loss that show a training which counts nothing.
constexpr int64_t kLeastLosses = 20;
// Beside the number of a step or epoch a loss shows as much as so many alone.
constexpr int64_t kOfCounted = 7;
// So many show a pace.
constexpr int64_t kLeastSteps = 3;
// Lines that are known, from which on a text is no unknown program's.
constexpr int64_t kMostOfProgram = 1000;

// Lines behind an error, from which on it ended nothing that is known.
constexpr int64_t kLinesOfError = 500;

class LogReader {
 public:
  void Line(std::string_view line) {
    if (summaries.Line(line)) {
      ++lines_;
      ++(fenced_ ? fenced_rows_ : rows_);
      return;
    }
    if (const auto pairs = records_.AsPairs(line)) {
      ++lines_;
      Count(general_.Line(*pairs));
      if (records_.evaluated()) general_.Evaluation();
      return;
    }
    if (training_log::Trim(line).empty()) return;
    ++lines_;
    if (line.starts_with('|')) ++lines_of_tables_;
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
    if (training_log::Trim(line).starts_with("```")) {
      fenced_ = !fenced_;
      document_ = true;
    }
    reader_of_settings_.Line(line, settings_);
    training_log::TakeNamedDevice(line, devices);
    Count(megatron_.Line(line));
    const std::string in_seconds = training_log::InSeconds(line);
    const std::string_view plain = in_seconds.empty() ? line : std::string_view(in_seconds);
    Count(steps_.Line(plain));
    Count(general_.Line(plain));
    mlperf_.Line(line);
    epoch_bars_.Line(line);
    epoch_clock_.Line(line);
    lightning_.Line(line);
    Count(robots_.Line(line));
    end_.Line(line, lines_);
    deepspeed_.Line(line);
    Count(trainer_.Line(line));
    tables.Line(line);
    others.Line(line);
    // Of a log that is known to be another's the rest of its lines is, too.
    if (known_ < kMostOfProgram) figures_.Line(line);
    if (known_ < kMostOfProgram && (program_.Line(line, lines_) || GoesOnBehindError(line)))
      progress_line_ = lines_;
    if (servers.Line(line)) {
      Count(true);
      --known_;
    }
    // A start of another process.
    if (servers.Starts(line)) end_.GoesOn();
  }

  // Whether the lines are quoted in a document: of which runs, it says in words. A log may print texts of a
  // model, which have fences of their own.
  bool quotes() const { return fenced_lines_ > other_lines_; }
  // The same of tables of totals.
  bool quotes_tables() const { return fenced_rows_ > rows_; }

  // Of the program that prints most about itself.
  TrainingLog Finish() {
    TrainingLog log = megatron_.Finish(Setting("log_interval"));
    // "iteration 1/99 |" is how others begin, too.
    const bool timed = std::ranges::any_of(
        log.iterations, [](const TrainingIteration& row) { return row.elapsed_ns.has_value(); });
    TrainingLog steps = timed ? TrainingLog() : steps_.Finish();
    // A single line that looks like a program's may be part of another's output.
    if (steps.program == training_log::kBars) {
      TrainingLog bars = epoch_bars_.Finish();
      if (SaysMore(bars, steps)) steps = std::move(bars);
    }
    const bool own = steps.iterations.size() > 1 && steps.program != training_log::kAnyProgram &&
                     steps.program != training_log::kStepsAlone && steps.program != training_log::kEpochs;
    if (own) log = std::move(steps);
    if (log.empty()) log = trainer_.Finish((PrintsLosses() || end_.of_loop()) && steps.empty());
    if (log.program == training_log::kBars && !own) {
      TrainingLog bars = epoch_bars_.Finish();
      if (SaysMore(bars, log)) log = std::move(bars);
    }
    if (log.empty()) log = deepspeed_.Finish();
    if (log.empty() && !own) log = std::move(steps);
    if (log.empty() || (!own && (log.of_epochs || log.program == training_log::kAnyProgram ||
                                 log.program == training_log::kStepsAlone))) {
      TrainingLog lines = general_.Finish();
      if (records_.of_epochs() && !lines.empty()) {
        lines.of_epochs = true;
        lines.program = training_log::kEpochs;
      }
      for (TrainingLog other :
           {std::move(lines), epoch_bars_.Finish(), mlperf_.Finish(), epoch_clock_.Finish()})
        if (SaysMore(other, log)) log = std::move(other);
    }
    if (TrainingLog robots = robots_.Finish(); !robots.empty()) log = std::move(robots);
    // What its profiler measured of all steps says more than bars of some.
    if (TrainingLog profile = lightning_.Finish(); SaysMore(profile, log)) log = std::move(profile);
    if (log.empty() && Arguments() >= kLeastSettings)
      log.program =
          settings_.contains("tensor_model_parallel_size") || settings_.contains("model_parallel_size")
              ? "Megatron-LM"
              : "a program that prints its arguments";
    if (log.empty() && end_.StopsTraining(lines_) && servers.server().empty())
      log.program = "a program that stopped";
    if (log.empty() && !document_ && servers.server().empty() && !Program().timed() &&
        !figures_.OfTraining()) {
      const bool few = !PrintsLosses() && PrintsFewSteps();
      if (PrintsLosses()) log.loss_lines = loss_lines_;
      if (few) log.first_steps = timed_losses_;
      if (few || PrintsLosses()) log.program = "a program that prints losses";
    }
    if (log.empty()) return log;
    training_log::LeaveOutStops(log);
    training_log::KeepLongestTraining(log);
    log.error = log.iterations.empty() ? end_.last_error() : end_.error();
    if (!log.error.empty()) log.memory_taken = end_.memory_taken();
    if (const auto deepspeed = settings_.find("deepspeed");
        log.program == "Megatron-LM" && deepspeed != settings_.end() && deepspeed->second == "True")
      log.program = "Megatron-DeepSpeed";
    std::erase_if(settings_, [](const auto& setting) {
      return setting.first.starts_with("offload_") && setting.second == "none";
    });
    training_log::KeepGpuOfTensorFlow(
        log.program == "Keras" || log.program.find("TensorFlow") != std::string::npos, settings_);
    log.settings = std::move(settings_);
    return log;
  }

  // Whether it prints losses as a training does.
  bool PrintsLosses() const { return losses_ >= kLeastLosses; }

  // Of one or two steps alone.
  bool PrintsFewSteps() const { return timed_losses_ > 0 && timed_losses_ < kLeastSteps; }

  // That ended the program, "" for none.
  std::string error() const { return end_.error(); }

  // The same, unless the program shows behind it that it got over it.
  std::string ErrorOfProgram() const { return progress_line_ > end_.error_line() ? "" : end_.error(); }

  const std::optional<MemoryTaken>& memory_taken() const { return end_.memory_taken(); }

  // Of a server: one that answers a single request is not its end.
  std::string EngineError() const {
    static const RE2 engine("CUDA|HIP|NCCL|Engine|Accelerator|OutOfMemory|out of memory");
    return RE2::PartialMatch(end_.error(), engine) ? end_.error() : "";
  }

  // Whether a user ended it, or nothing did.
  bool EndsWithoutError() const {
    return error().empty() || RE2::PartialMatch(error(), "Interrupt|SignalException|SIGTERM");
  }

  // Whether the error is a server's: of a program that is no server only what an engine dies of.
  bool EndsServer() const {
    static const RE2 engine("(?i)memory|cache blocks|KV cache");
    return !servers.server().empty() && !EndsWithoutError() &&
           (servers.serves() || servers.engine_failed() || !EngineError().empty() ||
            RE2::PartialMatch(error(), engine));
  }

  // What a program that is no training shows of its time; empty where nothing.
  ProgramOutput Program() const {
    ProgramOutput output = program_.Finish();
    figures_.AddTo(output);
    output.error = ErrorOfProgram();
    others.AddTo(output);
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

  int64_t lines() const { return lines_; }

  // Of these the ones that are drawn as a part of a table.
  int64_t lines_of_tables() const { return lines_of_tables_; }

  int64_t skipped_lines() const { return megatron_.skipped_lines(); }

  nvidia_smi::TableReader tables;
  summary_table::SummaryLinesReader summaries;
  serving_log::ServingLinesReader servers;
  training_log::OtherLinesReader others;
  std::vector<Device> devices;  // that lines name with their memory

 private:
  // Whether what is known after an error shows that the program, or a later start of it, went on.
  void Count(bool known) {
    if (!known) return;
    ++(fenced_ ? fenced_lines_ : other_lines_);
    ++known_;
    end_.GoesOn();
  }

  // Whether a line behind an error shows that the program got over it. Behind a launcher's end it is
  // another's.
  bool GoesOnBehindError(std::string_view line) {
    launcher_failed_ = launcher_failed_ || line.find("ChildFailedError") != std::string_view::npos;
    return !end_.last_error().empty() && lines_ > end_.error_line() && !launcher_failed_ &&
           training_log::SaysItWentWell(line);
  }

  // Warnings are of other programs, too.
  size_t Arguments() const {
    return static_cast<size_t>(std::ranges::count_if(settings_, [](const auto& setting) {
      return !setting.first.starts_with("slow_path_") && setting.first != "mixed_precision";
    }));
  }

  std::optional<int64_t> Setting(const char* name) const {
    const auto found = settings_.find(name);
    return found == settings_.end() ? std::nullopt : training_log::Integer(found->second);
  }

  MegatronReader megatron_;
  StepLinesReader steps_;
  GeneralLinesReader general_;
  training_log::RecordLinesReader records_;
  MlperfReader mlperf_;
  EpochBarsReader epoch_bars_;
  EpochClockReader epoch_clock_;
  LightningProfileReader lightning_;
  LeRobotReader robots_;
  DeepSpeedReader deepspeed_;
  TrainerReader trainer_;
  SettingsReader reader_of_settings_;
  std::map<std::string, std::string> settings_;
  training_log::RunEndReader end_;
  training_log::ProgramTimeReader program_;
  training_log::PrintedFiguresReader figures_;
  int64_t progress_line_ = 0;                   // the last that shows the program's progress
  int64_t fenced_lines_ = 0, other_lines_ = 0;  // that are of a log, between "```" and outside
  int64_t fenced_rows_ = 0, rows_ = 0;          // the same of tables of totals
  int64_t known_ = 0;                           // of these the ones that are no server's
  bool fenced_ = false, launcher_failed_ = false;
  bool document_ = false;  // with fences
  int64_t lines_ = 0, lines_of_tables_ = 0;
  int64_t losses_ = 0, loss_lines_ = 0, timed_losses_ = 0;  // weighed, as they are, with the time of a step
};

// The number that a line ends with may be cut.
std::string_view WithoutCutEnd(std::string_view line) {
  if (line.find(" (ms)") == std::string_view::npos && line.find(" (MB)") == std::string_view::npos)
    return line;
  const size_t bar = line.rfind('|');
  return line.substr(0, bar == std::string_view::npos ? 0 : bar + 1);
}

void ReadLines(ByteSource& source, LogReader& reader) {
  Lines lines(source);
  while (const auto line = lines.Next()) {
    std::string_view rest = *line;
    // A progress bar ends what the next one overwrites with a carriage return; a hole in the file ends what
    // stands before it.
    constexpr std::string_view kEnds("\r\0", 2);
    for (size_t end = rest.find_first_of(kEnds); end != std::string_view::npos;
         end = rest.find_first_of(kEnds)) {
      if (end > 0) reader.Line(rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
    reader.Line(lines.IsCut() ? WithoutCutEnd(rest) : rest);
  }
}

// A table at the start of a job shows which GPUs it has, and nothing about the training.
void KeepDevicesOnly(Trace& trace) {
  trace.telemetry = {};
  trace.health = {};
  trace.session_duration_ns.reset();
  trace.clock_origin_utc_ns.reset();
  trace.facts.erase("clock_origin_local_ns");
}

Trace ServingTrace(ByteSource& source, ServingLog log, Trace trace) {
  trace.path = source.name();
  trace.format = "serving log";
  trace.producer_version.clear();
  trace.facts["profiler"] = log.program;
  trace.health.rows_read["lines"] = static_cast<int64_t>(log.samples.size());
  trace.serving_log = std::move(log);
  return trace;
}

Trace ProgramTrace(ByteSource& source, ProgramOutput output) {
  Trace trace;
  trace.path = source.name();
  trace.format = "program log";
  trace.facts["profiler"] = output.program.empty() ? "a program" : output.program;
  trace.health.rows_read["parts"] = static_cast<int64_t>(output.parts.size());
  trace.program_output = std::move(output);
  return trace;
}

Trace SummaryTrace(ByteSource& source, std::vector<SummaryTable> tables) {
  Trace trace;
  trace.path = source.name();
  trace.format = "summary";
  trace.facts["profiler"] = tables.front().tool;
  int64_t rows = 0;
  for (const SummaryTable& table : tables) rows += static_cast<int64_t>(table.rows.size());
  trace.health.rows_read["rows"] = rows;
  trace.summary_tables = std::move(tables);
  return trace;
}

constexpr const char* kQuotes = "a document that quotes lines of logs, not a log";
constexpr const char* kSaveAlone = "save what the program printed to a file of its own";

// More lines for each number than any table has: other output, with a table at the start of each job.
constexpr size_t kMostLinesOfNumber = 10;

// Nothing where the text holds neither a log nor a table.
std::optional<Trace> ReadLog(ByteSource& source) {
  LogReader reader;
  ReadLines(source, reader);
  TrainingLog log = reader.Finish();
  const size_t numbers = reader.tables.log.samples();
  const bool tables =
      numbers > 0 && (!log.empty() || static_cast<size_t>(reader.lines() - reader.lines_of_tables()) <
                                          kMostLinesOfNumber * numbers);
  ServingLog serving = reader.servers.Finish();
  if (reader.quotes()) throw WrongKind(source.name(), kQuotes, kSaveAlone);
  if (log.iterations.empty() && !serving.empty()) {
    Trace trace;
    if (tables) trace = reader.tables.log.Finish(source.name(), "a log of nvidia-smi's table");
    if (trace.health.rows_read["samples"] <= static_cast<int64_t>(trace.devices.size()))
      KeepDevicesOnly(trace);
    serving.error = reader.EngineError();
    if (!serving.error.empty()) serving.memory_taken = reader.memory_taken();
    return ServingTrace(source, std::move(serving), std::move(trace));
  }
  if (log.empty() && !tables && reader.EndsServer()) {
    serving.program = reader.servers.server();
    serving.error = reader.error();
    serving.memory_taken = reader.memory_taken();
    return ServingTrace(source, std::move(serving), {});
  }
  // What a log counts, or died of, says more.
  const bool counts = !log.iterations.empty() || log.runtime_ns || !log.error.empty();
  if (auto summaries = reader.summaries.Finish(); !summaries.empty() && !counts && !tables) {
    if (reader.quotes_tables()) throw WrongKind(source.name(), kQuotes, kSaveAlone);
    return SummaryTrace(source, std::move(summaries));
  }
  if (log.empty() && serving.empty() && !tables && !reader.PrintsLosses())
    training_log::RefuseTerminal(source);
  ProgramOutput program;
  if (log.empty() && !tables) program = reader.Program();
  // A server that others call as a library generates batches.
  if (std::ranges::any_of(program.parts,
                          [](const ProgramPart& part) { return part.tokens_per_second.has_value(); }))
    return ProgramTrace(source, std::move(program));
  if (log.empty() && !tables && !reader.servers.server().empty() && reader.EndsWithoutError()) {
    serving.program = reader.servers.server();
    return ServingTrace(source, std::move(serving), {});
  }
  if (log.empty() && !tables && reader.summaries.has_headers())
    throw WrongKind(
        source.name(), "a table of totals by name without a row of a kernel, a call or a range",
        "give what the profiler prints of these: nsys stats --report "
        "cuda_gpu_kern_sum,cuda_gpu_mem_time_sum,cuda_api_sum REPORT.nsys-rep, or rocprofv3 --stats "
        "--kernel-trace --hip-trace");
  if (log.empty() && !tables) training_log::RefusePrintedStatistics(source);
  if (log.empty() && !tables && !program.empty()) return ProgramTrace(source, std::move(program));
  if (log.empty() && !tables && (numbers > 0 || !LooksLikeSmiTable(source.Head()))) {
    const auto refusal = reader.others.Refuse();
    if (!refusal.what.empty()) throw WrongKind(source.name(), refusal.what, refusal.next_step);
    return std::nullopt;
  }
  Trace trace;
  if (tables || log.empty()) trace = reader.tables.log.Finish(source.name(), "a log of nvidia-smi's table");
  if (log.empty()) return trace;
  if (trace.health.rows_read["samples"] <= static_cast<int64_t>(trace.devices.size())) KeepDevicesOnly(trace);
  if (trace.devices.empty()) trace.devices = std::move(reader.devices);
  training_log::GiveMemoryOfFree(trace.devices, log);
  trace.path = source.name();
  trace.format = "training log";
  trace.producer_version.clear();
  trace.facts["profiler"] = log.program;
  trace.health.rows_read["iterations"] = static_cast<int64_t>(log.iterations.size());
  if (reader.skipped_lines() > 0) trace.health.rows_skipped["lines"] = reader.skipped_lines();
  const auto setting = [&](const char* name) {
    const auto found = log.settings.find(name);
    return found == log.settings.end() ? std::string() : found->second;
  };
  if (const auto world = training_log::Integer(setting("world_size")); world && *world > 0)
    trace.world_size = world;
  if (const std::string backend = setting("distributed_backend"); !backend.empty())
    trace.facts["distributed_backend"] = backend;
  trace.training_log = std::move(log);
  return trace;
}

}  // namespace

constinit const Importer kTrainingLogImporter = {
    .in_errors =
        ", and what trainings print (Megatron-LM, DeepSpeed, Hugging Face's Trainer, NeMo, torchtitan, verl, "
        "fairseq, YOLO, Keras, MaxText, progress bars, epochs with their times, loops in the style of "
        "nanoGPT, timm "
        "or PyTorch's examples, MLPerf, other lines that count steps and name a time) and servers (vLLM, "
        "SGLang, TensorRT-LLM, "
        "llama.cpp), other programs whose progress bars, lines with dates, or times and rates by name show "
        "where time goes, and "
        "summaries by nsys "
        "stats, nvprof, key_averages().table() and rocprof",
    .in_help = "output of a training run or of a server",
    .extensions = ".log .out .txt",
    .more_extensions = "",
    .fits =
        [](const Input& input) {
          return input.IsText() ? Importer::Fit::kUnlessAnother : Importer::Fit::kNo;
        },
    .read = [](Input& input) { return ReadLog(input.bytes()); },
};

}  // namespace dladvisor
