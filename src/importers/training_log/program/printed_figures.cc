// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/program/printed_figures.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "src/importers/training_log/lines/log_line.h"
#include "src/importers/training_log/program/part_names.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestLineOfFigures = 512, kLongestFigureName = 48, kMostFigures = 200, kMostScalings = 64,
                 kMostFiguresShown = 20;
constexpr int64_t kMostLinesOfFigures = 200'000;
// Lines of source code, of a configuration or of prose, for one of all, from which on the text is that.
constexpr double kMostOfText = 0.25;
// Lines with figures, for one of all, from which on a text without a word of a model is a benchmark's.
constexpr double kMostlyFigures = 0.1;
// Of what more is worked on at once, by how much the rate must grow to tell that it helps.
constexpr double kRateGrows = 1.5;
// A time that is printed less often is of a start, or of a single part.
constexpr int64_t kLeastOfPart = 3;
// Numbers in a name that follow one another, from which on they count rounds: fewer may be sizes of a batch.
constexpr int64_t kLeastOfCounter = 20;
constexpr size_t kMostCounters = 200;
// Values, none of which is below the one before, from which on they are of a clock: times of work vary.
constexpr int64_t kLeastOfRunningClock = 30;

struct UnitOfFigure {
  std::string_view word;
  double ns;
};
constexpr UnitOfFigure kUnitsOfFigures[] = {
    {"ns", 1},      {"us", 1e3},       {"µs", 1e3},       {"ms", 1e6},          {"s", 1e9},
    {"sec", 1e9},   {"secs", 1e9},     {"second", 1e9},   {"seconds", 1e9},     {"min", 6e10},
    {"mins", 6e10}, {"minutes", 6e10}, {"hours", 3.6e12}, {"milliseconds", 1e6}};

std::optional<double> NsOfUnit(std::string_view unit) {
  for (const UnitOfFigure& time : kUnitsOfFigures)
    if (time.word == unit) return time.ns;
  return std::nullopt;
}

// "tok/s" and "tokens per second" are one unit; "" of what is none of a rate.
std::string RateOfUnit(const std::string& unit) {
  static const RE2 rate(
      R"(^(?:(tok(?:en)?s?|it(?:er(?:ation)?)?s?|im(?:g|age)s?|samples?|req(?:uest)?s?|frames?|steps?|examples?|seq(?:uence)?s?|batch(?:es)?)(?:/| per )s(?:ec(?:ond)?)?|(fps)|([KMGT]i?B)/s(?:ec)?|([GT]FLOP)(?:/s|S)|([GT]FLOPs))$)"),
      prefix("^(tok|it|im|sample|req|frame|step|example|seq|batch)");
  std::string counted, fps, bytes, flops, plural;
  if (!RE2::FullMatch(unit, rate, &counted, &fps, &bytes, &flops, &plural)) return "";
  if (!fps.empty()) return "frames/s";
  if (!bytes.empty()) return bytes + "/s";
  if (!flops.empty()) return flops + "/s";
  if (!plural.empty()) return plural.substr(0, plural.size() - 1) + "/s";
  std::string word;
  RE2::PartialMatch(counted, prefix, &word);
  if (word == "tok") return "tokens/s";
  if (word == "it") return "iterations/s";
  if (word == "im") return "images/s";
  if (word == "req") return "requests/s";
  if (word == "seq") return "sequences/s";
  return word + (word == "batch" ? "es/s" : "s/s");
}

// A name without the level and the module before it, or its marks, and without the number of the round:
// "decode step 17 time" is what "decode step 18 time" is.
std::string FigureName(std::string_view text) {
  std::string name(text);
  static const RE2 before(R"(^(?:.*(?:\]|\||--|—|: )\s*|\W+))"),
      level(R"(^(?:DEBUG|INFO|NOTICE|WARN(?:ING)?|TRACE)\b[\s:]+)"), behind(R"([\s:=*_-]+$)"),
      round(R"((?i)\b(step|iter(?:ation)?|epoch|layer|round|run|trial|request) #?\d+\b)");
  RE2::Replace(&name, before, "");
  RE2::Replace(&name, level, "");
  RE2::Replace(&name, behind, "");
  RE2::Replace(&name, round, R"(\1)");
  // "Batch 25/500 processed"
  static const RE2 counted(R"( ?\b\d+ ?/ ?\d+\b)");
  RE2::GlobalReplace(&name, counted, "");
  // "Generated 256 tokens"
  static const RE2 amount(R"((?i)\b(generated|processed) \d+ )");
  RE2::Replace(&name, amount, R"(\1 )");
  return name.size() > kLongestFigureName ? "" : name;
}

