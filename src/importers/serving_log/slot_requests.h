// SPDX-License-Identifier: Apache-2.0
// Requests of llama.cpp's server, of which lines tell when each begins and ends, and what it took, but no
// time of day. Requests that run together end in lines one after the other: how many ran at once, and how
// fast all of them were, follows from what each took and the order of the lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "src/trace/serving_progress.h"

namespace dladvisor::serving_log {

struct RequestTimes {
  double ns = 0, prompt_tokens = 0, tokens = 0;
};

class SlotRequests {
 public:
  void Launch(int64_t slot);
  void Release(int64_t slot);
  // Of the request in `slot`, or of the one that ends next where no line names it.
  void Times(std::optional<int64_t> slot, const RequestTimes& times);
  bool any() const { return !requests_.empty(); }
  // A sample for each request whose times are known. It lasts for its part of the time that it shares with
  // others, so that all of them together last as long as the server worked.
  void AddTo(ServingLog& log) const;

 private:
  struct Request {
    std::optional<RequestTimes> times;
    bool closed = false;
  };
  struct Event {
    size_t request;
    bool begins;
  };
  void Close(size_t request);

  std::vector<Request> requests_;
  std::vector<Event> events_;
  std::map<int64_t, size_t> in_slot_;  // the latest request, which may have ended
  std::optional<RequestTimes> unnamed_;
};

}  // namespace dladvisor::serving_log
