// SPDX-License-Identifier: Apache-2.0
// Tables of a program's functions, as profilers of code print them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "src/trace/trace.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using testing::HasSubstr;

constexpr const char* kHeader = "\n   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n";

ProgramOutput OutputOf(const std::string& text) {
  const Trace trace = test::ReadLog(text);
  EXPECT_EQ(trace.format, "program log");
  return trace.program_output;
}

TEST(FunctionTables, LinesOfTheFunctionThatTakesMost) {
  const std::string header =
      "\nLine #      Hits         Time  Per Hit   % Time  Line Contents\n"
      "==============================================================\n";
  const ProgramOutput output =
      OutputOf("Timer unit: 1e-06 s\n\nTotal time: 0.9 s\nFile: a.py\nFunction: push at line 10\n" + header +
               "    10                                           @profile\n"
               "    11                                           def push(x):\n"
               "    12         5     700000.0 140000.0     77.8      y = torch.einsum('ij,jk->ik', x, w)\n"
               "    13         5     200000.0  40000.0     22.2      return y.cpu()\n\n"
               "Total time: 1.0 s\nFile: a.py\nFunction: main at line 20\n" +
               header +
               "    20                                           @profile\n"
               "    22         5     950000.0 190000.0     95.0      z = push(x)\n"
               "    23         5      50000.0  10000.0      5.0      save(z)\n");
  EXPECT_EQ(output.program, "line_profiler");
  EXPECT_NEAR(output.duration_ns.value_or(0), 1e9, 1);
  ASSERT_EQ(output.parts.size(), 2u);
  EXPECT_EQ(output.parts[0].kind, ProgramPartKind::kFunction);
  EXPECT_EQ(output.parts[0].name, "y = torch.einsum('ij,jk->ik', x, w) (line 12 of push)");
  EXPECT_EQ(output.parts[0].count, 5);
  EXPECT_NEAR(output.parts[0].ns, 0.7e9, 1);
}

TEST(FunctionTables, LinesOfALoopCountTogether) {
  const ProgramOutput output = OutputOf(
      "Timer unit: 1e-06 s\n\nTotal time: 1.0 s\nFile: a.py\nFunction: backward at line 10\n"
      "\nLine #      Hits         Time  Per Hit   % Time  Line Contents\n"
      "==============================================================\n"
      "    11         3         10.0      3.3      0.0      total = []\n"
      "    12    101000     200000.0      2.0     20.0      for k in range(n):\n"
      "    13    100000     250000.0      2.5     25.0          a = x[k]\n"
      "    14    100000     150000.0      1.5     15.0          s += a * b[k]\n"
      "    15         3     390000.0 130000.0     39.0      save(s)\n");
  ASSERT_EQ(output.parts.size(), 3u);
  EXPECT_EQ(output.parts[0].name, "the loop of lines 12 to 14 of backward");
  EXPECT_EQ(output.parts[0].count, 101000);
  EXPECT_NEAR(output.parts[0].ns, 0.6e9, 1);
  EXPECT_EQ(output.parts[1].name, "save(s) (line 15 of backward)");
}

TEST(FunctionTables, ImportsAloneAreWhatTheProgramDid) {
  const ProgramOutput output = OutputOf(
      std::string("         1311378 function calls in 2.000 seconds\n") + kHeader +
      "        1    0.000    0.000    2.000    2.000 train.py:1(<module>)\n"
      "   1803/4    0.008    0.000    1.990    0.525 <frozen importlib._bootstrap>:1002(_find_and_load)\n"
      "     1854    0.642    0.000    0.642    0.000 {built-in method io.open_code}\n");
  ASSERT_FALSE(output.parts.empty());
  EXPECT_EQ(output.parts[0].name, "import of modules");
  EXPECT_DOUBLE_EQ(output.parts[0].ns, 1.99e9);
}

TEST(FunctionTables, TheInnermostThatHoldsHalfOfTheTimeComesFirst) {
  const ProgramOutput output = OutputOf(
      std::string("Epoch 1 done\n"
                  "         21904327 function calls (21042601 primitive calls) in 40.000 seconds\n\n"
                  "   Ordered by: cumulative time\n") +
      kHeader +
      "        1    0.000    0.000   40.000   40.000 {built-in method builtins.exec}\n"
      "        1    0.100    0.100   39.900   39.900 /home/me/train.py:1(<module>)\n"
      "45981/3406    0.071    0.000   30.000    0.008 module.py:1555(_call_impl)\n"
      "     2000    3.000    0.002   24.000    0.012 /home/me/graphs.py:18(build_graph)\n"
      "   100000    9.000    0.000    9.000    0.000 {built-in method torch.cat}\n"
      "   200000    5.000    0.000    5.000    0.000 {method 'to' of 'torch._C.TensorBase' objects}\n");
  EXPECT_EQ(output.program, "Python's cProfile");
  EXPECT_DOUBLE_EQ(output.duration_ns.value_or(0), 40e9);
  ASSERT_EQ(output.parts.size(), 6u);
  EXPECT_EQ(output.parts[0].kind, ProgramPartKind::kFunction);
  EXPECT_EQ(output.parts[0].name, "build_graph (graphs.py:18)");
  EXPECT_EQ(output.parts[0].count, 2000);
  EXPECT_DOUBLE_EQ(output.parts[0].ns, 24e9);
  EXPECT_EQ(output.parts[1].name, "torch.cat") << "then by what each takes itself";
  EXPECT_EQ(output.parts[2].name, "method 'to' of torch._C.TensorBase");
}

