// SPDX-License-Identifier: Apache-2.0
// CSV of nvidia-smi and of scripts around NVML, written by hand.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ErrorOnReading;
using test::Is;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Metric = TelemetryMetric;

constexpr Ns kMs = 1'000'000, kSecond = 1'000 * kMs;

TEST(SmiCsv, WithoutNamesByUnitAndPlace) {
  const Trace trace = test::ReadLog(
      "2026/04/25 16:06:06.780, 0 %, 3 %, 2 MiB, 20146 MiB, 27, 11.64 W\n"
      "2026/04/25 16:06:11.780, 98 %, 40 %, 20137 MiB, 11 MiB, 61, 67.59 W\n");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization),
              ElementsAre(Is(0, 0, 0), Is(0, 5 * kSecond, 0.98)));
  EXPECT_EQ(test::SamplesOf(trace, Metric::kMemoryUtilization).size(), 2u);
  EXPECT_THAT(test::SamplesOf(trace, Metric::kMemoryUsed), IsEmpty()) << "used and free, or free and used";
  EXPECT_THAT(test::SamplesOf(trace, Metric::kTemperature)[1], Is(0, 5 * kSecond, 61));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kPower)[0], Is(0, 0, 11.64));
  EXPECT_THAT(trace.health.notes[0], HasSubstr("no line of names"));
}

// "nvidia-smi -l > gpu.csv" that another command empties: each goes on where it was.
TEST(SmiCsv, HolesOfZerosAreNoGpus) {
  const std::string hole(71, '\0');
  const Trace trace = test::ReadLog(
      hole + "index, name, memory.used [MiB], utilization.gpu [%]\n" + "0, Tesla V100, 0 MiB, 0 %\n" + hole +
      "0, Tesla V100, 420 MiB, 93 %\n0, Tesla V10" + hole + "0, Tesla V100, 420 MiB, 97 %\n" + hole + "\n" +
      std::string(1, '\0') + "0, Tesla V100, 420 MiB, 99 %\n" + hole);
  EXPECT_EQ(trace.devices.size(), 1u);
  EXPECT_EQ(test::SamplesOf(trace, Metric::kGpuUtilization).size(), 4u);
}

TEST(SmiCsv, OfAScriptBehindAPreambleAndBeforeATrailer) {
  const Trace trace = test::ReadLog(
      "Monitor started at 2026-05-06 22:28:43\nLog file: run/gpu.log\nInterval: 10s\n----------\n"
      "Time,GPU,Name,Used_MB,Total_MB,Utilization_%,Temperature_C\n"
      "2026-05-06 22:28:43,card0,,100,65536,50.0,53.0\n2026-05-06 22:28:53,card0,,100,65536,75.0,54.0\n"
      "----------\nMonitor stopped at 2026-05-06 22:29:03\n");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization),
              ElementsAre(Is(0, 0, 0.5), Is(0, 10 * kSecond, 0.75)));
}

TEST(SmiCsv, ColumnsOfAServer) {
  const Trace trace = test::ReadLog(
      "timestamp,gpu_util_pct,gpu_mem_used_mb,kv_cache_pct,requests_running,requests_waiting,gen_tokens_"
      "total,"
      "preemptions\n"
      "2026-05-03T04:57:42,0.0,60340,0.0,0,0,0,0\n2026-05-03T04:57:43,98.0,60340,91.0,40,12,500,0\n"
      "2026-05-03T04:57:44,99.0,60340,100.0,44,46,1500,7\n");
  ASSERT_EQ(trace.serving_log.samples.size(), 3u);
  EXPECT_EQ(trace.serving_log.samples[2].running, 44);
  EXPECT_EQ(trace.serving_log.samples[2].waiting, 46);
  EXPECT_DOUBLE_EQ(*trace.serving_log.samples[1].cache_used, 0.91);
  EXPECT_DOUBLE_EQ(*trace.serving_log.samples[2].generated_tokens_per_second, 1000);
  EXPECT_EQ(trace.serving_log.preemptions, 7);
  EXPECT_EQ(test::SamplesOf(trace, Metric::kGpuUtilization).size(), 3u);
}

