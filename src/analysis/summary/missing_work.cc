// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/summary/missing_work.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/analysis/context/api_kind.h"
#include "src/capture/capability.h"
#include "src/importers/words/importer_words.h"

namespace dladvisor {
namespace {

// Whether the profiler says that it could not collect what a GPU did. Of a program that uses none it says
// that CUPTI was not initialised.
bool FailedToCollect(const Trace& trace) {
  return std::ranges::any_of(trace.health.diagnostics, [](const Diagnostic& message) {
    const size_t error = message.text.find("CUPTI_ERROR");
    return error != std::string::npos && message.text.find("NOT_INITIALIZED", error) == std::string::npos;
  });
}

bool AnyLaunch(const Trace& trace) {
  const std::vector<ApiKind> kinds = ClassifyApis(trace);
  return std::ranges::any_of(trace.api_calls.name,
                             [&](NameId name) { return kinds[name] == ApiKind::kLaunch; });
}

// Not even what the profiler itself takes: whether the program called CUDA is not known then.
bool RecordedNothing(const Trace& trace) {
  return trace.api_calls.size() + trace.ranges.size() + trace.os_calls.size() + trace.cpu_samples.size() +
             trace.cpu_runs.size() + trace.mpi_calls.size() + trace.overheads.size() ==
         0;
}

}  // namespace

void ExplainMissingWork(const Trace& trace, ProfileRow& row) {
  row.truncated = trace.health.truncated;
  if (row.kernels + row.graph_launches + row.telemetry_samples + row.training_lines + row.serving_lines +
          row.program_parts + row.summary_rows >
      0)
    return;
  if (const auto option = trace.capture_options.find("gpu_traced"); option != trace.capture_options.end())
    row.gpu_traced = option->second == "yes";
  const CaptureWords& words = CaptureWordsOf(trace.format);
  std::string why(words.no_gpu_work);
  std::string wanted = capability::kRangesOfGpuWork;
  if (row.api_calls > 0 && AnyLaunch(trace)) {
    why = "calls that launch kernels were recorded, and no kernel";
  } else if (row.api_calls > 0) {
    why = "of the calls that were recorded none launches a kernel";
    wanted = row.ended_by == "program" ? "" : capability::kMoreTime;
  } else if (row.copies + row.sets > 0) {
    why = "copies were recorded but no kernel ran in the captured time";
    wanted = capability::kMoreTime;
  } else if (row.gpu_traced == true && FailedToCollect(trace)) {
    why = "CUDA was traced, but the profiler says that it could not collect what the GPU did";
    row.gpu_traced.reset();
  } else if (row.context_created == true) {
    why = "the program created a CUDA context, and no call of it was recorded";
    row.gpu_traced.reset();
    wanted.clear();
  } else if (row.never_written == true) {
    why = "the program initialised CUDA, and the profiler never came to write what it recorded";
    row.gpu_traced.reset();
    wanted.clear();
  } else if (row.stack_call) {
    why = fmt::format("stacks of the host show that the program calls the GPU ({}), and no call was recorded",
                      *row.stack_call);
    row.gpu_traced.reset();
  } else if (row.gpu_traced == true && RecordedNothing(trace)) {
    why = "CUDA was traced, and nothing at all was recorded: no call, no range and no sample";
    if (!trace.last_printed.empty())
      why += fmt::format(", while the program printed at last \"{}\"", trace.last_printed);
    wanted.clear();
  } else if (row.gpu_traced == true) {
    why = "CUDA was traced, and the program made no CUDA call";
    wanted.clear();
  } else if (row.gpu_traced == false) {
    why = "CUDA was not traced";
  } else if (row.has_cuda) {
    why = "the capture holds no CUDA activity: it was not traced, or the program made no CUDA call";
  }
  if (!wanted.empty())
    row.missing_capture = fmt::format("{}", fmt::join(CaptureOptions({wanted}, words), " "));
  if (row.truncated) {
    why = "the part of the trace that is there holds no GPU work";
    row.missing_capture.reset();
  }
  row.notes = why + "." + (row.notes ? " " + *row.notes : "");
}

}  // namespace dladvisor
