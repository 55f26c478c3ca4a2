// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/summary/profile.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "src/analysis/context/api_kind.h"
#include "src/analysis/context/rank_assignment.h"
#include "src/analysis/family/family.h"
#include "src/analysis/summary/missing_work.h"
#include "src/analysis/summary/stacks_of_gpu.h"
#include "src/capture/capability.h"
#include "src/importers/words/importer_words.h"

namespace dladvisor {
namespace {

constexpr int kWarning = 2;  // severity of a diagnostic from which a reader should look

// What the profile is judged by: the analysed windows of all GPUs; without GPU work, from the first call that
// launches or copies to the end of the last.
IntervalSet AnalysedTime(const Context& context) {
  if (!context.windows.empty()) return Union(context.windows);
  const ApiCalls& calls = context.trace.api_calls;
  const std::vector<ApiKind>& kinds = context.api_kinds;
  std::optional<Interval> time;
  for (size_t i = 0; i < calls.size(); ++i) {
    const ApiKind kind = kinds[calls.name[i]];
    if (kind != ApiKind::kLaunch && kind != ApiKind::kCopy && kind != ApiKind::kAsyncCopy) continue;
    if (!time) time = Interval{calls.start[i], calls.end[i]};
    time->end = std::max(time->end, calls.end[i]);
  }
  return time ? IntervalSet{*time} : IntervalSet{};
}

// The profiler's time on threads that use the GPU: what it sets up on another, such as a worker of the host
// that is traced for the first time, or does on threads of its own delays none of them. Kineto's own events
// are of no thread of the program.
IntervalSet OverheadTime(const Trace& trace) {
  std::vector<Interval> intervals;
  const Overheads& overheads = trace.overheads;
  std::vector<uint8_t> calls(
      trace.threads.size(), (trace.format != "nsys" && trace.format != "rpd") || trace.api_calls.size() == 0);
  for (size_t i = 0; i < trace.api_calls.size(); ++i)
    if (const uint32_t thread = trace.api_calls.thread[i]; thread != kNoIndex) calls[thread] = 1;
  for (size_t i = 0; i < overheads.size(); ++i)
    if (overheads.thread[i] == kNoIndex || calls[overheads.thread[i]])
      intervals.push_back({overheads.start[i], overheads.end[i]});
  return Union(std::move(intervals));
}

// A profiler that writes what it has as a process exits saw its end; else a set duration may have come first.
std::optional<std::string> EndOfCapture(const Trace& trace) {
  const Overheads& overheads = trace.overheads;
  for (size_t i = 0; i < overheads.size(); ++i)
    if (trace.names.View(overheads.name[i]).find("on process exit") != std::string_view::npos)
      return "program";
  // The length of the session, but where one was asked for: that is given in whole seconds.
  const auto set = trace.capture_options.find("RUN_DURATION_MS");
  if (set == trace.capture_options.end() || !trace.session_duration_ns) return std::nullopt;
  int64_t milliseconds = 0;
  std::from_chars(set->second.data(), set->second.data() + set->second.size(), milliseconds);
  constexpr int64_t kMsPerSecond = 1000, kNsPerMs = 1'000'000;
  if (milliseconds <= 0 || milliseconds % kMsPerSecond != 0 ||
      *trace.session_duration_ns < milliseconds * kNsPerMs)
    return std::nullopt;
  return "duration";
}

// The profiler notes its own work as the program initialises CUDA or creates a context, whether it then
// records the calls or not.
bool Notes(const Trace& trace, std::string_view work) {
  return std::ranges::any_of(trace.overheads.name, [&](NameId id) {
    return trace.names.View(id).find(work) != std::string_view::npos;
  });
}
bool CreatesContext(const Trace& trace) { return Notes(trace, "on context created"); }
// It writes what it recorded as the program exits, a device is reset or the capture stops. Where it began and
// never wrote, the process was gone before.
bool NeverWritten(const Trace& trace) {
  return Notes(trace, "CUDA profiling initialization") && !Notes(trace, "data flush");
}

void CountUnknownRows(const CaptureHealth& health, ProfileRow& row) {
  std::vector<std::pair<int64_t, std::string>> kinds;
  for (const auto& [kind, rows] : health.rows_unknown) {
    row.unknown_rows += rows;
    kinds.emplace_back(-rows, kind.empty() ? "no category" : kind);
  }
  if (kinds.empty()) return;
  std::ranges::sort(kinds);
  constexpr size_t kShown = 3;
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(kShown, kinds.size()); ++i) names.push_back(kinds[i].second);
  row.unknown_kinds = fmt::format("{}{}", fmt::join(names, ", "), kinds.size() > kShown ? " and others" : "");
}

// Launches of kernels later than all of which the kernel is recorded, as where the profiler stops first; none
// where the host waits for the GPU between them, since what came before was done then, and where the program
// goes on behind them for longer than they took, since their kernels would have run.
int64_t CountLaunchesAfterLast(const Context& context) {
  const ApiCalls& calls = context.trace.api_calls;
  Ns last = std::numeric_limits<Ns>::min();
  for (const uint32_t call : context.launches.kernel)
    if (call != kNoIndex) last = std::max(last, calls.start[call]);
  if (last == std::numeric_limits<Ns>::min()) return 0;
  const std::vector<ApiKind>& kinds = context.api_kinds;
  int64_t after = 0;
  Ns end = last;
  bool waited = false;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls.start[i] <= last) continue;
    const ApiKind kind = kinds[calls.name[i]];
    if (kind == ApiKind::kLaunch && waited) return 0;
    waited = waited || (kind == ApiKind::kSync && after > 0);
    if (kind != ApiKind::kLaunch) continue;
    ++after;
    end = std::max(end, calls.end[i]);
  }
  const std::vector<Ns>& ranges = context.trace.ranges.start;
  const bool goes_on = std::ranges::any_of(ranges, [&](Ns start) { return start - end > end - last; });
  return goes_on ? 0 : after;
}

