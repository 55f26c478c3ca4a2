// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/kineto.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "src/importers/kineto/batch.h"
#include "src/importers/kineto/collective_ranges.h"
#include "src/importers/kineto/event.h"
#include "src/importers/kineto/event_text.h"
#include "src/importers/kineto/frame.h"
#include "src/importers/kineto/gpu_dialect.h"
#include "src/importers/kineto/operator_totals.h"
#include "src/importers/kineto/other_trace.h"
#include "src/importers/kineto/track_spans.h"
#include "src/trace/event_tables.h"
#include "src/trace/parallel.h"

namespace dladvisor {
namespace {

using namespace kineto;

constexpr Ns kYear2000 = 946'684'800'000'000'000;

// Bytes that are not UTF-8, which some names hold, made question marks.
void RepairUtf8(std::string& text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80       ? 1
                          : lead >> 5 == 6  ? 2
                          : lead >> 4 == 14 ? 3
                          : lead >> 3 == 30 ? 4
                                            : 0;
    bool valid = length > 0 && i + length <= text.size();
    for (size_t k = 1; valid && k < length; ++k) valid = (static_cast<unsigned char>(text[i + k]) >> 6) == 2;
    if (!valid) text[i] = '?';
    i += valid ? length : 1;
  }
}

// Reads all events of a trace; nothing where a guess of EventText's was wrong.
class Reader {
 public:
  Reader(ByteSource& source, EventText::Cut cut) : source_(source), text_(source, cut), cut_(cut) {}

  std::unique_ptr<Batch> Read() {
    std::vector<Item> items(kItemsPerThread * ThreadCount());
    ParallelPipeline(
        items.size(), [&](size_t i) { return !misread_ && text_.Next(items[i].chunk); },
        [&](size_t i) { Parse(items[i]); }, [&](size_t i) { Append(items[i]); });
    return misread_ ? nullptr : std::move(whole_);
  }
  const EventText& text() const { return text_; }

 private:
  // A chunk and what is in it.
  struct Item {
    Chunk chunk;
    EventParser parser;
    std::unique_ptr<Batch> batch;  // null where the chunk is not a list of whole events
  };
  static constexpr size_t kItemsPerThread = 2;  // the next one while the one before waits for its turn

  void Parse(Item& item) {
    const Chunk& chunk = item.chunk;
    item.batch = std::make_unique<Batch>();
    Batch& batch = *item.batch;
    if (item.parser.Parse(chunk.Array(), chunk.capacity(), [&](const Event& event) { batch.Add(event); }))
      return;
    if (cut_ == EventText::Cut::kGuessed) return item.batch.reset();
    std::string text(chunk.Array());
    RepairUtf8(text);
    const size_t size = text.size();
    text.resize(size + 64);
    Batch repaired;
    if (text.compare(0, size, chunk.Array()) == 0 ||
        !item.parser.Parse(std::string_view(text).substr(0, size), text.size(),
                           [&](const Event& event) { repaired.Add(event); }))
      throw Error(source_.name(), "is damaged: some of its events are not valid JSON",
                  "export the trace again; a copy may have been cut or changed");
    batch.Append(repaired);
  }

  void Append(Item& item) {
    if (!item.batch) misread_ = true;
    if (misread_) return;
    if (whole_)
      whole_->Append(*item.batch);
    else
      whole_ = std::move(item.batch);
    item.batch.reset();
  }

  ByteSource& source_;
  EventText text_;
  const EventText::Cut cut_;
  std::atomic<bool> misread_ = false;
  std::unique_ptr<Batch> whole_;
};

// The process that launched the GPU's work: a trace is of one, but for what others recorded into it.
uint32_t HostProcess(const Trace& trace) {
  std::vector<size_t> calls(trace.processes.size(), 0);
  const auto process_of = [&](uint32_t thread) { return trace.threads[thread].process; };
  for (size_t i = 0; i < trace.api_calls.size(); ++i) calls[process_of(trace.api_calls.thread[i])] += 1000;
  for (size_t i = 0; i < trace.ranges.size(); ++i) ++calls[process_of(trace.ranges.thread[i])];
  const auto most = std::max_element(calls.begin(), calls.end());
  return most == calls.end() ? kNoIndex : static_cast<uint32_t>(most - calls.begin());
}

// Functions that were on the stack before the profiler began have no thread ("tid": 0): they are of the
// thread that most Python functions run on.
void GiveFramesTheirThread(Trace& trace) {
  Frames& frames = trace.frames;
  Ranges& ranges = trace.ranges;
  std::map<uint32_t, size_t> counts;
  for (size_t i = 0; i < frames.size(); ++i)
    if (trace.threads[frames.thread[i]].tid > 0) ++counts[frames.thread[i]];
  if (counts.empty()) return;
  const uint32_t main = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
                          return a.second < b.second;
                        })->first;
  std::set<uint32_t> busy;  // a thread 0 that has operators is one
  for (size_t i = 0; i < ranges.size(); ++i) busy.insert(ranges.thread[i]);
  for (size_t i = 0; i < frames.size(); ++i)
    if (trace.threads[frames.thread[i]].tid == 0 && !busy.contains(frames.thread[i]))
      frames.thread.Set(i, main);
}

