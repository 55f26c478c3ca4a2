// dladvisor query PROFILE SQL|RELATION [--format table|csv|json]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/base/text.h"
#include "src/cli/session.h"

namespace dladvisor {
namespace {

struct Options {
  ProfileOptions profile;
  std::string sql, format = "table";
};

// The full precision of a value, for other programs.
std::string Exact(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* integer = std::get_if<int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  return "";
}

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

void PrintCsv(const ResultSet& result) {
  std::string line;
  for (const ResultColumn& c : result.columns) line += (line.empty() ? "" : ",") + CsvField(c.name);
  fmt::print("{}\n", line);
  for (const auto& row : result.rows) {
    line.clear();
    for (size_t i = 0; i < row.size(); ++i) line += (i ? "," : "") + CsvField(Exact(row[i]));
    fmt::print("{}\n", line);
  }
}

void PrintJson(const ResultSet& result) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& row : result.rows) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (size_t i = 0; i < row.size(); ++i) {
      auto& field = object[result.columns[i].name];
      if (const auto* text = std::get_if<std::string>(&row[i]))
        field = ValidUtf8(*text);
      else if (const auto* integer = std::get_if<int64_t>(&row[i]))
        field = *integer;
      else if (const auto* real = std::get_if<double>(&row[i]); real && std::isfinite(*real))
        field = *real;
    }
    rows.push_back(std::move(object));
  }
  fmt::print("{}\n", rows.dump(2));
}

// Columns of a terminal, counted as code points.
size_t Width(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// One line per row, values as people read them; control characters cannot reach the terminal.
std::string Readable(const Value& value, Unit unit) {
  std::string text = IsNull(value) ? "-" : ValidUtf8(FormatValue(value, unit));
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text;
}

void PrintTable(const ResultSet& result) {
  std::vector<std::vector<std::string>> lines(1);
  for (const ResultColumn& c : result.columns) lines[0].push_back(c.name);
  for (const auto& row : result.rows) {
    auto& line = lines.emplace_back();
    for (size_t i = 0; i < row.size(); ++i) line.push_back(Readable(row[i], result.columns[i].unit));
  }
  std::vector<size_t> widths(result.columns.size());
  for (const auto& line : lines)
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], Width(line[i]));
  for (size_t n = 0; n < lines.size(); ++n) {
    std::string text;
    for (size_t i = 0; i < lines[n].size(); ++i) {
      const std::string padding(widths[i] - Width(lines[n][i]), ' ');
      const bool number = n > 0 && !std::holds_alternative<std::string>(result.rows[n - 1][i]);
      text += (i ? "  " : "") + (number ? padding + lines[n][i] : lines[n][i] + padding);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    fmt::print("{}\n", text);
  }
}

void Run(const Options& options, const CommonOptions& common) {
  Stages stages(common);
  stages.Begin("read");
  const Profile profile = LoadProfile(options.profile.path, options.profile.ToAnalysisOptions());
  const Database database = profile.OpenDatabase();
  stages.Begin("query");
  const bool name = options.sql.find_first_of(" \n\t(") == std::string::npos;
  if (name && !database.FindRelation(options.sql)) {
    std::vector<std::string> known;
    for (const Schema* schema : database.Relations()) known.push_back(schema->name);
    throw Error("query " + options.sql, "is no relation" + DidYouMean(options.sql, known),
                "`dladvisor facts` lists them; a query begins with SELECT.");
  }
  ResultSet result;
  try {
    result = database.Query(name ? "SELECT * FROM \"" + options.sql + "\"" : options.sql);
  } catch (const SqlError& error) {
    throw Error("query", error.what(),
                "`dladvisor facts` lists relations, `dladvisor facts RELATION` columns.");
  }
  if (options.format == "csv")
    PrintCsv(result);
  else if (options.format == "json")
    PrintJson(result);
  else
    PrintTable(result);
}

}  // namespace

void AddQueryCommand(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("query", "Run SQL over a profile's facts and events");
  options->profile.AddTo(*command);
  command->add_option("SQL", options->sql, "A SELECT, or the name of a relation")->required();
  command->add_option("--format", options->format, "table, csv or json")
      ->check(CLI::IsMember({"table", "csv", "json"}));
  command->callback([options, &common] { Run(*options, common); });
}

}  // namespace dladvisor