// A counter stands where the server's life before left it, and a column that says so is in percent.
TEST(SmiCsv, ColumnsOfAServerAtRest) {
  std::string text = "timestamp,gpu_util_pct,gpu_mem_used_mb,kv_cache_pct,requests_running,preemptions\n";
  for (int second = 10; second < 20; ++second)
    text += fmt::format("2026-05-03T04:57:{},80.0,60340,0.{},2,1840\n", second, second);
  const Trace trace = test::ReadLog(text);
  EXPECT_EQ(trace.serving_log.preemptions, 0);
  ASSERT_EQ(trace.serving_log.samples.size(), 10u);
  EXPECT_DOUBLE_EQ(*trace.serving_log.samples[9].cache_used, 0.0019);
}

TEST(SmiCsv, ATableOfABenchmarkIsNone) {
  EXPECT_THAT(test::RefusalOf(
                  "gpu,m,n,k,mean_ms,tflops\nA100,1024,1024,1024,0.12,17.9\nA100,2048,2048,2048,0.5,33\n"),
              HasSubstr("not a profile"));
}

TEST(SmiCsv, OfAmdSmi) {
  const Trace trace = test::ReadLog(
      "timestamp,gpu,power_usage,hotspot_temperature,gfx,gfx_clock,mem,vram_used,vram_total\n"
      "1756894500,0,713,78,98,2100,45,120345,196592\n"
      "1756894501,0,720,79,99,2100,45,120345,196592\n");
  EXPECT_EQ(trace.facts.at("profiler"), "amd-smi");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization),
              ElementsAre(Is(0, 0, 0.98), Is(0, kSecond, 0.99)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kTemperature)[0], Is(0, 0, 78));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kSmClock)[0], Is(0, 0, 2.1e9));
}

TEST(SmiCsv, WithoutNamesOfSeveralGpus) {
  const Trace trace = test::ReadLog(
      "2026/04/25 16:06:06.780, 0, NVIDIA A100, 95 %, 40960 MiB, 1000 MiB\n"
      "2026/04/25 16:06:06.790, 1, NVIDIA A100, 5 %, 40960 MiB, 10 MiB\n");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization),
              ElementsAre(Is(0, 0, 0.95), Is(1, 10 * kMs, 0.05)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kMemoryUsed),
              ElementsAre(Is(0, 0, 1000 * test::kMiB), Is(1, 10 * kMs, 10 * test::kMiB)));
}

TEST(SmiCsv, AUtilizationBesideAColumnOfGpus) {
  const Trace trace = test::ReadLog("Time,GPU_ID,Utilization\n1736204105.0,0,0\n1736204106.0,0,42\n");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization),
              ElementsAre(Is(0, 0, 0), Is(0, kSecond, 0.42)));
}

TEST(SmiCsv, FieldsOfDcgm) {
  const Trace trace = test::ReadLog(
      "timestamp,gpu,DCGM_FI_DEV_GPU_UTIL,DCGM_FI_DEV_FB_USED,DCGM_FI_DEV_POWER_USAGE\n"
      "2026-01-02T03:04:05Z,1,90,2048,310.5\n");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization), ElementsAre(Is(1, 0, 0.9)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kMemoryUsed), ElementsAre(Is(1, 0, 2048 * test::kMiB)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kPower), ElementsAre(Is(1, 0, 310.5)));
}

