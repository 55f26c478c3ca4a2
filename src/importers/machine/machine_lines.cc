// SPDX-License-Identifier: Apache-2.0
#include "src/importers/machine/machine_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace dladvisor {
namespace {

constexpr size_t kLongestLine = 512;
constexpr size_t kMostNames = 8;
constexpr double kMebibytes = 1048576, kGibibytes = 1073741824;

// A model as drivers name it: what follows the maker begins with a capital or a digit, a single space apart.
constexpr const char* kModel =
    R"re(((?:NVIDIA (?:GeForce|Tesla|Quadro|TITAN|Titan|RTX|GTX|GH\d|GB\d|DGX|Jetson|Graphics|[ABHKLMPTV]\d)|)re"
    R"re(Tesla [A-Z]\d|GeForce [GR]TX|Quadro [A-Z]|TITAN [A-Z]|AMD (?:Instinct|Radeon|MI\d)|)re"
    R"re(Intel\(R\) (?:Data Center GPU|Arc))[\w+-]*(?: [A-Z0-9][A-Za-z0-9+-]*)*))re";

// "NVIDIA L4 GPU" ends before the word.
std::string_view WithoutLastWord(std::string_view name) {
  for (const std::string_view word : {" GPU", " GPUs"})
    if (name.ends_with(word)) name.remove_suffix(word.size());
  return name;
}

// Of a machine that the program does not run on, or of what it leaves aside there.
bool IsOfAnotherMachine(std::string_view line) {
  static const RE2 other(
      R"re((?i)recommend|minimum|requir|support|trained on|\bsaved|checkpoint|reference|compar|versus|\bvs\b|)re"
      R"re(\$|https?://|skip|ignor|unused|not used|too old|incompatib|e\.g\.|such as|example|matching|)re"
      R"re(depend|install|download|collecting|warn|deprecat|since|want|need)re");
  return RE2::PartialMatch(line, other);
}

}  // namespace

Device& MachineLines::DeviceOf(int64_t ordinal) {
  auto known = std::ranges::lower_bound(devices_, ordinal, {}, &Device::ordinal);
  if (known == devices_.end() || known->ordinal != ordinal) known = devices_.emplace(known);
  known->ordinal = ordinal;
  return *known;
}

// "CUDA:0 (Tesla T4, 15110MiB)" of YOLO, "rank   0: capabilities =  7.0  ; total memory = 31.749 GB ; name =
// Tesla V100-SXM2-32GB" of fairseq, "[rank0]: CUDA capacity: NVIDIA H100 with 94.99GiB memory" of torchtitan,
// "NVIDIA L4. Num GPUs = 1. Max memory: 22.161 GB." of Unsloth. All count in binary units, whatever they call
// them.
bool MachineLines::TakeWithMemory(std::string_view line) {
  static const RE2 yolo(R"(\bCUDA:(\d{1,3}) \(([^,()]{2,64}), (\d{3,7}(?:\.\d+)?) ?Mi?B\))"),
      fairseq(R"(\brank +(\d{1,4}): .*total memory = (\d{1,4}\.\d+) GB ; name = (\S.{0,60}?)\s*$)"),
      torchtitan(
          R"((?:^\[rank(\d{1,4})\].*)?\b[A-Z]{2,5} capacity: (\S.{0,60}?) with (\d{1,4}\.\d+)GiB memory)"),
      unsloth(R"((\w[^.|/\\]{0,60}\w)\. Num GPUs = \d+\. Max memory: (\d{1,4}\.\d+) GB\.)");
  const auto has = [&](std::string_view part) { return line.find(part) != std::string_view::npos; };
  std::string ordinal, name;
  double size = 0, unit = kGibibytes;
  if (has("CUDA:") && RE2::PartialMatch(line, yolo, &ordinal, &name, &size))
    unit = kMebibytes;
  else if (!(has("total memory = ") && RE2::PartialMatch(line, fairseq, &ordinal, &size, &name)) &&
           !(has(" capacity: ") && RE2::PartialMatch(line, torchtitan, &ordinal, &name, &size)) &&
           !(has(" Num GPUs = ") && RE2::PartialMatch(line, unsloth, &name, &size)))
    return false;
  Device& device = DeviceOf(ordinal.empty() ? 0 : std::stoll(ordinal));
  device.name = name;
  device.memory_bytes = std::llround(size * unit);
  return true;
}