double FigureNumber(std::string text) {
  std::erase(text, ',');
  return Number(text).value_or(NAN);
}

// "Finished training in 28 s", "total time was 33 s", and no "128 tokens in 1.6 s".
bool SaysSo(const std::string& name, std::string_view verb) {
  static const RE2 done(
      "(?i)finish|complet|process|\\bdone\\b|train|load|start|ready|built|compil|execut|generated"),
      measured("(?i)time|latency|duration|throughput|speed|\\brate\\b");
  if (verb == "in") return RE2::PartialMatch(name, done);
  return (verb != "was" && verb != "is") || RE2::PartialMatch(name, measured);
}

// What is set, and not measured.
bool IsSetBefore(std::string_view name) {
  static const RE2 setting(
      R"((?i)time_?out|interval|delay|\bttl\b|\bsleep|wait(?:ing)? for|retry|deadline|limit|budget|cooldown|expir|frequency|grace|sample rate|uptime|eta\b|remaining|duration of (?:the )?(?:clip|audio|video))");
  return RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), setting);
}

// Times one below the other; what is longer is no list of parts.
constexpr size_t kLongestBlock = 64;

}  // namespace

// "total_iteration: 693.7ms", "forward: 338.6ms", "backward: 305.8ms", ...: of the greatest total the parts.
void PrintedFiguresReader::TakeBreakdown(std::vector<ProgramFigure> block,
                                         std::vector<ProgramFigure>& breakdown) {
  constexpr size_t kLeastParts = 3;
  constexpr double kLeastSum = 0.95, kMostSum = 1.02;
  if (block.size() <= kLeastParts || block.size() > kLongestBlock) return;
  std::ranges::stable_sort(block, std::ranges::greater(), &ProgramFigure::sum);
  const ProgramFigure& most = block.front();
  double parts = -most.sum;
  for (const ProgramFigure& figure : block) parts += figure.sum;
  static const RE2 total("(?i)total|whole|overall|iter|step|epoch");
  if (parts < kLeastSum * most.sum || parts > kMostSum * most.sum || !RE2::PartialMatch(most.name, total) ||
      (!breakdown.empty() && most.sum <= breakdown.front().sum))
    return;
  breakdown = std::move(block);
}