// PyTorch's module of batch normalisation counts the batches of a training: a sum in place stands just before
// the operator.
void CountTrainingNorms(const Trace& trace, ProfileRow& row) {
  const Ranges& ranges = trace.ranges;
  if (ranges.sequence.size() == 0) return;
  enum class Word : uint8_t { kNone, kNorm, kSum, kOther };
  std::vector<Word> words(trace.names.size());
  for (size_t id = 0; id < words.size(); ++id) {
    const std::string_view name = trace.names.View(static_cast<NameId>(id));
    words[id] = name == "aten::batch_norm"   ? Word::kNorm
                : name == "aten::add_"       ? Word::kSum
                : name.starts_with("aten::") ? Word::kOther
                                             : Word::kNone;
  }
  std::vector<Word> last(trace.threads.size(), Word::kNone);
  row.training_norms = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const Word word = words[ranges.name[i]];
    if (word == Word::kNone || ranges.thread[i] >= last.size()) continue;
    if (word == Word::kNorm && last[ranges.thread[i]] == Word::kSum) ++*row.training_norms;
    last[ranges.thread[i]] = word;
  }
}

void CountGradientCalls(const Ranges& ranges, ProfileRow& row) {
  if (ranges.sequence.size() == 0 || ranges.forward_thread.size() == 0) return;
  row.gradient_calls = row.backward_calls = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges.forward_thread[i] != 0)
      ++*row.backward_calls;
    else if (ranges.sequence[i] >= 0)
      ++*row.gradient_calls;
  }
}

}  // namespace

