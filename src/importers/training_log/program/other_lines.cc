// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/program/other_lines.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestLineOfOthers = 4096;
constexpr int64_t kLeastRecords = 5;
// Rows of a table from which on they are of a while, and GPUs of a machine.
constexpr int64_t kLeastStillRows = 200;
constexpr size_t kMostOfGpus = 16;
// Lines that tell of it, from which on a program runs out of memory again and again.
constexpr int64_t kLeastFullMemories = 3;

struct Mark {
  std::string_view words, program;
  bool serves;
};
constexpr auto kMarks = std::to_array<Mark>({
    {"text_generation_launcher", "TGI (text-generation-inference)", true},
    {"text_generation_router", "TGI (text-generation-inference)", true},
    {"llama_model_load", "llama.cpp", true},
    {"lmdeploy", "LMDeploy", true},
    {"TS_METRICS", "TorchServe", true},
    {"detectron2 INFO", "Detectron2", false},
    {"d2.engine", "Detectron2", false},
    {"detectron2.engine", "Detectron2", false},
    {"mmengine - ", "MMEngine", false},
    {"mmdet - ", "MMDetection", false},
    {"[fairseq", "fairseq", false},
    {"[lightning", "Lightning", false},
    {"pytorch_lightning", "Lightning", false},
    {"LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES", "Lightning", false},
    {"accelerate.accelerator", "Accelerate", false},
    {"***** Running training *****", "Hugging Face Trainer", false},
    {"DeepSpeed info: version", "DeepSpeed", false},
    {"ultralytics", "Ultralytics", false},
    {"][oumi][", "Oumi", false},
    {"configuration_utils.py:", "Hugging Face Transformers", false},
});

bool BeginsWithDigit(std::string_view line) { return !line.empty() && line[0] >= '0' && line[0] <= '9'; }

}  // namespace

void OtherLinesReader::Line(std::string_view line) {
  ++lines_;
  reports_.Line(line);
  if (line.starts_with("{\"") && line.find("loss\":") != std::string_view::npos) ++records_;
  if (line.size() > kLongestLineOfOthers) return;
  static const RE2 names(R"(^(?:time|date)\w*(?:,[ \w.\[\]%-]{1,40}){1,16}\s*$)");
  if (lines_ == 1 && RE2::FullMatch(line, names)) names_ = Trim(line);
  static const RE2 row(R"(^\d{4}[/-]\d\d[/-]\d\d[ T][\d:.]{8,18}(?:, *-?[\d.]+){1,16}\s*$)");
  if (BeginsWithDigit(line) && RE2::PartialMatch(line, row)) {
    ++rows_;
    // One for each GPU where nothing changes.
    if (values_.size() <= kMostOfGpus) values_.emplace(line.substr(std::min(line.find(','), line.size())));
  }
  Collection(line);
  no_flash_ = no_flash_ || line.find("Could not import Flash ") != std::string_view::npos;
  if (program_.empty())
    for (const Mark& mark : kMarks)
      if (line.find(mark.words) != std::string_view::npos) {
        program_ = mark.program;
        serves_ = mark.serves;
        break;
      }
  // The kernels that it builds or loads to generate, and no training.
  infers_ = infers_ || (program_ == "DeepSpeed" && (line.find("transformer_inference") != line.npos ||
                                                    line.find("DeepSpeed-Inference config") != line.npos));
  // What reports it, and no hint, policy or plan for it.
  static const RE2 full(
      R"re((?i)\b(?:error|warn(?:ing)?)\b.{0,60}\bOOM\b|\b(?:CUDA|HIP|NPU|XPU|MPS|GPU)(?: error:)? (?:backend |is |was |ran )?out of memory\b|\bOutOfMemoryError\b|\bout of memory[.:!]? (?:tried to|while trying to|when) allocat)re"),
      told(
          R"re((?i)\b(?:if|unless|avoid\w*|prevent\w*|reduce|policy|polic\w+|handl\w+|may|might|could|would)\b.{0,80}(?:\bOOM\b|out of memory)|\bOOM\b.{0,12}\b(?:policy|handler|protection|score|retry|retries|threshold))re");
  if ((line.find("OOM") != std::string_view::npos || line.find("ut of memory") != std::string_view::npos ||
       line.find("OutOfMemoryError") != std::string_view::npos) &&
      RE2::PartialMatch(line, full) && !RE2::PartialMatch(line, told))
    ++full_memories_;
  // "OOM at step 25. Skipping batch."
  static const RE2 skipped(
      R"re((?i)(?:\bOOM\b|\bout of memory\b|OutOfMemoryError).{0,60}\bskip(?:ping|ped)?\b(?: \w+){0,3} (?:batch|step|sample|iteration|image)|\bskip(?:ping|ped)\b.{0,40}\b(?:batch|step|sample|iteration|image)\b.{0,40}(?:\bOOM\b|\bout of memory\b))re");
  if ((line.find("kip") != std::string_view::npos) && RE2::PartialMatch(line, skipped)) ++skipped_batches_;
  // What stops a program without an exception.
  static const RE2 stop(
      R"((python\S*: can't open file .{1,200}?: \[Errno \d+\] [\w ]+|error loading model: .{1,100}|\*\*\* (?:JOB|STEP) \S+ ON \S+ CANCELLED AT \S+ DUE TO [A-Z ]+|Test (?:NCCL|RCCL|CUDA|HIP) failure \S+:\d+ '[^'/]{0,99}[^'/ ]|Exited with exit code \d+|CUDA out of memory))");
  if (stop_.empty() && !RE2::PartialMatch(line, told) &&
      (line.find("rror") != std::string_view::npos || line.find("out of memory") != std::string_view::npos ||
       line.find("can't open") != std::string_view::npos || line.find("Exited") != std::string_view::npos ||
       line.starts_with("Test ") || line.find(" Test ") != std::string_view::npos))
    RE2::PartialMatch(line, stop, &stop_);
}

