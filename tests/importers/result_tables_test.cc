// SPDX-License-Identifier: Apache-2.0
// Tables of results: of one's own benchmarks, and of trtexec.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ReadProgram;
using test::RefusalOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(ResultTables, SettingsAndTheTimeOfEach) {
  const ProgramOutput output = ReadProgram(
      "split,batch_size,micro,max_tokens,peak_mb,total_latency_ms,status\n"
      "a,32,16,512,4838,83651.5,ok\n"
      "a,32,8,512,4748,132309.0,ok\n"
      "b,32,16,512,4838,62437.0,ok\n"
      "b,64,16,512,,,oom\n");
  ASSERT_TRUE(output.results);
  EXPECT_EQ(output.results->measure, "total_latency_ms");
  EXPECT_FALSE(output.results->rate);
  EXPECT_THAT(output.results->settings, ElementsAre("split", "batch_size", "micro"));
  ASSERT_EQ(output.results->rows.size(), 4u);
  EXPECT_THAT(output.results->rows[2].values, ElementsAre("b", "32", "16"));
  EXPECT_DOUBLE_EQ(output.results->rows[2].result, 62437);
  EXPECT_EQ(output.results->rows[3].result, 0);
  EXPECT_EQ(output.results->failed, 1);
}

TEST(ResultTables, HyperfinesTerminalAndItsFileOfTwoCommands) {
  const std::string files =
      "command,mean,stddev,median,user,system,min,max\n"
      "infer.py --workers 0,2.3,0.05,2.3,2.1,0.3,2.3,2.4\ninfer.py --workers "
      "4,1.2,0.02,1.2,1.1,0.2,1.2,1.3\n";
  const std::string terminal =
      "Benchmark 1: infer.py --workers 0\n"
      "  Time (mean ± σ):      2.300 s ±  0.050 s    [User: 2.100 s, System: 0.300 s]\n"
      "  Range (min … max):    2.300 s …  2.400 s    10 runs\n\n"
      "Benchmark 2: infer.py --workers 4\n"
      "  Time (mean ± σ):     1200.0 ms ±  20.0 ms    [User: 1.100 s, System: 0.200 s]\n"
      "  Range (min … max):   1200.0 ms … 1300.0 ms    10 runs\n\n"
      "Summary\n  infer.py --workers 4 ran\n    1.92 ± 0.06 times faster than infer.py --workers 0\n";
  for (const std::string& text : {files, terminal}) {
    const ProgramOutput output = ReadProgram(text);
    ASSERT_TRUE(output.results) << text;
    EXPECT_EQ(output.results->measure, "mean time (s)");
    ASSERT_EQ(output.results->rows.size(), 2u);
    EXPECT_DOUBLE_EQ(output.results->rows[1].result, 1.2);
    EXPECT_THAT(output.results->settings, ElementsAre("variant"));
  }
}

TEST(ResultTables, SizesOfNvbenchAreNoChoice) {
  std::string text =
      "## copy\n\n### [0] NVIDIA A100\n\n| Elements | Samples | CPU Time | Noise | GPU Time | Noise | Elem/s "
      "|\n"
      "|---|---|---|---|---|---|---|\n";
  for (const int power : {16, 18, 20})
    text += fmt::format("| 2^{} = {} | 1000x | {}.2 us | 3.1% | {}.1 us | 4.0% | 12.8G |\n", power,
                        1 << power, power, power);
  const ProgramOutput output = ReadProgram(text);
  ASSERT_TRUE(output.results);
  EXPECT_THAT(output.results->settings, ElementsAre("Elements"));
  EXPECT_THAT(output.results->kinds, ElementsAre(SettingKind::kGiven));
  EXPECT_DOUBLE_EQ(output.results->rows[0].result, 16.1);
}

TEST(ResultTables, PandasNumbersTheRowsThatItPrints) {
  const ProgramOutput output = ReadProgram(
      "   backend  batch  latency_ms\n0    eager      1        12.5\n1    eager      8        30.5\n"
      "2  compile      1         7.5\n3  compile      8        21.5\n");
  ASSERT_TRUE(output.results);
  EXPECT_THAT(output.results->settings, ElementsAre("backend", "batch"));
  EXPECT_EQ(output.results->rows.size(), 4u);
}

TEST(ResultTables, ColumnsOfWaysToDoTheSame) {
  std::string text =
      "+-----+-----+-----+\n| Length | CPU Seq (s) | GPU Par (s) | Speedup |\n+=====+=====+=====+\n";
  for (int length = 1; length < 5; ++length)
    text += fmt::format("| {} | 0.{}5 | 0.{} | 1.5x |\n+-----+-----+-----+\n", length, length, length);
  const ProgramOutput output = ReadProgram(text);
  ASSERT_TRUE(output.results);
  EXPECT_THAT(output.results->settings, ElementsAre("Length", ""));
  ASSERT_EQ(output.results->rows.size(), 8u);
  EXPECT_THAT(output.results->rows[1].values, ElementsAre("1", "GPU Par (s)"));
}

