// SPDX-License-Identifier: Apache-2.0
// What ends a run, in logs of one start and of several, and what a text is that holds no step.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "engine/base/error.h"
#include "src/trace/error_remedy.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::LinesOf;
using test::ReadProgram;
using test::ReadTrainingLog;
using test::RefusalOf;
using test::StepsOf;
using testing::HasSubstr;

TrainingLog LogOfRun(const std::string& text) { return test::ReadLog(text).training_log; }

std::string Lines(int from, int to) {
  std::string text;
  for (int step = from; step <= to; ++step) text += fmt::format("step {} loss 2.0 step time 0.5 s\n", step);
  return text;
}

TEST(RunEnd, SignalsEndARun) {
  EXPECT_THAT(LogOfRun(Lines(1, 20) + "Killed\n").error, HasSubstr("was killed (SIGKILL)"));
  EXPECT_EQ(LogOfRun(Lines(1, 20) +
                     "run.sh: line 12: 29670 Segmentation fault      (core dumped) python3 main.py\n")
                .error,
            "the process died: segmentation fault");
  EXPECT_THAT(
      LogOfRun(Lines(1, 20) + "slurmstepd: error: Detected 1 oom_kill event in StepId=1.batch.\n").error,
      HasSubstr("host memory was full"));
  EXPECT_EQ(LogOfRun(Lines(1, 20) + "Killed 3 stale workers\n").error, "");
  EXPECT_EQ(LogOfRun(Lines(1, 20) + "Killed\n" + Lines(21, 30)).error, "") << "another process was";
}

TEST(RunEnd, WhatPyTorchWarnsOfIsNoEnd) {
  const std::string prefix = "0: [rank0]:W0608 00:49:48.013000 711254 torch/_dynamo/convert_frame.py:1436] ";
  const std::string words = "Traceback (most recent call last):\n";
  const std::string error = "torch._inductor.exc.InductorError: FileNotFoundError: no compiler\n";
  EXPECT_EQ(LogOfRun(Lines(1, 20) + prefix + words + prefix + error).error, "");
  EXPECT_THAT(LogOfRun(Lines(1, 20) + words + error).error, HasSubstr("InductorError"));
  // MLPerf's own word on how the run went.
  const std::string stop = R"(:::MLLOG {"key": "run_stop", "metadata": {"status": "success"}})";
  EXPECT_EQ(LogOfRun(Lines(1, 20) + words + error + stop + "\n").error, "");
}

TEST(RunEnd, SlurmSaysSoInOtherWords) {
  EXPECT_EQ(
      LogOfRun(Lines(1, 20) + "slurmstepd: error: *** JOB 12 ON n1 CANCELLED DUE TO TIME LIMIT ***\n").error,
      "Slurm cancelled the job: time limit");
  EXPECT_EQ(LogOfRun(Lines(1, 20) + "srun: error: n1: task 0: Out Of Memory\n").error,
            "the system killed it: the job's host memory was full");
  EXPECT_EQ(LogOfRun(Lines(1, 20) + "srun: error: n1: task 0: Exited with exit code 1\n").error, "");
  EXPECT_EQ(LogOfRun(Lines(1, 20) + "see the error: Out Of Memory of the last run\n").error, "");
}

TEST(RunEnd, SlurmEndsARunWhereANodeFails) {
  const std::string words = "slurmstepd: error: *** JOB 12 ON n1 CANCELLED AT 2024-10-11T13:44:45 ";
  EXPECT_EQ(LogOfRun(Lines(1, 20) + words + "DUE TO NODE FAILURE ***\n").error,
            "Slurm cancelled the job: node failure");
  EXPECT_EQ(LogOfRun(Lines(1, 20) + words + "***\n").error, "") << "by the user";
}

