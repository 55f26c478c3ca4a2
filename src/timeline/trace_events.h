// SPDX-License-Identifier: Apache-2.0
// Steps of profiles as a file that ui.perfetto.dev and chrome://tracing open, in the Trace Event Format
// (Google, "Trace Event Format", 2016). Each GPU and each host process of a rank is a process of the file:
// - of a GPU a track for each stream, one for idle time by its cause, the steps with their ledger, and the
//   length of its queue: operations that were launched and have not begun;
// - of the host a track for each thread, with its ranges and CUDA calls, from which arrows lead to kernels;
// - of a job, for each GPU, how long its collectives wait for the rank that comes last;
// - the findings, each over the steps.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/advice.h"
#include "src/analysis/context/context.h"
#include "src/analysis/timeline/gpu_timeline.h"

namespace dladvisor {

class TraceEvents {
 public:
  // `origin` is time 0 of the file on the common clock. With `one_group` the collectives are those of all
  // ranks, so that the n-th of each is the same one; else who waits for whom is not drawn.
  TraceEvents(Ns origin, bool one_group) : origin_(origin), one_group_(one_group) {}

  // Of each rank of the job the number of a step by when it begins on the clock of its profile.
  using StepsByRank = std::map<int64_t, std::map<Ns, int64_t>>;

  // These steps, or the analysed window where none are given. The first rank of the profile is `first_rank`
  // of the job; `shift` by rank of the job is what makes its clock the common one.
  void Add(const Context& context, const std::vector<GpuTimeline>& timelines, const StepsByRank& steps,
           int64_t first_rank, const std::map<int64_t, Ns>& shift);

  // Those that fired and that nothing else explains, of each rule the first.
  void AddFindings(const Advice& advice);

  // The whole file, a JSON object.
  std::string Finish();

 private:
  struct Collective {
    Ns start = 0, end = 0;
  };
  // A GPU, to tell who waits for whom.
  struct GpuCollectives {
    int64_t process = 0;
    std::vector<Collective> collectives;  // in order of start
  };

  void NameProcess(int64_t process, const std::string& name);
  void NameThread(int64_t process, int64_t thread, const std::string& name);
  // `name` is JSON; `arguments` are members of a JSON object, or "".
  void Slice(int64_t process, int64_t thread, Interval time, const std::string& name, const char* category,
             const std::string& arguments = "");
  void AddGpu(const Context& context, const GpuTimeline& timeline, size_t gpu, Interval time,
              const std::map<Ns, int64_t>& steps, int64_t process, int64_t host, Ns shift);
  struct Point {
    int64_t process = 0, thread = 0;
    Ns time = 0;
  };
  // From a call to what it launches.
  void AddArrow(const Point& from, const Point& to);
  void AddIdle(const GpuTimeline& timeline, Interval time, int64_t process, Ns shift);
  void AddSteps(const GpuTimeline& timeline, Interval time, const std::map<Ns, int64_t>& steps,
                int64_t process, Ns shift);
  // How many operations are launched and wait, by when that rises or falls.
  void AddQueue(std::vector<std::pair<Ns, int>> changes, int64_t process);
  void AddHost(const Context& context, uint32_t of_process, Interval time, int64_t process, Ns shift);
  void AddWaiting();
  void Loose(int64_t process, int64_t thread, Interval time, const std::string& name);
  // The track of a thread, numbered from 1: readers of the format take no large numbers.
  int64_t HostTrack(const Trace& trace, int64_t process, uint32_t thread);
  std::string Begin();

  Ns origin_;
  bool one_group_;
  Interval covered_{0, 0};
  std::string events_;
  int64_t processes_ = 0, ids_ = 0;
  std::map<std::pair<int64_t, uint32_t>, int64_t> host_tracks_;  // by process of the file and thread
  std::vector<GpuCollectives> gpus_;
};

// gzip, as `.json.gz` has it.
std::string Gzip(const std::string& text);

}  // namespace dladvisor
