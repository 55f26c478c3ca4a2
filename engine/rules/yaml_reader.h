// SPDX-License-Identifier: Apache-2.0
// Strict YAML with places: every problem is collected with file, line and column instead of ending the read.
// Duplicate keys, aliases (and with them alias bombs) and several documents in a file are problems.
#pragma once

#include <yaml-cpp/yaml.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/rule.h"

namespace dladvisor {

class Problems {
 public:
  // `rule` may be "" where no rule is known yet.
  void Add(const Place& place, const std::string& rule, const std::string& reason);
  // A problem at a byte offset of a text: placed exactly where the text stands in the file as it is, else at
  // the text's start with an excerpt and a caret.
  void AddInText(const Place& start, const std::string& rule, const std::string& reason,
                 const std::string& text, int offset);
  bool empty() const { return problems_.empty(); }
  size_t size() const { return problems_.size(); }
  // "file:line:col: RULE: reason" in order of place.
  std::vector<std::string> Lines() const;
  std::vector<std::string> Reasons() const;  // without places

 private:
  std::vector<std::pair<Place, std::string>> problems_;
};

// One YAML file. Nodes are read through Map and Text, which know places.
class YamlFile {
 public:
  // Nothing where the file is not a single YAML document; the problem says why.
  static std::optional<YamlFile> Parse(const std::string& path, const std::string& content,
                                       Problems& problems);

  const YAML::Node& root() const { return root_; }
  Place PlaceOf(const YAML::Node& node) const;

 private:
  std::string path_, content_;
  YAML::Node root_;
};

// Integer where it is one, else a real, else text; true and false are SQL's 1 and 0. What is quoted is text.
Value ScalarValue(const YAML::Node& node);

// How to write a number so that readers of YAML 1.1 take it for one: "1.0e-9" for 1e-9; "" where they do.
std::string NumberForAllReaders(const YAML::Node& node);

// The keys of a mapping, each asked for once; Finish reports those never asked for.
class YamlMap {
 public:
  // A node that is not a mapping is a problem, and the map is then empty.
  YamlMap(const YamlFile& file, const YAML::Node& node, std::string rule, std::string what,
          Problems& problems);

  // The value, or an undefined node.
  YAML::Node Get(const std::string& key);
  // Scalars; a missing required key or a value of another kind is a problem.
  std::string RequiredText(const std::string& key);
  std::optional<std::string> Text(const std::string& key);
  std::vector<std::pair<std::string, Place>> TextList(const std::string& key);  // a scalar counts as one item
  bool Flag(const std::string& key);                                            // false where it is not there
  Unit ReadUnit(const std::string& key);                                        // kNone where it is not there
  // Whether a key that nobody has asked for is likely to be meant for this one, which is not there. Finish
  // then says so, and that the key lacks need not be said.
  bool IsMisspelt(const std::string& key) const;
  // Of the mapping itself where the node is not there.
  Place PlaceOf(const YAML::Node& node) const { return node.IsDefined() ? file_.PlaceOf(node) : place_; }
  const Place& place() const { return place_; }
  void Finish();

 private:
  Place PlaceOfKey(const std::string& key) const;

  const YamlFile& file_;
  YAML::Node node_;
  bool is_mapping_;
  std::string rule_, what_;
  Problems& problems_;
  Place place_;
  std::vector<std::string> asked_;
};

}  // namespace dladvisor
