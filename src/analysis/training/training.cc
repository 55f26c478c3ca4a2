// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/training.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "src/analysis/family/family.h"
#include "src/analysis/hardware/gpu_peak.h"
#include "src/analysis/training/training_gaps.h"
#include "src/analysis/training/training_pace.h"
#include "src/analysis/training/training_repeats.h"
#include "src/analysis/training/training_setting.h"
#include "src/analysis/training/training_work.h"
#include "src/statistics/distribution.h"
#include "src/trace/error_remedy.h"

namespace dladvisor {
namespace {

// Means over iterations of lines that have both, sums of lines that have it.
class Sums {
 public:
  void Add(std::optional<double> value, double weight) {
    if (!value) return;
    sum_ += *value * weight;
    weight_ += weight;
  }
  std::optional<double> mean() const { return weight_ > 0 ? std::optional(sum_ / weight_) : std::nullopt; }
  std::optional<double> sum() const { return weight_ > 0 ? std::optional(sum_) : std::nullopt; }

 private:
  double sum_ = 0, weight_ = 0;
};

void AddCount(const std::optional<int64_t>& value, std::optional<int64_t>& sum) {
  if (value) sum = sum.value_or(0) + *value;
}

void AddLines(const std::vector<TrainingLogRow>& log, TrainingRow& row) {
  Sums total, steady, samples, sampled, tokens, timed, flops, mfu, slow;
  Sums per_sample, per_token;  // seconds, of lines without a time
  std::vector<double> times;
  int64_t covered = 0, steady_covered = 0;
  bool all_covered = !log.empty();
  for (const TrainingLogRow& line : log) {
    const auto covers = static_cast<double>(line.covers.value_or(1));
    all_covered = all_covered && line.covers;
    covered += line.covers.value_or(0);
    total.Add(line.elapsed_ns, covers);
    AddCount(line.skipped, row.skipped);
    AddCount(line.nan, row.nan);
    row.attempts = std::max(row.attempts, line.attempt + 1);
    if (line.slow) {
      row.slow_lines = row.slow_lines.value_or(0) + (*line.slow && !line.warmup);
      slow.Add(*line.slow && !line.warmup ? line.excess_ns : 0.0, covers);
    }
    if (line.warmup) continue;
    steady_covered += line.covers.value_or(0);
    steady.Add(line.elapsed_ns, covers);
    flops.Add(line.tflops_per_gpu, covers);
    mfu.Add(line.mfu, covers);
    if (line.elapsed_ns && line.tokens_per_second) {
      tokens.Add(*line.tokens_per_second * *line.elapsed_ns, covers);
      timed.Add(line.elapsed_ns, covers);
    }
    if (line.elapsed_ns) times.push_back(*line.elapsed_ns);
    if (line.tokens_per_second.value_or(0) > 0) per_token.Add(1 / *line.tokens_per_second, covers);
    if (line.samples_per_second.value_or(0) > 0) per_sample.Add(1 / *line.samples_per_second, covers);
    if (line.elapsed_ns && line.samples_per_second) {
      samples.Add(*line.samples_per_second * *line.elapsed_ns, covers);
      sampled.Add(line.elapsed_ns, covers);
    }
  }
  row.lines = static_cast<int64_t>(log.size());
  if (all_covered) {
    row.iterations = covered;
    row.steady_iterations = steady_covered;
    row.total_ns = total.sum();
    row.slow_ns = slow.sum();
  }
  const Distribution distribution = Describe(std::move(times));
  row.mean_ns = steady.mean();
  row.median_ns = distribution.median;
  row.stddev_ns = distribution.stddev;
  row.slowest_ns = distribution.max;
  if (sampled.sum().value_or(0) > 0) row.samples_per_second = *samples.sum() / *sampled.sum();
  if (timed.sum().value_or(0) > 0) row.tokens_per_second = *tokens.sum() / *timed.sum();
  // Iterations of one size take the time that their rate says.
  if (!row.mean_ns && per_sample.mean()) row.samples_per_second = 1 / *per_sample.mean();
  if (!row.mean_ns && per_token.mean()) row.tokens_per_second = 1 / *per_token.mean();
  row.tflops_per_gpu = flops.mean();
  row.printed_mfu = mfu.mean();
  if (log.empty()) return;
  if (const auto shifts = FindPaceShifts(log)) {
    if (shifts->of_tokens) {
      row.fast_stretch_tokens_per_second = 1e9 / shifts->fast_ns;
      row.slow_stretch_tokens_per_second = 1e9 / shifts->slow_ns;
      row.slow_stretches_lost_share = shifts->lost_share;
    } else {
      row.fast_stretch_ns = shifts->fast_ns;
      row.slow_stretch_ns = shifts->slow_ns;
      row.slow_stretches_lost_ns = shifts->lost_ns;
    }
    if (shifts->odd) {
      row.odd_first = shifts->odd->first;
      row.odd_last = shifts->odd->last;
      row.odd_lines = static_cast<int64_t>(shifts->odd->lines);
      row.odd_pace_ns = shifts->odd->ns;
      row.other_pace_ns = shifts->odd->others_ns;
      row.odd_pace_lines = static_cast<int64_t>(shifts->odd->all_lines);
      row.other_pace_lines = static_cast<int64_t>(shifts->odd->other_lines);
    }
  }
  if (const auto level = FindPaceLevel(log)) {
    row.level_before_ns = level->before_ns;
    row.level_after_ns = level->after_ns;
    row.level_lost_ns = level->lost_ns;
    row.level_from = level->from;
    row.level_to = level->to;
  }
  if (const auto growth = FindPaceGrowth(log)) {
    row.early_ns = growth->early_ns;
    row.late_ns = growth->late_ns;
    row.growth_lost_ns = growth->lost_ns;
  }
  const auto first_of = [](const TrainingLogRow& line) {
    return line.iteration - std::min(line.covers.value_or(1), line.iteration) + 1;
  };
  row.first_iteration = first_of(log.front());
  for (const TrainingLogRow& line : log)
    if (!line.warmup && !row.first_steady_iteration) row.first_steady_iteration = first_of(line);
  row.last_iteration = log.back().iteration;
}

std::optional<double> SinceCheckpoint(const TrainingLog& log) {
  const auto last = std::find_if(log.events.rbegin(), log.events.rend(), [](const TrainingEvent& event) {
    return event.kind == TrainingEventKind::kCheckpoint;
  });
  if (last == log.events.rend()) return std::nullopt;
  double since = 0;
  for (size_t i = last->before; i < log.iterations.size(); ++i) {
    const TrainingIteration& line = log.iterations[i];
    if (!line.elapsed_ns) return std::nullopt;
    since += *line.elapsed_ns * static_cast<double>(line.covers.value_or(1));
  }
  return since;
}

void AddSizes(const TrainingSizes& sizes, TrainingRow& row) {
  row.world_size = sizes.world_size;
  row.tensor_parallel = sizes.tensor_parallel;
  row.pipeline_parallel = sizes.pipeline_parallel;
  row.data_parallel = sizes.data_parallel;
  row.virtual_stages = sizes.virtual_stages;
  row.micro_batch = sizes.micro_batch;
  row.global_batch = sizes.global_batch;
  row.micro_batches = sizes.micro_batches;
  row.seq_length = sizes.seq_length;
  row.precision = sizes.precision;
  row.recompute = sizes.recompute;
  if (!sizes.pipeline_parallel || !sizes.micro_batches) return;
  const auto stages = static_cast<double>(*sizes.pipeline_parallel),
             work = static_cast<double>(*sizes.micro_batches * sizes.virtual_stages.value_or(1));
  row.bubble_share = (stages - 1) / (work + stages - 1);
}

// The peak of the one model of GPUs that the log lists, in the training's precision.
std::optional<double> PeakOf(const Context& context, const std::optional<std::string>& precision_name,
                             std::string& unknown) {
  const std::vector<Device>& devices = context.trace.devices;
  std::optional<Precision> precision;
  if (precision_name) precision = ParsePrecision(*precision_name);
  if (precision != Precision::kFp16 && precision != Precision::kBf16)
    unknown = "the precision of the products does not follow from the arguments";
  else if (devices.empty() || devices.front().name.empty())
    unknown = "the log does not name the GPUs";
  else if (!std::ranges::all_of(devices, [&](const Device& of) { return of.name == devices.front().name; }))
    unknown = "the log names several models of GPUs";
  if (!unknown.empty()) return std::nullopt;
  const auto peak =
      PeaksOf(devices.front(), context.options.hardware.get()).Peak(*precision, ComputeUnit::kMatrix);
  if (!peak) unknown = "the peaks of " + devices.front().name + " are not known";
  return peak;
}

// By the copies of the model and the GPUs that share each.
std::optional<int64_t> GpusOf(const TrainingRow& row) {
  if (!row.data_parallel) return std::nullopt;
  return *row.data_parallel * row.tensor_parallel.value_or(1) * row.pipeline_parallel.value_or(1);
}

void AddWork(const Context& context, TrainingRow& row) {
  const TrainingWork work = WorkOfArguments(context.trace.training_log.settings);
  const auto per_token = FlopsPerToken(context.trace.training_log.settings);
  const bool of_tokens = !work.flops_per_sample && per_token && row.tokens_per_second;
  std::string unknown = of_tokens ? "" : work.unknown;
  if (unknown.empty() && !of_tokens && !row.samples_per_second) unknown = "the throughput is not known";
  const std::optional<int64_t> gpus = row.world_size ? row.world_size : GpusOf(row);
  if (unknown.empty() && !gpus) unknown = "the log does not print the number of GPUs";
  if (unknown.empty()) {
    const double of_all =
        of_tokens ? *per_token * *row.tokens_per_second : *work.flops_per_sample * *row.samples_per_second;
    const double rate = of_all / static_cast<double>(*gpus);
    const auto peak = PeakOf(context, row.precision, unknown);
    if (peak && rate > *peak)
      unknown = "faster than the peak: arguments, times or the GPU are not what the log says";
    if (!peak || rate <= *peak) row.model_tflops_per_gpu = rate / 1e12;
    if (peak && rate <= *peak) row.mfu = rate / *peak;
  }
  if (!unknown.empty()) row.unknown_reason = unknown;
}

}  // namespace

const RelationOf<TrainingRow>& TrainingRelation() {
  static const auto relation =
      RelationOf<TrainingRow>("training", "A training as reported by its log, one row per log.")
          .Key("profile", &TrainingRow::profile, kProfileNumber, "Number of the file.")
          .Column(
              "program", &TrainingRow::program, Unit::kText,
              "Whose lines they are: Megatron-LM (or what is built on it), Megatron-DeepSpeed, DeepSpeed, "
              "Hugging Face Trainer, or a program that prints steps (nanoGPT, torchtitan, fairseq, ...).")
          .Column(
              "unit", &TrainingRow::unit, Unit::kText,
              "What the lines are of, and what is meant by iterations here: iteration, or epoch where the "
              "log has no time of anything smaller.")
          .Column("lines", &TrainingRow::lines, Unit::kCount, "Lines of iterations.")
          .Column("loss_lines", &TrainingRow::loss_lines, Unit::kCount,
                  "Lines with losses of a log of which none counts steps or epochs beside a time; unknown of "
                  "others.")
          .Column("first_steps", &TrainingRow::first_steps, Unit::kCount,
                  "Steps of a log that ends with these, which start the training; unknown of others.")
          .Column("attempts", &TrainingRow::attempts, Unit::kCount, "Starts of the training.")
          .Column("repeated_iterations", &TrainingRow::repeated_iterations, Unit::kCount,
                  "Iterations that a later start did again, as it went on from before them; unknown where "
                  "none did, and of starts from the beginning.")
          .Column("repeated_ns", &TrainingRow::repeated_ns, Unit::kNanoseconds,
                  "Their time, of mean iterations.")
          .Column("iterations", &TrainingRow::iterations, Unit::kCount,
                  "Iterations that the lines cover; unknown where a line does not report it.")
          .Column("steady_iterations", &TrainingRow::steady_iterations, Unit::kCount, "Without warm-up.")
          .Column("first_iteration", &TrainingRow::first_iteration, Unit::kNone, "First of the first line.")
          .Column("first_steady_iteration", &TrainingRow::first_steady_iteration, Unit::kNone,
                  "First after warm-up.")
          .Column("last_iteration", &TrainingRow::last_iteration, Unit::kNone, "Of the last line.")
          .Column("planned", &TrainingRow::planned, Unit::kCount, "Iterations of the whole training.")
          .Column("mean_ns", &TrainingRow::mean_ns, Unit::kNanoseconds, "Mean iteration, without warm-up.")
          .Column("median_ns", &TrainingRow::median_ns, Unit::kNanoseconds, "Median of those lines.")
          .Column("stddev_ns", &TrainingRow::stddev_ns, Unit::kNanoseconds,
                  "Standard deviation of those lines, each a mean over what it covers.")
          .Column("slowest_ns", &TrainingRow::slowest_ns, Unit::kNanoseconds, "Slowest of them.")
          .Column("total_ns", &TrainingRow::total_ns, Unit::kNanoseconds, "Time of all iterations.")
          .Column("runtime_ns", &TrainingRow::runtime_ns, Unit::kNanoseconds,
                  "Time of the training as printed at its end.")
          .Column("samples_per_second", &TrainingRow::samples_per_second, Unit::kNone,
                  "Throughput without warm-up; else as printed at the end.")
          .Column("tokens_per_second", &TrainingRow::tokens_per_second, Unit::kNone,
                  "As printed, else samples times the length of sequences.")
          .Column("tflops_per_gpu", &TrainingRow::tflops_per_gpu, Unit::kNone,
                  "TFLOP/s of a GPU, mean of what the lines print; programs differ in what they count.")
          .Column(
              "model_tflops_per_gpu", &TrainingRow::model_tflops_per_gpu, Unit::kNone,
              "TFLOP/s of a GPU by the FLOPs of the model, from its arguments and the throughput, without "
              "what is computed a second time: per token 6 x (weights of layers and vocabulary + 2 x "
              "sequence x size of all heads in each layer), as Narayanan et al. (2021) count decoders.")
          .Column("mfu", &TrainingRow::mfu, Unit::kRatio,
                  "Model FLOPs utilisation: that over the dense peak of the GPUs that the log lists, in FP16 "
                  "or BF16.")
          .Column(
              "printed_mfu", &TrainingRow::printed_mfu, Unit::kRatio,
              "Mean of the utilisation that the lines print, of the peak that the program takes for its GPU.")
          .Column("unknown_reason", &TrainingRow::unknown_reason, Unit::kText,
                  "Why these are not known; unknown where they are.")
          .Column("evaluations", &TrainingRow::evaluations, Unit::kCount,
                  "Evaluations of which the log prints the time; unknown where there are none.")
          .Column("evaluation_ns", &TrainingRow::evaluation_ns, Unit::kNanoseconds, "Time of all of them.")
          .Column("epoch_ends", &TrainingRow::epoch_ends, Unit::kCount,
                  "Ends of epochs of which the lines tell when they were written and what iterations took; "
                  "unknown without.")
          .Column("between_epochs_ns", &TrainingRow::between_epochs_ns, Unit::kNanoseconds,
                  "Time at all of these that is of no iteration.")
          .Column("flushed_iterations", &TrainingRow::flushed_iterations, Unit::kCount,
                  "Iterations before which PyTorch's allocator had to give cached memory back, as DeepSpeed "
                  "warns; unknown without such a line.")
          .Column("other_lines", &TrainingRow::other_lines, Unit::kCount,
                  "Lines of other, shorter trainings in the log, which are left out; unknown without.")
          .Column("error", &TrainingRow::error, Unit::kText,
                  "First exception in the log; unknown without one.")
          .Column("remedy", &TrainingRow::remedy, Unit::kText,
                  "What to do about it, by its words; unknown where these say nothing that is known.")
          .Column("gpu_memory_bytes", &TrainingRow::gpu_memory_bytes, Unit::kBytes,
                  "Memory of the GPU on which that found none; unknown where it does not say whose the "
                  "memory was.")
          .Column("others_memory_bytes", &TrainingRow::others_memory_bytes, Unit::kBytes,
                  "Of it, what was not the failing process's.")
          .Column("since_checkpoint_ns", &TrainingRow::since_checkpoint_ns, Unit::kNanoseconds,
                  "Time of the iterations since the last checkpoint that the log tells of; unknown without "
                  "one, and where a line has no time.")
          .Column(
              "gaps", &TrainingRow::gaps, Unit::kCount,
              "Between lines of iterations that are dated and timed, times of ten minutes and more that are "
              "of no iteration, and ten times what is mostly between lines; unknown without one.")
          .Column("gaps_ns", &TrainingRow::gaps_ns, Unit::kNanoseconds, "All of these.")
          .Column("longest_gap_ns", &TrainingRow::longest_gap_ns, Unit::kNanoseconds, "The longest.")
          .Column("longest_gap_after", &TrainingRow::longest_gap_after, Unit::kNone,
                  "Iteration after which that begins.")
          .Column("accelerator", &TrainingRow::accelerator, Unit::kText,
                  "What the training computes on where that is neither a GPU nor the CPU: NPU, TPU, HPU, "
                  "IPU, XPU, MPS; unknown for others.")
          .Column("skipped", &TrainingRow::skipped, Unit::kCount, "Iterations whose update was skipped.")
          .Column("nan", &TrainingRow::nan, Unit::kCount, "Iterations whose loss was no number.")
          .Column("slow_lines", &TrainingRow::slow_lines, Unit::kCount,
                  "Slow lines after warm-up; unknown where too few lines compare.")
          .Column("slow_ns", &TrainingRow::slow_ns, Unit::kNanoseconds,
                  "What all iterations of these took over the median.")
          .Column("fast_stretch_ns", &TrainingRow::fast_stretch_ns, Unit::kNanoseconds,
                  "Of lines with the same batch the median iteration of those in a row that are faster than "
                  "others before and after them by half and more, or of these where those are slower; else "
                  "of the fastest of twenty stretches, where one is slower by a quarter, and others before "
                  "and after it are not; unknown where no lines are.")
          .Column("slow_stretch_ns", &TrainingRow::slow_stretch_ns, Unit::kNanoseconds,
                  "That of the slower ones.")
          .Column("odd_first", &TrainingRow::odd_first, Unit::kNone,
                  "First iteration of the longest row of lines of another pace than those before and after "
                  "it, by half and more; unknown where there is none.")
          .Column("odd_last", &TrainingRow::odd_last, Unit::kNone, "Last iteration of it.")
          .Column("odd_lines", &TrainingRow::odd_lines, Unit::kCount, "Lines of it.")
          .Column("odd_pace_ns", &TrainingRow::odd_pace_ns, Unit::kNanoseconds,
                  "Median iteration of such rows of lines.")
          .Column("other_pace_ns", &TrainingRow::other_pace_ns, Unit::kNanoseconds,
                  "That of lines of another pace.")
          .Column("odd_pace_lines", &TrainingRow::odd_pace_lines, Unit::kCount,
                  "Lines of its pace, wherever they stand.")
          .Column("other_pace_lines", &TrainingRow::other_pace_lines, Unit::kCount, "All other lines.")
          .Column(
              "stalls", &TrainingRow::stalls, Unit::kCount,
              "Times of some seconds up to ten minutes between lines that no iteration takes, where lines "
              "have dates and mostly tell what passes between them; unknown without. Evaluations and ends "
              "of epochs whose time is known are no stalls.")
          .Column("stalls_ns", &TrainingRow::stalls_ns, Unit::kNanoseconds, "Time of all of these.")
          .Column("longest_stall_ns", &TrainingRow::longest_stall_ns, Unit::kNanoseconds, "The longest.")
          .Column("longest_stall_after", &TrainingRow::longest_stall_after, Unit::kNone,
                  "Iteration before it.")
          .Column("stalls_with_checkpoint", &TrainingRow::stalls_with_checkpoint, Unit::kCount,
                  "Of these, the ones in which the log tells of a checkpoint.")
          .Column("stalls_with_evaluation", &TrainingRow::stalls_with_evaluation, Unit::kCount,
                  "The same of an evaluation.")
          .Column("level_from", &TrainingRow::level_from, Unit::kNone,
                  "Iteration from which on lines with the same batch are slower than the others, by a "
                  "twentieth and more, for a seventh of the log and more; unknown where they vary "
                  "otherwise, and of several starts.")
          .Column("level_to", &TrainingRow::level_to, Unit::kNone,
                  "Last iteration of these; unknown where the log ends with them.")
          .Column("level_before_ns", &TrainingRow::level_before_ns, Unit::kNanoseconds,
                  "Median iteration of the others.")
          .Column("level_after_ns", &TrainingRow::level_after_ns, Unit::kNanoseconds,
                  "Median iteration of the slower ones.")
          .Column("level_lost_ns", &TrainingRow::level_lost_ns, Unit::kNanoseconds,
                  "What these take over the others.")
          .Column("slow_stretches_lost_ns", &TrainingRow::slow_stretches_lost_ns, Unit::kNanoseconds,
                  "What all slow stretches take over the pace of the fastest.")
          .Column("fast_stretch_tokens_per_second", &TrainingRow::fast_stretch_tokens_per_second, Unit::kNone,
                  "Of lines that tell tokens per second and no time, the median of the fastest stretch; "
                  "unknown unless one after it is slower by a quarter.")
          .Column("slow_stretch_tokens_per_second", &TrainingRow::slow_stretch_tokens_per_second, Unit::kNone,
                  "That of the slowest.")
          .Column("slow_stretches_lost_share", &TrainingRow::slow_stretches_lost_share, Unit::kRatio,
                  "What these take over the pace of the fastest, of the time of all.")
          .Column(
              "early_ns", &TrainingRow::early_ns, Unit::kNanoseconds,
              "Of lines with the same batch, the median iteration of the first fifth; unknown unless each "
              "fifth is slower than the one before, and the last takes twice as long and more.")
          .Column("late_ns", &TrainingRow::late_ns, Unit::kNanoseconds, "That of the last fifth.")
          .Column("growth_lost_ns", &TrainingRow::growth_lost_ns, Unit::kNanoseconds,
                  "What iterations take over that of the first fifth.")
          .Column("world_size", &TrainingRow::world_size, Unit::kCount, "GPUs of the job.")
          .Column("tensor_parallel", &TrainingRow::tensor_parallel, Unit::kCount, "GPUs that share layers.")
          .Column("pipeline_parallel", &TrainingRow::pipeline_parallel, Unit::kCount, "Pipeline stages.")
          .Column("data_parallel", &TrainingRow::data_parallel, Unit::kCount, "Copies of the model.")
          .Column("virtual_stages", &TrainingRow::virtual_stages, Unit::kCount,
                  "Parts of the model that a stage has in turn, 1 where it does not interleave.")
          .Column("micro_batch", &TrainingRow::micro_batch, Unit::kCount, "Samples of a micro-batch.")
          .Column("global_batch", &TrainingRow::global_batch, Unit::kCount, "Samples of an iteration.")
          .Column("micro_batches", &TrainingRow::micro_batches, Unit::kCount,
                  "Micro-batches that a pipeline works on in an iteration.")
          .Column("seq_length", &TrainingRow::seq_length, Unit::kCount, "Tokens of a sample.")
          .Column("precision", &TrainingRow::precision, Unit::kText, "fp32, fp16, bf16 or fp8.")
          .Column("recompute", &TrainingRow::recompute, Unit::kText,
                  "Which activations the backward pass computes again: none, selective, full.")
          .Column("bubble_share", &TrainingRow::bubble_share, Unit::kRatio,
                  "Share of an iteration in which a stage of the pipeline must wait even where all stages "
                  "take alike: (p - 1) / (v m + p - 1) for p stages, m micro-batches, v virtual stages.");
  return relation;
}

std::vector<TrainingRow> ComputeTrainings(const Context& context, const std::vector<TrainingLogRow>& log) {
  const TrainingLog& source = context.trace.training_log;
  if (source.empty()) return {};
  TrainingRow row;
  row.program = source.program;
  row.unit = source.of_epochs ? "epoch" : "iteration";
  AddLines(log, row);
  AddSizes(SizesOf(context.trace), row);
  for (const TrainingIteration& line : source.iterations)
    if (line.planned) row.planned = line.planned;
  row.runtime_ns = source.runtime_ns;
  if (const int64_t repeated = RepeatedIterations(log); repeated > 0 && row.mean_ns) {
    row.repeated_iterations = repeated;
    row.repeated_ns = static_cast<double>(repeated) * *row.mean_ns;
  }
  if (source.evaluations > 0) {
    row.evaluations = source.evaluations;
    row.evaluation_ns = source.evaluation_ns;
  }
  if (!source.between_epochs_ns.empty()) {
    row.epoch_ends = static_cast<int64_t>(source.between_epochs_ns.size());
    row.between_epochs_ns =
        std::accumulate(source.between_epochs_ns.begin(), source.between_epochs_ns.end(), 0.0);
  }
  if (source.flushed_iterations > 0) row.flushed_iterations = source.flushed_iterations;
  if (source.loss_lines > 0) row.loss_lines = source.loss_lines;
  if (source.first_steps > 0) row.first_steps = source.first_steps;
  if (source.other_lines > 0) row.other_lines = source.other_lines;
  if (!source.error.empty()) row.error = source.error;
  if (const std::string_view remedy = ErrorRemedy(source.error); !remedy.empty()) row.remedy = remedy;
  if (source.memory_taken) {
    row.gpu_memory_bytes = source.memory_taken->total_bytes;
    row.others_memory_bytes = source.memory_taken->others_bytes;
  }
  row.since_checkpoint_ns = SinceCheckpoint(source);
  if (const auto gaps = FindGaps(source)) {
    row.gaps = gaps->gaps;
    row.gaps_ns = gaps->all_ns;
    row.longest_gap_ns = gaps->longest_ns;
    row.longest_gap_after = gaps->after;
  }
  if (const auto stalls = FindStalls(source)) {
    row.stalls = stalls->stalls;
    row.stalls_with_checkpoint = stalls->with_checkpoint;
    row.stalls_with_evaluation = stalls->with_evaluation;
    row.stalls_ns = stalls->all_ns;
    row.longest_stall_ns = stalls->longest_ns;
    row.longest_stall_after = stalls->after;
  }
  if (const auto device = source.settings.find("device");
      device != source.settings.end() && device->second != "gpu" && device->second != "cpu")
    row.accelerator = device->second;
  if (!row.samples_per_second) row.samples_per_second = source.samples_per_second;
  AddWork(context, row);
  if (!row.tokens_per_second && row.samples_per_second && row.seq_length)
    row.tokens_per_second = *row.samples_per_second * static_cast<double>(*row.seq_length);
  return {row};
}

const Family& TrainingFamily() {
  static const Family family = FamilyOf<std::vector<TrainingRow>>(TrainingRelation());
  return family;
}

}  // namespace dladvisor
