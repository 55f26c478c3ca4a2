// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/program/program_time.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <utility>

#include "src/importers/nvidia_smi/log_cell.h"
#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestLineOfProgram = 4096, kLongestTitle = 48, kLongestKind = 60, kLongestRest = 240;
constexpr size_t kMostTitles = 64, kMostKinds = 512, kMostPoints = 4096, kMostParts = 20;
// Less is of a start.
constexpr double kLeastBarsNs = 30e9, kLeastDurationNs = 60e9;
// Of calls that each have a bar.
constexpr double kLeastCallsNs = 10e9;
constexpr int64_t kLeastStamps = 3;
// Dates that are all at full hours are data, and not read from a clock.
constexpr int64_t kHourNs = int64_t{3600} * 1'000'000'000;
// Lines without a word for one with, and such that go back in time for one that
// goes on, from which on the text is a table or a mixture.
constexpr double kMostWordless = 0.5, kMostBackward = 0.1;
// Steps at once, from which on a bar shows that a program goes on where it stopped.
constexpr int64_t kLeastSkipped = 20;
// By how much what a bar counts takes longer in the last half of its time, from
// which on the mean is nobody's.
constexpr double kSlower = 2;
// Of the time, from which on a kind of line tells nothing that a section does not tell better.
constexpr double kNearlyAll = 0.9;
constexpr int64_t kLongestStretch = int64_t{3} * 86'400 * 1'000'000'000;
constexpr double kLeastShare = 0.1;
constexpr int64_t kMostRestarts = 2;
// Lines without a date from which on they tell what is done, and not the one with a date before them.
constexpr int64_t kLeastUndated = 5;
constexpr double kMostUndated = 0.5;
// Of lines that count one by one.
constexpr double kLeastByOne = 0.9;
// Such a time between two of many lines, so many times what passes between the
// others, is of a machine or a process that slept.
constexpr double kLeastPauseNs = 3600e9, kOfOthers = 100;
constexpr int64_t kLeastOfPause = 10;
// Lines of kinds that came before, behind what was thrown.
constexpr int64_t kLeastKnown = 3;
// Fewer lines that are alike are no loop.
constexpr int64_t kLeastRounds = 20;
constexpr size_t kMostOpen = 64;
// What is done and passed by which copies of one bar may lie apart.
constexpr int64_t kApart = 2, kPartApart = 20;
// A bar's last line is drawn once more as it is closed; of how many bars more of them are, only a start
// tells.
constexpr int64_t kMostEnds = 2;

std::string PlainWords(std::string_view text) {
  std::string plain(text);
  std::erase_if(plain, [](unsigned char c) { return c < 0x20 || c > 0x7E; });
  return plain;
}

std::string CutTo(std::string_view text, size_t most) {
  std::string cut(Trim(text).substr(0, most));
  while (!cut.empty() && (cut.back() == ' ' || cut.back() == '"')) cut.pop_back();
  return cut;
}

std::string WithoutNumbers(std::string text) {
  static const RE2 number(R"(\d[\d.,]*\d|\d)");
  RE2::GlobalReplace(&text, number, "#");
  return text;
}

// "d: -0.001;gen: -0.008" as "d: #.#;gen: #.#".
std::string Measures(std::string values) {
  static const RE2 value(R"(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)");
  RE2::GlobalReplace(&values, value, "#.#");
  while (values.ends_with(':')) values.pop_back();
  return CutTo(values, kLongestTitle);
}

bool HasWord(std::string_view text) {
  static const RE2 word("[A-Za-z]{3}");
  return RE2::PartialMatch(text, word);
}

// "======", above and below a heading.
bool IsRule(std::string_view words) { return words.find_first_not_of("=-*#~_ ") == std::string_view::npos; }

