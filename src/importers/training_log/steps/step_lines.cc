// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/steps/step_lines.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "src/importers/training_log/lines/line_values.h"
#include "src/importers/training_log/lines/log_line.h"
#include "src/importers/training_log/steps/epoch_times.h"
#include "src/importers/training_log/steps/step_forms.h"

namespace dladvisor::training_log {
namespace {

// Below which a text is not known for a log, unless the lines have timers of their program.
constexpr size_t kLeastSteps = 2;
// From which on they are more than a bar that is drawn beside them.
constexpr size_t kLeastBesideBars = 5;
// Numbers of steps that one line of another rank may be behind.
constexpr int64_t kBehind = 1;
// What prints its first step again so long after it is another start.
constexpr double kLeastRestart = 10e9;
// Printed means have three decimals: of a difference of two, the error must stay below this share.
constexpr double kMostError = 0.05, kDecimals = 0.0005;
// Whole seconds are exact enough from here on.
constexpr double kLeastBetween = 20e9, kLeastClock = 20;
constexpr int64_t kSecondNs = 1'000'000'000;
// Rounded ones from half as many.
constexpr double kLeastRounded = 10;
// Of what is left of an epoch, in whole minutes, a twentieth.
constexpr double kLeastRemaining = 20 * 60;
// Above which two numbers that lines give roughly are not alike by chance.
constexpr double kSurely = 1.5;

// The expressions of a form, compiled once.
struct Compiled {
  std::unique_ptr<RE2> head;
  std::vector<std::unique_ptr<RE2>> fields;
};

const std::vector<Compiled>& Expressions() {
  static const std::vector<Compiled> all = [] {
    std::vector<Compiled> result;
    for (const Form& form : Forms()) {
      Compiled& compiled = result.emplace_back();
      compiled.head = std::make_unique<RE2>(form.head);
      for (const FieldForm& field : form.fields)
        compiled.fields.push_back(std::make_unique<RE2>(field.words));
    }
    return result;
  }();
  return all;
}

const Compiled& ExpressionsOf(const Form& form) {
  return Expressions()[static_cast<size_t>(&form - Forms().data())];
}

// "1,803,550,720" too.
std::optional<double> Grouped(std::string text) {
  std::erase(text, ',');
  return Number(text);
}

// "1,100" too, and "12.6k".
std::optional<int64_t> Count(const std::string& text) {
  if (text.find_first_of(".,k") == std::string::npos) return Integer(text);
  const auto number = Grouped(text);
  if (!number || *number < 0 || *number > 1e12) return std::nullopt;
  return std::llround(*number * (text.ends_with('k') ? 1000 : 1));
}

}  // namespace

ProgramLinesReader::ProgramLinesReader(std::string_view program)
    : program_(program), by_hand_(program == kAnyProgram || program == kStepsAlone || program == kEpochs) {
  for (const Form& form : Forms()) {
    if (form.program != program) continue;
    forms_.push_back(&form);
    has_bars_ = has_bars_ || *form.parts == 'b';
  }
}

bool ProgramLinesReader::Line(std::string_view line, std::string_view before, int64_t number) {
  before_ = before;
  number_ = number;
  // Darknet waits for a batch before it takes the time of the iteration.
  static const RE2 loaded(R"(^\s*Loaded: (\d+\.\d+) seconds\b)");
  if (double seconds = 0; program_ == "Darknet" && line.find("Loaded: ") != std::string_view::npos &&
                          RE2::PartialMatch(line, loaded, &seconds))
    waited_ = seconds;
  static const RE2 counted(R"(^Train on (\d{1,9}) samples\b)");
  if (program_ == "Keras" && line.starts_with("Train on ")) RE2::PartialMatch(line, counted, &samples_);
  static const RE2 epoch_of_bars(R"((?:^|[\s|\]-])Epoch:? +\[?(\d+) ?/ ?\d+\]?\s*$)");
  if (has_bars_ && line.find("Epoch") != std::string_view::npos)
    told_epoch_ = RE2::PartialMatch(line, epoch_of_bars, &bar_epoch_) || told_epoch_;
  if (form_ != nullptr && form_->parts[0] == 't' && TimeAfterEpoch(line)) return true;
  for (const Form* form : forms_)
    if (line.find(form->mark) != std::string_view::npos && Head(*form, line)) return true;
  if (form_ != nullptr && (form_->parts[0] == 'b' || line.find("100%") != std::string_view::npos))
    evaluations_.Bar(line, log_);
  if (form_ != nullptr && (form_->parts[0] == 'e' || program_ == "MMEngine") && !log_.iterations.empty())
    evaluations_.Line(line, log_);
  if (form_ != nullptr) StepEvaluations::Total(line, log_);
  auto kind = form_ != nullptr ? BetweenSteps(line) : std::nullopt;
  if (!kind && form_ != nullptr && by_hand_ && !printed_epochs_) kind = HappensBetween(line);
  if (kind) {
    EndStep();
    AddEvent({log_.iterations.size(), *kind, {}}, before_, line, log_.events);
  } else if (row_ && form_->block) {
    // A line of dashes may part a block, and one of a table begin it.
    const bool parts = line.find_first_not_of('-') == std::string_view::npos || line.starts_with("\u2502") ||
                       line.starts_with("\u256d") || line.starts_with("\u251c");
    if (!line.empty() &&
        (line.front() == ' ' || line.front() == '\t' || line.front() == '|' || parts || HasField(line)))
      Fields(line);
    else
      EndStep();
  }
  return false;
}

bool ProgramLinesReader::Head(const Form& form, std::string_view line) {
  std::string numbers[3];
  const RE2& head = *ExpressionsOf(form).head;
  const std::string_view parts = form.parts;
  const bool found = parts.size() == 1 ? RE2::PartialMatch(line, head, &numbers[0])
                     : parts.size() == 2
                         ? RE2::PartialMatch(line, head, &numbers[0], &numbers[1])
                         : RE2::PartialMatch(line, head, &numbers[0], &numbers[1], &numbers[2]);
  if (!found || (form.unless != nullptr && line.find(form.unless) != std::string_view::npos)) return false;
  // "[Eval] Best Model at Epoch 3: 100%|####| 289/289 ["
  if (program_ == kBars && FullEvaluationBar(line)) return false;
  const bool of_epoch = parts == "t";
  if (of_epoch && OfPartOfEpoch(line)) return false;
  // "Checkpoint saved to best.pt (epoch 4276, loss 5.8e-03)"
  if (of_epoch && BetweenSteps(line.substr(0, line.find(form.mark))) == TrainingEventKind::kCheckpoint)
    return false;
  EndStep();
  const auto part = [&](char letter) {
    const size_t at = parts.find(letter);
    const auto number = at == std::string_view::npos ? std::nullopt : Count(numbers[at]);
    return number && *number >= 0 && *number < int64_t{1} << 40 ? number : std::nullopt;
  };
  const bool bar = parts.front() == 'b';
  const auto printed = part(bar ? 'b' : of_epoch ? 't' : 's'), all = part('n');
  // Where no line tells the epoch, a bar that starts anew does.
  if (bar && printed != all) new_bar_ = true;
  if (bar && printed == all && !told_epoch_ && std::exchange(new_bar_, false)) ++bar_epoch_;
  // A bar is written again with what the validation says.
  if (bar && (printed != all || bar_epoch_ == full_bar_epoch_)) return false;
  if (bar) full_bar_epoch_ = bar_epoch_;
  const auto epoch = bar ? std::optional(bar_epoch_) : part('e');
  // Of the full bars of an epoch the first is the training's, and others are of its evaluation.
  if (program_ == kBars && !bar && epoch && printed == all &&
      std::exchange(full_bar_epoch_, *epoch) == *epoch)
    return false;
  if (!printed || (parts.size() == 3 && (!all || !epoch || *epoch > 1'000'000))) return false;
  if (form.first_step == kEither && !first_step_) first_step_ = std::min<int64_t>(*printed, 1);
  int64_t step = *printed - (form.first_step == kEither ? *first_step_ : form.first_step) + 1;
  if (of_epoch && !first_epoch_) first_epoch_ = std::min<int64_t>(*printed, 1);
  if (of_epoch) step = *printed - *first_epoch_ + 1;
  if (const auto took =
          of_epoch && printed_epochs_ && step == last_iteration_ ? TimeOfEvaluation(line) : std::nullopt) {
    ++log_.evaluations;
    log_.evaluation_ns += *took * kNsPerSecond;
    return true;
  }
  // "Epoch 2 - Validation BLEU: 71.65", behind the epoch's own lines.
  if (of_epoch && step == last_iteration_ && !printed_epochs_ &&
      HappensBetween(line) == TrainingEventKind::kEvaluation) {
    AddEvent({log_.iterations.size(), TrainingEventKind::kEvaluation, {}}, before_, line, log_.events);
    return true;
  }
  form_ = &form;
  TrainingIteration& row = row_.emplace();
  row.line = number_;
  epoch_ = epoch.value_or(0);
  step_ = step;
  all_ = all.value_or(0);
  row.iteration = std::max<int64_t>(step, 0);
  if (epoch && !first_epoch_)
    first_epoch_ = form.first_epoch == kEither ? std::min<int64_t>(*epoch, 1) : form.first_epoch;
  if (epoch && *all < int64_t{1} << 32)
    row.iteration += std::max<int64_t>(0, *epoch - *first_epoch_) * *all;
  else
    row.planned = all;
  // "99/99     3.01G": of all epochs.
  static const RE2 of_all(R"(^\s*\d{1,6}/(\d{1,6}) +[\d.]+G)");
  if (int64_t last = 0;
      epoch && form.program == std::string_view("YOLO") && RE2::PartialMatch(line, of_all, &last))
    row.planned = (last - *first_epoch_ + 1) * *all;
  row.time_ns = LastTime(line);
  if (program_ == kAnyProgram || program_ == kStepsAlone) row.tokens_per_second = TokensPerSecond(line);
  // Such a bar is an epoch, and its steps are samples.
  if (bar && all_ > 1 && (all_ == samples_ || line.find("/sample - ") != std::string_view::npos))
    row.covers = all_;
  if (form.block) return true;
  Fields(line);
  EndStep();
  return true;
}

// Of a block without an indent.
bool ProgramLinesReader::HasField(std::string_view line) const {
  return std::ranges::any_of(ExpressionsOf(*form_).fields,
                             [&](const auto& field) { return RE2::PartialMatch(line, *field); });
}

void ProgramLinesReader::Fields(std::string_view text) {
  const Compiled& compiled = ExpressionsOf(*form_);
  for (size_t i = 0; i < form_->fields.size(); ++i) {
    std::string number;
    if (!RE2::PartialMatch(text, *compiled.fields[i], &number)) continue;
    const FieldForm& field = form_->fields[i];
    const auto value = field.kind == kClock ? SecondsOfClock(number) : Grouped(number);
    if (!value && field.kind == kLoss) row_->nan = 1;
    if (value && field.kind == kTimer)
      timers_.emplace_back(field.timer, *value * field.scale * kNsPerSecond);
    else if (value)
      Field(field.kind, *value * field.scale);
  }
}

void ProgramLinesReader::Field(int kind, double value) {
  TrainingIteration& row = *row_;
  const bool positive = value > 0;
  switch (kind) {
    case kElapsed:
      if (positive) row.elapsed_ns = value * kNsPerSecond;
      break;
    case kRate:
      if (positive) row.elapsed_ns = kNsPerSecond / value;
      break;
    case kTotal:
      total_ = value;
      break;
    case kWholeTotal:
      total_ = value;
      whole_total_ = true;
      break;
    case kMean:
      mean_time_ = value;
      break;
    case kClock:
      // Whole seconds: what the bar says of its rate is finer for short epochs.
      if (*form_->parts == 't')
        row.elapsed_ns = value * kNsPerSecond;
      else if (value >= kLeastClock && step_ > 0)
        mean_time_ = value / static_cast<double>(step_);
      break;
    case kSeconds:
      if (value >= kLeastRounded && step_ > 0)
        row.elapsed_ns = value * kNsPerSecond / static_cast<double>(step_);
      break;
    case kRemaining:
      if (value >= kLeastRemaining && step_ < all_)
        row.elapsed_ns = value * kNsPerSecond / static_cast<double>(all_ - step_);
      break;
    case kInput:
      input_ = value;
      break;
    case kMeanInput:
      mean_input_ = value;
      break;
    case kTokens:
      if (positive) row.tokens_per_second = value;
      break;
    case kAllTokens:
      tokens_ = value;
      break;
    case kSamples:
      if (positive) row.samples_per_second = value;
      break;
    case kBatch:
      if (value >= 1 && value < 1e12) row.global_batch = static_cast<int64_t>(value);
      break;
    case kTflops:
      if (positive) row.tflops_per_gpu = value;
      break;
    case kMfu:
      if (positive && value <= 1) row.mfu = value;
      break;
    case kLoss:
      row.loss = value;
      break;
    case kLearningRate:
      row.learning_rate = value;
      break;
    case kNorm:
      row.grad_norm = value;
      break;
    case kLossScale:
      if (positive) row.loss_scale = value;
      break;
    case kMemory:
      if (positive && value < 1e15) bytes_ = static_cast<int64_t>(value);
      break;
    case kReserved:
      if (positive && value < 1e15) reserved_ = static_cast<int64_t>(value);
      break;
  }
}

// The mean of the lines since the last one, from means since the epoch began.
std::optional<double> ProgramLinesReader::SinceLast(std::optional<double> mean, double sum,
                                                    double first) const {
  if (!mean) return std::nullopt;
  const bool same = running_.epoch == epoch_ && step_ > running_.steps;
  const int64_t steps = same ? running_.steps : 0;
  const double value =
      (*mean * static_cast<double>(step_) - (same ? sum : 0)) / static_cast<double>(step_ - steps);
  const double error = kDecimals * static_cast<double>(step_ + steps) / static_cast<double>(step_ - steps);
  if (value > 0 && error <= kMostError * value) return value;
  // Of means that grow too coarse for their differences the mean since the epoch's first line, whose step
  // may have waited long: what the line's own step took may be far from what the others did.
  if (!same) return *mean;
  return std::max(
      0.0, (*mean * static_cast<double>(step_) - first) / static_cast<double>(step_ - running_.first_steps));
}

// The first line of each epoch, for the times of lines; where lines print times, those that do.
bool ProgramLinesReader::IsOfNewEpoch(const TrainingIteration& row) {
  if (row.elapsed_ns && !std::exchange(printed_epochs_, true)) {
    log_.iterations.clear();
    log_.events.clear();
    last_iteration_.reset();
  }
  return printed_epochs_ ? row.elapsed_ns.has_value() : row.iteration != last_iteration_;
}

// Where it is printed again within the epoch, it counts from the epoch's start.
bool ProgramLinesReader::TimeAfterEpoch(std::string_view line) {
  const auto seconds = TimeOfEpochBefore(line);
  LoadingAfterEpoch(line);
  if (seconds && bare_) {
    log_.iterations.push_back(*std::exchange(bare_, {}));
    // The mean of a batch is shorter than the epoch by how many there are.
    if (loading_ && *loading_ <= *seconds && *loading_ * static_cast<double>(losses_) > kSurely * *seconds)
      log_.timers.push_back({log_.iterations.size() - 1, "data", {}, *loading_ * kNsPerSecond, {}, {}});
  }
  if (!seconds || log_.iterations.empty() || log_.iterations.back().iteration != last_iteration_)
    return false;
  TrainingIteration& row = log_.iterations.back();
  row.elapsed_ns = std::max(row.elapsed_ns.value_or(0), *seconds * kNsPerSecond);
  return true;
}

void ProgramLinesReader::LoadingAfterEpoch(std::string_view line) {
  if (!bare_) return;
  if (line.find("oss") != std::string_view::npos) ++losses_;
  if (const auto loading = LoadingOfEpoch(line)) loading_ = loading;
}

void ProgramLinesReader::EndStep() {
  if (!row_) return;
  TrainingIteration row = std::move(*row_);
  row_.reset();
  auto input = std::exchange(input_, {});
  const auto total = std::exchange(total_, {}), mean_input = std::exchange(mean_input_, {}),
             mean = std::exchange(mean_time_, {}), tokens = std::exchange(tokens_, {});
  if (const auto waited = std::exchange(waited_, {}); waited && row.elapsed_ns) {
    *row.elapsed_ns += *waited * kNsPerSecond;
    input = waited;
  }
  const auto bytes = std::exchange(bytes_, {}), reserved = std::exchange(reserved_, {});
  const auto timers = std::exchange(timers_, {});
  std::vector<TrainingIteration>& rows = log_.iterations;
  // Another rank's line, or a second one of this step, as where a validation follows.
  const bool restarts = row.iteration <= 1 && row.time_ns && last_time_ns_ &&
                        static_cast<double>(*row.time_ns - *last_time_ns_) > kLeastRestart;
  if (!rows.empty() && !restarts && row.iteration <= rows.back().iteration &&
      rows.back().iteration - row.iteration <= kBehind) {
    // "Epoch 3 finished in 0:02:13", behind the line with its loss.
    if (*form_->parts == 't' && row.iteration == rows.back().iteration && !rows.back().elapsed_ns)
      rows.back().elapsed_ns = row.elapsed_ns;
    return;
  }
  row.attempt = rows.empty() ? 0 : rows.back().attempt + (row.iteration <= rows.back().iteration);
  if (*form_->parts == 't' && !IsOfNewEpoch(row)) return;
  if (whole_total_ && total && last_total_ && *total - *last_total_ >= 0 &&
      *total - *last_total_ < kLeastRounded)
    return;
  // Two lines of whole seconds that are close together say little: the first of them waits for a later one.
  // What is written by hand has its own reader.
  if (program_ != kStepsAlone && program_ != kAnyProgram && row.time_ns && last_time_ns_ && last_iteration_ &&
      row.iteration > *last_iteration_ && !row.elapsed_ns && !total && !tokens && !row.tokens_per_second &&
      !row.samples_per_second && *row.time_ns % kSecondNs == 0 && *last_time_ns_ % kSecondNs == 0 &&
      *row.time_ns >= *last_time_ns_ && static_cast<double>(*row.time_ns - *last_time_ns_) < kLeastBetween)
    return;
  // Of the line before, which says nothing of its own iteration where it has a total alone.
  const int64_t last = last_iteration_.value_or(0);
  const bool follows = last_iteration_ && row.iteration > last;
  const auto distance = static_cast<double>(row.iteration - last);
  last_iteration_ = row.iteration;
  if (total && follows && last_total_ && *total > *last_total_)
    row.elapsed_ns = (*total - *last_total_) / distance * kNsPerSecond;
  last_total_ = total;
  std::optional<double> waited = input;
  if (mean && row.elapsed_ns && step_ > 0) {
    const double printed = *row.elapsed_ns / kNsPerSecond;
    if (const double since = SinceLast(mean, running_.time, running_.first_time).value_or(printed); since > 0)
      row.elapsed_ns = since * kNsPerSecond;
    if (input) waited = SinceLast(mean_input, running_.input, running_.first_input).value_or(*input);
    running_.Take(*mean, mean_input.value_or(0), step_, epoch_);
  }
  // Times of lines count where no time is printed, or one of few digits beside fine ones of lines.
  if (row.time_ns && follows && last_time_ns_ && *row.time_ns > *last_time_ns_ &&
      *row.time_ns - *last_time_ns_ < kLongestBetween) {
    const auto between = static_cast<double>(*row.time_ns - *last_time_ns_);
    const bool printed = row.elapsed_ns.has_value();
    if (!row.elapsed_ns && (between >= kLeastBetween || *row.time_ns % 1'000'000'000 != 0)) {
      row.elapsed_ns = between / distance;
      const bool told = !log_.events.empty() && log_.events.back().before == rows.size();
      if (epoch_ != last_epoch_ && !told)
        log_.events.push_back({rows.size(), TrainingEventKind::kEpochEnd, {}});
    }
    if (printed && epoch_ != last_epoch_ && *form_->parts == 'e')
      log_.between_epochs_ns.push_back(std::max(0.0, between - distance * *row.elapsed_ns));
    if (tokens && last_tokens_ && *tokens > *last_tokens_)
      row.tokens_per_second = (*tokens - *last_tokens_) * kNsPerSecond / between;
  }
  // An epoch's first step waits for the loader to start; the line shows that step alone.
  if (mean && row.elapsed_ns && step_ == 1 && epoch_ != last_epoch_) row.covers = 1;
  last_time_ns_ = row.time_ns;
  last_epoch_ = epoch_;
  last_tokens_ = tokens;
  if (!row.elapsed_ns && !row.tokens_per_second && !row.samples_per_second && !row.loss && !row.nan) {
    if (*form_->parts == 't') bare_ = row;
    loading_.reset();
    losses_ = 0;
    return;
  }
  bare_.reset();
  if (waited && *waited >= 0 && row.elapsed_ns)
    log_.timers.push_back({rows.size(), "data", {}, *waited * kNsPerSecond, {}, {}});
  for (const auto& [name, ns] : timers)
    if (ns >= 0) log_.timers.push_back({rows.size(), name, {}, ns, {}, {}});
  if (bytes || reserved) {
    TrainingMemory memory;
    memory.iteration = row.iteration;
    memory.max_allocated = bytes;
    memory.max_reserved = reserved;
    log_.memory.push_back(memory);
  }
  rows.push_back(std::move(row));
}

TrainingLog ProgramLinesReader::Finish() {
  EndStep();
  const auto timed = std::ranges::count_if(log_.iterations, [](const TrainingIteration& row) {
    return row.elapsed_ns || row.tokens_per_second || row.samples_per_second || row.tflops_per_gpu;
  });
  const bool has_timers = std::ranges::any_of(log_.timers, [](const auto& t) { return t.name != "data"; });
  if (static_cast<size_t>(timed) < (has_timers ? 1 : kLeastSteps)) return {};
  evaluations_.LeaveOutTest(log_);
  if (program_ == "Keras") SamplesToEpochs(log_);
  SetCovers(log_.iterations, std::nullopt);
  if (program_ == "nanoGPT") SpreadSingleTimes(log_.iterations);
  if (program_ == kEpochs) SplitTotals(log_.iterations);
  if (by_hand_) LeaveOutCommonEvents(log_);
  for (TrainingIteration& row : log_.iterations)
    if (row.nan) row.nan = row.covers.value_or(1);
  log_.program = program_;
  log_.of_epochs = log_.of_epochs || program_ == kEpochs;
  return std::move(log_);
}

StepLinesReader::StepLinesReader() {
  std::vector<std::string_view> names;
  for (const Form& form : Forms())
    if (std::ranges::find(names, form.program) == names.end()) names.emplace_back(form.program);
  for (const std::string_view name : names) programs_.emplace_back(name);
}

bool StepLinesReader::Line(std::string_view line, int64_t number) {
  if (line.size() > 65536) return false;
  std::string plain;
  if (line.find('\x1b') != std::string_view::npos) {
    plain = WithoutColours(line);
    line = plain;
  }
  bool step = false;
  for (ProgramLinesReader& program : programs_) step = program.Line(line, last_line_, number) || step;
  last_line_ = line.substr(0, kStartOfLine);
  return step;
}

TrainingLog StepLinesReader::Finish() {
  TrainingLog best;
  const auto by_hand = [](const TrainingLog& log) {
    return (log.program == kAnyProgram || log.program == kStepsAlone ? 1 : 0) + (log.of_epochs ? 2 : 0);
  };
  // Its own lines tell more than a bar beside them.
  const auto beside_bars = [](const TrainingLog& log) {
    return log.iterations.size() >= kLeastBesideBars &&
           std::ranges::any_of(log.timers, [](const TrainingTimer& timer) { return timer.name == "data"; });
  };
  for (ProgramLinesReader& program : programs_) {
    TrainingLog log = program.Finish();
    if (log.empty()) continue;
    if (best.program == kBars && by_hand(log) == 0 && beside_bars(log)) best = {};
    if (log.program == kBars && !best.empty() && by_hand(best) == 0 && beside_bars(best)) continue;
    if (best.empty() || by_hand(log) < by_hand(best) ||
        (by_hand(log) == by_hand(best) && log.iterations.size() > best.iterations.size()))
      best = std::move(log);
  }
  return best;
}

}  // namespace dladvisor::training_log
