// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/program/function_tables.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestRowOfFunction = 4096, kLongestNameOfFunction = 120, kMostFunctions = 100'000;
constexpr size_t kMostShown = 20;
// What no program does or takes.
constexpr double kMostSeconds = 1e9;
constexpr int64_t kMostCalls = int64_t{1} << 40;
// Share of the time from which on waits for the GPU say more than what is called.
constexpr double kWaits = 0.3;
// The innermost function that holds so much is where the time goes; one that holds all of it is the program.
constexpr double kHolds = 0.5, kAll = 0.95;
// Of imports, which hold the functions of modules as they start; of all, from which the program did little
// else.
constexpr std::string_view kImports = "import of modules";
constexpr double kMostlyImports = 0.9;
// Of waiting for batches, below which it does not.
constexpr double kWaitsForData = 0.2;

std::optional<double> Seconds(const std::string& text) {
  const auto seconds = Number(text);
  return seconds && *seconds >= 0 && *seconds <= kMostSeconds ? seconds : std::nullopt;
}

// "forward (model.py:72)" of "/home/me/model.py:72(forward)", "method 'item' of torch._C.TensorBase" of
// "{method 'item' of 'torch._C.TensorBase' objects}".
std::string PythonName(std::string_view text) {
  static const RE2 function(R"((?:.*[/\\])?([^/\\]+:\d+)\((.+)\))"),
      method(R"(\{(method '.*' of) '(.*)' objects\})"),
      built_in(R"(\{built-in method (?:builtins\.)?(.*)\})");
  std::string first, second;
  if (text.find("importlib._bootstrap") != std::string_view::npos) return std::string(kImports);
  if (RE2::FullMatch(text, function, &first, &second)) return fmt::format("{} ({})", second, first);
  if (RE2::FullMatch(text, method, &first, &second)) return fmt::format("{} {}", first, second);
  if (RE2::FullMatch(text, built_in, &first)) return first;
  return std::string(text);
}

// "MeanShift::track" of "MeanShift::track(cv::Mat const&)": its parameters are longer than it.
std::string NativeName(std::string_view text) {
  const size_t parameters = text.find('(');
  const bool cuts = parameters != std::string_view::npos && parameters > 0 &&
                    text.find("operator(") == std::string_view::npos && text[parameters - 1] != ':';
  return std::string(cuts ? text.substr(0, parameters) : text);
}

// Calls that end when the GPU has done what was asked for before.
bool WaitsForGpu(const std::string& name) {
  static const RE2 wait(
      R"(method '(?:item|cpu|tolist|numpy|nonzero|is_nonzero|__bool__|block_until_ready)' of .*|.*synchronize(?:$| \().*)");
  return RE2::FullMatch(name, wait);
}

// What calls a program's own functions, and has none of their work.
bool IsPlumbing(const std::string& name) {
  static const RE2 plumbing(
      R"((?:<module>|<lambda>|_?_?call(?:_impl|_fn|able|__)?|_wrapped_call_impl|_call_[a-z_]*|wrap(?:per|ped)?|inner|decorate_context|closure|run[a-z_]*|main|exec|eval|next|__next__|__exit__|__enter__|advance|start|stop|fit|launch|apply|step|_?_?train(?:ing)?(?:_step|_epoch|_loop)?|optimizer_step|profile_hook_step) ?(?:\(.*)?)");
  return RE2::FullMatch(name, plumbing);
}

}  // namespace

bool FunctionTablesReader::Line(std::string_view line) {
  if (line.size() > kLongestRowOfFunction) return false;
  static const RE2 python(
      R"(\s*ncalls\s+tottime\s+percall\s+cumtime\s+percall\s+filename:lineno\(function\)\s*)"),
      took(R"(\s*\d+ function calls .*\bin (\d+\.\d+) (?:CPU )?seconds.*)"),
      gprof(R"(\s*time\s+seconds\s+seconds\s+calls\s+\S+\s+\S+\s+name\s*)");
  constexpr std::string_view kAction = "Profile stats for: ";
  std::string seconds;
  if (open_ != Tool::kNone) {
    if (open_ == Tool::kPython ? TakePython(line) : open_ == Tool::kGprof ? TakeGprof(line) : TakeLine(line))
      return true;
    Close();
  }
  if (TakeHeading(line)) return true;
  if (line.starts_with(kAction)) {
    action_ = Trim(line.substr(kAction.size()));
    return true;
  }
  if (line.find("function calls ") != std::string_view::npos && RE2::FullMatch(line, took, &seconds)) {
    seconds_ = Seconds(seconds).value_or(0);
    return true;
  }
  if (line.find("tottime") != std::string_view::npos && RE2::FullMatch(line, python)) {
    Open(Tool::kPython);
    return true;
  }
  if (line.find("seconds") != std::string_view::npos && RE2::FullMatch(line, gprof)) {
    Open(Tool::kGprof);
    return true;
  }
  return false;
}

