// SPDX-License-Identifier: Apache-2.0
#include "src/importers/xla/tpu_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "src/importers/kineto/batch.h"
#include "src/importers/kineto/event_text.h"
#include "src/importers/xla/process_name.h"

namespace dladvisor::xla {
namespace {

constexpr size_t kMostNamed = 3;
// A part of the time that is worth a name, and one to begin with.
constexpr double kWorthNaming = 0.05, kWorthBeginning = 0.2;

using Totals = std::map<std::string, Ns, std::less<>>;

// "RPA-bq_32-bkvp_64-p_64-.19" -> "RPA-bq_32-bkvp_64-p_64": each call of a compiled program has a number.
std::string_view WithoutNumber(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot != std::string_view::npos &&
      name.find_first_not_of("0123456789", dot + 1) == std::string_view::npos)
    name = name.substr(0, dot);
  while (name.ends_with('-') || name.ends_with('_')) name.remove_suffix(1);
  return name;
}

std::vector<std::pair<Ns, std::string_view>> Longest(const Totals& totals) {
  std::vector<std::pair<Ns, std::string_view>> longest;
  for (const auto& [name, ns] : totals) longest.emplace_back(-ns, name);
  std::ranges::sort(longest);
  for (auto& [ns, name] : longest) ns = -ns;
  return longest;
}

double Share(Ns part, Ns whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace

void TpuTime::Add(const kineto::Event& e) {
  const int64_t pid = kineto::IdOf(e.pid);
  std::string buffer;
  if (e.phase == 'M') {
    const std::string_view name = kineto::Unescape(e.value, buffer);
    if (e.name == "process_name") {
      const auto kind = ProcessKindOf(name);
      if (kind && kind->kind == ProcessKind::Kind::kTpu) ordinals_[pid] = kind->ordinal;
    }
    if (e.name == "thread_name" && name == "XLA Ops") lines_.emplace(pid, kineto::IdOf(e.tid));
    return;
  }
  const auto ordinal = ordinals_.find(pid);
  if (e.phase != 'X' || ordinal == ordinals_.end() || e.start == kineto::kUnknown ||
      e.duration == kineto::kUnknown || e.duration < 0 || !lines_.contains({pid, kineto::IdOf(e.tid)}))
    return;
  Device& device = devices_[ordinal->second];
  const Ns end = e.start + e.duration;
  // An op of control flow holds those within it, which come after it.
  const Ns alone = std::max<Ns>(0, end - (device.any ? std::max(device.last, e.start) : e.start));
  device.first = device.any ? std::min(device.first, e.start) : e.start;
  device.last = device.any ? std::max(device.last, end) : end;
  device.any = true;
  device.busy += alone;
  if (e.hlo_category.empty()) return;
  const std::string category(kineto::Unescape(e.hlo_category, buffer));
  device.by_category[category] += alone;
  if (category == "custom-call")
    device.custom_calls[std::string(WithoutNumber(kineto::Unescape(e.name, buffer)))] += alone;
}

std::string TpuTime::Text() const {
  if (devices_.empty()) return "";
  const auto& [ordinal, device] = *devices_.begin();
  constexpr double kMillisecond = 1e6;
  std::string text =
      fmt::format(": the ops of TPU {} take {:.3g} of the {:.3g} ms from its first to its last", ordinal,
                  static_cast<double>(device.busy) / kMillisecond,
                  static_cast<double>(device.last - device.first) / kMillisecond);
  size_t named = 0;
  for (const auto& [ns, category] : Longest(device.by_category)) {
    if (named == kMostNamed || Share(ns, device.busy) < kWorthNaming) break;
    text +=
        fmt::format(", {:.0f} %{} {}", 100 * Share(ns, device.busy), named == 0 ? " of it" : "", category);
    if (category == "custom-call") text += fmt::format(" ({})", Longest(device.custom_calls).front().second);
    ++named;
  }
  return text;
}

std::string TpuTime::Begin() const {
  if (devices_.empty()) return "";
  const Device& device = devices_.begin()->second;
  if (Share(device.busy, device.last - device.first) < 0.5)
    return ", beginning with what the host does between the steps";
  if (device.custom_calls.empty()) return "";
  const auto [ns, name] = Longest(device.custom_calls).front();
  return Share(ns, device.busy) < kWorthBeginning
             ? ""
             : fmt::format(
                   ", beginning with the custom call {}: its sizes of blocks, where it is a Pallas kernel",
                   name);
}

}  // namespace dladvisor::xla
