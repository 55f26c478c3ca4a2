// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/frameworks/megatron.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

constexpr double kNsPerMs = 1e6, kMebibyte = 1048576;

// What begins something to read; it goes on until the next one.
const RE2& Begins() {
  static const RE2 begins(
      R"((?:\[Rank +\d+\] *)?\(?after \d+ iterations\)? memory \(MB\) *\||iteration +\d+ */ *\d+ *\||)"
      R"(time \(ms\) *\||MnRtt/Rnk:)");
  return begins;
}

std::optional<int64_t> Bytes(std::string_view mebibytes) {
  const std::optional<double> number = Number(mebibytes);
  if (!number || *number < 0 || *number > 1e9) return std::nullopt;
  return static_cast<int64_t>(*number * kMebibyte);
}

std::optional<double> Scaled(std::optional<double> number, double factor) {
  return number ? std::optional(*number * factor) : std::nullopt;
}

// Timers of what is done between iterations.
std::optional<TrainingEventKind> EventOf(std::string_view timer) {
  if (timer.starts_with("save-checkpoint") || timer == "save checkpoint")
    return TrainingEventKind::kCheckpoint;
  if (timer == "evaluate" || timer == "eval-time") return TrainingEventKind::kEvaluation;
  return std::nullopt;
}

// What starters of many tasks put before each line, "55: " of `srun --label` and "[default3]:" of torchrun.
std::string_view TaskOf(std::string_view line) {
  static const RE2 task(R"( {0,5}\d{1,6}: |\[[a-z]+\d{1,6}\]:)");
  re2::StringPiece match;
  return task.Match(line, 0, line.size(), RE2::ANCHOR_START, &match, 1) ? line.substr(0, match.size())
                                                                        : std::string_view();
}

void TakePair(std::string_view name, std::string_view value, TrainingIteration& row) {
  const bool is_loss = name.ends_with("loss") && name != "loss";
  if (name == "elapsed time per iteration (ms)")
    row.elapsed_ns = Scaled(Number(value), kNsPerMs);
  else if (name == "elapsed time per iteration (s)")
    row.elapsed_ns = Scaled(Number(value), kNsPerSecond);
  else if (name == "consumed samples")
    row.consumed_samples = Integer(value);
  else if (name == "global batch size")
    row.global_batch = Integer(value);
  else if (name == "learning rate")
    row.learning_rate = Number(value);
  else if (name == "loss scale")
    row.loss_scale = Number(value);
  else if (name == "grad norm")
    row.grad_norm = Number(value);
  else if (name == "number of skipped iterations")
    row.skipped = Integer(value);
  else if (name == "number of nan iterations")
    row.nan = Integer(value);
  else if (name == "samples per second" || name == "samples/sec")
    row.samples_per_second = Number(value);
  else if (name == "tokens per second" || name == "tokens/sec")
    row.tokens_per_second = Number(value);
  else if (name.starts_with("throughput per GPU (TFLOP/s") || name == "TFLOPs" || name == "TFLOP/s" ||
           name == "approx flops per GPU")
    row.tflops_per_gpu = Number(value);
  else if ((is_loss || name == "loss") && !row.loss)
    row.loss = Number(value);
}

}  // namespace

