// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/training_log.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "src/analysis/family/family.h"
#include "src/analysis/training/training_setting.h"
#include "src/statistics/quantile.h"

namespace dladvisor {
namespace {

// A line is slow whose modified z-score (0.6745 times its distance from the median, over the median of
// distances) is above 3.5, the customary limit, and that takes a twentieth more than the median.
constexpr double kScore = 3.5, kNormal = 0.6745, kLeastExcess = 0.05;
// Where most lines print one and the same time, the next one is what it is rounded to, up to this share of
// it.
constexpr double kCoarsest = 0.1;
// Lines of one kind below which their median and spread say little; lines of an attempt from which its first
// is left out as warm-up.
constexpr size_t kLeastLines = 8, kLeastOfAttempt = 3;
// Of what a line takes longer, the share by which a timer must have grown to be the reason.
constexpr double kExplains = 0.5;
// Lines at one distance that are no chance, and how many lines lie between two of them at least.
constexpr size_t kLeastRegular = 4;
constexpr int64_t kLeastLinesBetween = 5;

constexpr std::pair<TrainingEventKind, const char*> kEvents[] = {
    {TrainingEventKind::kCheckpoint, "checkpoint"},
    {TrainingEventKind::kEvaluation, "evaluation"},
    {TrainingEventKind::kGarbageCollection, "garbage collection"},
    {TrainingEventKind::kEpochEnd, "end of an epoch"}};

using Rows = std::vector<size_t>;
using Alike = std::pair<int64_t, int64_t>;  // attempt and batch, -1 where unknown: lines that compare

std::map<Alike, Rows> GroupLines(const std::vector<TrainingLogRow>& rows) {
  std::map<Alike, Rows> groups;
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].elapsed_ns) groups[{rows[i].attempt, rows[i].global_batch.value_or(-1)}].push_back(i);
  return groups;
}

std::vector<double> TimesOf(const std::vector<TrainingLogRow>& rows, const Rows& group) {
  std::vector<double> times;
  for (const size_t i : group) times.push_back(*rows[i].elapsed_ns);
  return times;
}

// The least distance of another time from the median that most lines print; 0 where times are not rounded.
double RoundedTo(const std::vector<double>& times, double median) {
  double least = kCoarsest * median;
  bool found = false;
  for (const double time : times) {
    const double distance = std::abs(time - median);
    if (distance <= 0 || distance > least) continue;
    least = distance;
    found = true;
  }
  return found ? least : 0;
}

// Lines around one that show its pace; so many at one pace, and such a share of all, are a phase.
constexpr size_t kLinesAround = 51, kLeastLinesOfPhase = 50;
constexpr double kLeastPhase = 0.1;

// What each time compares with: the median of all, and in long phases of another pace that of the times
// around it.
std::vector<double> UsualTimes(const std::vector<double>& times, double median) {
  std::vector<double> usual(times.size(), median), around(times.size(), median);
  const size_t least =
      std::max(kLeastLinesOfPhase, static_cast<size_t>(kLeastPhase * static_cast<double>(times.size())));
  if (times.size() < 2 * least) return usual;
  for (size_t i = 0; i < times.size(); ++i) {
    const size_t begin =
        std::min(i < kLinesAround / 2 ? 0 : i - kLinesAround / 2, times.size() - kLinesAround);
    around[i] = Median(std::vector<double>(times.begin() + static_cast<ptrdiff_t>(begin),
                                           times.begin() + static_cast<ptrdiff_t>(begin + kLinesAround)));
  }
  for (size_t begin = 0, end = 0; begin < times.size(); begin = end) {
    const auto other = [&](size_t i) { return std::abs(around[i] - median) > kLeastExcess * median; };
    for (end = begin; end < times.size() && other(end) == other(begin);) ++end;
    if (!other(begin) || end - begin < least) continue;
    std::copy(around.begin() + static_cast<ptrdiff_t>(begin), around.begin() + static_cast<ptrdiff_t>(end),
              usual.begin() + static_cast<ptrdiff_t>(begin));
  }
  return usual;
}

