// SPDX-License-Identifier: Apache-2.0
// How long requests wait in the queue of a server before it works on them, as it prints of each (TGI, servers
// of one's own: "queue_time="2.88s" inference_time="5.08s""), in lines of metrics (TorchServe), or in sums
// that it exposes (/metrics of Triton, vLLM and TGI).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "src/trace/program_output.h"

namespace dladvisor::training_log {

class QueueLinesReader {
 public:
  // Whether the line tells of a queue.
  bool Line(std::string_view line);
  void AddTo(ProgramOutput& output) const;

 private:
  struct Sum {
    double ns = 0;
    int64_t count = 0;
    void Add(double value) {
      ns += value;
      ++count;
    }
  };
  bool OfRequest(std::string_view line);
  bool OfTorchServe(std::string_view line);
  bool OfMetrics(std::string_view line);

  ProgramWait requests_;
  Sum queue_, handler_;  // of TorchServe
  // Of what servers expose: waited, in all, requests.
  std::array<double, 3> exposed_{};
};

}  // namespace dladvisor::training_log
