// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/other_lines.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "src/importers/training_log/log_line.h"
#include "src/trace/error_remedy.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestLineOfOthers = 4096, kLongestTitle = 48;
constexpr int64_t kLeastSecondsOfBar = 30;  // of a bar that is more than a start's

constexpr int64_t kLeastRecords = 5;
// Rows of a table from which on they are of a while, and GPUs of a machine.
constexpr int64_t kLeastStillRows = 200;
constexpr size_t kMostOfGpus = 16;
// Of a full GPU's memory, from which on others fill it: a process holds less than that beside its allocator.
constexpr double kCrowdedShare = 0.25;
// Lines that tell of it, from which on a program runs out of memory again and again.
constexpr int64_t kLeastFullMemories = 3;
// Steps at once, from which on a bar shows that a program goes on where it stopped.
constexpr int64_t kLeastJumpOfBar = 20;
// By how much what a bar counts takes longer in the last half of its time, from which on the mean is
// nobody's.
constexpr double kSlower = 2;
constexpr size_t kMostPoints = 4096;  // of a bar

struct Mark {
  std::string_view words, program;
  bool serves;
};
constexpr auto kMarks = std::to_array<Mark>({
    {"text_generation_launcher", "TGI (text-generation-inference)", true},
    {"text_generation_router", "TGI (text-generation-inference)", true},
    {"llama_model_load", "llama.cpp", true},
    {"lmdeploy", "LMDeploy", true},
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
  if (line.starts_with("{\"") && line.find("loss\":") != std::string_view::npos) ++records_;
  if (line.size() > kLongestLineOfOthers) return;
  static const RE2 row(R"(^\d{4}[/-]\d\d[/-]\d\d[ T][\d:.]{8,18}(?:, *-?[\d.]+){1,16}\s*$)");
  if (BeginsWithDigit(line) && RE2::PartialMatch(line, row)) {
    ++rows_;
    // One for each GPU where nothing changes.
    if (values_.size() <= kMostOfGpus) values_.emplace(line.substr(std::min(line.find(','), line.size())));
  }
  Profile(line);
  if (program_.empty())
    for (const Mark& mark : kMarks)
      if (line.find(mark.words) != std::string_view::npos) {
        program_ = mark.program;
        serves_ = mark.serves;
        break;
      }
  // What reports it, and no hint, policy or plan for it.
  static const RE2 full(
      R"re((?i)\b(?:error|warn(?:ing)?)\b.{0,60}\bOOM\b|\b(?:CUDA|HIP|NPU|XPU|MPS|GPU)(?: error:)? (?:backend |is |was |ran )?out of memory\b|\bOutOfMemoryError\b|\bout of memory[.:!]? (?:tried to|while trying to|when) allocat)re"),
      told(
          R"re((?i)\b(?:if|unless|avoid\w*|prevent\w*|reduce|policy|polic\w+|handl\w+|may|might|could|would)\b.{0,80}(?:\bOOM\b|out of memory)|\bOOM\b.{0,12}\b(?:policy|handler|protection|score|retry|retries|threshold))re");
  if ((line.find("OOM") != std::string_view::npos || line.find("ut of memory") != std::string_view::npos ||
       line.find("OutOfMemoryError") != std::string_view::npos) &&
      RE2::PartialMatch(line, full) && !RE2::PartialMatch(line, told))
    ++full_memories_;
  if (line.find("%|") != std::string_view::npos)
    Bar(line);
  else if (line.find("it [") != std::string_view::npos)
    BarWithoutTotal(line);
  // What stops a program without an exception.
  static const RE2 stop(
      R"((python\S*: can't open file .{1,200}?: \[Errno \d+\] [\w ]+|error loading model: .{1,100}|\*\*\* (?:JOB|STEP) \S+ ON \S+ CANCELLED AT \S+ DUE TO [A-Z ]+|Exited with exit code \d+|CUDA out of memory))");
  if (stop_.empty() &&
      (line.find("rror") != std::string_view::npos || line.find("out of memory") != std::string_view::npos ||
       line.find("can't open") != std::string_view::npos || line.find("Exited") != std::string_view::npos))
    RE2::PartialMatch(line, stop, &stop_);
}

// "Profile stats for: [_TrainingEpochLoop].train_dataloader_next", "4869394 function calls (...) in 18.893
// seconds".
void OtherLinesReader::Profile(std::string_view line) {
  constexpr std::string_view kAction = "Profile stats for: ";
  static const RE2 took(R"(^\s*\d+ function calls .*in (\d+\.\d+) seconds)"),
      data("(?:train_dataloader_next|get_train_batch|fetch_next_train_batch)\\s*$");
  double seconds = 0;
  if (line.starts_with(kAction)) {
    action_ = line.substr(kAction.size());
    ++profiles_;
  } else if (!action_.empty() && line.find(" function calls ") != std::string_view::npos &&
             RE2::PartialMatch(line, took, &seconds)) {
    if (RE2::PartialMatch(action_, data)) data_seconds_ = std::max(data_seconds_, seconds);
    if (action_.starts_with("run_training_batch")) batch_seconds_ = std::max(batch_seconds_, seconds);
    action_.clear();
  }
}

void OtherLinesReader::TakeTitle(std::string_view text) {
  const std::string_view words = Trim(text);
  title_ = words.substr(words.size() - std::min(words.size(), kLongestTitle));
  std::erase_if(title_, [](unsigned char c) { return c < 0x20 || c > 0x7E; });
  // "d: -0.001;gen: -0.008" are values, and name nothing.
  static const RE2 values(R"(\d\.\d)");
  if (RE2::PartialMatch(title_, values)) title_.clear();
}

// "Processing examples:   3%|#    | 55/2000 [11:53<7:17:54, 13.51s/it]"
void OtherLinesReader::Bar(std::string_view line) {
  static const RE2 bar(
      R"(([^|%]*?):? *\d{1,3}%\|[^|]*\| *(\d{1,12})/(\d{1,12}) \[(?:(\d{1,6}):)?(\d{1,6}):(\d{2})<)");
  re2::StringPiece rest = line;
  std::string title, hours;
  int64_t done = 0, total = 0, minutes = 0, seconds = 0;
  while (RE2::FindAndConsume(&rest, bar, &title, &done, &total, &hours, &minutes, &seconds)) {
    const int64_t since = (Integer(hours).value_or(0) * 60 + minutes) * 60 + seconds;
    // What was done before goes into the bar's first step.
    if (done <= 1) first_done_ = first_seconds_ = 0;
    if (last_done_ <= 1 && done > kLeastJumpOfBar) {
      first_done_ = done;
      first_seconds_ = since;
    }
    if (done < last_done_) points_.clear();
    last_done_ = done;
    if (points_.empty() || since > points_.back().seconds) points_.push_back({done, since});
    if (points_.size() > kMostPoints) {
      bool keep = false;
      std::erase_if(points_, [&](const Point&) { return keep = !keep; });
    }
    if (since < kLeastSecondsOfBar || since < seconds_ || done <= 0 || done > total) continue;
    TakeTitle(title);
    done_ = done;
    total_ = total;
    seconds_ = since;
    late_ = Late();
  }
}

// The last half of the time.
OtherLinesReader::Point OtherLinesReader::Late() const {
  const auto behind = std::ranges::upper_bound(points_, seconds_ / 2, {}, &Point::seconds);
  return behind == points_.begin() ? Point() : *std::prev(behind);
}

// "29948it [35:34,  7.00s/it]"
void OtherLinesReader::BarWithoutTotal(std::string_view line) {
  static const RE2 bar(R"(^([^|%]*?):? *(\d{1,12})it \[([\d:]{4,12}), )");
  std::string title, clock;
  int64_t done = 0;
  if (!RE2::PartialMatch(line, bar, &title, &done, &clock)) return;
  const auto since = static_cast<int64_t>(SecondsOfClock(clock).value_or(0));
  if (since < kLeastSecondsOfBar || since < seconds_ || done <= 0) return;
  TakeTitle(title);
  done_ = done;
  total_ = first_done_ = 0;
  late_ = {};
  seconds_ = since;
}

OtherLinesReader::Refusal OtherLinesReader::Refuse(const std::string& error,
                                                   const std::optional<MemoryTaken>& memory) const {
  const std::string& end = error.empty() ? stop_ : error;
  const std::string of = program_.empty() ? "the output of a program" : fmt::format("a log of {}", program_);
  const std::string program = program_.empty() ? of : of + ", a program";
  if (end.starts_with("Slurm cancelled the job: time limit") || end.ends_with("DUE TO TIME LIMIT "))
    return {fmt::format("{} that ran into its time limit: {}", program, end),
            "give the job more time (--time of Slurm), let it go on from its last checkpoint, and print the "
            "number of each step and what it took"};
  if (memory && memory->others_bytes > kCrowdedShare * memory->total_bytes)
    return {
        fmt::format("{} that stopped: {}; others than this process held about {:.1f} of the GPU's {:.1f} GiB",
                    program, end, memory->others_bytes / 0x1p30, memory->total_bytes / 0x1p30),
        "take a GPU that nobody else uses, or end what holds the memory of this one (nvidia-smi lists the "
        "processes)"};
  if (!end.empty()) {
    std::string remedy(ErrorRemedy(end));
    // What ranks say of one that is gone tells less than why it is; another error stands for itself.
    static const RE2 of_peer("(?i)^[^;]*\\b(?:gloo|nccl)\\b.*(?:closed|reset|exited|timed out|timeout)");
    const bool full = full_memories_ >= kLeastFullMemories && RE2::PartialMatch(end, of_peer);
    if (full)
      remedy = "Leave out what cannot fit, or " + Lower(ErrorRemedy("out of memory").substr(0, 1)) +
               std::string(ErrorRemedy("out of memory").substr(1));
    if (remedy.empty()) remedy = "Mend the error";
    remedy[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(remedy[0])));
    return {full ? fmt::format("{} of which {} lines tell that memory ran out; one of its errors: {}", of,
                               full_memories_, end)
                 : fmt::format("{} that stopped: {}", program, end),
            remedy + ", and give the log of a run that trains, or answers requests, for a minute or more"};
  }
  if (seconds_ > 0) {
    const bool goes_on = first_done_ > 0 && done_ > first_done_;
    const auto pace = [&](const Point& since) {
      return static_cast<double>(seconds_ - since.seconds) / static_cast<double>(done_ - since.done);
    };
    double each = pace(goes_on ? Point{first_done_, first_seconds_} : Point());
    // What is only looked at or skipped, as what an earlier run has done, goes fast.
    const bool slows = !goes_on && late_.done > 0 && done_ > late_.done && pace(late_) > kSlower * each;
    if (slows) each = pace(late_);
    return {
        fmt::format("{} {}: its progress bar{} stands at {}{} after {} s, {:.3g} s each{}", of,
                    title_.empty() ? "of which no line says what it counts" : "without a step of a training",
                    title_.empty() ? "" : " \"" + title_ + "\"", done_,
                    total_ > 0 ? fmt::format(" of {}", total_) : std::string(), seconds_, each,
                    goes_on ? fmt::format(" since it went on from {}", first_done_)
                    : slows ? fmt::format(" since it stood at {}", late_.done)
                            : ""),
        "where it evaluates, generates or prepares data, record a trace of some of these: nsys profile "
        "--trace=cuda,nvtx -o run PROGRAM, or torch.profiler"};
  }
  if (serves_)
    return {
        of + " without a line of a request that dladvisor reads",
        "take the log of a server that answers requests for a minute or more; where it has them, record a "
        "trace under load: nsys profile --trace=cuda,nvtx --cuda-graph-trace=node"};
  if (records_ >= kLeastRecords && 2 * records_ > lines_)
    return {
        "records of a training without the time of a step or epoch",
        "add the time of each to its record (\"time\": 0.25, in seconds), or give what the program printed"};
  if (profiles_ > 0)
    return {fmt::format("the report of Lightning's advanced profiler, which counts no steps{}",
                        data_seconds_ > 0 && batch_seconds_ > 0
                            ? fmt::format(": {:.3g} s went into waiting for batches, and {:.3g} s into "
                                          "training on them",
                                          data_seconds_, batch_seconds_)
                            : std::string()),
            "give the output of a run with Trainer(profiler=\"simple\"), or a trace: nsys profile "
            "--trace=cuda,nvtx -o run PROGRAM, or torch.profiler"};
  if (rows_ >= kLeastStillRows && 2 * rows_ > lines_ && values_.size() <= kMostOfGpus)
    return {
        fmt::format("a table of numbers by date in which nothing changes: {} rows with no more than {} "
                    "different ones, as of GPUs on which nothing runs",
                    rows_, values_.size()),
        "log while the program works, and see that it reaches these GPUs, with names and units: nvidia-smi "
        "--query-gpu=timestamp,index,utilization.gpu,memory.used,memory.total,power.draw --format=csv -l 1"};
  if (rows_ >= kLeastRecords && 2 * rows_ > lines_)
    return {"a table of numbers by date, without names of its columns or units",
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
