// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/program/program_error.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

namespace dladvisor::training_log {
namespace {

std::string Repeated(std::string_view line, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += line;
  return text;
}

std::string ErrorOf(std::string_view printed, bool did_nothing = false) {
  return ProgramError(std::array{printed}, did_nothing);
}

std::string ErrorOfBoth(std::string_view standard_output, std::string_view standard_error) {
  return ProgramError(std::array{standard_output, standard_error}, false);
}

constexpr std::string_view kTraceback =
    "Traceback (most recent call last):\n  File \"a.py\", line 7, in <module>\n    import b\n";

TEST(ProgramError, PythonEndsWithAnException) {
  EXPECT_EQ(ErrorOf(std::string(kTraceback) + "ImportError: no module named b\n"),
            "ImportError: no module named b");
  EXPECT_EQ(ErrorOf(std::string(kTraceback) + "KeyboardInterrupt\n\n"), "KeyboardInterrupt");
  EXPECT_EQ(ErrorOf("python3: can't open file 'b.py': [Errno 2] No such file or directory"),
            "can't open file 'b.py': [Errno 2] No such file or directory");
}

TEST(ProgramError, TheFirstExceptionOfAChainIsItsCause) {
  EXPECT_EQ(ErrorOf(std::string(kTraceback) + "OSError: libnvvm.so: cannot open shared object file\n\n" +
                    "During handling of the above exception, another exception occurred:\n\n" +
                    std::string(kTraceback) + Repeated("  File \"c.py\", line 1, in f\n    f()\n", 20) +
                    "numba.error.NvvmSupportError: libNVVM cannot be found\n"),
            "OSError: libnvvm.so: cannot open shared object file");
}

TEST(ProgramError, WhatAProgramGoesOnFromIsNone) {
  const std::string error = std::string(kTraceback) + "ModuleNotFoundError: No module named flash_attn\n";
  for (const char* other : {"step 1 loss 2.0\n", "", "Done with setting up\n", "not finished\n"})
    EXPECT_NE(ErrorOfBoth(other, error), "") << other;
  for (const char* other :
       {"All steps done, 12.3 img/s\n", "finished epoch 3\nwrote out/model.pt\n", "Done.\n"})
    EXPECT_EQ(ErrorOfBoth(other, error), "") << other;
  EXPECT_EQ(ErrorOf(error + Repeated("step done\n", 5)), "");
  EXPECT_EQ(ErrorOf(error + "falling back to sdpa\n"), "");
  EXPECT_EQ(ErrorOf(error + "step 1 loss 2.0\nsaved model.pt\n"), "");
  EXPECT_EQ(ErrorOfBoth("step 1 loss 2.0\nTraining finished\n", error), "");
  EXPECT_EQ(ErrorOf("CUDA error: an illegal memory access was encountered\n" + Repeated("step\n", 30)), "");
}

TEST(ProgramError, MoreMayFollowWhereNothingWasDone) {
  const std::string printed =
      std::string(kTraceback) + "ImportError: no module named b\n" + Repeated("rank 1 is stopped\n", 9);
  EXPECT_EQ(ErrorOf(printed, true), "ImportError: no module named b");
  EXPECT_EQ(ErrorOf(printed, false), "");
}

TEST(ProgramError, JuliaEndsWithAnErrorAndItsFrames) {
  const std::string
      error = "ERROR: LoadError: SystemError: opening file \"setup.jl\": No such file or directory\n",
      frames = "Stacktrace:\n [1] include(mapexpr::Function)\n   @ Base ./Base.jl:307\n" +
               Repeated(" [2] top-level scope\n   @ ~/a.jl:1\n", 20) +
               "in expression starting at /home/a.jl:1\n";
  const std::string words = "LoadError: SystemError: opening file \"setup.jl\": No such file or directory";
  EXPECT_EQ(ErrorOf("step 1\n" + error + frames), words);
  EXPECT_EQ(ErrorOf(error + "maybe it lies elsewhere\n" + frames), words);
  EXPECT_EQ(ErrorOf(error + frames + "julia> 1\n"), "") << "a session goes on";
  EXPECT_EQ(ErrorOf(error), "");
  EXPECT_EQ(ErrorOf("step 1\n" + frames), "");
}

TEST(ProgramError, CompiledProgramsEndWithWordsOfTheirRuntime) {
  EXPECT_EQ(
      ErrorOf("terminate called after throwing an instance of 'std::runtime_error'\n  what():  bad size\n"),
      "bad size");
  EXPECT_EQ(ErrorOf("terminate called after throwing an instance of 'int'\n"), "an instance of 'int'");
  EXPECT_EQ(ErrorOf("Accelerator Fatal Error: Failed to find device function 'f'\n File: a.cpp\n Line: 62\n"),
            "Accelerator Fatal Error: Failed to find device function 'f'");
  EXPECT_EQ(
      ErrorOf("./a.out: error while loading shared libraries: libcudart.so.12: cannot open shared object "
              "file: No such file or directory"),
      "error while loading shared libraries: libcudart.so.12: cannot open shared object file: No such "
      "file or directory");
  EXPECT_EQ(ErrorOf("[n1:7] *** Process received signal ***\n[n1:7] Signal: Segmentation fault (11)\n"),
            "Segmentation fault (11)");
  EXPECT_EQ(ErrorOf("GPUassert: out of memory main.cu 12"), "GPUassert: out of memory main.cu 12");
}

TEST(ProgramError, ResultsAreNoErrors) {
  for (const char* result :
       {"Max error: 0", "Error (L2norm): 4.26E-11", "CUDA error: 1.2e-6", "CUDA error: no error",
        "The error between CPU and GPU: 1.7e+03", "cuda error checking enabled", "error: 0.5",
        "Last CUDA error: cudaSuccess", "CUDA error vs CPU reference: 1.2e-07 max", "CUDA error count: 0",
        "HIP error code 0: all tests OK", "Assertion tests: 0 failed", "Fatal error count: 0 in 12 runs",
        "  what():  CUDA error caught and handled, retry ok", "CUBLAS_STATUS_SUCCESS",
        "ERROR: ld.so: object 'libx.so' from LD_PRELOAD cannot be preloaded: ignored."})
    EXPECT_EQ(ErrorOf(result, true), "") << result;
}

TEST(ProgramError, LastWordsCountOfAProgramThatDidNothing) {
  constexpr std::string_view kPrinted = "loading\n ERROR: Input file not found!\n   Missing: a.bin\n";
  EXPECT_EQ(ErrorOf(kPrinted, true), "Input file not found");
  EXPECT_EQ(ErrorOf(kPrinted, false), "");
  EXPECT_EQ(ErrorOf("rank 6 caught exception with message: bad string\n", true), "bad string");
}

TEST(ProgramError, SoDoesWhatSuchAProgramWasGivenAndCouldNotUse) {
  const std::string printed = "\x1b[0;31mURI -- failed to parse device ID from /dev/video\n\x1b[0m" +
                              Repeated("  -- width: 1920\n", 40);
  EXPECT_EQ(ErrorOf(printed, true), "URI -- failed to parse device ID from /dev/video");
  EXPECT_EQ(ErrorOf(printed, false), "");
  EXPECT_EQ(ErrorOf("Could not open input.mtx for reading\nusage: run FILE\nexit\nbye\n", true),
            "Could not open input.mtx for reading");
  EXPECT_EQ(ErrorOf("failed to load optional plugin x\na\nb\nc\nd\n", true), "");
  EXPECT_EQ(ErrorOf("warning: cannot open cache\na\nb\nc\nd\n", true), "");
}

TEST(ProgramError, IsOneShortLineOfValidText) {
  const std::string error = ErrorOf(std::string(kTraceback) + "ValueError: a\tb\xff\n");
  EXPECT_EQ(error, "ValueError: a b\xEF\xBF\xBD");
  EXPECT_LT(ErrorOf("Fatal error: " + std::string(2000, 'x')).size(), 210u);
  EXPECT_EQ(ErrorOf("Fatal error: " + std::string(100'000, 'x')), "");
  EXPECT_EQ(ErrorOf(""), "");
}

}  // namespace
}  // namespace dladvisor::training_log
