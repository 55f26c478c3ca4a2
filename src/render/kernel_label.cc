// SPDX-License-Identifier: Apache-2.0
#include "src/render/kernel_label.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>
#include <vector>

#include "engine/base/demangle.h"
#include "src/render/escape.h"

namespace dladvisor {
namespace {

constexpr int kDeepest = 24;  // of templates within templates; what is deeper stays as it is

void EraseAll(std::string& text, std::string_view part) {
  for (size_t at; (at = text.find(part)) != std::string::npos;) text.erase(at, part.size());
}

bool IsWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Whether the bracket at `at` belongs to the name of an operator, or '>' to an arrow.
bool IsPartOfOperator(std::string_view text, size_t at) {
  if (text[at] == '>' && at > 0 && text[at - 1] == '-') return true;
  // "operator<", "operator<<", "operator()", "operator->".
  const std::string_view before = text.substr(0, at);
  return before.ends_with("operator") ||
         (at > 0 && before.substr(0, at - 1).ends_with("operator") &&
          std::string_view("<>=(").find(text[at - 1]) != std::string_view::npos);
}

// Calls `visit(position)` for each character outside of all brackets, opening ones included, until it returns
// false.
template <class Visit>
void VisitTopLevel(std::string_view text, Visit visit) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool opens = c == '(' || c == '<' || c == '{' || c == '[',
               closes = c == ')' || c == '>' || c == '}' || c == ']';
    const bool bracket = (opens || closes) && !IsPartOfOperator(text, i);
    if (bracket && closes) {
      depth = std::max(0, depth - 1);
      continue;
    }
    if (depth == 0 && !visit(i)) return;
    if (bracket && opens) ++depth;
  }
}

// The position of the last of `characters` outside of all brackets, or npos.
size_t LastTopLevel(std::string_view text, std::string_view characters) {
  size_t last = std::string_view::npos;
  VisitTopLevel(text, [&](size_t i) {
    if (characters.find(text[i]) != std::string_view::npos && !IsPartOfOperator(text, i)) last = i;
    return true;
  });
  return last;
}