void FunctionTablesReader::Open(Tool tool) {
  open_ = tool;
  table_ = {.tool = tool,
            .function = tool == Tool::kLines ? function_ : "",
            .ns = std::exchange(seconds_, 0) * kNsPerSecond,
            .functions = {}};
}

// "45981/3406    0.032    0.000   26.366    0.008 module.py:1549(_wrapped_call_impl)"
bool FunctionTablesReader::TakePython(std::string_view line) {
  static const RE2 row(R"(\s*(\d+)(?:/\d+)?\s+(\d+\.\d+)\s+\d+\.\d+\s+(\d+\.\d+)\s+\d+\.\d+\s+(\S.*?)\s*)");
  std::string calls, self, total, name;
  if (!RE2::FullMatch(line, row, &calls, &self, &total, &name)) return false;
  const auto count = Integer(calls);
  const auto self_seconds = Seconds(self), total_seconds = Seconds(total);
  if (!count || *count > kMostCalls || !self_seconds || !total_seconds) return true;
  Add(PythonName(name), {*count, *self_seconds * kNsPerSecond, *total_seconds * kNsPerSecond});
  return true;
}

// " 30.95      0.13     0.13      157     0.83     0.83  MeanShift::CalWeight(...)": the times of a call have
// units of their own, and those with what it calls are none of one function alone.
bool FunctionTablesReader::TakeGprof(std::string_view line) {
  static const RE2 row(
      R"(\s*\d+\.\d+\s+(\d+\.\d+)\s+(\d+\.\d+)\s+(?:(\d+)\s+\d+\.\d+\s+\d+\.\d+\s+)?(\S.*?)\s*)");
  std::string sum, self, calls, name;
  if (!RE2::FullMatch(line, row, &sum, &self, &calls, &name)) return false;
  const auto all = Seconds(sum), seconds = Seconds(self);
  const auto count = calls.empty() ? std::optional<int64_t>(0) : Integer(calls);
  if (!all || !seconds || !count || *count > kMostCalls) return true;
  table_.ns = std::max(table_.ns, *all * kNsPerSecond);
  Add(NativeName(name), {*count, *seconds * kNsPerSecond, *seconds * kNsPerSecond});
  return true;
}

bool FunctionTablesReader::TakeHeading(std::string_view line) {
  static const RE2 unit(R"(\s*Timer unit: ([\d.e+-]+) s\s*)"), total(R"(\s*Total time: ([\d.e+-]+) s\s*)"),
      function(R"(\s*Function: (.{1,100}) at line \d+\s*)"),
      header(R"(\s*Line #\s+Hits\s+Time\s+Per Hit\s+% Time\s+Line Contents\s*)");
  std::string text;
  if (line.size() > kLongestNameOfFunction || line.find_first_of(":#") == std::string_view::npos)
    return false;
  if (RE2::FullMatch(line, unit, &text)) {
    unit_ns_ = Number(text).value_or(1e-6) * kNsPerSecond;
    return true;
  }
  if (RE2::FullMatch(line, total, &text)) {
    seconds_ = Seconds(text).value_or(0);
    return false;  // also what other programs print
  }
  if (RE2::FullMatch(line, function, &text)) {
    function_ = text;
    return true;
  }
  if (function_.empty() || !RE2::FullMatch(line, header)) return false;
  Open(Tool::kLines);
  return true;
}

