// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/lines/translated_words.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestTranslated = 2048;

struct Translation {
  std::string_view word, english;
};

// Of words that begin alike the longest stands first. Signs of full width become those of ASCII.
constexpr auto kTranslations = std::to_array<Translation>({
    {"，", ", "},
    {"：", ": "},
    {"；", "; "},
    {"（", " ("},
    {"）", ") "},
    {"、", ", "},
    {"。", ". "},
    {"｜", " | "},
    {"＝", "="},
    {"【", "["},
    {"】", "]"},
    {"其中", " "},
    // Counts.
    {"训练轮次", "epoch"},
    {"训练轮数", "epoch"},
    {"训练周期", "epoch"},
    {"轮次", "epoch"},
    {"轮数", "epoch"},
    {"周期", "epoch"},
    {"エポック数", "epoch"},
    {"エポック", "epoch"},
    {"에포크", "epoch"},
    {"에폭", "epoch"},
    {"迭代次数", "iter"},
    {"迭代步数", "iter"},
    {"迭代", "iter"},
    {"反復", "iter"},
    {"每步", "step "},
    {"每個步驟", "step "},
    {"步骤", "step"},
    {"步驟", "step"},
    {"步数", "step"},
    {"步數", "step"},
    {"步", "step"},
    {"ステップ", "step"},
    {"스텝", "step"},
    {"每批次", "batch "},
    {"每批", "batch "},
    {"批次", "batch"},
    {"バッチ", "batch"},
    {"배치", "batch"},
    // Results.
    {"损失值", "loss"},
    {"损失", "loss"},
    {"損失", "loss"},
    {"손실", "loss"},
    {"准确率", "accuracy"},
    {"準確率", "accuracy"},
    {"精度", "accuracy"},
    {"正解率", "accuracy"},
    {"정확도", "accuracy"},
    {"学习率", "lr"},
    {"學習率", "lr"},
    {"学習率", "lr"},
    {"학습률", "lr"},
    // What is done.
    {"验证集", "val "},
    {"验证", "val "},
    {"驗證", "val "},
    {"検証", "val "},
    {"검증", "val "},
    {"评估", "eval "},
    {"評估", "eval "},
    {"评测", "eval "},
    {"評価", "eval "},
    {"평가", "eval "},
    {"测试", "test "},
    {"測試", "test "},
    {"テスト", "test "},
    {"테스트", "test "},
    {"训练进度", "train"},
    {"训练集", "train "},
    {"訓練進度", "train"},
    {"训练", "train "},
    {"訓練", "train "},
    {"学習", "train "},
    {"학습", "train "},
    {"预处理", "preprocess "},
    {"前処理", "preprocess "},
    {"后处理", "postprocess "},
    {"後処理", "postprocess "},
    {"推理", "inference "},
    {"推論", "inference "},
    {"추론", "inference "},
    {"生成", "generate "},
    {"加载模型", "load model "},
    {"模型加载", "load model "},
    {"模型", "model "},
    {"保存", "save "},
    {"平均", "mean "},
    {"完成", " done"},
    {"结束", " done"},
    {"完了", " done"},
    {"완료", " done"},
    {"数据加载", "data load "},
    {"数据读取", "data load "},
    {"加载数据", "data load "},
    {"读取数据", "data load "},
    {"数据", "data "},
    {"取数据", "data load "},
    {"資料載入", "data load "},
    {"データ読み込み", "data load "},
    {"データロード", "data load "},
    {"데이터 로딩", "data load "},
    {"데이터 로드", "data load "},
    {"前向传播", "forward "},
    {"前向计算", "forward "},
    {"前向", "forward "},
    {"順伝播", "forward "},
    {"순전파", "forward "},
    {"反向传播", "backward "},
    {"反向计算", "backward "},
    {"反向", "backward "},
    {"逆伝播", "backward "},
    {"역전파", "backward "},
    {"优化器", "optimizer "},
    {"参数更新", "optimizer "},
    // Times.
    {"预计剩余时间", "remaining time"},
    {"剩余时间", "remaining time"},
    {"剩餘時間", "remaining time"},
    {"残り時間", "remaining time"},
    {"남은 시간", "remaining time"},
    {"剩余", "remaining "},
    {"已用时间", "elapsed time"},
    {"已用时", "elapsed time"},
    {"已耗时", "elapsed time"},
    {"経過時間", "elapsed time"},
    {"경과 시간", "elapsed time"},
    {"总耗时", "total time"},
    {"总用时", "total time"},
    {"总时间", "total time"},
    {"總時間", "total time"},
    {"合計時間", "total time"},
    {"总", "total "},
    {"耗时", "time"},
    {"耗時", "time"},
    {"用时", "time"},
    {"用時", "time"},
    {"花费时间", "time"},
    {"花费", "time"},
    {"所要時間", "time"},
    {"処理時間", "time"},
    {"소요 시간", "time"},
    {"소요시간", "time"},
    {"时间", "time"},
    {"時間", "time"},
    {"시간", "time"},
    {"毫秒", "ms"},
    {"ミリ秒", "ms"},
    {"밀리초", "ms"},
    {"秒", "s"},
    {"초", "s"},
    {"分钟", "min"},
    {"分鐘", "min"},
    {"分", "min"},
    {"小时", "h"},
    {"小時", "h"},
});

