// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/named_gpu_work.h"

#include <re2/re2.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dladvisor::kineto {
namespace {

re2::StringPiece PieceOf(std::string_view text) { return {text.data(), text.size()}; }

enum class Named { kNothing, kTransfer, kSet, kKernel, kLibraryKernel, kCall };

char SideOf(const std::string& word) {
  return word[0] == 'H' || word[0] == 'h' ? 'H' : word[0] == 'P' || word[0] == 'p' ? 'P' : 'D';
}

// "Memcpy HtoD" of "[MEMCPY] HtoD", "[CUDA memcpy Host-to-Device]", "MemcpyHtoD" and "memcpy h2d".
std::optional<std::string> CopyOf(std::string_view name) {
  static const RE2 copy(
      R"((?i)^\[?(?:(?:CUDA|HIP|GPU) )?memcpy(?:async)?\]?[ :_-]*\(?(host|device|peer|h|d|p)[ _-]*(?:to|2)[ _-]*(host|device|peer|h|d|p)(?:$|[^a-z]))");
  std::string from, to;
  if (!RE2::PartialMatch(PieceOf(name), copy, &from, &to)) return std::nullopt;
  return std::string("Memcpy ") + SideOf(from) + "to" + SideOf(to);
}

Named WhatIsNamed(std::string_view name) {
  static const RE2 set(
      R"((?i)^\[(?:(?:CUDA|HIP|GPU) )?memset\]|^(?:CUDA|HIP|GPU) memset\b|^memset \((?:device|managed|unknown)\)$)");
  static const RE2 call(R"(^(cuda|cu|hip|nccl)[A-Z]\w*$)");
  static const RE2 library(
      R"(\bat::native::|\bat_cuda_detail::|\bcutlass(::|_)|\bcub::|\bthrust::cuda|\bcudnn::|^(void )?(volta|turing|ampere|maxwell|pascal|hopper|sm\d\d)_\w+_|^nccl(Dev)?Kernel|^triton_|^nvjet_|^Cijk_)");
  static const RE2 kernel(
      R"(^(void|__global__) .*\)( \[clone .*\])?$|^\w*[kK]ernel\w*(<.*>)?\(.*\)$|^_Z\w+$)");
  if (CopyOf(name)) return Named::kTransfer;
  if (RE2::PartialMatch(PieceOf(name), set)) return Named::kSet;
  if (RE2::PartialMatch(PieceOf(name), call)) return Named::kCall;
  if (RE2::PartialMatch(PieceOf(name), library)) return Named::kLibraryKernel;
  return RE2::PartialMatch(PieceOf(name), kernel) ? Named::kKernel : Named::kNothing;
}

// The number of "Device 0", "run.sqlite Device 0", "GPU 1" and "Stream 7".
std::optional<int64_t> NumberAfter(std::string_view text, const RE2& word) {
  int64_t number = 0;
  return RE2::PartialMatch(PieceOf(text), word, &number) ? std::optional(number) : std::nullopt;
}
std::optional<int64_t> DeviceOf(std::string_view text) {
  static const RE2 device(R"((?i)(?:^|[^a-z])(?:device|gpu)[ #:]*(\d{1,4})$)");
  return NumberAfter(text, device);
}
std::optional<int64_t> StreamOf(std::string_view text) {
  static const RE2 stream(R"((?i)^stream[ #:]*(\d{1,9})$)");
  return NumberAfter(text, stream);
}

Ns EndOfSpan(const Span& span) {
  constexpr Ns kLast = std::numeric_limits<Ns>::max();
  return span.duration > 0 && span.start > kLast - span.duration ? kLast : span.start + span.duration;
}

// As profilers write it, and not a program of its own copies: "[MEMCPY] HtoD", "CUDA memcpy DtoH", "Memcpy
// HtoD (Pageable -> Device)".
bool IsOfAProfiler(std::string_view copy) {
  return copy.starts_with('[') || copy.starts_with("CUDA ") || copy.starts_with("HIP ") ||
         copy.find(" -> ") != std::string_view::npos;
}

// What viewers show as one track.
struct Track {
  std::string process, thread;
  int64_t spans = 0, copies = 0, of_profilers = 0, kernels = 0, of_libraries = 0, calls = 0;
  std::vector<std::pair<Ns, Ns>> times;
  bool of_stream = false, is_gpu = false, of_cuda = false;  // by the category of its spans

  bool OnlyGpuNames() const { return spans > 0 && copies + kernels == spans; }

  // A stream does one thing after the other; functions of a host call each other.
  bool IsOneAfterTheOther() {
    constexpr Ns kRounding = 2000;
    std::ranges::sort(times);
    int64_t within = 0;
    for (size_t i = 1; i < times.size(); ++i) within += times[i].first + kRounding < times[i - 1].second;
    return 50 * within <= spans;
  }
};

class NamedGpuWork {
 public:
  explicit NamedGpuWork(Batch& batch) : batch_(batch) {}