TEST(SmiCsv, WithUnits) {
  const Trace trace = test::ReadLog(
      "timestamp, index, name, utilization.gpu [%], memory.used [MiB], memory.total [MiB], power.draw [W], "
      "power.limit [W], temperature.gpu, clocks.current.sm [MHz], clocks.max.sm [MHz]\r\n"
      "2024/01/02 23:59:59.500, 1, NVIDIA A100, 95 %, 1000 MiB, 40960 MiB, 250.50 W, 400.00 W, 61, 1200 MHz, "
      "1410 MHz\r\n"
      "2024/01/02 23:59:59.510, 0, NVIDIA A100, [N/A], 5 MiB, 40960 MiB, [Not Supported], 400.00 W, 30, 210 "
      "MHz, 1410 MHz\r\n"
      "2024/01/03 00:00:00.500, 1, NVIDIA A100, 7 %, 1000 MiB, 40960 MiB, 250.50 W, 400.00 W, 62, 1200 MHz, "
      "1410 MHz\r\n");
  EXPECT_EQ(trace.format, "nvidia-smi");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization),
              ElementsAre(Is(1, 0, 0.95), Is(1, kSecond, 0.07)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kMemoryUsed),
              ElementsAre(Is(1, 0, 1000 * test::kMiB), Is(0, 10 * kMs, 5 * test::kMiB),
                          Is(1, kSecond, 1000 * test::kMiB)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kPower), ElementsAre(Is(1, 0, 250.5), Is(1, kSecond, 250.5)));
  EXPECT_EQ(test::SamplesOf(trace, Metric::kPowerLimit).size(), 3u);
  EXPECT_THAT(test::SamplesOf(trace, Metric::kTemperature)[1], Is(0, 10 * kMs, 30));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kSmClock)[0], Is(1, 0, 1.2e9));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kSmClockLimit)[0], Is(1, 0, 1.41e9));
  EXPECT_THAT(trace.telemetry.sample.front(), 0u);
  EXPECT_THAT(trace.telemetry.sample.back(), 2u);
  EXPECT_EQ(trace.devices.at(0).name, "NVIDIA A100");
  EXPECT_EQ(trace.devices.at(0).memory_bytes, int64_t{40960} << 20);
  EXPECT_EQ(trace.session_duration_ns, kSecond);
  EXPECT_FALSE(trace.clock_origin_utc_ns.has_value()) << "of the machine's time zone";
  EXPECT_THAT(trace.health.notes, IsEmpty());
  EXPECT_THAT(trace.health.rows_skipped, IsEmpty());
}

TEST(SmiCsv, AllMemoryIsWhatIsUsedAndFree) {
  const auto text = [](const std::string& more, const std::string& cell) {
    return "timestamp, utilization.gpu [%], memory.used [MiB], memory.free [MiB]" + more +
           "\n2025/06/13 00:27:52.195, 99, 1000, 3000" + cell + "\n2025/06/13 00:27:53.195, 99, 1000, [N/A]" +
           cell + "\n";
  };
  EXPECT_THAT(test::SamplesOf(test::ReadLog(text("", "")), Metric::kMemoryTotal),
              ElementsAre(Is(0, 0, 4000 * test::kMiB)));
  EXPECT_EQ(test::ReadLog(text(", memory.total [MiB]", ", 4096")).devices[0].memory_bytes, 4096 * test::kMiB);
}

TEST(SmiCsv, WithoutUnitsAndTimes) {
  const Trace trace =
      test::ReadLog("uuid, utilization.gpu, memory.used\nGPU-a, 50, 1024\nGPU-b, 1, 0\nGPU-a, 0, 1\n");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization),
              ElementsAre(Is(0, -1, 0.5), Is(1, -1, 0.01), Is(0, -1, 0)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kMemoryUsed)[0], Is(0, -1, 1024 * test::kMiB));
  EXPECT_EQ(trace.devices.at(1).uuid, "GPU-b");
  EXPECT_FALSE(trace.session_duration_ns.has_value());
  EXPECT_THAT(trace.health.notes, ElementsAre(HasSubstr("does not record when")));
}

std::string Utf16(const std::string& ascii, bool big_endian) {
  std::string text = big_endian ? "\xfe\xff" : "\xff\xfe";
  for (const char c : ascii) {
    if (big_endian) text += '\0';
    text += c;
    if (!big_endian) text += '\0';
  }
  return text;
}