void MachineLines::TakeNames(std::string_view line) {
  static const RE2 makers("NVIDIA|Tesla|GeForce|Quadro|TITAN|AMD|Intel\\(R\\)");
  if (!RE2::PartialMatch(line, makers)) return;
  // Between the word and the model stand a number, an address of the bus, and signs.
  static const RE2 stated(
      std::string(
          R"re((?:\b[Rr]ank +(\d{1,4})\b.*)?)re"
          R"re((?i:\b_?gpus?|\bdevices?|\bcuda|\baccelerator)(?i:[ _-]?devices?)?(?i:[ _-]?names?)?)re"
          R"re((?:\(s\))?["']? *[#:=_]? *(\d{1,3}(?:,\d{1,3})*)?[^A-Za-z]{0,40})re"
          R"re((?:\[[0-9a-fA-F:.]+\] *|: cuda[^A-Za-z]{0,4})?)re") +
      kModel);
  static const RE2 cell(std::string(R"re((?:^|[,;\t|]) *"?)re") + kModel + R"re("? *(?:[,;\t|]|$))re");
  std::string rank, numbers, model;
  if (!RE2::PartialMatch(line, stated, &rank, &numbers, &model) && !RE2::PartialMatch(line, cell, &model))
    return;
  if (IsOfAnotherMachine(line)) return;
  const std::string name(WithoutLastWord(model));
  if (!rank.empty()) numbers = rank;
  if (numbers.empty()) {
    if (names_.size() < kMostNames && std::ranges::find(names_, name) == names_.end()) names_.push_back(name);
    return;
  }
  for (std::string_view rest = numbers; !rest.empty();) {
    const std::string_view number = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), number.size() + 1));
    int64_t ordinal = 0;
    std::from_chars(number.data(), number.data() + number.size(), ordinal);
    if (Device& device = DeviceOf(ordinal); device.name.empty()) device.name = name;
  }
}

void MachineLines::Line(std::string_view line) {
  if (line.size() > kLongestLine) return;
  if (!TakeWithMemory(line)) TakeNames(line);
  if (!framework_.empty()) return;
  // "PyTorch version: 2.5.1", "PyTorch   2.5.1+cu121 @/opt", "Ultralytics 8.0.20 Python-3.8.10 torch-2.0.1".
  static const RE2 torch(
      R"re((?:\b(?:PyTorch|torch)(?:[ _.]+[Vv]ersion)?["']?(?: *[:=]+ *["']?|  +)|)re"
      R"re(\b(?:PyTorch|torch)[ _][Vv]ersion +|\btorch\.__version__["']?[ :=]+|\bPython-\S+ torch-))re"
      R"re((\d\.\d{1,2}\.\d{1,2}(?:\+[a-z0-9.]+)?)\b)re");
  std::string version;
  if (line.find("orch") != std::string_view::npos && RE2::PartialMatch(line, torch, &version) &&
      !IsOfAnotherMachine(line))
    framework_ = "PyTorch " + version;
}

void MachineLines::GiveTo(Trace& trace) const {
  // One that is numbered may be one of several that other processes name.
  const bool is_all = devices_.size() > 1 || (devices_.size() == 1 && devices_[0].memory_bytes);
  if (trace.devices.empty() && is_all) trace.devices = devices_;
  std::vector<std::string> names = names_;
  if (devices_.size() == 1 && std::ranges::find(names, devices_[0].name) == names.end())
    names.push_back(devices_[0].name);
  if (trace.devices.empty() && !names.empty())
    trace.facts.try_emplace("gpu_names", fmt::format("{}", fmt::join(names, ", ")));
  if (!framework_.empty()) trace.facts.try_emplace("framework", framework_);
}

void GiveMachineOf(std::string_view text, Trace& trace) {
  MachineLines machine;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    machine.Line(line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  machine.GiveTo(trace);
}

}  // namespace dladvisor