TEST(ResultTables, AReferenceIsNoneOfWhatIsTried) {
  std::string text =
      "| Length | Tile | Fwd PT (ms) | Fwd TR (ms) | Fwd Speedup | E2E PT (ms) | E2E TR (ms) | E2E Speedup "
      "|\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (int length = 1; length < 5; ++length)
    for (int tile = 16; tile <= 64; tile *= 2)
      text += fmt::format("| {0} | {1} | 0.{0} | 0.{2} | 0.5x | 1.{0} | 1.{2} | 0.8x |\n", length, tile,
                          10 * length + tile);
  const ProgramOutput output = ReadProgram(text);
  ASSERT_TRUE(output.results);
  EXPECT_EQ(output.results->measure, "E2E TR (ms)");
}

TEST(ResultTables, WhereASpeedupIsBelowOne) {
  std::string text = "| Length | Dim | Old (ms) | New (ms) | Speedup |\n|---|---|---|---|---|\n";
  for (int length = 128; length <= 1024; length *= 2)
    for (int dim = 16; dim <= 64; dim *= 2)
      text += fmt::format("| {} | {} | {} | 1.0 | {}x |\n", length, dim, length < 512 ? 0.5 : 1.6,
                          length < 512 ? 0.5 : 1.6);
  const ProgramOutput output = ReadProgram(text);
  ASSERT_TRUE(output.results);
  ASSERT_EQ(output.results->speedups.size(), 1u);
  const ResultSpeedup& speedup = output.results->speedups[0];
  EXPECT_EQ(speedup.name, "Speedup");
  EXPECT_EQ(speedup.rows, 12);
  EXPECT_EQ(speedup.below, 6);
  EXPECT_EQ(speedup.setting, "Length");
  EXPECT_EQ(speedup.from, "512");
}

TEST(ResultTables, SpeedupsThatAreNoneOverAReference) {
  const auto count = [](const std::string& text) {
    const ProgramOutput output = ReadProgram(text);
    return output.results ? output.results->speedups.size() : 0;
  };
  EXPECT_EQ(count("size,base_ms,new_ms,speedup\n1,1.0,0.8,1.25\n2,2,1.5,1.33\n4,4,2.6,1.54\n"), 1u);
  EXPECT_EQ(count("size,base_ms,new_ms,speedup\n1,1.0,0.8,0.25\n2,2,1.5,0.33\n4,4,2.6,0.54\n"), 0u) << "gain";
  EXPECT_EQ(count("size,new_ms,speedup_pct\n1,0.8,0.25\n2,1.5,0.33\n4,2.6,0.54\n"), 0u);
  EXPECT_EQ(count("size,triton_ms,torch_ms,speedup\n1,1,2,0.5\n2,2,3,0.67\n4,4,5,0.8\n"), 0u) << "inverse";
  EXPECT_EQ(count("gpus,time_s,speedup\n2,130,0.77\n4,160,0.63\n8,190,0.6\n"), 0u) << "devices";
  EXPECT_EQ(count("batch,latency_ms,speedup\n1,10,1.0\n2,12,0.83\n4,15,0.67\n"), 0u) << "of a row";
  EXPECT_EQ(count("config,latency_ms,energy_speedup\na,10,1.1\nb,6,0.9\nc,5,0.8\n"), 0u);
}

TEST(ResultTables, NoSlowerThanByChance) {
  const ProgramOutput output =
      ReadProgram("size,ms,speedup\n1,1.2,0.999\n2,1.3,0.97\n4,1.4,1.002\n8,2,0.9\n");
  ASSERT_TRUE(output.results);
  ASSERT_EQ(output.results->speedups.size(), 1u);
  EXPECT_EQ(output.results->speedups[0].below, 1);
}

TEST(ResultTables, AWrongResultIsNoneAndABoundIsNoWay) {
  const ProgramOutput output = ReadProgram(
      "kernel,N,tflops,correct\nnaive,4096,1.5,True\ntiled,4096,6.5,True\ncublas,4096,152,True\n"
      "async,4096,900,False\ntheoretical_peak,4096,312,True\n");
  ASSERT_TRUE(output.results);
  ASSERT_EQ(output.results->rows.size(), 4u);
  EXPECT_TRUE(output.results->rows[3].failed);
  EXPECT_FALSE(output.results->rows[2].failed);
}

TEST(ResultTables, AFailureIsAResultAsWell) {
  const ProgramOutput output =
      ReadProgram("kernel,N,time_us,correct\nnaive,4096,91,True\ntiled,4096,21,True\nasync,4096,3,False\n");
  ASSERT_TRUE(output.results);
  EXPECT_EQ(output.results->failed, 1);
}

TEST(ResultTables, KernelsOfOtherWorkAreNoWays) {
  const ProgramOutput output = ReadProgram(
      "kernel,N,time_us\ngemm_naive,4096,91000\ngemm_tiled,4096,21000\ngemv_naive,4096,310\n"
      "gemv_tiled,4096,90\ngemm_naive,8192,99000\ngemm_tiled,8192,41000\ngemv_naive,8192,510\n"
      "gemv_tiled,8192,190\n");
  if (output.results) {
    EXPECT_NE(output.results->kinds.at(0), SettingKind::kChoice);
  }
}