TEST(SmiCsv, InUtf16AsPowerShellRedirectsIt) {
  std::string csv = "timestamp, index, utilization.gpu [%]\r\n";
  for (int second = 0; second < 60; ++second)
    for (int minute = 0; minute < 30; ++minute)
      csv += fmt::format("2026/01/06 16:{:02}:{:02}.000, 0, {} %\r\n", minute, second, second);
  const auto samples = test::SamplesOf(test::ReadLog(csv), TelemetryMetric::kGpuUtilization);
  ASSERT_EQ(samples.size(), 1800u);
  for (const bool big_endian : {false, true})
    EXPECT_EQ(test::SamplesOf(test::ReadLog(Utf16(csv, big_endian)), TelemetryMetric::kGpuUtilization),
              samples);
}

TEST(SmiCsv, DatesWithTheYearLast) {
  const auto seconds_between = [](const std::string& first, const std::string& second) {
    const auto samples = test::SamplesOf(
        test::ReadLog("timestamp,index,utilization.gpu [%]\n" + first + ",0,10 %\n" + second + ",0,20 %\n"),
        TelemetryMetric::kGpuUtilization);
    return samples.size() == 2 ? (std::get<1>(samples[1]) - std::get<1>(samples[0])) / 1'000'000'000 : -1;
  };
  EXPECT_EQ(seconds_between("03-11-2026 14:05:00", "03-12-2026 14:05:01"), 86'401) << "month first";
  EXPECT_EQ(seconds_between("31.03.2026 23:59:59", "01.04.2026 00:00:00"), 1) << "day first";
  EXPECT_EQ(seconds_between("3/31/2026 11:59:59 AM", "3/31/2026 12:00:00 PM"), 1);
}

TEST(SmiCsv, ThrottleReasons) {
  const std::string prefix = "clocks_event_reasons.";
  const Trace bits = test::ReadLog(
      "timestamp, index, clocks_throttle_reasons.active\n"
      "2024/01/02 00:00:00.000, 0, 0x0000000000000000\n"
      "2024/01/02 00:00:01.000, 0, 0x0000000000000004\n"
      "2024/01/02 00:00:02.000, 0, 0x0000000000000060\n"
      "2024/01/02 00:00:03.000, 0, 0x0000000000000001\n");
  EXPECT_THAT(test::SamplesOf(bits, Metric::kThrottledByPower),
              ElementsAre(Is(0, 0, 0), Is(0, kSecond, 1), Is(0, 2 * kSecond, 0), Is(0, 3 * kSecond, 0)));
  EXPECT_THAT(test::SamplesOf(bits, Metric::kThrottledByHeat),
              ElementsAre(Is(0, 0, 0), Is(0, kSecond, 0), Is(0, 2 * kSecond, 1), Is(0, 3 * kSecond, 0)));
  const Trace words =
      test::ReadLog("index, " + prefix + "hw_thermal_slowdown, " + prefix + "sw_thermal_slowdown, " + prefix +
                    "sw_power_cap\n0, Not Active, Active, Not Active\n0, Active, Not Active, [N/A]\n");
  EXPECT_THAT(test::SamplesOf(words, Metric::kThrottledByHeat), ElementsAre(Is(0, -1, 1), Is(0, -1, 1)));
  EXPECT_THAT(test::SamplesOf(words, Metric::kThrottledByPower), ElementsAre(Is(0, -1, 0)));
}

// As a loop of a shell writes it.
TEST(SmiCsv, OneColumnWhoseNameIsRepeated) {
  const Trace trace = test::ReadLog("utilization.gpu [%]\n85 %\nutilization.gpu [%]\n100 %\n");
  const auto samples = test::SamplesOf(trace, TelemetryMetric::kGpuUtilization);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_DOUBLE_EQ(std::get<2>(samples[1]), 1);
}

// What scripts make of rocm-smi's columns; where it prints no GPU, a time stands alone.
TEST(GpuCsv, OfAmd) {
  const Trace trace = test::ReadLog(
      "timestamp,device,gpu_use_percent,vram_total_bytes,vram_used_bytes\n"
      "1754585903,card0,90,206141652992,297771008\n"
      "1754585903,card1,0,206141652992,297771008\n"
      "1754585903,\n"
      "1754585908,card0,100,206141652992,297771008\n"
      "1754585908,card1,0,206141652992,297771008\n");
  ASSERT_EQ(trace.devices.size(), 2u);
  EXPECT_THAT(
      test::SamplesOf(trace, TelemetryMetric::kGpuUtilization),
      ElementsAre(Is(0, 0, 0.9), Is(1, 0, 0.0), Is(0, 5'000'000'000, 1.0), Is(1, 5'000'000'000, 0.0)));
  EXPECT_EQ(test::SamplesOf(trace, TelemetryMetric::kMemoryUsed).size(), 4u);
  EXPECT_FALSE(trace.health.rows_skipped.contains("rows"));
  const Trace printed = test::ReadLog(
      "time,device,GPU use (%),VRAM Total Memory (B),VRAM Total Used Memory (B),Average Graphics Package "
      "Power "
      "(W),Temperature (Sensor junction) (C)\n"
      "1754585903,card0,90,206141652992,297771008,310.0,61.0\n");
  EXPECT_THAT(test::SamplesOf(printed, TelemetryMetric::kPower), ElementsAre(Is(0, 0, 310.0)));
  EXPECT_THAT(test::SamplesOf(printed, TelemetryMetric::kTemperature), ElementsAre(Is(0, 0, 61.0)));
  EXPECT_THAT(test::SamplesOf(printed, TelemetryMetric::kMemoryUsed), ElementsAre(Is(0, 0, 297771008.0)));
}

TEST(GpuCsv, OfScripts) {
  const Trace trace = test::ReadLog(
      "timestamp,gpu_index,temperature_C,utilization_gpu_percent,power_W\n"
      "2025-09-24T03:17:04.490Z,0, 48, 100, 397.30\n"
      "2025-09-24T03:17:04.490Z,7, 63, 50, 419.75\n");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kTemperature), ElementsAre(Is(0, 0, 48), Is(7, 0, 63)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization), ElementsAre(Is(0, 0, 1), Is(7, 0, 0.5)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kPower), ElementsAre(Is(0, 0, 397.3), Is(7, 0, 419.75)));
  EXPECT_EQ(trace.clock_origin_utc_ns, 1758683824 * kSecond + 490 * kMs);

  const Trace epoch = test::ReadLog(
      "timestamp,gpu_utilization,memory_used,memory_total\n"
      "1746556382.5,0, 0, 15360\n1746556383.0,3, 326, 15360\n");
  EXPECT_THAT(test::SamplesOf(epoch, Metric::kMemoryUsed),
              ElementsAre(Is(0, 0, 0), Is(0, 500 * kMs, 326 * test::kMiB)));
  EXPECT_EQ(epoch.clock_origin_utc_ns, 1746556382 * kSecond + 500 * kMs);
  EXPECT_THAT(epoch.health.notes, ElementsAre(HasSubstr("does not say which GPU")));
}

