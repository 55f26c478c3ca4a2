#include "src/trace/event_relations.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace dladvisor {
namespace {

using Getter = std::function<CellView(size_t row)>;

class EventRelation final : public Relation {
 public:
  EventRelation(std::string name, std::string doc, size_t rows, const std::vector<Ns>* sorted)
      : schema_{std::move(name), std::move(doc), {}, {}}, rows_(rows) {
    sorted_ = sorted && std::is_sorted(sorted->begin(), sorted->end());
  }

  EventRelation& Add(std::string name, Type type, Unit unit, std::string doc, Getter get,
                     bool nullable = false) {
    schema_.columns.push_back({std::move(name), type, unit, std::move(doc), nullable, ""});
    getters_.push_back(std::move(get));
    return *this;
  }

  const Schema& schema() const override { return schema_; }
  size_t rows() const override { return rows_; }
  CellView At(size_t row, size_t column) const override { return getters_[column](row); }
  std::optional<size_t> SortedColumn() const override {
    return sorted_ ? std::optional<size_t>(0) : std::nullopt;  // start_ns is always the first column
  }
  RowEstimate EstimatedRows() const override { return {.rows = static_cast<double>(rows_)}; }

 private:
  Schema schema_;
  size_t rows_;
  bool sorted_;
  std::vector<Getter> getters_;
};

// Builds the relations of one trace; every method adds the columns that a kind of event shares.
class Builder {
 public:
  explicit Builder(const Trace& trace) : trace_(trace) {}

  std::vector<std::unique_ptr<Relation>> Build() {
    AddKernels();
    AddCopies();
    AddSets();
    AddGraphs();
    AddApiCalls();
    AddSyncs();
    AddRanges();
    AddFrames();
    AddOsCalls();
    AddOverheads();
    AddMemoryEvents();
    AddCpuSamples();
    AddCpuRuns();
    AddMpiCalls();
    AddPageFaults();
    AddGpuSamples();
    AddNetworkSamples();
    AddTelemetrySamples();
    return std::move(relations_);
  }

 private:
  static constexpr Unit kNs = Unit::kNanoseconds;

  EventRelation& New(std::string name, std::string doc, size_t rows, const std::vector<Ns>* sorted) {
    auto relation = std::make_unique<EventRelation>(std::move(name), std::move(doc), rows, sorted);
    EventRelation& added = *relation;
    relations_.push_back(std::move(relation));
    return added;
  }

  template <class Column>
  static Getter Integer(const Column& values) {
    return [&values](size_t i) { return CellView::Of(static_cast<int64_t>(values[i])); };
  }

  Getter Name(const std::vector<NameId>& ids) {
    return [this_trace = &trace_, &ids](size_t i) { return CellView::Of(this_trace->names.View(ids[i])); };
  }

  EventRelation& Times(EventRelation& r, const std::vector<Ns>& start, const std::vector<Ns>& end) {
    return r.Add("start_ns", Type::kInteger, kNs, "Start on the profile's clock.", Integer(start))
        .Add("end_ns", Type::kInteger, kNs, "End on the profile's clock.", Integer(end))
        .Add("duration_ns", Type::kInteger, kNs, "End minus start.",
             [&start, &end](size_t i) { return CellView::Of(end[i] - start[i]); });
  }

  Getter Pid(const std::vector<uint32_t>& process) {
    return [t = &trace_, &process](size_t i) {
      return process[i] == kNoIndex ? CellView::Null() : CellView::Of(t->processes[process[i]].pid);
    };
  }

  // Of a column that is empty where the source has none.
  Getter Tid(const std::vector<uint32_t>& thread) {
    return [t = &trace_, &thread](size_t i) {
      return thread.empty() || thread[i] == kNoIndex ? CellView::Null()
                                                     : CellView::Of(t->threads[thread[i]].tid);
    };
  }