TEST(ResultTables, RowsThatArePrintedAgainCountOnce) {
  std::string rows, text;
  for (int length = 1; length < 5; ++length) rows += fmt::format("| {0} | {0}.5 |\n", length);
  for (const char* title : {"Best", "All"})
    text += fmt::format("{}\n| Length | Time (ms) |\n|---|---|\n{}\n", title, rows);
  const ProgramOutput output = ReadProgram(text);
  ASSERT_TRUE(output.results);
  EXPECT_EQ(output.results->rows.size(), 4u);
}

TEST(ResultTables, KernelsOfWaysAreAChoice) {
  std::string text = "device,N,kernel,ms\n";
  for (const int n : {512, 1024})
    for (const char* kernel : {"naive", "tiled", "wmma", "cublas_tf32"})
      text += fmt::format("H100,{},{},{}.{}\n", n, kernel, n / 512, std::string(kernel).size());
  const ProgramOutput output = ReadProgram(text);
  ASSERT_TRUE(output.results);
  EXPECT_THAT(output.results->settings, ElementsAre("N", "kernel"));
  EXPECT_EQ(output.results->kinds[1], SettingKind::kChoice);
}

TEST(ResultTables, KernelsOfAProfileAreNoChoice) {
  std::string text = "rank,kernel,ms\n";
  for (const int rank : {0, 1})
    for (const char* kernel : {"fused_adam", "flash_fwd", "cublas_gemm"})
      text += fmt::format("{},{},{}.5\n", rank, kernel, std::string(kernel).size());
  const ProgramOutput output = ReadProgram(text);
  ASSERT_TRUE(output.results);
  for (const SettingKind kind : output.results->kinds) EXPECT_EQ(kind, SettingKind::kGiven);
  EXPECT_NE(RefusalOf("name,source,kernel_time,ids\na,trace1,10,1\nb,trace1,70,2\nc,trace2,60,3\n"), "");
}

TEST(ResultTables, ColumnsThatEndInTimeAreTimes) {
  std::string text = "model,batch_size,hf_time,sdpa_compile_time\n";
  for (const char* model : {"gpt2", "t5"})
    for (const int batch : {1, 8}) text += fmt::format("{},{},0.0{},0.1{}\n", model, batch, batch, batch);
  const ProgramOutput output = ReadProgram(text);
  ASSERT_TRUE(output.results);
  EXPECT_EQ(output.results->measure, "times");
  ASSERT_EQ(output.results->rows.size(), 8u);
}

TEST(ResultTables, TitlesOfTablesAreASetting) {
  std::string text;
  for (const char* way : {"peer", "staged"})
    text += fmt::format(
        "=== {} ===\nsize      time(ms)     bw(GB/s)\n1024      {}.1      0.01\n2048      {}.2      0.02\n\n",
        way, std::string_view(way).size(), std::string_view(way).size());
  const ProgramOutput output = ReadProgram(text);
  ASSERT_TRUE(output.results);
  EXPECT_THAT(output.results->settings, ElementsAre("size", "table"));
  EXPECT_THAT(output.results->rows[3].values, ElementsAre("2048", "staged"));
}

TEST(ResultTables, HowMuchIsDoneInATime) {
  const ProgramOutput output =
      ReadProgram("batch_size,gpus,latency_ms\n1,1,5\n8,1,10\n16,1,**20**\n32,1,OOM\n");
  ASSERT_TRUE(output.results);
  EXPECT_THAT(output.results->kinds, ElementsAre(SettingKind::kLoad));
  EXPECT_EQ(output.results->pace_measure, "batch_size / latency_ms");
  EXPECT_DOUBLE_EQ(output.results->rows[2].pace, 0.8);
  EXPECT_TRUE(output.results->rows[3].out_of_memory);
  EXPECT_EQ(output.results->failed, 1);
}

TEST(ResultTables, RatesOverDevicesWithCommas) {
  const ProgramOutput output = ReadProgram(
      "| GPUs | tokens/s | speedup |\n|---|---|---|\n| 1 | 8,210 | 1x |\n| 2 | 16,105 | 1.96x |\n"
      "| 8 | 63,010 | 7.67x |\n");
  ASSERT_TRUE(output.results);
  EXPECT_THAT(output.results->kinds, ElementsAre(SettingKind::kDevices));
  EXPECT_DOUBLE_EQ(output.results->rows[2].pace, 63010);
}

TEST(ResultTables, ModelsAndMachinesAreNoChoice) {
  const ProgramOutput output =
      ReadProgram("model,batch,dtype,images_per_sec\na,1,fp16,9\nb,1,fp16,5\na,1,fp32,4\nb,1,fp32,2\n");
  ASSERT_TRUE(output.results);
  EXPECT_THAT(output.results->settings, ElementsAre("model", "dtype"));
  EXPECT_THAT(output.results->kinds, ElementsAre(SettingKind::kGiven, SettingKind::kChoice));
}