void MarkSlow(std::vector<TrainingLogRow>& rows, const Rows& group) {
  std::vector<double> times = TimesOf(rows, group);
  const std::vector<double> in_order = times;
  const double median = Median(times);
  const std::vector<double> usual = UsualTimes(in_order, median);
  std::vector<double> distances;
  for (size_t i = 0; i < group.size(); ++i) distances.push_back(std::abs(in_order[i] - usual[i]));
  const double spread = Median(distances);
  // Half a step more than one: what differs by rounding is not slow.
  const double step = spread > 0 ? 0 : 1.5 * RoundedTo(in_order, median);
  for (size_t i = 0; i < group.size(); ++i) {
    TrainingLogRow& row = rows[group[i]];
    row.excess_ns = in_order[i] - usual[i];
    if (group.size() >= kLeastLines)
      row.slow = *row.excess_ns > std::max({kScore * spread / kNormal, kLeastExcess * usual[i], step});
  }
}

// What is slow for longer than this share of an attempt, and so many lines, is a phase of the training.
constexpr double kMostOfWarmup = 0.1;
constexpr size_t kMostLinesOfWarmup = 20;

double TimeOf(const TrainingLogRow& row) {
  return row.elapsed_ns.value_or(0) * static_cast<double>(row.covers.value_or(1));
}

// The first line of an attempt, and what follows it as long as that is slow.
void MarkWarmup(std::vector<TrainingLogRow>& rows) {
  for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    while (end < rows.size() && rows[end].attempt == rows[begin].attempt) ++end;
    if (end - begin < kLeastOfAttempt) continue;
    size_t steady = begin + 1;
    while (steady < end && rows[steady].slow == true) ++steady;
    double all = 0, slow = 0;
    for (size_t i = begin; i < end; ++i) {
      all += TimeOf(rows[i]);
      if (i > begin && i < steady) slow += TimeOf(rows[i]);
    }
    if (steady - begin > kMostLinesOfWarmup && slow > kMostOfWarmup * all) steady = begin + 1;
    for (size_t i = begin; i < steady; ++i) rows[i].warmup = true;
  }
}

// By timer and row: the time, the most of all ranks where the log has those.
std::map<std::string, std::map<size_t, double>> TimersByName(const TrainingLog& log) {
  std::map<std::string, std::map<size_t, double>> timers;
  for (const TrainingTimer& timer : log.timers) {
    const auto ns = timer.ns ? timer.ns : timer.max_ns;
    if (!ns) continue;
    double& most = timers[timer.name].try_emplace(timer.row, *ns).first->second;
    most = std::max(most, *ns);
  }
  return timers;
}

class Explainer {
 public:
  Explainer(const TrainingLog& log, std::vector<TrainingLogRow>& rows)
      : log_(log), rows_(rows), timers_(TimersByName(log)) {}

  void Explain(const Rows& group) {
    std::map<std::string, double> medians;
    for (const auto& [name, by_row] : timers_) {
      std::vector<double> times;
      for (const size_t i : group)
        if (const auto at = by_row.find(i); at != by_row.end()) times.push_back(at->second);
      // What few lines have, as the time of a checkpoint, takes none in the others.
      if (!times.empty()) medians[name] = 2 * times.size() < group.size() ? 0 : Median(times);
    }
    for (const size_t i : group)
      if (const auto longest = rows_[i].slow == true ? LongestEvent(i) : std::nullopt)
        lines_end_events_.insert(*longest);
    for (const size_t i : group)
      if (rows_[i].slow == true) Explain(i, medians);
  }

 private:
  void Explain(size_t i, const std::map<std::string, double>& medians) {
    TrainingLogRow& row = rows_[i];
    // What holds others is the reason only where none of these is.
    const auto grown = [&](bool parts) {
      const std::string* most = nullptr;
      double growth = kExplains * row.excess_ns.value_or(0);
      for (const auto& [name, median] : medians) {
        if ((TimerKind(name) != "all") != parts) continue;
        const auto& by_row = timers_.at(name);
        const auto at = by_row.find(i);
        if (at == by_row.end() || at->second - median < growth) continue;
        growth = at->second - median;
        most = &name;
      }
      return most;
    };
    const std::string* timer = grown(true);
    if (timer == nullptr) timer = grown(false);
    if (timer != nullptr) row.grown_timer = *timer;
    row.cause = Cause(i, timer);
  }