size_t FirstTopLevel(std::string_view text, char character) {
  size_t first = std::string_view::npos;
  VisitTopLevel(text, [&](size_t i) {
    if (text[i] == character && !IsPartOfOperator(text, i)) first = i;
    return first == std::string_view::npos;
  });
  return first;
}

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// What commas outside of brackets separate.
std::vector<std::string_view> SplitArguments(std::string_view text) {
  std::vector<std::string_view> arguments;
  size_t begin = 0;
  VisitTopLevel(text, [&](size_t i) {
    if (text[i] == ',') {
      arguments.push_back(Trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
    return true;
  });
  if (const std::string_view last = Trimmed(text.substr(begin)); !last.empty()) arguments.push_back(last);
  return arguments;
}

struct TemplateName {
  std::string_view name;       // without namespaces
  std::string_view arguments;  // between < and >; empty where there are none
};

// Of "ns::name<arguments>".
TemplateName ParseTemplate(std::string_view text) {
  TemplateName parsed;
  const size_t open = text.ends_with('>') ? FirstTopLevel(text, '<') : std::string_view::npos;
  // Members of a template, ns::type<...>::name, have their own name behind the last '::'.
  const size_t joint = LastTopLevel(text, ":");
  if (open != std::string_view::npos && (joint == std::string_view::npos || joint < open))
    parsed.arguments = text.substr(open + 1, text.size() - open - 2);
  const std::string_view name = parsed.arguments.empty() ? text : text.substr(0, open);
  if (joint != std::string_view::npos && joint + 1 < name.size()) {
    parsed.name = name.substr(joint + 1);
    if (open != std::string_view::npos && parsed.arguments.empty()) {
      const size_t own =
          parsed.name.ends_with('>') ? FirstTopLevel(parsed.name, '<') : std::string_view::npos;
      if (own != std::string_view::npos) {
        parsed.arguments = parsed.name.substr(own + 1, parsed.name.size() - own - 2);
        parsed.name = parsed.name.substr(0, own);
      }
    }
  } else {
    parsed.name = name;
  }
  return parsed;
}

std::string_view WithoutSuffixes(std::string_view name) {
  constexpr std::array<std::string_view, 7> suffixes = {
      "_kernel_cuda", "_cuda_kernel", "_kernel_impl", "_cuda_out", "_kernel", "_cuda", "_out"};
  for (const std::string_view suffix : suffixes)
    if (name.size() > suffix.size() + 1 && name.ends_with(suffix)) {
      name.remove_suffix(suffix.size());
      break;
    }
  return name;
}

std::string TypeLabel(std::string_view type, bool every_argument, int depth);

std::string JoinedLabels(std::string_view arguments, bool every_argument, int depth) {
  std::string text;
  for (const std::string_view argument : SplitArguments(arguments))
    text += (text.empty() ? "" : ", ") + TypeLabel(argument, every_argument, depth);
  return text;
}

// What stands within the parentheses that `text` begins with.
std::string_view InParentheses(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return text.substr(1, i - 1);
  }
  return "";
}

// Of "f()::{lambda()#2}::operator()() const::{lambda(float)#1}", or "[lambda() (instance 2)]", "#2#1".
std::string LambdaNumbers(std::string_view type) {
  std::string numbers;
  for (const std::string_view mark : {"#", "(instance "})
    for (size_t at = type.find(mark); at != std::string_view::npos; at = type.find(mark, at + 1)) {
      const size_t begin = at + mark.size();
      const size_t end = std::min(type.find_first_not_of("0123456789", begin), type.size());
      numbers += fmt::format("#{}", type.substr(begin, end - begin));
    }
  return numbers;
}

// "f(int)::{lambda(float)#1}", "f<T>(int)::[lambda(float) (instance 1)]": the function and what the innermost
// lambda takes.
std::string LambdaLabel(std::string_view type, bool every_argument, int depth) {
  std::string_view function = type.substr(0, FirstTopLevel(type, '('));
  if (const size_t lambda = std::min(function.find("::{lambda"), function.find("::[lambda"));
      lambda != std::string_view::npos)
    function = function.substr(0, lambda);
  if (const size_t space = LastTopLevel(function, " "); space != std::string_view::npos)
    function.remove_prefix(space + 1);
  TemplateName parsed = ParseTemplate(function);
  if (parsed.name.starts_with("operator")) {  // of a functor: sum_functor<float>::operator()
    const std::string_view owner = function.substr(0, function.size() - parsed.name.size());
    parsed = ParseTemplate(owner.ends_with("::") ? owner.substr(0, owner.size() - 2) : owner);
  }
  // PyTorch's launchers take what they launch as an argument of their template.
  if (parsed.name.starts_with("gpu_kernel") && !parsed.arguments.empty())
    return TypeLabel(SplitArguments(parsed.arguments)[0], every_argument, depth + 1);
  const std::string_view innermost = type.substr(type.rfind("lambda(") + 6);
  std::string label(WithoutSuffixes(parsed.name));
  label += fmt::format("({})", JoinedLabels(InParentheses(innermost), every_argument, depth + 1));
  return every_argument ? label + LambdaNumbers(type) : label;
}

// Types of numbers under their usual short names.
std::string_view NumberType(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> types = {
      {{"BFloat16", "bf16"},
       {"__nv_bfloat16", "bf16"},
       {"bfloat16_t", "bf16"},
       {"hip_bfloat16", "bf16"},
       {"Half", "fp16"},
       {"__half", "fp16"},
       {"half_t", "fp16"},
       {"half", "fp16"},
       {"unsigned int", "uint"},
       {"unsigned long", "ulong"},
       {"Float8_e4m3fn", "fp8"},
       {"__nv_fp8_e4m3", "fp8"}}};
  const auto found = std::ranges::find(types, name, &std::pair<std::string_view, std::string_view>::first);
  return found == types.end() ? name : found->second;
}

// "(int)4", "4u", "(bool)1", "-1", "true".
bool IsConstant(std::string_view argument) {
  if (argument.starts_with('(')) {
    const size_t close = argument.find(')');
    if (close != std::string_view::npos) argument.remove_prefix(close + 1);
  }
  if (argument == "true" || argument == "false") return true;
  if (argument.starts_with('-')) argument.remove_prefix(1);
  return !argument.empty() && std::isdigit(static_cast<unsigned char>(argument[0])) != 0;
}

std::string TypeLabel(std::string_view type, bool every_argument, int depth) {
  type = Trimmed(type);
  if (depth > kDeepest) return std::string(type);
  if (type.find("lambda(") != std::string_view::npos && (type.ends_with(']') || type.ends_with('}')))
    return LambdaLabel(type, every_argument, depth);
  if (IsConstant(type)) {
    if (type.starts_with('(')) type.remove_prefix(type.find(')') + 1);
    return std::string(type);
  }
  const auto [name, arguments] = ParseTemplate(type);
  if (arguments.empty()) return std::string(NumberType(name));
  const std::vector<std::string_view> parts = SplitArguments(arguments);
  // A functor around another one is named by what is within.
  const bool wraps = name.ends_with("UnaryFunctor") || name == "BinaryFunctor" || name == "ReduceOp" ||
                     name == "func_wrapper_t";
  if (wraps && !every_argument)
    for (const std::string_view part : parts)
      if (part.find('<') != std::string_view::npos || part.find("lambda(") != std::string_view::npos)
        return TypeLabel(part, every_argument, depth + 1);
  if (every_argument) return fmt::format("{}<{}>", name, JoinedLabels(arguments, every_argument, depth + 1));
  // The types of operands are mostly one.
  std::vector<std::string> labels;
  for (const std::string_view part : parts)
    if (std::string label = TypeLabel(part, every_argument, depth + 1);
        !IsConstant(part) && std::ranges::find(labels, label) == labels.end())
      labels.push_back(std::move(label));
  return labels.empty() ? std::string(name) : fmt::format("{}<{}>", name, fmt::join(labels, ", "));
}

// Arguments of templates that carry data or addresses, and do not say what is computed.
bool IsPlumbing(std::string_view argument) {
  if (IsConstant(argument)) return true;
  constexpr std::array<std::string_view, 12> names = {"Array",
                                                      "array",
                                                      "TrivialOffsetCalculator",
                                                      "OffsetCalculator",
                                                      "LoadWithCast",
                                                      "StoreWithCast",
                                                      "LoadWithoutCast",
                                                      "StoreWithoutCast",
                                                      "TensorListMetadata",
                                                      "TensorListScalarListMetadata",
                                                      "TensorInfo",
                                                      "multi_tensor_apply"};
  const std::string_view name = ParseTemplate(argument).name;
  return std::ranges::find(names, name) != names.end() || name.ends_with("Params");
}

// ncclDevKernel_AllReduce_Sum_bf16_RING_LL: "AllReduce Sum bf16 RING_LL".
std::string CollectiveLabel(std::string_view name) {
  std::string label;
  bool upper_before = false;
  while (!name.empty()) {
    const std::string_view word = name.substr(0, name.find('_'));
    name.remove_prefix(std::min(name.size(), word.size() + 1));
    const bool upper = std::ranges::none_of(word, [](unsigned char c) { return std::islower(c) != 0; });
    if (!label.empty()) label += upper && upper_before ? "_" : " ";
    label += word;
    upper_before = upper;
  }
  return label;
}

// Cijk_Alik_Bljk_BBS_BH_..._MT256x48x64_MI16x16x1_...: the layout and types, and the tile.
std::string TensileLabel(std::string_view name) {
  const size_t tile = name.find("_MT");
  if (tile == std::string_view::npos) return std::string(name);
  const std::string_view size = name.substr(tile + 1, name.find('_', tile + 1) - tile - 1);
  return fmt::format("{} {}", name.substr(0, name.find("_Bias_") < tile ? name.find("_Bias_") : tile), size);
}

// cutlass_80_tensorop_s1688gemm_128x256_16x4_nt_align4: "cutlass s1688gemm 128x256 nt".
std::string CutlassLabel(std::string_view name) {
  static const RE2 says_little(R"(\d+|sm\d+|tensorop|align\d+)"), tile(R"(\d+x\d+(x\d+)?)");
  std::string label;
  bool has_tile = false;
  while (!name.empty()) {
    const std::string_view word = name.substr(0, name.find('_'));
    name.remove_prefix(std::min(name.size(), word.size() + 1));
    const re2::StringPiece text(word.data(), word.size());
    const bool is_tile = RE2::FullMatch(text, tile);
    if (RE2::FullMatch(text, says_little) || (is_tile && has_tile)) continue;
    has_tile = has_tile || is_tile;
    label += (label.empty() ? "" : " ") + std::string(word);
  }
  return label;
}

std::string SymbolLabel(std::string_view name, bool every_argument) {
  if (every_argument) return std::string(name);
  for (const std::string_view prefix : {"ncclDevKernel_", "ncclKernel_", "ncclSymDevKernel_"})
    if (name.starts_with(prefix) && name.size() > prefix.size())
      return CollectiveLabel(name.substr(prefix.size()));
  if (name.starts_with("Cijk_")) return TensileLabel(name);
  if (name.starts_with("cutlass_") || name.starts_with("cutlass3x_")) return CutlassLabel(name);
  return std::string(name);
}

// Without return type and parameters.
std::string_view FunctionOf(std::string_view name) {
  if (const size_t open = LastTopLevel(name, "("); open != std::string_view::npos && open > 0)
    name = name.substr(0, open);
  if (const size_t space = LastTopLevel(name, " "); space != std::string_view::npos)
    name.remove_prefix(space + 1);
  return name;
}

}  // namespace

