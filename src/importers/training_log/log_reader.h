// SPDX-License-Identifier: Apache-2.0
// Gives each line of what a program printed to every reader that may know it, and says at the end which of
// them knew most.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/importers/benchmark_log/bandwidth_lines.h"
#include "src/importers/benchmark_log/engine_lines.h"
#include "src/importers/benchmark_log/engine_run_lines.h"
#include "src/importers/benchmark_log/generation_lines.h"
#include "src/importers/benchmark_log/http_load_lines.h"
#include "src/importers/benchmark_log/load_lines.h"
#include "src/importers/benchmark_log/perf_report.h"
#include "src/importers/benchmark_log/printed_transfers.h"
#include "src/importers/benchmark_log/request_lines.h"
#include "src/importers/benchmark_log/result_lines.h"
#include "src/importers/benchmark_log/result_table.h"
#include "src/importers/benchmark_log/simulation_lines.h"
#include "src/importers/benchmark_log/transfer_lines.h"
#include "src/importers/machine/machine_lines.h"
#include "src/importers/nsight_compute/measured_lines.h"
#include "src/importers/nvidia_smi/monitor_log.h"
#include "src/importers/nvidia_smi/table_log.h"
#include "src/importers/nvprof_text/metric_lines.h"
#include "src/importers/serving_log/serving_lines.h"
#include "src/importers/summary_table/line_prefix.h"
#include "src/importers/summary_table/summary_lines.h"
#include "src/importers/training_log/frameworks/deepspeed.h"
#include "src/importers/training_log/frameworks/experience.h"
#include "src/importers/training_log/frameworks/lerobot.h"
#include "src/importers/training_log/frameworks/lightning_profile.h"
#include "src/importers/training_log/frameworks/megatron.h"
#include "src/importers/training_log/frameworks/mlperf.h"
#include "src/importers/training_log/frameworks/model_lines.h"
#include "src/importers/training_log/frameworks/rate_lines.h"
#include "src/importers/training_log/frameworks/settings.h"
#include "src/importers/training_log/frameworks/trainer.h"
#include "src/importers/training_log/program/function_tables.h"
#include "src/importers/training_log/program/other_lines.h"
#include "src/importers/training_log/program/printed_figures.h"
#include "src/importers/training_log/program/program_time.h"
#include "src/importers/training_log/program/queue_lines.h"
#include "src/importers/training_log/program/run_end.h"
#include "src/importers/training_log/steps/epoch_bars.h"
#include "src/importers/training_log/steps/epoch_clock.h"
#include "src/importers/training_log/steps/general_lines.h"
#include "src/importers/training_log/steps/loading_lines.h"
#include "src/importers/training_log/steps/pass_bars.h"
#include "src/importers/training_log/steps/rank_lines.h"
#include "src/importers/training_log/steps/record_lines.h"
#include "src/importers/training_log/steps/spread_lines.h"
#include "src/importers/training_log/steps/step_lines.h"
#include "src/trace/trace.h"

namespace dladvisor::training_log {

class LogReader {
 public:
  void Line(std::string_view line);

  // Whether the lines are quoted in a document: of which runs, it says in words. A log may print texts of a
  // model, which have fences of their own.
  bool quotes() const { return fenced_lines_ > other_lines_; }
  // The same of tables of totals.
  bool quotes_tables() const { return fenced_rows_ > rows_; }

  // Of the program that prints most about itself.
  TrainingLog Finish();

  // Whether it prints losses as a training does.
  bool PrintsLosses() const;

  // Of one or two steps alone.
  bool PrintsFewSteps() const;

  // That ended the program, "" for none.
  std::string error() const { return end_.error(); }

  // The same, unless the program shows behind it that it got over it.
  std::string ErrorOfProgram() const { return progress_line_ > end_.error_line() ? "" : end_.error(); }

  const std::optional<MemoryTaken>& memory_taken() const { return end_.memory_taken(); }

  // Of a server: one that answers a single request is not its end.
  std::string EngineError() const;