TEST(ResultTables, RecordsALine) {
  std::string text;
  for (const char* mode : {"eager", "compiled"})
    for (const int batch : {1, 8})
      text += fmt::format("{{\"mode\": \"{}\", \"batch_size\": {}, \"tokens_per_second\": {}}}\n", mode,
                          batch, 40 * batch);
  const ProgramOutput output = ReadProgram(text);
  ASSERT_TRUE(output.results);
  EXPECT_EQ(output.results->rows.size(), 4u);
  EXPECT_THAT(output.results->kinds, ElementsAre(SettingKind::kChoice, SettingKind::kLoad));
}

TEST(ResultTables, RecordsAnywhereInADocument) {
  const ProgramOutput output = ReadProgram(
      R"({"device": "A10G", "results": [{"batch_size": 1, "latency_ms": 9.0}, {"batch_size": 8, "latency_ms": )"
      R"(40.0}, {"batch_size": 16, "latency_ms": 78.0}]})");
  ASSERT_TRUE(output.results);
  EXPECT_THAT(output.results->settings, ElementsAre("batch_size"));
  EXPECT_EQ(output.program, "a benchmark");
}

TEST(ResultTables, RecordsBelowTheirSettings) {
  const ProgramOutput output = ReadProgram(
      R"({"fp32": {"batch_1": {"latency_ms": 9.1}, "batch_8": {"latency_ms": 41}}, "fp16": {"batch_1": )"
      R"({"latency_ms": 6.0}, "batch_8": {"latency_ms": 17.1}}})");
  ASSERT_TRUE(output.results);
  EXPECT_THAT(output.results->settings, ElementsAre("variant", "batch"));
  EXPECT_THAT(output.results->kinds, ElementsAre(SettingKind::kChoice, SettingKind::kLoad));
}

TEST(ResultTables, PartsOfALatencyAreSummed) {
  std::string text = "[";
  for (const int batch : {1, 8, 16})
    for (const char* type : {"inference", "datatransfer"})
      text += fmt::format("{}{{\"batch_size\": {}, \"type\": \"{}\", \"value\": {}}}",
                          text.size() > 1 ? "," : "", batch, type, type[0] == 'i' ? 0.5 : 0.25);
  const ProgramOutput output = ReadProgram(text + "]");
  ASSERT_TRUE(output.results);
  EXPECT_DOUBLE_EQ(output.results->rows[2].result, 0.75);
  EXPECT_DOUBLE_EQ(output.results->rows[2].pace, 16 / 0.75);
}