void PrintedFiguresReader::Line(std::string_view coloured) {
  const std::string line(Trim(coloured.find('\x1b') == std::string_view::npos ? std::string(coloured)
                                                                              : WithoutColours(coloured)));
  if (line.empty() || lines_ >= kMostLinesOfFigures) return;
  ++lines_;
  signs_.Line(line);
  static const RE2 host(
      R"re((?i)\b(?:using |model |target )?devices?\b(?: (?:is|in use))?\s*[:=]\s*['"]?cpu\b|\b(?:using|on) (?:device )?['"]?cpu['"]?(?:$|[\s.,)]))re"),
      gpu(R"re((?i)\b(?:cuda|gpu|rocm|hip|mps|npu|tpu|xpu)(?::?\d+\b|\(|['"]?$)|\b(?:device|using|on)s?\b[^a-z]{1,4}(?:cuda|gpu|rocm|mps|npu|tpu|xpu)\b|\bnvidia [\w-]*\d|\bGeForce\b|\bTesla\b|\bRTX\b)re");
  names_host_ = names_host_ || RE2::PartialMatch(line, host);
  names_gpu_ = names_gpu_ || RE2::PartialMatch(line, gpu);
  static const RE2 document(R"(^#{2,6} \w|^```|\]\((?:https?:|\./|#)|^<(?:html|!DOCTYPE|\?xml))"),
      code(
          R"((?:^(?:def|class|import|from|return|if|elif|else|for|while|const|let|var|function|public|private|static|void|try|export)\b.*[:;{(]?$|^#include|^//|^/\*|[;{}]$|^- (?:name|uses|run):))");
  // Of a document the marks, where they stand with a heading.
  static const RE2 heading(R"(^# [A-Z])"), marks(R"(`[^`\s][^`]*`|^\|(?: ?:?-{3,}:? ?\|)+$|\*\*\w)");
  headings_ += RE2::PartialMatch(line, heading);
  marks_ += RE2::PartialMatch(line, marks);
  document_ = document_ || RE2::PartialMatch(line, document) || (headings_ > 0 && marks_ > 1);
  of_text_ += RE2::PartialMatch(line, code) || line.size() > kLongestLineOfFigures;
  // "%Cpu(s):  2.6 us,  0.7 sy,  0.0 ni", of top: shares of the processors, not microseconds.
  if (line.starts_with("%Cpu") || line.starts_with("Cpu(s):")) return;
  if (line.size() > kLongestLineOfFigures || line.find_first_of("0123456789") == std::string::npos) {
    if (HasWord(line)) TakeBreakdown(std::exchange(block_, {}), breakdown_);
    return;
  }
  // The unit behind the number, in the name, or as the name itself.
  static const RE2 behind(
      R"((\b[A-Za-z][\w .%/#&+-]{0,60}?(?: ?\([^()]{1,20}\))?)(\s*[:=]\s*|\s+(?:took|in|was|is|took about)\s+|\s+→\s+)[~≈]?(\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?)\s?(ns|us|µs|ms|secs?|seconds?|milliseconds|s|mins?|minutes|hours|fps|FPS|[KMGT]i?B/s(?:ec)?|[GT]FLOP(?:/s|S|s)|[A-Za-z]{2,10}(?:/| per )s(?:ec(?:ond)?)?)(?:[^\w/]|$))"),
      in_name(
          R"(([A-Za-z][\w .%#&+-]{0,60}?) ?[\[(](ns|us|µs|ms|secs?|seconds|s|mins?|[A-Za-z]{2,10}/s(?:ec)?|fps|FPS|[KMGT]i?B/s|[GT]FLOP(?:/s|S|s))[\])]\s*[:=]\s*(\d[\d,]*(?:\.\d+)?)(?:[^\w.]|$))"),
      itself(
          R"((?:^|[\s,|])((?:tok(?:en)?s?|samples?|im(?:g|age)s?|it|req(?:uest)?s?)/s(?:ec)?)\s*[:=]\s*(\d[\d,]*(?:\.\d+)?)(?:[^\w.]|$))"),
      // "inference_ms=11.2"
      ending(
          R"((?:^|[\s,|;({])([A-Za-z][\w.]{0,40}?)_(ns|us|ms|secs?|seconds)\s*[=:]\s*(\d+(?:\.\d+)?)(?:[\s,|;)}]|$))");
  if (TakeParts(line)) {
    ++with_figures_;
    block_.clear();
    return;
  }
  re2::StringPiece rest(line);
  std::string name, verb, number, unit;
  bool any = false;
  // "[model_build] 1.10 s"
  static const RE2 bracketed(
      R"(^\[([A-Za-z][\w .:/-]{1,47})\]\s+(\d[\d,]*(?:\.\d+)?) ?(ns|us|µs|ms|s|secs?|seconds?|mins?|minutes)\.?$)");
  if (RE2::FullMatch(line, bracketed, &name, &number, &unit)) {
    Take(name, FigureNumber(number), unit);
    any = true;
  }
  while (RE2::FindAndConsume(&rest, in_name, &name, &unit, &number)) {
    Take(FigureName(name), FigureNumber(number), unit);
    any = true;
  }
  rest = re2::StringPiece(line);
  while (RE2::FindAndConsume(&rest, ending, &name, &unit, &number)) {
    Take(FigureName(name), FigureNumber(number), unit);
    any = true;
    // What parts it from the next begins that.
    rest = re2::StringPiece(rest.data() - 1, rest.size() + 1);
  }
  rest = re2::StringPiece(line);
  while (RE2::FindAndConsume(&rest, behind, &name, &verb, &number, &unit)) {
    if (!SaysSo(name, Trim(verb))) continue;
    Take(FigureName(name), FigureNumber(number), unit);
    any = true;
  }
  // "Slow: 128 tokens in 1.64s (78.2 tok/s)", "Generated 128 tokens in 6.01s (21.3 tokens/s)"
  static const RE2 in_brackets(
      R"(^([A-Za-z][\w .-]{0,40}?)\s*(?:[:=]|\bin\b).*\((\d[\d,]*(?:\.\d+)?) ([A-Za-z]{2,10}/s(?:ec)?)\)$)");
  if (RE2::PartialMatch(line, in_brackets, &name, &number, &unit)) {
    Take(FigureName(name), FigureNumber(number), unit);
    any = true;
  }
  rest = re2::StringPiece(line);
  while (RE2::FindAndConsume(&rest, itself, &unit, &number)) {
    Take(unit, FigureNumber(number), unit);
    any = true;
  }
  with_figures_ += any;
  if (any) TakeAtOnce(line);
  if (!any && HasWord(line)) TakeBreakdown(std::exchange(block_, {}), breakdown_);
}

