// dladvisor facts [RELATION]
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "engine/base/text.h"
#include "src/analysis/compat/views.h"
#include "src/cli/session.h"

namespace dladvisor {
namespace {

void ListRelations(const std::vector<const Schema*>& schemas) {
  for (const Schema* schema : schemas) fmt::print("{:<16} {}\n", schema->name, schema->doc);
  fmt::print("\nViews under the names of other tools, for `dladvisor query`:\n");
  for (const auto* views : {&NsysViews(), &DlprofViews(), &PytorchViews()})
    for (const View& view : *views) fmt::print("{:<22} {}\n", view.name, view.doc);
  fmt::print(
      "\n`dladvisor facts RELATION` shows its columns; `dladvisor query PROFILE RELATION` its rows.\n");
}

const Schema& FindSchema(const std::vector<const Schema*>& schemas, const std::string& name) {
  std::vector<std::string> names;
  for (const Schema* schema : schemas) {
    if (schema->name == name) return *schema;
    names.push_back(schema->name);
  }
  throw Error("facts " + name, "is no relation" + DidYouMean(name, names), "`dladvisor facts` lists them.");
}

void DescribeRelation(const Schema& schema) {
  fmt::print("{}: {}\n\n", schema.name, schema.doc);
  size_t width = 0;
  for (const Column& c : schema.columns) width = std::max(width, c.name.size());
  for (const Column& c : schema.columns) {
    const bool key = std::find(schema.key.begin(), schema.key.end(), c.name) != schema.key.end();
    std::string traits = c.unit == Unit::kNone || c.unit == Unit::kText
                             ? std::string(TypeName(c.type))
                             : fmt::format("{}, {}", TypeName(c.type), UnitName(c.unit));
    if (key) traits += ", key";
    if (c.nullable) traits += c.capture.empty() ? ", may be unknown" : ", unknown without " + c.capture;
    fmt::print("  {:<{}}  {} ({})\n", c.name, width, c.doc, traits);
  }
}

}  // namespace

void AddFactsCommand(CLI::App& app, const CommonOptions& common) {
  auto relation = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("facts", "List the relations that rules and queries see");
  command->add_option("RELATION", *relation, "Describe the columns of this relation");
  command->callback([relation, &common] {
    const KnowledgeBase knowledge = LoadRules(common, LoadProject(common.config));  // for derived relations
    if (relation->empty())
      ListRelations(knowledge.schemas());
    else
      DescribeRelation(FindSchema(knowledge.schemas(), *relation));
  });
}

}  // namespace dladvisor
