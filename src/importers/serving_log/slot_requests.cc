// SPDX-License-Identifier: Apache-2.0
#include "src/importers/serving_log/slot_requests.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dladvisor::serving_log {
namespace {

constexpr size_t kMostRequests = 1'000'000, kMostSlots = 4096;

}  // namespace

void SlotRequests::Launch(int64_t slot) {
  if (requests_.size() >= kMostRequests || (in_slot_.size() >= kMostSlots && !in_slot_.contains(slot)))
    return;
  if (const auto before = in_slot_.find(slot); before != in_slot_.end()) Close(before->second);
  in_slot_[slot] = requests_.size();
  events_.push_back({requests_.size(), true});
  requests_.emplace_back();
}

void SlotRequests::Close(size_t request) {
  if (std::exchange(requests_[request].closed, true)) return;
  events_.push_back({request, false});
}

void SlotRequests::Release(int64_t slot) {
  const auto found = in_slot_.find(slot);
  if (found == in_slot_.end()) return;
  Request& request = requests_[found->second];
  if (unnamed_ && !request.times) request.times = std::exchange(unnamed_, std::nullopt);
  Close(found->second);
}

void SlotRequests::Times(std::optional<int64_t> slot, const RequestTimes& times) {
  const auto found = slot ? in_slot_.find(*slot) : in_slot_.end();
  if (found == in_slot_.end()) {
    unnamed_ = times;
    return;
  }
  Request& request = requests_[found->second];
  if (!request.times) request.times = times;
  Close(found->second);
}

void SlotRequests::AddTo(ServingLog& log) const {
  // A clock of its own, which runs as long as what each request took demands, and the time per open request
  // on it.
  double now = 0, shared = 0;
  int64_t open = 0;
  std::vector<std::pair<double, double>> begins(requests_.size());
  for (const Event& event : events_) {
    if (event.begins) {
      begins[event.request] = {now, shared};
      ++open;
      continue;
    }
    const auto& times = requests_[event.request].times;
    const auto [began, shared_then] = begins[event.request];
    const double end = std::max(now, began + (times ? times->ns : 0));
    shared += (end - now) / static_cast<double>(open);
    now = end;
    --open;
    const double lasts = shared - shared_then;
    if (!times || !(lasts > 0)) continue;
    ServingSample sample;
    sample.running = std::max<int64_t>(1, std::llround((end - began) / lasts));
    sample.prompt_tokens_per_second = times->prompt_tokens * 1e9 / lasts;
    sample.generated_tokens_per_second = times->tokens * 1e9 / lasts;
    sample.lasts_ns = lasts;
    log.samples.push_back(std::move(sample));
  }
}

}  // namespace dladvisor::serving_log
