// SPDX-License-Identifier: Apache-2.0
// Lines of programs that print a line for each step, as they print them.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/base/error.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using testing::HasSubstr;

TrainingLog StepLog(const std::string& text) { return test::ReadLog(text).training_log; }

double Milliseconds(const TrainingIteration& row) { return row.elapsed_ns.value_or(0) / 1e6; }

TEST(StepLines, NanoGpt) {
  const TrainingLog log =
      StepLog("iter 10: loss 9.5, time 135.20ms, mfu 12.50%\niter 20: loss nan, time 130.00ms, mfu 13.00%\n");
  EXPECT_EQ(log.program, "nanoGPT");
  ASSERT_EQ(log.iterations.size(), 2u);
  EXPECT_EQ(log.iterations[0].iteration, 11) << "counted from 0";
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[0]), 135.2);
  EXPECT_DOUBLE_EQ(*log.iterations[0].mfu, 0.125);
  EXPECT_EQ(log.iterations[1].covers, 10);
  EXPECT_EQ(log.iterations[1].nan, 10);
}

// A full bar is written twice, first with a smoothed rate; the clock says what the epoch took.
TEST(StepLines, ProgressBarsOfYolo) {
  const TrainingLog log = StepLog(
      "     0/299     10.7G   0.08078   0.02814         0    0.1089       122       640:  26%|##6 | 10/38 "
      "[00:17<00:27,  1.02it/s]\r"
      "     0/299     10.7G   0.0797   0.0278         0    0.1075       35       640: 100%|####| 38/38 "
      "[00:38<00:00,  1.60it/s]\r"
      "     0/299     10.7G   0.0797   0.0278         0    0.1075       35       640: 100%|####| 38/38 "
      "[00:38<00:00,  1.00it/s]\n"
      "               Class      Images      Labels           P           R      mAP@.5: 100%|####| 7/7 "
      "[00:02<00:00,  2.40it/s]\n"
      "     1/299       11G   0.0697   0.0258         0    0.0955       31       640: 100%|####| 38/38 "
      "[01:16<00:00,  2.00s/it]\n");
  EXPECT_EQ(log.program, "YOLO");
  ASSERT_EQ(log.iterations.size(), 2u);
  EXPECT_EQ(log.iterations[0].iteration, 38);
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[0]), 1000);
  EXPECT_EQ(log.iterations[1].iteration, 76);
  EXPECT_EQ(log.iterations[1].planned, 300 * 38);
  EXPECT_EQ(log.iterations[1].covers, 38);
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[1]), 2000);
  ASSERT_EQ(log.memory.size(), 2u);
}

TEST(StepLines, ProgressBarsOfEpochs) {
  const TrainingLog log = StepLog(
      "Epoch 0:  50%|#####     | 100/200 [00:03<00:03, 30.0it/s, loss=0.2, v_num=1]\r"
      "Epoch 0: 100%|##########| 200/200 [00:04<00:00, 50.0it/s, loss=0.2, v_num=1]\n"
      "Epoch 1: 100%|##########| 200/200 [1:00:00<00:00, 18.0s/it, loss=0.1, v_num=1]\n");
  EXPECT_EQ(log.program, "PyTorch Lightning");
  ASSERT_EQ(log.iterations.size(), 2u);
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[0]), 20) << "of few seconds the rate";
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[1]), 18000);
  EXPECT_DOUBLE_EQ(*log.iterations[1].loss, 0.1);
  const TrainingLog other = StepLog(
      "Epoch 1/9: 100%|##########| 50/50 [00:25<00:00,  2.1it/s]\nEpoch 2/9: 100%|##########| 50/50 "
      "[00:30<00:00,  2.1it/s]\n");
  EXPECT_EQ(other.program, "a program with a progress bar");
  ASSERT_EQ(other.iterations.size(), 2u);
  EXPECT_DOUBLE_EQ(Milliseconds(other.iterations[1]), 600);
}