// Julia's @time: "0.172594 seconds (8.72 k CPU allocations: 357.484 KiB) (84 GPU allocations: 9.032
// GiB, 92.26% gc time of which 99.70% spent allocating)".
void OtherLinesReader::Collection(std::string_view line) {
  static const RE2 timed(R"((\d{1,7}\.\d+) seconds \(.*?)"),
      collects(R"((\d{1,3}\.\d+)% gc time(?: of which (\d{1,3}\.\d+)% spent allocating)?)");
  if (line.find(" seconds (") == std::string_view::npos) return;
  double seconds = 0, percent = 0;
  std::string allocating;
  if (!RE2::PartialMatch(line, timed, &seconds)) return;
  RE2::PartialMatch(line, collects, &percent, &allocating);
  if (percent > 100 || (percent == 0 && line.find(" allocation") == std::string_view::npos)) return;
  ++collection_.lines;
  collection_.whole += seconds * 1e9;
  collection_.part += seconds * 1e9 * percent / 100;
  allocating_seconds_ += seconds * percent / 100 * Number(allocating).value_or(0) / 100;
}

void OtherLinesReader::AddTo(ProgramOutput& output) const {
  output.program = infers_ ? "DeepSpeed-Inference" : program_;
  output.full_memories = full_memories_;
  if (collection_.part > 0) {
    output.collection = collection_;
    output.collects_for_gpu = allocating_seconds_ * 1e9 > collection_.part / 2;
  }
  if (skipped_batches_ >= kLeastFullMemories) output.skipped_batches = skipped_batches_;
  if (output.error.empty()) output.error = stop_;
}

Refusal OtherLinesReader::Refuse() const {
  if (const Refusal report = reports_.Refuse(); !report.what.empty()) return report;
  const std::string of = program_.empty() ? "the output of a program" : fmt::format("a log of {}", program_);
  if (serves_)
    return {
        of + (no_flash_
                  ? ", which runs without its Flash Attention kernels, and has no line of a request that "
                    "dladvisor reads"
                  : " without a line of a request that dladvisor reads"),
        std::string(no_flash_ ? "install Flash Attention, or take the server's official image; then " : "") +
            "take the log of a server that answers requests for a minute or more; where it has them, record "
            "a "
            "trace under load: nsys profile --trace=cuda,nvtx --cuda-graph-trace=node"};
  if (records_ >= kLeastRecords && 2 * records_ > lines_)
    return {
        "records of a training without the time of a step or epoch",
        "add the time of each to its record (\"time\": 0.25, in seconds), or give what the program printed"};
  if (rows_ >= kLeastStillRows && 2 * rows_ > lines_ && values_.size() <= kMostOfGpus)
    return {
        fmt::format("a table of numbers by date in which nothing changes: {} rows with no more than {} "
                    "different ones, as of GPUs on which nothing runs",
                    rows_, values_.size()),
        "log while the program works, and see that it reaches these GPUs, with names and units: nvidia-smi "
        "--query-gpu=timestamp,index,utilization.gpu,memory.used,memory.total,power.draw --format=csv -l 1"};
  if (rows_ >= kLeastRecords && 2 * rows_ > lines_)
    return {names_.empty()
                ? std::string("a table of numbers by date, without names of its columns or units")
                : fmt::format("a table by date of which no column is known as a GPU's: {}", names_),
            "log with names and units: nvidia-smi --query-gpu=timestamp,index,utilization.gpu,memory.used,"
            "memory.total,power.draw --format=csv -l 1"};
  if (!program_.empty())
    return {
        of + " without a line of an iteration",
        "give the log of a training that prints its steps, from the process that does; where it evaluates "
        "only, record a trace: nsys profile --trace=cuda,nvtx -o run PROGRAM, or torch.profiler"};
  return {};
}

}  // namespace dladvisor::training_log
