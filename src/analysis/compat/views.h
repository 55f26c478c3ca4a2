// SPDX-License-Identifier: Apache-2.0
// The tables that users of other tools know, as SQL views over events and facts, under those tools' names of
// tables and columns: nsys.sql, dlprof.sql, pytorch.sql and tracelens.sql. They are computed when they are
// queried, most from events, of which a digest has none.
#pragma once

#include <string>
#include <vector>

namespace dladvisor {

struct View {
  std::string name, doc, sql;
};

// `nsys stats` reports (https://docs.nvidia.com/nsight-systems/UserGuide/index.html, section "Report
// Scripts"). Like theirs they sum over processes and devices; rows without a duration are left out. And
// jitter_kernel, the table that Zulfiqar and Knight take from an export to compare GPUs ("Scaling the
// Transformer Model Implementation in PyTorch Across Multiple Nodes", NVIDIA, 2020).
const std::vector<View>& NsysViews();

// DLProf's reports (https://docs.nvidia.com/deeplearning/frameworks/dlprof-user-guide, section "Reports")
// with its columns and orders. Like it they do not distinguish ranks; iterations are the analysed steps, and
// without steps the profile is iteration 0.
//
// Definitions, as DLProf 1.8's database and reports of one export show them:
//   CPU time       of a call of an op: its inner marker; the outer one walks the Python stack
//   CPU overhead   CPU time outside CUDA calls
//   GPU time       time in which any kernel, copy or set that the call launched ran; not their sum
//   GPU idle       from the first start to the last end of that work, without GPU time
//   op             the nth call of a path in an iteration; id: its type and a number in order of first calls.
//                  (All repeated calls there differ in shapes, too, so that shapes may be what distinguishes
//                  DLProf's ops. Earlier versions made one op of all calls of a path, as our relation `op`
//                  does.)
//   group op       a prefix of paths; _CompleteModel_ adds CUDA calls outside all ops, each an op of its own
//   kernels        counted by short name
//   wall clock     the aggregated iterations; without any, from the start of the capture to the last event
// Means, least and most of group ops are over iterations, those of all else over calls. The export is one
// iteration and each op of one call: it does not show whether DLProf does so.
const std::vector<View>& DlprofViews();

// Tables of Holistic Trace Analysis (hta_...: https://hta.readthedocs.io) and of the PyTorch TensorBoard
// plugin (tb_...: github.com/pytorch/kineto, tb_plugin), in their units. The families that they read document
// the definitions and where theirs differ.
const std::vector<View>& PytorchViews();

// Sheets of TraceLens's performance report (tracelens_...: github.com/AMD-AGI/TraceLens).
const std::vector<View>& TracelensViews();

}  // namespace dladvisor
