// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/result_commands.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "src/importers/benchmark_log/result_settings.h"

namespace dladvisor::benchmark_log {
namespace {

struct Command {
  std::vector<std::string> words;              // programs, files and all that no option takes
  std::map<std::string, std::string> options;  // with what each takes; "" for nothing
};

Command Parsed(const std::string& text) {
  static const RE2 word(R"([\s`'"]*([^\s`'"]+)[`'"]*)"), given(R"((-*[A-Za-z][\w.-]*)=(.*))"),
      joined(R"((-[A-Za-z])(\d+))"), option(R"(-+[A-Za-z][\w.-]*)");
  Command command;
  std::string taker, token, name, value;
  for (re2::StringPiece rest(text); RE2::Consume(&rest, word, &token);) {
    if (RE2::FullMatch(token, given, &name, &value) || RE2::FullMatch(token, joined, &name, &value)) {
      command.options[name] = value;
      taker.clear();
    } else if (RE2::FullMatch(token, option)) {
      command.options[taker = token];
    } else if (!taker.empty()) {
      command.options[std::exchange(taker, "")] = token;
    } else {
      command.words.push_back(token);
    }
  }
  return command;
}

bool IsNumber(const std::string& value) {
  return RE2::FullMatch(value, R"([+-]?[\d.,]+(?:e[+-]?\d+)?[kKMG]?)");
}

// A word that says how, and names no file, size or step.
bool SaysHow(const std::string& value) {
  static const RE2 what(
      R"((?i)tiny|small|medium|base|large|huge|short|long|big|half|full|xl|\d+[bmk]\b|train|eval|infer|test|valid|predict|preproc)");
  return value.find_first_of("./") == std::string::npos && (IsWay(value) || !RE2::PartialMatch(value, what));
}

// Whether an option may differ between ways to do the same.
bool MayDiffer(const std::string& option, const std::set<std::string>& values) {
  static const RE2 how(
      R"((?i)worker|thread|batch(?:[_-]?size)?(?:[^a-z]|$)|^-*(?:b|bs|j|np|o)$|job|proc|prefetch|device|gpu|cores?|ranks|opt|level|chunk|stream|queue|tile|block|bits|precision)"),
      work(
          R"((?i)epoch|step|iter|size|len|^-*[nmk]$|num|count|input|file|data|model|task|path|out|config|seed|resol|width|height|dim|layer|hidden|limit|max|min|sample|frame|token|prompt|debug|dry|help|version|skip|test|quick|fast|only|mode|stage|phase|scale|rate|^-*[cm]$)");
  if (RE2::PartialMatch(option, how))
    return std::ranges::all_of(values,
                               [](const std::string& value) { return IsNumber(value) || SaysHow(value); });
  return !RE2::PartialMatch(option, work) && std::ranges::all_of(values, [](const std::string& value) {
    return !IsNumber(value) && SaysHow(value);
  });
}

}  // namespace

bool AreWaysToDoTheSame(const std::vector<std::string>& commands) {
  std::vector<Command> parsed;
  for (const std::string& command : commands) parsed.push_back(Parsed(command));
  if (parsed.empty()) return false;
  std::map<std::string, std::set<std::string>> options;
  std::map<std::string, size_t> given;
  for (const Command& command : parsed) {
    if (command.words.size() != parsed[0].words.size()) return false;
    for (size_t i = 0; i < command.words.size(); ++i) {
      const std::string &word = command.words[i], &first = parsed[0].words[i];
      const bool ways = i > 0 && word.find_first_of("./") == std::string::npos && IsWay(word) && IsWay(first);
      if (word != first && !ways) return false;
    }
    for (const auto& [option, value] : command.options) {
      options[option].insert(value);
      ++given[option];
    }
  }
  return std::ranges::all_of(options, [&](const auto& option) {
    const bool same = option.second.size() == 1 && given[option.first] == parsed.size();
    return same || MayDiffer(option.first, option.second);
  });
}

}  // namespace dladvisor::benchmark_log