TEST(GpuCsv, UnitsFromTheLargestNumber) {
  const Trace trace = test::ReadLog(
      "elapsed_time,gpu,gpu_memory_used,gpu_memory_total,gpu_power,gpu_utilization\n"
      "0.5,0,5242880,16106127360,90000,0.25\n1.0,0,0,16106127360,30000,1.0\n");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kMemoryUsed)[0], Is(0, 0, 5 * test::kMiB));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kPower)[0], Is(0, 0, 90));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization),
              ElementsAre(Is(0, 0, 0.25), Is(0, 500 * kMs, 1)));
}

TEST(GpuCsv, LeavesTheHostsColumnsAlone) {
  const Trace trace = test::ReadLog(
      "time,cpu_percent,memory_used,gpu_util,gpu_mem_used_mb\n0,50,1000,20,300\n1,50,1000,20,300\n");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kMemoryUsed)[0], Is(0, 0, 300 * test::kMiB));
}

// A script that asks for one GPU on a machine with two writes what both answer into one cell.
TEST(GpuCsv, QuotedCells) {
  const Trace trace = test::ReadLog(
      "elapsed_sec,gpu_util_pct,name,power_w\n"
      "0.5,12,\"A, B\",\"26.11\n0\"\n"
      "1.5,14,\"A, B\",\"36.51\n0\"\n");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kPower), ElementsAre(Is(0, 0, 26.11), Is(0, kSecond, 36.51)));
  EXPECT_THAT(trace.health.rows_skipped, IsEmpty());
}

