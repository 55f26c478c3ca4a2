// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/training_work.h"

#include <charconv>
#include <string_view>

namespace dladvisor {
namespace {

class WorkArguments {
 public:
  explicit WorkArguments(const std::map<std::string, std::string>& settings) : settings_(settings) {}

  std::string_view Text(const char* name) const {
    const auto found = settings_.find(name);
    return found == settings_.end() ? std::string_view() : found->second;
  }
  bool Has(const char* name) const { return !Text(name).empty() && Text(name) != "None"; }
  bool IsTrue(const char* name) const { return Text(name) == "True"; }
  std::optional<double> Size(const char* name) const {
    const std::string_view text = Text(name);
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number <= 0 || number > int64_t{1} << 40)
      return std::nullopt;
    return static_cast<double>(number);
  }

 private:
  const std::map<std::string, std::string>& settings_;
};

}  // namespace

TrainingWork WorkOfArguments(const std::map<std::string, std::string>& settings) {
  const WorkArguments arguments(settings);
  const auto layers = arguments.Size("num_layers"), hidden = arguments.Size("hidden_size"),
             heads = arguments.Size("num_attention_heads"), sequence = arguments.Size("seq_length"),
             vocabulary = arguments.Size("padded_vocab_size");
  if (!layers || !hidden || !heads || !sequence)
    return {std::nullopt, "the log does not print the sizes of the model"};
  if (!vocabulary) return {std::nullopt, "the log does not print the size of the vocabulary"};
  if (arguments.Has("num_experts")) return {std::nullopt, "the model is a mixture of experts"};
  if (arguments.Has("decoder_seq_length")) return {std::nullopt, "the model has an encoder and a decoder"};
  const double head = arguments.Size("kv_channels").value_or(*hidden / *heads);
  const double inner = arguments.Size("ffn_hidden_size").value_or(4 * *hidden);
  const double key_heads = arguments.IsTrue("group_query_attention")
                               ? arguments.Size("num_query_groups").value_or(*heads)
                               : *heads;
  const double weights = *hidden * head * (2 * *heads + 2 * key_heads) +  // query and output, key and value
                         *hidden * inner * (arguments.IsTrue("swiglu") ? 3 : 2);
  const double scores = 2 * *sequence * *heads * head;
  const double forward = 2 * (*layers * (weights + scores) + *hidden * *vocabulary);
  return {3 * forward * *sequence, {}};
}

std::optional<double> FlopsPerToken(const std::map<std::string, std::string>& settings) {
  const WorkArguments arguments(settings);
  const auto parameters = arguments.Size("model_parameters");
  if (!parameters || arguments.IsTrue("adapter") || arguments.IsTrue("experts") ||
      arguments.Has("num_experts"))
    return std::nullopt;
  return 6 * *parameters;
}

}  // namespace dladvisor
