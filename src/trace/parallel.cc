#include "src/trace/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace dladvisor {

size_t ThreadCount() {
  cpu_set_t allowed;  // taskset, Slurm and mpirun leave a process fewer than there are
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  return std::max(1U, std::thread::hardware_concurrency());
}

void ParallelFor(size_t count, const std::function<void(size_t)>& work) {
  std::vector<std::exception_ptr> errors(count);
  std::atomic<size_t> next{0};
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) try {
        work(i);
      } catch (...) {
        errors[i] = std::current_exception();
      }
  };
  {
    std::vector<std::jthread> helpers;
    for (size_t i = 1; i < std::min(count, ThreadCount()); ++i) helpers.emplace_back(run);
    run();
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace dladvisor