// A bar is overwritten until it is full, and written again with the validation.
TEST(StepLines, BarsOfKeras) {
  const TrainingLog log = StepLog(
      "Epoch 1/3\n"
      "100/469 [=====>........................] - ETA: 2s - loss: 0.9\b\b\b\b\r"
      "469/469 [==============================] - 3s 5ms/step - loss: 0.4724 - accuracy: 0.86\r"
      "469/469 [==============================] - 4s 6ms/step - loss: 0.4724 - accuracy: 0.86 - val_loss: "
      "0.2\n"
      "1/1 [==============================] - 0s 20ms/step\n"
      "Epoch 2/3\n"
      "469/469 [==============================] - 3s 7ms/step - loss: 0.25 - accuracy: 0.93\n"
      "Epoch 3/3\n"
      "469/469 ━━━━━━━━━━━━━━━━━━━━ 940s 2s/step - accuracy: 0.95 - loss: 0.2\n");
  EXPECT_EQ(log.program, "Keras");
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_EQ(log.iterations[0].iteration, 469);
  EXPECT_EQ(log.iterations[2].iteration, 3 * 469);
  EXPECT_EQ(log.iterations[1].covers, 469);
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[0]), 5);
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[1]), 7);
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[2]), 2000);
  EXPECT_DOUBLE_EQ(*log.iterations[2].loss, 0.2);
}

// Where a log was cut while it was written, its file has a hole.
TEST(StepLines, BehindAHole) {
  const TrainingLog log = StepLog(std::string(300, '\0') +
                                  "iter 10: loss 9.5, time 135.20ms, mfu 12.50%\niter 20: loss 9.1, time "
                                  "130.00ms, mfu 13.00%\n");
  EXPECT_EQ(log.program, "nanoGPT");
  EXPECT_EQ(log.iterations.size(), 2u);
}

// Epochs are counted from 0 by some and from 1 by others; between two of them is more than iterations.
TEST(StepLines, EpochsAndIterationsOfAnyProgram) {
  const TrainingLog log = StepLog(
      "2025-11-19 11:17:05,000 - INFO - [batch 10/20, epoch 1/15]: loss_rmse:0.10 lr: 0.001\n"
      "2025-11-19 11:17:07,500 - INFO - [batch 20/20, epoch 1/15]: loss_rmse:0.09 lr: 0.001\n"
      "2025-11-19 11:17:47,500 - INFO - [batch 10/20, epoch 2/15]: loss_rmse:0.08 lr: 0.001\n");
  EXPECT_EQ(log.program, "a program that prints epochs and iterations");
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_EQ(log.iterations[0].iteration, 10);
  EXPECT_EQ(log.iterations[2].iteration, 30);
  EXPECT_FALSE(log.iterations[0].elapsed_ns);
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[1]), 250);
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[2]), 4000);
  EXPECT_DOUBLE_EQ(*log.iterations[2].loss, 0.08);
  ASSERT_EQ(log.events.size(), 1u);
  EXPECT_EQ(log.events[0].before, 2u);
  EXPECT_EQ(log.events[0].kind, TrainingEventKind::kEpochEnd);

  const TrainingLog zero = StepLog(
      "2025-06-12 13:31:13,075 - INFO - Epoch: [ 0/200] Iter [  10/1487] || Time: 3.7996 sec || Loss: 2.35\n"
      "2025-06-12 13:31:16,075 - INFO - Epoch: [ 0/200] Iter [  20/1487] || Time: 6.9960 sec || Loss: 2.07\n"
      "2025-06-12 13:31:19,575 - INFO - Epoch: [ 1/200] Iter [  10/1487] || Time: 9.9 sec || Loss: 2.07\n");
  ASSERT_EQ(zero.iterations.size(), 3u);
  EXPECT_EQ(zero.iterations[0].iteration, 10);
  EXPECT_EQ(zero.iterations[2].iteration, 1497);
  EXPECT_DOUBLE_EQ(Milliseconds(zero.iterations[1]), 300) << "of the lines' times";
}