// A quote that nothing closes takes no more than a few rows with it.
TEST(GpuCsv, AnOpenQuote) {
  std::string text = "elapsed_sec,gpu_util_pct\n0,\"12\n";
  for (int second = 1; second < 40; ++second) text += fmt::format("{},50\n", second);
  const Trace trace = test::ReadLog(text);
  EXPECT_EQ(test::SamplesOf(trace, Metric::kGpuUtilization).size(), 23u);
  EXPECT_EQ(trace.health.rows_skipped.at("rows"), 1);
}

TEST(GpuCsv, BadRows) {
  const Trace trace = test::ReadLog(
      "timestamp, index, utilization.gpu [%]\n"
      "2024/01/02 00:00:02.000, 0, 30 %\n"
      "2024/01/02 00:00:01.000, 0, 10 %\n"
      "\n"
      "timestamp, index, utilization.gpu [%]\n"
      "2024/13/02 00:00:01.000, 0, 20 %\n"
      "2024/01/02 00:00:01.000, 0\n"
      "2024/01/02 00:00:03.000, 0, many\n"
      "2024/01/02 00:00:04.000, 0, 1");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization),
              ElementsAre(Is(0, 0, 0.1), Is(0, kSecond, 0.3)));
  EXPECT_EQ(trace.health.rows_skipped.at("rows"), 2);
  EXPECT_EQ(trace.health.rows_skipped.at("cells"), 1);
  EXPECT_EQ(trace.health.out_of_order, 1);
  EXPECT_THAT(trace.health.notes, ElementsAre(HasSubstr("last line has no end")));
}

TEST(GpuCsv, ArgumentsOfAProgramAreNoHeader) {
  const ProgramOutput output = test::ReadProgram(
      "args=Namespace(backend='sglang', num_prompts=8, profile_activities=['CPU', 'GPU'], tag=None)\n"
      "============ Serving Benchmark Result ============\n"
      "Successful requests:                     8         \n"
      "Benchmark duration (s):                  69.10     \n"
      "Mean TTFT (ms):                          6783.26   \n"
      "==================================================\n");
  EXPECT_EQ(output.benchmarks.size(), 1U);
}

TEST(GpuCsv, Refused) {
  EXPECT_THAT(ErrorOnReading("timestamp, index, utilization.gpu [%]\n").reason(),
              HasSubstr("without a sample"));
  EXPECT_THAT(
      ErrorOnReading("gpu,total_energy_consumption\n0,1\n").reason(),
      HasSubstr("without a metric that dladvisor knows (its columns: gpu, total_energy_consumption)"));
  EXPECT_THAT(ErrorOnReading("step,loss,temperature\n1,2.5,0.7\n").reason(), HasSubstr("a text file"));
  EXPECT_THAT(ErrorOnReading("2024/01/02 03:04:05.678, 0, 30\n").hint(),
              HasSubstr("dladvisor --help lists what is read"));
}

TEST(GpuCsv, AShareIsNoIndex) {
  EXPECT_THAT(ErrorOnReading("time,gpu,gpu_memory_used\n0,45 %,300\n1,50 %,300\n").reason(),
              HasSubstr("without a sample"));
}