const RelationOf<ProfileRow>& ProfileRelation() {
  static const auto relation =
      RelationOf<ProfileRow>("profile",
                             "One row per profile file: what it holds and how well it was captured.")
          .Key("profile", &ProfileRow::profile, kProfileNumber, "Number of the file, from 0.")
          .Column("path", &ProfileRow::path, Unit::kText, "Path as given.")
          .Column("format", &ProfileRow::format, Unit::kText,
                  "nsys, kineto, nvidia-smi, training log, serving log, program log, summary, ...")
          .Column("producer_version", &ProfileRow::producer_version, Unit::kText,
                  "Version of the profiler; unknown in old files.")
          .Column("schema_version", &ProfileRow::schema_version, Unit::kText,
                  "Version of the file's schema; unknown in old files.")
          .Column("recorded_rank", &ProfileRow::recorded_rank, Unit::kNone,
                  "Rank of its process in the job, where the file records it.")
          .Column("recorded_rank_source", &ProfileRow::recorded_rank_source, Unit::kText,
                  "Source of that rank: profile, environment or range.")
          .Column("recorded_node", &ProfileRow::recorded_node, Unit::kNone,
                  "Number of its node, as set by the launcher (GROUP_RANK, SLURM_NODEID); of a log among "
                  "several files, from its name.")
          .Column("recorded_local_rank", &ProfileRow::recorded_local_rank, Unit::kNone,
                  "Number of its process on the node (LOCAL_RANK, SLURM_LOCALID).")
          .Column("duplicate_of", &ProfileRow::duplicate_of, Unit::kNone,
                  "Number of the file with the same rank; of this one only facts about the file itself are "
                  "kept. Unknown for all others.")
          .Column("session_ns", &ProfileRow::session_ns, Unit::kNanoseconds,
                  "Length of the capture; unknown in some files.")
          .Column("clock_origin_utc_ns", &ProfileRow::clock_origin_utc_ns, Unit::kNone,
                  "UTC of time 0; unknown in some files.")
          .Column("clock_origin_local_ns", &ProfileRow::clock_origin_local_ns, Unit::kNone,
                  "Where the file has times without a zone: its time 0, counted as if it were UTC.")
          .Column("kernels", &ProfileRow::kernels, Unit::kCount, "Kernel executions.")
          .Column("copies", &ProfileRow::copies, Unit::kCount, "Memory copies.")
          .Column("sets", &ProfileRow::sets, Unit::kCount, "Memory sets.")
          .Column("graph_launches", &ProfileRow::graph_launches, Unit::kCount,
                  "CUDA graphs traced as a whole.")
          .Column("api_calls", &ProfileRow::api_calls, Unit::kCount, "CUDA API calls.")
          .Column("syncs", &ProfileRow::syncs, Unit::kCount, "Synchronisation activities.")
          .Column("ranges", &ProfileRow::ranges, Unit::kCount, "Ranges of the program.")
          .Column("gradient_calls", &ProfileRow::gradient_calls, Unit::kCount,
                  "Of these operators that autograd counts for a backward pass: called with gradients on, "
                  "outside of no_grad and inference_mode; unknown where it does not show.")
          .Column("backward_calls", &ProfileRow::backward_calls, Unit::kCount,
                  "Operators of a backward pass; unknown where it does not show.")
          .Column(
              "training_norms", &ProfileRow::training_norms, Unit::kCount,
              "Batch normalisations before which PyTorch's module counts the batch, as it does in training "
              "mode alone; unknown where it does not show.")
          .Column("python_frames", &ProfileRow::python_frames, Unit::kCount, "Calls of Python functions.")
          .Column("os_calls", &ProfileRow::os_calls, Unit::kCount, "Operating-system calls.")
          .Column("gpu_metric_samples", &ProfileRow::gpu_metric_samples, Unit::kCount,
                  "Samples of hardware counters.")
          .Column("telemetry_samples", &ProfileRow::telemetry_samples, Unit::kCount,
                  "Samples of nvidia-smi, of one GPU and time each.")
          .Column("training_lines", &ProfileRow::training_lines, Unit::kCount,
                  "Lines of a training's log that report its progress.")
          .Column("serving_lines", &ProfileRow::serving_lines, Unit::kCount,
                  "Lines of a server's log that report its load.")
          .Column("program_parts", &ProfileRow::program_parts, Unit::kCount,
                  "Parts of a program's output that show its time: progress bars, kinds of lines, or tracks "
                  "of spans.")
          .Column("summary_rows", &ProfileRow::summary_rows, Unit::kCount,
                  "Rows of tables of totals by name that a profiler printed.")
          .Column("memory_events", &ProfileRow::memory_events, Unit::kCount, "Allocations and frees.")
          .Column("skipped_rows", &ProfileRow::skipped_rows, Unit::kCount, "Rows that could not be used.")
          .Column("unknown_rows", &ProfileRow::unknown_rows, Unit::kCount,
                  "Of these, rows of kinds that are not known: nothing is wrong with them.")
          .Column("unknown_kinds", &ProfileRow::unknown_kinds, Unit::kText,
                  "Those kinds, the most frequent first; unknown where none.")
          .Column(
              "counter_ranges", &ProfileRow::counter_ranges, Unit::kCount,
              "Kernels, or ranges of them, of which the profile holds hardware counters instead of times.")
          .Column("npu_computing_ns", &ProfileRow::npu_computing_ns, Unit::kNanoseconds,
                  "Time in which an NPU computes, as Ascend's profiler sums it; unknown of other devices.")
          .Column("npu_communicating_ns", &ProfileRow::npu_communicating_ns, Unit::kNanoseconds,
                  "Time in which it communicates and computes nothing.")
          .Column("npu_free_ns", &ProfileRow::npu_free_ns, Unit::kNanoseconds,
                  "Time in which it does neither.")
          .Column("npu_compiling_ns", &ProfileRow::npu_compiling_ns, Unit::kNanoseconds,
                  "Time of the host's calls that compile an operator for it; unknown where none do.")
          .Column("npu_compiled", &ProfileRow::npu_compiled, Unit::kCount, "Those calls.")
          .Column("unmatched_kernels", &ProfileRow::unmatched_kernels, Unit::kCount,
                  "Kernels whose launching call is not in the file.")
          .Column("launches_after_last", &ProfileRow::launches_after_last, Unit::kCount,
                  "Calls that launch after the last of which a kernel is recorded; 0 where none is, the host "
                  "waits between them, or the program goes on behind them for longer than they took.")
          .Column("unmatched_share", &ProfileRow::unmatched_share, Unit::kRatio,
                  "Of all kernels; unknown without kernels.")
          .Column("inherited_share", &ProfileRow::inherited_share, Unit::kRatio,
                  "Share of kernels launched by a thread without ranges; unknown without kernels.")
          .Column("open_ranges", &ProfileRow::open_ranges, Unit::kCount, "Ranges that were never closed.")
          .Column("out_of_order", &ProfileRow::out_of_order, Unit::kCount,
                  "Rows that were not in order of time, in formats that promise one; exports of nsys do not.")
          .Column("negative_durations", &ProfileRow::negative_durations, Unit::kCount,
                  "Rows that end before they start.")
          .Column(
              "overhead_ns", &ProfileRow::overhead_ns, Unit::kNanoseconds,
              "Time the profiler itself took in the analysed time, on threads that call CUDA: the windows of "
              "all GPUs, else from the first call that launches or copies to the last.")
          .Column("overhead_share", &ProfileRow::overhead_share, Unit::kRatio,
                  "Of the analysed time; unknown without any.")
          .Column("diagnostics", &ProfileRow::diagnostics, Unit::kCount,
                  "Warnings and errors that the profiler recorded.")
          .Column("missing_tables", &ProfileRow::missing_tables, Unit::kText,
                  "Activity tables that the file lacks; unknown where none.")
          .Column("notes", &ProfileRow::notes, Unit::kText,
                  "What a reader should know of the capture; unknown where nothing.")
          .Column("has_cuda", &ProfileRow::has_cuda, Unit::kNone,
                  "1 where the file holds GPU work or CUDA calls.")
          .Column("has_api", &ProfileRow::has_api, Unit::kNone, "1 where it holds CUDA calls.")
          .Column("has_ranges", &ProfileRow::has_ranges, Unit::kNone, "1 where it holds ranges.")
          .Column("has_os_calls", &ProfileRow::has_os_calls, Unit::kNone,
                  "1 where it holds operating-system calls.")
          .Column("has_syncs", &ProfileRow::has_syncs, Unit::kNone,
                  "1 where it holds synchronisation activities.")
          .Column("truncated", &ProfileRow::truncated, Unit::kNone, "1 where the end of the file is missing.")
          .Column("gpu_traced", &ProfileRow::gpu_traced, Unit::kNone,
                  "Of a profile without GPU work: 1 where the profiler was asked to record the GPU's work, 0 "
                  "where not; unknown where the file does not say.")
          .Column("ended_by", &ProfileRow::ended_by, Unit::kText,
                  "What ended the capture: the program itself, or the duration that was set; unknown where "
                  "the file does not say.")
          .Column("context_created", &ProfileRow::context_created, Unit::kNone,
                  "1 where the profiler notes that the program created a CUDA context; unknown where it does "
                  "not.")
          .Column(
              "never_written", &ProfileRow::never_written, Unit::kNone,
              "1 where the profiler notes that the program initialised CUDA, and never that it wrote what it "
              "recorded; unknown where it does not.")
          .Column("stack_call", &ProfileRow::stack_call, Unit::kText,
                  "Of a profile without calls that launch: a function of CUDA, or of a runtime of directives "
                  "that uses it, in recorded stacks of the host.",
                  "cpu-stacks")
          .Column("stack_wait", &ProfileRow::stack_wait, Unit::kText,
                  "The wait for the GPU, of such a profile, that a thread is in up to its last sample.",
                  "cpu-stacks")
          .Column("stack_wait_ns", &ProfileRow::stack_wait_ns, Unit::kNanoseconds,
                  "From the first of its samples in that wait to the last.", "cpu-stacks")
          .Column("program_error", &ProfileRow::program_error, Unit::kText,
                  "Error with which the program ended, from what it printed; unknown where the file does not "
                  "hold that, or where it holds no error.")
          .Column("missing_capture", &ProfileRow::missing_capture, Unit::kText,
                  "Capture flags that would show GPU work; unknown where it is there.");
  return relation;
}