TEST(RunEnd, AnExceptionJustBeforeSaysMore) {
  const std::string text = Lines(1, 20) +
                           "Traceback (most recent call last):\n  File \"/w/train.py\", line 20\n"
                           "RuntimeError: NCCL error\nKilled\n";
  EXPECT_EQ(LogOfRun(text).error, "RuntimeError: NCCL error");
}

// What the process does not hold, in GiB of all of them.
std::pair<double, double> TakenIn(const std::string& error) {
  const TrainingLog log = LogOfRun(
      Lines(1, 20) + "Traceback (most recent call last):\n  File \"/w/train.py\", line 20\n" + error + "\n");
  if (!log.memory_taken) return {0, 0};
  return {log.memory_taken->others_bytes / 0x1p30, log.memory_taken->total_bytes / 0x1p30};
}

TEST(RunEnd, TellsWhatOthersHoldOfAFullGpu) {
  using testing::DoubleNear;
  using testing::Pair;
  EXPECT_THAT(
      TakenIn(
          "RuntimeError: CUDA out of memory. Tried to allocate 512.00 MiB (GPU 0; 20.00 GiB total "
          "capacity; 3.50 GiB already allocated; 512.00 MiB free; 4.00 GiB reserved in total by PyTorch)"),
      Pair(DoubleNear(15.5, 0.01), DoubleNear(20, 0.01)));
  EXPECT_THAT(TakenIn("RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.00 GiB total "
                      "capacity; 9.00 GiB already allocated; 0 bytes free; 512.00 MiB cached)"),
              Pair(DoubleNear(0.5, 0.01), DoubleNear(10, 0.01)));
  const std::string
      gpu =
          "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
          "capacity of 80.00 GiB of which 1.00 GiB is free. ",
      allocator =
          "Of the allocated memory 20.00 GiB is allocated by PyTorch, and 4.00 GiB is reserved "
          "by PyTorch but unallocated.";
  EXPECT_THAT(
      TakenIn(gpu +
              "Process 12 has 53.00 GiB memory in use. Including non-PyTorch memory, this process has "
              "26.00 GiB memory in use. " +
              allocator),
      Pair(DoubleNear(53, 0.01), DoubleNear(80, 0.01)));
  EXPECT_THAT(TakenIn(gpu + "Process 12 has 79.00 GiB memory in use. " + allocator),
              Pair(DoubleNear(55, 0.01), DoubleNear(80, 0.01)))
      << "in a container its own number is not among the processes";
  EXPECT_THAT(
      TakenIn(gpu + "Including non-PyTorch memory, this process has 17179869184.00 GiB memory in use. "),
      Pair(0, 0));
  EXPECT_THAT(TakenIn("RuntimeError: CUDA out of memory"), Pair(0, 0));
}

TEST(RunEnd, MemoryMayRunOutWithoutATraceback) {
  const std::string error =
      "RuntimeError: CUDA out of memory. Tried to allocate 512.00 MiB (GPU 0; 20.00 GiB total)\n";
  EXPECT_EQ(LogOfRun(Lines(1, 20) + error).error,
            "RuntimeError: CUDA out of memory. Tried to allocate 512.00 MiB");
  EXPECT_EQ(LogOfRun(Lines(1, 20) + error + Lines(21, 30)).error, "");
  EXPECT_EQ(LogOfRun(Lines(1, 20) + "WARNING: skipping the batch: " + error).error, "");
  std::string more;
  for (int line = 0; line < 30; ++line) more += "evaluating what the program does not number\n";
  EXPECT_EQ(LogOfRun(Lines(1, 20) + error + more).error, "");
}

TEST(RunEnd, ATracebackMayBeAListOfItsLines) {
  const std::string list =
      "14: ['Traceback (most recent call last):\\n', '  File \"/w/train.py\", line 242, in "
      "forward_step\\n    batch = next(it)\\n', ";
  EXPECT_EQ(LogOfRun(Lines(1, 20) + list + "'RuntimeError: bad length\\n']\n").error,
            "RuntimeError: bad length");
  EXPECT_EQ(LogOfRun(Lines(1, 20) + list + "\"KeyError: 'a', 'b'\\n\"]\n").error, "KeyError: 'a', 'b'");
  EXPECT_EQ(LogOfRun(Lines(1, 20) + list + "'RuntimeError: bad length\\n']\n" + Lines(21, 30)).error, "");
}

