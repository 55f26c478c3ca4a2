// SPDX-License-Identifier: Apache-2.0
// Lines of servers of language models, as they print them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/base/error.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using testing::HasSubstr;

constexpr const char* kVllm =
    "\x1b[1;36m(APIServer pid=7)\x1b[0;0m INFO 10-14 19:22:10 [utils.py:233] non-default args: {'model': "
    "'m', "
    "'max_model_len': 32000, 'max_num_seqs': 128}\n"
    "(EngineCore pid=8) INFO 10-14 19:22:45 [core.py:77] Initializing a V1 LLM engine (v0.11.0) with config: "
    "max_seq_len=32000, tensor_parallel_size=1, quantization=None, enforce_eager=True, kv_cache_dtype=auto\n"
    "(EngineCore pid=8) INFO 10-14 19:25:51 [kv_cache_utils.py:1087] GPU KV cache size: 38,944 tokens\n"
    "(APIServer pid=7) INFO 10-14 19:28:10 [loggers.py:127] Engine 001: Avg prompt throughput: 7199.3 "
    "tokens/s, "
    "Avg generation throughput: 239.5 tokens/s, Running: 26 reqs, Waiting: 3 reqs, GPU KV cache usage: "
    "36.7%, "
    "Prefix cache hit rate: 83.3%\n"
    "(APIServer pid=7) INFO 10-14 19:28:10 [metrics.py:96] SpecDecoding metrics: Mean acceptance length: "
    "2.31, "
    "Accepted: 32 tokens, Drafted: 98 tokens, Avg Draft acceptance rate: 32.7%\n"
    "(APIServer pid=7) INFO 10-14 19:28:20 [loggers.py:127] Engine 001: Avg prompt throughput: 0.0 tokens/s, "
    "Avg generation throughput: 0.0 tokens/s, Running: 0 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%, "
    "Prefix cache hit rate: 83.3%\n";

