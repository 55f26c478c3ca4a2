// SPDX-License-Identifier: Apache-2.0
#include "src/fleet/team.h"

#include "engine/base/error.h"

#ifdef DLADVISOR_WITH_MPI
#define OMPI_SKIP_MPICXX  // the C interface is all that is used
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#endif

namespace dladvisor {

#ifdef DLADVISOR_WITH_MPI
namespace {

constexpr int kSizes = 1, kBytes = 2;          // tags
constexpr size_t kMostPerMessage = 1UL << 30;  // counts are int

class AllOfMpi final : public Team {
 public:
  AllOfMpi() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    if (rank_ > 0 && !std::freopen("/dev/null", "w", stderr)) MPI_Abort(MPI_COMM_WORLD, 3);
  }
  ~AllOfMpi() override { MPI_Finalize(); }
  AllOfMpi(const AllOfMpi&) = delete;
  AllOfMpi& operator=(const AllOfMpi&) = delete;

  size_t rank() const override { return static_cast<size_t>(rank_); }
  size_t size() const override { return static_cast<size_t>(size_); }

  std::vector<std::string> Gather(std::string bytes) override {
    if (rank_ > 0) {
      const uint64_t length = bytes.size();
      MPI_Send(&length, 1, MPI_UINT64_T, 0, kSizes, MPI_COMM_WORLD);
      for (size_t at = 0; at < bytes.size(); at += kMostPerMessage)
        MPI_Send(bytes.data() + at, static_cast<int>(std::min(kMostPerMessage, bytes.size() - at)), MPI_BYTE,
                 0, kBytes, MPI_COMM_WORLD);
      return {};
    }
    std::vector<std::string> all(static_cast<size_t>(size_));
    all[0] = std::move(bytes);
    for (int other = 1; other < size_; ++other) {
      uint64_t length = 0;
      MPI_Recv(&length, 1, MPI_UINT64_T, other, kSizes, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      std::string& received = all[static_cast<size_t>(other)];
      received.resize(length);
      for (size_t at = 0; at < received.size(); at += kMostPerMessage)
        MPI_Recv(received.data() + at, static_cast<int>(std::min(kMostPerMessage, received.size() - at)),
                 MPI_BYTE, other, kBytes, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return all;
  }

  std::string Share(std::string bytes) override {
    uint64_t length = bytes.size();
    MPI_Bcast(&length, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    bytes.resize(length);
    for (size_t at = 0; at < bytes.size(); at += kMostPerMessage)
      MPI_Bcast(bytes.data() + at, static_cast<int>(std::min(kMostPerMessage, bytes.size() - at)), MPI_BYTE,
                0, MPI_COMM_WORLD);
    return bytes;
  }

  void Abandon() override { MPI_Abort(MPI_COMM_WORLD, 3); }

 private:
  int rank_ = 0, size_ = 1;
};

}  // namespace

std::unique_ptr<Team> MpiTeam() { return std::make_unique<AllOfMpi>(); }
#else
std::unique_ptr<Team> MpiTeam() {
  throw Error(
      "--mpi", "this program was built without MPI",
      "Build it with cmake -DDLADVISOR_MPI=ON (Debian: libopenmpi-dev), or write digests on each node and "
      "give these to `dladvisor report`.");
}
#endif

}  // namespace dladvisor
