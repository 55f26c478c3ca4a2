// SPDX-License-Identifier: Apache-2.0
// Times of epochs that stand on a line of their own, or that count from the training's start.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

// In seconds, of "Time taken for 1 epoch: 292.7 secs", "Training Epoch Time: 12.14", which follow the epoch's
// loss or its number.
std::optional<double> TimeOfEpochBefore(std::string_view line);

// In seconds, of "DataLoader Time: 7.8775", of an epoch or of a batch.
std::optional<double> LoadingOfEpoch(std::string_view line);

// In seconds, of a line that ends an epoch whatever else it says: "Epoch 3 completed in 4729.23s | Loss:
// 0.6".
std::optional<double> TimeOfWholeEpoch(std::string_view line);

// In seconds, of "Epoch 56 Val, MAE: 17.69, Cost 207.9 sec".
std::optional<double> TimeOfEvaluation(std::string_view line);

// In seconds, of a line of its own: "Validation: loss=2.1, took 30.5s", "Eval done in 12 s".
std::optional<double> TimeOfEvaluationLine(std::string_view line);

// In seconds, what one step takes by "Time for 100 iterations: 52.1 s", "50 steps took 3.2 min".
std::optional<double> TimeOfSeveralSteps(std::string_view line);

// Makes of times that grow from epoch to epoch, each by what an epoch takes, those of the epochs themselves;
// of lines of every so many epochs, too, where they grow by as much with each epoch.
void SplitTotals(std::vector<TrainingIteration>& epochs);

// Makes epochs of bars that count the samples of one, which each covers, as Keras did before it counted
// steps. Another fold has its own count.
void SamplesToEpochs(TrainingLog& log);

// What most epochs have tells none from another.
void LeaveOutCommonEvents(TrainingLog& log);

// "Epoch 1/100, Batch 10/164": not a line of the whole epoch; nor is a bar.
bool OfPartOfEpoch(std::string_view line);

}  // namespace dladvisor::training_log