  // Whether a user ended it, or nothing did.
  bool EndsWithoutError() const;

  // Whether the error is a server's: of a program that is no server only what an engine dies of.
  bool EndsServer() const;

  // Of the results of a server's benchmark that it prints, what they are where nothing is known of them.
  std::string_view LacksOfBenchmarks() const { return benchmarks_.Lacks(); }

  // What a program that is no training shows of its time; empty where nothing.
  ProgramOutput Program() const;
  // The results that its tables have, or its lines; empty where they are none.
  ProgramOutput Results() const;

  int64_t lines() const { return lines_; }

  // Of these the ones that are drawn as a part of a table.
  int64_t lines_of_tables() const { return lines_of_tables_; }

  int64_t skipped_lines() const { return megatron_.skipped_lines(); }

  nvidia_smi::TableReader tables;
  nvidia_smi::MonitorReader monitors;
  nsight_compute::MeasuredLinesReader measured;
  nvprof_text::MetricLinesReader metrics;
  summary_table::SummaryLinesReader summaries;
  serving_log::ServingLinesReader servers;
  OtherLinesReader others;
  MachineLines machine;

 private:
  // Whether what is known after an error shows that the program, or a later start of it, went on.
  void Count(bool known);

  // Whether a line behind an error shows that the program got over it. Behind a launcher's end it is
  // another's.
  bool GoesOnBehindError(std::string_view line);

  // Warnings are of other programs, too.
  size_t Arguments() const;

  std::optional<int64_t> Setting(const char* name) const;

  MegatronReader megatron_;
  StepLinesReader steps_;
  GeneralLinesReader general_;
  RecordLinesReader records_;
  SpreadLinesReader spread_;
  RankLinesReader ranks_;
  MlperfReader mlperf_;
  EpochBarsReader epoch_bars_;
  EpochClockReader epoch_clock_;
  PassBarsReader pass_bars_;
  LightningProfileReader lightning_;
  LeRobotReader robots_;
  ExperienceReader experience_;
  DeepSpeedReader deepspeed_;
  TrainerReader trainer_;
  SettingsReader reader_of_settings_;
  ModelLinesReader model_;
  RateLinesReader rates_;
  LoadingLinesReader loading_;
  std::map<std::string, std::string> settings_;
  summary_table::LinePrefix prefix_;
  benchmark_log::TransferLinesReader transfers_;
  benchmark_log::PrintedTransfersReader printed_transfers_;
  benchmark_log::RequestLinesReader benchmarks_;
  benchmark_log::GenerationLinesReader generations_;
  benchmark_log::PerfReportReader perf_reports_;
  benchmark_log::EngineLinesReader engines_;
  benchmark_log::LoadLinesReader loads_;
  benchmark_log::EngineRunLinesReader engine_runs_;
  benchmark_log::HttpLoadLinesReader http_loads_;
  benchmark_log::BandwidthLinesReader bandwidths_;
  benchmark_log::SimulationLinesReader simulations_;
  benchmark_log::ResultTableReader results_;
  benchmark_log::ResultLinesReader result_lines_;
  RunEndReader end_;
  ProgramTimeReader program_;
  FunctionTablesReader functions_;
  PrintedFiguresReader figures_;
  QueueLinesReader queue_;
  int64_t progress_line_ = 0;                   // the last that shows the program's progress
  int64_t fenced_lines_ = 0, other_lines_ = 0;  // that are of a log, between "```" and outside
  int64_t fenced_rows_ = 0, rows_ = 0;          // the same of tables of totals
  int64_t known_ = 0;                           // of these the ones that are no server's
  bool fenced_ = false, launcher_failed_ = false;
  bool document_ = false;  // with fences
  int64_t lines_ = 0, lines_of_tables_ = 0;
  int64_t evaluations_ = 0;  // of which the line of the training has the time beside its own
  double evaluation_ns_ = 0;
  int64_t losses_ = 0, loss_lines_ = 0, timed_losses_ = 0;  // weighed, as they are, with the time of a step
};

}  // namespace dladvisor::training_log