TEST(GpuCsv, RowsMayHaveATimeOfTheScriptBeforeTheDriversOwn) {
  const Trace trace = test::ReadLog(
      "time,gpu_index,gpu_name,gpu_util_percent,mem_used_mb,mem_total_mb,temp_c,power_w\n"
      "2026-05-06 10:06:45,2026/05/06 10:06:45.500, 0, NVIDIA GeForce RTX 4060, 7, 410, 8188, 42, 2.01\n"
      "2026-05-06 10:06:46,2026/05/06 10:06:46.500, 0, NVIDIA GeForce RTX 4060, 9, 410, 8188, 42, 2.18\n");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization),
              ElementsAre(Is(0, 0, 0.07), Is(0, kSecond, 0.09)));
  EXPECT_FALSE(trace.facts.contains("profiler"));
}

TEST(GpuCsv, AnotherQueryMayFollowAndLinesOfAScriptComeFirst) {
  const Trace trace = test::ReadLog(
      "Monitoring GPU ...\n"
      "timestamp, index, utilization.gpu [%], memory.used [MiB]\n"
      "2024/01/02 03:04:05.000, 0, 7 %, 100 MiB\n"
      "timestamp, index, power.draw [W], utilization.gpu [%]\n"
      "2024/01/02 03:04:06.000, 0, 42.00 W, 9 %\n");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization),
              ElementsAre(Is(0, 0, 0.07), Is(0, kSecond, 0.09)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kPower), ElementsAre(Is(0, kSecond, 42)));
  EXPECT_EQ(trace.facts.at("profiler"), "nvidia-smi");
}

// Which GPU it has, a training may print as nvidia-smi does.
TEST(GpuCsv, OneRowAmongOtherLinesIsNotTheLog) {
  std::string text =
      "Starting\ntimestamp, index, utilization.gpu [%], memory.used [MiB]\n"
      "2024/01/02 03:04:05.000, 0, 7 %, 100 MiB\n";
  for (int step = 1; step <= 40; ++step) text += fmt::format("step {} loss 2.0 0.25 s/step\n", step);
  const Trace trace = test::ReadLog(text);
  EXPECT_EQ(trace.format, "training log");
  EXPECT_EQ(trace.training_log.iterations.size(), 40u);
}

TEST(GpuCsv, LinesOfAnotherProgramAreNoRows) {
  const Trace trace = test::ReadLog(
      "timestamp, index, utilization.gpu [%], power.draw [W]\n"
      "2024/01/02 03:04:05.000, 0, 50 %, 300 W\n"
      "step 0/60 loss 0.00, lr 0.1, time 0.5s\n"
      "2024/01/02 03:04:06.000, 0, 60 %, 300 W\n"
      "step 1/60 loss 0.00, lr 0.1, time 0.5s\n");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization),
              ElementsAre(Is(0, 0, 0.5), Is(0, kSecond, 0.6)));
  EXPECT_THAT(trace.health.rows_skipped, IsEmpty());
}

TEST(GpuCsv, MoreThanTheWholeIsNoUtilization) {
  for (const char* unit : {" [%]", ""}) {
    const Trace trace =
        test::ReadLog(fmt::format("timestamp, index, utilization.gpu{}, power.draw [W]\n"
                                  "2024/01/02 03:04:05.000, 0, 300, 300\n"
                                  "2024/01/02 03:04:06.000, 0, 100, 300\n",
                                  unit));
    EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization), ElementsAre(Is(0, kSecond, 1))) << unit;
    EXPECT_EQ(trace.health.rows_skipped.at("cells"), 1) << unit;
  }
}

TEST(GpuCsv, CellWithTheUnitOfAnotherColumnIsLeftOut) {
  const Trace trace = test::ReadLog(
      "timestamp, index, utilization.gpu [%], memory.used [MiB]\n"
      "2024/01/02 03:04:05.000, 0, 7 %, 100 MiB\n"
      "2024/01/02 03:04:06.000, 0, 100 MiB, 7 %\n");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization), ElementsAre(Is(0, 0, 0.07)));
  EXPECT_EQ(trace.health.rows_skipped.at("cells"), 2);
}

}  // namespace
}  // namespace dladvisor