// Also "Tue Feb 25 23:07:29 2020", and a date that a slash parts from the clock.
std::optional<int64_t> StampOf(std::string_view line) {
  const std::string_view head = line.substr(0, kStartOfLine);
  if (head.find(':') == std::string_view::npos) return std::nullopt;
  if (const auto time = LastTime(head)) return time;
  static const RE2 words(R"(^\W{0,3}([A-Z][a-z]{2} [A-Z][a-z]{2} +\d{1,2} \d{2}:\d{2}:\d{2} \d{4})\b)"),
      slash(R"(^\W{0,3}(\d{4}-\d{2}-\d{2})/(\d{2}:\d{2}:\d{2}))");
  std::string date, clock;
  if (RE2::PartialMatch(head, slash, &date, &clock))
    date += " " + clock;
  else if (!RE2::PartialMatch(head, words, &date))
    return std::nullopt;
  const auto time = nvidia_smi::ParseTime(date);
  return time ? std::optional(time->ns) : std::nullopt;
}

// What the line says behind its date, the names of its level and module.
std::string WordsBehindDate(std::string_view line) {
  static const RE2 clock(R"(\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|[-+]\d{2}:?\d{2})?(?: \d{4}\b)?)"),
      prefix(
          R"(^(?:[\s\]|:,>-]+|\[[^\]]{0,80}\]|\((?:[A-Z]\w+ )?pid=\d+\)|(?:INFO|WARNING|WARN|DEBUG|ERROR|level=\w+)\b))");
  re2::StringPiece rest(line.data(), line.size());
  const re2::StringPiece head(line.data(), std::min(line.size(), kStartOfLine));
  re2::StringPiece found;
  re2::StringPiece behind = head;
  while (RE2::FindAndConsume(&behind, clock)) found = behind;
  if (found.data() != nullptr) rest.remove_prefix(static_cast<size_t>(found.data() - line.data()));
  while (RE2::Consume(&rest, prefix)) continue;
  return CutTo(PlainWords({rest.data(), rest.size()}), kLongestRest);
}

// Of lines that are alike but for their numbers.
std::string KindName(std::string words) {
  static const RE2 this_machine(R"(//(?:127\.0\.0\.1|0\.0\.0\.0|\[::1\]))");
  RE2::GlobalReplace(&words, this_machine, "//localhost");
  return CutTo(WithoutNumbers(std::move(words)), kLongestKind);
}

// A line without a date that says what begins.
bool Announces(std::string_view line) {
  static const RE2 begins(
      R"(^\W{0,12}(?:Running|Evaluating|Processing|Starting|Start|Loading|Training|Testing|Generating|Computing|Building|Compiling|Downloading|Benchmarking|Preparing|Extracting|Encoding|Converting|Quantizing|Predicting|Sampling|Rendering|Inference)\b[^|%]{0,80}$)");
  return line.size() < 160 && RE2::PartialMatch(line, begins);
}

// "12/300", "12 of 300".
bool CountIn(std::string_view words, int64_t& done, int64_t& total) {
  static const RE2 count(R"((?:^|[^\w./-])(\d{1,9}) ?(?:/|of) ?(\d{1,9})(?:$|[^\w./-]))");
  return RE2::PartialMatch(words, count, &done, &total) && done <= total && total >= 3;
}

}  // namespace

bool ProgramTimeReader::Line(std::string_view coloured, int64_t number) {
  if (coloured.size() > kLongestLineOfProgram) return false;
  const std::string plain =
      coloured.find('\x1b') == std::string_view::npos ? std::string() : WithoutColours(coloured);
  const std::string_view line = plain.empty() ? coloured : std::string_view(plain);
  signs_.Line(line);
  if (line.find("%|") != std::string_view::npos) return TakeBar(line);
  if (line.find("it [") != std::string_view::npos) TakeBarWithoutTotal(line);
  if (endless_.Line(line)) return true;
  const bool goes_on = TakeStamp(line, number);
  return figures_.Line(line) || goes_on;
}

// Of the title, nothing where there are too many. "d: -0.001;gen: -0.008" are values, which change; bars
// without a title may lie within one another.
ProgramTimeReader::Bars* ProgramTimeReader::BarsOf(std::string_view title, int64_t total,
                                                   std::string& with_numbers) {
  static const RE2 values(R"(\d\.\d)");
  const std::string_view words = Trim(title);
  std::string name = PlainWords(words.substr(words.size() - std::min(words.size(), kLongestTitle)));
  std::string measures = RE2::PartialMatch(name, values) ? name : "";
  with_numbers = !measures.empty() || !HasWord(name) ? "" : CutTo(name, kLongestTitle);
  name = WithoutNumbers(with_numbers);
  if (bars_.size() >= kMostTitles) return nullptr;
  Bars& bars = bars_[name.empty() ? "\n" + std::to_string(total) : name];
  if (name.empty() && HasWord(measures)) name = Measures(std::move(measures));
  bars.all.name = name;
  return &bars;
}

