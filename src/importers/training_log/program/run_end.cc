// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/program/run_end.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <utility>

#include "src/importers/training_log/lines/log_line.h"
#include "src/importers/training_log/program/memory_words.h"

namespace dladvisor::training_log {
namespace {

// Lines behind an exception that still are of the end it brings: traces of other ranks, of the launcher.
constexpr int64_t kLinesOfEnd = 500;
// And behind one without a traceback, which a program may have got over.
constexpr int64_t kLinesOfBareEnd = 20;
constexpr std::string_view kTimedOut = "NCCL: a collective operation timed out";
constexpr size_t kLongestStop = 1024;
constexpr size_t kLongestWords = 120;  // of an error, cut between two of them
// Of other processes or of a bar, between the line that tells of an exception and its traceback.
constexpr int kMostStrays = 2;

const RE2& ExceptionForm() {
  static const RE2 form(
      R"((?:^|[\s\]:])((?:[a-z_]+\.)*[A-Z]\w*(?:Error|Exception|Interrupt)|SystemExit|StopIteration)(?:(: .{0,240})|:?\s*$))");
  return form;
}

// Behind the frames of a traceback an exception may have any name: "torch._dynamo.exc.Unsupported: ...".
const RE2& ExceptionOfModuleForm() {
  static const RE2 form(R"(^(?:\[[^\]]{1,40}\]:? ?)?((?:[a-z_]\w*\.)+[A-Z]\w*)(?:(: .{0,240})|:?\s*$))");
  return form;
}

// "SystemExit: 0", and the end of a loader without words, which a loop gets over.
bool EndsWell(std::string_view type, std::string_view words) {
  if (type == "StopIteration") return words.size() < 3;
  return type == "SystemExit" && (words.size() < 3 || RE2::FullMatch(words, R"(: (?:0|None)\s*)"));
}

// The exception of a traceback that a program logs as a list of its lines, which ends "\n', 'KeyError:
// 3\n']".
std::string_view LastOfList(std::string_view line) {
  static const RE2 list(R"(\\n['"], ['"]((?:[a-z_]+\.)*[A-Z].*)\\n['"]\]\s*$)");
  re2::StringPiece last;
  if (line.find("\\n']") == std::string_view::npos && line.find("\\n\"]") == std::string_view::npos)
    return {};
  RE2::PartialMatch(line, list, &last);
  return {last.data(), last.size()};
}

// "CUDA out of memory. Tried to allocate 576.00 MiB (...)" without a traceback, as programs print it that
// catch the exception to end with it. What tells how it goes on is of no end.
std::string OutOfMemoryOf(std::string_view line) {
  if (line.find(" out of memory. Tried to allocate") == std::string_view::npos) return {};
  static const RE2 alone(
      R"(^\W{0,4}(?:rank ?\d+\W{1,3})?((?:[Ee]rror: |(?:\w+\.)*\w*Error: )?\w+ out of memory\. Tried to allocate [\d.]+ \w+))"),
      goes_on(R"((?i)skip|retry|again|warn|ignor|instead|reduc(?:e|ing) (?:the )?batch)");
  std::string words;
  if (!RE2::PartialMatch(line, goes_on)) RE2::PartialMatch(line, alone, &words);
  return words;
}

// "Killed", "run.sh: line 12: 2967037 Segmentation fault (core dumped) python3 main.py", as a shell says it;
// "slurmstepd: error: *** JOB 12 ON n1 CANCELLED AT 2024-10-11T13:44:45 DUE TO NODE FAILURE ***". What a user
// cancels is no error.
std::string StopOf(std::string_view line) {
  static const RE2 alone(R"(^(Killed|Segmentation fault|Bus error)(?: +\(core dumped\))?\s*$)"),
      by_shell(R"(^\S{1,200}: line \d+: +\d+ (Killed|Segmentation fault|Bus error)\b)"),
      by_slurm(
          R"(\*\*\* (?:JOB|STEP) \S+ ON \S+ CANCELLED (?:AT \S+ )?DUE TO (NODE FAIL\w*|PREEMPTION|TIME LIMIT) \*\*\*)"),
      out_of_memory(R"(\bsrun: error: \S+: tasks? [\d,-]+: Out Of Memory\s*$)");
  std::string words;
  if (line.size() > kLongestStop) return {};
  if (line.find("CANCELLED") != std::string_view::npos && RE2::PartialMatch(line, by_slurm, &words))
    return "Slurm cancelled the job: " + Lower(words);
  if (line.find("slurmstepd") != std::string_view::npos &&
      (line.find("oom_kill event") != std::string_view::npos ||
       line.find("oom-kill event") != std::string_view::npos))
    return "the system killed it: the job's host memory was full";
  if (line.find(": Out Of Memory") != std::string_view::npos && RE2::PartialMatch(line, out_of_memory))
    return "the system killed it: the job's host memory was full";
  if ((line.starts_with("Killed") || line.starts_with("Segm") || line.starts_with("Bus error") ||
       line.find(": line ") != std::string_view::npos) &&
      (RE2::PartialMatch(line, alone, &words) || RE2::PartialMatch(line, by_shell, &words)))
    return words == "Killed"
               ? "the process was killed (SIGKILL), as the system does where the host's memory is full"
               : "the process died: " + Lower(words);
  return {};
}

}  // namespace

bool RunEndReader::GotOver() const { return bare_ && lines_ - error_line_ > kLinesOfBareEnd; }

bool RunEndReader::StopsTraining(int64_t lines) const {
  return of_training_ && !error_.empty() && lines - error_line_ <= kLinesOfEnd;
}

bool RunEndReader::Cancelled() const {
  return cancelled_line_ > 0 && lines_ - cancelled_line_ <= kLinesOfBareEnd;
}

// An exception just before it says more, unless that is only how the program took the signal.
void RunEndReader::Stopped(std::string error, int64_t number, std::optional<MemoryTaken> memory) {
  static const RE2 signal("SignalException|SIGTERM|got signal: 15");
  const bool known = !went_on_ && error_.find(": ") != std::string::npos &&
                     number - error_line_ <= kLinesOfEnd && !RE2::PartialMatch(error_, signal);
  if (known) return;
  error_ = std::move(error);
  memory_ = memory;
  error_line_ = number;
  bare_ = false;
  went_on_ = false;
}

// Whether the line tells of what Python or a program gets over: the thread ends, and not the program. A
// traceback follows each of these, and more of them where exceptions are chained; or the exception alone.
// Java names the thread in quotes, and prints no traceback of this form.
bool RunEndReader::Ignored(std::string_view line) {
  const auto has = [&](std::string_view words) { return line.find(words) != std::string_view::npos; };
  if (has("Exception ignored ") || (has("Exception in thread ") && !has("Exception in thread \""))) {
    ++ignored_;
    strays_ = 0;
    return true;
  }
  if (has("Traceback (most recent call last)")) {
    gets_over_ = within_ = ignored_ > 0;
    ignored_ -= gets_over_;
    strays_ = 0;
    return false;
  }
  if (gets_over_ && (has("During handling of the above exception") || has("The above exception was"))) {
    ++ignored_;
    strays_ = 0;
    return true;
  }
  if (ignored_ == 0 && !within_) return false;
  if (line.starts_with(' ') || has("File \"")) return false;
  if (RE2::PartialMatch(line, ExceptionForm())) {
    if (!std::exchange(within_, false)) --ignored_;
  } else if (!within_ && ++strays_ > kMostStrays) {
    ignored_ = 0;
  }
  return false;
}

// "AttributeError: ...", behind a rank or a date, where an exception ends; of its words no more than fits a
// line.
void RunEndReader::Line(std::string_view coloured, int64_t number) {
  lines_ = number;
  const std::string_view last = LastOfList(coloured);
  if (coloured.size() > 4096 && last.empty()) return;
  const std::string plain = !last.empty() || coloured.find('\x1b') == std::string_view::npos
                                ? std::string()
                                : WithoutColours(coloured);
  const std::string_view line = !last.empty() ? last : plain.empty() ? coloured : std::string_view(plain);
  static const RE2 training(R"((?i)\bFile ".*(?:train|fine_?tun).*")");
  // It ends a rank without an exception of Python's, and the launcher's names no reason.
  static const RE2 watchdog(
      R"(Watchdog caught collective operation timeout: WorkNCCL\(.{0,40}?OpType=(\w+))");
  std::string collective;
  if (line.find("Watchdog caught") != std::string_view::npos &&
      RE2::PartialMatch(line, watchdog, &collective)) {
    Stopped(fmt::format("{} ({})", kTimedOut, collective), number, {});
    return;
  }
  static const RE2 cancelled(R"(\*\*\* (?:JOB|STEP) \S+ ON \S+ CANCELLED AT )");
  if (line.find(" CANCELLED AT ") != std::string_view::npos && RE2::PartialMatch(line, cancelled))
    cancelled_line_ = number;
  if (const std::string stop = StopOf(line); !stop.empty()) {
    Stopped(stop, number, {});
    return;
  }
  // PyTorch's own warnings quote the traceback of what it gets over: "[rank0]:W0608 00:49:48.013000 71125
  // ...".
  static const RE2 warning(R"(^(?:\d+: ?)?(?:\[rank\d+\]: ?)?[WI]\d{4} \d\d:\d\d:\d\d\.\d+ )");
  if (RE2::PartialMatch(line, warning)) return;
  if (line.find(R"("run_stop")") != std::string_view::npos &&
      line.find(R"("success")") != std::string_view::npos)
    went_on_ = true;
  if (Ignored(line)) return;
  if (const std::string words = OutOfMemoryOf(line); !words.empty() && !traceback_ && !gets_over_) {
    if (!error_.empty() && !went_on_ && !bare_) return;
    Stopped(words, number, MemoryTakenIn(line));
    bare_ = true;
    return;
  }
  // "Done killing workers" tells of no training.
  static const RE2 finished(
      R"((?i)\btrain\w*(?: is| has)? (?:complete|finish|done|over)|\b(?:finish|complet)ed training|^\W*(?:all )?(?:done|finished|completed?)(?:\W*$| (?:successfully|in|after)\b))"),
      failed(R"((?i)\bfail|\berror|\bkill|\babort|\bcrash|exit\w* (?:code|status)[ :=]*-?[1-9])");
  // Within a traceback such words are of the program's own text.
  const bool frames = traceback_ && error_line_ < traceback_line_;
  if (!error_.empty() && !went_on_ && !frames && RE2::PartialMatch(line, finished) &&
      !RE2::PartialMatch(line, failed))
    went_on_ = true;
  if (line.find("Traceback (most recent call last)") != std::string_view::npos) {
    traceback_ = !gets_over_;
    traceback_line_ = number;
  }
  if (!last.empty() && RE2::PartialMatch(last, ExceptionForm())) traceback_ = true;
  if (!traceback_) return;
  of_training_ = of_training_ || RE2::PartialMatch(line, training);
  static const RE2 loop(
      R"(\bFile ".*, in (?:train|training|_inner_training_loop|training_step|train_\w+)\s*$)");
  of_loop_ = of_loop_ || RE2::PartialMatch(line, loop);
  std::string type, words;
  const bool by_name = RE2::PartialMatch(line, ExceptionForm(), &type, &words);
  if (!by_name && !RE2::PartialMatch(line, ExceptionOfModuleForm(), &type, &words)) return;
  if (EndsWell(type, words)) {
    traceback_ = line.find("raise ") != std::string_view::npos;  // a frame
    return;
  }
  // Of one traceback, what is called an error says more than another name with words behind it.
  const bool named =
      by_name && of_module_ && error_line_ > traceback_line_ && number - error_line_ <= kLinesOfBareEnd;
  const bool late = number - std::exchange(error_line_, number) > kLinesOfEnd;
  // The first of the ranks', unless it has no words, or is a launcher's, which knows no reason.
  static const RE2 launcher("CalledProcessError|ChildFailedError|ProcessRaisedException");
  // Of two processes that write into one line, each says less than a line of its own.
  // A loader's worker sends the text of its own traceback, which ends with the exception.
  const bool mixed =
      words.find(type) != std::string::npos || words.find("Traceback (most") != std::string::npos;
  traceback_ = words.empty() || mixed || !by_name;
  const bool vague = words.size() < 3 || mixed || RE2::PartialMatch(type, launcher);
  // What a rank dies of while another waits for it in vain says more than that, unless it is of the waiting.
  static const RE2 of_waiting(
      R"((?i)nccl|gloo|watchdog|connection|time(?:d ?)?out|timed out|abort|broken pipe|peer)");
  const bool waited = error_.starts_with(kTimedOut) && error_.find("; ") == std::string::npos && !went_on_ &&
                      !late && !vague && !RE2::PartialMatch(line, of_waiting);
  const std::string beside = waited ? "; " + error_ : "";
  // What a user interrupts ends other processes in their own ways.
  const bool known = (error_.find(": ") != std::string::npos && !mixed_ && !waited && !named &&
                      !RE2::PartialMatch(error_, launcher)) ||
                     error_ == "KeyboardInterrupt" || (!error_.empty() && vague);
  if (known && !went_on_ && ((vague && !mixed) || !late)) return;
  // What was free, of how much, is what counts where memory ran out.
  static const RE2 free(R"(out of memory\. Tried to allocate .{1,120}? (?:is )?free\b)");
  re2::StringPiece memory;
  if (free.Match(words, 0, words.size(), RE2::UNANCHORED, &memory, 1)) {
    words.resize(static_cast<size_t>(memory.data() + memory.size() - words.data()));
  } else if (words.size() > kLongestWords) {
    const size_t blank = words.rfind(' ', kLongestWords);
    words.resize(blank > kLongestWords / 2 && blank != std::string::npos ? blank : kLongestWords);
    words += " [...]";
  }
  mixed_ = mixed;
  of_module_ = !by_name;
  bare_ = false;
  error_ = type + words;
  memory_ = MemoryTakenIn(line);
  while (error_.ends_with(' ') || error_.ends_with('.') || error_.ends_with(':')) error_.pop_back();
  error_ += beside;
  went_on_ = false;
}

}  // namespace dladvisor::training_log
