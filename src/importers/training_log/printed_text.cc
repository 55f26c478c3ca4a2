// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/printed_text.h"

#include <re2/re2.h>

#include <string_view>

#include "engine/base/error.h"

namespace dladvisor::training_log {

// What profilers print for people to read has sums alone.
void RefusePrintedStatistics(ByteSource& source) {
  static const RE2 nsys(R"(\*\* [^*\n]+ \([a-z_]+_sum\):|Processing \[[^\]\n]+\] with \[[^\]\n]+\.py\])"),
      table(R"re((?m)^"?(?:Start ?\(ns\)"?,"?Duration ?\(ns\)|Time ?\(%\)"?,"?Total Time ?\(ns\))"?,)re"),
      nvprof(R"((?m)^==\d+== (?:NVPROF is profiling process|Profiling (?:application|result):))");
  const std::string_view head = source.Head();
  const re2::StringPiece text(head.data(), head.size());
  if (RE2::PartialMatch(text, nsys) || RE2::PartialMatch(text, table))
    throw WrongKind(source.name(), "tables that nsys stats has printed, not the report they are made of",
                    "give the report itself (REPORT.nsys-rep), or its export: nsys export --type sqlite "
                    "REPORT.nsys-rep");
  if (RE2::PartialMatch(text, nvprof))
    throw WrongKind(source.name(), "the output of nvprof, which is not read",
                    "profile again with its successor: nsys profile --trace=cuda,nvtx -o report PROGRAM");
}

// What `script` or `tee` keep of a program that draws on a whole terminal: places of the cursor for lines.
void RefuseTerminal(ByteSource& source) {
  if (source.Head().find("\x1b[?1049h") == std::string_view::npos) return;
  throw WrongKind(source.name(),
                  "a recording of a terminal on which a program draws (watch, nvtop): places of the cursor, "
                  "not lines",
                  "log in lines: nvidia-smi --query-gpu=timestamp,index,utilization.gpu,memory.used,"
                  "memory.total,power.draw --format=csv -l 1 > gpu.csv");
}

}  // namespace dladvisor::training_log