TEST(RunEnd, ARanksOwnExceptionStandsBeforeTheWaitOfAnother) {
  const std::string waited =
      "[rank1]:[E1125 ProcessGroupNCCL.cpp:683] [Rank 1] Watchdog caught collective operation timeout: "
      "WorkNCCL(SeqNum=97, OpType=ALLREDUCE, NumelIn=0, NumelOut=0, Timeout(ms)=600000) ran for 600079 ms\n";
  const std::string frames =
      "[rank0]: Traceback (most recent call last):\n[rank0]:   File \"/w/train.py\", line 20\n";
  EXPECT_EQ(LogOfRun(Lines(1, 20) + waited + frames + "[rank0]: ValueError: a negative size.\n").error,
            "ValueError: a negative size; NCCL: a collective operation timed out (ALLREDUCE)");
  EXPECT_EQ(
      LogOfRun(Lines(1, 20) + waited + frames + "[rank0]: RuntimeError: NCCL communicator was aborted\n")
          .error,
      "NCCL: a collective operation timed out (ALLREDUCE)")
      << "that is of the same wait";
}

TEST(RunEnd, ATimeLimitIsNoErrorToMend) {
  const ProgramOutput output = ReadProgram(
      "model of 3 layers\nslurmstepd: error: *** JOB 12 ON n1 CANCELLED AT "
      "2024-10-11T13:44:45 DUE TO TIME LIMIT ***\n");
  EXPECT_EQ(output.error, "Slurm cancelled the job: time limit");
  EXPECT_FALSE(output.timed());
}

TEST(RunEnd, AGpuThatOthersFillIsNoErrorToMend) {
  const std::string error =
      "Traceback (most recent call last):\n  File \"/w/predict.py\", line 20\n"
      "RuntimeError: CUDA out of memory. Tried to allocate 512.00 MiB (GPU 0; 20.00 GiB total "
      "capacity; {} GiB already allocated; 512.00 MiB free; {} GiB reserved in total by PyTorch)\n";
  const ProgramOutput crowded = ReadProgram(fmt::format(fmt::runtime(error), "3.50", "4.00"));
  EXPECT_THAT(crowded.error, HasSubstr("CUDA out of memory"));
  ASSERT_TRUE(crowded.memory_taken);
  EXPECT_NEAR(crowded.memory_taken->others_bytes / crowded.memory_taken->total_bytes, 15.5 / 20, 0.01);
}

// The error of a rank whose peer is gone is not the cause.
TEST(RunEnd, AProgramThatRunsOutOfMemoryAgainAndAgain) {
  std::string text;
  for (int split = 0; split < 4; ++split)
    text += fmt::format(
        "2026-03-02 21:4{}:48 [ERROR] [Rank 2] OOM\n2026-03-02 21:4{}:49 [INFO] retry\n"
        "Traceback (most recent call last):\n  File \"/w/run.py\", line 20\n"
        "RuntimeError: [gloo/transport/tcp/pair.cc:547] Connection closed by peer [10.0.0.8]:29609\n",
        split, split);
  EXPECT_EQ(ReadProgram(text).full_memories, 4);
  // Of hints and policies none ran out.
  std::string hints;
  for (int i = 0; i < 4; ++i)
    hints +=
        "If you run out of memory, reduce the batch size; CUDA out of memory errors are skipped\n"
        "WARNING OOM policy: skip\n";
  hints += text.substr(text.rfind("Traceback"));
  EXPECT_EQ(ReadProgram(hints).full_memories, 0);
  EXPECT_THAT(ReadProgram(hints).error, HasSubstr("RuntimeError: [gloo"));
  EXPECT_THAT(ReadProgram("[ERROR] OOM\n[ERROR] OOM\n[ERROR] OOM\nTraceback (most recent call last):\n  File "
                          "\"/w/run.py\", line 20\nRuntimeError: No CUDA GPUs are available\n")
                  .error,
              HasSubstr("No CUDA GPUs are available"));
}

