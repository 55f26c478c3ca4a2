// SPDX-License-Identifier: Apache-2.0
// The processes that read profiles together: this one alone, or all of an MPI job, each of which reads its
// share and sends the first what it found. All must call the same functions in the same order.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dladvisor {

class Team {
 public:
  virtual ~Team() = default;
  virtual size_t rank() const = 0;
  virtual size_t size() const = 0;
  // What every process gives, in order of rank, on the first; nothing on the others.
  virtual std::vector<std::string> Gather(std::string bytes) = 0;
  // What the first gives, on all.
  virtual std::string Share(std::string bytes) = 0;
  // Of a process that fails alone: ends all, which would wait for it. Returns on a process that is alone.
  virtual void Abandon() = 0;
};

// This process alone.
class Alone final : public Team {
 public:
  size_t rank() const override { return 0; }
  size_t size() const override { return 1; }
  std::vector<std::string> Gather(std::string bytes) override { return {std::move(bytes)}; }
  std::string Share(std::string bytes) override { return bytes; }
  void Abandon() override {}
};

// All processes that mpirun or srun started; of all but the first, standard error is silent. One per program.
// Throws Error where this program was built without MPI.
std::unique_ptr<Team> MpiTeam();

}  // namespace dladvisor
