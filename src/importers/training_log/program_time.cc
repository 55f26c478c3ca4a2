// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/program_time.h"

#include <re2/re2.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "src/importers/nvidia_smi/log_cell.h"
#include "src/importers/training_log/log_line.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestLineOfProgram = 4096, kLongestTitle = 48, kLongestKind = 60;
constexpr size_t kMostTitles = 64, kMostKinds = 512, kMostPoints = 4096, kMostParts = 20;
// Less is of a start.
constexpr double kLeastBarsNs = 30e9, kLeastDurationNs = 60e9;
// Of calls that each have a bar.
constexpr double kLeastCallsNs = 10e9;
constexpr int64_t kLeastStamps = 3;
// Lines without a word for one with, and such that go back in time for one that goes on, from which on the
// text is a table or a mixture.
constexpr double kMostWordless = 0.5, kMostBackward = 0.1;
// Steps at once, from which on a bar shows that a program goes on where it stopped.
constexpr int64_t kLeastSkipped = 20;
// By how much what a bar counts takes longer in the last half of its time, from which on the mean is
// nobody's.
constexpr double kSlower = 2;
// Of the time, from which on a kind of line tells nothing that a section does not tell better.
constexpr double kNearlyAll = 0.9;
constexpr int64_t kLongestStretch = int64_t{3} * 86'400 * 1'000'000'000;
constexpr double kLeastShare = 0.1;
constexpr int64_t kLeastWaits = 3;  // lines

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

