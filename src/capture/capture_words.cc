// SPDX-License-Identifier: Apache-2.0
#include "src/capture/capture_words.h"

#include <algorithm>
#include <set>

namespace dladvisor {
namespace {

// Flags whose values are lists, of which one flag holds all; the first of them comes before all other flags.
constexpr std::string_view kTrace = "--trace=", kQuery = "--query-gpu=";

// Single flags, with lists apart: "--trace=cuda,nvtx --x" -> "--trace=cuda", "--trace=nvtx", "--x". Options
// of other profilers, which hold spaces, stay as they are.
std::set<std::string> SingleFlags(const std::vector<std::string>& declared) {
  std::set<std::string> flags;
  for (const std::string& declaration : declared) {
    if (!declaration.starts_with("--")) {
      flags.insert(declaration);
      continue;
    }
    std::string_view rest = declaration;
    while (!rest.empty()) {
      const std::string_view flag = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), flag.size() + 1));
      const std::string_view name = flag.starts_with(kTrace) ? kTrace : kQuery;
      if (!flag.starts_with(name)) {
        if (!flag.empty()) flags.insert(std::string(flag));
        continue;
      }
      std::string_view list = flag.substr(name.size());
      while (!list.empty()) {
        const std::string_view item = list.substr(0, list.find(','));
        if (!item.empty()) flags.insert(std::string(name) + std::string(item));
        list.remove_prefix(std::min(list.size(), item.size() + 1));
      }
    }
  }
  return flags;
}

}  // namespace

std::vector<std::string> CaptureOptions(const std::vector<std::string>& declared, const CaptureWords& words) {
  std::set<std::string> own;
  for (const std::string& flag : SingleFlags(declared)) {
    for (const auto& [asked, option] : words.options)
      if (asked == flag) own.insert(std::string(option));
    if (words.is_own(flag)) own.insert(flag);
  }
  std::string traces, queries;
  const auto add = [](std::string& list, std::string_view name, const std::string& flag) {
    list.append(list.empty() ? name : ",").append(flag, name.size());
  };
  std::vector<std::string> options;
  for (const std::string& flag : own) {
    if (flag.starts_with(kTrace))
      add(traces, kTrace, flag);
    else if (flag.starts_with(kQuery))
      add(queries, kQuery, flag);
    else
      options.push_back(flag);
  }
  if (!queries.empty()) options.push_back(queries);
  if (!traces.empty()) options.insert(options.begin(), traces);
  return options;
}

}  // namespace dladvisor