// Of a trainer that prints more of itself, what a callback prints is not the log.
TEST(StepLines, ATrainersOwnLinesCountFirst) {
  const TrainingLog log = StepLog(
      "2025-06-12 13:31:13,100 Epoch 1/2, Step 10/40, loss: 1.0\n"
      "2025-06-12 13:31:43,100 Epoch 1/2, Step 20/40, loss: 0.9\n"
      " 25%|##5       | 20/80 [01:00<03:00,  3.00s/it]\n"
      " 50%|#####     | 40/80 [02:00<02:00,  3.00s/it]\n"
      "{'train_runtime': 240.0, 'train_samples_per_second': 8.0, 'train_loss': 0.5, 'epoch': 2.0}\n");
  EXPECT_EQ(log.program, "Hugging Face Trainer");
}

TEST(StepLines, Yolox) {
  const TrainingLog log = StepLog(
      "2022-08-07 20:23:28 | INFO     | yolox.core.trainer:261 - epoch: 1/300, iter: 10/14786, mem: 584Mb, "
      "iter_time: 0.224s, data_time: "
      "0.002s, total_loss: 14.6, iou_loss: 4.6, lr: 2.287e-11, size: 416, ETA: 11 days, 11:38:15\n"
      "2022-08-07 20:23:30 | INFO     | yolox.core.trainer:261 - epoch: 1/300, iter: 20/14786, mem: 584Mb, "
      "iter_time: 0.200s, data_time: "
      "0.150s, total_loss: 14.1, iou_loss: 4.6, lr: 2.287e-11, size: 416, ETA: 11 days, 11:38:15\n");
  EXPECT_EQ(log.program, "YOLOX");
  ASSERT_EQ(log.iterations.size(), 2u);
  EXPECT_EQ(log.iterations[1].iteration, 20);
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[1]), 200);
  ASSERT_EQ(log.timers.size(), 2u);
  EXPECT_DOUBLE_EQ(*log.timers[1].ns, 150e6);
}

TEST(StepLines, TimesSinceTheStartOfAnEpochsList) {
  const TrainingLog log = StepLog(
      "[   10 Epoch:[ 0/25] [   9/20018] time: 40.0000, d_loss: 2.4, g_loss: 0.15\n"
      "[   11 Epoch:[ 0/25] [  10/20018] time: 43.5000, d_loss: 1.9, g_loss: 0.25\n"
      "Epoch: [ 1/25] [   0/20018] time: 70051.5, d_loss: 1.9, g_loss: 0.25\n");
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[1]), 3500);
  EXPECT_EQ(log.iterations[2].iteration, 20019);
}

TEST(StepLines, ValidationsBetweenThem) {
  const TrainingLog log = StepLog(
      "step     0 | loss: 10.95 | lr 8.39e-07 | norm: 15.3 | dt: 51661.39ms | tok/sec: 10148.55\n"
      "step     1 | loss: 10.90 | lr 1.67e-06 | norm: 14.8 | dt: 4738.40ms | tok/sec: 110646.69\n"
      "validation loss: 6.1495\n"
      "step     2 | loss: 10.80 | lr 2.51e-06 | norm: 14.4 | dt: 51748.87ms | tok/sec: 10102.62\n"
      "\x1b[32mstep 00003/00020 (15.00%)\x1b[0m | loss: 10.3 | lrm: 0.10 | dt: 39.86ms | tok/sec: 12,844 | "
      "mfu: 0.97\n");
  ASSERT_EQ(log.iterations.size(), 4u);
  EXPECT_DOUBLE_EQ(*log.iterations[1].tokens_per_second, 110646.69);
  EXPECT_DOUBLE_EQ(*log.iterations[1].learning_rate, 1.67e-6);
  ASSERT_EQ(log.events.size(), 1u);
  EXPECT_EQ(log.events[0].before, 2u);
  EXPECT_EQ(log.events[0].kind, TrainingEventKind::kEvaluation);
  EXPECT_EQ(log.iterations[3].planned, 20) << "without the colours of a terminal";
  EXPECT_DOUBLE_EQ(*log.iterations[3].tokens_per_second, 12844);
}

