// SPDX-License-Identifier: Apache-2.0
// Lines in the words and letters that readers know: what people write of epochs, losses and times in Chinese,
// Japanese and Korean, and names of values in capitals.
#pragma once

#include <string>
#include <string_view>

namespace dladvisor::training_log {

// "第 3 轮，损失：0.5，耗时：12 秒" as "epoch 3 , loss: 0.5, time: 12 s", and "EPOCH : 3  LOSS : 0.5" with
// "Epoch" and "Loss". "" where the line stays as it is.
std::string InKnownWords(std::string_view line);

}  // namespace dladvisor::training_log
