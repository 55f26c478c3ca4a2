// SPDX-License-Identifier: Apache-2.0
#include "src/importers/serving_log/server_start.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace dladvisor::serving_log {
namespace {

// Behind the first line of a start; a log that is longer until it is ready is not of one.
constexpr int64_t kMostLinesOfStart = 100'000;
constexpr double kNsOfSecond = 1e9;
// Longer is a program that stood still, or another day.
constexpr int64_t kLongestStart = int64_t{86'400} * 1'000'000'000;

bool Tells(std::string_view line, std::string_view words) {
  return line.find(words) != std::string_view::npos;
}

// "Time spent downloading weights for M: 576.30 seconds".
std::optional<double> SecondsOfDownload(std::string_view line) {
  static const RE2 took(R"(Time spent downloading weights .*: (\d{1,7}(?:\.\d+)?) s)");
  double seconds = 0;
  if (!Tells(line, "Time spent downloading") ||
      !RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), took, &seconds))
    return std::nullopt;
  return seconds;
}

// "Loading weights took 570.62 seconds", "Load weight end. elapsed=109.33 s", "Loading safetensors checkpoint
// shards: 100% Completed | 17/17 [07:52<00:00".
std::optional<double> SecondsOfWeights(std::string_view line) {
  static const RE2 took(R"((?:Loading weights took |Load weight end\. elapsed=)(\d{1,7}(?:\.\d+)?) ?s)"),
      shards(R"(checkpoint shards: 100% Completed \| \d+/\d+ \[(?:(\d{1,3}):)?(\d{1,3}):(\d\d)<)");
  if (!Tells(line, "eight") && !Tells(line, "checkpoint shards: 100%")) return std::nullopt;
  double seconds = 0;
  const re2::StringPiece text(line.data(), line.size());
  if (RE2::PartialMatch(text, took, &seconds)) return seconds;
  std::string hours;
  int minutes = 0, rest = 0;
  if (!RE2::PartialMatch(text, shards, &hours, &minutes, &rest)) return std::nullopt;
  return (hours.empty() ? 0 : std::stoi(hours)) * 3600 + minutes * 60 + rest;
}

// "torch.compile took 67.71 s in total", "Compiling a graph for compile range (1, 32768) takes 87.88 s", of
// vLLM.
std::optional<double> SecondsOfCompiling(std::string_view line) {
  static const RE2 took(
      R"((?:torch\.compile (?:takes|took)|Compiling a graph for [\w ]+(?:\([\d, ]+\) |\d+ )?takes) (\d{1,7}(?:\.\d+)?) s\b)");
  double seconds = 0;
  if ((!Tells(line, "torch.compile t") && !Tells(line, "Compiling a graph for ")) ||
      !RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), took, &seconds))
    return std::nullopt;
  return seconds;
}

// "Graph capturing finished in 17 secs, took 0.86 GiB", of vLLM, "Capture cuda graph end. Time elapsed: 17.33
// s.", of SGLang.
std::optional<double> SecondsOfCapture(std::string_view line) {
  static const RE2 took(R"((?:Graph capturing finished in|graph end\. Time elapsed:) (\d{1,7}(?:\.\d+)?) s)");
  double seconds = 0;
  if ((!Tells(line, "Graph capturing finished") && !Tells(line, " graph end. Time")) ||
      !RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), took, &seconds))
    return std::nullopt;
  return seconds;
}

constexpr std::string_view kBeforeWeights = "the set-up before the weights are read",
                           kBehindWeights = "the set-up after the weights were read";

// The part of a start that a line begins, "" where the log may end soon; nothing for other lines.
std::optional<std::string_view> StageOf(std::string_view line) {
  struct Stage {
    std::string_view words, name;
  };
  static constexpr std::array kStages = std::to_array<Stage>({
      {"Starting to load model", "the reading of the weights"},
      {"Load weight begin", "the reading of the weights"},
      {"Loading weights took", kBehindWeights},
      {"Load weight end", kBehindWeights},
      {"Model loading took", kBehindWeights},
      {"Dynamo bytecode transform time", "compiling"},
      {"torch.compile t", "the set-up after compiling"},
      {"# GPU blocks: ", ""},
      {"KV cache size: ", ""},
      {"max_total_num_tokens=", ""},
      {"Capture cuda graph begin", "the capture of CUDA graphs"},
      {"Capturing CUDA graph", "the capture of CUDA graphs"},
      {"Capture cuda graph end", ""},
      {"Graph capturing finished", ""},
  });
  for (const auto& [words, name] : kStages)
    if (Tells(line, words)) return name;
  return std::nullopt;
}

}  // namespace