TEST(StepLines, TimesSinceTheStart) {
  const TrainingLog log = StepLog(
      "step:0/100 val_loss:16.0 train_time:278ms step_avg:nanms\n"
      "step:1/100 train_loss:16.0 train_time:42703ms step_avg:nanms\n"
      "step:2/100 train_loss:9.4 train_time:42883ms step_avg:nanms\n"
      "step:3/100 train_loss:9.4 train_time:170ms step_avg:170ms\n"
      "step:4/100 train_loss:9.4 train_time:350ms step_avg:175ms\n");
  ASSERT_EQ(log.iterations.size(), 4u) << "a loss without a time of its own is no step";
  EXPECT_NEAR(Milliseconds(log.iterations[1]), 180, 1e-6);
  EXPECT_FALSE(log.iterations[2].elapsed_ns) << "the clock was set back";
  EXPECT_NEAR(Milliseconds(log.iterations[3]), 180, 1e-6);
}

TEST(StepLines, MeansSinceTheEpochBegan) {
  const TrainingLog log = StepLog(
      "Epoch: [0][0/250]\tTime 3.900 (3.900)\tData 0.400 (0.400)\tLoss 13.06 (13.06)\n"
      "Epoch: [0][9/250]\tTime 1.100 (1.200)\tData 0.300 (0.400)\tLoss 12.66 (12.39)\n"
      "Test: [220/242]\tTime 0.641 (0.640)\tLoss 2.4016 (2.8379)\n"
      "Epoch: [1][0/250]\tTime 1.500 (1.500)\tData 0.700 (0.700)\tLoss 12.31 (12.29)\n");
  EXPECT_EQ(log.program, "PyTorch's ImageNet example");
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_NEAR(Milliseconds(log.iterations[1]), (12.0 - 3.9) / 9 * 1e3, 1e-6) << "without the first step";
  EXPECT_EQ(log.iterations[2].iteration, 251);
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[2]), 1500);
  ASSERT_EQ(log.timers.size(), 3u);
  EXPECT_EQ(log.timers[1].name, "data");
  EXPECT_NEAR(*log.timers[1].ns, 0.4e9, 1);
}