  Getter Ordinal(const std::vector<uint32_t>& device) {
    return [t = &trace_, &device](size_t i) {
      return device[i] == kNoIndex ? CellView::Null() : CellView::Of(t->devices[device[i]].ordinal);
    };
  }

  EventRelation& GpuColumns(EventRelation& r, const GpuOps& ops) {
    return Times(r, ops.start, ops.end)
        .Add("pid", Type::kInteger, Unit::kNone, "Process that launched it.", Pid(ops.process), true)
        .Add("device", Type::kInteger, Unit::kNone, "CUDA device ordinal.", Ordinal(ops.device), true)
        .Add("stream", Type::kInteger, Unit::kNone, "CUDA stream.", Integer(ops.stream))
        .Add("correlation", Type::kInteger, Unit::kNone, "Joins with api_call of the same pid.",
             Integer(ops.correlation));
  }

  EventRelation& ThreadColumns(EventRelation& r, const std::vector<uint32_t>& thread) {
    const Trace* t = &trace_;
    return r
        .Add(
            "pid", Type::kInteger, Unit::kNone, "Process.",
            [t, &thread](size_t i) {
              const uint32_t p = thread[i] == kNoIndex ? kNoIndex : t->threads[thread[i]].process;
              return p == kNoIndex ? CellView::Null() : CellView::Of(t->processes[p].pid);
            },
            true)
        .Add("tid", Type::kInteger, Unit::kNone, "Thread.", Tid(thread), true);
  }

  void AddKernels() {
    const Kernels& k = trace_.kernels;
    GpuColumns(New("kernel", "One row per kernel execution.", k.size(), &k.start), k)
        .Add("name", Type::kText, Unit::kText, "Demangled name.", Name(k.name))
        .Add("short_name", Type::kText, Unit::kText, "Name without template arguments.", Name(k.short_name))
        .Add("grid", Type::kInteger, Unit::kCount, "Thread blocks.", Integer(k.grid))
        .Add("block", Type::kInteger, Unit::kCount, "Threads per block.", Integer(k.block))
        .Add("registers", Type::kInteger, Unit::kCount, "Registers per thread.", Integer(k.registers))
        .Add("shared_bytes", Type::kInteger, Unit::kBytes, "Shared memory per block.",
             Integer(k.shared_bytes));
  }

  void AddCopies() {
    const Copies& c = trace_.copies;
    GpuColumns(New("memcpy", "One row per memory copy.", c.size(), &c.start), c)
        .Add("bytes", Type::kInteger, Unit::kBytes, "Bytes copied.", Integer(c.bytes))
        .Add("direction", Type::kText, Unit::kText, "Direction, e.g. host-to-device.",
             [&c](size_t i) { return CellView::Of(CopyDirectionName(c.direction[i])); })
        .Add("source", Type::kText, Unit::kText, "Kind of the source memory.",
             [&c](size_t i) { return CellView::Of(MemoryKindName(c.source[i])); })
        .Add("destination", Type::kText, Unit::kText, "Kind of the destination memory.",
             [&c](size_t i) { return CellView::Of(MemoryKindName(c.destination[i])); });
  }

  void AddSets() {
    const Sets& s = trace_.sets;
    GpuColumns(New("memset", "One row per memory set.", s.size(), &s.start), s)
        .Add("bytes", Type::kInteger, Unit::kBytes, "Bytes set.", Integer(s.bytes));
  }

  void AddGraphs() {
    const GraphLaunches& g = trace_.graph_launches;
    GpuColumns(New("graph_launch", "One row per CUDA graph launch traced as a whole.", g.size(), &g.start), g)
        .Add("graph", Type::kInteger, Unit::kNone, "Graph exec id.", Integer(g.graph));
  }

