// SPDX-License-Identifier: Apache-2.0
#include "src/trace/error_remedy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dladvisor {
namespace {
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
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
  // A worker may die of many things, and a server that is not up is no download.
  EXPECT_EQ(ErrorRemedy("RuntimeError: DataLoader worker (pid(s) 12345) exited unexpectedly"), "");
  EXPECT_EQ(ErrorRemedy("RuntimeError: DataLoader worker (pid 7) is killed by signal: Segmentation fault."),
            "");
  EXPECT_THAT(ErrorRemedy("RuntimeError: DataLoader worker (pid 7) is killed by signal: Bus error."),
              HasSubstr("shared memory"));
  EXPECT_THAT(
      ErrorRemedy("RuntimeError: unable to write to file </torch_12_34>: No space left on device (28)"),
      HasSubstr("shared memory"));
  EXPECT_EQ(
      ErrorRemedy("ConnectionError: HTTPConnectionPool(host='localhost', port=8000): Max retries exceeded"),
      "");
  EXPECT_EQ(ErrorRemedy("the process died: illegal instruction"), "");
  EXPECT_THAT(ErrorRemedy("RuntimeError: CUDA error: an illegal memory access was encountered"),
              AllOf(HasSubstr("compute-sanitizer"), Not(HasSubstr("index"))));
  EXPECT_THAT(ErrorRemedy("RuntimeError: CUDA error: device-side assert triggered"),
              StartsWith("Read the assertion"));
  EXPECT_THAT(ErrorRemedy("RuntimeError: probability tensor contains either `inf`, `nan` or element < 0"),
              HasSubstr("no numbers"));
  EXPECT_THAT(ErrorRemedy("InductorError: RuntimeError: Failed to find C compiler"), HasSubstr("gcc"));
  EXPECT_THAT(ErrorRemedy("torch._inductor.exc.InductorError: KeyError: 's1'"),
              StartsWith("Run it without compilation"));
  EXPECT_THAT(ErrorRemedy("OutOfResources: out of resource: shared memory, Required: 114688"),
              HasSubstr("smaller tiles"));
  EXPECT_THAT(ErrorRemedy("XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 12"),
              HasSubstr("XLA_PYTHON_CLIENT_MEM_FRACTION"));
  EXPECT_EQ(ErrorRemedy("RpcError: RESOURCE_EXHAUSTED: Received message larger than max"), "");
  EXPECT_THAT(ErrorRemedy("ImportError: libgomp.so.1: cannot allocate memory in static TLS block"),
              HasSubstr("LD_PRELOAD"));
  EXPECT_THAT(ErrorRemedy("OSError: [Errno 98] Address already in use"), HasSubstr("--port of a server"));
  // What the error's words tell better.
  EXPECT_EQ(ErrorRemedy("AttributeError: no such argument"), "");
  EXPECT_EQ(ErrorRemedy(""), "");
}

}  // namespace
}  // namespace dladvisor