// "   172         1     160969.0 160969.0     80.3      eft = torch.einsum('ij,ijk->ik', wt, ft)", and lines
// of the source that nothing was measured of.
bool FunctionTablesReader::TakeLine(std::string_view line) {
  static const RE2 row(R"(\s*(\d+)\s+(\d+)\s+([\d.e+-]+)\s+[\d.e+-]+\s+\d+\.\d+\s+(\S.*?)\s*)"),
      source(R"(\s*\d+(?:\s.*)?|=+\s*)");
  std::string number, hits, time, code;
  if (!RE2::FullMatch(line, row, &number, &hits, &time, &code)) return RE2::FullMatch(line, source);
  const auto count = Integer(hits);
  const auto units = Number(time);
  if (!count || *count > kMostCalls || !units || !(*units >= 0) ||
      *units * unit_ns_ > kMostSeconds * kNsPerSecond)
    return true;
  constexpr size_t kLongestCode = 72;
  if (code.size() > kLongestCode) code = code.substr(0, kLongestCode) + "...";
  const double ns = *units * unit_ns_;
  Add(fmt::format("{} (line {} of {})", code, number, function_),
      {*count, ns, ns, Integer(number).value_or(0)});
  return true;
}

const FunctionTablesReader::Table* FunctionTablesReader::InnermostLines(const Table& table) const {
  constexpr int kDeepest = 8;
  const Table* innermost = &table;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const auto longest = std::ranges::max_element(innermost->functions, {},
                                                  [](const auto& line) { return line.second.self_ns; });
    const Table* called = nullptr;
    for (const auto& [name, of_lines] : of_lines_) {
      const size_t dot = name.rfind('.');  // of a method behind its class
      const std::string call = name.substr(dot == std::string::npos ? 0 : dot + 1) + "(";
      if (&of_lines != innermost && of_lines.ns >= kHolds * longest->second.self_ns &&
          of_lines.ns <= longest->second.self_ns && longest->first.find(call) != std::string::npos)
        called = &of_lines;
    }
    if (called == nullptr) break;
    innermost = called;
  }
  return innermost;
}

void FunctionTablesReader::Add(const std::string& name, const Function& function) {
  if (table_.functions.size() >= kMostFunctions && !table_.functions.contains(name)) return;
  Function& sum = table_.functions[name];
  sum.calls += function.calls;
  sum.self_ns += function.self_ns;
  // Modules import others.
  sum.total_ns = std::max(sum.total_ns, function.total_ns);
  sum.line = function.line;
}

void FunctionTablesReader::Close() {
  static const RE2 data("(?:train_dataloader_next|get_train_batch|fetch_next_train_batch)$");
  open_ = Tool::kNone;
  if (table_.functions.empty()) return;
  if (table_.tool == Tool::kLines) {
    if (of_lines_.size() < kMostFunctions) of_lines_[std::exchange(function_, {})] = std::move(table_);
    table_ = {};
    return;
  }
  if (action_.empty()) {
    if (table_.ns > longest_.ns) longest_ = std::move(table_);
  } else {
    if (RE2::PartialMatch(action_, data)) data_ns_ += table_.ns;
    actions_.tool = table_.tool;
    actions_.ns = std::max(actions_.ns, table_.ns);
    for (const auto& [name, function] : table_.functions) {
      if (actions_.functions.size() >= kMostFunctions && !actions_.functions.contains(name)) continue;
      Function& sum = actions_.functions[name];
      sum.calls += function.calls;
      sum.self_ns += function.self_ns;
      sum.total_ns += function.total_ns;
    }
  }
  table_ = {};
  action_.clear();
}

// Lines of one loop run as often as each other, but for the last test of its head, and stand together.
std::vector<std::pair<std::string, FunctionTablesReader::Function>> FunctionTablesReader::LoopsOf(
    const Table& table) {
  constexpr int64_t kFarthest = 3, kFewestRounds = 100;
  constexpr double kAsOften = 1.05;
  std::vector<std::pair<std::string, Function>> lines(table.functions.begin(), table.functions.end());
  std::ranges::stable_sort(lines, {}, [](const auto& line) { return line.second.line; });
  std::vector<std::pair<std::string, Function>> loops;
  for (size_t first = 0, next = 0; first < lines.size(); first = next) {
    Function sum = lines[first].second;
    for (next = first + 1; next < lines.size(); ++next) {
      const Function &before = lines[next - 1].second, &line = lines[next].second;
      const auto [few, many] = std::minmax(before.calls, line.calls);
      if (few < kFewestRounds || line.line - before.line > kFarthest ||
          static_cast<double>(many) > kAsOften * static_cast<double>(few))
        break;
      sum.calls = std::max(sum.calls, line.calls);
      sum.self_ns += line.self_ns;
      sum.total_ns += line.total_ns;
    }
    loops.emplace_back(next == first + 1
                           ? lines[first].first
                           : fmt::format("the loop of lines {} to {} of {}", lines[first].second.line,
                                         lines[next - 1].second.line, table.function),
                       sum);
  }
  std::ranges::stable_sort(loops, std::ranges::greater(),
                           [](const auto& loop) { return loop.second.self_ns; });
  return loops;
}