TEST(RunEnd, AThreadsExceptionIsNotTheProgramsEnd) {
  const std::string thread =
      "Exception in thread Thread-1:\nTraceback (most recent call last):\n  File \"/w/queues.py\", line 20\n"
      "OSError: handle is closed\n";
  EXPECT_EQ(LogOfRun(Lines(1, 20) + thread).error, "");
  EXPECT_EQ(
      LogOfRun(Lines(1, 20) + "Exception in thread Thread-3:\n" + thread + "  handle\n" + thread.substr(30))
          .error,
      "")
      << "of two that write at once";
  EXPECT_EQ(LogOfRun(Lines(1, 20) + thread +
                     "Traceback (most recent call last):\n  File \"/w/train.py\", line 20\nOSError: full\n")
                .error,
            "OSError: full");
}

TEST(RunEnd, ExceptionsThatFollowOneOfAThreadAreNotTheProgramsEnd) {
  const std::string trace =
      "Traceback (most recent call last):\n  File \"/lib/threading.py\", line 3, in run\n";
  for (const char* link : {"\nDuring handling of the above exception, another exception occurred:\n\n",
                           "\nThe above exception was the direct cause of the following exception:\n\n"}) {
    const std::string chain = trace + "KeyError: 3\n" + link + trace + "RuntimeError: cannot upload\n" +
                              link + trace + "OSError: full\n";
    EXPECT_EQ(LogOfRun(Lines(1, 20) + "Exception in thread Thread-3:\n" + chain + "Best model saved\n").error,
              "");
    EXPECT_EQ(LogOfRun(Lines(1, 20) + chain).error, "KeyError: 3") << "of the program itself";
  }
}

TEST(RunEnd, WhatIsIgnoredHidesNoLaterEnd) {
  const std::string end =
      "Traceback (most recent call last):\n  File \"/w/train.py\", line 20\nRuntimeError: CUDA error\n";
  const std::string pipe =
      "Exception ignored in: <_io.TextIOWrapper name='<stdout>'>\nBrokenPipeError: [Errno 32] Broken pipe\n";
  EXPECT_EQ(LogOfRun(pipe + pipe + Lines(1, 20) + end).error, "RuntimeError: CUDA error");
  EXPECT_EQ(LogOfRun(Lines(1, 20) + pipe + end).error, "RuntimeError: CUDA error");
  EXPECT_EQ(
      LogOfRun("Exception in thread \"main\" java.lang.RuntimeException: x\n" + Lines(1, 20) + end).error,
      "RuntimeError: CUDA error");
  EXPECT_EQ(LogOfRun("Exception in thread Thread-2:\n" + Lines(1, 20) + end).error,
            "RuntimeError: CUDA error")
      << "its traceback is elsewhere";
}

TEST(RunEnd, AfterAnErrorOnlyWordsOfTheTrainingTellThatItFinished) {
  const std::string end = Lines(1, 20) +
                          "Traceback (most recent call last):\n  File \"/w/train.py\", line 20\n"
                          "OSError: disk full\n";
  for (const char* words : {"Done killing workers", "Completed with exit code 1", "Finished uploading logs",
                            "Training finished with errors"})
    EXPECT_EQ(LogOfRun(end + words + "\n").error, "OSError: disk full") << words;
  for (const char* words : {"Done.", "All done!", "Training is complete, best 0.9", "Finished in 120 s"})
    EXPECT_EQ(LogOfRun(end + words + "\n").error, "") << words;
}

