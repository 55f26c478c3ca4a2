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
#include <vector>

#include "engine/model/advice.h"
#include "src/analysis/context/context.h"
#include "src/analysis/timeline/gpu_timeline.h"

namespace dladvisor {

class TraceEvents {
 public:
  // `origin` is time 0 of the file on the common clock.
  explicit TraceEvents(Ns origin) : origin_(origin) {}

  // The steps with these numbers, or the analysed window where there are no steps. The first rank of the
  // profile is `first_rank` of the job; `shift` by rank of the job is what makes its clock the common one.
  void Add(const Context& context, const std::vector<GpuTimeline>& timelines,
           const std::vector<int64_t>& steps, int64_t first_rank, const std::map<int64_t, Ns>& shift);

  // Those that fired and that nothing else explains.
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
  void AddGpu(const Context& context, const GpuTimeline& timeline, size_t gpu, Interval time, int64_t process,
              int64_t host, Ns shift);
  void AddHost(const Context& context, uint32_t of_process, Interval time, int64_t process, Ns shift);
  void AddWaiting();
  std::string Begin();

  Ns origin_;
  Interval covered_{0, 0};
  std::string events_;
  int64_t processes_ = 0, arrows_ = 0;
  std::vector<GpuCollectives> gpus_;
};

// gzip, as `.json.gz` has it.
std::string Gzip(const std::string& text);

}  // namespace dladvisor