  std::string Cause(size_t i, const std::string* timer) const {
    if (rows_[i].warmup) return "start";
    const auto longest = LongestEvent(i);
    if (longest && !longest->empty()) return std::string(*longest);
    const auto happens = [&](TrainingEventKind kind) {
      return std::ranges::any_of(log_.events,
                                 [&](const TrainingEvent& e) { return e.before == i && e.kind == kind; });
    };
    // Of two things at once the one that is known to take as long.
    if (happens(TrainingEventKind::kEvaluation) && EvaluationExplains(rows_[i])) return "evaluation";
    // Both, where each took too little for it, or nothing tells what each took.
    if (happens(TrainingEventKind::kEvaluation) && happens(TrainingEventKind::kCheckpoint) &&
        (longest ? TogetherExplain(i) : log_.evaluations == 0))
      return "evaluation and checkpoint";
    // What is printed where it ends, and took too little, is not the reason.
    for (const auto& [kind, name] : kEvents)
      if (happens(kind) && !(longest && lines_end_events_.contains(name))) return name;
    if (timer == nullptr && IsAfterMultipleOf("eval_interval", rows_[i])) return "evaluation";
    if (timer == nullptr && IsAfterMultipleOf("save_interval", rows_[i])) return "checkpoint";
    if (timer == nullptr) return "unexplained";
    if (timer->find("checkpoint") != std::string::npos) return "checkpoint";
    if (*timer == "testing") return "evaluation";
    const std::string_view kind = TimerKind(*timer);
    return std::string(kind == "all" ? "compute" : kind);
  }

  // Of what happens in the row's time the one that takes most of it, "" where none does; nothing where the
  // log does not date each.
  std::optional<std::string_view> LongestEvent(size_t i) const {
    double most =
        kExplains * rows_[i].excess_ns.value_or(0) * static_cast<double>(rows_[i].covers.value_or(1));
    std::optional<std::string_view> longest;
    for (const TrainingEvent& event : log_.events) {
      if (event.before != i || event.kind == TrainingEventKind::kEpochEnd) continue;
      if (!event.ns) return std::nullopt;
      if (!longest) longest = "";
      if (*event.ns < most) continue;
      most = *event.ns;
      for (const auto& [kind, name] : kEvents)
        if (kind == event.kind) longest = name;
    }
    return longest;
  }

  bool TogetherExplain(size_t i) const {
    double all = 0;
    for (const TrainingEvent& event : log_.events)
      if (event.before == i && event.kind != TrainingEventKind::kEpochEnd) all += event.ns.value_or(0);
    return all >=
           kExplains * rows_[i].excess_ns.value_or(0) * static_cast<double>(rows_[i].covers.value_or(1));
  }

  // By the mean of those of which the log prints the time.
  bool EvaluationExplains(const TrainingLogRow& row) const {
    return log_.evaluations > 0 &&
           log_.evaluation_ns / static_cast<double>(log_.evaluations) >=
               kExplains * row.excess_ns.value_or(0) * static_cast<double>(row.covers.value_or(1));
  }

  // By the argument that says after how many iterations something happens, of which the log has no line.
  bool IsAfterMultipleOf(const char* setting, const TrainingLogRow& row) const {
    const auto found = log_.settings.find(setting);
    if (found == log_.settings.end() || !row.covers) return false;
    int64_t interval = 0;
    const std::string& text = found->second;
    if (std::from_chars(text.data(), text.data() + text.size(), interval).ec != std::errc()) return false;
    const int64_t before = row.iteration - 1;
    return interval > *row.covers && before >= interval && before % interval < *row.covers;
  }

  const TrainingLog& log_;
  std::vector<TrainingLogRow>& rows_;
  const std::map<std::string, std::map<size_t, double>> timers_;
  // The kinds of which one took what its line took longer.
  std::set<std::string_view> lines_end_events_;
};