// "Frame 7: capture 33.1ms, inference 21.3ms, total 78.6ms (12.7 FPS)", "Speed: 45.1ms preprocess, 15.0ms
// inference per image": times that commas or bars part, with a name and no sign between.
bool PrintedFiguresReader::TakeParts(std::string_view line) {
#define TIME R"((\d+(?:\.\d+)?) ?(ns|us|µs|ms|s|secs?|seconds?))"
  static const RE2 named(R"((?:.*[:\]>] *)?([A-Za-z][A-Za-z_ /-]{1,32}?) )" TIME
                         R"((?: ?\([^()]*\))?[.\])]?)"),
      behind(R"((?:.*[:\]>] *)?)" TIME R"( ([A-Za-z][A-Za-z_-]{1,24})(?: (?:per|for|at) .*)?)");
#undef TIME
  struct Part {
    std::string name, number, unit;
  };
  std::vector<Part> parts;
  for (std::string_view left = line; !left.empty();) {
    const size_t end = left.find_first_of(",|;");
    const std::string_view text = Trim(left.substr(0, end));
    Part part;
    if (RE2::FullMatch(text, named, &part.name, &part.number, &part.unit) ||
        RE2::FullMatch(text, behind, &part.number, &part.unit, &part.name))
      parts.push_back(std::move(part));
    if (end == std::string_view::npos) break;
    left.remove_prefix(end + 1);
  }
  if (parts.size() < 2) return false;
  for (const Part& part : parts) Take(FigureName(part.name), FigureNumber(part.number), part.unit);
  return true;
}

// "Batch 17 - Forward" is what "Batch 18 - Forward" is, where the numbers follow one another. Whether they
// did so long enough to be of one name.
bool PrintedFiguresReader::TakeCounted(const std::string& name, const std::string& rate, double taken) {
  static const RE2 numbered(R"(^(\D*[A-Za-z]\D*[ _#])(\d{1,9})((?:\W.*)?)$)"), digit(R"(\d)");
  std::string before, number, behind;
  if (!RE2::FullMatch(name, numbered, &before, &number, &behind) || RE2::PartialMatch(behind, digit))
    return false;
  const std::string counted = before + "#" + behind, key = counted + "\n" + rate;
  auto at = counters_.find(key);
  if (at == counters_.end()) {
    if (counters_.size() >= kMostCounters) return false;
    at = counters_.emplace(key, Counter{}).first;
    at->second.figure.values.name = counted;
    at->second.figure.values.unit = rate;
    at->second.figure.order = static_cast<int64_t>(figures_.size()) + 1;
  }
  Counter& counter = at->second;
  const int64_t value = Integer(number).value_or(0);
  ProgramFigure& figure = counter.figure.values;
  const bool begins = value <= 1, follows = figure.count > 0 && value == counter.last + 1;
  counter.broken = counter.broken || (!begins && !follows && counter.reached < kLeastOfCounter);
  if (counter.broken) return false;
  counter.last = value;
  counter.reached = std::max(counter.reached, value);
  if (counter.reached <= kLeastOfCounter) counter.names.insert(name + "\n" + rate);
  AddTo(counter.figure, taken);
  return counter.reached > kLeastOfCounter;
}