// Lines without one of these say nothing of a step's course.
constexpr auto kOfTraining = std::to_array<std::string_view>(
    {"损失",     "損失",     "손실",     "耗时", "耗時",     "用时", "用時",  "所要時間",
     "経過時間", "处理时间", "処理時間", "소요", "迭代",     "轮",   "epoch", "Epoch",
     "エポック", "에포크",   "에폭",     "步",   "ステップ", "스텝", "时间"});

bool IsOfAscii(std::string_view line) {
  return std::ranges::all_of(line, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool IsWordPart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string Translated(std::string_view line) {
  std::string numbered(line);
  // "第 3/100 轮", "第3个epoch": the number before its noun.
  static const RE2 round(R"(第\s*(\d+)(\s*/\s*\d+)?\s*(?:轮|輪|个周期|周期|个epoch|epoch|エポック))"),
      step(R"(第\s*(\d+)(\s*/\s*\d+)?\s*(?:步|次迭代|ステップ))"),
      batch(R"(第\s*(\d+)(\s*/\s*\d+)?\s*(?:批次|批|个batch))");
  RE2::GlobalReplace(&numbered, round, " epoch \\1\\2 ");
  RE2::GlobalReplace(&numbered, step, " step \\1\\2 ");
  RE2::GlobalReplace(&numbered, batch, " batch \\1\\2 ");
  std::string result;
  for (size_t at = 0; at < numbered.size();) {
    const char c = numbered[at];
    const auto found = static_cast<unsigned char>(c) < 0x80
                           ? kTranslations.end()
                           : std::ranges::find_if(kTranslations, [&](const Translation& translation) {
                               return std::string_view(numbered).substr(at).starts_with(translation.word);
                             });
    if (found == kTranslations.end()) {
      result += c;
      ++at;
      continue;
    }
    // "12.3秒" has its unit at the number; two words have a space between.
    if (!result.empty() && std::isalpha(static_cast<unsigned char>(result.back())) != 0 &&
        std::isalpha(static_cast<unsigned char>(found->english.front())) != 0)
      result += ' ';
    result += found->english;
    at += found->word.size();
  }
  return result;
}

// "EPOCH : 1  LOSS : 0.5  TIME : 343.2"
std::string WithoutCapitals(std::string_view line) {
  std::string result(line);
  for (const std::string_view word : {"EPOCH", "LOSS", "TIME", "BATCH", "STEP", "ITER"})
    for (size_t at = result.find(word); at != std::string::npos; at = result.find(word, at + word.size())) {
      const size_t end = at + word.size();
      if ((at > 0 && IsWordPart(result[at - 1])) || (end < result.size() && IsWordPart(result[end])))
        continue;
      for (size_t i = at + 1; i < end; ++i)
        result[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(result[i])));
    }
  return result;
}

}  // namespace

std::string InKnownWords(std::string_view line) {
  if (line.size() > kLongestTranslated) return {};
  std::string result;
  if (!IsOfAscii(line) && std::ranges::any_of(kOfTraining, [&](std::string_view word) {
        return line.find(word) != std::string_view::npos;
      }))
    result = Translated(line);
  const std::string_view now = result.empty() ? line : std::string_view(result);
  if (now.find("EPOCH") != std::string_view::npos || now.find("LOSS") != std::string_view::npos)
    result = WithoutCapitals(now);
  return result == line ? std::string() : result;
}

}  // namespace dladvisor::training_log