TEST(StepLines, OtherLoops) {
  const auto second = [](const std::string& text) {
    const TrainingLog log = StepLog(text);
    EXPECT_EQ(log.iterations.size(), 2u) << text;
    return log.iterations.size() == 2 ? log : TrainingLog();
  };
  TrainingLog log = second(
      "Epoch: [0]  [ 10/5005]  eta: 1:00:00  lr: 0.1  loss: 6.9 (6.9)  time: 0.4056  data: 0.1003  max mem: "
      "9000\n"
      "Epoch: [0]  [ 20/5005]  eta: 1:00:00  lr: 0.1  loss: 6.9 (6.9)  time: 0.4000  data: 0.1000  max mem: "
      "9000\n");
  EXPECT_EQ(log.program, "torchvision");
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[0]), 405.6);
  EXPECT_EQ(log.memory[0].max_allocated, 9000LL * 1048576);
  log = second(
      "Train: 0 [   0/1251 (  0%)]  Loss:  6.9 (6.9)  Time: 1.9s,   67.2/s  (1.9s,   67.2/s)  LR: 1.000e-06  "
      "Data: 0.4 (0.4)\n"
      "Train: 0 [  50/1251 (  4%)]  Loss:  6.9 (6.9)  Time: 0.4s,  320.0/s  (0.4s,  320.0/s)  LR: 1.000e-06  "
      "Data: 0.1 (0.1)\n");
  EXPECT_EQ(log.program, "timm");
  EXPECT_DOUBLE_EQ(*log.iterations[1].samples_per_second, 320);
  log = second(
      "2021-01-01 00:00:00,000 - mmdet - INFO - Epoch [1][50/7330]\tlr: 1.9e-03, eta: 1 day, 2:00:00, time: "
      "0.512, data_time: 0.052, memory: 3748, loss: 2.1\n"
      "2021-01-01 00:00:25,000 - mmdet - INFO - Epoch [1][100/7330]\tlr: 3.9e-03, eta: 1 day, 2:00:00, time: "
      "0.500, data_time: 0.012, memory: 3748, loss: 1.1\n");
  EXPECT_EQ(log.program, "MMEngine");
  EXPECT_EQ(log.iterations[1].covers, 50);
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[1]), 500);
  log = second(
      "[01/01 00:00:10 d2.utils.events]: eta: 0:12:34  iter: 19  total_loss: 2.3  time: 0.2012  data_time: "
      "0.0100  lr: 0.001  max_mem: 2000M\n"
      "[01/01 00:00:14 d2.utils.events]: eta: 0:12:34  iter: 39  total_loss: 2.1  time: 0.2000  data_time: "
      "0.0100  lr: 0.001  max_mem: 2000M\n");
  EXPECT_EQ(log.program, "Detectron2");
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[1]), 200);
  log = second(
      "[12/22 19:31:54] d2.utils.events INFO:  eta: 0:00:19  iter: 19  cls_acc: 0.89  total_loss: 5.4  "
      "aux_loss: 0.2  time: 0.9540  last_time: 0.9  data_time: 0.2795  lr: 2e-05  max_mem: 3802M\n"
      "[12/22 19:32:15] d2.utils.events INFO:  eta: 0:00:00  iter: 39  cls_acc: 0.92  total_loss: 4.8  "
      "aux_loss: 0.1  time: 0.9600  last_time: 0.9  data_time: 0.0065  lr: 2e-05  max_mem: 3802M\n");
  EXPECT_EQ(log.program, "Detectron2") << "with other metrics before the loss";
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[1]), 960);
  EXPECT_DOUBLE_EQ(*log.iterations[1].loss, 4.8);
  log = second(
      "2020-01-01 00:00:00 | INFO | train_inner | epoch 001:    100 / 1000 loss=11.5, ppl=9, wps=12000, "
      "ups=2.5, wpb=4800, bsz=160, num_updates=100, lr=1e-05, gnorm=3.1, loss_scale=64, train_wall=40, "
      "wall=41\n"
      "2020-01-01 00:00:40 | INFO | train_inner | epoch 001:    200 / 1000 loss=10.5, ppl=9, wps=12000, "
      "ups=2.5, wpb=4800, bsz=160, num_updates=200, lr=2e-05, gnorm=3.1, loss_scale=128, train_wall=40, "
      "wall=81\n");
  EXPECT_EQ(log.program, "fairseq");
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[1]), 400);
  EXPECT_DOUBLE_EQ(*log.iterations[1].loss_scale, 128);
  log = second(
      "[rank0]:[titan] 2025-01-01 00:00:10,500 - root - INFO - step: 10  loss:  8.1  grad_norm: 1.2  memory: "
      "45.10GiB(47.40%)  tps: 3,000  tflops: 150.30  mfu: 37.10%\n"
      "[rank0]:[titan] 2025-01-01 00:00:20,500 - root - INFO - step: 20  loss:  7.1  grad_norm: 1.2  memory: "
      "45.10GiB(47.40%)  tps: 3,000  tflops: 150.30  mfu: 37.10%\n");
  EXPECT_EQ(log.program, "torchtitan");
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[1]), 1000) << "by the times of the lines";
  EXPECT_DOUBLE_EQ(*log.iterations[1].mfu, 0.371);
  EXPECT_DOUBLE_EQ(*log.iterations[1].tflops_per_gpu, 150.3);
  log = second(
      "Training epoch 0, iteration 0/99 | lr: 1e-05 | global_batch_size: 512 | global_step: 0 | "
      "reduced_train_loss: 11.0 | train_step_timing in s: 12.5\n"
      "Training epoch 0, iteration 1/99 | lr: 2e-05 | global_batch_size: 512 | global_step: 1 | "
      "reduced_train_loss: 10.9 | train_step_timing in s: 2.5\n");
  EXPECT_EQ(log.program, "NeMo");
  EXPECT_EQ(log.iterations[1].global_batch, 512);
  log = second(
      "step    1/74 | loss 11.0 (+nanz)| norm 15.4 (+nanz)| lr 3.00e-04 | 250.10 ms | 43.2% bf16 MFU | "
      "2096000 tok/s\n"
      "step    2/74 | loss 10.0 (+nanz)| norm 15.4 (+nanz)| lr 6.00e-04 | 240.10 ms | 44.0% bf16 MFU | "
      "2106000 tok/s\n");
  EXPECT_EQ(log.program, "llm.c");
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[1]), 240.1);
}