std::string KernelLabel(std::string_view kernel, bool every_argument) {
  std::string name = Demangled(kernel);
  for (const std::string_view anonymous : {"(anonymous namespace)::", "<unnamed>::", "{anonymous}::"})
    EraseAll(name, anonymous);
  const std::string_view function = FunctionOf(name);
  if (function.empty() || !IsWordCharacter(function.back() == '>' ? 'x' : function.back()))
    return std::string(kernel);
  if (function.find_first_of("<:") == std::string_view::npos) return SymbolLabel(function, every_argument);
  const auto [base, arguments] = ParseTemplate(function);
  if (base.empty()) return std::string(kernel);
  if (every_argument) {
    const std::string all = JoinedLabels(arguments, true, 0);
    return all.empty() ? std::string(base) : fmt::format("{}<{}>", base, all);
  }
  std::vector<std::string> kept;
  for (const std::string_view argument : SplitArguments(arguments))
    if (!IsPlumbing(argument))
      if (std::string label = TypeLabel(argument, false, 0); std::ranges::find(kept, label) == kept.end())
        kept.push_back(std::move(label));
  // cutlass::Kernel<cutlass_80_tensorop_s1688gemm_...> and its like only hold what they run.
  const bool holds =
      base == "Kernel" || base == "Kernel2" || base == "device_kernel" || base == "_kernel_agent";
  if (holds && !kept.empty()) return SymbolLabel(kept[0], false);
  std::string short_name(WithoutSuffixes(SymbolLabel(base, false)));
  if (base == "kernel") {  // gemvx::kernel
    const std::string_view scope = function.substr(0, static_cast<size_t>(base.data() - function.data()));
    const std::string_view owner = scope.ends_with("::") ? scope.substr(0, scope.size() - 2) : "";
    const size_t joint = owner.rfind("::");
    const std::string_view name_space = joint == std::string_view::npos ? owner : owner.substr(joint + 2);
    if (!name_space.empty() && name_space.find_first_of("<>()") == std::string_view::npos)
      short_name = fmt::format("{}::kernel", name_space);
  }
  return kept.empty() ? short_name : fmt::format("{} · {}", short_name, fmt::join(kept, ", "));
}