  void AddApiCalls() {
    const ApiCalls& a = trace_.api_calls;
    ThreadColumns(Times(New("api_call", "One row per CUDA runtime or driver call.", a.size(), &a.start),
                        a.start, a.end),
                  a.thread)
        .Add("name", Type::kText, Unit::kText, "Function, as recorded.", Name(a.name))
        .Add("correlation", Type::kInteger, Unit::kNone, "Joins with GPU work of the same pid.",
             Integer(a.correlation))
        .Add("result", Type::kInteger, Unit::kNone, "CUDA status; 0 is success.", Integer(a.result));
  }

  void AddSyncs() {
    const Syncs& s = trace_.syncs;
    Times(New("sync", "One row per synchronisation activity.", s.size(), &s.start), s.start, s.end)
        .Add("pid", Type::kInteger, Unit::kNone, "Process.", Pid(s.process), true)
        .Add("device", Type::kInteger, Unit::kNone, "CUDA device ordinal.", Ordinal(s.device), true)
        .Add("stream", Type::kInteger, Unit::kNone, "CUDA stream.", Integer(s.stream))
        .Add("kind", Type::kText, Unit::kText, "event, stream-wait-event, stream or context.",
             [&s](size_t i) { return CellView::Of(SyncKindName(s.kind[i])); });
  }

  void AddRanges() {
    const Ranges& r = trace_.ranges;
    ThreadColumns(Times(New("range", "One row per annotation of the program (NVTX, framework operator).",
                            r.size(), &r.start),
                        r.start, r.end),
                  r.thread)
        .Add("name", Type::kText, Unit::kText, "Text of the annotation.", Name(r.name))
        .Add("domain", Type::kText, Unit::kText, "NVTX domain, empty for the default one.", Name(r.domain))
        .Add("style", Type::kText, Unit::kText, "PushPop, StartEnd or Mark.",
             [&r](size_t i) {
               return CellView::Of(std::string_view(r.kind[i] == RangeKind::kPushPop    ? "PushPop"
                                                    : r.kind[i] == RangeKind::kStartEnd ? "StartEnd"
                                                                                        : "Mark"));
             })
        .Add("open", Type::kInteger, Unit::kNone, "1 where the range was never closed.", Integer(r.open))
        .Add("shapes", Type::kText, Unit::kText, "Shapes of an operator's arguments, in JSON.",
             Argument(&OpArguments::shapes), true)
        .Add("types", Type::kText, Unit::kText, "Types of an operator's arguments, in JSON.",
             Argument(&OpArguments::types), true)
        .Add(
            "sequence", Type::kInteger, Unit::kNone,
            "Autograd's number, which a forward operator and its backward share.",
            [&r](size_t i) {
              return r.sequence.size() == 0 || r.sequence[i] < 0 ? CellView::Null()
                                                                 : CellView::Of(r.sequence[i]);
            },
            true);
  }

  Getter Argument(NameId OpArguments::*field) {
    return [t = &trace_, field](size_t i) {
      if (t->ranges.arguments.size() == 0) return CellView::Null();
      const NameId name = t->op_arguments[static_cast<size_t>(t->ranges.arguments[i])].*field;
      return name == kNoName ? CellView::Null() : CellView::Of(t->names.View(name));
    };
  }

  void AddFrames() {
    const Frames& f = trace_.frames;
    ThreadColumns(Times(New("python_frame", "One row per call of a Python function, where they were traced.",
                            f.size(), &f.start),
                        f.start, f.end),
                  f.thread)
        .Add("name", Type::kText, Unit::kText, "File, line and function.", Name(f.name));
  }

  void AddOsCalls() {
    const OsCalls& o = trace_.os_calls;
    ThreadColumns(Times(New("os_call", "One row per traced operating-system call.", o.size(), &o.start),
                        o.start, o.end),
                  o.thread)
        .Add("name", Type::kText, Unit::kText, "Function.", Name(o.name))
        .Add("callers", Type::kText, Unit::kText, "What called it, innermost first; unknown for short calls.",
             Chain(o.chain, o.chains, 0, kMostFrames), true);
  }