TEST(RunEnd, WhatEndsWellIsNoError) {
  const std::string frames =
      Lines(1, 20) + "Traceback (most recent call last):\n  File \"/w/train.py\", line 20\n";
  EXPECT_EQ(LogOfRun(frames + "SystemExit: 0\n").error, "");
  EXPECT_EQ(LogOfRun(frames + "SystemExit: 2\n").error, "SystemExit: 2");
  EXPECT_EQ(LogOfRun(frames + "    raise StopIteration\nStopIteration\n\nsaved the model\n").error, "");
  EXPECT_EQ(
      LogOfRun(frames + "    raise StopIteration\nRuntimeError: generator raised StopIteration\n").error,
      "RuntimeError: generator raised StopIteration");
  EXPECT_EQ(LogOfRun(frames + "AssertionError\n").error, "AssertionError");
  EXPECT_EQ(LogOfRun(frames + "AssertionError\nTraining finished.\n").error, "");
  EXPECT_EQ(LogOfRun(frames + "    training finished\nAssertionError\n").error, "AssertionError");
}

TEST(RunEnd, AnErrorSaysMoreThanAnotherNameInItsTraceback) {
  const std::string frames =
      Lines(1, 20) + "Traceback (most recent call last):\n  File \"/w/train.py\", line 20\n";
  EXPECT_EQ(LogOfRun(frames + "[rank0]: torch.distributed.Backend: nccl\nValueError: bad batch\n").error,
            "ValueError: bad batch");
}

TEST(RunEnd, ALineOfTwoProcessesSaysLessThanOneOfItsOwn) {
  EXPECT_EQ(LogOfRun(Lines(1, 20) + "Traceback (most recent call last):\n  File \"/w/train.py\", line 20\n"
                                    "ModuleNotFoundError: ModuleNotFoundErrorNo module named 'a': \n"
                                    "ModuleNotFoundError: No module named 'a'\n")
                .error,
            "ModuleNotFoundError: No module named 'a'");
}

TEST(RunEnd, WordsOfAnErrorAreCutBetweenTwo) {
  std::string words;
  for (int i = 0; i < 60; ++i) words += " word";
  const std::string error = LogOfRun(Lines(1, 20) +
                                     "Traceback (most recent call last):\n  File \"/w/train.py\", line 20\n"
                                     "ValueError:" +
                                     words + "\n")
                                .error;
  EXPECT_TRUE(error.ends_with("word word [...]")) << error;
}

// Of Hugging Face's Trainer, which prints bars.
TEST(RunEnd, ABarThatBeginsAnewIsAnotherStart) {
  const auto bars = [](int from, int to) {
    std::string text;
    for (int step = from; step <= to; ++step)
      text +=
          fmt::format(" {}%|##   | {}/100 [{:02}:{:02}<10:00,  30.0s/it]\n{{'loss': 2.1, 'epoch': 0.1}}\n",
                      step, step, step / 2, step % 2 * 30);
    return text;
  };
  const std::string error =
      "Traceback (most recent call last):\n  File \"/w/train.py\", line 20\nOSError: disk full\n";
  EXPECT_EQ(LogOfRun(bars(1, 20) + error).error, "OSError: disk full");
  EXPECT_EQ(LogOfRun(bars(1, 20) + error + bars(20, 20)).error, "OSError: disk full")
      << "a bar that is drawn again as it is closed";
  EXPECT_EQ(LogOfRun(bars(1, 20) + error + bars(0, 10)).error, "");
}

TEST(RunEnd, ALoopOfTrainingThatEndsShowsWhatItsBarCounts) {
  std::string bars;
  for (int step = 1; step <= 40; ++step)
    bars += fmt::format(" {}%|##   | {}/3442 [{:02}:{:02}<10:00,  30.0s/it]\n", step / 34, step, step / 2,
                        step % 2 * 30);
  const std::string trace = "Traceback (most recent call last):\n  File \"/w/run.py\", line 20, in ";
  const TrainingLog log = LogOfRun(bars + trace + "train\nRuntimeError: file write failed\n");
  EXPECT_EQ(log.iterations.back().iteration, 40);
  EXPECT_EQ(log.error, "RuntimeError: file write failed");
  EXPECT_EQ(test::ReadLog(bars + trace + "evaluate\nRuntimeError: file write failed\n").program_output.error,
            "RuntimeError: file write failed");
}

