// SPDX-License-Identifier: Apache-2.0
#include "src/gate/render/gate_json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/base/text.h"
#include "tests/gate/fixture.h"
#include "tests/support/files.h"
#include "tests/support/json_schema.h"

namespace dladvisor::test {
namespace {

using nlohmann::ordered_json;
using ::testing::ElementsAre;

std::vector<std::string> Keys(const ordered_json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

TEST(GateJson, KeepsToTheSchema) {
  if (PythonWithJsonschema().empty()) GTEST_SKIP() << "python3-jsonschema is not installed";
  const ScratchDir folder;
  size_t files = 0;
  for (const GateResult& result : {RegressedGate(), PassedGate(), ImprovedGate(), InconclusiveGate(),
                                   NotComparableGate(), HostileGate(), GateResult()})
    WriteFile(folder.path() / fmt::format("{}.json", files++), RenderGateJson(result));
  EXPECT_EQ(SchemaErrors(SourceDir() / "docs/schemas/gate.schema.json", folder.path()), "");
}

TEST(GateJson, HasTheModelInAFixedOrder) {
  const ordered_json gate = ordered_json::parse(RenderGateJson(RegressedGate()));
  EXPECT_THAT(Keys(gate), ElementsAre("schema_version", "generator", "verdict", "exit_status", "headline",
                                      "next_step", "baseline", "candidate", "differences", "metrics",
                                      "explanation", "changes", "rules", "trends", "notes"));
  EXPECT_EQ(gate["verdict"], "regressed");
  EXPECT_EQ(gate["baseline"],
            ordered_json::parse(
                R"({"runs":["main-1.digest","main-2.digest","main-3.digest"],"ranks":8,"steps":300})"));
  const ordered_json& step = gate["metrics"][0];
  EXPECT_EQ(step["metric"], "step.time");
  EXPECT_EQ(step["unit"], "ns");
  EXPECT_EQ(step["level"], "error");
  EXPECT_EQ(step["candidate"], 202.1e6);
  EXPECT_TRUE(step["max"].is_null());
  const ordered_json& rule = gate["rules"][0];
  EXPECT_EQ(rule["subject"], ordered_json::parse(R"({"rank":0,"device":1})"));
  EXPECT_EQ(rule["subjects"], ordered_json::parse(R"([{"rank":0,"device":1}])"));
  EXPECT_EQ(rule["change"], "new");
  EXPECT_EQ(rule["severity"], "error");
  EXPECT_EQ(gate["trends"][0]["changes"][1]["at"], 17);
  EXPECT_EQ(gate["trends"][0]["points"].size(), 24U);
}

TEST(GateJson, HasNullForWhatIsUnknown) {
  const ordered_json loss = ordered_json::parse(RenderGateJson(RegressedGate()))["metrics"][4];
  for (const char* key : {"baseline", "change", "low", "high", "fails_from", "detectable", "min"})
    EXPECT_TRUE(loss[key].is_null()) << key;
}

TEST(GateJson, KeepsTextAsItIs) {
  const ordered_json gate = ordered_json::parse(RenderGateJson(HostileGate()));
  EXPECT_EQ(gate["notes"][1], ValidUtf8(kHostileText) + "Clocks were not locked.");
}

}  // namespace
}  // namespace dladvisor::test