  void AddOverheads() {
    const Overheads& o = trace_.overheads;
    ThreadColumns(
        Times(New("overhead", "One row per interval that the profiler itself took.", o.size(), &o.start),
              o.start, o.end),
        o.thread)
        .Add("name", Type::kText, Unit::kText, "What the profiler did.", Name(o.name));
  }

  // A column that may be absent, or -1 where it does not tell.
  static Getter Total(const std::vector<int64_t>& values) {
    return [&values](size_t i) {
      return values.empty() || values[i] < 0 ? CellView::Null() : CellView::Of(values[i]);
    };
  }

  void AddMemoryEvents() {
    const MemoryEvents& m = trace_.memory_events;
    New("memory_event", "One row per allocation (positive) or free (negative) of memory.", m.size(), &m.time)
        .Add("start_ns", Type::kInteger, kNs, "Time on the profile's clock.", Integer(m.time))
        .Add("pid", Type::kInteger, Unit::kNone, "Process.", Pid(m.process), true)
        .Add("tid", Type::kInteger, Unit::kNone, "Thread that it was recorded on, where the profiler tells.",
             Tid(m.thread), true)
        .Add("device", Type::kInteger, Unit::kNone, "CUDA device ordinal.", Ordinal(m.device), true)
        .Add("bytes", Type::kInteger, Unit::kBytes, "Bytes allocated; negative where freed.",
             Integer(m.bytes))
        .Add("memory", Type::kText, Unit::kText, "Kind of memory.",
             [&m](size_t i) { return CellView::Of(MemoryKindName(m.memory[i])); })
        .Add("allocated_bytes", Type::kInteger, Unit::kBytes,
             "What PyTorch's tensors take on the device then.", Total(m.allocated), true)
        .Add("reserved_bytes", Type::kInteger, Unit::kBytes, "What its allocator has reserved there.",
             Total(m.reserved), true);
  }

  // Frames of a call chain from `first` on, innermost first, as one text. The texts are made once: a cell is
  // a view.
  Getter Chain(const std::vector<uint32_t>& chain, const CallChains& chains, size_t first, size_t last) {
    const auto texts = std::make_shared<std::vector<std::string>>();
    for (const std::vector<NameId>& frames : chains) {
      std::string& text = texts->emplace_back();
      for (size_t i = first; i < std::min(last, frames.size()); ++i)
        text.append(i > first ? " < " : "").append(trace_.names.View(frames[i]));
    }
    return [texts, &chain](size_t i) {
      return chain[i] == kNoIndex || (*texts)[chain[i]].empty() ? CellView::Null()
                                                                : CellView::Of((*texts)[chain[i]]);
    };
  }

  void AddCpuSamples() {
    const CpuSamples& s = trace_.cpu_samples;
    ThreadColumns(New("cpu_sample", "One row per sample of what a thread executed.", s.size(), &s.time)
                      .Add("start_ns", Type::kInteger, kNs, "Time on the profile's clock.", Integer(s.time)),
                  s.thread)
        .Add("function", Type::kText, Unit::kText, "Function that was executed.",
             Chain(s.chain, s.chains, 0, 1), true)
        .Add("callers", Type::kText, Unit::kText, "What called it, innermost first.",
             Chain(s.chain, s.chains, 1, kMostFrames), true);
  }

  void AddCpuRuns() {
    const CpuRuns& r = trace_.cpu_runs;
    ThreadColumns(Times(New("cpu_run", "One row per time that a thread was on a CPU.", r.size(), &r.start),
                        r.start, r.end),
                  r.thread)
        .Add("cpu", Type::kInteger, Unit::kNone, "CPU.", Integer(r.cpu));
  }