// Slow lines without another reason that come at every so many iterations: what the program does then, it
// does by a setting.
void MarkRegular(std::vector<TrainingLogRow>& rows) {
  for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    Rows open;
    std::map<int64_t, size_t> distances;
    for (; end < rows.size() && rows[end].attempt == rows[begin].attempt; ++end) {
      if (rows[end].cause != "unexplained") continue;
      if (!open.empty()) ++distances[rows[end].iteration - rows[open.back()].iteration];
      open.push_back(end);
    }
    const auto most = std::ranges::max_element(distances, {}, [](const auto& d) { return d.second; });
    if (open.size() < kLeastRegular || most == distances.end()) continue;
    const int64_t interval = most->first, lines = rows[open.front()].covers.value_or(1);
    if (interval / kLeastLinesBetween < std::max<int64_t>(lines, 1) || 2 * most->second < open.size())
      continue;
    for (size_t i = 1; i < open.size(); ++i)
      for (const size_t row : {open[i - 1], open[i]})
        if (rows[open[i]].iteration - rows[open[i - 1]].iteration == interval)
          rows[row].cause = "regular interval";
  }
}

// Samples of one iteration, from the line, the lines around it or the arguments.
std::optional<int64_t> BatchOf(const TrainingLog& log, size_t i, const TrainingSizes& sizes) {
  const TrainingIteration& row = log.iterations[i];
  if (row.global_batch) return row.global_batch;
  if (i > 0 && log.iterations[i - 1].attempt == row.attempt && row.consumed_samples &&
      log.iterations[i - 1].consumed_samples) {
    const int64_t samples = *row.consumed_samples - *log.iterations[i - 1].consumed_samples,
                  iterations = row.iteration - log.iterations[i - 1].iteration;
    if (samples > 0 && iterations > 0 && samples % iterations == 0) return samples / iterations;
  }
  return sizes.global_batch;
}

}  // namespace

std::string_view TimerKind(std::string_view timer) {
  const auto has = [&](std::string_view word) { return timer.find(word) != std::string_view::npos; };
  if (timer == "forward-backward" || timer == "forward" || timer == "backward" || timer == "optimizer" ||
      timer == "interval-time" || timer == "train_batch" || timer == "step")
    return "all";
  if (has("batch-generator") || has("batch generator") || has("batch_generator") || has("data-loader") ||
      timer == "data")
    return "input";
  for (const char* word : {"recv", "send", "all-reduce", "allreduce", "all-gather", "allgather",
                           "reduce-scatter", "grads-sync", "p2p"})
    if (has(word)) return "communication";
  return timer.starts_with("optimizer") ? "optimizer" : "compute";
}

