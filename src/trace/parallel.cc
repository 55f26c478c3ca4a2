// SPDX-License-Identifier: Apache-2.0
#include "src/trace/parallel.h"

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <exception>
#include <vector>

#include "engine/base/cancellation.h"

#ifdef DLADVISOR_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace dladvisor {
namespace {

namespace tbb = oneapi::tbb;

// The thread sanitizer cannot see how the library hands work from thread to thread, since that is compiled
// without it; for the same reason this file is (see CMakeLists.txt). What comes before and after is declared
// here: everything before Publish() happens before what follows a later See().
class HandOver {
 public:
  void Publish() {
#ifdef DLADVISOR_THREAD_SANITIZER
    __tsan_release(this);
#endif
  }
  void See() {
#ifdef DLADVISOR_THREAD_SANITIZER
    __tsan_acquire(this);
#endif
  }
};

// What ran is not left by an exception: it would stop the others, and which one is thrown would be chance.
// Nothing begins once the work is cancelled.
template <class Work>
std::exception_ptr Try(Work work) {
  try {
    ThrowIfCancelled();
    work();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace

size_t ThreadCount() { return static_cast<size_t>(tbb::info::default_concurrency()); }

void ParallelFor(size_t count, const std::function<void(size_t)>& work) {
  std::vector<std::exception_ptr> errors(count);
  HandOver begin, end;
  begin.Publish();
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(
        size_t{0}, count,
        [&](size_t i) {
          begin.See();
          errors[i] = Try([&] { work(i); });
          end.Publish();
        },
        tbb::simple_partitioner());
  });
  end.See();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

void ParallelInOrder(const std::vector<std::vector<size_t>>& inputs,
                     const std::function<void(size_t)>& work) {
  struct Task {
    std::vector<size_t> followers;
    std::atomic<size_t> missing = 0;  // inputs
    std::exception_ptr error;
    HandOver done;
  };
  std::vector<Task> tasks(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    tasks[i].missing = inputs[i].size();
    for (const size_t input : inputs[i]) tasks[input].followers.push_back(i);
  }
  HandOver begin;
  begin.Publish();
  tbb::this_task_arena::isolate([&] {
    tbb::task_group group;
    // A task begins when its inputs are there, so that none ever waits for another.
    const std::function<void(size_t)> start = [&](size_t i) {
      group.run([&, i] {
        begin.See();
        for (const size_t input : inputs[i]) {
          tasks[input].done.See();
          if (tasks[input].error) tasks[i].error = tasks[input].error;
        }
        if (!tasks[i].error) tasks[i].error = Try([&] { work(i); });
        tasks[i].done.Publish();
        for (const size_t follower : tasks[i].followers)
          if (--tasks[follower].missing == 0) start(follower);
      });
    };
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].empty()) start(i);
    group.wait();
  });
  for (Task& task : tasks) task.done.See();
  for (const Task& task : tasks)
    if (task.error) std::rethrow_exception(task.error);
}

void ParallelPipeline(size_t slots, const std::function<bool(size_t)>& read,
                      const std::function<void(size_t)>& work, const std::function<void(size_t)>& take) {
  std::vector<std::exception_ptr> errors(slots);
  std::exception_ptr first_error;
  std::atomic<bool> stopped = false;
  std::vector<HandOver> slot_free(slots), item(slots);
  HandOver reading, taking;
  for (HandOver& free : slot_free) free.Publish();
  reading.Publish();
  taking.Publish();

  size_t next = 0;
  bool at_end = false;
  const auto read_item = [&](tbb::flow_control& control) {
    const size_t slot = next++ % slots;  // free: as many items as there are slots are on their way
    reading.See();
    slot_free[slot].See();
    at_end = at_end || stopped;
    errors[slot] = at_end ? nullptr : Try([&] { at_end = !read(slot); });
    item[slot].Publish();
    reading.Publish();
    if (at_end) control.stop();
    if (errors[slot]) at_end = true;  // this item is taken, and thrown, as the last
    return slot;
  };
  const auto work_on_item = [&](size_t slot) {
    item[slot].See();
    if (!stopped && !errors[slot]) errors[slot] = Try([&] { work(slot); });
    item[slot].Publish();
    return slot;
  };
  const auto take_item = [&](size_t slot) {
    item[slot].See();
    taking.See();
    if (!stopped && !errors[slot]) errors[slot] = Try([&] { take(slot); });
    if (!stopped && errors[slot]) {
      first_error = errors[slot];
      stopped = true;
    }
    taking.Publish();
    slot_free[slot].Publish();
  };
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_pipeline(slots,
                           tbb::make_filter<void, size_t>(tbb::filter_mode::serial_in_order, read_item) &
                               tbb::make_filter<size_t, size_t>(tbb::filter_mode::parallel, work_on_item) &
                               tbb::make_filter<size_t, void>(tbb::filter_mode::serial_in_order, take_item));
  });
  reading.See();
  taking.See();
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace dladvisor