// Which process made the call of a correlation id, where calls of several are recorded and the id is one's.
std::map<int64_t, uint32_t> ProcessesOfCalls(const Trace& trace) {
  std::map<int64_t, uint32_t> processes;
  const ApiCalls& calls = trace.api_calls;
  const auto process = [&](size_t i) { return trace.threads[calls.thread[i]].process; };
  size_t other = 1;
  while (other < calls.size() && process(other) == process(0)) ++other;
  if (other >= calls.size()) return processes;
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto [known, is_new] = processes.try_emplace(calls.correlation[i], process(i));
    if (!is_new && known->second != process(i)) known->second = kNoIndex;
  }
  processes.erase(kNoCorrelation);
  return processes;
}

void SetProcess(Trace& trace) {
  if (trace.processes.empty()) trace.processes.push_back({});  // GPU work alone
  const uint32_t host =
      std::min<uint32_t>(HostProcess(trace), static_cast<uint32_t>(trace.processes.size()) - 1);
  const std::map<int64_t, uint32_t> callers = ProcessesOfCalls(trace);
  const auto set = [&](IndexColumn& process, const IntColumn& correlation) {
    for (size_t i = 0; i < process.size(); ++i) {
      const auto caller = callers.find(correlation[i]);
      process.Set(i, caller != callers.end() && caller->second != kNoIndex ? caller->second : host);
    }
  };
  for (GpuOperations* ops :
       {static_cast<GpuOperations*>(&trace.kernels), static_cast<GpuOperations*>(&trace.copies),
        static_cast<GpuOperations*>(&trace.sets)})
    set(ops->process, ops->correlation);
  set(trace.syncs.process, trace.syncs.correlation);
  set(trace.cuda_events.process, trace.cuda_events.correlation);
  std::fill(trace.memory_events.process.begin(), trace.memory_events.process.end(), host);
}

bool IsAmd(const Trace& trace) {
  return std::any_of(trace.api_calls.name.begin(), trace.api_calls.name.end(),
                     [&](NameId name) { return trace.names.View(name).starts_with("hip"); });
}

// AMD's events number devices by agents, the allocator from 0: where both name one device, it is the same.
void GiveMemoryItsDevice(Trace& trace) {
  std::set<uint32_t> working, allocating;
  for (const IndexColumn* used : {&trace.kernels.device, &trace.copies.device, &trace.sets.device})
    for (size_t i = 0; i < used->size(); ++i) working.insert((*used)[i]);
  for (const uint32_t device : trace.memory_events.device)
    if (device != kNoIndex) allocating.insert(device);
  if (working.size() != 1 || allocating.size() != 1) return;
  for (uint32_t& device : trace.memory_events.device)
    if (device != kNoIndex) device = *working.begin();
}

// "thread 5617 (python3)" -> "python3".
std::string ThreadName(const std::string& text) {
  const size_t open = text.find('('), close = text.rfind(')');
  if (text.starts_with("thread ") && open != std::string::npos && close != std::string::npos && open < close)
    return text.substr(open + 1, close - open - 1);
  return text;
}

void SetNames(const Batch& batch, Trace& trace) {
  for (Process& process : trace.processes)
    if (const auto name = batch.process_names.find(process.pid); name != batch.process_names.end())
      process.name = name->second;
  for (Thread& thread : trace.threads) {
    const auto name = batch.thread_names.find({trace.processes[thread.process].pid, thread.tid});
    if (name != batch.thread_names.end()) thread.name = ThreadName(name->second);
  }
}

// Of operators, calls and frames that begin together, the longest encloses the others. Traces list what ended
// first before what encloses it, or after it, by version.
void Sort(Trace& trace) {
  const std::vector<std::function<void()>> tables = {
      [&] { SortByStartLongestFirst(trace.ranges); },
      [&] { SortByStart(trace.kernels); },
      [&] { SortByStartLongestFirst(trace.api_calls); },
      [&] { SortByStartLongestFirst(trace.frames); },
      [&] { SortByStart(trace.memory_events); },
      [&] {
        SortByStart(trace.copies);
        SortByStart(trace.sets);
        SortByStart(trace.syncs);
        SortByStart(trace.overheads);
        SortByStart(trace.cuda_events);
        SortByStart(trace.gpu_metrics);
      },
  };
  ParallelFor(tables.size(), [&](size_t i) { tables[i](); });
}