TEST(FunctionTables, WithoutOneThatHoldsHalfTheOneThatTakesMostItselfComesFirst) {
  const ProgramOutput output =
      OutputOf(std::string("         210 function calls in 10.000 seconds\n") + kHeader +
               "        1    0.000    0.000   10.000   10.000 train.py:1(<module>)\n"
               "      100    4.000    0.040    4.500    0.045 a.py:5(load)\n"
               "      100    3.000    0.030    3.000    0.030 a.py:9(save)\n");
  ASSERT_FALSE(output.parts.empty());
  EXPECT_EQ(output.parts[0].name, "load (a.py:5)");
  EXPECT_DOUBLE_EQ(output.parts[0].ns, 4.5e9) << "with what it calls";
}

TEST(FunctionTables, WaitingForTheGpuIsMoreThanWhatCallsIt) {
  const ProgramOutput output = OutputOf(
      std::string("         210 function calls in 10.000 seconds\n") + kHeader +
      "      100    0.100    0.001    9.000    0.090 a.py:5(log_loss)\n"
      "      100    6.000    0.060    6.000    0.060 {method 'item' of 'torch._C._TensorBase' objects}\n"
      "      100    1.000    0.010    1.000    0.010 {method 'cpu' of 'torch._C._TensorBase' objects}\n");
  ASSERT_FALSE(output.parts.empty());
  EXPECT_EQ(output.parts[0].name, "method 'item' of torch._C._TensorBase");
  EXPECT_DOUBLE_EQ(output.parts[0].ns, 7e9) << "with the other waits";
}

TEST(FunctionTables, ActionsOfATrainingCountTogether) {
  const ProgramOutput output =
      OutputOf(std::string("FIT Profiler Report\nProfile stats for: run_training_epoch\n"
                           "         64 function calls in 20.000 seconds\n") +
               kHeader +
               "        1    0.000    0.000   20.000   20.000 training_epoch_loop.py:135(run)\n"
               "\nProfile stats for: [_TrainingEpochLoop].train_dataloader_next\n"
               "         640 function calls in 8.000 seconds\n" +
               kHeader +
               "      100    0.000    0.000    8.000    0.080 fetchers.py:55(__next__)\n"
               "      100    8.000    0.080    8.000    0.080 {method 'poll' of 'select.poll' objects}\n"
               "\nProfile stats for: [Strategy]SingleDeviceStrategy.training_step\n"
               "         640 function calls in 11.000 seconds\n" +
               kHeader + "      100    1.000    0.010   10.500    0.105 model.py:55(forward)\n");
  EXPECT_DOUBLE_EQ(output.duration_ns.value_or(0), 20e9);
  ASSERT_FALSE(output.parts.empty());
  EXPECT_EQ(output.parts[0].name, "forward (model.py:55)");
  EXPECT_DOUBLE_EQ(output.data.part, 8e9);
  EXPECT_DOUBLE_EQ(output.data.whole, 20e9);
}

TEST(FunctionTables, OfGprofTheFlatProfileIsRead) {
  const ProgramOutput output = OutputOf(
      "Flat profile:\n\nEach sample counts as 0.01 seconds.\n"
      "  %   cumulative   self              self     total           \n"
      " time   seconds   seconds    calls  ms/call  ms/call  name    \n"
      " 60.00      6.00     6.00      157    38.21    38.21  Grid::relax(std::vector<double>&, int)\n"
      " 40.00     10.00     4.00                             main\n"
      "  0.00     10.00     0.00        1     0.00     0.00  Grid::Grid()\n"
      "\n\t\t\tCall graph\n\ngranularity: each sample hit covers 4 byte(s) for 0.10% of 10.00 seconds\n");
  EXPECT_EQ(output.program, "gprof");
  EXPECT_DOUBLE_EQ(output.duration_ns.value_or(0), 10e9);
  ASSERT_EQ(output.parts.size(), 3u);
  EXPECT_EQ(output.parts[0].name, "Grid::relax");
  EXPECT_EQ(output.parts[0].count, 157);
  EXPECT_DOUBLE_EQ(output.parts[0].ns, 6e9);
}

TEST(FunctionTables, NumbersThatNoProgramTakesAreNone) {
  EXPECT_THAT(
      test::RefusalOf(std::string("         210 function calls in 99999999999999.0 seconds\n") + kHeader +
                      "999999999999999999999    0.000    0.000   1e99   10.000 train.py:1(<module>)\n"),
      HasSubstr("not a profile"));
}

}  // namespace
}  // namespace dladvisor