ProfileRow ComputeProfile(const Context& context) {
  const Trace& trace = context.trace;
  const CaptureHealth& health = trace.health;
  const auto count = [](const auto& table) { return static_cast<int64_t>(table.size()); };
  const auto known = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
  };
  ProfileRow row;
  row.path = trace.path;
  row.format = trace.format;
  row.producer_version = known(trace.producer_version);
  row.schema_version = known(trace.schema_version);
  const RecordedRank recorded = FindRecordedRank(trace);
  row.recorded_rank = recorded.rank;
  row.recorded_node = recorded.node;
  row.recorded_local_rank = recorded.local_rank;
  row.recorded_rank_source = known(recorded.by);
  row.session_ns = trace.session_duration_ns;
  row.ended_by = EndOfCapture(trace);
  if (CreatesContext(trace)) row.context_created = true;
  if (NeverWritten(trace)) row.never_written = true;
  const StacksOfGpu stacks = FindStacksOfGpu(trace);
  row.stack_call = stacks.call;
  row.stack_wait = stacks.wait;
  row.stack_wait_ns = stacks.wait_ns;
  row.program_error = known(trace.program_error);
  row.clock_origin_utc_ns = trace.clock_origin_utc_ns;
  if (const auto local = trace.facts.find("clock_origin_local_ns"); local != trace.facts.end())
    row.clock_origin_local_ns = std::stoll(local->second);
  row.kernels = count(trace.kernels);
  row.copies = count(trace.copies);
  row.sets = count(trace.sets);
  row.graph_launches = count(trace.graph_launches);
  row.api_calls = count(trace.api_calls);
  row.syncs = count(trace.syncs);
  row.ranges = count(trace.ranges);
  row.python_frames = count(trace.frames);
  row.os_calls = count(trace.os_calls);
  row.gpu_metric_samples = count(trace.gpu_metrics);
  if (trace.telemetry.size() > 0)
    row.telemetry_samples =
        1 + *std::max_element(trace.telemetry.sample.begin(), trace.telemetry.sample.end());
  const TrainingLog& log = trace.training_log;
  row.training_lines =
      count(log.iterations) + static_cast<int64_t>(log.runtime_ns.has_value() || log.loss_lines > 0);
  row.serving_lines = count(trace.serving_log.samples);
  const ProgramOutput& output = trace.program_output;
  row.program_parts = count(output.parts) + (output.parts.empty() && !output.empty() ? 1 : 0) +
                      count(trace.program_spans.tracks);
  for (const SummaryTable& table : trace.summary_tables) row.summary_rows += count(table.rows);
  row.memory_events = count(trace.memory_events);
  for (const auto& [table, skipped] : health.rows_skipped) row.skipped_rows += skipped;
  CountUnknownRows(health, row);
  if (const auto ranges = trace.facts.find("counter_ranges"); ranges != trace.facts.end())
    row.counter_ranges = std::stoll(ranges->second);
  const auto npu = [&](const char* fact, std::optional<int64_t>& column) {
    if (const auto found = trace.facts.find(fact); found != trace.facts.end())
      column = std::stoll(found->second);
  };
  npu("npu_computing_ns", row.npu_computing_ns);
  npu("npu_communicating_ns", row.npu_communicating_ns);
  npu("npu_free_ns", row.npu_free_ns);
  npu("npu_compiling_ns", row.npu_compiling_ns);
  npu("npu_compiled", row.npu_compiled);
  row.unmatched_kernels =
      std::count(context.launches.kernel.begin(), context.launches.kernel.end(), kNoIndex);
  row.launches_after_last = CountLaunchesAfterLast(context);
  if (row.kernels > 0) {
    const auto kernels = static_cast<double>(row.kernels);
    row.unmatched_share = static_cast<double>(row.unmatched_kernels) / kernels;
    const auto& inherited = context.attribution.kernel_inherited;
    row.inherited_share = static_cast<double>(std::count(inherited.begin(), inherited.end(), 1)) / kernels;
  }
  for (size_t i = 0; i < trace.ranges.size(); ++i) row.open_ranges += trace.ranges.open[i];
  CountGradientCalls(trace.ranges, row);
  CountTrainingNorms(trace, row);
  row.out_of_order = health.out_of_order;
  row.negative_durations = health.negative_durations;
  const IntervalSet analysed = AnalysedTime(context);
  row.overhead_ns = Length(Intersect(OverheadTime(trace), analysed));
  if (const Ns length = Length(analysed); length > 0)
    row.overhead_share = static_cast<double>(row.overhead_ns) / static_cast<double>(length);
  row.diagnostics = std::count_if(health.diagnostics.begin(), health.diagnostics.end(),
                                  [](const Diagnostic& d) { return d.severity >= kWarning; });
  row.missing_tables = known(fmt::format("{}", fmt::join(health.missing_tables, ", ")));
  row.notes = known(fmt::format("{}", fmt::join(health.notes, " ")));
  row.has_api = row.api_calls > 0;
  row.has_ranges = row.ranges > 0;
  row.has_os_calls = row.os_calls > 0;
  row.has_syncs = row.syncs > 0;
  row.has_cuda = row.kernels + row.copies + row.sets + row.graph_launches + row.api_calls + row.syncs > 0;
  ExplainMissingWork(trace, row);
  return row;
}