TEST(ResultTables, PiecesOfABatchAreNoLoad) {
  const ProgramOutput output =
      ReadProgram("batch_size,num_microbatches,total_latency_ms\n32,2,83\n32,4,132\n32,8,235\n");
  ASSERT_TRUE(output.results);
  EXPECT_THAT(output.results->kinds, ElementsAre(SettingKind::kChoice));
  // Without the batch they may be more work.
  const ProgramOutput alone = ReadProgram("num_microbatches,total_latency_ms\n2,83\n4,132\n8,235\n");
  ASSERT_TRUE(alone.results);
  EXPECT_THAT(alone.results->kinds, ElementsAre(SettingKind::kGiven));
}
TEST(ResultTables, WordsThatEndLikeAUnitAreNoTime) {
  std::string text = "[";
  for (int gpu = 0; gpu < 4; ++gpu)
    text += fmt::format(
        "{}{{\"gpu\": {}, \"asic\": {{\"num_compute_units\": 256, \"oam_id\": {}}}, \"speed\": "
        "{{\"value\": 32, \"unit\": \"GT/s\"}}}}",
        gpu ? "," : "", gpu, gpu);
  RefusalOf(text + "]");
}
TEST(ResultTables, GoogleBenchmarkAsText) {
  const ProgramOutput output = ReadProgram(
      "Run on (32 X 3000 MHz CPU s)\n--------\nBenchmark                           Time             CPU   "
      "Iterations\n--------\n"
      "BM_Softmax/naive/1024            3012 ns         3011 ns       232111\n"
      "BM_Softmax/naive/4096           12310 ns        12301 ns        57012\n"
      "BM_Softmax/online/1024           1203 ns         1202 ns       582011\n"
      "BM_Softmax/online/4096           4901 ns         4900 ns       142011\n");
  ASSERT_TRUE(output.results);
  EXPECT_THAT(output.results->settings, ElementsAre("argument 1", "argument 2"));
  EXPECT_EQ(output.results->measure, "Time (ns)");
}
TEST(ResultTables, PytestBenchmark) {
  const ProgramOutput output = ReadProgram(
      "===== test session starts =====\nplatform linux -- Python 3.11.4\nbenchmark: 4.0.0\ncollected 3 "
      "items\n\n"
      "------ benchmark: 3 tests ------\n"
      "Name (time in ms)              Min                Max               Mean               OPS            "
      "Rounds\n------\n"
      "test_attn[flash]            2.0012 (1.0)       2.4012 (1.0)       2.1012 (1.0)       475.9185 (1.0)   "
      "   50\n"
      "test_attn[eager]            3.0012 (1.50)      3.6012 (1.50)      3.1012 (1.48)      322.4 (0.68)     "
      "   50\n"
      "test_attn[math]            12.0012 (6.00)     13.6012 (5.70)     12.1012 (5.76)      82.6 (0.17)      "
      "   50\n------\n\n"
      "Legend:\n  Outliers: 1 Standard Deviation from Mean.\n  OPS: Operations Per Second\n"
      "===== 3 passed in 4.1s =====\n");
  ASSERT_TRUE(output.results);
  EXPECT_EQ(output.results->measure, "mean time (ms)");
  EXPECT_DOUBLE_EQ(output.results->rows[0].result, 2.1012);
  const ProgramOutput saved = ReadProgram(
      R"({"machine_info": {"node": "x"}, "benchmarks": [{"group": "a", "name": "test_a[math]", "fullname": "t::a", )"
      R"("params": {"impl": "math"}, "param": "math", "stats": {"min": 0.01, "mean": 0.0121, "rounds": 50, "ops": 82}}, )"
      R"({"group": "a", "name": "test_a[flash]", "fullname": "t::b", "params": {"impl": "flash"}, "param": "flash", )"
      R"("stats": {"min": 0.001, "mean": 0.0021, "rounds": 50, "ops": 476}}, {"group": "a", "name": "test_a[mem]", )"
      R"("fullname": "t::c", "params": {"impl": "mem"}, "param": "mem", "stats": {"min": 0.003, "mean": 0.0031, )"
      R"("rounds": 50, "ops": 322}}]})");
  ASSERT_TRUE(saved.results);
  EXPECT_EQ(saved.results->measure, "mean time (s)");
}
TEST(ResultTables, HyperfineComparesTwoCommands) {
  const ProgramOutput output = ReadProgram(R"json({
  "results": [
    {"command": "python infer.py --compile", "mean": 4.121, "stddev": 0.031, "median": 4.118, "user": 3.9,
     "system": 0.71, "min": 4.08, "max": 4.19, "times": [4.08, 4.12], "exit_codes": [0, 0]},
    {"command": "python infer.py", "mean": 6.233, "stddev": 0.041, "median": 6.218, "user": 5.9,
     "system": 0.81, "min": 6.18, "max": 6.29, "times": [6.18, 6.22], "exit_codes": [0, 0]}
  ]
})json");
  const ProgramOutput table = ReadProgram(
      "| Command | Mean [s] | Min [s] | Max [s] | Relative |\n|:---|---:|---:|---:|---:|\n"
      "| `python infer.py --compile` | 4.121 ± 0.031 | 4.080 | 4.190 | 1.00 |\n"
      "| `python infer.py` | 6.233 ± 0.041 | 6.180 | 6.290 | 1.51 ± 0.02 |\n");
  for (const ProgramOutput& both : {output, table}) {
    ASSERT_TRUE(both.results);
    EXPECT_EQ(both.results->measure, "mean time (s)");
    EXPECT_THAT(both.results->settings, ElementsAre("variant"));
    ASSERT_EQ(both.results->rows.size(), 2u);
    EXPECT_THAT(both.results->rows[1].values, ElementsAre("python infer.py"));
    EXPECT_DOUBLE_EQ(both.results->rows[1].result, 6.233);
  }
}

TEST(ResultTables, HyperfineOfOtherWorkComparesNothing) {
  const auto kind_of = [](const std::string& one, const std::string& two, double spread) {
    const ProgramOutput output = ReadProgram(fmt::format(
        R"json({{"results": [{{"command": "{}", "mean": 4.1, "stddev": {}, "user": 3.9, "system": 0.7}},
        {{"command": "{}", "mean": 6.2, "stddev": 0.1, "user": 5.9, "system": 0.8}}]}})json",
        one, spread, two));
    return output.results ? output.results->settings.at(0) : "none";
  };
  constexpr double kSmall = 0.1, kGreat = 3;
  EXPECT_EQ(kind_of("python train.py --workers 0", "python train.py --workers 8", kSmall), "variant");
  EXPECT_EQ(kind_of("python train.py --workers 0", "python train.py --workers 8", kGreat), "case");
  EXPECT_EQ(kind_of("OMP_NUM_THREADS=1 ./a", "OMP_NUM_THREADS=8 ./a", kSmall), "variant");
  EXPECT_EQ(kind_of("./bench --dtype fp16", "./bench --dtype fp32", kSmall), "variant");
  EXPECT_EQ(kind_of("make -j4", "make -j8", kSmall), "variant");
  EXPECT_EQ(kind_of("python train.py --epochs 1", "python train.py --epochs 2", kSmall), "case");
  EXPECT_EQ(kind_of("./nbody 1000", "./nbody 2000", kSmall), "case");
  EXPECT_EQ(kind_of("./asr short.wav", "./asr long.wav", kSmall), "case");
  EXPECT_EQ(kind_of("python preprocess.py", "python train.py", kSmall), "case");
  EXPECT_EQ(kind_of("./run --model tiny", "./run --model large", kSmall), "case");
  EXPECT_EQ(kind_of("./run --skip-eval", "./run", kSmall), "case");
}

