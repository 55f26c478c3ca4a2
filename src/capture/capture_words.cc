// SPDX-License-Identifier: Apache-2.0
#include "src/capture/capture_words.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/text.h"

namespace dladvisor {
namespace {

// "--a=x --b" -> "--a=x", "--b"; what is no flag may hold spaces.
std::vector<std::string_view> SingleOptions(std::string_view options) {
  if (!options.starts_with("--")) return {options};
  return Split(options, ' ');
}

// "--trace=" of "--trace=cuda"; all of what is no flag with a value.
std::string_view NameOf(std::string_view option) {
  const size_t equals = option.find('=');
  if (!option.starts_with("--") || equals == std::string_view::npos) return option;
  return option.substr(0, equals + 1);
}

}  // namespace

std::vector<std::string> MergeOptions(const std::vector<std::string>& options, const CaptureWords& words) {
  std::map<std::string_view, size_t> order;
  for (const auto& [capability, supplied_by] : words.options)
    for (const std::string_view option : SingleOptions(supplied_by))
      order.try_emplace(NameOf(option), order.size());
  std::map<std::pair<size_t, std::string_view>, std::set<std::string_view>> values;  // by place and name
  for (const std::string& given : options) {
    for (const std::string_view option : SingleOptions(given)) {
      const std::string_view name = NameOf(option);
      const auto place = order.find(name);
      std::set<std::string_view>& of_name =
          values[{place == order.end() ? order.size() : place->second, name}];
      for (const std::string_view value : Split(option.substr(name.size()), ',')) of_name.insert(value);
    }
  }
  std::vector<std::string> merged;
  for (const auto& [place, of_name] : values)
    merged.push_back(fmt::format("{}{}", place.second, fmt::join(of_name, ",")));
  return merged;
}

std::vector<std::string> CaptureOptions(const std::vector<std::string>& capabilities,
                                        const CaptureWords& words) {
  std::vector<std::string> options;
  for (const std::string& several : capabilities)
    for (const std::string_view wanted : Split(several, ' '))
      for (const auto& [capability, supplied_by] : words.options)
        if (capability == wanted) options.emplace_back(supplied_by);
  return MergeOptions(options, words);
}

}  // namespace dladvisor