const RelationOf<DiagnosticRow>& DiagnosticRelation() {
  static const auto relation =
      RelationOf<DiagnosticRow>("diagnostic", "What the profiler itself reported while it recorded.")
          .Key("profile", &DiagnosticRow::profile, kProfileNumber, "Number of the file.")
          .Key("n", &DiagnosticRow::n, Unit::kNone, "Order of the message.")
          .Column("severity", &DiagnosticRow::severity, Unit::kNone,
                  "1 information, 2 warning, 3 error; 0 for verbose ones.")
          .Column("text", &DiagnosticRow::text, Unit::kText, "Message.");
  return relation;
}

std::vector<DiagnosticRow> ComputeDiagnostics(const Context& context) {
  std::vector<DiagnosticRow> rows;
  for (const Diagnostic& d : context.trace.health.diagnostics) {
    const auto n = static_cast<int64_t>(rows.size());
    rows.push_back({0, n, d.severity, d.text});
  }
  return rows;
}

namespace {

void PlaceProfile(ProfileRow& row, const ProfilePlace& place) {
  if (place.duplicate_of) row.duplicate_of = place.duplicate_of;
  if (place.node) row.recorded_node = place.node;
}

}  // namespace

const Family& ProfileFamily() {
  static const Family family =
      FamilyOf(ProfileRelation(), ComputeProfile).OfFiles().Placed(ProfileRelation(), PlaceProfile);
  return family;
}

const Family& DiagnosticFamily() {
  static const Family family = FamilyOf(DiagnosticRelation(), ComputeDiagnostics).Detail().OfFiles();
  return family;
}

}  // namespace dladvisor
