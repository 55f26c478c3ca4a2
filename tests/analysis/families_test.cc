// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "engine/store/database.h"
#include "src/analysis/analysis.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {

TEST(Families, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Family* family : AllFamilies()) {
    EXPECT_TRUE(names.insert(family->schema->name).second) << family->schema->name;
    EXPECT_EQ(FindFamily(family->schema->name), family);
  }
  EXPECT_EQ(FindFamily("no such relation"), nullptr);
}

// Two profiles that are put together would keep numbers that mean something else in each.
TEST(Families, NumbersOfRanksStepsAndProfilesAreDeclaredAsSuch) {
  for (const Family* family : AllFamilies())
    for (const Column& column : family->schema->columns) {
      const std::string what = family->schema->name + "." + column.name;
      if (family->on_demand && column.numbering == Numbering{}) continue;  // no digest has them
      const std::map<std::string, Numbering> declared = {
          {"rank", kRankNumber}, {"step", kStepNumber}, {"profile", kProfileNumber}};
      if (const auto found = declared.find(column.name); found != declared.end()) {
        EXPECT_EQ(column.numbering, found->second) << what;
      }
      if (column.numbering != Numbering{}) {
        EXPECT_EQ(column.type, Type::kInteger) << what;
      }
    }
}

TEST(Families, OnesThatCompareRanksAreComputedFromRelationsAlone) {
  for (const Family* family : AllFamilies()) {
    if (!family->IsAcrossRanks()) continue;
    EXPECT_FALSE(family->detail) << family->schema->name;
    const std::vector<const ValueKind*> kind = {family->kind.get()};
    for (const ValueKind* input : WithInputs(kind))
      EXPECT_EQ(input->subject, Subject::kFleet) << family->schema->name << " from " << input->name;
  }
}

class OnDemandFamilies : public testing::Test {
 protected:
  OnDemandFamilies() {
    builder_.Range(0, 1000, "aten::relu");
    builder_.Launch(110, 500, 600, "relu");
    analysed_ = std::make_unique<AnalysedTrace>(builder_.trace);
    digest_ = analysed_->ComputeDigest();
    relations_ = analysed_->OnDemandRelations();
    for (const Table& table : digest_.relations) database_.Add(table);
    for (const auto& relation : relations_) database_.Add(*relation);
  }

  std::vector<std::string> Computed() const {
    std::vector<std::string> names;
    for (const Family* family : AllFamilies())
      if (family->on_demand && analysed_->values().Has(*family->kind)) names.push_back(family->schema->name);
    return names;
  }

  test::TraceBuilder builder_;
  std::unique_ptr<AnalysedTrace> analysed_;
  Digest digest_;
  std::vector<std::unique_ptr<Relation>> relations_;
  Database database_;
};

TEST_F(OnDemandFamilies, CostNothingUntilTheyAreRead) {
  EXPECT_FALSE(relations_.empty());
  database_.Query("SELECT * FROM run");
  EXPECT_THAT(Computed(), testing::IsEmpty());
  database_.Query("SELECT * FROM op_work");
  EXPECT_THAT(Computed(), testing::ElementsAre("op_work"));
}

TEST_F(OnDemandFamilies, UseTheContextOfTheOthers) {
  EXPECT_TRUE(analysed_->values().Has(KindOf<Context>()));
  const Context* context = &analysed_->Get<Context>();
  database_.Query("SELECT * FROM op_call");
  EXPECT_EQ(&analysed_->Get<Context>(), context);
}

}  // namespace
}  // namespace dladvisor
