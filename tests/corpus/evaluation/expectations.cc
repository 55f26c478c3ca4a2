// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/evaluation/expectations.h"

#include <re2/re2.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace dladvisor::evaluation {
namespace fs = std::filesystem;

namespace {

// Seconds of a unit; of none, those of the other number's unit.
std::optional<double> SecondsOf(const std::string& unit) {
  static const std::map<std::string, double> seconds = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  const auto found = seconds.find(unit);
  if (found == seconds.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> Strings(const YAML::Node& list) {
  return list ? list.as<std::vector<std::string>>() : std::vector<std::string>();
}

std::optional<double> Number(const YAML::Node& node) {
  double value = 0;
  if (!node || !YAML::convert<double>::decode(node, value)) return std::nullopt;
  return value;
}

Verdict VerdictOf(const std::string& word) {
  if (word == "right") return Verdict::kRight;
  if (word == "misleading") return Verdict::kMisleading;
  if (word == "wrong") return Verdict::kWrong;
  throw std::runtime_error("verdict '" + word + "' is none of right, misleading, wrong");
}

void ReadLabels(const fs::path& path, std::vector<Label>& labels) {
  for (const YAML::Node& entry : YAML::LoadAllFromFile(path.string())) {
    if (!entry["file"]) continue;
    Label& label = labels.emplace_back();
    label.file = entry["file"].as<std::string>();
    for (const YAML::Node& cause : entry["causes"]) {
      const std::string bound = cause["bound"].as<std::string>();
      label.causes.push_back({cause["cause"].as<std::string>(), bound,
                              cause["importance"].as<std::string>() == "major", ShareIn(bound),
                              bound.starts_with("about ") || bound.starts_with("~")});
    }
    for (const YAML::Node& fact : entry["facts"])
      label.facts.push_back({fact["fact"].as<std::string>(), Number(fact["value"])});
  }
}

void ReadNotes(const fs::path& path, std::map<std::string, FileNotes>& notes) {
  const std::string half = path.stem().string();
  for (const auto& entry : YAML::LoadFile(path.string())) {
    const std::string file = entry.first.as<std::string>();
    if (HalfOf(file) != half) throw std::runtime_error(file + " belongs to the half " + HalfOf(file));
    FileNotes& read = notes[file];
    read.kind = entry.second["kind"].as<std::string>();
    read.silent = Strings(entry.second["silent"]);
    for (const auto& finding : entry.second["findings"]) {
      const YAML::Node& note = finding.second;
      read.findings[finding.first.as<std::string>()] = {
          VerdictOf(note["verdict"].as<std::string>()), note["why"].as<std::string>(),
          note["says"].as<std::string>(""), Number(note["share"])};
    }
    for (const auto& wrong : entry.second["label_wrong"])
      read.wrong[wrong.first.as<std::string>()] = wrong.second.as<std::string>();
  }
}

void ReadMapping(const YAML::Node& file, Expectations& read) {
  for (const auto& cause : file["causes"])
    read.causes[cause.first.as<std::string>()] = {Strings(cause.second["rules"]),
                                                  cause.second["needs"].as<std::string>("")};
  for (const auto& claim : file["claims"]) read.claims[claim.first.as<std::string>()] = Strings(claim.second);
  for (const YAML::Node& fact : file["facts"])
    read.facts.push_back({fact["match"].as<std::string>(), fact["sql"].as<std::string>(),
                          fact["scale"].as<double>(1), fact["within"].as<double>(0),
                          fact["step"].as<bool>(false)});
  for (const YAML::Node& node : file["pairs"]) {
    Pair& pair = read.pairs.emplace_back();
    pair.before = node["before"].as<std::string>();
    pair.after = node["after"].as<std::string>();
    pair.change = node["change"].as<std::string>();
    pair.rule = node["rule"].as<std::string>("");
    if (const YAML::Node rounds = node["rounds"]) {
      pair.rounds_before = rounds[0].as<double>();
      pair.rounds_after = rounds[1].as<double>();
    }
    if (const YAML::Node measured = node["measured"]) {
      pair.before_ms = measured[0].as<double>();
      pair.after_ms = measured[1].as<double>();
    }
  }
  for (const auto& entry : file["levels"]) {
    const auto least = [&](const char* what) { return entry.second[what].as<double>(); };
    read.levels[entry.first.as<std::string>()] = {least("precision"),
                                                  least("causes"),
                                                  least("first"),
                                                  least("ranges"),
                                                  least("facts"),
                                                  least("steps"),
                                                  entry.second["to_judge"].as<int>()};
  }
}

void Check(const Expectations& read) {
  for (const Label& label : read.labels) {
    if (!read.notes.contains(label.file)) throw std::runtime_error("no notes on " + label.file);
    for (const Cause& cause : label.causes)
      if (!read.causes.contains(cause.name))
        throw std::runtime_error(label.file + ": cause " + cause.name + " is not in evaluation.yaml");
  }
  for (const auto& notes : read.notes) {
    const std::string& file = notes.first;
    if (std::ranges::none_of(read.labels, [&](const Label& label) { return label.file == file; }))
      throw std::runtime_error("notes on " + file + ", which has no label");
    for (const std::string& claim : notes.second.silent)
      if (!read.claims.contains(claim))
        throw std::runtime_error(file + ": claim " + claim + " is not in evaluation.yaml");
  }
}

}  // namespace

std::string HalfOf(const std::string& file) {
  uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : file) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return (hash >> 16) % 2 == 0 ? "seen" : "unseen";
}

fs::path LabelsBeside(const fs::path& data) { return (data / "../truth/labels").lexically_normal(); }

std::optional<double> ShareIn(const std::string& bound) {
  static const RE2 pattern(R"(([\d.]+)\s*(us|ms|s)?\s+of\s+(?:about )?([\d.]+)\s*(us|ms|s)\b)");
  std::string part, unit, whole, whole_unit;
  if (!RE2::PartialMatch(bound, pattern, &part, &unit, &whole, &whole_unit)) return std::nullopt;
  const double of = std::stod(whole) * SecondsOf(whole_unit).value();
  if (of <= 0) return std::nullopt;
  return std::stod(part) * SecondsOf(unit.empty() ? whole_unit : unit).value() / of;
}

Expectations ReadExpectations(const fs::path& labels, const fs::path& notes) {
  Expectations read;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(labels))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::ranges::sort(files);
  for (const fs::path& file : files) ReadLabels(file, read.labels);
  ReadMapping(YAML::LoadFile((notes / "evaluation.yaml").string()), read);
  for (const char* half : {"seen", "unseen"}) ReadNotes(notes / (std::string(half) + ".yaml"), read.notes);
  Check(read);
  return read;
}

}  // namespace dladvisor::evaluation