// "Processing examples:   3%|#    | 55/2000 [11:53<7:17:54, 13.51s/it, est. speed output: 20.1 toks/s]"
bool ProgramTimeReader::TakeBar(std::string_view line) {
  static const RE2 bar(
      R"(([^|%]*?):? *\d{1,3}%\|[^|]*\| *(\d{1,12})/(\d{1,12}) \[(?:(\d{1,6}):)?(\d{1,6}):(\d{2})<([^\]]*))"),
      rate(R"(output: (\d+(?:\.\d+)?) toks/s)");
  re2::StringPiece rest(line.data(), line.size());
  std::string title, name, hours, behind;
  int64_t done = 0, total = 0, minutes = 0, seconds = 0;
  bool goes_on = false;
  while (RE2::FindAndConsume(&rest, bar, &title, &done, &total, &hours, &minutes, &seconds, &behind)) {
    Bars* bars = done > total ? nullptr : BarsOf(title, total, name);
    if (bars == nullptr) continue;
    const int64_t since = (Integer(hours).value_or(0) * 60 + minutes) * 60 + seconds;
    // Calls are drawn one behind the other only where each begins but once.
    if (done == 0 && bars->last.starts > 0 && bars->last.latest.done == 0 &&
        behind.find("toks/s") != std::string::npos)
      bars->mixed = true;
    TakePoint(*bars, name, {done, since}, total);
    goes_on = goes_on || (done > 1 && since > 1);
    double tokens = 0;
    if (done == total && RE2::PartialMatch(behind, rate, &tokens)) {
      bars->tokens += tokens * static_cast<double>(since);
      bars->rated_ns += static_cast<double>(since) * kNsPerSecond;
    }
  }
  return goes_on;
}

// "29948it [35:34,  7.00s/it]"
void ProgramTimeReader::TakeBarWithoutTotal(std::string_view line) {
  static const RE2 bar(R"(^([^|%]*?):? *(\d{1,12})it \[([\d:]{4,12}), )");
  std::string title, name, clock;
  int64_t done = 0;
  if (!RE2::PartialMatch(line, bar, &title, &done, &clock)) return;
  if (Bars* bars = BarsOf(title, 0, name))
    TakePoint(*bars, name, {done, static_cast<int64_t>(SecondsOfClock(clock).value_or(0))}, 0);
}

// Whether bars of one title are of several processes, or lie within one another: one that is not done goes on
// behind another, or what is done falls while time goes on. Of ends alone, neither which are of one process
// nor how many bars there were is known.
bool ProgramTimeReader::DrawnByTurns(Bars& bars, const std::string& title, Point point, int64_t total) {
  const Bar& bar = bars.last;
  if (bar.points.empty()) return false;
  const Point before = bar.latest;
  const auto key = [](const std::string& name, int64_t of) { return name + "\n" + std::to_string(of); };
  if (title != bar.title || total != bar.total) {
    const std::string now = key(title, total);
    if (before.done < bar.total && bars.open.size() < kMostOpen) bars.open.insert(key(bar.title, bar.total));
    if (point.done == 0 || point.seconds == 0) bars.open.erase(now);
    return bars.open.contains(now);
  }
  if (total == 0) return false;
  if (before.done == total && point.done == total)
    return std::abs(point.seconds - before.seconds) >= kApart || (bar.starts == 0 && bar.ends >= kMostEnds);
  const bool begins = point.seconds < before.seconds && (2 * point.done < before.done || point.done <= 1);
  const int64_t apart = std::max(kApart, total / kPartApart);
  return !begins && (before.done - point.done > apart ||
                     before.seconds - point.seconds > std::max(kApart, before.seconds / kPartApart));
}