void NoteWhatIsMissing(const Batch& batch, Trace& trace) {
  std::vector<std::string>& notes = trace.health.notes;
  const auto rows = [&](std::string_view category) {
    const auto found = batch.rows_read.find(std::string(category));
    return found == batch.rows_read.end() ? 0 : found->second;
  };
  if (const auto ranges = rows("cuda_profiler_range"); ranges > 0) {
    notes.push_back("The trace holds hardware counters of kernels instead of their times.");
    trace.facts["counter_ranges"] = std::to_string(ranges);
  }
  if (const std::string_view accelerator = AcceleratorOf(batch.process_names); !accelerator.empty()) {
    trace.facts["accelerator"] = accelerator;
    batch.npu.Describe(trace);
  }
  const auto launches = [&](NameId name) {
    return trace.names.View(name).find("Launch") != std::string_view::npos;
  };
  if (trace.kernels.size() == 0 && std::ranges::any_of(trace.api_calls.name, launches))
    notes.push_back(
        "The trace has CUDA calls but no kernels: the profiler could not record GPU activity. Only one "
        "profiler "
        "may use CUPTI at a time; its messages on the standard error name the reason.");
}

void DescribeDialect(const GpuDialect& dialect, const std::string& frame, Trace& trace) {
  for (const char* fact : {"profiler", "framework"}) trace.facts.erase(fact);
  if (!dialect.profiler.empty()) trace.facts["profiler"] = dialect.profiler;
  if (!dialect.framework.empty()) trace.facts["framework"] = dialect.framework;
  if (trace.format == "rocprof") ReadAgents(frame, trace);
}

// A log may begin "[2024-05-01 12:00:00] ..." or "{'loss': ...".
bool LooksLikeJson(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = head.find_first_not_of(kBlanks);
  if (first == std::string_view::npos || (head[first] != '{' && head[first] != '[')) return false;
  const size_t second = head.find_first_not_of(kBlanks, first + 1);
  if (second == std::string_view::npos) return true;
  const char next = head[second];
  if (head[first] == '{') return next != '\'';
  // Of an array of records; "[\x1b[36m2025-02-13" colours the line of a log.
  return next == '{' || next == '[' || next == ']' || next == '"';
}

// A record a line, as loggers write them: no trace.
bool LooksLikeJsonLines(std::string_view head) {
  const std::string_view first = head.substr(0, head.find('\n'));
  if (first.size() < 2 || first.size() == head.size()) return false;
  const size_t end = first.find_last_not_of(" \t\r");
  return first.front() == '{' && end != std::string_view::npos && first[end] == '}' &&
         head.substr(first.size() + 1).starts_with('{');
}

// Of events that are of no kind which any importer reads.
[[noreturn]] void RefuseUnknown(const ByteSource& source, const Batch& batch) {
  std::string found;
  for (const auto& [category, count] : batch.rows_read)
    found += fmt::format("{}{} ({})", found.empty() ? "" : ", ", category.empty() ? "no category" : category,
                         count);
  // The profiler's own span: it was on.
  if (batch.rows_read.size() == 1 && batch.rows_read.contains("Trace"))
    throw WrongKind(
        source.name(),
        "a trace of PyTorch's profiler in which it recorded nothing: no operator, call or kernel",
        "see that its schedule becomes active (prof.step() after every iteration, for more than skip_first "
        "+ "
        "wait + warmup of them, or no schedule), and that the work runs in this process between the "
        "profiler's start and its stop");
  if (const auto other = OtherTraceOf(batch.process_names))
    throw WrongKind(source.name(), std::string(other->what), std::string(other->next_step));
  // Records of something else: a trace of one array has events, if it is not cut before the first.
  const std::string_view head = source.Head();
  if (batch.rows_read.empty() && head.starts_with('[') && head.find('{') != head.npos &&
      head.find("\"ph\"") == head.npos)
    throw WrongKind(source.name(), "JSON without an event of a trace", std::string(kineto::kGiveATrace));
  throw WrongKind(
      source.name(),
      "a Chrome trace without events of PyTorch's profiler (looked for the categories cpu_op, kernel, "
      "cuda_runtime, user_annotation and others; found " +
          (found.empty() ? std::string("no event that has a duration") : found) + ")",
      "record it with torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])");
}