bool MegatronReader::Line(std::string_view line) {
  const std::string_view task = TaskOf(line);
  // What other tasks print meanwhile does not end a block.
  const bool other_task = !task_.empty() && !task.empty() && task != task_;
  if (block_ != Block::kNone && !other_task) {
    if (BlockLine(line.substr(task_.empty() ? 0 : task.size()))) return false;
    block_ = Block::kNone;
  }
  if (line.find("across ranks (ms):") != std::string_view::npos) {
    block_ = Block::kTimers;
    task_ = task;
    return false;
  }
  if (line.find("saving checkpoint at iteration") != std::string_view::npos ||
      line.find("successfully saved checkpoint") != std::string_view::npos)
    Event(TrainingEventKind::kCheckpoint);
  if (line.find("validation loss at") != std::string_view::npos ||
      line.find("validation results on") != std::string_view::npos)
    Event(TrainingEventKind::kEvaluation);
  if (line.find("unning garbage collection") != std::string_view::npos)
    Event(TrainingEventKind::kGarbageCollection);
  if (line.find('|') == std::string_view::npos) return false;

  bool iterations = false;
  std::string_view before, head;  // what stands before the first; the words that begin the current one
  size_t start = 0;
  const auto take = [&](size_t end) {
    const std::string_view text = line.substr(start, end - start);
    if (head.starts_with("iteration")) {
      Iteration(before, text);
      iterations = true;
    } else if (head.starts_with("time")) {
      Timers(text);
    } else if (head.starts_with("MnRtt")) {
      Extremes(text);
    } else if (!head.empty()) {
      Memory(head, text);
    }
  };
  re2::StringPiece match;
  for (size_t at = 0; Begins().Match(line, at, line.size(), RE2::UNANCHORED, &match, 1);
       at = start + head.size()) {
    const auto next = static_cast<size_t>(match.data() - line.data());
    if (head.empty()) before = line.substr(0, next);
    take(next);
    start = next;
    head = line.substr(next, match.size());
  }
  take(line.size());
  return iterations;
}

void MegatronReader::Iteration(std::string_view before, std::string_view text) {
  TrainingIteration row;
  const size_t slash = text.find('/');
  const auto number = Integer(text.substr(std::string_view("iteration").size()));
  if (!number || *number < 0) return void(++skipped_lines_);
  row.iteration = *number;
  row.planned = Integer(text.substr(slash + 1));
  row.time_ns = LastTime(before);
  ForEachPair(before, [&](std::string_view name, std::string_view value) {
    if (name.ends_with("samples/sec")) row.samples_per_second = Number(value);
  });
  ForEachPair(text, [&](std::string_view name, std::string_view value) { TakePair(name, value, row); });
  if (row.elapsed_ns && !(*row.elapsed_ns > 0)) row.elapsed_ns.reset();
  if (row.loss_scale && !(*row.loss_scale > 0)) row.loss_scale.reset();  // DeepSpeed has it elsewhere
  if (row.global_batch && *row.global_batch <= 0) row.global_batch.reset();
  if (!row.elapsed_ns && !row.loss && !row.skipped) return void(++skipped_lines_);
  if (!log_.iterations.empty()) {
    const TrainingIteration& last = log_.iterations.back();
    // Another rank, or a copy of the output, says the same.
    if (last.iteration == row.iteration && last.elapsed_ns == row.elapsed_ns && last.loss == row.loss) return;
    row.attempt = last.attempt + (row.iteration <= last.iteration || row.planned != last.planned);
  }
  log_.iterations.push_back(row);
  first_timer_ = log_.timers.size();
}

void MegatronReader::AddTimer(TrainingTimer timer) {
  if (timer.name.empty() || (timer.ns.value_or(0) < 0)) return;
  if (const auto kind = EventOf(timer.name)) return Event(*kind);
  if (log_.iterations.empty()) return;  // of the start
  timer.row = log_.iterations.size() - 1;
  for (size_t i = first_timer_; i < log_.timers.size(); ++i)
    if (log_.timers[i].name == timer.name && log_.timers[i].rank == timer.rank) return;
  log_.timers.push_back(std::move(timer));
}

void MegatronReader::Timers(std::string_view text) {
  ForEachPair(text, [&](std::string_view name, std::string_view value) {
    if (const auto ns = Scaled(Number(value), kNsPerMs)) AddTimer({0, std::string(name), {}, ns, {}, {}});
  });
}