void ProgramTimeReader::TakePoint(Bars& bars, const std::string& title, Point point, int64_t total) {
  Bar& bar = bars.last;
  bars.mixed = DrawnByTurns(bars, title, point, total) || bars.mixed;
  // A title may have the number of what is done; ranks that draw the same bar
  // are ahead of one another by little.
  const bool other = total != bar.total || (title != bar.title && point.done < bar.latest.done);
  const bool begins = !bar.points.empty() && (other || point.seconds < bar.points.back().seconds) &&
                      (other || 2 * point.done < bar.points.back().done ||
                       (point.done <= 1 && bar.points.back().done == bar.total));
  if (begins) EndBar(bars);
  bar.total = total;
  bar.title = title;
  bar.latest = point;
  bar.starts += point.done == 0;
  bar.ends = point.done == total ? bar.ends + 1 : 0;
  const int64_t last = bar.points.empty() ? 0 : bar.points.back().done;
  // What was done before goes into the bar's first step.
  if (point.done <= 1) bar.first = bar.first_seconds = 0;
  if (last <= 1 && point.done > kLeastSkipped && total > 0) {
    bar.first = point.done;
    bar.first_seconds = point.seconds;
  }
  if (bar.points.empty() || point.seconds > bar.points.back().seconds)
    bar.points.push_back(point);
  else if (point.seconds == bar.points.back().seconds)
    bar.points.back().done = std::max(bar.points.back().done, point.done);
  if (bar.points.size() > kMostPoints) {
    bool keep = false;
    std::erase_if(bar.points, [&](const Point&) { return keep = !keep; });
  }
}

void ProgramTimeReader::EndBar(Bars& bars) {
  Bar bar = std::exchange(bars.last, {});
  if (bar.points.empty() || bar.points.back().done <= 0) return;
  const Point end = bar.points.back();
  ProgramPart& all = bars.all;
  const double ns = static_cast<double>(end.seconds) * kNsPerSecond;
  ++all.count;
  all.done += end.done;
  all.total += bar.total;
  all.ns += ns;
  all.longest_ns = std::max(all.longest_ns, ns);
  const auto each = [&](const Point& since) {
    return static_cast<double>(end.seconds - since.seconds) * kNsPerSecond /
           static_cast<double>(end.done - since.done);
  };
  const Point first{bar.first, bar.first_seconds};
  all.since = 0;
  all.each_ns = each({});
  if (bar.first > 0 && end.done > bar.first) {
    all.since = bar.first;
    all.each_ns = each(first);
    return;
  }
  // What is only looked at or skipped, as what an earlier run has done, goes
  // fast.
  const auto behind = std::ranges::upper_bound(bar.points, end.seconds / 2, {}, &Point::seconds);
  if (behind == bar.points.begin()) return;
  const Point late = *std::prev(behind);
  if (late.done > 0 && end.done > late.done && each(late) > kSlower * *all.each_ns) {
    all.since = late.done;
    all.each_ns = each(late);
  }
}

ProgramPart ProgramTimeReader::PartOf(Bars bars) {
  EndBar(bars);
  ProgramPart part = std::move(bars.all);
  part.kind = ProgramPartKind::kBars;
  if (part.count > 1 && part.done > 0) {
    part.each_ns = part.ns / static_cast<double>(part.done);
    part.since = 0;
  }
  if (bars.rated_ns > 0) part.tokens_per_second = bars.tokens * kNsPerSecond / bars.rated_ns;
  return part;
}

ProgramTimeReader::Lines* ProgramTimeReader::KindOf(Kinds& kinds, const std::string& words) {
  const std::string key = KindName(words);
  const auto at = kinds.find(key);
  if (at != kinds.end()) return &at->second;
  if (kinds.size() >= kMostKinds) return nullptr;
  Lines& lines = kinds[key];
  lines.first = words;
  return &lines;
}