void PrintedFiguresReader::AddTo(Figure& added, double taken) {
  ProgramFigure& figure = added.values;
  added.rises = added.rises && taken >= added.last;
  added.last = taken;
  figure.least = figure.count == 0 ? taken : std::min(figure.least, taken);
  figure.most = std::max(figure.most, taken);
  figure.sum += taken;
  ++figure.count;
}

void PrintedFiguresReader::Take(std::string_view name, double value, std::string_view unit) {
  if (name.empty() || !std::isfinite(value) || !(value > 0) || IsSetBefore(name)) return;
  const auto ns = NsOfUnit(Lower(unit));
  const std::string rate = ns ? std::string() : RateOfUnit(unit == "FPS" ? "fps" : std::string(unit));
  if (!ns && rate.empty()) return;
  fractions_ += value != std::floor(value);
  const double taken = ns ? value * *ns : value;
  // A sum under the rows of a report, whatever lies within what.
  if (name == "TOTAL") return;
  if (ns && block_.size() <= kLongestBlock) block_.push_back({std::string(name), "", 1, taken, taken, taken});
  if (TakeCounted(std::string(name), rate, taken)) return;
  std::string key = std::string(name) + "\n" + rate;
  auto at = figures_.find(key);
  if (at == figures_.end()) {
    if (figures_.size() >= kMostFigures) return;
    at = figures_.emplace(std::move(key), Figure{}).first;
    at->second.order = static_cast<int64_t>(figures_.size());
    at->second.values.name = name;
    at->second.values.unit = rate;
  }
  AddTo(at->second, taken);
}

// A time that only rises is a clock that runs, and no part: "Elapsed: 12.1s", "Elapsed: 24.3s", ...
bool PrintedFiguresReader::IsClock(const Figure& figure) {
  static const RE2 clock(R"((?i)elapsed|so far|cumulative|\brunning\b|\bsince\b|wall)");
  const ProgramFigure& values = figure.values;
  if (!values.unit.empty() || !figure.rises || !(values.most > values.least)) return false;
  return values.count >= (RE2::PartialMatch(values.name, clock) ? kLeastOfPart : kLeastOfRunningClock);
}

// What is printed by name, and once for what rounds of one name count.
std::map<std::string, PrintedFiguresReader::Figure, std::less<>> PrintedFiguresReader::Figures() const {
  auto figures = figures_;
  for (const auto& [key, counter] : counters_) {
    if (counter.broken || counter.reached < kLeastOfCounter) continue;
    std::erase_if(figures, [&](const auto& item) { return counter.names.contains(item.first); });
    figures[key] = counter.figure;
  }
  std::erase_if(figures, [](const auto& item) { return IsClock(item.second); });
  return figures;
}

// "bs=16  mean=627.5ms  tokens/s=815.9", "prosa_decode c=4 ttft=0.475s decode=18.354 tok/s".
void PrintedFiguresReader::TakeAtOnce(const std::string& line) {
  static const RE2 at_once(
      R"((?i)(?:^|[\s,|(\[])(?:c|bs|batch(?:[ _]size)?|concurren(?:cy|t)(?:[ _]\w+)?|parallel|users|clients)\s*[=:]\s*(\d{1,5})(?:[^\d.\w]|$))"),
      rate(
          R"(([A-Za-z_]{1,24})\s*[=:]\s*(\d[\d,]*(?:\.\d+)?)\s?((?:tok(?:en)?s?|samples?|im(?:g|age)s?|req(?:uest)?s?)/s(?:ec)?)\b)"),
      itself(
          R"((?:^|[\s,|])((?:tok(?:en)?s?|samples?|im(?:g|age)s?|req(?:uest)?s?)/s(?:ec)?)\s*[=:]\s*(\d[\d,]*(?:\.\d+)?)(?:[^\w.]|$))"),
      digits(R"(\d[\d.,]*)");
  int64_t count = 0;
  if (!RE2::PartialMatch(line, at_once, &count) || count < 1) return;
  std::string kind = line;
  RE2::GlobalReplace(&kind, digits, "#");
  const auto take = [&](const std::string& name, const std::string& number, const std::string& unit) {
    const double value = FigureNumber(number);
    if (!(value > 0) || (scalings_.size() >= kMostScalings && !scalings_.contains(kind + "\n" + name)))
      return;
    Scaling& scaling = scalings_[kind + "\n" + name];
    scaling.name = name;
    scaling.unit = RateOfUnit(unit);
    scaling.rates[count] = value;
  };
  std::string name, number, unit;
  re2::StringPiece rest(line);
  while (RE2::FindAndConsume(&rest, rate, &name, &number, &unit)) take(name, number, unit);
  if (RE2::PartialMatch(line, itself, &unit, &number)) take(unit, number, unit);
}