// "    forward-backward ......: (5023.11, 5023.42)", one number for the most alone; or a timer and then
// "     rank  0: 12.10" for each.
bool MegatronReader::BlockLine(std::string_view line) {
  static const RE2 timer(R"(\s+([\w/ -]+?) \.*: *(?:\(([\d.]+), *([\d.]+)\)|([\d.]+))\s*)"),
      name(R"(  ([\w/-][\w/ -]*):\s*)"), rank(R"( {4,}rank +(\d+): *([\d.]+)\s*)");
  std::string text, least, most, one;
  int64_t number = 0;
  if (RE2::FullMatch(line, rank, &number, &one)) {
    if (block_ == Block::kRanks) AddTimer({0, block_timer_, number, Scaled(Number(one), kNsPerMs), {}, {}});
    return true;
  }
  if (RE2::FullMatch(line, timer, &text, &least, &most, &one)) {
    const auto min = Scaled(Number(least), kNsPerMs),
               max = Scaled(Number(one.empty() ? most : one), kNsPerMs);
    AddTimer({0, text, {}, {}, min, max});
    return true;
  }
  if (!RE2::FullMatch(line, name, &block_timer_)) return false;
  block_ = Block::kRanks;
  return true;
}

void MegatronReader::Memory(std::string_view head, std::string_view text) {
  static const RE2 words(R"((?:\[Rank +(\d+)\] *)?\(?after (\d+) iterations.*)");
  TrainingMemory memory;
  std::string rank_text;
  if (!RE2::FullMatch(head, words, &rank_text, &memory.iteration)) return void(++skipped_lines_);
  memory.rank = Integer(rank_text);
  ForEachPair(text.substr(head.size()), [&](std::string_view name, std::string_view value) {
    if (name == "allocated") memory.allocated = Bytes(value);
    if (name == "max allocated") memory.max_allocated = Bytes(value);
    if (name == "reserved") memory.reserved = Bytes(value);
    if (name == "max reserved") memory.max_reserved = Bytes(value);
  });
  if (!memory.max_allocated && !memory.allocated) return void(++skipped_lines_);
  log_.memory.push_back(memory);
}

// "MnRtt/Rnk: 3453.08ms/8 | MxRtt/Rnk: 3468.20ms/0 | ..."
void MegatronReader::Extremes(std::string_view text) {
  static const RE2 value_and_rank(R"(([\d.]+) *([A-Za-z%/]*?)/(\d+).*)");
  std::map<std::string, TrainingExtreme> extremes;
  std::map<std::string, int> seen;
  ForEachPair(text, [&](std::string_view name, std::string_view value) {
    if (!name.ends_with("/Rnk") || name.size() < 7) return;
    std::string number, unit;
    int64_t rank = 0;
    if (!RE2::FullMatch(value, value_and_rank, &number, &unit, &rank)) return;
    const auto parsed = Number(number);
    if (!parsed) return;
    const std::string metric(name.substr(2, name.size() - 6));
    TrainingExtreme& extreme = extremes[metric];
    extreme.metric = metric;
    extreme.unit = unit;
    const bool least = name.starts_with("Mn");
    (least ? extreme.min : extreme.max) = *parsed;
    (least ? extreme.min_rank : extreme.max_rank) = rank;
    seen[metric] |= least ? 1 : 2;
  });
  if (log_.iterations.empty()) return;
  for (auto& [metric, extreme] : extremes) {
    if (seen[metric] != 3) continue;
    extreme.row = log_.iterations.size() - 1;
    log_.extremes.push_back(extreme);
  }
}

void MegatronReader::Event(TrainingEventKind kind) {
  const size_t before = log_.iterations.size();
  for (auto event = log_.events.rbegin(); event != log_.events.rend() && event->before == before; ++event)
    if (event->kind == kind) return;
  log_.events.push_back({before, kind, {}});
}

TrainingLog MegatronReader::Finish(std::optional<int64_t> interval) {
  SetCovers(log_.iterations, interval);
  if (!log_.iterations.empty()) log_.program = "Megatron-LM";
  return std::move(log_);
}

}  // namespace dladvisor::training_log