// What passes until the next line with a date passes after this one. Whether lines of kinds that are known
// show that the program goes on behind what was thrown.
bool ProgramTimeReader::TakeStamp(std::string_view line, int64_t number) {
  const auto now = StampOf(line);
  // Nor is what passes between the end and another start.
  static const RE2 end(R"((?i)complet|finish|\bdone\b|success|conclu|terminad|\bend(?:ed|s)?\b)");
  if (!now) {
    const bool thrown = line.starts_with("Traceback (most recent call last)");
    if (thrown) known_since_ = 0;
    failed_ =
        failed_ || thrown || line.find(" Killed") != std::string_view::npos || line.starts_with("Killed");
    undated_ += HasWord(line);
    if (!Announces(line)) return false;
    section_ = CutTo(PlainWords(line), kLongestKind);
    if (Lines* lines = KindOf(sections_, section_)) ++lines->part.count;
    return false;
  }
  ++stamps_;
  between_hours_ = between_hours_ || *now % kHourNs != 0;
  std::string words = WordsBehindDate(line);
  const bool rule = last_ && IsRule(words) && HasWord(last_->kind);
  if (!HasWord(words) && !rule) ++wordless_;
  if (last_ && *now < last_->ns) ++backward_;
  if (first_kind_.empty()) first_kind_ = KindName(words);
  const bool restarted = last_ && KindName(words) == first_kind_ && RE2::PartialMatch(last_->kind, end);
  if (restarted) {
    ++restarts_;
    restarts_ns_ += static_cast<double>(*now - last_->ns);
  }
  const bool ends = NothingFollows(line);
  const bool failed = std::exchange(failed_, ends) || restarted;
  const bool undated = std::exchange(undated_, 0) >= kLeastUndated;
  if (last_ && !failed && *now >= last_->ns && *now - last_->ns <= kLongestStretch) {
    const auto took = static_cast<double>(*now - last_->ns);
    passed_ns_ += took;
    const auto add = [&](Lines* lines) {
      if (lines == nullptr) return;
      lines->part.ns += took;
      if (undated) lines->undated_ns += took;
      lines->second_ns = std::max(lines->second_ns, std::min(took, lines->part.longest_ns));
      if (took <= lines->part.longest_ns) return;
      lines->part.longest_ns = took;
      lines->part.longest_line = last_->number;
    };
    add(KindOf(kinds_, last_->kind));
    if (!section_.empty()) add(KindOf(sections_, section_));
  }
  // "======": what passes behind it is of the line before.
  if (rule) {
    last_->ns = *now;
    return known_since_ >= kLeastKnown;
  }
  if (Lines* lines = KindOf(kinds_, words)) {
    known_since_ += ++lines->part.count > 1 && !ends;
    if (lines->part.count == 1) lines->first_ns = *now;
    lines->last_ns = *now;
  }
  int64_t done = 0, total = 0;
  if (CountIn(words, done, total)) {
    const auto at = kinds_.find(KindName(words));
    if (at != kinds_.end()) {
      Lines& lines = at->second;
      if (lines.counted) ++lines.counts;
      lines.falls = lines.falls || (lines.counted && done < *lines.counted);
      if (lines.counted && lines.out_of == total && done == *lines.counted + 1 && *now > lines.counted_ns) {
        ++lines.items;
        lines.items_ns += static_cast<double>(*now - lines.counted_ns);
      }
      lines.counted = done;
      lines.out_of = total;
      lines.counted_ns = *now;
    }
  }
  last_ = Stamp{*now, number, std::move(words)};
  return known_since_ >= kLeastKnown;
}

ProgramPart ProgramTimeReader::PartOf(const Lines& lines) {
  ProgramPart part = lines.part;
  part.name = part.count == 1 ? CutTo(lines.first, kLongestKind) : KindName(lines.first);
  // "disk 400/1000 GB used" and what several ranks count rises otherwise.
  if (lines.items > 0 && !lines.falls &&
      static_cast<double>(lines.items) >= kLeastByOne * static_cast<double>(lines.counts)) {
    part.done = lines.items;
    part.each_ns = lines.items_ns / static_cast<double>(lines.items);
  }
  return part;
}

// What passes between two of many lines while a machine or a process sleeps, by how much longer it is.
double ProgramTimeReader::PauseIn(const Lines& lines) {
  const ProgramPart& part = lines.part;
  if (part.count < kLeastOfPause || part.longest_ns < kLeastPauseNs) return 0;
  const double usual = (part.ns - part.longest_ns) / static_cast<double>(part.count - 1);
  return part.longest_ns > kOfOthers * usual ? part.longest_ns : 0;
}

