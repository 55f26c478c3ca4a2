// SPDX-License-Identifier: Apache-2.0
#include "src/trace/error_remedy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dladvisor {
namespace {
using testing::HasSubstr;
using testing::StartsWith;

TEST(ErrorRemedy, ByTheWordsOfTheError) {
  EXPECT_THAT(ErrorRemedy("torch.OutOfMemoryError: Caught OutOfMemoryError in replica 0 on device 0"),
              StartsWith("Start a process for each GPU"));
  EXPECT_THAT(ErrorRemedy("torch.OutOfMemoryError: CUDA out of memory"),
              StartsWith("Let it need less memory"));
  EXPECT_THAT(ErrorRemedy("the system killed it: the job's host memory was full"), HasSubstr("host memory"));
  EXPECT_THAT(ErrorRemedy("MemoryError"), HasSubstr("host memory"));
  EXPECT_THAT(ErrorRemedy("RuntimeError: PassManager::run failed"), HasSubstr("another attention backend"));
  EXPECT_THAT(ErrorRemedy("OSError: [Errno 28] No space left on device"), StartsWith("Free space"));
  EXPECT_THAT(
      ErrorRemedy(
          "RuntimeError: [gloo/transport/tcp/pair.cc:547] Connection closed by peer [10.0.0.8]:29609"),
      HasSubstr("the other ranks"));
  EXPECT_THAT(ErrorRemedy("NCCL: a collective operation timed out (ALLREDUCE)"),
              HasSubstr("the other ranks"));
  EXPECT_EQ(
      ErrorRemedy("RuntimeError: zeros: negative size; NCCL: a collective operation timed out (COALESCED)"),
      "");
  // Of a download, or of another program's pipe.
  EXPECT_EQ(ErrorRemedy("ConnectionResetError: [Errno 104] Connection reset by peer"), "");
  EXPECT_EQ(ErrorRemedy("BrokenPipeError: [Errno 32] Broken pipe"), "");
  // What the error's words tell better.
  EXPECT_EQ(ErrorRemedy("AttributeError: no such argument"), "");
  EXPECT_EQ(ErrorRemedy(""), "");
}

}  // namespace
}  // namespace dladvisor
