// SPDX-License-Identifier: Apache-2.0
// How programs write the line of a step: a table of regular expressions, a row for each form of each program.
#pragma once

#include <cstdint>
#include <vector>

namespace dladvisor::training_log {

enum FieldKind : uint8_t {
  kElapsed,     // of one step
  kTotal,       // since the start
  kWholeTotal,  // the same in whole seconds
  kMean,        // of the epoch's steps until now
  kClock,       // of the epoch until now, as 1:02:03 or 02:03: of a progress bar
  kSeconds,     // of the epoch until now, rounded to whole ones
  kRemaining,   // until the epoch's end, by the mean of its steps until now
  kRate,        // steps in a second
  kInput,       // of a step's time, waiting for its batch
  kMeanInput,   // the same, of the epoch's steps until now
  kTokens,      // in a second, of all GPUs
  kAllTokens,   // since the start
  kSamples,     // in a second, of all GPUs
  kBatch,       // samples of a step
  kTflops,      // of one GPU
  kMfu,
  kLoss,
  kLearningRate,
  kNorm,
  kLossScale,
  kMemory,    // bytes, the most of a GPU
  kReserved,  // the same of what the allocator holds
  kTimer,     // of the step, under its own name
};

struct FieldForm {
  FieldKind kind;
  const char* words;  // with the number as its only group; "nan" and "inf" stay
  double scale = 1;
  const char* timer = "";
};

// Of programs of which some count epochs, or steps, from 0 and some from 1.
inline constexpr int64_t kEither = -1;
// Forms that many write by hand: where a log has another's lines, too, those count.
inline constexpr const char* kAnyProgram = "a program that prints epochs and iterations";
inline constexpr const char* kStepsAlone = "a program that prints steps";
inline constexpr const char* kBars = "a program with a progress bar";
// Of which nothing smaller than an epoch is timed.
inline constexpr const char* kEpochs = "a program that prints epochs";

struct Form {
  const char* program;
  const char* mark;  // part of every head
  const char* head;  // with a group for each letter of `parts`
  // e: epoch, s: step, n: steps in all, or of an epoch if there is one; b: step of a bar, which counts where
  // it is full, its epoch standing on a line before; t: epoch that is timed as a whole
  const char* parts;
  int64_t first_epoch = 0, first_step = 0;
  bool block = false;  // its fields stand on the lines after the head
  std::vector<FieldForm> fields;
  const char* unless = nullptr;  // words of lines that are another form's
};

const std::vector<Form>& Forms();

}  // namespace dladvisor::training_log