void ProgramTimeReader::AddLines(ProgramOutput& output) const {
  Kinds kinds = kinds_;
  double passed_ns = passed_ns_, most = 0, most_of_section = 0, undated_ns = 0;
  int64_t lines = 0;
  for (auto& [key, kind] : kinds) {
    const double pause_ns = PauseIn(kind);
    kind.part.ns -= pause_ns;
    if (pause_ns > 0) kind.part.longest_ns = kind.second_ns;
    passed_ns -= pause_ns;
    if (kind.part.ns > most) {
      most = kind.part.ns;
      lines = kind.part.count;
    }
  }
  for (const auto& [key, section] : sections_) most_of_section = std::max(most_of_section, section.part.ns);
  const bool sections = most > kNearlyAll * passed_ns && lines > 1 && sections_.size() > 1 &&
                        most_of_section < kNearlyAll * passed_ns;
  // What passes while lines without a date tell what is done is not of the line
  // with one before them.
  if (!sections)
    std::erase_if(kinds, [&](const auto& item) {
      const Lines& kind = item.second;
      const bool undated = kind.undated_ns > kMostUndated * kind.part.ns && OfLibrary(kind.first);
      if (undated) undated_ns += kind.part.ns;
      return undated;
    });
  output.duration_ns = passed_ns;
  // Where no kind of line stands out, or where what looks like starts is a loop of the program, they tell
  // nothing.
  if (std::max(most, most_of_section) < kLeastShare * passed_ns && undated_ns == 0) return AddRounds(output);
  if (std::max(most, most_of_section) < kLeastShare * passed_ns || undated_ns > kMostUndated * passed_ns ||
      (restarts_ > kMostRestarts && restarts_ns_ > passed_ns))
    return;
  for (const auto& [key, kind] : sections ? sections_ : kinds) {
    ProgramPart part = PartOf(kind);
    part.kind = sections ? ProgramPartKind::kSection : ProgramPartKind::kLines;
    if (part.ns > 0 && !part.name.empty()) output.parts.push_back(std::move(part));
  }
}

// Of a loop whose lines differ in their words one may still be the same in each round: what passes from each
// to the next.
void ProgramTimeReader::AddRounds(ProgramOutput& output) const {
  const Lines* round = nullptr;
  for (const auto& [key, kind] : kinds_)
    if (kind.part.count >= kLeastRounds && HasWord(kind.first) &&
        static_cast<double>(kind.last_ns - kind.first_ns) >= kNearlyAll * passed_ns_ &&
        (round == nullptr || kind.part.count > round->part.count))
      round = &kind;
  if (round == nullptr) return;
  ProgramPart part = PartOf(*round);
  part.ns = static_cast<double>(round->last_ns - round->first_ns);
  part.done = part.count - 1;
  part.each_ns = part.ns / static_cast<double>(part.done);
  part.longest_ns = 0;
  part.longest_line = 0;
  output.parts.push_back(std::move(part));
}

ProgramOutput ProgramTimeReader::Finish() const {
  ProgramOutput output;
  for (const auto& [key, bars] : bars_) {
    if (bars.mixed) continue;
    ProgramPart part = PartOf(bars);
    if (part.ns >= (part.tokens_per_second ? kLeastCallsNs : kLeastBarsNs) && part.done > 0)
      output.parts.push_back(std::move(part));
  }
  endless_.AddTo(output);
  const bool log = signs_.shown() && between_hours_ && stamps_ >= kLeastStamps &&
                   passed_ns_ >= kLeastDurationNs &&
                   static_cast<double>(wordless_) <= kMostWordless * static_cast<double>(stamps_) &&
                   static_cast<double>(backward_) <= kMostBackward * static_cast<double>(stamps_);
  if (log) AddLines(output);
  std::ranges::stable_sort(output.parts, std::ranges::greater(), &ProgramPart::ns);
  if (output.parts.size() > kMostParts) output.parts.resize(kMostParts);
  figures_.AddTo(output);
  return output;
}

}  // namespace dladvisor::training_log