std::map<std::string, std::string> KernelLabels(std::span<const std::string> kernels, size_t columns) {
  std::map<std::string, std::string> labels;
  std::set<std::string> left(kernels.begin(), kernels.end());
  std::set<std::string> taken;
  const auto keep_distinct = [&](auto label_of) {
    std::map<std::string, std::vector<std::string>> by_label;
    for (const std::string& kernel : left)
      by_label[Ellipsize(Visible(label_of(kernel)), columns)].push_back(kernel);
    for (const auto& [label, names] : by_label)
      if (names.size() == 1 && taken.insert(label).second) {
        labels[names[0]] = label;
        left.erase(names[0]);
      }
  };
  keep_distinct([](const std::string& kernel) { return KernelLabel(kernel); });
  keep_distinct([](const std::string& kernel) { return KernelLabel(kernel, true); });
  // What differs elsewhere is numbered.
  std::map<std::string, size_t> numbers;
  for (const std::string& kernel : left) {
    const std::string label = Ellipsize(Visible(KernelLabel(kernel)), columns - 6);
    std::string numbered;
    do numbered = fmt::format("{} #{}", label, ++numbers[label]);
    while (!taken.insert(numbered).second);
    labels[kernel] = std::move(numbered);
  }
  return labels;
}

}  // namespace dladvisor
