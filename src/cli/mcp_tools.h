// SPDX-License-Identifier: Apache-2.0
// The tools that `dladvisor mcp` offers to agents. Profiles stay loaded between calls, until others take
// their place or their files change.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "src/cli/diagnosis.h"
#include "src/cli/session.h"

namespace dladvisor {

// Bytes of an answer: below 6,000 tokens even where these are figures, of two to three bytes each.
inline constexpr size_t kMostAnswerBytes = 14'000;

class McpTools {
 public:
  // Called before each part of a call's work; what it throws ends the call.
  using Progress = std::function<void(const std::string& part)>;

  explicit McpTools(const CommonOptions& common);
  ~McpTools();

  // As tools/list gives them.
  static const nlohmann::ordered_json& List();
  static bool Has(const std::string& name);

  // The answer's text, at most kMostAnswerBytes of it. Throws Error, with the next step, for arguments that
  // are wrong and for profiles that cannot be read.
  std::string Call(const std::string& name, const nlohmann::ordered_json& arguments,
                   const Progress& progress);

 private:
  struct Loaded;

  const Loaded& Load(const nlohmann::ordered_json& arguments, const Progress& progress);
  std::string Report(const nlohmann::ordered_json& arguments, const Progress& progress);
  std::string Explain(const nlohmann::ordered_json& arguments, const Progress& progress);
  std::string Query(const nlohmann::ordered_json& arguments, const Progress& progress);
  std::string Facts(const nlohmann::ordered_json& arguments);
  std::string Rules(const nlohmann::ordered_json& arguments);
  std::string Compare(const nlohmann::ordered_json& arguments, const Progress& progress);

  CommonOptions common_;
  std::list<Loaded> loaded_;  // the last used first
};

}  // namespace dladvisor