TEST(StepLines, Blocks) {
  const TrainingLog log = StepLog(
      "2025-12-11 00:27:01.586\thost:0\tolmo.train:979\tINFO\t[step=1/2500,epoch=0]\n"
      "    train/CrossEntropyLoss=11.33\n    throughput/total_tokens=1,000\n"
      "    throughput/device/batches_per_second=0.0400\n"
      "2025-12-11 00:27:23.586\thost:0\tolmo.train:979\tINFO\t[step=2/2500,epoch=0]\n"
      "    train/CrossEntropyLoss=11.30\n    throughput/total_tokens=23,000\n"
      "    throughput/device/batches_per_second=0.0500\n"
      "2025-12-11 00:27:24.000\thost:0\tolmo.train:1\tINFO\tother\n    train/CrossEntropyLoss=1.0\n");
  EXPECT_EQ(log.program, "OLMo");
  ASSERT_EQ(log.iterations.size(), 2u);
  EXPECT_DOUBLE_EQ(*log.iterations[1].loss, 11.3);
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[1]), 20000);
  EXPECT_DOUBLE_EQ(*log.iterations[1].tokens_per_second, 1000);
}

TEST(StepLines, TimersOfVerl) {
  const auto line = [](int step, const char* gen) {
    return "\x1b[36m(TaskRunner pid=1)\x1b[0m step:" + std::to_string(step) +
           " - perf/mfu/actor:np.float64(0.25) - actor/pg_loss:np.float64(-0.0619) - "
           "perf/max_memory_allocated_gb:np.float64(50.5) - "
           "timing_s/agent_loop/generate_sequences/mean:np.float64(45.5) - timing_s/gen:" +
           gen + " - timing_s/step:214.5 - timing_per_token_ms/gen:0.78\n";
  };
  const TrainingLog log = StepLog(line(1, "86.25") + "Progress\n" + line(2, "70.5"));
  EXPECT_EQ(log.program, "verl");
  ASSERT_EQ(log.iterations.size(), 2u);
  EXPECT_DOUBLE_EQ(Milliseconds(log.iterations[1]), 214500);
  EXPECT_DOUBLE_EQ(*log.iterations[1].loss, -0.0619);
  EXPECT_DOUBLE_EQ(*log.iterations[1].mfu, 0.25);
  ASSERT_EQ(log.timers.size(), 4u);
  EXPECT_EQ(log.timers[2].name, "gen");
  EXPECT_EQ(log.timers[2].row, 1u);
  EXPECT_DOUBLE_EQ(*log.timers[2].ns, 70.5e9);
  EXPECT_EQ(log.timers[3].name, "agent_loop/generate_sequences/mean");
  ASSERT_EQ(log.memory.size(), 2u);
  EXPECT_EQ(log.memory[0].max_allocated, static_cast<int64_t>(50.5 * 1073741824));
}

TEST(StepLines, RanksAndRestarts) {
  const TrainingLog log = StepLog(
      "iter 0: loss 9.5, time 1.00ms, mfu -100.00%\niter 0: loss 9.6, time 1.00ms, mfu -100.00%\n"
      "iter 1: loss 9.5, time 1.00ms, mfu 1.00%\niter 0: loss 9.5, time 3.00ms, mfu 1.00%\n"
      "iter 2: loss 9.5, time 1.00ms, mfu 1.00%\niter 3: loss 9.5, time 1.00ms, mfu 1.00%\n"
      "iter 0: loss 9.5, time 1.00ms, mfu 1.00%\n");
  ASSERT_EQ(log.iterations.size(), 5u) << "another rank's lines do not count";
  EXPECT_EQ(log.iterations[3].attempt, 0);
  EXPECT_EQ(log.iterations[4].attempt, 1);
  EXPECT_FALSE(log.iterations[0].mfu);
}