TEST(ResultTables, HyperfineOfACommandThatFails) {
  const ProgramOutput output = ReadProgram(
      R"json({"results": [{"command": "./a --fp16", "mean": 0.9, "stddev": 0.1, "user": 1, "system": 0, "exit_codes": [1]},
      {"command": "./a", "mean": 6.2, "stddev": 0.1, "user": 1, "system": 0, "exit_codes": [0]},
      {"command": "./a --bf16", "mean": 4.2, "stddev": 0.1, "user": 1, "system": 0, "exit_codes": [0]}]})json");
  ASSERT_TRUE(output.results);
  EXPECT_TRUE(output.results->rows[0].failed);
  EXPECT_FALSE(output.results->rows[1].failed);
}

TEST(ResultTables, CompareOfTorch) {
  const ProgramOutput output = ReadProgram(
      "[------------- Batched dot -------------]\n                      |  mul/sum  |   bmm  \n"
      "1 threads: ------------------------------\n      [64, 64]        |     12.1  |    18.1\n"
      "      [1024, 1024]    |    210.3  |   301.2\n4 threads: ------------------------------\n"
      "      [64, 64]        |     12.0  |    17.9\n      [1024, 1024]    |     61.1  |    88.2\n\n"
      "Times are in microseconds (us).\n");
  ASSERT_TRUE(output.results);
  EXPECT_EQ(output.results->measure, "time (us)");
  EXPECT_EQ(output.results->rows.size(), 8u);
  EXPECT_THAT(output.results->settings, ElementsAre("threads", "case", "variant"));
}
TEST(ResultTables, GoogleBenchmark) {
  const ProgramOutput output = ReadProgram(
      R"({"context": {"num_cpus": 32}, "benchmarks": [{"name": "BM_S/naive/64", "run_type": "iteration", )"
      R"("iterations": 1, "real_time": 3.0, "cpu_time": 3.0, "time_unit": "us"}, {"name": "BM_S/online/64", )"
      R"("run_type": "iteration", "iterations": 2, "real_time": 1.0, "cpu_time": 3.0, "time_unit": "us"}, )"
      R"({"name": "BM_S/naive/128", "run_type": "iteration", "iterations": 3, "real_time": 6.0, "cpu_time": 3.0, )"
      R"("time_unit": "us"}, {"name": "BM_S/online/128", "run_type": "iteration", "iterations": 4, "real_time": )"
      R"(2.0, "cpu_time": 3.0, "time_unit": "us"}]})");
  ASSERT_TRUE(output.results);
  EXPECT_THAT(output.results->settings, ElementsAre("argument 1", "argument 2"));
  EXPECT_DOUBLE_EQ(output.results->rows[1].result, 1);
}

TEST(ResultTables, OtherTablesAreNone) {
  EXPECT_THAT(
      RefusalOf(
          R"([{"count": 9}, {"name": "conv", "timeMs": 5, "percentage": 9}, {"name": "fc", "timeMs": 4}])"),
      HasSubstr("JSON"))
      << "a profile of layers";
  EXPECT_THAT(
      RefusalOf(R"({"history": [{"epoch": 1, "epoch_time": 9}, {"epoch": 2, "epoch_time": 8}, {"epoch": 3, )"
                R"("epoch_time": 8}]})"),
      HasSubstr("JSON"))
      << "a training";
  EXPECT_THAT(RefusalOf("name,size,kind\na,0.5,x\nb,0.4,y\nc,0.3,x\nd,0.2,y\ne,0.1,x\n"),
              HasSubstr("not a profile"));
  EXPECT_THAT(RefusalOf("type,time ms,percent\ncompute,6,60\ncopy,2,20\nidle,2,20\nother,1,10\n"),
              HasSubstr("not a profile"))
      << "parts of one run";
  EXPECT_THAT(RefusalOf("Op Name,Kernel Name,Total GPU Time (ns)\na,x,6\na,y,2\nb,x,2\nb,y,1\n"),
              HasSubstr("not a profile"))
      << "a profile";
  EXPECT_THAT(RefusalOf("name,latency_ms,kind\na,1.5,x\nb,2.5,x\n"), HasSubstr("not a profile"))
      << "two rows";
}

