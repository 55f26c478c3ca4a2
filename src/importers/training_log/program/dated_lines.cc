// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/program/dated_lines.h"

#include <re2/re2.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "src/importers/nvidia_smi/log_cell.h"
#include "src/importers/training_log/lines/log_line.h"
#include "src/importers/training_log/program/part_names.h"
#include "src/importers/training_log/program/program_words.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestKind = 60, kLongestRest = 240, kMostKinds = 512;
constexpr double kLeastDurationNs = 60e9;
constexpr int64_t kLeastStamps = 3;
// Dates that are all at full hours are data, and not read from a clock.
constexpr int64_t kHourNs = int64_t{3600} * 1'000'000'000;
// Lines without a word for one with, and such that go back in time for one that
// goes on, from which on the text is a table or a mixture.
constexpr double kMostWordless = 0.5, kMostBackward = 0.1;
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
constexpr int64_t kNsOfSecond = 1'000'000'000;
// Lines of kinds that came before, behind what was thrown.
constexpr int64_t kLeastKnown = 3;
// What is apart by less is of one time, by dates that tell of parts of a second.
constexpr int64_t kMomentNs = 20'000'000;
// Of lines that are alike, from which on they come in batches, and so many times what is of one time passes
// between these.
constexpr int64_t kLeastOfBatch = 4, kApartOfBatches = 10;
// Of the cells of a row.
constexpr int kLeastCells = 4;
// Fewer lines that are alike are no loop.
constexpr int64_t kLeastRounds = 20;

// "======", above and below a heading.
bool IsRule(std::string_view words) { return words.find_first_not_of("=-*#~_ ") == std::string_view::npos; }

// A line of `date`: "Tue Feb 25 23:07:29 CET 2020", "Tue 25 Feb 2020 11:07:29 PM CET", alone or behind a word
// or two ("Start: ").
std::optional<int64_t> StampOfDate(std::string_view line) {
  static const RE2 unix_date(
      R"(^\W{0,8}(?:[A-Za-z][A-Za-z _]{0,30}[:=]? )?[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d{1,2}) (\d{1,2}:\d{2}:\d{2})()(?: [A-Z]{1,5}| [-+]\d{2,4})? (\d{4})\W*$)"),
      local(
          R"(^\W{0,8}(?:[A-Za-z][A-Za-z _]{0,30}[:=]? )?[A-Z][a-z]{2},? +(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}),? (\d{1,2}:\d{2}:\d{2})(?: ([AP]M))?(?: [A-Z]{1,5}| [-+]\d{2,4})?\W*$)");
  std::string month, day, clock, half, year;
  if (line.size() > kStartOfLine ||
      !(RE2::PartialMatch(line, unix_date, &month, &day, &clock, &half, &year) ||
        RE2::PartialMatch(line, local, &day, &month, &year, &clock, &half)))
    return std::nullopt;
  if (clock[1] == ':') clock = "0" + clock;
  const auto time = nvidia_smi::ParseTime("Mon " + month + " " + day + " " + clock + " " + year);
  if (!time) return std::nullopt;
  const bool noon = clock.starts_with("12:");
  constexpr int64_t kHalfDay = 12 * kHourNs;
  return time->ns + (half == "PM" && !noon ? kHalfDay : half == "AM" && noon ? -kHalfDay : 0);
}

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
  // "[GIN] 2025/02/25 - 02:15:20 | 200 | 19.3s | 127.0.0.1 | POST "/api/chat"", of Ollama.
  static const RE2 request(R"re(\| +((?:GET|POST|PUT|DELETE|HEAD) +"[^"]*"))re");
  if (std::string words; line.starts_with("[GIN]") && RE2::PartialMatch(line, request, &words)) return words;
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

