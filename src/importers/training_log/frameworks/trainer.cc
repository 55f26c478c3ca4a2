// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/frameworks/trainer.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "src/importers/training_log/lines/log_line.h"
#include "src/importers/training_log/steps/step_forms.h"

namespace dladvisor::training_log {
namespace {

// Lines that name the epoch which the bar counts, from which on it counts epochs.
constexpr int64_t kLeastEpochs = 3;
// A difference of two times in whole seconds is off by less than one: at most a twentieth of so many.
constexpr int64_t kLeastSeconds = 20;
// The number at which a bar first shows a second is exact to within the distance of the one before it, which
// is a twentieth of a row or less. Such rows are for a training of which there would be few others.
constexpr int64_t kLeastStepsOfRow = 20, kLeastSecondsOfSteps = 2, kSecondsOfShortTraining = 160,
                  kRowsOfShortTraining = 16;
constexpr size_t kLeastExactSteps = 3;
// Of the first number of a bar, by the usual distance of two: that it was not counted up to it.
constexpr int64_t kLeastJump = 20;
constexpr size_t kLeastJumpRows = 4;
// What a bar must plan, so that another of its kind shows a new start.
constexpr int64_t kLeastPlanned = 20;
constexpr size_t kLongestAnnouncement = 120;
// What no training plans.
constexpr int64_t kMostCount = 1'000'000'000'000;

// The number of "'name': 1.5" or "'name': '1.5'".
std::optional<double> Field(std::string_view line, std::string_view name) {
  const size_t at = line.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(at + name.size());
  if (!rest.empty() && rest.front() == '\'') rest.remove_prefix(1);
  return Number(rest);
}

// "Total optimization steps = 17,000"
std::optional<int64_t> CountOf(std::string_view line) {
  std::string count(line.substr(line.rfind(" = ") + 3));
  std::erase(count, ',');
  const auto number = Integer(count);
  return number && *number > kMostCount ? std::nullopt : number;
}

// "1h 2m 3s" and its parts.
std::optional<int64_t> Seconds(std::string_view line) {
  static const RE2 words(R"('elapsed_time': '(?:(\d{1,6})d )?(?:(\d{1,6})h )?(?:(\d{1,6})m )?(\d{1,12})s')");
  std::string days, hours, minutes;
  int64_t seconds = 0;
  if (!RE2::PartialMatch(line, words, &days, &hours, &minutes, &seconds)) return std::nullopt;
  return ((Integer(days).value_or(0) * 24 + Integer(hours).value_or(0)) * 60 + Integer(minutes).value_or(0)) *
             60 +
         seconds;
}

}  // namespace

bool TrainerReader::Line(std::string_view line) {
  begins_anew_ = false;
  if (line.find("Total optimization steps = ") != std::string_view::npos) {
    planned_ = CountOf(line);
    // "INFO - __main__ -   Total optimization steps = 3000", as scripts of Accelerate and diffusers copy it.
    by_script_ = line.find("__main__") != std::string_view::npos;
    seconds_.clear();
    losses_.clear();
    last_ = 0;
    start_ns_ = LastTime(line.substr(0, 64));
  }
  if (line.find("Num Epochs = ") != std::string_view::npos) epochs_ = CountOf(line);
  if (!announced_ && line.find("tart") != std::string_view::npos) TakeAnnouncement(line);
  if (line.find("***** Running Evaluation") != std::string_view::npos)
    events_[AtLast()].insert(TrainingEventKind::kEvaluation);
  if (line.find("Saving model checkpoint to") != std::string_view::npos)
    events_[AtLast()].insert(TrainingEventKind::kCheckpoint);
  if (line.find("it/s") != std::string_view::npos || line.find("s/it") != std::string_view::npos) Bar(line);
  if (line.find("{'") != std::string_view::npos) Record(line);
  if (last_ > 0 && line.find("poch") != std::string_view::npos) CountEpoch(line);
  return begins_anew_;
}

// "Starting training...": a bar without a title behind it counts its steps, and no other before.
void TrainerReader::TakeAnnouncement(std::string_view line) {
  static const RE2 starts(
      R"((?i)^\W{0,4}(?:\d[\d:,. /-]{5,30}\W{0,4}(?:INFO\W{0,4})?)?start(?:ing|ed|s)? (?:the )?(?:model |main )?(?:training|fine-?tuning)(?: loop)?\W*$)");
  if (line.size() > kLongestAnnouncement || !RE2::PartialMatch(line, starts)) return;
  announced_ = true;
  if (planned_) return;
  longest_ = last_ = 0;
  planned_of_bars_.reset();
  seconds_.clear();
  losses_.clear();
}

// "Epoch num 83| train loss 0.26" beside a bar that stands at 83.
void TrainerReader::CountEpoch(std::string_view line) {
  static const RE2 epoch(R"((?i)^\W*epoch[^\d%|/]{0,8}(\d{1,9})\b)");
  int64_t number = 0;
  if (!RE2::PartialMatch(line.substr(0, 64), epoch, &number)) return;
  // Each once; one that is far from what the bar counts shows that it counts something else.
  const bool near = number >= last_ - 1 && number <= last_ + 1;
  if (near && number != epoch_of_bar_) ++epochs_of_bar_;
  if (!near) epochs_of_bar_ = std::min<int64_t>(epochs_of_bar_, 0) - 1;
  epoch_of_bar_ = number;
}

// " 25%|##        | 1/4 [03:45<11:15, 225.28s/it]"
void TrainerReader::Bar(std::string_view line) {
  static const RE2 bar(
      R"((?:([^\s\d%|]+ )?([^\s\d%|]+)?\s*\d+%)?\|[^|]*\| *(\d{1,12})/(\d{1,12}) \[(?:(\d{1,6}):)?(\d{1,6}):(\d{2})<[^,\]]*, [^\]]*(?:it/s|s/it)([^\]]*)\])");
  re2::StringPiece rest = line;
  int64_t done = 0, planned = 0, minutes = 0, seconds = 0;
  std::string before, title, hours, values;
  while (RE2::FindAndConsume(&rest, bar, &before, &title, &done, &planned, &hours, &minutes, &seconds,
                             &values)) {
    if (done > planned) continue;
    // Of "Map:  37%" the only word.
    if (title.empty()) title = Trim(std::exchange(before, {}));
    const int64_t since = Integer(hours).value_or(0) * 3600 + minutes * 60 + seconds;
    // Of something else: tokenising, evaluation. Without a count, the longest of those without a title is the
    // training's.
    static const RE2 training(
        R"((?i)^(?:train(?:ing)?|(?:train(?:ing)? )?(?:progress|steps?|iterations?)):$)"),
        validation("(?i)val|test"), loss("(?i)loss=");
    const bool named = RE2::FullMatch(title, training) || RE2::FullMatch(before + title, training);
    bar_of_epochs_ = bar_of_epochs_ || title == "Epoch:";
    const bool shows_loss = RE2::PartialMatch(values, loss) && !RE2::PartialMatch(before + title, validation);
    // "Steps:  1%|  | 30/3000 [..., lr=0.0001, step_loss=0.03]"
    diffuses_ = diffuses_ || (title == "Steps:" && values.find("step_loss=") != std::string::npos);
    const bool titled =
        !title.empty() && title != ":" && !named && !shows_loss && title.back() != ']' && title.back() != '}';
    if (!titled && planned >= kLeastPlanned) {
      begins_anew_ = begins_anew_ || (done <= 1 && last_done_ > 1);
      last_done_ = done;
      not_begun_ = done == 0 ? std::optional(planned) : std::nullopt;
    }
    // Of an epoch each, where another bar counts these; the first of them tells the pace.
    const bool of_epoch = bar_of_epochs_ && title == "Iteration:";
    if (planned_ && !of_epoch ? planned != *planned_ : titled || planned < longest_) continue;
    if ((!planned_ || of_epoch) && planned > longest_) {
      longest_ = planned;
      planned_of_bars_ = planned;
      seconds_.clear();
      losses_.clear();
      last_ = 0;
    }
    // Words that only a training's bar has.
    told_by_bars_ =
        told_by_bars_ || shows_loss || (named && RE2::PartialMatch(before + title, "(?i)train")) || of_epoch;
    last_ = std::max(last_, done);
    if (done > 0) seconds_.try_emplace(done, since);
  }
}

// The last iteration that a bar or a record told of.
int64_t TrainerReader::AtLast() const {
  return std::max(last_, losses_.empty() ? 0 : losses_.rbegin()->first);
}

// The step that a record is of: printed, by its part of all epochs, or that of the last bar.
int64_t TrainerReader::StepOf(std::string_view line) const {
  constexpr std::string_view kSteps = "'global_step/max_steps': '";
  if (const size_t at = line.find(kSteps); at != std::string_view::npos)
    return CountedSteps(line.substr(at + kSteps.size())).value_or(0);
  const auto epoch = Field(line, "'epoch': ");
  if (last_ > 0 || !epoch || !planned_ || epochs_.value_or(0) <= 0 || *epoch < 0 || *epoch > 1e6)
    return last_;
  return static_cast<int64_t>(*epoch * static_cast<double>(*planned_) / static_cast<double>(*epochs_) + 0.5);
}

// "{'loss': 2.31, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch': 0.5}", "{'train_runtime': 871.8, ...}"
void TrainerReader::Record(std::string_view line) {
  if (const auto seconds = Field(line, "'train_runtime': "); seconds && *seconds > 0) {
    if (!log_.runtime_ns) {
      log_.runtime_ns = *seconds * kNsPerSecond;
      log_.samples_per_second = Field(line, "'train_samples_per_second': ");
    }
    return;
  }
  if (const auto seconds = Field(line, "'eval_runtime': "); seconds && *seconds > 0) {
    // What follows the totals is of another run, or of none.
    if (log_.runtime_ns) return;
    ++log_.evaluations;
    events_[AtLast()].insert(TrainingEventKind::kEvaluation);
    log_.evaluation_ns += *seconds * kNsPerSecond;
    return;
  }
  constexpr std::string_view kLoss = "{'loss': ";
  const size_t at = line.find(kLoss);
  if (at == std::string_view::npos) return;
  const std::string_view record = line.substr(at);
  const int64_t step = StepOf(record);
  if (step <= 0) return;
  // What is done at an epoch's end comes before the record that is of the next one.
  if (const auto epoch = Field(record, "'epoch': "); epoch && *epoch >= 0 && *epoch < 1e9) {
    const int64_t before = losses_.empty() ? 0 : losses_.rbegin()->first;
    if (epoch_ && std::floor(*epoch) > std::floor(*epoch_) && step > before) {
      const double part = (std::floor(*epoch) - *epoch_) / (*epoch - *epoch_);
      events_[before + static_cast<int64_t>(part * static_cast<double>(step - before))].insert(
          TrainingEventKind::kEpochEnd);
    }
    epoch_ = epoch;
  }
  Loss loss{Field(record, kLoss),
            Field(record, "'learning_rate': "),
            Field(record, "'grad_norm': "),
            Field(record, "'tokens_global_per_sec': "),
            Field(record, "'num_tokens': "),
            false};
  if (!loss.tokens) loss.tokens = Field(record, "'num_input_tokens_seen': ");
  // Axolotl's, of each GPU.
  if (!loss.tokens_per_second) loss.tokens_per_second = Field(record, "'tokens_per_second_per_gpu': ");
  loss.nan = !loss.loss && record.substr(0, kLoss.size() + 5).find("nan") != std::string_view::npos;
  losses_.try_emplace(step, loss);
  // What it prints of time besides the bar is of the same clock.
  if (const auto seconds = Seconds(record)) seconds_.try_emplace(step, *seconds);
  if (const auto time = LastTime(line.substr(0, std::min<size_t>(at, 64))); time && start_ns_ && last_ == 0)
    seconds_.try_emplace(step, (*time - *start_ns_) / static_cast<int64_t>(kNsPerSecond));
  constexpr std::string_view kSteps = "'global_step/max_steps': '";
  if (const size_t steps = record.find(kSteps); steps != std::string_view::npos && !planned_)
    if (const size_t slash = record.find('/', steps + kSteps.size()); slash != std::string_view::npos)
      planned_of_bars_ = CountedSteps(record.substr(slash + 1));
  if (const auto gibibytes = Field(record, "'memory(GiB)': ");
      gibibytes && *gibibytes > 0 && *gibibytes < 1e6) {
    TrainingMemory memory;
    memory.iteration = step;
    memory.max_reserved = static_cast<int64_t>(*gibibytes * 1073741824);
    log_.memory.push_back(memory);
  }
}

// The bar of a training that goes on from a checkpoint begins with one jump to the iterations that are done.
bool TrainerReader::GoesOn() const {
  if (seconds_.size() < kLeastJumpRows) return false;
  std::vector<int64_t> distances;
  for (auto row = std::next(seconds_.begin()); row != seconds_.end(); ++row)
    distances.push_back(row->first - std::prev(row)->first);
  const auto middle = distances.begin() + static_cast<ptrdiff_t>(distances.size() / 2);
  std::ranges::nth_element(distances, middle);
  return (seconds_.begin()->first - 1) / kLeastJump >= *middle;
}

// Numbers at which the bar of a short training, drawn often, first shows a second. Each of them ends a row.
std::set<int64_t> TrainerReader::ExactSteps() const {
  std::set<int64_t> exact;
  if (seconds_.empty() || seconds_.rbegin()->second >= kSecondsOfShortTraining) return exact;
  const int64_t least = std::max(kLeastSecondsOfSteps, seconds_.rbegin()->second / kRowsOfShortTraining);
  int64_t step = 0, since = 0;
  for (auto row = seconds_.begin(); row != seconds_.end(); ++row) {
    if (row == seconds_.begin()) continue;
    const auto& [before, second] = *std::prev(row);
    if (second + 1 != row->second || (row->first - before) * kLeastStepsOfRow > row->first - step ||
        row->second - since < least)
      continue;
    step = row->first;
    since = row->second;
    exact.insert(step);
  }
  // Of fewer one is the start, and what is left behind the last is more than they tell.
  return exact.size() < kLeastExactSteps ? std::set<int64_t>() : exact;
}

// Since the record before, as the tokens of all steps are counted.
std::optional<double> TrainerReader::TokensOfStep(std::map<int64_t, Loss>::const_iterator record) const {
  if (record == losses_.begin()) return std::nullopt;
  const auto before = std::prev(record);
  if (!record->second.tokens || !before->second.tokens || !(*record->second.tokens > *before->second.tokens))
    return std::nullopt;
  return (*record->second.tokens - *before->second.tokens) /
         static_cast<double>(record->first - before->first);
}

TrainingLog TrainerReader::Finish(bool of_training) {
  int64_t iteration = 0, since = 0;
  if (GoesOn()) {
    iteration = seconds_.begin()->first;
    since = seconds_.begin()->second;
    seconds_.erase(seconds_.begin());
  }
  const int64_t last = seconds_.empty() ? 0 : seconds_.rbegin()->first;
  const std::set<int64_t> exact = iteration > 0 ? std::set<int64_t>() : ExactSteps();
  for (const auto& [done, seconds] : seconds_) {
    const bool known =
        seconds - since >= kLeastSeconds || exact.contains(done) || (done == last && iteration == 0);
    if (seconds < since || !known) continue;
    TrainingIteration row;
    row.iteration = done;
    row.planned = planned_ ? planned_ : planned_of_bars_;
    row.covers = done - iteration;
    if (seconds > since)
      row.elapsed_ns =
          static_cast<double>(seconds - since) * kNsPerSecond / static_cast<double>(done - iteration);
    const auto loss = losses_.upper_bound(done);
    if (loss != losses_.begin() && std::prev(loss)->first > iteration) {
      row.loss = std::prev(loss)->second.loss;
      row.learning_rate = std::prev(loss)->second.learning_rate;
      row.grad_norm = std::prev(loss)->second.grad_norm;
      row.tokens_per_second = std::prev(loss)->second.tokens_per_second;
      if (const auto tokens = TokensOfStep(std::prev(loss));
          tokens && row.elapsed_ns && !row.tokens_per_second)
        row.tokens_per_second = *tokens * kNsPerSecond / *row.elapsed_ns;
      if (std::prev(loss)->second.nan) row.nan = row.covers;
    }
    // What happened after an iteration takes the time of the next one.
    for (auto event = events_.lower_bound(iteration); event != events_.end() && event->first < done; ++event)
      for (const TrainingEventKind kind : event->second)
        log_.events.push_back({log_.iterations.size(), kind, {}});
    log_.iterations.push_back(row);
    iteration = done;
    since = seconds;
  }
  // Without a bar, the records tell what the totals are of.
  if (log_.iterations.empty() && log_.runtime_ns && planned_ && iteration == 0) {
    for (const auto& [step, loss] : losses_) {
      if (step <= iteration || step > *planned_) continue;
      TrainingIteration row;
      row.iteration = step;
      row.planned = planned_;
      row.covers = step - std::exchange(iteration, step);
      row.loss = loss.loss;
      row.learning_rate = loss.learning_rate;
      row.grad_norm = loss.grad_norm;
      if (loss.nan) row.nan = row.covers;
      log_.iterations.push_back(row);
    }
    // Behind the last record up to the end, where that is less than lies between two.
    if (!log_.iterations.empty() && *planned_ - iteration <= *log_.iterations.back().covers) {
      *log_.iterations.back().covers += *planned_ - iteration;
      log_.iterations.back().iteration = *planned_;
    }
  }
  // Longer than the training: they are no part of it.
  if (log_.runtime_ns && log_.evaluation_ns > *log_.runtime_ns) {
    log_.evaluations = 0;
    log_.evaluation_ns = 0;
  }
  // A bar of few steps may be anything's.
  const bool told = planned_ || !losses_.empty() || log_.runtime_ns;
  const bool of_epochs = epochs_of_bar_ >= kLeastEpochs;
  if (!told && !((told_by_bars_ || announced_ || of_training || of_epochs) && log_.iterations.size() > 1))
    log_.iterations.clear();
  const bool of_trainer = told && (!(by_script_ || diffuses_) || !losses_.empty() || log_.runtime_ns);
  if (!log_.iterations.empty() || log_.runtime_ns)
    log_.program = of_trainer ? "Hugging Face Trainer" : diffuses_ ? "a training script of diffusers" : kBars;
  if (log_.program == kBars && of_epochs) {
    log_.program = kEpochs;
    log_.of_epochs = true;
  }
  return std::move(log_);
}

}  // namespace dladvisor::training_log