TEST(StepLines, OneLineOrOnlyLossesAreNoLog) {
  EXPECT_EQ(test::ReadTrainingLog("iter 10: loss 9.5, time 135.20ms, mfu 12.50%\n").first_steps, 1);
  for (const char* text : {"Epoch: 1| train loss: 0.56\nEpoch: 1| train loss: 0.47\n",
                           "Epoch: [0][0/250]\tLoss 13.06\nEpoch: [0][9/250]\tLoss 12.66\n"}) {
    try {
      StepLog(text);
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_THAT(e.reason(), HasSubstr("not a profile"));
    }
  }
}

TEST(StepLines, DocumentsThatQuoteThem) {
  try {
    StepLog(
        "# Results\n```\niter 0: loss 9.5, time 1.00ms, mfu 1.00%\niter 1: loss 9.5, time 1.00ms, mfu "
        "1.00%\n```\n");
    ADD_FAILURE() << "was read";
  } catch (const Error& e) {
    EXPECT_THAT(e.reason(), HasSubstr("quotes lines"));
  }
}

TEST(TrainerRecords, WithTheirOwnClock) {
  const TrainingLog log = StepLog(
      "per_device_train_batch_size=1,\ngradient_checkpointing=True,\n"
      "{'loss': '2.029', 'learning_rate': '1e-06', 'global_step/max_steps': '1/294', 'elapsed_time': '1m "
      "60s', "
      "'tokens_global_per_sec': '1285', 'memory(GiB)': '26.5', 'train_speed(s/it)': '119.9'}\n"
      "{'loss': 'nan', 'learning_rate': '1e-06', 'global_step/max_steps': '2/294', 'elapsed_time': '1h 3m "
      "20s', "
      "'tokens_global_per_sec': '3019', 'memory(GiB)': '32.5'}\n");
  EXPECT_EQ(log.program, "Hugging Face Trainer");
  ASSERT_EQ(log.iterations.size(), 2u);
  EXPECT_EQ(log.iterations[1].planned, 294);
  EXPECT_DOUBLE_EQ(*log.iterations[0].elapsed_ns, 120e9);
  EXPECT_DOUBLE_EQ(*log.iterations[1].elapsed_ns, 3680e9);
  EXPECT_DOUBLE_EQ(*log.iterations[1].tokens_per_second, 3019);
  EXPECT_EQ(log.iterations[1].nan, 1);
  EXPECT_EQ(log.memory.back().max_reserved, int64_t{32} * 1073741824 + 536870912);
  EXPECT_EQ(log.settings.at("train_micro_batch_size_per_gpu"), "1");
  EXPECT_EQ(log.settings.at("checkpoint_activations"), "True");
}

TEST(TrainerRecords, ByPartsOfEpochs) {
  const TrainingLog log = StepLog(
      "[INFO|2024-11-26 22:07:15] trainer.py:2315 >>   Num Epochs = 1,000\n"
      "[INFO|2024-11-26 22:07:15] trainer.py:2321 >>   Total optimization steps = 17,000\n"
      "[INFO|2024-11-26 22:09:01] logging.py:157 >> {'loss': 2.28, 'learning_rate': 2.5e-06, 'epoch': 0.29}\n"
      "[INFO|2024-11-26 22:09:01] trainer.py:4117 >> ***** Running Evaluation *****\n"
      "[INFO|2024-11-26 22:10:55] logging.py:157 >> {'loss': 2.26, 'learning_rate': 5.0e-06, 'epoch': "
      "0.59}\n");
  ASSERT_EQ(log.iterations.size(), 2u);
  EXPECT_EQ(log.iterations[0].iteration, 5);
  EXPECT_DOUBLE_EQ(*log.iterations[0].elapsed_ns, 106e9 / 5);
  EXPECT_EQ(log.iterations[1].iteration, 10);
  EXPECT_EQ(log.iterations[1].planned, 17000);
  ASSERT_EQ(log.events.size(), 1u);
  EXPECT_EQ(log.events[0].before, 1u);
}