// What a program or an unknown profiler marked: spans on tracks.
void BecomeSpans(Batch& batch, std::optional<int64_t> base) {
  Trace& trace = batch.trace;
  const bool of_onnx_runtime = std::ranges::any_of(batch.spans.all(), [&](const Span& span) {
    return trace.names.View(span.category) == "Session" &&
           trace.names.View(span.name) == "session_initialization";
  });
  ReadProgramSpans(batch);
  ProgramSpans& spans = trace.program_spans;
  if (spans.empty()) return;
  trace.format = "span trace";
  for (const char* fact : {"framework", "profiler"}) {
    trace.facts.erase(fact);
    if (of_onnx_runtime) trace.facts[fact] = "ONNX Runtime";
  }
  const Ns origin = *std::ranges::min_element(spans.start), end = *std::ranges::max_element(spans.end);
  for (std::vector<Ns>* times : {&spans.start, &spans.end})
    for (Ns& time : *times) time -= origin;
  trace.session_duration_ns = end - origin;
  if (base.value_or(0) + origin > kYear2000) trace.clock_origin_utc_ns = base.value_or(0) + origin;
  if (spans.never_ended > 0)
    trace.health.notes.push_back(
        fmt::format("{} of its spans begin and do not end: they were left out.", spans.never_ended));
}

Trace ReadTrace(ByteSource& source) {
  auto reader = std::make_unique<Reader>(source, EventText::Cut::kGuessed);
  std::unique_ptr<Batch> batch = reader->Read();
  if (!batch) {
    if (!source.Rewind())
      throw Error(source.name(), "has events that cannot be separated in one pass",
                  "save the trace to a file");
    reader = std::make_unique<Reader>(source, EventText::Cut::kExact);
    batch = reader->Read();
  }
  Trace& trace = batch->trace;
  trace.path = source.name();
  trace.format = "kineto";
  const GpuDialect* dialect = FirstTime(trace) ? nullptr : ReadGpuDialect(*batch);
  if (dialect) trace.format = dialect->format;
  if (IsAmd(trace)) {
    GiveMemoryItsDevice(trace);
    for (Device& device : trace.devices) device.amd = true;
  }
  DropUnusedDevices(trace);
  SortDevices(trace);
  const std::optional<int64_t> base = ReadFrame(reader->text().Frame(), trace);
  if (dialect) DescribeDialect(*dialect, reader->text().Frame(), trace);

  const std::optional<Ns> first = FirstTime(trace);
  if (!first && !OtherTraceOf(batch->process_names)) BecomeSpans(*batch, base);
  if (!first && trace.program_spans.empty() && batch->rows_read.empty() &&
      (!source.damage().empty() || reader->text().IsTruncated()))
    throw WrongKind(
        source.name(), "a Chrome trace that ends before its first event does",
        "copy it again, or record it again to its end: a program that is killed, or a disk that is "
        "full, cuts it");
  if (!first && trace.program_spans.empty()) RefuseUnknown(source, *batch);
  trace.health.rows_read = batch->rows_read;
  if (first) trace.health.rows_skipped = batch->rows_skipped;
  if (first) trace.health.rows_unknown = batch->rows_unknown;
  trace.health.truncated = !source.damage().empty() || reader->text().IsTruncated();
  if (trace.health.truncated)
    trace.health.notes.push_back(fmt::format("The trace ends early{}{}: only what comes before was read.",
                                             source.damage().empty() ? "" : " as ", source.damage()));
  if (!first) return std::move(trace);
  SetNames(*batch, trace);
  batch->launches.Correlate(trace);
  SetProcess(trace);
  batch->launches.Describe(trace, batch->tables);
  GiveFramesTheirThread(trace);
  Sort(trace);
  NameCollectivesByRanges(trace, batch->tables);
  SortDevices(trace);
  if (!batch->legacy_gpu.empty() && trace.kernels.size() == 0)
    trace.summary_tables.push_back(OperatorTotals(trace, batch->legacy_gpu));
  SetOrigin(trace, *first);
  if (base.value_or(0) + *first > kYear2000) trace.clock_origin_utc_ns = base.value_or(0) + *first;
  if (batch->span_start != kUnknown) trace.session_duration_ns = batch->span_end - batch->span_start;
  NoteWhatIsMissing(*batch, trace);
  return std::move(trace);
}

}  // namespace

constinit const Importer kKinetoImporter = {
    .in_list = "trace of PyTorch's profiler (.json, .json.gz, - for the standard input)",
    .extensions = ".json .json.gz",
    .more_extensions = ".gz",
    .fits =
        [](const Input& input) {
          return LooksLikeJson(input.head()) && !LooksLikeJsonLines(input.head()) ? Importer::Fit::kYes
                                                                                  : Importer::Fit::kNo;
        },
    .read = [](Input& input) { return std::optional(ReadTrace(input.bytes())); },
};

}  // namespace dladvisor