TEST(ServingLines, Vllm) {
  const Trace trace = test::ReadLog(kVllm);
  EXPECT_EQ(trace.format, "serving log");
  const ServingLog& log = trace.serving_log;
  EXPECT_EQ(log.program, "vLLM");
  ASSERT_EQ(log.samples.size(), 2u);
  const ServingSample& first = log.samples[0];
  EXPECT_EQ(first.engine, "001");
  EXPECT_EQ(first.running, 26);
  EXPECT_EQ(first.waiting, 3);
  EXPECT_DOUBLE_EQ(*first.prompt_tokens_per_second, 7199.3);
  EXPECT_DOUBLE_EQ(*first.generated_tokens_per_second, 239.5);
  EXPECT_DOUBLE_EQ(*first.cache_used, 0.367);
  EXPECT_DOUBLE_EQ(*first.prefix_hits, 0.833);
  EXPECT_DOUBLE_EQ(*first.accepted, 0.327);
  EXPECT_DOUBLE_EQ(*first.accepted_length, 2.31);
  EXPECT_FALSE(log.samples[1].accepted);
  EXPECT_EQ(*log.samples[1].time_ns - *first.time_ns, 10'000'000'000);
  EXPECT_EQ(log.cache_tokens, 38944);
  EXPECT_EQ(log.settings.at("max_running_requests"), "128");
  EXPECT_EQ(log.settings.at("max_length"), "32000");
  EXPECT_EQ(log.settings.at("eager"), "True");
  EXPECT_FALSE(log.settings.contains("quantization")) << "None is no value";
}

TEST(ServingLines, SayWhatTheyRunOn) {
  const auto device = [](const std::string& line) {
    const Trace trace = test::ReadLog(line + "\n" + kVllm);
    const auto& settings = trace.serving_log.settings;
    return settings.contains("device") ? settings.at("device") : "";
  };
  EXPECT_EQ(device(""), "");
  EXPECT_EQ(device("INFO 09-01 10:00:01 [__init__.py:244] Automatically detected platform cuda."), "cuda");
  EXPECT_EQ(device("INFO 09-01 10:00:01 [__init__.py:244] Automatically detected platform rocm."), "amd");
  EXPECT_EQ(device("INFO 09-01 10:00:01 [__init__.py:230] Platform plugin ascend is activated"), "npu");
  EXPECT_EQ(device("INFO 09-01 Initializing a V1 LLM engine with config: seed=0, device_config=tpu, x=1"),
            "tpu");
  EXPECT_EQ(device("[2026-08-01 23:43:46] server_args=ServerArgs(model_path='a', device='npu', tp_size=2)"),
            "npu");
  EXPECT_EQ(device("[2026-08-01 23:43:46] server_args=ServerArgs(device='cuda', attention_backend='aiter')"),
            "amd");
  EXPECT_EQ(device("ggml_metal_init: found device: Apple M3 Max"), "metal");
  EXPECT_EQ(device("INFO offloading the cache to device='cpu'"), "");
}

TEST(ServingLines, OldVllm) {
  const ServingLog log =
      test::ReadLog(
          "INFO 07-08 07:17:34 metrics.py:334] Avg prompt throughput: 6501.4 tokens/s, Avg generation "
          "throughput: 69.1 tokens/s, Running: 4 reqs, Swapped: 2 reqs, Pending: 1 reqs, GPU KV cache usage: "
          "15.6%, CPU KV cache usage: 0.0%.\n"
          "WARNING 07-08 07:17:39 scheduler.py:1057] Sequence group cmpl-3 is preempted by "
          "PreemptionMode.RECOMPUTE mode because there is not enough KV cache space.\n")
          .serving_log;
  ASSERT_EQ(log.samples.size(), 1u);
  EXPECT_EQ(log.samples[0].waiting, 3) << "what was swapped out waits, too";
  EXPECT_DOUBLE_EQ(*log.samples[0].cache_used, 0.156);
  EXPECT_EQ(log.preemptions, 1);
}

TEST(ServingLines, Sglang) {
  const ServingLog log =
      test::ReadLog(
          "[2026-01-04 00:44:42] max_total_num_tokens=132608, chunked_prefill_size=512, "
          "max_running_requests=24, context_len=8192, available_gpu_mem=2.74 GB\n"
          "[2026-01-04 00:49:30 DP5 TP5] Prefill batch, #new-seq: 2, #new-token: 30, #cached-token: 90, full "
          "token usage: 0.02, swa token usage: 0.90, #running-req: 3, #queue-req: 4, cuda graph: False, "
          "input "
          "throughput (token/s): 726.79\n"
          "[2026-01-04 00:49:33 DP5 TP5] Decode batch. #running-req: 15, #token: 36992, token usage: 0.28, "
          "accept "
          "len: 2.83, accept rate: 0.71, #transfer-req: 17, #retracted-req: 0, cuda graph: True, gen "
          "throughput (token/s): "
          "501.14, "
          "#queue-req: 1\n"
          "[2026-01-04 00:49:34 DP5 TP5] KV cache pool is full. Retract requests. #retracted_reqs: 1\n")
          .serving_log;
  EXPECT_EQ(log.program, "SGLang");
  ASSERT_EQ(log.samples.size(), 2u);
  const ServingSample &prefill = log.samples[0], &decode = log.samples[1];
  EXPECT_EQ(prefill.engine, "DP5 TP5");
  EXPECT_EQ(prefill.running, 5);
  EXPECT_DOUBLE_EQ(*prefill.cache_used, 0.02) << "of the whole, not of the window";
  EXPECT_DOUBLE_EQ(*prefill.prefix_hits, 0.75);
  EXPECT_FALSE(prefill.generated_tokens_per_second);
  EXPECT_FALSE(prefill.graphs) << "prefill runs without";
  EXPECT_EQ(decode.running, 15);
  EXPECT_EQ(decode.waiting, 1);
  EXPECT_EQ(decode.transferring, 17);
  EXPECT_DOUBLE_EQ(*decode.generated_tokens_per_second, 501.14);
  EXPECT_DOUBLE_EQ(*decode.accepted, 0.71);
  EXPECT_EQ(decode.graphs, true);
  EXPECT_EQ(*decode.time_ns - *prefill.time_ns, 3'000'000'000);
  EXPECT_EQ(log.cache_tokens, 132608);
  EXPECT_EQ(log.settings.at("max_running_requests"), "24");
  EXPECT_EQ(log.preemptions, 1);
}

// Advice of the engine is none of its settings.
TEST(ServingLines, WordsOfAdviceAreNoSettings) {
  const ServingLog log =
      test::ReadLog(std::string(kVllm) +
                    "INFO 04-14 08:39:35 Initializing an LLM engine (v0.7.2) with config: "
                    "quantization=None, enforce_eager=False, kv_cache_dtype=auto\n"
                    "INFO 04-14 08:39:35 Capturing cudagraphs for decoding. To run the model in "
                    "eager mode, set 'enforce_eager=True' or use '--enforce-eager' in the CLI.\n")
          .serving_log;
  EXPECT_EQ(log.settings.at("eager"), "False");
}

TEST(ServingLines, TensorRtLlm) {
  const ServingLog log =
      test::ReadLog(
          "[04/28/2025-09:56:44] [TRT-LLM] [I] iter = 198, global_rank = 0, rank = 0, currank_total_requests "
          "= 0/0, elapsed_time = 0.005s, timestamp = 2025-04-28 09:56:44, num_scheduled_requests: 10, states "
          "= "
          "{'num_ctx_requests': 0, 'num_ctx_tokens': 0, 'num_generation_tokens': 16}\n"
          "[04/28/2025-09:56:44] [TRT-LLM] [I] iter = 198, global_rank = 1, rank = 1, currank_total_requests "
          "= 0/0, elapsed_time = 0.005s, timestamp = 2025-04-28 09:56:44, num_scheduled_requests: 10, states "
          "= "
          "{'num_ctx_requests': 0, 'num_ctx_tokens': 0, 'num_generation_tokens': 16}\n"
          "[04/28/2025-09:56:45] [TRT-LLM] [I] iter = 199, global_rank = 0, rank = 0, currank_total_requests "
          "= 0/0, host_step_time = 20.0ms, prev_device_step_time = 19.0ms, timestamp = 2025-04-28 09:56:45, "
          "num_scheduled_requests: 3, states = {'num_ctx_requests': 1, 'num_ctx_tokens': 512, "
          "'num_generation_tokens': 2}\n")
          .serving_log;
  EXPECT_EQ(log.program, "TensorRT-LLM");
  ASSERT_EQ(log.samples.size(), 2u) << "of one rank";
  EXPECT_EQ(log.samples[0].running, 10);
  EXPECT_DOUBLE_EQ(*log.samples[0].generated_tokens_per_second, 2000) << "without padding";
  EXPECT_DOUBLE_EQ(*log.samples[1].generated_tokens_per_second, 100);
  EXPECT_DOUBLE_EQ(*log.samples[1].prompt_tokens_per_second, 25600);
  EXPECT_EQ(*log.samples[1].time_ns - *log.samples[0].time_ns, 1'000'000'000);
}

TEST(ServingLines, SlotsOfLlamaCpp) {
  std::string text = "srv    load_model: initializing slots, n_slots = 1\n";
  for (int task = 0; task < 3; ++task)
    text += fmt::format(
        "slot launch_slot_: id  0 | task {} | processing task, is_child = 0\n"
        "prompt eval time =     500.00 ms /   100 tokens (    5.00 ms per token,   200.00 tokens per "
        "second)\n"
        "       eval time =    1500.00 ms /    50 tokens (   30.00 ms per token,    33.33 tokens per "
        "second)\n"
        "slot      release: id  0 | task {} | stop processing: n_tokens = 150, truncated = 0\n",
        task, task);
  EXPECT_EQ(test::ReadLog(text).serving_log.settings.at("max_running_requests"), "1");
}

TEST(ServingLines, LlamaCpp) {
  std::string text =
      "main: n_parallel is set to auto, using n_parallel = 4 and kv_unified = true\n"
      "load_tensors: offloaded 20/49 layers to GPU\n";
  for (int task = 0; task < 3; ++task)
    text += fmt::format(
        "slot launch_slot_: id  3 | task {} | processing task, is_child = 0\n"
        "prompt eval time =     500.00 ms /   100 tokens (    5.00 ms per token,   200.00 tokens per "
        "second)\n"
        "       eval time =    1500.00 ms /    50 tokens (   30.00 ms per token,    33.33 tokens per "
        "second)\n"
        "slot      release: id  3 | task {} | stop processing: n_tokens = 150, truncated = 0\n",
        task, task);
  const ServingLog log = test::ReadLog(text).serving_log;
  EXPECT_EQ(log.program, "llama.cpp");
  ASSERT_EQ(log.samples.size(), 3u);
  EXPECT_EQ(log.samples[0].running, 1);
  EXPECT_DOUBLE_EQ(*log.samples[0].prompt_tokens_per_second, 50);
  EXPECT_DOUBLE_EQ(*log.samples[0].generated_tokens_per_second, 25);
  EXPECT_EQ(log.settings.at("max_running_requests"), "4");
  EXPECT_EQ(log.settings.at("gpu_layers"), "20");
}

// Two waves of four, each of which ends in lines one after the other.
TEST(ServingLines, RequestsOfLlamaCppThatEndTogetherRanTogether) {
  std::string text;
  for (int wave = 0; wave < 2; ++wave) {
    for (int slot = 0; slot < 4; ++slot)
      text += fmt::format("slot launch_slot_: id  {} | task {} | processing task, is_child = 0\n", slot,
                          4 * wave + slot);
    for (int slot = 0; slot < 4; ++slot)
      text += fmt::format(
          "slot print_timing: id  {0} | task {1} | \n"
          "prompt eval time =     500.00 ms /   100 tokens (    5.00 ms per token,   200.00 tokens per "
          "second)\n"
          "       eval time =    1500.00 ms /    50 tokens (   30.00 ms per token,    33.33 tokens per "
          "second)\n"
          "slot      release: id  {0} | task {1} | stop processing: n_tokens = 150, truncated = 0\n",
          slot, 4 * wave + slot);
  }
  const ServingLog log = test::ReadLog(text).serving_log;
  ASSERT_EQ(log.samples.size(), 8u);
  double lasts = 0;
  for (const ServingSample& sample : log.samples) {
    EXPECT_EQ(sample.running, 4);
    EXPECT_DOUBLE_EQ(*sample.generated_tokens_per_second, 100);
    lasts += *sample.lasts_ns;
  }
  EXPECT_DOUBLE_EQ(lasts, 4e9);
}

// Of a request of 10 s, beside which one of 2 s runs, and after that another one of 2 s.
TEST(ServingLines, RequestsOfLlamaCppShareTheTimeThatTheyTake) {
  const auto launch = [](int slot, int task) {
    return fmt::format("slot launch_slot_: id  {} | task {} | processing task\n", slot, task);
  };
  const auto end = [](int slot, int task, double ms) {
    return fmt::format(
        "slot      release: id  {0} | task {1} | stop processing: n_past = 72, truncated = 0\n"
        "slot print_timing: id  {0} | task {1} | \n"
        "prompt eval time =       0.00 ms /     1 tokens (    5.00 ms per token,   200.00 tokens per "
        "second)\n"
        "       eval time = {2:10.2f} ms /   100 tokens (   30.00 ms per token,    33.33 tokens per "
        "second)\n",
        slot, task, ms);
  };
  const ServingLog log = test::ReadLog(launch(0, 0) + launch(1, 1) + end(1, 1, 2000) + launch(1, 2) +
                                       end(1, 2, 2000) + end(0, 0, 10000))
                             .serving_log;
  ASSERT_EQ(log.samples.size(), 3u);
  EXPECT_DOUBLE_EQ(*log.samples[0].lasts_ns, 1e9);
  EXPECT_DOUBLE_EQ(*log.samples[1].lasts_ns, 1e9);
  EXPECT_DOUBLE_EQ(*log.samples[2].lasts_ns, 8e9);
  EXPECT_EQ(log.samples[0].running, 2);
  EXPECT_EQ(log.samples[2].running, 1);
}

TEST(ServingLines, OfAStartOfLlamaCppTheLayersOnTheGpu) {
  const ServingLog log = test::ReadLog(
                             "main: loading model\n"
                             "srv    load_model: loading model '/m/GLM-4.7-Flash.gguf'\n"
                             "load_tensors: offloaded 0/48 layers to GPU\n"
                             "sched_reserve: reserving ...\n")
                             .serving_log;
  EXPECT_EQ(log.program, "llama.cpp");
  EXPECT_EQ(log.settings.at("gpu_layers"), "0");
}

TEST(ServingLines, AServerThatAnsweredNothing) {
  const ServingLog log =
      test::ReadLog("[2026-03-27 09:31:17] server_args=ServerArgs(model_path='m', tp_size=1)\n").serving_log;
  EXPECT_EQ(log.program, "SGLang");
  EXPECT_TRUE(log.samples.empty());
  EXPECT_EQ(log.error, "");
}

// Each line of AITER's logger stands there twice.
TEST(ServingLines, KernelsThatAStartBuilds) {
  std::string text = "INFO 03-10 20:08:21 [api_server.py:1] vLLM API server version 0.16.0\n";
  for (const char* line :
       {"finish build [module_aiter_enum], cost 14.0s", "finish build [module_rmsnorm], cost 45.5s"})
    text += fmt::format("(Worker_TP2 pid=1) [aiter] {}\n[2026-03-10 20:08:35] INFO core.py:863: {}\n", line,
                        line);
  EXPECT_DOUBLE_EQ(test::ReadLog(text).serving_log.build_ns.value_or(0), 59.5e9);
}

// The first lines of the log are missing, or an engine is no server's.
TEST(ServingLines, AnEngineThatSaysThatItFailed) {
  const std::string error =
      "Traceback (most recent call last):\n  File \"/v/x.py\", line 3, in f\nRuntimeError: PassManager::run "
      "failed\n";
  for (const auto& [line, program] :
       {std::pair{"(EngineCore pid=1) ERROR 03-01 17:33:17 [core.py:9] EngineCore failed to start.\n",
                  "vLLM"},
        {"[2026-06-11 02:00:10 TP0] Scheduler hit an exception: \n", "SGLang"}}) {
    const ServingLog log = test::ReadLog(line + error).serving_log;
    EXPECT_EQ(log.program, program);
    EXPECT_EQ(log.error, "RuntimeError: PassManager::run failed");
  }
}

TEST(ServingLines, AServerThatEndsBeforeItAnswers) {
  const Trace trace = test::ReadLog(
      "INFO 03-01 17:33:17 [core.py:95] Initializing a V1 LLM engine (v0.14.0) with config: model='m'\n"
      "Traceback (most recent call last):\n  File \"/v/core.py\", line 3, in __init__\n"
      "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 80.00 MiB.\n");
  EXPECT_EQ(trace.serving_log.program, "vLLM");
  EXPECT_TRUE(trace.serving_log.samples.empty());
  EXPECT_THAT(trace.serving_log.error, HasSubstr("HIP out of memory"));
}

// What one request asks for too much is answered, and others are served.
TEST(ServingLines, AnAnswerBehindAnErrorIsOfAServerThatGoesOn) {
  const auto error = [](const char* answer) {
    return test::ReadLog(
               fmt::format(
                   "INFO 08-18 19:50:00 [api_server.py:1] vLLM API server version 0.10.0\nTraceback (most "
                   "recent "
                   "call last):\n  File \"/v/serving_engine.py\", line 3, in _validate_input\nValueError: "
                   "This "
                   "model's maximum context length is 2048 tokens.\nINFO:     127.0.0.1:59064 - \"POST "
                   "/v1/chat/completions HTTP/1.1\" {}\n",
                   answer))
        .serving_log.error;
  };
  EXPECT_EQ(error("400 Bad Request"), "");
  EXPECT_THAT(error("500 Internal Server Error"), HasSubstr("maximum context length"));
}

TEST(ServingLines, AnErrorOfAProgramThatIsNoServerIsItsOwn) {
  const Trace trace = test::ReadLog(
      "INFO 11-25 10:00:00 [core.py:58] Initializing a V1 LLM engine (v0.8.5) with config: "
      "model='x'\nTraceback (most recent call last):\n  File \"/u/eval.py\", line 8, in "
      "main\nKeyError: 'acc'\n");
  EXPECT_EQ(trace.program_output.error, "KeyError: 'acc'");
  EXPECT_TRUE(trace.serving_log.empty());
}

TEST(ServingLines, AUserThatEndsAServerIsNoError) {
  const ServingLog log =
      test::ReadLog(
          "INFO 11-25 10:00:00 [api_server.py:1] vLLM API server version 0.8.5\nTraceback (most "
          "recent call last):\n  File \"/u/vllm\", line 8\nKeyboardInterrupt: terminated\n")
          .serving_log;
  EXPECT_EQ(log.program, "vLLM");
  EXPECT_EQ(log.error, "");
}

TEST(ServingLines, AGpuThatIsTakenBeforeTheStart) {
  const ServingLog log =
      test::ReadLog(
          "INFO 03-01 17:33:17 [core.py:95] Initializing a V1 LLM engine (v0.14.0) with config: model='m'\n"
          "Traceback (most recent call last):\n  File \"/v/core.py\", line 3, in __init__\n"
          "ValueError: Free memory on device (6.00/80.00 GiB) on startup is less than desired GPU memory "
          "utilization (0.9, 72.00 GiB).\n")
          .serving_log;
  ASSERT_TRUE(log.memory_taken);
  EXPECT_DOUBLE_EQ(log.memory_taken->others_bytes, 74 * 0x1p30);
  EXPECT_DOUBLE_EQ(log.memory_taken->total_bytes, 80 * 0x1p30);
}

TEST(ServingLines, StartsUntilTheServerIsReady) {
  const std::string start =
      "INFO 03-19 06:27:09 api_server.py:528] vLLM API server version 0.6.3\n"
      "INFO 03-19 06:27:20 llm_engine.py:237] Initializing an LLM engine (v0.6.3) with config: model='m'\n"
      "INFO 03-19 06:27:25 weight_utils.py:9] Time spent downloading weights for m: 4.5 seconds\n"
      "Loading safetensors checkpoint shards: 100% Completed | 17/17 [07:52<00:00, 28.64s/it]\n"
      "INFO 03-19 06:36:19 model_runner.py:1523] Graph capturing finished in 28 secs.\n"
      "INFO:     Application startup complete.\n";
  const ServingLog one = test::ReadLog(start + kVllm).serving_log;
  EXPECT_EQ(one.starts, 1);
  EXPECT_DOUBLE_EQ(one.start_ns, 550e9);
  EXPECT_DOUBLE_EQ(one.weights_ns.value_or(0), 476.5e9);
  const std::string file = "File /cache/2000-11-26T09:00:00 is used\n";
  const size_t last = start.rfind("INFO: ");
  EXPECT_DOUBLE_EQ(
      test::ReadLog(start.substr(0, last) + file + start.substr(last) + kVllm).serving_log.start_ns, 550e9)
      << "no time of a line";
  const ServingLog late = test::ReadLog(
                              "[19:00:10] INFO 08-07 17:00:04 [llm_engine.py:230] Initializing a V0 LLM "
                              "engine (v0.9.2) with config: "
                              "model='m'\n"
                              "[19:00:10] INFO 08-07 17:00:04 [llm_engine.py:428] init engine (profile, "
                              "create kv cache, warmup model) took "
                              "62.60 seconds\n" +
                              std::string(kVllm))
                              .serving_log;
  EXPECT_DOUBLE_EQ(late.start_ns, 62.6e9);
  EXPECT_EQ(test::ReadLog(kVllm).serving_log.starts, 0);
}

TEST(ServingLines, OfAStartAloneTellWhatTookItsTime) {
  const Trace trace = test::ReadLog(
      "INFO 04-25 08:50:39 [utils.py:233] non-default args: {'model_tag': 'm'}\n"
      "INFO 04-25 08:52:12 [core.py:108] Initializing a V1 LLM engine (v0.19.2) with config: model='m'\n"
      "INFO 04-25 08:53:24 [weight_utils.py:615] Time spent downloading weights for m: 42.6 seconds\n"
      "INFO 04-25 08:53:29 [default_loader.py:384] Loading weights took 4.90 seconds\n"
      "INFO 04-25 08:54:39 [monitor.py:53] torch.compile took 67.71 s in total\n"
      "INFO 04-25 08:54:59 [gpu_model_runner.py:3480] Graph capturing finished in 14 secs, took 2.85 GiB\n"
      "INFO 04-25 08:55:12 [core.py:299] init engine (profile, create kv cache, warmup model) took 102.21 s\n"
      "INFO:     Application startup complete.\n");
  EXPECT_EQ(trace.format, "serving log");
  const ServingLog& log = trace.serving_log;
  EXPECT_EQ(log.program, "vLLM");
  EXPECT_TRUE(log.samples.empty());
  EXPECT_DOUBLE_EQ(log.start_ns, 273e9);
  EXPECT_DOUBLE_EQ(log.weights_ns.value_or(0), 47.5e9);
  EXPECT_DOUBLE_EQ(log.download_ns.value_or(0), 42.6e9);
  EXPECT_DOUBLE_EQ(log.compile_ns.value_or(0), 67.71e9);
  EXPECT_DOUBLE_EQ(log.capture_ns.value_or(0), 14e9);
}

TEST(ServingLines, OfAStartWithoutAnEndTellItsPart) {
  const std::string arguments =
      "[2026-03-27 09:31:17] server_args=ServerArgs(model_path='m', max_running_requests=1, "
      "cpu_offload_gb=48, disable_cuda_graph=False)\n";
  const std::string begins = "[2026-03-27 09:31:30 TP0] Load weight begin. avail mem=18.7 GB\n",
                    ends = "[2026-03-27 09:31:49 TP0] Load weight end. elapsed=24.17 s, mem usage=1.50 GB.\n",
                    captures = "[2026-03-27 09:31:49 TP0] Capture cuda graph begin. This can take long.\n",
                    captured = "[2026-03-27 09:32:09 TP0] Capture cuda graph end. Time elapsed: 20.31 s.\n",
                    ready = "[2026-03-27 09:32:20] The server is fired up and ready to roll!\n";
  const ServingLog cut = test::ReadLog(arguments + begins + ends + captures).serving_log;
  EXPECT_EQ(cut.last_stage, "the capture of CUDA graphs");
  EXPECT_EQ(cut.settings.at("host_weights_gb"), "48");
  EXPECT_EQ(cut.settings.at("max_running_requests"), "1");
  EXPECT_EQ(test::ReadLog(arguments + begins).serving_log.last_stage, "the reading of the weights");
  EXPECT_EQ(test::ReadLog(arguments).serving_log.last_stage, "the set-up before the weights are read");
  EXPECT_EQ(test::ReadLog(arguments + begins + ends).serving_log.last_stage,
            "the set-up after the weights were read");
  const ServingLog whole = test::ReadLog(arguments + begins + ends + captures + captured + ready).serving_log;
  EXPECT_EQ(whole.last_stage, "");
  EXPECT_DOUBLE_EQ(whole.capture_ns.value_or(0), 20.31e9);
}

TEST(ServingLines, OfAStartAreVllmsByTheirProcess) {
  const ServingLog log =
      test::ReadLog(
          "(APIServer pid=22) INFO 08-01 18:02:54 [utils.py:273] non-default args: {'model': 'm'}\n"
          "(APIServer pid=22) INFO 08-01 18:02:55 [model.py:619] Resolved architecture: LlamaForCausalLM\n")
          .serving_log;
  EXPECT_EQ(log.program, "vLLM");
  EXPECT_EQ(log.last_stage, "the set-up before the weights are read");
}

TEST(ServingLines, OfLlamaCppsOwnProgramsAreOfOneRequest) {
  const ServingLog log = test::ReadLog(
                             "load_tensors: offloaded 20/33 layers to GPU\n"
                             "llama_perf_context_print:        load time =    2342.15 ms\n"
                             "llama_perf_context_print: prompt eval time =     500.00 ms /    50 tokens (   "
                             "10.00 ms per token)\n"
                             "llama_perf_context_print:        eval time =    9500.00 ms /   100 runs   (   "
                             "95.00 ms per token)\n"
                             "llama_perf_context_print:       total time =   10100.00 ms /   150 tokens\n")
                             .serving_log;
  EXPECT_EQ(log.program, "llama.cpp");
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].running, 1);
  EXPECT_DOUBLE_EQ(log.samples[0].generated_tokens_per_second.value_or(0), 10);
  EXPECT_DOUBLE_EQ(log.samples[0].prompt_tokens_per_second.value_or(0), 5);
  EXPECT_EQ(log.settings.at("max_running_requests"), "1");
  EXPECT_EQ(log.settings.at("gpu_layers"), "20");
}

TEST(ServingLines, TellOfSlowerKernels) {
  const ServingLog log =
      test::ReadLog(
          std::string(kVllm) +
          "(APIServer pid=1) INFO 03-19 03:23:59 [gptq_marlin.py:233] Detected that the model can run with "
          "gptq_marlin, however you specified quantization=gptq explicitly, so forcing gptq. Use "
          "quantization=gptq_marlin for faster inference\n"
          "[aiter] shape is M:32768, N:20480, K:3072, not found tuned config in /tmp/a.csv, will use "
          "default config!\n"
          "[aiter] shape is M:16, N:20480, K:3072, not found tuned config in /tmp/a.csv, will use default "
          "config!\n"
          "[aiter] shape is M:16, N:3072, K:8192, not found tuned config in /tmp/a.csv, will use default "
          "config!\n"
          "INFO 03-25 23:20:14 [backends.py:390] Compiling a graph for compile range (1, 32768) takes 87.88 "
          "s\n")
          .serving_log;
  EXPECT_EQ(log.settings.at("forced_quantization"), "gptq");
  EXPECT_EQ(log.settings.at("faster_quantization"), "gptq_marlin");
  EXPECT_EQ(log.untuned_shapes, 2);
}

TEST(ServingLines, WarningsOfLinksBetweenGpus) {
  const auto links = [](const std::string& line) {
    const ServingLog log = test::ReadLog(line + "\n" + kVllm).serving_log;
    const auto found = log.settings.find("links");
    return found == log.settings.end() ? std::string() : found->second;
  };
  EXPECT_EQ(links("(Worker_TP0 pid=22) WARNING 03-01 10:00:20 [custom_all_reduce.py:144] Custom allreduce is "
                  "disabled "
                  "because it's not supported on more than two PCIe-only GPUs."),
            "pcie");
  EXPECT_EQ(links("WARNING 03-01 10:00:20 [custom_all_reduce.py:84] Custom allreduce is disabled because "
                  "this process "
                  "group spans across nodes."),
            "nodes");
  EXPECT_EQ(links("WARNING 03-01 10:00:20 [custom_all_reduce.py:84] Custom allreduce is disabled due to an "
                  "unsupported "
                  "world size: 3."),
            "");
}

TEST(ServingLines, TimesThatNoLoadTakesAreNone) {
  const std::string many(400, '9');
  const auto start = [](const std::string& time) {
    return test::ReadLog(
               "INFO 03-19 06:27:09 api_server.py:528] vLLM API server version 0.6.3\n"
               "INFO 03-19 06:27:15 weight_utils.py:9] Loading weights took " +
               time + " seconds\nLoading safetensors checkpoint shards: 100% Completed | 17/17 [" + time +
               ":07:52<00:00, 28.64s/it]\n"
               "INFO 03-19 06:36:19 model_runner.py:1523] Graph capturing finished in 28 secs.\n"
               "INFO:     Application startup complete.\n" +
               kVllm)
        .serving_log;
  };
  EXPECT_EQ(start(many).starts, 1);
  EXPECT_FALSE(start(many).weights_ns);
  EXPECT_EQ(start(many.substr(0, 12)).starts, 1);
}

TEST(ServingLines, OfATrainingThatGeneratesAreItsOwn) {
  const Trace trace = test::ReadLog(std::string(kVllm) +
                                    "iter 10: loss 9.5, time 135.20ms, mfu 12.50%\niter 20: loss 9.1, time "
                                    "130.00ms, mfu 13.00%\n");
  EXPECT_EQ(trace.format, "training log");
  EXPECT_TRUE(trace.serving_log.empty());
}

std::string VllmLoad(int seconds, int running, double rate, const char* engine = "000") {
  return fmt::format(
      "INFO 06-16 {:02}:{:02}:{:02} [loggers.py:123] Engine {}: Avg prompt throughput: {:.1f} tokens/s, Avg "
      "generation throughput: {:.1f} tokens/s, Running: {} reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%\n",
      14 + seconds / 3600, seconds / 60 % 60, seconds % 60, engine, rate * 9, rate, running);
}

// From 14:10:00 until it is ready at 14:12:00, with its engine from 14:11:00 on.
const std::string kVllmStart =
    "INFO 06-16 14:10:00 [api_server.py:1] vLLM API server version 0.10.2\n"
    "INFO 06-16 14:11:00 [core.py:77] Initializing a V1 LLM engine (v0.10.2) with config: seed=0\n"
    "INFO 06-16 14:12:00 [launcher.py:36] Route: /health, Methods: GET\n"
    "INFO:     Application startup complete.\n";

// Ray prints a year, which vLLM does not.
TEST(ServingLines, LinesOfOtherClocksAreNoTimeOfTheServer) {
  std::string text = kVllmStart;
  for (int i = 0; i < 12; ++i) text += VllmLoad(15 * 60 + 10 * i, 3, 50);
  const ServingLog alone = test::ReadLog(text + VllmLoad(17 * 60, 0, 0)).serving_log;
  text += "2025-06-16 14:16:55,120 WARNING worker.py:1 -- Started a local Ray instance.\n";
  const ServingLog beside = test::ReadLog(text + VllmLoad(17 * 60, 0, 0)).serving_log;
  ASSERT_TRUE(alone.span_ns && beside.span_ns);
  EXPECT_DOUBLE_EQ(*beside.span_ns, *alone.span_ns);
  EXPECT_EQ(beside.idle_ns, alone.idle_ns);
}

TEST(ServingLines, WithoutRequestsNothingIsPrinted) {
  std::string text = kVllmStart;
  const auto load = [&](int minute, int lines) {
    for (int i = 0; i < lines; ++i) text += VllmLoad(minute * 60 + 10 * i, 3, 50);
    text += VllmLoad(minute * 60 + 10 * lines, 0, 0);
  };
  load(15, 12);  // from 14:15:00 to 14:17:00, where the last line is of ten seconds without one
  load(30, 6);   // from 14:30:00 to 14:31:00
  text += "INFO 06-16 15:00:00 [launcher.py:100] Shutting down\n";
  const ServingLog log = test::ReadLog(text).serving_log;
  EXPECT_DOUBLE_EQ(*log.engine_begins_ns, 60e9);
  EXPECT_DOUBLE_EQ(*log.span_ns, 50 * 60e9);
  EXPECT_DOUBLE_EQ(*log.served_ns, 48 * 60e9);
  // Until 14:14:50, from 14:16:50 to 14:29:50, and from 14:30:50 on.
  EXPECT_DOUBLE_EQ(*log.idle_ns, (170 + 780 + 29 * 60 + 10) * 1e9);
}

TEST(ServingLines, AServerThatStandsStillHasRequests) {
  std::string text = kVllmStart;
  for (int i = 0; i < 12; ++i) text += VllmLoad(130 + 10 * i, 3, 50);
  for (int i = 0; i < 12; ++i)
    text += VllmLoad(900 + 10 * i, 3, 50);  // with none that says that none is left
  EXPECT_EQ(test::ReadLog(text).serving_log.idle_ns, 0);
}

TEST(ServingLines, OfSeveralEnginesOneWithoutRequestsIsNoPause) {
  std::string text = kVllmStart;
  for (int i = 0; i < 30; ++i) {
    text += VllmLoad(130 + 10 * i, 3, 50, "000");
    if (i < 3 || i > 20) text += VllmLoad(130 + 10 * i, 0, 0, "001");
  }
  EXPECT_EQ(test::ReadLog(text).serving_log.idle_ns, 0);
}

TEST(ServingLines, OfAnEngineThatAProgramCallsPausesAreNotKnown) {
  std::string text;
  for (int i = 0; i < 12; ++i) text += VllmLoad(10 * i, i == 11 ? 0 : 3, i == 11 ? 0 : 50);
  for (int i = 0; i < 12; ++i) text += VllmLoad(900 + 10 * i, 3, 50);
  EXPECT_FALSE(test::ReadLog(text).serving_log.idle_ns);
  EXPECT_TRUE(test::ReadLog("INFO: 127.0.0.1:7 - \"POST /v1/completions HTTP/1.1\" 200 OK\n" + text)
                  .serving_log.idle_ns);
}

TEST(ServingLines, PausesOfSglangEndWithAPromptBesideWhichNothingRuns) {
  const auto prefill = [](int minute, int tokens, int running) {
    return fmt::format(
        "[2026-08-01 23:{:02}:00] Prefill batch, #new-seq: 1, #new-token: {}, #cached-token: 0, token usage: "
        "0.00, #running-req: {}, #queue-req: 0\n",
        minute, tokens, running);
  };
  const auto text = [&](int tokens, int running) {
    std::string lines =
        "[2026-08-01 23:00:00] server_args=ServerArgs(model_path='a', tp_size=1)\n" + prefill(1, 500, 0);
    for (int i = 0; i < 25; ++i)
      lines += fmt::format(
          "[2026-08-01 23:01:{:02}] Decode batch, #running-req: 1, #token: 900, token usage: 0.00, gen "
          "throughput (token/s): 20.0, #queue-req: 0\n",
          2 + 2 * i);
    return lines + prefill(2, tokens, 0) + prefill(30, 500, running);
  };
  EXPECT_DOUBLE_EQ(test::ReadLog(text(500, 0)).serving_log.idle_ns.value_or(0), (28 * 60 - 2) * 1e9);
  EXPECT_EQ(test::ReadLog(text(500, 1)).serving_log.idle_ns, 0) << "it still runs";
  EXPECT_EQ(test::ReadLog(text(8192, 0)).serving_log.idle_ns, 0) << "a prompt that is being read";
}

TEST(ServingLines, QuotedInADocumentAreRefused) {
  try {
    test::ReadLog("# How to read the log\n```\n" + std::string(kVllm) + "```\n");
    FAIL() << "read";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("a document that quotes lines of logs"));
  }
}

// Programs that read such logs hold the words, without figures.
TEST(ServingLines, CodeIsNoLog) {
  EXPECT_THROW(
      test::ReadLog("PATTERN = r\"Avg prompt throughput: (?P<tp>[\\d.]+) tokens/s, Running: (\\d+)\"\n"),
      Error);
}

}  // namespace
}  // namespace dladvisor
