// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/training_pace.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "src/statistics/quantile.h"

namespace dladvisor {
namespace {

// A stretch of so many lines has quantiles that single outliers do not move; twenty of them show a course.
constexpr size_t kLeastLinesOfStretch = 20, kMostStretches = 20, kLeastStretches = 5;
// Nine lines in ten of one stretch are slower than nine in ten of the other, and by a quarter.
constexpr double kLow = 0.1, kHigh = 0.9, kLeastRatio = 1.25;
// Parts of a log that show a growth, each of so many lines and more, each slower than the one before by this.
constexpr size_t kPartsOfGrowth = 5, kLeastLinesOfPart = 4;
constexpr double kGrowsByPart = 1.03, kGrowsInAll = 2;

// An odd stretch has so many lines and such a share of them, and as many on both sides. Of its lines one in
// ten may be like the others; two in a row end it.
constexpr size_t kLeastOddLines = 20, kMostStrays = 1;
constexpr double kLeastOddShare = 0.02, kStrays = 0.1, kOddRatio = 1.5;
// So many stretches at about one distance are phases of the program.
constexpr size_t kLeastPhases = 4;
constexpr double kRegular = 1.3;
// A level has so many of the stretches on both sides, and changes by so much, which is more than twice what
// either side varies by.
constexpr size_t kLeastStretchesOfLevel = 3, kLeastLinesOfLevel = 200;
constexpr double kLeastStep = 1.05, kMostOfStep = 0.5;
// From one printed digit to the next is no change.
constexpr double kLeastRoundings = 1.5;

struct Line {
  double ns;  // of one iteration
  double covers;
  int64_t iteration, attempt;
};

struct Stretch {
  double low, median, high;
  double covers;
};

bool IsSlower(const Stretch& a, const Stretch& b) {
  return a.low > b.high && a.median >= kLeastRatio * b.median;
}

// Iterations of a line, as no log of a program holds more.
double CoversOf(const TrainingLogRow& row) {
  constexpr int64_t kMostIterations = 1'000'000'000'000'000;
  return static_cast<double>(std::min(row.covers.value_or(1), kMostIterations));
}

// Of lines that tell tokens per second and no time.
std::vector<Line> LinesOfTokens(const std::vector<TrainingLogRow>& log) {
  std::vector<Line> lines;
  for (const TrainingLogRow& row : log)
    if (!row.warmup && row.tokens_per_second.value_or(0) > 0)
      lines.push_back({1e9 / *row.tokens_per_second, CoversOf(row), row.iteration, row.attempt});
  return lines;
}

// Where lines tell tokens per second, an iteration of more tokens is not slower for it.
std::vector<Line> LinesOf(const std::vector<TrainingLogRow>& log) {
  std::map<int64_t, std::vector<const TrainingLogRow*>> by_batch;
  for (const TrainingLogRow& row : log)
    if (!row.warmup && row.elapsed_ns) by_batch[row.global_batch.value_or(-1)].push_back(&row);
  const auto most = std::ranges::max_element(by_batch, {}, [](const auto& b) { return b.second.size(); });
  if (most == by_batch.end()) return LinesOfTokens(log);
  std::vector<double> tokens;
  for (const TrainingLogRow* row : most->second)
    if (row->tokens_per_second.value_or(0) > 0) tokens.push_back(*row->elapsed_ns * *row->tokens_per_second);
  const bool by_token = tokens.size() == most->second.size();
  const double typical = by_token ? Median(tokens) : 0;
  std::vector<Line> lines;
  for (const TrainingLogRow* row : most->second)
    lines.push_back({by_token ? typical / *row->tokens_per_second : *row->elapsed_ns, CoversOf(*row),
                     row->iteration, row->attempt});
  return lines;
}

// As many parts of about as many lines.
std::vector<Stretch> StretchesOf(const std::vector<Line>& lines, size_t count) {
  std::vector<Stretch> stretches;
  for (size_t i = 0; i < count; ++i) {
    std::vector<double> times;
    double covers = 0;
    for (size_t line = i * lines.size() / count; line < (i + 1) * lines.size() / count; ++line) {
      times.push_back(lines[line].ns);
      covers += lines[line].covers;
    }
    const double low = Quantile(times, kLow), high = Quantile(times, kHigh);
    stretches.push_back({low, Median(times), high, covers});
  }
  return stretches;
}

// Lines from `begin` up to `end`.
struct Span {
  size_t begin, end;
};

// Where nearly all lines in a row are odd.
std::vector<Span> OddSpans(const std::vector<Line>& lines, const std::vector<char>& odd) {
  std::vector<Span> spans;
  const size_t least =
      std::max(kLeastOddLines, static_cast<size_t>(kLeastOddShare * static_cast<double>(lines.size())));
  for (size_t i = 0; i < lines.size();) {
    if (odd[i] == 0) {
      ++i;
      continue;
    }
    Span span{i, i + 1};
    size_t strays = 0;
    for (size_t next = span.end; next < lines.size() && lines[next].attempt == lines[i].attempt; ++next) {
      if (odd[next] != 0) {
        span.end = next + 1;
        continue;
      }
      ++strays;
      if (next + 1 - span.end > kMostStrays ||
          static_cast<double>(strays) > 1 + kStrays * static_cast<double>(next - span.begin))
        break;
    }
    if (span.end - span.begin >= least) spans.push_back(span);
    i = span.end;
  }
  return spans;
}

bool IsRegular(const std::vector<Span>& spans) {
  if (spans.size() < kLeastPhases) return false;
  size_t least = spans[1].begin - spans[0].begin, most = least;
  for (size_t i = 2; i < spans.size(); ++i) {
    least = std::min(least, spans[i].begin - spans[i - 1].begin);
    most = std::max(most, spans[i].begin - spans[i - 1].begin);
  }
  return static_cast<double>(most) <= kRegular * static_cast<double>(least);
}

// Whether on both sides enough lines of the same start are not odd.
bool LiesBetween(const std::vector<Line>& lines, const std::vector<char>& odd, const Span& span) {
  const auto others = [&](size_t begin, size_t end) {
    size_t count = 0;
    for (size_t i = begin; i < end; ++i)
      count += odd[i] == 0 && lines[i].attempt == lines[span.begin].attempt;
    return count;
  };
  return others(0, span.begin) >= kLeastOddLines && others(span.end, lines.size()) >= kLeastOddLines;
}

// What most lines take.
double UsualTime(const std::vector<Line>& lines) {
  std::vector<double> times;
  for (const Line& line : lines) times.push_back(line.ns);
  return Median(times);
}

bool IsOdd(const Line& line, double usual, bool faster) {
  return faster ? line.ns * kOddRatio < usual : line.ns > kOddRatio * usual;
}

// Whether odd lines come in phases.
bool HasPhases(const std::vector<Line>& lines, bool faster) {
  if (lines.empty()) return false;
  const double usual = UsualTime(lines);
  std::vector<char> odd;
  for (const Line& line : lines) odd.push_back(IsOdd(line, usual, faster));
  return IsRegular(OddSpans(lines, odd));
}

// Of lines that are faster, or slower, than most.
std::optional<PaceShifts> OddShifts(const std::vector<Line>& lines, bool faster) {
  if (lines.size() < kLeastStretches * kLeastLinesOfStretch) return std::nullopt;
  const double usual = UsualTime(lines);
  std::vector<char> odd;
  std::vector<double> odd_times, other_times;
  for (const Line& line : lines) {
    odd.push_back(IsOdd(line, usual, faster));
    if (odd.back() == 0) other_times.push_back(line.ns);
  }
  std::vector<Span> spans = OddSpans(lines, odd);
  std::erase_if(spans, [&](const Span& span) { return !LiesBetween(lines, odd, span); });
  if (spans.empty()) return std::nullopt;
  for (const Span& span : spans)
    for (size_t i = span.begin; i < span.end; ++i) odd_times.push_back(lines[i].ns);
  const double low = Quantile(faster ? other_times : odd_times, kLow),
               high = Quantile(faster ? odd_times : other_times, kHigh);
  const double fast = Median(faster ? odd_times : other_times),
               slow = Median(faster ? other_times : odd_times);
  if (low <= high || slow < kOddRatio * fast) return std::nullopt;
  const Span longest = *std::ranges::max_element(spans, {}, [](const Span& s) { return s.end - s.begin; });
  PaceShifts shifts;
  shifts.fast_ns = fast;
  shifts.slow_ns = slow;
  OddStretch& stretch = shifts.odd.emplace();
  stretch.first = lines[longest.begin].iteration - static_cast<int64_t>(lines[longest.begin].covers) + 1;
  stretch.last = lines[longest.end - 1].iteration;
  stretch.lines = longest.end - longest.begin;
  stretch.ns = faster ? fast : slow;
  stretch.others_ns = faster ? slow : fast;
  double all = 0;
  std::vector<char> within(lines.size(), 0);
  for (const Span& span : spans)
    std::fill(within.begin() + static_cast<ptrdiff_t>(span.begin),
              within.begin() + static_cast<ptrdiff_t>(span.end), 1);
  for (size_t i = 0; i < lines.size(); ++i) {
    all += lines[i].ns * lines[i].covers;
    ++(odd[i] != 0 ? stretch.all_lines : stretch.other_lines);
    // Of slow lines those alone that stand in a row: others have their own reasons.
    if (faster ? odd[i] == 0 : within[i] != 0)
      shifts.lost_ns += std::max(lines[i].ns - fast, 0.0) * lines[i].covers;
  }
  shifts.lost_share = all > 0 ? shifts.lost_ns / all : 0;
  return shifts;
}

// Of lines from `begin` up to `end` the one from which on most are slower than `middle`, and most before it
// are not; or the reverse.
size_t PartsAt(const std::vector<Line>& lines, size_t begin, size_t end, double middle, bool slower) {
  ptrdiff_t score = 0, best = 0;
  size_t at = begin;
  for (size_t i = begin; i < end; ++i) {
    score += (lines[i].ns < middle) == slower ? 1 : -1;
    if (score <= best) continue;
    best = score;
    at = i + 1;
  }
  return std::min(at, lines.size() - 1);
}

}  // namespace

std::optional<PaceShifts> FindPaceShifts(const std::vector<TrainingLogRow>& log) {
  const std::vector<Line> lines = LinesOf(log);
  if (std::ranges::any_of(log, [](const TrainingLogRow& row) { return row.elapsed_ns.has_value(); }))
    for (const bool faster : {true, false}) {
      if (HasPhases(lines, faster)) return std::nullopt;
      if (const auto shifts = OddShifts(lines, faster)) return shifts;
    }
  const std::vector<Stretch> stretches =
      StretchesOf(lines, std::min(kMostStretches, lines.size() / kLeastLinesOfStretch));
  const bool of_tokens =
      std::ranges::none_of(log, [](const TrainingLogRow& row) { return row.elapsed_ns.has_value(); });
  if (stretches.size() < kLeastStretches) return std::nullopt;
  bool between = false;
  for (auto slow = stretches.begin(); slow != stretches.end() && !between; ++slow) {
    const auto faster = [&](const Stretch& other) { return IsSlower(*slow, other); };
    between = std::any_of(stretches.begin(), slow, faster) &&
              (of_tokens || std::any_of(slow + 1, stretches.end(), faster));
  }
  if (!between) return std::nullopt;
  const Stretch fastest = *std::ranges::min_element(stretches, {}, &Stretch::median);
  PaceShifts shifts{
      fastest.median, std::ranges::max_element(stretches, {}, &Stretch::median)->median, 0, 0, of_tokens, {}};
  double all = 0;
  for (const Stretch& stretch : stretches) {
    all += stretch.median * stretch.covers;
    if (IsSlower(stretch, fastest)) shifts.lost_ns += (stretch.median - fastest.median) * stretch.covers;
  }
  shifts.lost_share = all > 0 ? shifts.lost_ns / all : 0;
  return shifts;
}

// The least distance between two times that differ: what they are rounded to, where they are.
double LeastDistance(const std::vector<Line>& lines) {
  std::vector<double> times;
  for (const Line& line : lines) times.push_back(line.ns);
  std::ranges::sort(times);
  double least = times.empty() ? 0 : times.back();
  for (size_t i = 1; i < times.size(); ++i)
    if (times[i] > times[i - 1]) least = std::min(least, times[i] - times[i - 1]);
  return least;
}

std::optional<PaceLevel> FindPaceLevel(const std::vector<TrainingLogRow>& log) {
  const auto starts_again = [&](const TrainingLogRow& row) { return row.attempt != log.front().attempt; };
  const auto times = [](const TrainingLogRow& row) { return row.elapsed_ns.has_value(); };
  if (std::ranges::none_of(log, times) || std::ranges::any_of(log, starts_again)) return std::nullopt;
  const std::vector<Line> lines = LinesOf(log);
  if (lines.size() < kLeastLinesOfLevel) return std::nullopt;
  const std::vector<Stretch> stretches = StretchesOf(lines, kMostStretches);
  const size_t count = stretches.size();
  const double least_step = kLeastRoundings * LeastDistance(lines);
  std::optional<PaceLevel> found;
  size_t longest = 0, first = 0, last = 0;
  for (size_t begin = 2; begin + kLeastStretchesOfLevel <= count; ++begin)
    for (size_t end = begin + kLeastStretchesOfLevel; end <= count; ++end) {
      if (end - begin <= longest) continue;
      // The changes lie in the stretches beside it, or in its own first and last one.
      std::vector<double> within, around;
      for (size_t i = 0; i < count; ++i)
        if (i >= begin && i < end)
          within.push_back(stretches[i].median);
        else if (i + 1 != begin && i != end)
          around.push_back(stretches[i].median);
      if (around.size() < kLeastStretchesOfLevel) continue;
      const auto [least, most] = std::ranges::minmax(around);
      const auto [least_within, most_within] = std::ranges::minmax(within);
      const double before = Median(around), after = Median(within), step = after - before;
      if (after < kLeastStep * before || step < least_step || least_within <= most ||
          most - least > kMostOfStep * step || most_within - least_within > kMostOfStep * step)
        continue;
      longest = end - begin;
      first = begin;
      last = end;
      found = PaceLevel{before, after, 0, {}, 0};
    }
  if (!found) return std::nullopt;
  const double middle = (found->before_ns + found->after_ns) / 2;
  const auto start_of = [&](size_t stretch) { return stretch * lines.size() / count; };
  const size_t from = PartsAt(lines, start_of(first - 1), start_of(first + 1), middle, true),
               to = last == count ? lines.size()
                                  : PartsAt(lines, start_of(last - 1), start_of(last + 1), middle, false);
  found->from = lines[from].iteration - static_cast<int64_t>(lines[from].covers) + 1;
  if (to < lines.size()) found->to = lines[to - 1].iteration;
  for (size_t i = from; i < to; ++i) found->lost_ns += (found->after_ns - found->before_ns) * lines[i].covers;
  return found;
}

std::optional<PaceGrowth> FindPaceGrowth(const std::vector<TrainingLogRow>& log) {
  const auto times = [](const TrainingLogRow& row) { return row.elapsed_ns.has_value(); };
  const auto starts_again = [&](const TrainingLogRow& row) { return row.attempt != log.front().attempt; };
  if (std::ranges::none_of(log, times) || std::ranges::any_of(log, starts_again)) return std::nullopt;
  const std::vector<Line> lines = LinesOf(log);
  if (lines.size() < kPartsOfGrowth * kLeastLinesOfPart) return std::nullopt;
  const std::vector<Stretch> parts = StretchesOf(lines, kPartsOfGrowth);
  const auto grows = [](const Stretch& part, const Stretch& next) {
    return next.median >= kGrowsByPart * part.median;
  };
  for (size_t i = 1; i < parts.size(); ++i)
    if (!grows(parts[i - 1], parts[i])) return std::nullopt;
  const Stretch &first = parts.front(), &last = parts.back();
  if (last.low <= first.high || last.median < kGrowsInAll * first.median) return std::nullopt;
  PaceGrowth growth{first.median, last.median, 0};
  for (const Line& line : lines) growth.lost_ns += std::max(line.ns - first.median, 0.0) * line.covers;
  return growth;
}

}  // namespace dladvisor