TEST(RunEnd, LinesThatNameTheEpochsOfABarShowThatItCountsThem) {
  std::string text;
  for (int epoch = 1; epoch <= 10; ++epoch)
    text +=
        fmt::format(" {}%|##   | {}/10 [{:02}:00<10:00,  60.0s/it]\nEpoch {}: Validation Accuracy: 99.27%\n",
                    epoch * 10, epoch, epoch, epoch);
  const TrainingLog log = LogOfRun(text);
  EXPECT_TRUE(log.of_epochs);
  ASSERT_EQ(log.iterations.size(), 10u);
  EXPECT_DOUBLE_EQ(*log.iterations[3].elapsed_ns, 60e9);
}

TEST(RunEnd, AJobThatIsCancelledBeforeItsFirstStep) {
  const std::string bar = "  0%|          | 0/100005 [00:00<?, ?it/s]\n",
                    end = "slurmstepd: error: *** JOB 267039 ON n6 CANCELLED AT 2025-08-21T02:53:05 ***\n";
  const TrainingLog log = LogOfRun("Loading weights\n" + bar + end);
  EXPECT_TRUE(log.iterations.empty());
  EXPECT_EQ(log.error, "Slurm cancelled the job while its progress bar stood at 0 of 100005");
  EXPECT_THAT(ErrorRemedy(log.error), HasSubstr("py-spy dump"));
}

TEST(RunEnd, ABarBehindALineThatStartsTheTraining) {
  std::string bars;
  for (int step = 0; step <= 105; ++step)
    bars += fmt::format(" {}%|#    | {}/843 [{:02}:{:02}<10:00,  1.00s/it]\r", step / 9, step, step / 60,
                        step % 60);
  const TrainingLog log = LogOfRun("Training samples: 9000\nStarting training...\n" + bars);
  EXPECT_GE(log.iterations.back().iteration, 100);
  EXPECT_EQ(log.iterations.back().planned, 843);
  EXPECT_TRUE(test::ReadLog("Using cuda\nTraining samples: 9000\n" + bars).training_log.empty());
}

TEST(RunEnd, TablesOfGpusAtTheStartsOfJobsAreNoTelemetry) {
  const std::string table =
      "| NVIDIA-SMI 460.32.03    Driver Version: 460.32.03    CUDA Version: 11.2     |\n"
      "| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |\n"
      "|   0  Tesla V100-SXM2...  Off  | 00000000:00:1E.0 Off |                    0 |\n"
      "| N/A   34C    P0    24W / 300W |      0MiB / 16160MiB |      0%      Default |\n";
  std::string job = table;
  for (int i = 0; i < 400; ++i) job += "loading a part of the data\n";
  job += "Traceback (most recent call last):\n  File \"/w/eval.py\", line 20\nOSError: no config.json\n";
  EXPECT_EQ(ReadProgram(job + job).error, "OSError: no config.json");
  EXPECT_EQ(test::ReadLog(table + table).format, "nvidia-smi");
  std::string processes;
  for (int i = 0; i < 90; ++i)
    processes += "|    0   N/A  N/A     100000      C   python3          600MiB |\n";
  EXPECT_EQ(test::ReadLog(table + processes).format, "nvidia-smi");
}

TEST(RunEnd, PacketsThatANetworkLosesAreNoTraining) {
  EXPECT_THROW(LogOfRun(LinesOf(0, 40, 1,
                                [](int step) {
                                  return fmt::format(
                                      "2026-11-25 10:{:02}:00 step {}: packet loss 0.1, rtt 12 ms", step,
                                      step);
                                })),
               Error);
}

