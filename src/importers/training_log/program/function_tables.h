// SPDX-License-Identifier: Apache-2.0
// Tables of the functions in which a program's time passes on the host, as profilers of code print them:
// Python's cProfile, alone or for each action of a training (Lightning's Trainer(profiler="advanced")), and
// gprof's flat profile; and the lines of functions, as Python's line_profiler does. They tell nothing of a
// GPU but that Python waits for it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/trace/program_output.h"

namespace dladvisor::training_log {

class FunctionTablesReader {
 public:
  // Whether the line is part of a table.
  bool Line(std::string_view line);
  // Replaces the parts by the functions, what to look at first in front, where there is a table.
  void AddTo(ProgramOutput& output) const;

 private:
  enum class Tool : uint8_t { kNone, kPython, kGprof, kLines };

  struct Function {
    int64_t calls = 0;
    double self_ns = 0;   // without the functions that it calls
    double total_ns = 0;  // with them
    int64_t line = 0;     // of a table of lines, which; 0 elsewhere
  };
  using Functions = std::map<std::string, Function, std::less<>>;

  struct Table {
    Tool tool = Tool::kNone;
    std::string function;  // of a table of lines, whose
    double ns = 0;         // of all that it measured
    Functions functions;
  };

  bool TakePython(std::string_view line);
  bool TakeGprof(std::string_view line);
  bool TakeLine(std::string_view line);
  // Before such a table: the unit of its times, the time and the name of the function. Whether the line is
  // one.
  bool TakeHeading(std::string_view line);
  // Of a function's lines the one that takes most, or of the function that it calls.
  const Table* InnermostLines(const Table& table) const;
  // What takes most of a function first: its lines, those of a loop together.
  static std::vector<std::pair<std::string, Function>> LoopsOf(const Table& table);
  void AddLinesTo(ProgramOutput& output) const;
  void Add(const std::string& name, const Function& function);
  void Open(Tool tool);
  void Close();

  Tool open_ = Tool::kNone;  // whose rows follow
  std::string action_;       // of a training, whose table comes next; "" outside of those
  double seconds_ = 0;       // that the next table has in all
  std::string function_;     // whose lines come next
  double unit_ns_ = 1e3;     // of their times
  Table table_;              // that is read
  std::map<std::string, Table, std::less<>> of_lines_;  // by the function whose lines they are
  Table longest_;                                       // of those that are apart, the one of most time
  Table actions_;       // of those of one training all together, as none holds the functions of another
  double data_ns_ = 0;  // of these waiting for batches
};

}  // namespace dladvisor::training_log