TEST(ResultTables, SummariesOfTrtexec) {
  std::string text = "[I] Precision: FP32+FP16\n";
  for (const int batch : {1, 4})
    text += fmt::format(
        "[I] Input inference shape : images={}x3x640x640\n[I] === Performance summary ===\n[I] Throughput: "
        "345.1 "
        "qps\n"
        "[I] Latency: min = 2.8 ms, max = 2.9 ms, mean = 3.5 ms, median = 2.8 ms\n"
        "[I] Enqueue Time: min = 0.01 ms, max = 0.4 ms, mean = 0.05 ms, median = 0.03 ms\n"
        "[I] H2D Latency: min = 0.1 ms, max = 0.2 ms, mean = 0.25 ms, median = 0.1 ms\n"
        "[I] GPU Compute Time: min = 2.8 ms, max = 2.9 ms, mean = 2.75 ms, median = 2.8 ms\n"
        "[I] D2H Latency: min = 0.1 ms, max = 0.2 ms, mean = 0.5 ms, median = 0.1 ms\n"
        "[I] Total Host Walltime: 10.0 s\n[I] Total GPU Compute Time: 9.5 s\n",
        batch);
  const ProgramOutput output = ReadProgram(text);
  EXPECT_EQ(output.program, "TensorRT's trtexec");
  ASSERT_EQ(output.engines.size(), 2u);
  const EngineTest& test = output.engines[1];
  EXPECT_DOUBLE_EQ(test.queries_per_s, 345.1);
  EXPECT_EQ(test.batch, 4);
  EXPECT_EQ(test.precision, "FP32+FP16");
  EXPECT_DOUBLE_EQ(*test.latency_ns, 3.5e6);
  EXPECT_DOUBLE_EQ(*test.upload_ns, 0.25e6);
  EXPECT_DOUBLE_EQ(*test.download_ns, 0.5e6);
  EXPECT_DOUBLE_EQ(*test.compute_ns, 2.75e6);
  EXPECT_DOUBLE_EQ(*test.all_compute_ns, 9.5e9);
}

TEST(ResultTables, ServersUnderMoreAndMoreRequests) {
  std::string text = "*** Measurement Settings ***\n  Batch size: 2\n\n";
  for (const int at_once : {4, 2})
    text += fmt::format(
        "Request concurrency: {}\n  Client: \n    Request count: 83\n    Throughput: {}.5 infer/sec\n"
        "    p50 latency: 433066 usec\n    p99 latency: 690618 usec\n  Server: \n    Inference count: 166\n"
        "    Execution count: 83\n    Avg request latency: 400000 usec (overhead 376 usec + queue 100000 "
        "usec + "
        "compute input 20 usec + compute infer 290000 usec + compute output 30 usec)\n\n",
        at_once, at_once);
  text +=
      "Request concurrency: 8\n  Failed to obtain stable measurement.\n"
      "Inferences/Second vs. Client p95 Batch Latency\nConcurrency: 2, throughput: 2.5 infer/sec, latency "
      "665004 usec\nConcurrency: 6, throughput: 7.25 infer/sec, latency 700000 usec\n";
  const ProgramOutput output = ReadProgram(text);
  EXPECT_EQ(output.program, "Triton's perf_analyzer");
  ASSERT_EQ(output.loads.size(), 3u);
  const LoadTest& test = output.loads[0];
  EXPECT_EQ(test.concurrency, 2);
  EXPECT_DOUBLE_EQ(test.infer_per_s, 2.5);
  EXPECT_DOUBLE_EQ(*test.latency_ns, 433066e3);
  EXPECT_DOUBLE_EQ(*test.queue_ns, 1e8);
  EXPECT_DOUBLE_EQ(*test.compute_ns, 2.9e8);
  EXPECT_EQ(test.executions, 83);
  EXPECT_EQ(output.loads[2].concurrency, 6);
  EXPECT_DOUBLE_EQ(*output.loads[2].latency_ns, 7e8);
}

TEST(ResultTables, ANumberOfRowsNeedsNoName) {
  const ProgramOutput output = ReadProgram(
      ",batch_size,prompt_len,time (s),throughput (tokens/s)\n0,8,16,0.6,200.5\n1,16,16,0.8,310.5\n"
      "2,8,32,0.7,170.5\n3,16,32,0.9,280.5\n");
  ASSERT_TRUE(output.results);
  EXPECT_EQ(output.results->measure, "time (s)");
  EXPECT_THAT(output.results->settings, ElementsAre("batch_size", "prompt_len"));
}

TEST(ResultTables, AnswersOfDifferentLengthsAreComparedByTheirRate) {
  const ProgramOutput output = ReadProgram(
      "Model,Prompt,Tokens Generated,Total Time (s),Tokens/sec,CPU Load Change (%)\n"
      "a,one?,6,0.5,12.5,-3.2\na,two?,289,20.5,14.5,-11.2\nb,one?,16,0.4,42.5,3.1\nb,two?,149,5.5,29.5,-5."
      "6\n");
  ASSERT_TRUE(output.results);
  EXPECT_EQ(output.results->measure, "Tokens/sec");
  EXPECT_TRUE(output.results->rate);
  EXPECT_DOUBLE_EQ(output.results->rows[2].result, 42.5);
}

TEST(ResultTables, SharesOfTimeAreOfAProfile) {
  for (const char* share : {"%", "Time (%)", "% of total", "CPU %"})
    EXPECT_THAT(RefusalOf(fmt::format("part,time_ms,{}\na,4.5,45\nb,3.5,35\nc,2.5,20\n", share)),
                HasSubstr("not a profile"))
        << share;
}