const RelationOf<TrainingLogRow>& TrainingLogRelation() {
  static const auto relation =
      RelationOf<TrainingLogRow>("training_log", "One row per line of iterations in a training's log.")
          .Key("profile", &TrainingLogRow::profile, kProfileNumber, "Number of the file.")
          .Key("attempt", &TrainingLogRow::attempt, Unit::kNone,
               "Start of the training, from 0; another one begins where iterations go back.")
          .Key("iteration", &TrainingLogRow::iteration, Unit::kNone, "Last iteration of the line.")
          .Column("covers", &TrainingLogRow::covers, Unit::kCount,
                  "Iterations that its times are means over and its counts are sums of; unknown for a single "
                  "line without arguments.")
          .Column("elapsed_ns", &TrainingLogRow::elapsed_ns, Unit::kNanoseconds,
                  "Time of one iteration; unknown where the line is cut.")
          .Column("excess_ns", &TrainingLogRow::excess_ns, Unit::kNanoseconds,
                  "That over the median of lines of the same attempt and batch; in phases of another pace "
                  "that last "
                  "for a tenth of them, over the median of the lines around it.")
          .Column("warmup", &TrainingLogRow::warmup, Unit::kNone,
                  "1 for the first line of an attempt of at least 3, and slow ones right after it.")
          .Column("slow", &TrainingLogRow::slow, Unit::kNone,
                  "1 where it takes a twentieth more than the median and its modified z-score is above 3.5; "
                  "unknown where fewer than 8 lines compare.")
          .Column(
              "cause", &TrainingLogRow::cause, Unit::kText,
              "What coincides with a slow line: start, checkpoint, evaluation, evaluation and checkpoint "
              "where neither alone explains it, garbage collection, end of an epoch, else "
              "what the grown timer measures (input, communication, optimizer, compute), else regular "
              "interval where they come at every so many iterations, else unexplained; unknown for others.")
          .Column("grown_timer", &TrainingLogRow::grown_timer, Unit::kText,
                  "Timer that grew most over its median, by at least half of the excess.")
          .Column("global_batch", &TrainingLogRow::global_batch, Unit::kCount, "Samples of an iteration.")
          .Column("samples_per_second", &TrainingLogRow::samples_per_second, Unit::kNone,
                  "As printed, else batch over time.")
          .Column("tokens_per_second", &TrainingLogRow::tokens_per_second, Unit::kNone,
                  "As printed, else samples times the length of sequences.")
          .Column("tflops_per_gpu", &TrainingLogRow::tflops_per_gpu, Unit::kNone,
                  "TFLOP/s of a GPU, as printed.")
          .Column("mfu", &TrainingLogRow::mfu, Unit::kRatio, "Utilisation of the GPU's peak, as printed.")
          .Column("loss", &TrainingLogRow::loss, Unit::kNone, "Loss.")
          .Column("loss_scale", &TrainingLogRow::loss_scale, Unit::kNone, "Loss scale.")
          .Column("grad_norm", &TrainingLogRow::grad_norm, Unit::kNone, "Norm of the gradients.")
          .Column("learning_rate", &TrainingLogRow::learning_rate, Unit::kNone, "Learning rate.")
          .Column("skipped", &TrainingLogRow::skipped, Unit::kCount,
                  "Iterations whose update was skipped, as their gradients overflowed.")
          .Column("nan", &TrainingLogRow::nan, Unit::kCount, "Iterations whose loss was no number.")
          .Column("consumed_samples", &TrainingLogRow::consumed_samples, Unit::kCount,
                  "Samples since the training began.");
  return relation;
}

std::vector<TrainingLogRow> ComputeTrainingLog(const Context& context) {
  const TrainingLog& log = context.trace.training_log;
  const TrainingSizes sizes = SizesOf(context.trace);
  std::vector<TrainingLogRow> rows;
  for (size_t i = 0; i < log.iterations.size(); ++i) {
    const TrainingIteration& line = log.iterations[i];
    TrainingLogRow& row = rows.emplace_back();
    row.attempt = line.attempt;
    row.iteration = line.iteration;
    row.covers = line.covers;
    row.elapsed_ns = line.elapsed_ns;
    row.global_batch = BatchOf(log, i, sizes);
    row.samples_per_second = line.samples_per_second;
    if (row.global_batch && !row.samples_per_second && row.elapsed_ns)
      row.samples_per_second = static_cast<double>(*row.global_batch) * 1e9 / *row.elapsed_ns;
    if (row.global_batch && !row.elapsed_ns && row.samples_per_second.value_or(0) > 0)
      row.elapsed_ns = static_cast<double>(*row.global_batch) * 1e9 / *row.samples_per_second;
    row.tokens_per_second = line.tokens_per_second;
    if (!row.tokens_per_second && row.samples_per_second && sizes.seq_length)
      row.tokens_per_second = *row.samples_per_second * static_cast<double>(*sizes.seq_length);
    row.tflops_per_gpu = line.tflops_per_gpu;
    row.mfu = line.mfu;
    row.loss = line.loss;
    row.loss_scale = line.loss_scale;
    row.grad_norm = line.grad_norm;
    row.learning_rate = line.learning_rate;
    row.skipped = line.skipped;
    row.nan = line.nan;
    row.consumed_samples = line.consumed_samples;
  }
  const std::map<Alike, Rows> groups = GroupLines(rows);
  for (const auto& [group, lines] : groups) MarkSlow(rows, lines);
  MarkWarmup(rows);
  Explainer explainer(log, rows);
  for (const auto& [group, lines] : groups) explainer.Explain(lines);
  MarkRegular(rows);
  return rows;
}

const Family& TrainingLogFamily() {
  static const Family family = FamilyOf<std::vector<TrainingLogRow>>(TrainingLogRelation());
  return family;
}

}  // namespace dladvisor