TEST(TrainerRecords, BarsOfTheTrainingAndOfEvaluations) {
  std::string text = "Loading checkpoint shards: 100%|##| 900/900 [00:10<00:00, 99.1it/s]\n";
  for (int i = 1; i <= 60; ++i)
    text += fmt::format("\r{}%|#| {}/60 [{:02}:{:02}<00:01, 1.0s/it]", i, i, i / 60, i % 60);
  text +=
      "\r 50%|#| 14/28 [00:02<00:02, 7.3it/s]\n{'loss': 0.5, 'epoch': 1.0}\n"
      "{'eval_loss': 0.4, 'eval_runtime': 3.5, 'epoch': 1.0}\n{'train_runtime': 70.0, 'train_loss': 0.5}\n";
  const TrainingLog log = StepLog(text);
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_DOUBLE_EQ(*log.iterations[0].elapsed_ns, 1e9);
  EXPECT_EQ(log.iterations[0].planned, 60);
  EXPECT_EQ(log.evaluations, 1);
  EXPECT_DOUBLE_EQ(log.evaluation_ns, 3.5e9);
}

TEST(TrainingSettings, NetworkAndErrorOfATrainingThatNeverBegan) {
  std::string text =
      "[runner.py:630:main] cmd = pdsh -S -f 1024 -w host1,host2 export NCCL_IB_DISABLE=1; export "
      "NCCL_SOCKET_IFNAME=tailscale0; export SECRET=x; \n"
      "host:1:2 [0] NCCL INFO Using network Socket\n";
  for (const char* row :
       {"micro_batch_size .... 4", "tensor_model_parallel_size .... 2", "num_layers .... 28",
        "hidden_size .... 3584", "seq_length .... 2048", "bf16 .... True", "world_size .... 16"})
    text += fmt::format("  {}\n", row);
  text += "[rank4]: Traceback (most recent call last):\n[rank4]: AttributeError: no attribute 'x'\n";
  const TrainingLog log = StepLog(text);
  EXPECT_EQ(log.program, "Megatron-LM");
  EXPECT_TRUE(log.iterations.empty());
  EXPECT_EQ(log.error, "AttributeError: no attribute 'x'");
  EXPECT_EQ(log.settings.at("nodes"), "2");
  EXPECT_EQ(log.settings.at("NCCL_SOCKET_IFNAME"), "tailscale0");
  EXPECT_EQ(log.settings.at("nccl_network"), "Socket");
  EXPECT_FALSE(log.settings.contains("SECRET"));
}

TEST(StepLines, AnEvaluationsFirstBatchSaysNothingOfTheOthers) {
  const auto evaluated = [](int step) {
    std::string text;
    for (int epoch = 0; epoch < 3; ++epoch)
      text += fmt::format(
          "Epoch: [{}][0/250]\tTime 0.9 (0.9)\tData 0.4 (0.4)\tLoss 13.06 (13.06)\n"
          "Test: [{}/196]\tTime 18.6 (18.6)\tLoss 2.4016 (2.8379)\n",
          epoch, step);
    return StepLog(text).evaluations;
  };
  EXPECT_EQ(evaluated(0), 0);
  EXPECT_EQ(evaluated(190), 3);
}

TEST(StepLines, LossesThatAreFilledWithBlanks) {
  const TrainingLog log = StepLog(
      "step    1/19560 | loss     nan (+nanz)| norm    nan (+nanz)| lr 8.57e-07 | 3914.05 ms | 145023 tok/s\n"
      "step    2/19560 | loss     nan (+nanz)| norm    nan (+nanz)| lr 1.71e-06 | 3852.53 ms | 145035 "
      "tok/s\n");
  ASSERT_EQ(log.iterations.size(), 2u);
  EXPECT_EQ(log.iterations[1].nan, 1);
}

}  // namespace
}  // namespace dladvisor
