// SPDX-License-Identifier: Apache-2.0
#include "src/cli/facts_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/text.h"
#include "src/analysis/compat/views.h"
#include "src/analysis/families.h"
#include "src/importers/words/importer_words.h"

namespace dladvisor {
namespace {

const std::vector<View>& (*const kViews[])() = {NsysViews, DlprofViews, PytorchViews, TracelensViews};

std::string ListRelations(const std::vector<const Schema*>& schemas) {
  std::string out;
  for (const Schema* schema : schemas) out += fmt::format("{:<16} {}\n", schema->name, schema->doc);
  out += fmt::format("\nViews under the names of other tools, for `dladvisor query`:\n");
  for (const auto views : kViews)
    for (const View& view : views()) out += fmt::format("{:<22} {}\n", view.name, view.doc);
  out += fmt::format(
      "\n`dladvisor facts RELATION` shows its columns; `dladvisor query PROFILE RELATION` its rows.\n");
  return out;
}

// The columns of a view follow from its SQL, which is shown, too.
std::string DescribeView(const View& view, const std::vector<const Schema*>& schemas) {
  std::string out;
  Database database;
  for (const Schema* schema : schemas) database.Add(std::make_unique<Table>(*schema));
  for (const auto views : kViews)
    for (const View& each : views()) database.AddView(each.name, each.sql);
  const ResultSet none = database.Query("SELECT * FROM \"" + view.name + "\"", {}, 0);
  out += fmt::format("{}: {}\n\n", view.name, view.doc);
  for (const ResultColumn& column : none.columns) out += fmt::format("  {}\n", column.name);
  out += fmt::format("\nA view:\n{}\n", view.sql);
  return out;
}

std::string DescribeRelation(const Schema& schema) {
  std::string out;
  std::set<std::string> capabilities;
  out += fmt::format("{}: {}\n\n", schema.name, schema.doc);
  size_t width = 0;
  for (const Column& c : schema.columns) width = std::max(width, c.name.size());
  for (const Column& c : schema.columns) {
    const bool key = std::find(schema.key.begin(), schema.key.end(), c.name) != schema.key.end();
    std::string traits = c.unit == Unit::kNone || c.unit == Unit::kText
                             ? std::string(TypeName(c.type))
                             : fmt::format("{}, {}", TypeName(c.type), UnitName(c.unit));
    if (key) traits += ", key";
    if (c.nullable) traits += c.capture.empty() ? ", may be unknown" : ", unknown without " + c.capture;
    out += fmt::format("  {:<{}}  {} ({})\n", c.name, width, c.doc, traits);
    for (const std::string_view name : CapabilitiesOf(c.capture)) capabilities.emplace(name);
  }
  if (!capabilities.empty()) out += fmt::format("\nTo record them:\n");
  for (const std::string& capability : capabilities)
    out += fmt::format("  {}: {}\n", capability, HowToRecord(capability));
  return out;
}

std::string Describe(const std::vector<const Schema*>& schemas, const std::string& name) {
  std::vector<std::string> names;
  for (const Schema* schema : schemas) {
    if (schema->name == name) return DescribeRelation(*schema);
    names.push_back(schema->name);
  }
  for (const auto views : kViews)
    for (const View& view : views()) {
      if (view.name == name) return DescribeView(view, schemas);
      names.push_back(view.name);
    }
  throw Error("facts " + name, "is not a relation" + DidYouMean(name, names),
              "`dladvisor facts` lists them.");
}

// What is computed from what, each after its inputs.
void ListOrder() {
  std::vector<const ValueKind*> kinds;
  for (const Family* family : AllFamilies()) kinds.push_back(family->kind.get());
  for (const ValueKind* kind : WithInputs(kinds)) {
    std::vector<std::string_view> inputs;
    for (const ValueKind* input : kind->inputs) inputs.push_back(input->name);
    if (inputs.empty())
      fmt::print("{}\n", kind->name);
    else
      fmt::print("{:<28} from {}\n", kind->name, fmt::join(inputs, ", "));
  }
}

}  // namespace

std::string FactsText(const KnowledgeBase& knowledge, const std::string& relation) {
  return relation.empty() ? ListRelations(knowledge.schemas()) : Describe(knowledge.schemas(), relation);
}

void AddFactsCommand(CLI::App& app, const CommonOptions& common) {
  auto relation = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("facts", "List the relations that rules and queries see");
  auto order = std::make_shared<bool>(false);
  CLI::Option* one = command->add_option("RELATION", *relation, "Describe the columns of this relation");
  command->add_flag("--order", *order, "Show what is computed from what, in order")->excludes(one);
  command->callback([relation, order, &common] {
    if (*order) return ListOrder();
    const KnowledgeBase knowledge = LoadRules(common, LoadProject(common.config));  // for derived relations
    fmt::print("{}", FactsText(knowledge, *relation));
  });
}

}  // namespace dladvisor