  void AddMpiCalls() {
    const MpiCalls& m = trace_.mpi_calls;
    ThreadColumns(Times(New("mpi_call", "One row per call of MPI, UCX or OpenSHMEM.", m.size(), &m.start),
                        m.start, m.end),
                  m.thread)
        .Add("name", Type::kText, Unit::kText, "Function.", Name(m.name))
        .Add(
            "bytes", Type::kInteger, Unit::kBytes, "Size of the message.",
            [&m](size_t i) { return m.bytes[i] < 0 ? CellView::Null() : CellView::Of(m.bytes[i]); }, true);
  }

  void AddPageFaults() {
    const PageFaults& f = trace_.page_faults;
    Times(New("page_fault", "One row per page-fault event of unified memory.", f.size(), &f.start), f.start,
          f.end)
        .Add("pid", Type::kInteger, Unit::kNone, "Process.", Pid(f.process), true)
        .Add("device", Type::kInteger, Unit::kNone, "CUDA device ordinal; unknown for faults of the CPU.",
             Ordinal(f.device), true)
        .Add("faults", Type::kInteger, Unit::kCount, "Page faults.", Integer(f.faults));
  }

  static Getter Real(const std::vector<double>& values) {
    return [&values](size_t i) { return CellView::Of(values[i]); };
  }

  void AddGpuSamples() {
    const GpuMetrics& g = trace_.gpu_metrics;
    New("gpu_sample", "One row per sample of a GPU's hardware counter.", g.size(), &g.time)
        .Add("start_ns", Type::kInteger, kNs, "Time on the profile's clock.", Integer(g.time))
        .Add("device", Type::kInteger, Unit::kNone, "CUDA device ordinal.", Ordinal(g.device), true)
        .Add("metric", Type::kText, Unit::kText, "Metric, as the profiler names it.", Name(g.metric))
        .Add("value", Type::kReal, Unit::kNone, "Value, in the metric's own unit.", Real(g.value));
  }

  void AddNetworkSamples() {
    const NetworkMetrics& n = trace_.network_metrics;
    New("network_sample", "One row per sample of a network adapter's counter.", n.size(), &n.time)
        .Add("start_ns", Type::kInteger, kNs, "Time on the profile's clock.", Integer(n.time))
        .Add("adapter", Type::kText, Unit::kText, "Network adapter; empty where not known.", Name(n.adapter))
        .Add("metric", Type::kText, Unit::kText, "Metric, as the profiler names it.", Name(n.metric))
        .Add("value", Type::kReal, Unit::kNone, "Value, in the metric's own unit.", Real(n.value));
  }

  void AddTelemetrySamples() {
    const Telemetry& t = trace_.telemetry;
    const bool timed = t.size() > 0 && t.time.front() >= 0;
    New("telemetry_sample", "One row per sample of what nvidia-smi tells of a GPU.", t.size(),
        timed ? &t.time : nullptr)
        .Add(
            "start_ns", Type::kInteger, kNs, "Time since the first sample; unknown where the log tells none.",
            [&t](size_t i) { return t.time[i] < 0 ? CellView::Null() : CellView::Of(t.time[i]); }, true)
        .Add("sample", Type::kInteger, Unit::kNone, "Metrics that were read together share it.",
             Integer(t.sample))
        .Add("device", Type::kInteger, Unit::kNone, "Index of the GPU, as nvidia-smi numbers it.",
             Ordinal(t.device), true)
        .Add("metric", Type::kText, Unit::kText, "Metric, as in telemetry.",
             [&t](size_t i) { return CellView::Of(TelemetryMetricName(t.metric[i])); })
        .Add("value", Type::kReal, Unit::kNone, "Value, in the metric's base unit.", Real(t.value));
  }

  static constexpr size_t kMostFrames = 64;
  const Trace& trace_;
  std::vector<std::unique_ptr<Relation>> relations_;
};

}  // namespace

std::vector<std::unique_ptr<Relation>> EventRelations(const Trace& trace) { return Builder(trace).Build(); }

}  // namespace dladvisor