TEST(ResultTables, StatesOfOneRequestAreRows) {
  std::string text = "[";
  for (int i = 0; i < 4; ++i)
    text += fmt::format(
        "{}{{\"query\": \"q{}\", \"cold\": {{\"ttft\": 7.{}, \"tokens\": 30}}, \"warm\": {{\"ttft\": 0.{}, "
        "\"tokens\": 30}}}}",
        i == 0 ? "" : ", ", i, i, i + 1);
  const ProgramOutput output = ReadProgram(text + "]");
  ASSERT_TRUE(output.results);
  EXPECT_EQ(output.results->measure, "ttft");
  ASSERT_EQ(output.results->rows.size(), 8u);
  EXPECT_EQ(output.results->settings[0], "variant");
  EXPECT_EQ(output.results->kinds[0], SettingKind::kGiven) << "a cold start is no choice";
}

TEST(ResultTables, StagesThatLookAlikeAreNoRows) {
  std::string text = "[";
  for (int i = 0; i < 4; ++i)
    text += fmt::format(
        "{}{{\"batch\": {}, \"forward\": {{\"mean_ms\": 7.{}, \"std\": 1}}, \"backward\": {{\"mean_ms\": "
        "9.{}, "
        "\"std\": 1}}}}",
        i == 0 ? "" : ", ", 1 << i, i, i + 1);
  const ProgramOutput output = ReadProgram(text + "]");
  if (output.results) {
    EXPECT_THAT(output.results->settings, testing::Not(testing::Contains("variant")));
  }
}

std::string TableOfTriton(const char* title, const char* names, int rows = 4) {
  std::string text = fmt::format("{}\n{}\n", title, names);
  for (int i = 0; i < rows; ++i)
    text += fmt::format("{}  {:.1f}  {}.782028  {}.242431\n", i, 1024.0 * (i + 1), 165 + i, 248 - i);
  return text;
}

TEST(ResultTables, ValuesOfTritonWithoutAUnitAreNoChoice) {
  const ProgramOutput output =
      ReadProgram(TableOfTriton("layer-norm-backward:", "          N      Triton       Torch"));
  ASSERT_TRUE(output.results);
  EXPECT_EQ(output.results->measure, "values without a unit");
  EXPECT_THAT(output.results->settings, ElementsAre("N", ""));
  EXPECT_THAT(output.results->kinds, ElementsAre(SettingKind::kGiven, SettingKind::kGiven));
  ASSERT_EQ(output.results->rows.size(), 8u);
  EXPECT_THAT(output.results->rows[7].values, ElementsAre("4096", "Torch"));
  EXPECT_DOUBLE_EQ(output.results->rows[7].result, 245.242431);
  const ProgramOutput rated =
      ReadProgram(TableOfTriton("vector-add:", "          N  Triton (GB/s)  Torch (GB/s)"));
  ASSERT_TRUE(rated.results);
  EXPECT_THAT(rated.results->kinds, ElementsAre(SettingKind::kGiven, SettingKind::kChoice));
}

TEST(ResultTables, ColumnsThatNameWhatTheyMeasureAreNoneOfTriton) {
  const ProgramOutput output = ReadProgram(TableOfTriton("Results:", "   batch  latency_ms  throughput"));
  if (output.results) {
    EXPECT_NE(output.results->measure, "values without a unit");
  }
}

TEST(ResultTables, OnlyAServersCIsItsRequestsAtOnce) {
  const auto kind = [](const char* measure) {
    const ProgramOutput output =
        ReadProgram(fmt::format("n,c,{}\n100,8,1.5\n100,16,2.5\n100,32,4.5\n", measure));
    return output.results ? output.results->kinds.back() : SettingKind::kChoice;
  };
  EXPECT_EQ(kind("tokens_per_s"), SettingKind::kLoad);
  EXPECT_EQ(kind("time_s"), SettingKind::kGiven);
}

TEST(ResultTables, OtherNumberedTablesAreNoneOfTriton) {
  EXPECT_THAT(RefusalOf(TableOfTriton("Some words here:", "          N      Triton       Torch")),
              HasSubstr("not a profile"))
      << "no name of a plot";
  EXPECT_THAT(RefusalOf(TableOfTriton("layer-norm:", "          N      Triton       Torch", 2)),
              HasSubstr("not a profile"));
  EXPECT_THAT(RefusalOf("data:\n    x     y\n0  1.5  2.5\n1  2.5  3.5\n2  3.5  4.5\n"),
              HasSubstr("not a profile"))
      << "no sizes";
}

TEST(ResultTables, ColumnsOfOneUnitOfWhichOneIsAReferenceAreWays) {
  const ProgramOutput output = ReadProgram(
      "Tokens    Custom (us)    PyTorch (us)    Custom (GB/s)    PyTorch (GB/s)    Speedup\n"
      "256             313.5           479.6               40                 26  1.53x\n"
      "1,024           313.6           495.8              161                102  1.58x\n"
      "4,096           319.4           576.5              600                302  1.80x\n");
  ASSERT_TRUE(output.results);
  EXPECT_EQ(output.results->rows.size(), 6u);
  EXPECT_THAT(output.results->kinds, ElementsAre(SettingKind::kGiven, SettingKind::kChoice));
}

}  // namespace
}  // namespace dladvisor