  bool Find() {
    for (const Span& span : batch_.spans.all()) {
      if (span.phase != 'X') continue;
      Track& track = TrackOf(span);
      const Named named = NamedBy(span.name);
      ++track.spans;
      track.copies += named == Named::kTransfer || named == Named::kSet;
      track.of_profilers +=
          named == Named::kSet || (named == Named::kTransfer && IsOfAProfiler(Text(span.name)));
      track.kernels += named == Named::kKernel || named == Named::kLibraryKernel;
      track.of_libraries += named == Named::kLibraryKernel;
      track.calls += named == Named::kCall;
      track.of_cuda = track.of_cuda || Text(span.category) == "cuda" || Text(span.category) == "kernel";
      track.times.emplace_back(span.start, EndOfSpan(span));
    }
    for (auto& [place, track] : tracks_) {
      track.of_stream = StreamOf(track.thread) && DeviceOf(track.process) &&
                        (track.copies + track.kernels > 0 || track.of_cuda) && track.IsOneAfterTheOther();
      track.is_gpu = track.of_stream || IsGpuByNames(track);
      found_ = found_ || (track.is_gpu && track.kernels > 0) || track.of_stream;
    }
    // Copies may have a track of their own.
    for (auto& [place, track] : tracks_)
      if (found_ && track.OnlyGpuNames() && track.IsOneAfterTheOther()) track.is_gpu = true;
    return found_;
  }

  void Read() {
    for (const Span& span : batch_.spans.all()) {
      // What kernels of a range take together, as tools show it beside the kernels.
      if (span.phase != 'X' || Text(span.category) == "nvtx-kernel") continue;
      const Track& track = TrackOf(span);
      std::string copy;
      Event e = EventOf(span, track, copy);
      if (track.is_gpu) {
        e.device = DeviceOf(track.process).value_or(0);
        e.stream = StreamOf(track.thread).value_or(std::max<int64_t>(WholeNumber(Text(span.tid)), 0));
      }
      batch_.Add(e);
    }
  }

 private:
  // Programs call functions and stages of their own by names of kernels and copies, too.
  static bool IsGpuByNames(Track& track) {
    return track.kernels > 0 && track.OnlyGpuNames() &&
           (track.of_profilers > 0 || 2 * track.of_libraries >= track.kernels) && track.IsOneAfterTheOther();
  }

  std::string_view Text(NameId id) const { return batch_.trace.names.View(id); }

  Named NamedBy(NameId name) {
    const auto [known, is_new] = named_.try_emplace(name, Named::kNothing);
    if (is_new) known->second = WhatIsNamed(Text(name));
    return known->second;
  }

  Track& TrackOf(const Span& span) {
    const auto [known, is_new] = tracks_.try_emplace({span.pid, span.tid});
    Track& track = known->second;
    if (!is_new) return track;
    track.process = Text(span.pid);
    track.thread = Text(span.tid);
    const int64_t pid = WholeNumber(track.process), tid = WholeNumber(track.thread);
    if (const auto name = batch_.process_names.find(pid); name != batch_.process_names.end())
      track.process = name->second;
    if (const auto name = batch_.thread_names.find({pid, tid}); name != batch_.thread_names.end())
      track.thread = name->second;
    return track;
  }

  Event EventOf(const Span& span, const Track& track, std::string& copy) {
    Event e;
    e.phase = 'X';
    e.name = Text(span.name);
    e.pid = Text(span.pid);
    e.tid = Text(span.tid);
    e.start = span.start;
    e.duration = span.duration;
    const Named named = NamedBy(span.name);
    e.category = !track.is_gpu               ? track.calls == track.spans ? "cuda_runtime" : "user_annotation"
                 : named == Named::kTransfer ? "gpu_memcpy"
                 : named == Named::kSet      ? "gpu_memset"
                                             : "kernel";
    if (track.is_gpu && named == Named::kTransfer) e.name = copy = *CopyOf(e.name);
    return e;
  }

  Batch& batch_;
  std::map<std::pair<NameId, NameId>, Track> tracks_;
  std::unordered_map<NameId, Named> named_;
  bool found_ = false;
};

}  // namespace

bool ReadNamedGpuWork(Batch& batch) {
  NamedGpuWork work(batch);
  if (!work.Find()) return false;
  batch.rows_read.clear();
  batch.rows_skipped.clear();
  batch.rows_unknown.clear();
  batch.texts_are_plain = true;
  work.Read();
  return true;
}

}  // namespace dladvisor::kineto
