// SPDX-License-Identifier: Apache-2.0
// Tables of the functions in which a program's time passes on the host, as profilers of code print them:
// Python's cProfile, alone or for each action of a training (Lightning's Trainer(profiler="advanced")), and
// gprof's flat profile. They tell nothing of a GPU but that Python waits for it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "src/trace/program_output.h"

namespace dladvisor::training_log {

class FunctionTablesReader {
 public:
  // Whether the line is part of a table.
  bool Line(std::string_view line);
  // Replaces the parts by the functions, what to look at first in front, where there is a table.
  void AddTo(ProgramOutput& output) const;

 private:
  enum class Tool : uint8_t { kNone, kPython, kGprof };

  struct Function {
    int64_t calls = 0;
    double self_ns = 0;   // without the functions that it calls
    double total_ns = 0;  // with them
  };
  using Functions = std::map<std::string, Function, std::less<>>;

  struct Table {
    Tool tool = Tool::kNone;
    double ns = 0;  // of all that it measured
    Functions functions;
  };

  bool TakePython(std::string_view line);
  bool TakeGprof(std::string_view line);
  void Add(const std::string& name, const Function& function);
  void Open(Tool tool);
  void Close();

  Tool open_ = Tool::kNone;  // whose rows follow
  std::string action_;       // of a training, whose table comes next; "" outside of those
  double seconds_ = 0;       // that the next table has in all
  Table table_;              // that is read
  Table longest_;            // of those that are apart, the one of most time
  Table actions_;            // of those of one training all together, as none holds the functions of another
  double data_ns_ = 0;       // of these waiting for batches
};

}  // namespace dladvisor::training_log
