// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/program_log.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/family/family.h"
#include "src/analysis/training/benchmark_result.h"
#include "src/analysis/training/part_purpose.h"
#include "src/analysis/training/program_figure.h"
#include "src/trace/error_remedy.h"

namespace dladvisor {
namespace {

std::string KindText(ProgramPartKind kind) {
  switch (kind) {
    case ProgramPartKind::kBars:
      return "bars";
    case ProgramPartKind::kLines:
      return "lines";
    case ProgramPartKind::kSection:
      return "section";
    case ProgramPartKind::kFunction:
      return "function";
  }
  return "";
}

std::optional<double> ShareOf(const ProgramOutput& output, const ProgramPart& part) {
  if (!output.duration_ns || part.ns > *output.duration_ns) return std::nullopt;
  return part.ns / *output.duration_ns;
}

std::optional<double> ShareOf(const ProgramWait& wait) {
  return wait.lines > 0 ? std::optional(wait.part / wait.whole) : std::nullopt;
}

std::optional<int64_t> IfAny(int64_t count) { return count > 0 ? std::optional(count) : std::nullopt; }

// Bars count what lines leave to guess. Of those that lie within one another the one that has a title, else
// the one that counts more.
const ProgramPart* MainPart(const ProgramOutput& output) {
  constexpr double kAsLong = 0.5, kEqual = 0.9;
  const ProgramPart* main = nullptr;
  for (const ProgramPart& part : output.parts) {  // the longest first
    if (part.kind != ProgramPartKind::kBars || part.ns < kAsLong * output.parts.front().ns) continue;
    if (main == nullptr) {
      main = &part;
    } else if (part.ns >= kEqual * main->ns) {
      const bool named = !part.name.empty(), is_named = !main->name.empty();
      if (named != is_named ? named : part.done > main->done) main = &part;
    }
  }
  return main != nullptr || output.parts.empty() ? main : &output.parts.front();
}

struct SlowestTime {
  std::string name;
  double share = 0;     // of all that are no totals, or of the total
  bool of_run = false;  // whether of the total that is printed for the run
  double all_ns = 0;    // of all that are none
  size_t names = 0;
};

// Lines with dates tell less of the time than what is printed by name, where that is most of it.
bool NamesMostOf(const ProgramOutput& output, const ProgramPart& part, const SlowestTime& slowest) {
  constexpr double kMost = 0.5;
  constexpr size_t kLeastNames = 3;
  return (part.kind == ProgramPartKind::kLines || part.kind == ProgramPartKind::kSection) &&
         output.duration_ns && slowest.names >= kLeastNames &&
         slowest.all_ns >= kMost * *output.duration_ns && slowest.all_ns <= *output.duration_ns;
}

// Whether others are parts of the longest: where they add up to it exactly, or about so and its name says
// that it has parts. Of three stages the longest is often about as long as the two others.
bool HoldsOthers(const std::string& name, double ns, double others, size_t count) {
  static const RE2 of_parts(
      R"((?i)^(?:the |one |each |full |train(?:ing)?[ _]|test[ _]|per[ _-])?(?:steps?|iter(?:ation)?s?|loop|main|run|process(?:ing)?|pipeline|frame|request|batch|epoch|cycle|turn|round|query|call|job|task|infer(?:ence)?|predict(?:ion)?|generat(?:e|ion)|train(?:ing)?|execut(?:e|ion)|latency|chat|answer|response|program|benchmark)(?:[ _](?:time|duration|latency|step|pass|loop|call))*$)");
  constexpr double kOthersLeast = 0.85, kOthersMost = 1.05, kExactlyLeast = 0.97, kExactlyMost = 1.005;
  constexpr size_t kFewestOthers = 3;
  const double ratio = others / ns;
  if (RE2::FullMatch(name, of_parts)) return ratio >= kOthersLeast && ratio <= kOthersMost;
  return count >= kFewestOthers && ratio >= kExactlyLeast && ratio <= kExactlyMost;
}

// What names a total has the others in it, and so has the longest, where others as many add up to it. What is
// printed twice has one sum under both names. Statistics of one quantity (its percentiles, the slowest, the
// first) are no parts. Where a total is printed, once as they are, shares are of it, and a small one is
// nowhere to begin. Times whose sum is above the total of the run lie within one another.
std::optional<SlowestTime> SlowestTimeOf(const ProgramOutput& output) {
  constexpr double kSame = 0.01, kLeastOfTotal = 0.25, kLeastOfRun = 0.5;
  static const RE2 of_run(
      R"((?i)^(?:the )?(?:total|overall|elapsed|wall|whole|end.to.end|e2e)(?:[ _-](?:run|wall|clock|elapsed|execution|program|script))*(?:[ _-](?:time|runtime|duration))?(?: (?:elapsed|taken))?$)");
  static const RE2 total("(?i)total|overall|\\ball\\b|elapsed|wall|whole|end.to.end|e2e|finish|^duration$"),
      statistic(
          R"((?i)(?:^|[^a-z])(?:tpot|itl|tbt)(?:[^a-z]|$)|per.?(?:output.?)?token|inter.?token|\bp\(?\d\d|percentile|\d(?:th\b|\s*%)|(?:^|[^a-z])(?:mean|average|avg|median|med|max|maximum|min|minimum|std(?:dev)?|stdev|slowest|fastest|best|worst|last)(?:[^a-z]|$)|(?:^|[^a-z])first(?:$|[^a-z](?:$|[^c]|c[^a]))|^(?:latency|time|frame time)$)");
  // How long what is worked on plays.
  static const RE2 of_media(
      R"((?i)(?:audio|video|clip|media|song|speech|recording)s?[ _-](?:file[ _-])?(?:duration|length)|duration of (?:the )?(?:audio|video|clip|media|song|speech|recording))");
  std::vector<const ProgramFigure*> times;  // the longest first
  double whole = 0, run = 0, doubtful = 0, longest_doubtful = 0;
  std::map<int64_t, double> wholes;  // by how often they are printed
  for (const ProgramFigure& figure : output.figures) {
    if (!figure.unit.empty()) continue;
    if (RE2::PartialMatch(figure.name, of_media)) continue;
    if (RE2::PartialMatch(figure.name, statistic)) {
      // "max_pool" and "first_stage" may be parts all the same.
      if (figure.name.find('_') != std::string::npos) {
        doubtful += figure.sum;
        longest_doubtful = std::max(longest_doubtful, figure.sum);
      }
      continue;
    }
    if (RE2::PartialMatch(figure.name, total)) {
      if (figure.count == 1) whole = std::max(whole, figure.sum);
      if (figure.count == 1 && RE2::FullMatch(figure.name, of_run)) run = std::max(run, figure.sum);
      wholes[figure.count] = std::max(wholes[figure.count], figure.sum);
      continue;
    }
    const bool again = !times.empty() && times.back()->count == figure.count && figure.count > 1 &&
                       times.back()->sum - figure.sum <= kSame * figure.sum;
    if (!again) times.push_back(&figure);
  }
  const auto sum_of = [&](size_t first, int64_t count) {
    double sum = 0;
    for (size_t i = first; i < times.size(); ++i)
      if (count == 0 || times[i]->count == count) sum += times[i]->sum;
    return sum;
  };
  // A pass beside its other one is no sum of both.
  static const RE2 forward("(?i)fwd|forward"), backward("(?i)bwd|backward");
  const auto is = [](const RE2& pass) {
    return [&pass](const ProgramFigure* time) { return RE2::PartialMatch(time->name, pass); };
  };
  const bool pass = !times.empty() && (is(forward)(times[0]) ? std::ranges::any_of(times, is(backward))
                                                             : is(backward)(times[0]) &&
                                                                   std::ranges::any_of(times, is(forward)));
  const auto of_same_count = [&](const ProgramFigure* time) { return time->count == times[0]->count; };
  // What is compiled is none of the sum of what runs.
  const bool compiles = !times.empty() && PartPurpose(times[0]->name) == "compilation";
  if (!pass && !compiles && times.size() > 2) {
    const auto alike = static_cast<size_t>(std::ranges::count_if(times, of_same_count));
    if (alike > 2 && HoldsOthers(times[0]->name, times[0]->sum, sum_of(1, times[0]->count), alike - 1))
      times.erase(times.begin());
  }
  if (times.empty() || longest_doubtful > times[0]->sum) return std::nullopt;
  // What is longer than the total of the run is summed over workers, or none of it.
  constexpr double kAbove = 1.05;
  while (run > 0 && !times.empty() && times[0]->count == 1 && times[0]->sum > kAbove * run)
    times.erase(times.begin());
  if (times.empty()) return std::nullopt;
  // What is printed often is a part of the total that is printed as often.
  if (const auto same = wholes.find(times[0]->count); times[0]->count > 1)
    whole = same != wholes.end() && same->second >= times[0]->sum ? same->second : 0;
  if (times.size() < 2 && (whole == 0 || times[0]->count == 1)) return std::nullopt;
  // Parts of totals that are printed less often than they: all together count some twice.
  const double each = times[0]->sum / static_cast<double>(times[0]->count);
  if (times[0]->count > 1 && whole == 0 && run == 0 && std::ranges::any_of(wholes, [&](const auto& of_all) {
        return of_all.first < times[0]->count && of_all.second / static_cast<double>(of_all.first) >= each;
      }))
    return std::nullopt;
  double all = std::max(whole, sum_of(0, 0) + doubtful);
  const bool is_of_run = run >= times[0]->sum && sum_of(0, 0) + doubtful >= kLeastOfRun * run &&
                         (times[0]->count == 1 || whole == 0);
  if (is_of_run) all = run;
  SlowestTime slowest{times[0]->name, times[0]->sum / all, is_of_run, sum_of(0, 0), times.size()};
  // What is compiled in several parts is one cost of the start.
  if (compiles && PartPurpose(times[0]->name) == "compilation") {
    double compiled = 0;
    int64_t others = -1;
    for (const ProgramFigure* time : times)
      if (PartPurpose(time->name) == "compilation") {
        compiled += time->sum;
        ++others;
      }
    if (others > 0 && compiled <= all) {
      slowest.name += fmt::format(" with {} more of compiling", others);
      slowest.share = compiled / all;
    }
  }
  if (slowest.share < kLeastOfTotal && (whole > sum_of(0, 0) || is_of_run)) return std::nullopt;
  return slowest;
}

}  // namespace

const RelationOf<ProgramLogRow>& ProgramLogRelation() {
  static const auto relation =
      RelationOf<ProgramLogRow>("program_log",
                                "One row per output of a program that is neither a training's nor a "
                                "server's log, with what takes most of its time.")
          .Key("profile", &ProgramLogRow::profile, kProfileNumber, "Number of the file.")
          .Column("program", &ProgramLogRow::program, Unit::kText, "What printed it, where known.")
          .Column("duration_ns", &ProgramLogRow::duration_ns, Unit::kNanoseconds,
                  "What passes between lines with dates, without what follows an error, a pause or another "
                  "end, goes "
                  "back, or takes "
                  "more than three days; unknown where lines have none.")
          .Column(
              "pause_ns", &ProgramLogRow::pause_ns, Unit::kNanoseconds,
              "Between two of these lines, in which the machine or the process slept, or nothing was to do: "
              "not in duration_ns; unknown without one.")
          .Column(
              "kind", &ProgramLogRow::kind, Unit::kText,
              "What takes most of the time: bars (progress bars of one title), lines (what passes after "
              "lines that are alike), section (the same, until a line announces the next), function (by a "
              "profiler of code: the innermost that holds half of the time, else what takes most itself).")
          .Column(
              "name", &ProgramLogRow::name, Unit::kText,
              "The bars' title, the line with # for its numbers, or the function; unknown of bars without "
              "a title.")
          .Column("count", &ProgramLogRow::count, Unit::kCount, "Bars, lines or calls.")
          .Column(
              "batches", &ProgramLogRow::batches, Unit::kCount,
              "Of lines several of which have one time, as they are of what is done at once: such times. Of "
              "a bar the few things that take nearly all of its time, which each_ns is of. Unknown of "
              "others.")
          .Column("done", &ProgramLogRow::done, Unit::kCount,
                  "What they count; unknown of lines that count nothing.")
          .Column("total", &ProgramLogRow::total, Unit::kCount,
                  "Of so many; unknown where they do not say so.")
          .Column("since", &ProgramLogRow::since, Unit::kCount,
                  "Of these done before each_ns is taken; unknown where it is of all.")
          .Column("ns", &ProgramLogRow::ns, Unit::kNanoseconds, "What they take in all.")
          .Column("share", &ProgramLogRow::share, Unit::kRatio, "Of duration_ns; unknown where that is.")
          .Column("each_ns", &ProgramLogRow::each_ns, Unit::kNanoseconds, "For each that is counted.")
          .Column("longest_ns", &ProgramLogRow::longest_ns, Unit::kNanoseconds, "Of a single bar or line.")
          .Column("tokens_per_second", &ProgramLogRow::tokens_per_second, Unit::kNone,
                  "Tokens that are generated meanwhile, as bars of vLLM say; unknown of others.")
          .Column("data_share", &ProgramLogRow::data_share, Unit::kRatio,
                  "Part of the time of a batch that lines print as the time of its data; unknown without.")
          .Column("data_lines", &ProgramLogRow::data_lines, Unit::kCount, "These lines.")
          .Column("communication_share", &ProgramLogRow::communication_share, Unit::kRatio,
                  "Part of a total that lines print as communication; unknown without.")
          .Column("communication_lines", &ProgramLogRow::communication_lines, Unit::kCount, "These lines.")
          .Column("queue_share", &ProgramLogRow::queue_share, Unit::kRatio,
                  "Part of the time of requests that a server says they wait in its queue; unknown without.")
          .Column("queue_ns", &ProgramLogRow::queue_ns, Unit::kNanoseconds, "What one waits, on average.")
          .Column("queued_request_ns", &ProgramLogRow::queued_request_ns, Unit::kNanoseconds,
                  "What one takes, that with it.")
          .Column("queue_lines", &ProgramLogRow::queue_lines, Unit::kCount, "These requests.")
          .Column("collection_share", &ProgramLogRow::collection_share, Unit::kRatio,
                  "Part of the times that Julia's @time prints which goes to collecting garbage; unknown "
                  "without.")
          .Column("collection_ns", &ProgramLogRow::collection_ns, Unit::kNanoseconds, "That time.")
          .Column("collection_lines", &ProgramLogRow::collection_lines, Unit::kCount, "These lines.")
          .Column("collects_for_gpu", &ProgramLogRow::collects_for_gpu, Unit::kNone,
                  "1 where most of that is allocating the GPU's memory; unknown without such lines.")
          .Column("requests", &ProgramLogRow::requests, Unit::kCount,
                  "Requests that a server answered, as its log lists them; unknown of others.")
          .Column("request_ns", &ProgramLogRow::request_ns, Unit::kNanoseconds, "Mean time of one.")
          .Column(
              "in_flight", &ProgramLogRow::in_flight, Unit::kNone,
              "Requests that it had at once, on average from the first to the last: those that wait, too.")
          .Column("requests_span_ns", &ProgramLogRow::requests_span_ns, Unit::kNanoseconds,
                  "From when the first of them comes to the last answer.")
          .Column("idle_share", &ProgramLogRow::idle_share, Unit::kRatio,
                  "Part of that in which none is worked on or waits.")
          .Column("model_layers", &ProgramLogRow::model_layers, Unit::kCount,
                  "Layers of a model of which some were computed by the CPU while it answered; unknown where "
                  "none were.")
          .Column("gpu_layers", &ProgramLogRow::gpu_layers, Unit::kCount, "Of these the ones on the GPU.")
          .Column("partial_requests", &ProgramLogRow::partial_requests, Unit::kCount,
                  "Requests that it answered so.")
          .Column("partial_request_ns", &ProgramLogRow::partial_request_ns, Unit::kNanoseconds,
                  "Mean time of one of these.")
          .Column("whole_request_ns", &ProgramLogRow::whole_request_ns, Unit::kNanoseconds,
                  "Mean time of one of the others; unknown without others.")
          .Column("partial_share", &ProgramLogRow::partial_share, Unit::kRatio,
                  "Part that they have of the time of all requests.")
          .Column("slots", &ProgramLogRow::slots, Unit::kCount,
                  "Requests that it works on at once; unknown where the log does not say.")
          .Column("gpus", &ProgramLogRow::gpus, Unit::kCount, "GPUs that it lists; unknown where none.")
          .Column(
              "figures", &ProgramLogRow::figures, Unit::kText,
              "The first of the times and rates that it names (program_figure), in words; unknown without.")
          .Column(
              "measured", &ProgramLogRow::measured, Unit::kText,
              "What benchmarks in it measured (transfer_test, request_benchmark), in words; unknown without.")
          .Column("slowest_time", &ProgramLogRow::slowest_time, Unit::kText,
                  "Of several times that it names, none of which is called a total or is the sum of others, "
                  "the one "
                  "of the greatest sum; unknown without.")
          .Column("slowest_purpose", &ProgramLogRow::slowest_purpose, Unit::kText,
                  "What it is for, by its name: input, transfer, preprocessing, postprocessing, optimizer, "
                  "communication, evaluation, checkpoint, output, environment, weights or compilation; "
                  "unknown of "
                  "names that say none of these.")
          .Column("slowest_of_run", &ProgramLogRow::slowest_of_run, Unit::kNone,
                  "1 where slowest_share is of the time that the program prints for the whole run; unknown "
                  "where it is of the times that it names.")
          .Column("slowest_share", &ProgramLogRow::slowest_share, Unit::kRatio,
                  "Part of the sum of these times, or of a larger total that it names; unknown without.")
          .Column("on_host", &ProgramLogRow::on_host, Unit::kNone,
                  "1 where it names the CPU as what it computes on, and no GPU.")
          .Column(
              "scaling_name", &ProgramLogRow::scaling_name, Unit::kText,
              "A rate that it prints for few and for many things at once (of a batch, of clients), and that "
              "grows by half and more; unknown without.")
          .Column("scaling_unit", &ProgramLogRow::scaling_unit, Unit::kText, "Its unit.")
          .Column("scaling_few", &ProgramLogRow::scaling_few, Unit::kCount, "The fewest of these things.")
          .Column("scaling_many", &ProgramLogRow::scaling_many, Unit::kCount, "The most.")
          .Column("rate_of_few", &ProgramLogRow::rate_of_few, Unit::kNone, "The rate of the fewest.")
          .Column("rate_of_many", &ProgramLogRow::rate_of_many, Unit::kNone, "The rate of the most.")
          .Column(
              "skipped_batches", &ProgramLogRow::skipped_batches, Unit::kCount,
              "Lines that tell of a batch that is skipped as a GPU's memory was full; unknown of fewer than "
              "three.")
          .Column("full_memories", &ProgramLogRow::full_memories, Unit::kCount,
                  "Lines that tell that a GPU's memory was full.")
          .Column("error", &ProgramLogRow::error, Unit::kText,
                  "What ended the program; unknown where nothing does.")
          .Column("remedy", &ProgramLogRow::remedy, Unit::kText,
                  "What to do about it, by its words; unknown where these say nothing that is known.")
          .Column("gpu_memory_bytes", &ProgramLogRow::gpu_memory_bytes, Unit::kBytes,
                  "Memory of the GPU on which that found none; unknown where it does not say whose the "
                  "memory was.")
          .Column("others_memory_bytes", &ProgramLogRow::others_memory_bytes, Unit::kBytes,
                  "Of it, what was not the failing process's.");
  return relation;
}

const RelationOf<ProgramPartRow>& ProgramPartRelation() {
  static const auto relation =
      RelationOf<ProgramPartRow>(
          "program_part",
          "What takes the time of a program by its output, the longest first. Bars may lie within one "
          "another, and within what passes after a line.")
          .Key("profile", &ProgramPartRow::profile, kProfileNumber, "Number of the file.")
          .Key("part", &ProgramPartRow::part, Unit::kNone, "Number of the part, from 0.")
          .Column("kind", &ProgramPartRow::kind, Unit::kText,
                  "bars, lines, section or function, as in program_log.")
          .Column("name", &ProgramPartRow::name, Unit::kText,
                  "Title of the bars, the line, or the function; unknown of bars without one.")
          .Column("count", &ProgramPartRow::count, Unit::kCount, "Bars, lines or calls.")
          .Column("done", &ProgramPartRow::done, Unit::kCount, "What they count; unknown where nothing.")
          .Column("total", &ProgramPartRow::total, Unit::kCount, "Of so many; unknown where not said.")
          .Column("ns", &ProgramPartRow::ns, Unit::kNanoseconds, "What they take in all.")
          .Column("share", &ProgramPartRow::share, Unit::kRatio,
                  "Of the time from the first line with a date to the last; unknown without dates.")
          .Column("each_ns", &ProgramPartRow::each_ns, Unit::kNanoseconds, "For each that is counted.")
          .Column("longest_ns", &ProgramPartRow::longest_ns, Unit::kNanoseconds, "The longest of them.")
          .Column("longest_line", &ProgramPartRow::longest_line, Unit::kNone,
                  "The line after which that passes, empty ones not counted; unknown of bars.");
  return relation;
}

std::vector<ProgramLogRow> ComputeProgramLog(const Context& context) {
  const ProgramOutput& output = context.trace.program_output;
  if (output.empty()) return {};
  ProgramLogRow row;
  row.program = output.program.empty() ? "a program" : output.program;
  row.duration_ns = output.duration_ns;
  std::optional<SlowestTime> slowest = SlowestTimeOf(output);
  if (const ProgramPart* main = MainPart(output);
      main != nullptr && !(slowest && NamesMostOf(output, *main, *slowest))) {
    row.kind = KindText(main->kind);
    if (!main->name.empty()) row.name = main->name;
    row.count = main->count;
    row.batches = main->batches;
    row.done = IfAny(main->done);
    row.total = IfAny(main->total);
    row.since = IfAny(main->since);
    row.ns = main->ns;
    row.share = ShareOf(output, *main);
    row.each_ns = main->each_ns;
    if (main->longest_ns > 0) row.longest_ns = main->longest_ns;
    row.tokens_per_second = main->tokens_per_second;
  }
  row.data_share = ShareOf(output.data);
  if (output.pause_ns > 0) row.pause_ns = output.pause_ns;
  row.data_lines = IfAny(output.data.lines);
  row.communication_share = ShareOf(output.communication);
  row.communication_lines = IfAny(output.communication.lines);
  row.queue_share = ShareOf(output.queue);
  row.queue_lines = IfAny(output.queue.lines);
  if (row.queue_lines) {
    row.queue_ns = output.queue.part / static_cast<double>(*row.queue_lines);
    row.queued_request_ns = output.queue.whole / static_cast<double>(*row.queue_lines);
  }
  row.collection_share = ShareOf(output.collection);
  row.collection_lines = IfAny(output.collection.lines);
  if (row.collection_lines) {
    row.collection_ns = output.collection.part;
    row.collects_for_gpu = output.collects_for_gpu;
  }
  if (const ProgramRequests& asked = output.requests; asked.requests > 0 && output.duration_ns) {
    row.requests = asked.requests;
    row.request_ns = asked.ns / static_cast<double>(asked.requests);
    row.in_flight = asked.ns / asked.span_ns.value_or(*output.duration_ns);
    row.requests_span_ns = asked.span_ns;
    if (asked.span_ns && asked.busy_ns) row.idle_share = 1 - *asked.busy_ns / *asked.span_ns;
    if (asked.partial_requests > 0) {
      row.model_layers = asked.layers;
      row.gpu_layers = asked.gpu_layers;
      row.partial_requests = asked.partial_requests;
      row.partial_request_ns = asked.partial_ns / static_cast<double>(asked.partial_requests);
      row.partial_share = asked.partial_ns / asked.ns;
      if (const int64_t others = asked.requests - asked.partial_requests; others > 0)
        row.whole_request_ns = (asked.ns - asked.partial_ns) / static_cast<double>(others);
    }
    row.slots = asked.slots;
    row.gpus = asked.gpus;
  }
  if (!output.figures.empty()) row.figures = FiguresText(output);
  if (output.measured()) row.measured = MeasuredText(output);
  if (output.on_host) row.on_host = 1;
  if (slowest) {
    if (const std::string_view purpose = PartPurpose(slowest->name); !purpose.empty())
      row.slowest_purpose = purpose;
    row.slowest_time = std::move(slowest->name);
    row.slowest_share = slowest->share;
    if (slowest->of_run) row.slowest_of_run = 1;
  }
  if (output.scaling) {
    row.scaling_name = output.scaling->name;
    row.scaling_unit = output.scaling->unit;
    row.scaling_few = output.scaling->few;
    row.scaling_many = output.scaling->many;
    row.rate_of_few = output.scaling->slow;
    row.rate_of_many = output.scaling->fast;
  }
  row.skipped_batches = IfAny(output.skipped_batches);
  row.full_memories = output.full_memories;
  if (!output.error.empty()) row.error = output.error;
  if (const std::string_view remedy = ErrorRemedy(output.error); !remedy.empty()) row.remedy = remedy;
  if (output.memory_taken) {
    row.gpu_memory_bytes = output.memory_taken->total_bytes;
    row.others_memory_bytes = output.memory_taken->others_bytes;
  }
  return {row};
}

std::vector<ProgramPartRow> ComputeProgramParts(const Context& context) {
  std::vector<ProgramPartRow> rows;
  const ProgramOutput& output = context.trace.program_output;
  for (const ProgramPart& part : output.parts) {
    ProgramPartRow& row = rows.emplace_back();
    row.part = static_cast<int64_t>(rows.size()) - 1;
    row.kind = KindText(part.kind);
    if (!part.name.empty()) row.name = part.name;
    row.count = part.count;
    row.done = IfAny(part.done);
    row.total = IfAny(part.total);
    row.ns = part.ns;
    row.share = ShareOf(output, part);
    row.each_ns = part.each_ns;
    if (part.longest_ns > 0) row.longest_ns = part.longest_ns;
    row.longest_line = IfAny(part.longest_line);
  }
  return rows;
}

const Family& ProgramLogFamily() {
  static const Family family = FamilyOf<std::vector<ProgramLogRow>>(ProgramLogRelation());
  return family;
}

const Family& ProgramPartFamily() {
  static const Family family = FamilyOf<std::vector<ProgramPartRow>>(ProgramPartRelation());
  return family;
}

}  // namespace dladvisor