constexpr const char* kOutOfMemory =
    "Traceback (most recent call last):\n  File \"/w/train.py\", line 20, in <module>\n    raise "
    "ValueError(\n"
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB. \n";

TEST(RunEnd, ExceptionsOfAnyName) {
  const auto end = [](const std::string& words) {
    return ReadTrainingLog(StepsOf(1, 20) +
                           "Traceback (most recent call last):\n  File \"/w/train.py\", line 20\n" + words +
                           "\n")
        .error;
  };
  EXPECT_EQ(end("torch._dynamo.exc.Unsupported: call_function id"),
            "torch._dynamo.exc.Unsupported: call_function id");
  EXPECT_EQ(end("[rank3]: subprocess.TimeoutExpired: Command 'nvcc' timed out"),
            "subprocess.TimeoutExpired: Command 'nvcc' timed out");
  EXPECT_EQ(end("SystemExit: 1"), "SystemExit: 1");
  EXPECT_EQ(end("FileNotFoundError: Traceback (most recent call last):\n  File \"/w/loader.py\", line 3\n"
                "FileNotFoundError: [Errno 2] No such file: '0.jpg'"),
            "FileNotFoundError: [Errno 2] No such file: '0.jpg'");
  EXPECT_EQ(end("KeyboardInterrupt\nTraceback (most recent call last):\n  File \"/w/train.py\", line 3\n"
                "ConnectionResetError: [Errno 104] Connection reset by peer"),
            "KeyboardInterrupt");
  EXPECT_EQ(ReadTrainingLog(StepsOf(1, 20) + "torch.nn.Linear: 3 layers\n").error, "");
}

TEST(RunEnd, ALimitOfTimeEndsAJobAndAUserDoesNot) {
  const std::string at = "slurmstepd: error: *** JOB 12 ON n1 CANCELLED AT 2024-10-11T13:44:45";
  EXPECT_EQ(ReadTrainingLog(StepsOf(1, 20) + at + " DUE TO TIME LIMIT ***\n").error,
            "Slurm cancelled the job: time limit");
  EXPECT_EQ(ReadTrainingLog(StepsOf(1, 20) +
                            "Traceback (most recent call last):\n  File \"/w/train.py\", line 20\n"
                            "torch.distributed.SignalException: Process 12 got signal: 15\n" +
                            at + " DUE TO TIME LIMIT ***\n")
                .error,
            "Slurm cancelled the job: time limit");
  EXPECT_EQ(ReadTrainingLog(StepsOf(1, 20) + at + " ***\n").error, "");
}

TEST(Errors, TheOneThatEndsTheRun) {
  EXPECT_EQ(ReadTrainingLog(StepsOf(1, 20) + kOutOfMemory).error,
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB");
  EXPECT_EQ(ReadTrainingLog(kOutOfMemory + StepsOf(1, 20)).error, "") << "a later start went on";
  const TrainingLog none = ReadTrainingLog(kOutOfMemory);
  EXPECT_EQ(none.program, "a program that stopped");
  EXPECT_THROW(ReadTrainingLog(kOutOfMemory +
                               LinesOf(1, 600, 1, [](int i) { return fmt::format("something {}", i); })),
               Error)
      << "went on";
  EXPECT_THAT(none.error, HasSubstr("out of memory"));
  const std::string copy =
      "Traceback (most recent call last):\n  File \"/w/copy.py\", line 20\nOSError: no file\n";
  EXPECT_TRUE(ReadTrainingLog(copy).empty()) << "no training";
  EXPECT_EQ(ReadProgram(copy).error, "OSError: no file");
  EXPECT_NE(RefusalOf("As the issue says:\n```\n" + copy + "```\n"), "") << "of a document";
}

}  // namespace
}  // namespace dladvisor
