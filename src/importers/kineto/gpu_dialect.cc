// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/gpu_dialect.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/importers/kineto/named_gpu_work.h"

namespace dladvisor::kineto {
namespace {

constexpr GpuDialect kRocprof = {.format = "rocprof", .profiler = "rocprof", .framework = ""};
constexpr GpuDialect kTimeline = {
    .format = "timeline", .profiler = "TensorFlow's timeline", .framework = "TensorFlow"};
constexpr GpuDialect kGpuTrace = {.format = "gpu trace", .profiler = "", .framework = ""};

// Of what rocprof names its processes.
constexpr std::string_view kHip = "CPU HIP API", kHsa = "CPU HSA API", kCopy = "COPY";

std::optional<int64_t> NumberIn(std::string_view text) {
  int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

// The name of the process that a span is shown in.
std::string_view ProcessOf(const Batch& batch, const Span& span) {
  const auto pid = NumberIn(batch.trace.names.View(span.pid));
  const auto name = pid ? batch.process_names.find(*pid) : batch.process_names.end();
  return name == batch.process_names.end() ? std::string_view() : name->second;
}

class Dialect {
 public:
  explicit Dialect(Batch& batch) : batch_(batch) {}

  std::string_view Text(NameId id) const { return batch_.trace.names.View(id); }
  std::string_view ProcessOf(const Span& span) const { return dladvisor::kineto::ProcessOf(batch_, span); }
  const std::vector<Span>& spans() const { return batch_.spans.all(); }

 protected:
  // An event of a category of PyTorch's profiler with what a span has.
  Event EventOf(const Span& span, std::string_view category) const {
    Event e;
    e.phase = 'X';
    e.category = category;
    e.name = Text(span.name);
    e.pid = Text(span.pid);
    e.tid = Text(span.tid);
    e.start = span.start;
    e.duration = span.duration;
    return e;
  }
  void Add(const Event& event) { batch_.Add(event); }

  Batch& batch_;
};

class Rocprof : public Dialect {
 public:
  using Dialect::Dialect;

  static bool Wrote(const Batch& batch) {
    const auto named = [&](std::string_view name) {
      return std::ranges::any_of(batch.process_names,
                                 [&](const auto& process) { return process.second == name; });
    };
    return named(kHip) || named(kHsa) ||
           (named(kCopy) && std::ranges::any_of(batch.process_names, [](const auto& process) {
              return GpuOf(process.second).has_value();
            }));
  }

  void Read() {
    const bool has_hip = std::ranges::any_of(spans(), [&](const Span& s) { return ProcessOf(s) == kHip; });
    FollowArrows(has_hip ? kHip : kHsa);
    exact_times_are_of_one_clock_ = ExactTimesAreOfOneClock();
    for (size_t i = 0; i < spans().size(); ++i)
      if (spans()[i].phase == 'X') Read(i, has_hip);
  }

 private:
  static std::optional<int64_t> GpuOf(std::string_view process) {
    return process.starts_with("GPU") ? NumberIn(process.substr(3)) : std::nullopt;
  }

  static bool HasExactTimes(const Span& span) {
    return span.exact_start != kUnknown && span.exact_end >= span.exact_start;
  }

  // Whether exact times differ from those in microseconds by the same, and by nothing where some spans have
  // none.
  bool ExactTimesAreOfOneClock() const {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    bool all = true;
    for (const Span& span : spans()) {
      if (span.phase != 'X') continue;
      all = all && HasExactTimes(span);
      if (!HasExactTimes(span)) continue;
      const double ahead = static_cast<double>(span.exact_start) - static_cast<double>(span.start);
      least = std::min(least, ahead);
      most = std::max(most, ahead);
    }
    constexpr double kRounding = 2000;  // ns
    return most - least <= kRounding && (all || std::max(-least, most) <= kRounding);
  }

  // An arrow begins within the call and ends where the work that it launched begins, in microseconds.
  void FollowArrows(std::string_view calling) {
    using Place = std::pair<NameId, NameId>;
    std::map<Place, std::vector<std::pair<Ns, size_t>>> calls;
    std::map<std::pair<Place, Ns>, std::vector<size_t>> work;
    for (size_t i = 0; i < spans().size(); ++i) {
      const Span& span = spans()[i];
      if (span.phase != 'X') continue;
      const std::string_view process = ProcessOf(span);
      if (process == calling)
        calls[{span.pid, span.tid}].emplace_back(span.start, i);
      else if (process == kCopy || GpuOf(process))
        work[{{span.pid, span.tid}, span.start}].push_back(i);
    }
    for (auto& [place, list] : calls) std::ranges::sort(list);
    for (auto& [place, list] : work) std::ranges::reverse(list);  // the first is taken from the end

    std::map<NameId, size_t> begun;
    for (const Span& arrow : spans()) {
      if (arrow.phase != 's') continue;
      const auto list = calls.find({arrow.pid, arrow.tid});
      if (list == calls.end()) continue;
      auto at = std::upper_bound(list->second.begin(), list->second.end(),
                                 std::pair(arrow.start, std::numeric_limits<size_t>::max()));
      constexpr Ns kMicrosecond = 1000;
      if (at == list->second.begin()) continue;
      const Span& call = spans()[(--at)->second];
      if (arrow.start <= call.start + call.duration + kMicrosecond) begun[arrow.id] = at->second;
    }
    for (const Span& arrow : spans()) {
      if (arrow.phase != 't') continue;
      const auto call = begun.find(arrow.id);
      const auto found = work.find({{arrow.pid, arrow.tid}, arrow.start});
      if (call == begun.end() || found == work.end() || found->second.empty()) continue;
      const auto number = correlation_.try_emplace(call->second, correlation_.size() + 1).first->second;
      correlation_[found->second.back()] = number;
      found->second.pop_back();
    }
  }

  void Read(size_t i, bool has_hip) {
    const Span& span = spans()[i];
    const std::string_view process = ProcessOf(span);
    const std::optional<int64_t> gpu = GpuOf(process);
    const std::string_view category = process == kHip || (process == kHsa && !has_hip) ? "hip_runtime"
                                      : process == kCopy                               ? "gpu_memcpy"
                                      : gpu                                            ? "kernel"
                                      : process == "Markers and Ranges"                ? "user_annotation"
                                                                                       : "";
    if (category.empty() || Text(span.name).starts_with('<')) return;  // "<barrier packet>"
    Event e = EventOf(span, category);
    if (exact_times_are_of_one_clock_ && HasExactTimes(span)) {
      e.start = span.exact_start;
      e.duration = span.exact_end - span.exact_start;
    }
    if (const auto number = correlation_.find(i); number != correlation_.end())
      e.correlation = static_cast<int64_t>(number->second);
    if (gpu || process == kCopy) {
      e.device = gpu ? *gpu : std::max<int64_t>(0, span.device);
      e.stream = span.stream;
      return Add(e);
    }
    if (span.calling_process != kNoName) e.pid = Text(span.calling_process);
    if (span.calling_thread != kNoName) e.tid = Text(span.calling_thread);
    ReadArguments(Text(span.arguments), e);
    Add(e);
  }

  // "( dst(0x7f) src(0x7e) sizeBytes(24) kind(1))", "( kernel(k) numBlocks({z(1) y(1) x(8}) dimBlocks(...)
  // ...)".
  static void ReadArguments(std::string_view text, Event& e) {
    static const RE2 bytes(R"(\bsizeBytes\((\d+)\))");
    static const RE2 shape(
        R"(\bnumBlocks\(\{z\((\d+)\) y\((\d+)\) x\((\d+)\D+dimBlocks\(\{z\((\d+)\) y\((\d+)\) x\((\d+))");
    RE2::PartialMatch(Piece(text), bytes, &e.requested);
    e.has_shape = RE2::PartialMatch(Piece(text), shape, &e.grid[2], &e.grid[1], &e.grid[0], &e.block[2],
                                    &e.block[1], &e.block[0]);
  }

  std::map<size_t, size_t> correlation_;  // by span
  bool exact_times_are_of_one_clock_ = false;
};

class Timeline : public Dialect {
 public:
  using Dialect::Dialect;

  static bool Wrote(const Batch& batch) {
    const StringPool& names = batch.trace.names;
    const NameId op = names.Find("Op");
    return std::ranges::any_of(batch.spans.all(), [&](const Span& s) {
      return s.phase == 'X' && s.category == op &&
             dladvisor::kineto::ProcessOf(batch, s).ends_with(" Compute");
    });
  }

  void Read() {
    // Lists each kernel on its stream and on "stream:all", each copy on its stream and on "memcpy".
    std::set<int64_t> by_stream;  // devices
    static const RE2 of_gpu(R"((?i)\bgpu:\d)");
    if (std::ranges::none_of(batch_.process_names,
                             [](const auto& process) { return RE2::PartialMatch(process.second, of_gpu); }))
      batch_.trace.facts["listed_gpus"] = "0";
    for (const Span& span : spans())
      if (const Track track = TrackOf(span); track.gpu && track.stream) by_stream.insert(*track.gpu);
    for (const Span& span : spans()) {
      if (span.phase != 'X') continue;
      const Track track = TrackOf(span);
      if (track.is_host) {
        if (!IsNoOperator(Text(span.name))) Add(EventOf(span, "cpu_op"));
      } else if (track.gpu && (by_stream.contains(*track.gpu) ? track.stream.has_value() : track.is_all)) {
        const std::string_view name = Text(span.name);
        Event e = EventOf(span, name.starts_with("MEMCPY")   ? "gpu_memcpy"
                                : name.starts_with("MEMSET") ? "gpu_memset"
                                                             : "kernel");
        e.device = *track.gpu;
        e.stream = track.stream.value_or(kUnknown);
        Add(e);
      }
    }
  }

 private:
  // Where the graph begins and ends, what waits for other operators alone, and the hand-over of tensors
  // between devices, whose receiving end waits until they are there.
  static bool IsNoOperator(std::string_view name) {
    static const RE2 none(R"(^(_SOURCE|_SINK|NoOp|_?(Host)?(Recv|Send)|RecvTensor\b.*)$)");
    return RE2::FullMatch(Piece(name), none);
  }

  struct Track {
    bool is_host = false, is_all = false;
    std::optional<int64_t> gpu, stream;
  };
  // "/device:GPU:0/stream:13 Compute", "/gpu:0/memcpy Compute", "/gpu:0/context#0/stream#1:Kernel Compute";
  // "/job:localhost/replica:0/task:0/device:GPU:0 Compute" is what the host does for that device.
  Track TrackOf(const Span& span) const {
    static const RE2 host(R"(/(?:device:)?(?i:[CG]PU):\d+ Compute$)");
    static const RE2 gpu(
        R"(^/(?:job:.*/)?(?:device:)?(?i:GPU):(\d+)/(?:.*/)?(stream[:#](\d+)|stream:all|memcpy)\b.* Compute$)");
    const std::string_view process = ProcessOf(span);
    Track track;
    int64_t number = 0;
    std::string lane, stream;
    if (RE2::PartialMatch(Piece(process), gpu, &number, &lane, &stream)) {
      track.gpu = number;
      track.stream = NumberIn(stream);
      track.is_all = !track.stream.has_value();
    } else {
      track.is_host = RE2::PartialMatch(Piece(process), host);
    }
    return track;
  }
};

// "AMDInstinctMI210" -> "AMD Instinct MI210".
std::string WithBlanks(std::string name) {
  RE2::Replace(&name, R"(^AMD(Instinct|Radeon)(Pro)?)", R"(AMD \1 \2 )");
  RE2::GlobalReplace(&name, " +", " ");
  return name;
}

}  // namespace

void ReadAgents(const std::string& frame, Trace& trace) {
  using nlohmann::json;
  const json root = json::parse(frame, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object() || !root.contains("otherData") || !root["otherData"].is_object()) return;
  std::map<int64_t, std::map<std::string, std::string>> agents;  // by number
  for (const auto& [key, value] : root["otherData"].items()) {
    int64_t number = 0;
    std::string what;
    if (value.is_string() && RE2::FullMatch(key, R"(Agent(\d+)\.(.+))", &number, &what))
      agents[number][what] = value.get<std::string>();
  }
  std::erase_if(agents, [](const auto& agent) {
    const auto type = agent.second.find("DeviceType");
    return type == agent.second.end() || type->second != "GPU";
  });
  const auto number = [](const std::map<std::string, std::string>& agent, const char* what) {
    const auto text = agent.find(what);
    int64_t value = 0;
    return text != agent.end() && RE2::PartialMatch(text->second, R"(^(\d+))", &value) ? std::optional(value)
                                                                                       : std::nullopt;
  };
  constexpr int64_t kKilobyte = 1024, kMegahertz = 1'000'000;
  for (Device& device : trace.devices)
    for (auto& [index, agent] : agents) {
      if (number(agent, "Node") != device.ordinal) continue;
      device.name = WithBlanks(agent["MarketingName"]);
      device.sm_count = number(agent, "ComputeUnit");
      device.uuid = agent["Uuid"];
      if (const auto size = number(agent, "PoolInfo.Pool1.Size")) device.memory_bytes = *size * kKilobyte;
      if (const auto clock = number(agent, "MaxClockFreq.(MHz)")) device.clock_hz = *clock * kMegahertz;
    }
  if (!agents.empty()) trace.facts["listed_gpus"] = std::to_string(agents.size());
}

const GpuDialect* ReadGpuDialect(Batch& batch) {
  const bool is_rocprof = Rocprof::Wrote(batch);
  if (!is_rocprof && !Timeline::Wrote(batch)) return ReadNamedGpuWork(batch) ? &kGpuTrace : nullptr;
  batch.rows_read.clear();
  batch.rows_skipped.clear();
  batch.rows_unknown.clear();
  batch.texts_are_plain = true;
  if (is_rocprof) {
    Rocprof(batch).Read();
    return &kRocprof;
  }
  Timeline(batch).Read();
  return &kTimeline;
}

}  // namespace dladvisor::kineto
