// SPDX-License-Identifier: Apache-2.0
// Training steps.
//
// Steps are process-wide. What the phases of a program leave out (program_phase.h) holds none. They are found
// from
//  1. ranges: those that match AnalysisOptions::step_range, else those that PyTorch's profiler writes
//     (`ProfilerStep#7`), else those of an inference server's engine (serving_step.h), one of either being
//     enough, else the numbered range with the most instances on one thread (`iteration 7`,
//     `epoch1_step2003-...`; of equally many the longest): at least two, with rising numbers, not
//     overlapping, each closed by the program (the profiler's are numbered anew where it was started again);
//     where there are none, those of one name that says step (`train_step`, `iteration`, `timestep`,
//     `decode_step`), at least three. A step's work is what was launched within its range, over all threads
//     of the process.
//  2. else, where the program names its passes (`forward pass`, `backward pass`, `optimizer step`), the time
//  from
//     one forward pass to the next after a backward pass (after an update, where these are named, so that
//     several micro-batches are one step), if these launch a tenth of the GPU's time; one is enough.
//  3. else the period of the kernel-name sequence of the process's first device: the shortest sequence
//     that repeats at least 3 times without a gap and covers 80 % of the device's kernels, if it has at least
//     8 kernels of at least 3 names, is launched by a call of its own or more, and spans 60 % of the time
//     from the device's first kernel to its last. A loop of one kernel, or of a few, is not a training step,
//     nor are several of its rounds together; nor are rounds of which several are within one call of a
//     module or one update of an optimizer, which are layers or parameters, as are rounds that attend once
//     each behind an input of the model (embeddings, a convolution) that none of them has. In a program
//     without ranges, five rounds and more of at least two kernels of two names are steps, if they also take
//     80 % of the device's kernel time; and so are five and more of one kernel that are alike (grid, block,
//     and time within a half of the median for 90 % of them), and span 60 % of the device's work with its
//     copies: a millisecond each and 50 ms in all, or twenty and more that take half of the time from one
//     start to the next; where each n-th of them follows a pause, n are a round. A sequence of two halves
//     that differ only in the order or the template arguments of their kernels (sweeps in alternating
//     directions) is two steps. Where no names repeat, all matrix products are one name, and variants of
//     other kernels too: libraries choose by sizes, which may grow with each token that is generated. In
//     place of a sequence, and where there is none, ranges of one name, or of one that counts what it works
//     on (`infer`, `frame 12`), that enclose all that repeats (range_rounds.h) and launch four fifths of the
//     GPU time: of a sequence several are in each, and the host waits once a range and not once a sequence.
//  4. else the time between the ends of an optimizer's updates (`Optimizer.step#SGD.step`, or an op `step` of
//     DLProf's markers), at least four, if four fifths of them launch about the same number of operations.
//  5. else the passes of a language model that generates token after token (token_passes.h), at least three
//     of about as many operations.
// Step n owns the half-open interval from the last GPU end of step n-1's work to that of its own: a
// partition, so that the stall before its first kernel is its own. The first step begins with its range or
// first launch, or where the GPU has done what was launched before; that of a server with its first GPU
// operation, since the step before it may still have run. Last steps that launch nothing are left out.
//
// Warm-up: leading steps longer than the median of the later ones by more than 5 robust standard deviations
// (1.4826 x median absolute deviation) and by more than 20 %, or whose GPU operations are more or fewer than
// their median by more than 20 % (work launched before the profile began, autotuning); at most a third of the
// steps. And the steps up to one of the first five that takes ten times the median and three times what any
// later one does: what is made at its first use. And a first round of a kernel sequence that lacks the wait
// with which others begin (warm_up.h). They are excluded.
#pragma once

#include <map>
#include <vector>

#include "src/analysis/context/context.h"

namespace dladvisor {

// Throws Error where options.step_range matches no ranges that can be steps (one range of a thread each,
// around most of what is launched; less than a tenth is refused), or options.steps no step.
Steps FindSteps(const Trace& trace, const RangeTexts& texts, const Ranks& ranks,
                const std::vector<GpuWork>& work, const Launches& launches,
                const std::map<int64_t, Phases>& phases, const AnalysisOptions& options);

}  // namespace dladvisor