// Functions whose lines are measured may call one another: the time is that of the one that takes most.
void FunctionTablesReader::AddLinesTo(ProgramOutput& output) const {
  const auto outermost =
      std::ranges::max_element(of_lines_, {}, [](const auto& item) { return item.second.ns; });
  const double all = outermost->second.ns;
  if (!(all > 0)) return;
  const Table* innermost = InnermostLines(outermost->second);
  const auto lines = LoopsOf(*innermost);
  output.parts.clear();
  output.program = "line_profiler";
  output.duration_ns = all;
  for (const auto& [name, line] : lines) {
    if (output.parts.size() >= kMostShown || !(line.self_ns > 0)) break;
    ProgramPart& part = output.parts.emplace_back();
    part.kind = ProgramPartKind::kFunction;
    part.name = name.substr(0, kLongestNameOfFunction);
    part.count = line.calls;
    part.ns = std::min(line.self_ns, all);
  }
}

void FunctionTablesReader::AddTo(ProgramOutput& output) const {
  FunctionTablesReader ended = *this;  // the last table may end with the text
  ended.Close();
  if (!ended.of_lines_.empty()) return ended.AddLinesTo(output);
  const Table& table = ended.actions_.ns > ended.longest_.ns ? ended.actions_ : ended.longest_;
  if (!(table.ns > 0)) return;
  std::vector<std::pair<std::string, Function>> functions(table.functions.begin(), table.functions.end());
  std::ranges::stable_sort(functions, std::ranges::greater(),
                           [](const auto& function) { return function.second.self_ns; });
  const std::pair<std::string, Function>* main = nullptr;
  double waits = 0;
  for (const auto& function : functions)
    if (WaitsForGpu(function.first)) {
      waits += function.second.self_ns;
      if (main == nullptr) main = &function;
    }
  const bool by_self = waits >= kWaits * table.ns;
  if (!by_self) {
    main = nullptr;
    for (const auto& function : functions) {
      const double total = function.second.total_ns;
      if (IsPlumbing(function.first) || total < kHolds * table.ns || total > kAll * table.ns) continue;
      if (main == nullptr || total < main->second.total_ns) main = &function;
    }
    const auto imports = std::ranges::find(functions, kImports, &std::pair<std::string, Function>::first);
    if (imports != functions.end() && imports->second.total_ns >= kMostlyImports * table.ns) main = &*imports;
    // Nothing holds half of it: what takes most itself, with what it calls.
    if (main == nullptr) main = &functions.front();
  }
  output.parts.clear();
  output.program = table.tool == Tool::kPython ? "Python's cProfile" : "gprof";
  output.duration_ns = table.ns;
  const auto add = [&](const std::pair<std::string, Function>& function, bool self) {
    ProgramPart& part = output.parts.emplace_back();
    part.kind = ProgramPartKind::kFunction;
    part.name = function.first.substr(0, kLongestNameOfFunction);
    // Of how many functions importing consists tells nothing.
    part.count = function.first == kImports ? 1 : function.second.calls;
    part.ns = std::min(self ? function.second.self_ns : function.second.total_ns, table.ns);
  };
  add(*main, by_self);
  if (by_self && WaitsForGpu(main->first)) output.parts.front().ns = std::min(waits, table.ns);
  for (const auto& function : functions)
    if (&function != main && output.parts.size() < kMostShown) add(function, true);
  if (ended.data_ns_ >= kWaitsForData * table.ns && ended.data_ns_ <= table.ns)
    output.data = {.lines = 1, .part = ended.data_ns_, .whole = table.ns};
}

}  // namespace dladvisor::training_log
