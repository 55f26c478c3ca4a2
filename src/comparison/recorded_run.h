// SPDX-License-Identifier: Apache-2.0
// A run as a comparison reads it: how long its steps are, what their time goes to, what ran on the GPU, what
// rules find, and with which settings. Of a job it is the GPU that sets the pace. The
// relations are not kept.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/rules/knowledge_base.h"
#include "engine/store/database.h"
#include "src/gate/runs/gate_run.h"

namespace dladvisor {

// What ran on the GPU under one name, in the analysed window.
struct RecordedWork {
  std::string name;  // path of an operator, name of a kernel, operator with shapes and type
  std::string kind;  // type of an operator, kind of a kernel ("matrix", "attention", ...)
  std::string op;    // of shapes the operator; of a kernel the path of the one with most of its time
  double calls = 0;
  double ns = 0;
  std::optional<double> attained_share;  // of what the GPU can do, where that is known
};

// A figure of the whole run: of its GPUs the mean.
struct RecordedFigure {
  std::string title;
  Unit unit = Unit::kNone;
  double value = 0;
};

struct RecordedRun {
  GateRun gate_run;  // name, findings and what must be the same
  size_t steps = 0;  // steady ones, or iterations of a log
  std::optional<double> step_ns, step_stddev_ns;
  std::string step_source, step_pattern;        // as of `run`; "" where unknown
  std::optional<double> window_ns;              // analysed time
  std::map<std::string, double> ledger_ns;      // by bucket: of a mean step; without steps of the window
  std::vector<RecordedWork> operators;          // by path
  std::vector<RecordedWork> kernels;            // by name
  std::vector<RecordedWork> shapes;             // operators by shapes and type, where they are recorded
  std::vector<RecordedWork> timers;             // of a log, of an iteration; timers may hold others
  std::vector<RecordedFigure> figures;          // use of the GPUs, memory, throughput, what nvidia-smi saw
  std::optional<double> flops;                  // in the window, where most of the GPU's work is known
  std::optional<double> samples, tokens;        // of a step, where a log has them
  bool truncated = false;                       // the end of a file is missing
  std::map<std::string, std::string> settings;  // arguments of the training, where a log has them
};

// The run of a database, of which a gate's part is known.
RecordedRun DescribeRun(GateRun run, const Database& db);

// The same, with SummarizeRun for the gate's part.
RecordedRun RecordRun(std::string name, const KnowledgeBase& knowledge, Database& db,
                      const std::map<std::string, std::string>& missing_relations);

}  // namespace dladvisor