bool HasWord(std::string_view text) {
  static const RE2 word("[A-Za-z]{3}");
  return RE2::PartialMatch(text, word);
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
  return CutTo(PlainWords({rest.data(), rest.size()}), kLongestKind);
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

bool ProgramTimeReader::Line(std::string_view line, int64_t number) {
  if (line.size() > kLongestLineOfProgram) return false;
  if (line.find("%|") != std::string_view::npos) return TakeBar(line);
  if (line.find("it [") != std::string_view::npos) TakeBarWithoutTotal(line);
  TakeStamp(line, number);
  TakeRequest(line);
  return TakeWait(line);
}

// Of the title, nothing where there are too many. "d: -0.001;gen: -0.008" are values, and name nothing; bars
// without a title may lie within one another.
ProgramTimeReader::Bars* ProgramTimeReader::BarsOf(std::string_view title, int64_t total) {
  static const RE2 values(R"(\d\.\d)");
  const std::string_view words = Trim(title);
  std::string name = PlainWords(words.substr(words.size() - std::min(words.size(), kLongestTitle)));
  name = RE2::PartialMatch(name, values) || !HasWord(name) ? "" : WithoutNumbers(CutTo(name, kLongestTitle));
  if (bars_.size() >= kMostTitles) return nullptr;
  Bars& bars = bars_[name.empty() ? "\n" + std::to_string(total) : name];
  bars.all.name = name;
  return &bars;
}

// "Processing examples:   3%|#    | 55/2000 [11:53<7:17:54, 13.51s/it, est. speed output: 20.1 toks/s]"
bool ProgramTimeReader::TakeBar(std::string_view line) {
  static const RE2 bar(
      R"(([^|%]*?):? *\d{1,3}%\|[^|]*\| *(\d{1,12})/(\d{1,12}) \[(?:(\d{1,6}):)?(\d{1,6}):(\d{2})<([^\]]*))"),
      rate(R"(output: (\d+(?:\.\d+)?) toks/s)");
  re2::StringPiece rest(line.data(), line.size());
  std::string title, hours, behind;
  int64_t done = 0, total = 0, minutes = 0, seconds = 0;
  bool goes_on = false;
  while (RE2::FindAndConsume(&rest, bar, &title, &done, &total, &hours, &minutes, &seconds, &behind)) {
    Bars* bars = done > total ? nullptr : BarsOf(title, total);
    if (bars == nullptr) continue;
    const int64_t since = (Integer(hours).value_or(0) * 60 + minutes) * 60 + seconds;
    TakePoint(*bars, {done, since}, total);
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
  std::string title, clock;
  int64_t done = 0;
  if (!RE2::PartialMatch(line, bar, &title, &done, &clock)) return;
  if (Bars* bars = BarsOf(title, 0))
    TakePoint(*bars, {done, static_cast<int64_t>(SecondsOfClock(clock).value_or(0))}, 0);
}

void ProgramTimeReader::TakePoint(Bars& bars, Point point, int64_t total) {
  Bar& bar = bars.last;
  // Ranks that draw the same bar are ahead of one another by little.
  const bool begins = !bar.points.empty() &&
                      (total != bar.total || point.seconds < bar.points.back().seconds) &&
                      (total != bar.total || 2 * point.done < bar.points.back().done ||
                       (point.done <= 1 && bar.points.back().done == bar.total));
  if (begins) EndBar(bars);
  bar.total = total;
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
  // What is only looked at or skipped, as what an earlier run has done, goes fast.
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
  const std::string key = WithoutNumbers(words);
  const auto at = kinds.find(key);
  if (at != kinds.end()) return &at->second;
  if (kinds.size() >= kMostKinds) return nullptr;
  Lines& lines = kinds[key];
  lines.first = words;
  return &lines;
}

// What passes until the next line with a date passes after this one.
void ProgramTimeReader::TakeStamp(std::string_view line, int64_t number) {
  const auto now = StampOf(line);
  // What follows an error, or the end before another start, is nobody's work. An error is told by a level or
  // by an exception: results speak of errors, too.
  static const RE2 failure(
      R"(\bERROR\b|\bCRITICAL\b|\bFATAL\b|\[error\]|\b[A-Za-z]+(?:Error|Exception): [^\d\s-]|)"
      R"((?i:got|received|caught|by|with) (?:[\w-]+ )?signal\b|\bsignal \d|)"
      R"(\b[Ss]hut(?:ting)? ?down\b|\b[Ee]xit(?:ed|ing)?\b|\b[Tt]erminat)"),
      end(R"((?i)complet|finish|\bdone\b|success|conclu|terminad|\bend(?:ed|s)?\b)");
  if (!now) {
    failed_ = failed_ || line.starts_with("Traceback (most recent call last)") ||
              line.find(" Killed") != std::string_view::npos || line.starts_with("Killed");
    if (!Announces(line)) return;
    section_ = CutTo(PlainWords(line), kLongestKind);
    if (Lines* lines = KindOf(sections_, section_)) ++lines->part.count;
    return;
  }
  ++stamps_;
  std::string words = WordsBehindDate(line);
  if (!HasWord(words)) ++wordless_;
  if (last_ && *now < last_->ns) ++backward_;
  if (first_kind_.empty()) first_kind_ = WithoutNumbers(words);
  const bool restarted = last_ && WithoutNumbers(words) == first_kind_ && RE2::PartialMatch(last_->kind, end);
  const bool failed = std::exchange(failed_, RE2::PartialMatch(line, failure)) || restarted;
  if (last_ && !failed && *now >= last_->ns && *now - last_->ns <= kLongestStretch) {
    const auto took = static_cast<double>(*now - last_->ns);
    passed_ns_ += took;
    const auto add = [&](Lines* lines) {
      if (lines == nullptr) return;
      lines->part.ns += took;
      if (took <= lines->part.longest_ns) return;
      lines->part.longest_ns = took;
      lines->part.longest_line = last_->number;
    };
    add(KindOf(kinds_, last_->kind));
    if (!section_.empty()) add(KindOf(sections_, section_));
  }
  if (Lines* lines = KindOf(kinds_, words)) ++lines->part.count;
  int64_t done = 0, total = 0;
  if (CountIn(words, done, total)) {
    const auto at = kinds_.find(WithoutNumbers(words));
    if (at != kinds_.end()) {
      Lines& lines = at->second;
      if (lines.counted && lines.out_of == total && done > *lines.counted && *now > lines.counted_ns) {
        lines.items += done - *lines.counted;
        lines.items_ns += static_cast<double>(*now - lines.counted_ns);
      }
      lines.counted = done;
      lines.out_of = total;
      lines.counted_ns = *now;
    }
  }
  last_ = Stamp{*now, number, std::move(words)};
}

// "Data 330.748 (235.731) Batch 331.455 (239.681)", "Total: 18318.77 ms | Comm: 12823.92 ms".
bool ProgramTimeReader::TakeWait(std::string_view line) {
  if (line.find("ata") == std::string_view::npos && line.find("omm") == std::string_view::npos) return false;
  static const RE2 data(
      R"((?i)\bdata(?:[ _]time)?[ :=]+(\d+\.\d+) ?\(\d+\.\d+\).{0,40}?\b(?:batch|time|iter)(?:[ _]time)?[ :=]+(\d+\.\d+) ?\(\d+\.\d+\))"),
      batch(
          R"((?i)\b(?:batch|time|iter)(?:[ _]time)?[ :=]+(\d+\.\d+) ?\(\d+\.\d+\).{0,40}?\bdata(?:[ _]time)?[ :=]+(\d+\.\d+) ?\(\d+\.\d+\))"),
      communication(
          R"((?i)\btotal[ :=]+(\d+(?:\.\d+)?) ?(m?s)\b.{0,40}?\bcomm(?:unication)?[ :=]+(\d+(?:\.\d+)?) ?(m?s)\b)");
  double part = 0, whole = 0;
  std::string unit, unit_of_part;
  ProgramWait* wait = &data_;
  if (!RE2::PartialMatch(line, data, &part, &whole) && !RE2::PartialMatch(line, batch, &whole, &part)) {
    if (!RE2::PartialMatch(line, communication, &whole, &unit, &part, &unit_of_part) || unit != unit_of_part)
      return false;
    wait = &communication_;
  }
  if (!(part <= whole) || !(whole > 0)) return false;
  ++wait->lines;
  wait->part += part;
  wait->whole += whole;
  return true;
}

// "[GIN] 2025/06/26 - 01:37:53 | 200 |  1m38s |  127.0.0.1 | POST  "/v1/chat/completions"", of Ollama, and
// what it says of itself as it starts.
void ProgramTimeReader::TakeRequest(std::string_view line) {
  static const RE2 answered(
      R"re(^\[GIN\] \S+ - \S+ \| 2\d\d \| +(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)(s|ms))? +\|.*POST +"/(?:api/(?:generate|chat|embed)|v1/))re"),
      slots(R"(\bOLLAMA_NUM_PARALLEL:([1-9]\d{0,2})\b)"),
      used(R"(\bllama_context: n_seq_max += (\d{1,3})\b)");
  int64_t count = 0;
  if (line.starts_with("[GIN]")) {
    std::string hours, minutes, number, unit;
    if (!RE2::PartialMatch(line, answered, &hours, &minutes, &number, &unit)) return;
    const double seconds = Number(number).value_or(0) / (unit == "ms" ? 1e3 : 1);
    const auto whole =
        static_cast<double>((Integer(hours).value_or(0) * 60 + Integer(minutes).value_or(0)) * 60);
    ++requests_.requests;
    requests_.ns += (whole + seconds) * kNsPerSecond;
  } else if (line.find("msg=\"inference compute\"") != std::string_view::npos) {
    if (line.find("library=cpu") == std::string_view::npos) requests_.gpus = requests_.gpus.value_or(0) + 1;
  } else if (line.find("OLLAMA_NUM_PARALLEL:") != std::string_view::npos) {
    requests_.gpus.reset();  // of a start before
    if (RE2::PartialMatch(line, slots, &count)) requests_.slots = count;
  } else if (line.find("llama_context: n_seq_max") != std::string_view::npos &&
             RE2::PartialMatch(line, used, &count)) {
    requests_.slots = count;
  }
}

ProgramPart ProgramTimeReader::PartOf(const Lines& lines) const {
  ProgramPart part = lines.part;
  part.name = part.count == 1 ? lines.first : WithoutNumbers(lines.first);
  if (lines.items > 0) {
    part.done = lines.items;
    part.each_ns = lines.items_ns / static_cast<double>(lines.items);
  }
  return part;
}

ProgramOutput ProgramTimeReader::Finish() const {
  ProgramOutput output;
  for (const auto& [key, bars] : bars_) {
    ProgramPart part = PartOf(bars);
    if (part.ns >= (part.tokens_per_second ? kLeastCallsNs : kLeastBarsNs) && part.done > 0)
      output.parts.push_back(std::move(part));
  }
  const bool log = stamps_ >= kLeastStamps && passed_ns_ >= kLeastDurationNs &&
                   static_cast<double>(wordless_) <= kMostWordless * static_cast<double>(stamps_) &&
                   static_cast<double>(backward_) <= kMostBackward * static_cast<double>(stamps_);
  if (log) {
    output.duration_ns = passed_ns_;
    double most = 0, most_of_section = 0;
    int64_t lines = 0;
    for (const auto& [key, kind] : kinds_)
      if (kind.part.ns > most) {
        most = kind.part.ns;
        lines = kind.part.count;
      }
    for (const auto& [key, section] : sections_) most_of_section = std::max(most_of_section, section.part.ns);
    const bool sections = most > kNearlyAll * passed_ns_ && lines > 1 && sections_.size() > 1 &&
                          most_of_section < kNearlyAll * passed_ns_;
    // Where no kind of line stands out, they tell nothing.
    const bool stands_out = std::max(most, most_of_section) >= kLeastShare * passed_ns_;
    for (const auto& [key, kind] : !stands_out ? Kinds() : sections ? sections_ : kinds_) {
      ProgramPart part = PartOf(kind);
      part.kind = sections ? ProgramPartKind::kSection : ProgramPartKind::kLines;
      if (part.ns > 0 && !part.name.empty()) output.parts.push_back(std::move(part));
    }
  }
  std::ranges::stable_sort(output.parts, std::ranges::greater(), &ProgramPart::ns);
  if (output.parts.size() > kMostParts) output.parts.resize(kMostParts);
  if (data_.lines >= kLeastWaits) output.data = data_;
  if (communication_.lines >= kLeastWaits) output.communication = communication_;
  if (log) output.requests = requests_;
  return output;
}

}  // namespace dladvisor::training_log