bool PrintedFiguresReader::IsOutput() const {
  const bool rates =
      std::ranges::any_of(figures_, [](const auto& item) { return !item.second.values.unit.empty(); });
  const bool mostly = static_cast<double>(with_figures_) >= kMostlyFigures * static_cast<double>(lines_);
  return !document_ && with_figures_ > 1 && fractions_ > 0 && (rates || mostly || signs_.shown()) &&
         static_cast<double>(of_text_) <= kMostOfText * static_cast<double>(lines_);
}

bool PrintedFiguresReader::OfTraining() const {
  static const RE2 training("(?i)train|epoch|\\bstep|\\biter");
  return IsOutput() && std::ranges::any_of(figures_, [](const auto& item) {
           return item.second.values.unit.empty() && RE2::PartialMatch(item.second.values.name, training);
         });
}

bool PrintedFiguresReader::TimesParts(int64_t steps) const {
  const int64_t often = std::max(kLeastOfPart, steps);
  const auto parts = std::ranges::count_if(figures_, [&](const auto& item) {
    return item.second.values.unit.empty() && item.second.values.count >= often;
  });
  return parts > 0 && IsOutput();
}

void PrintedFiguresReader::AddTo(ProgramOutput& output) const {
  if (!IsOutput()) return;
  output.on_host = names_host_ && !names_gpu_;
  std::vector<const Figure*> ordered;
  const auto figures = Figures();
  for (const auto& [key, figure] : figures) ordered.push_back(&figure);
  if (keeps_parts_) {
    int64_t most = 0;
    for (const Figure* figure : ordered) most = std::max(most, figure->values.count);
    std::erase_if(ordered, [&](const Figure* figure) { return 2 * figure->values.count < most; });
  }
  // Rates first, as they are what a benchmark is about; then what takes most of the time.
  std::ranges::sort(ordered, [](const Figure* a, const Figure* b) {
    const bool of_rate = !a->values.unit.empty(), is_rate = !b->values.unit.empty();
    if (of_rate != is_rate) return of_rate;
    if (!of_rate && a->values.sum != b->values.sum) return a->values.sum > b->values.sum;
    return a->order < b->order;
  });
  // Where parts of one total are printed below it, others lie within them, or beside.
  std::vector<ProgramFigure> breakdown = breakdown_;
  TakeBreakdown(block_, breakdown);
  const bool rates = !ordered.empty() && !ordered.front()->values.unit.empty();
  const auto whole = breakdown.empty() ? figures.end() : figures.find(breakdown.front().name + "\n");
  if (!rates && whole != figures.end() && whole->second.values.count == 1) {
    output.figures = std::move(breakdown);
  } else {
    for (size_t i = 0; i < std::min(ordered.size(), kMostFiguresShown); ++i)
      output.figures.push_back(ordered[i]->values);
  }
  for (const auto& [key, scaling] : scalings_) {
    if (scaling.rates.size() < 2) continue;
    const auto [few, slow] = *scaling.rates.begin();
    const auto [many, fast] = *scaling.rates.rbegin();
    if (fast < kRateGrows * slow ||
        (output.scaling && fast / slow <= output.scaling->fast / output.scaling->slow))
      continue;
    output.scaling = ProgramScaling{scaling.name, scaling.unit, few, many, slow, fast};
  }
}

}  // namespace dladvisor::training_log