void ServerStartReader::Line(std::string_view line, const std::function<std::optional<int64_t>()>& time) {
  // vLLM's banner has its version in letters.
  const bool begins = Tells(line, "vLLM API server version") || Tells(line, "server_args=ServerArgs(") ||
                      Tells(line, "] non-default args: {");
  static const RE2 engine(R"(Initializing an? (?:V\d )?LLM engine)");
  const bool initializes =
      Tells(line, "LLM engine (v") && RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), engine);
  if (begins || (initializes && !began_)) {
    began_ = last_ = time();
    lines_ = 0;
    weights_ns_ = download_ns_ = compile_ns_ = capture_ns_ = engine_begins_ns_ = 0;
    stage_ = kBeforeWeights;
    return;
  }
  if (!began_) return;
  if (++lines_ > kMostLinesOfStart) {
    began_.reset();
    return;
  }
  if (const auto now = time(); now && *now >= *began_) last_ = now;
  // The engine's process imports and reads the configuration anew before that, in versions that have one.
  if (initializes && engine_begins_ns_ == 0) engine_begins_ns_ = static_cast<double>(*last_ - *began_);
  if (const auto stage = StageOf(line)) stage_ = *stage;
  static const RE2 taken(R"(Model loading took (\d{1,6}(?:\.\d+)?) ?G(i?)B\b)");
  double gib = 0;
  std::string binary;
  if (Tells(line, "Model loading took") &&
      RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), taken, &gib, &binary))
    weights_bytes_ = gib * (binary.empty() ? 1e9 : 0x1p30);
  if (const auto seconds = SecondsOfWeights(line))
    weights_ns_ = std::max(weights_ns_, *seconds * kNsOfSecond);
  if (const auto seconds = SecondsOfDownload(line))
    download_ns_ = std::max(download_ns_, *seconds * kNsOfSecond);
  if (const auto seconds = SecondsOfCompiling(line))
    compile_ns_ = std::max(compile_ns_, *seconds * kNsOfSecond);
  if (const auto seconds = SecondsOfCapture(line))
    capture_ns_ = std::max(capture_ns_, *seconds * kNsOfSecond);
  static const RE2 took(R"(init engine \(profile[^)]*\) took (\d{1,7}(?:\.\d+)?) s)");
  double seconds = 0;
  // What is printed late has the time of that.
  if (Tells(line, "init engine (profile") && last_ &&
      RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), took, &seconds))
    last_ = std::max(*last_, *began_ + static_cast<int64_t>(seconds * kNsOfSecond));
  if (Tells(line, "init engine (profile") || Tells(line, "Application startup complete") ||
      Tells(line, "fired up and ready"))
    End();
}

void ServerStartReader::End() {
  const int64_t took = *last_ - *began_;
  if (took > 0 && took < kLongestStart) {
    ++starts_;
    start_ns_ += static_cast<double>(took);
    all_download_ns_ += std::min(download_ns_, static_cast<double>(took));
    all_compile_ns_ += std::min(compile_ns_, static_cast<double>(took));
    all_capture_ns_ += std::min(capture_ns_, static_cast<double>(took));
    all_engine_begins_ns_ += std::min(engine_begins_ns_, static_cast<double>(took));
    ready_ = last_;
    all_weights_ns_ += std::min(download_ns_ + weights_ns_, static_cast<double>(took));
  }
  began_.reset();
}

void ServerStartReader::Finish(ServingLog& log) const {
  if (began_) log.last_stage = stage_;
  if (weights_bytes_ > 0) log.weights_bytes = weights_bytes_;
  // Of a start that did not end.
  if (starts_ == 0 && began_ && download_ns_ > 0) log.download_ns = download_ns_;
  if (starts_ == 0) return;
  log.starts = starts_;
  log.start_ns = start_ns_;
  if (all_weights_ns_ > 0) log.weights_ns = all_weights_ns_;
  if (all_download_ns_ > 0) log.download_ns = all_download_ns_;
  if (all_engine_begins_ns_ > 0) log.engine_begins_ns = all_engine_begins_ns_;
  if (all_compile_ns_ > 0) log.compile_ns = all_compile_ns_;
  if (all_capture_ns_ > 0) log.capture_ns = all_capture_ns_;
}

}  // namespace dladvisor::serving_log
