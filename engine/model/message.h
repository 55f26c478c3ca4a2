// SPDX-License-Identifier: Apache-2.0
// Mustache messages whose values print by their unit: {{busy_share}} -> "31.0 %". Text is not HTML-escaped
// here (renderers escape); a name that is not in scope is an Error. {{#pytorch}}…{{/pytorch}} is there where
// the value is neither NULL, 0 nor "", {{^pytorch}}…{{/pytorch}} where it is. {{idle_ns/step}} is the time of
// one of the periods that the ledger counts, "12.3 ms per step", "12.3 ms" where the message has said so
// before, or the whole where there are none: what is saved is told by the same measure. {{GPU device}} is
// "GPU 3", "each of GPUs 0–7" where messages become one, and "the GPU" where the data holds no other.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/advice.h"

namespace dladvisor {

// What a noun is called of which there is one: "the GPU".
struct SingleNoun {
  std::string name;
  bool implied = false;  // behind "of" and "on" it is left out: "the host of rank 3" is "the host"
};

// How a message speaks of the data at hand.
struct Wording {
  std::optional<double> periods = {};             // Ledger::periods
  std::map<std::string, SingleNoun> single = {};  // by noun in small letters
};

// A message that is read once and rendered for many subjects.
class MessageTemplate {
 public:
  explicit MessageTemplate(const std::string& mustache);  // throws Error where it is not a Mustache
  ~MessageTemplate();
  MessageTemplate(MessageTemplate&&) noexcept;
  RenderedMessage Render(std::span<const NamedValue> scope, const Wording& wording = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

RenderedMessage RenderMessage(const std::string& mustache, std::span<const NamedValue> scope,
                              const Wording& wording = {});
// A name between {{ }} and where it starts.
struct MessageName {
  std::string name;  // with its sigil where it has one that is not known, e.g. ">part"
  size_t offset = 0;
  bool section = false;     // {{#name}}, {{^name}} or {{/name}}
  bool per_period = false;  // {{name/step}}
  std::string noun = {};    // {{noun name}}
  std::string tag = {};     // as it is written
};
// Every name in a message, once as a value and once as a section, for checks at load.
std::vector<MessageName> MessageNames(const std::string& mustache);

}  // namespace dladvisor