// "card0,,0,65536,85.0,92": most of its cells are numbers.
bool IsRowOfNumbers(std::string_view words) {
  static const RE2 number(R"([ \t]*(?:[-+]?\d[\d.e+-]*[ \t]*%?)?[ \t]*)");
  int cells = 0, numbers = 0;
  for (size_t end = 0; end != std::string_view::npos; ++cells) {
    end = words.find_first_of(",;\t");
    numbers += RE2::FullMatch(words.substr(0, end), number);
    words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
  }
  return cells >= kLeastCells && 2 * numbers > cells;
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

DatedLinesReader::Lines* DatedLinesReader::KindOf(Kinds& kinds, const std::string& words) {
  const std::string key = KindName(words);
  const auto at = kinds.find(key);
  if (at != kinds.end()) return &at->second;
  if (kinds.size() >= kMostKinds) return nullptr;
  Lines& lines = kinds[key];
  lines.first = words;
  return &lines;
}

bool DatedLinesReader::Line(std::string_view line, int64_t number) {
  auto now = StampOf(line);
  const auto date = now ? std::nullopt : StampOfDate(line);
  if (date) now = date;
  // In whole seconds beside a finer one, as two handlers of one logger write the same: no step back.
  if (now && last_ && *now % kNsOfSecond == 0 && *now < last_->ns && last_->ns - *now < kNsOfSecond)
    now = last_->ns;
  // Nor is what passes between the end and another start.
  static const RE2 end(R"((?i)complet|finish|\bdone\b|success|conclu|terminad|\bend(?:ed|s)?\b)");
  if (!now) {
    const bool thrown = line.starts_with("Traceback (most recent call last)");
    if (thrown) known_since_ = 0;
    failed_ =
        failed_ || thrown || line.find(" Killed") != std::string_view::npos || line.starts_with("Killed");
    undated_ += HasWord(line);
    // What follows the line of `date` names what passes.
    if (std::exchange(unnamed_, HasWord(line) ? false : unnamed_) && last_ && HasWord(line)) {
      last_->kind = CutTo(PlainWords(line), kLongestKind);
      if (Lines* lines = KindOf(kinds_, last_->kind)) ++lines->part.count;
    }
    if (!Announces(line)) return false;
    section_ = CutTo(PlainWords(line), kLongestKind);
    if (Lines* lines = KindOf(sections_, section_)) ++lines->part.count;
    return false;
  }
  ++stamps_;
  between_hours_ = between_hours_ || *now % kHourNs != 0;
  within_seconds_ = within_seconds_ || *now % kNsOfSecond != 0;
  std::string words = date ? std::string() : WordsBehindDate(line);
  const bool rule = !date && last_ && IsRule(words) && HasWord(last_->kind);
  if (!date && ((!HasWord(words) && !rule) || IsRowOfNumbers(words))) ++wordless_;
  if (last_ && *now < last_->ns) ++backward_;
  if (first_kind_.empty()) first_kind_ = KindName(words);
  const bool restarted =
      last_ && !words.empty() && KindName(words) == first_kind_ && RE2::PartialMatch(last_->kind, end);
  if (restarted) {
    ++restarts_;
    restarts_ns_ += static_cast<double>(*now - last_->ns);
  }
  const bool ends = NothingFollows(line);
  const bool failed = std::exchange(failed_, ends) || restarted;
  const bool undated = std::exchange(undated_, 0) >= kLeastUndated && !named_;
  named_ = date.has_value();
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
  unnamed_ = date.has_value();
  if (Lines* lines = date ? nullptr : KindOf(kinds_, words)) {
    known_since_ += ++lines->part.count > 1 && !ends;
    if (lines->part.count == 1) lines->first_ns = lines->moment_ns = lines->second_of_ns = *now;
    if (*now - lines->moment_ns > kMomentNs) {
      ++lines->moments;
      lines->moment_ns = *now;
    }
    if (*now - lines->second_of_ns >= kNsOfSecond) {
      ++lines->seconds;
      lines->second_of_ns = *now;
    }
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

ProgramPart DatedLinesReader::PartOf(const Lines& lines) const {
  ProgramPart part = lines.part;
  const int64_t batches = within_seconds_ ? lines.moments : lines.seconds;
  const int64_t apart_ns = kApartOfBatches * (within_seconds_ ? kMomentNs : kNsOfSecond);
  if (part.count >= kLeastOfBatch * batches && lines.first_ns != 0 &&
      part.ns >= static_cast<double>(batches * apart_ns))
    part.batches = batches;
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
double DatedLinesReader::PauseIn(const Lines& lines) {
  const ProgramPart& part = lines.part;
  if (part.count < kLeastOfPause || part.longest_ns < kLeastPauseNs) return 0;
  const double usual = (part.ns - part.longest_ns) / static_cast<double>(part.count - 1);
  return part.longest_ns > kOfOthers * usual ? part.longest_ns : 0;
}

bool DatedLinesReader::IsLog() const {
  return between_hours_ && stamps_ >= kLeastStamps && passed_ns_ >= kLeastDurationNs &&
         static_cast<double>(wordless_) <= kMostWordless * static_cast<double>(stamps_) &&
         static_cast<double>(backward_) <= kMostBackward * static_cast<double>(stamps_);
}

void DatedLinesReader::AddTo(ProgramOutput& output) const {
  Kinds kinds = kinds_;
  double passed_ns = passed_ns_, most = 0, most_of_section = 0, undated_ns = 0;
  int64_t lines = 0;
  for (auto& [key, kind] : kinds) {
    const double pause_ns = PauseIn(kind);
    kind.part.ns -= pause_ns;
    if (pause_ns > 0) kind.part.longest_ns = kind.second_ns;
    passed_ns -= pause_ns;
    output.pause_ns += pause_ns;
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
void DatedLinesReader::AddRounds(ProgramOutput& output) const {
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

}  // namespace dladvisor::training_log
