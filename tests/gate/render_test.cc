// SPDX-License-Identifier: Apache-2.0
// What all renderers have in common.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/text.h"
#include "src/gate/render/annotations.h"
#include "src/gate/render/gate_html.h"
#include "src/gate/render/gate_json.h"
#include "src/gate/render/gate_markdown.h"
#include "src/gate/render/gate_text.h"
#include "src/gate/render/junit.h"
#include "src/gate/render/sarif.h"
#include "tests/gate/fixture.h"
#include "tests/support/plain_spaces.h"

namespace dladvisor::test {
namespace {

using ::testing::HasSubstr;

struct Format {
  const char* name;
  std::string (*render)(const GateResult&);
};

std::string Text(const GateResult& result) { return RenderGateText(result, {}); }
std::string Sarif(const GateResult& result) { return RenderGateSarif(result); }
std::string Annotations(const GateResult& result) { return RenderGateAnnotations(result); }

class EveryFormat : public ::testing::TestWithParam<Format> {};

TEST_P(EveryFormat, SaysWhatRegressedAndWhy) {
  const std::string text = PlainSpaces(GetParam().render(RegressedGate()));
  EXPECT_THAT(text, HasSubstr("Step time"));
  EXPECT_THAT(text, HasSubstr("37.9 ms longer"));
  EXPECT_THAT(text, HasSubstr("data-loading"));
}

TEST_P(EveryFormat, IsTheSameBytesForTheSameResult) {
  EXPECT_EQ(GetParam().render(RegressedGate()), GetParam().render(RegressedGate()));
}

TEST_P(EveryFormat, SurvivesAnEmptyResult) {
  GateResult result;
  EXPECT_NO_THROW(GetParam().render(result));
  result.metrics.emplace_back();
  result.explanation.emplace_back();
  result.rules.emplace_back();
  result.trends.emplace_back();
  result.differences.emplace_back();
  EXPECT_NO_THROW(GetParam().render(result));
}

TEST_P(EveryFormat, SaysNaNAsUnknown) {
  GateResult result = RegressedGate();
  for (MetricVerdict& metric : result.metrics)
    metric.baseline = metric.candidate = metric.change = metric.low = metric.high = metric.fails_from =
        metric.detectable = std::numeric_limits<double>::quiet_NaN();
  result.rules[0].saves_high_ns = std::numeric_limits<double>::infinity();
  const std::string text = GetParam().render(result);
  for (const char* raw : {"nan ", ">nan", "\"nan", "inf ", ">inf<", "\"inf\""})
    EXPECT_EQ(text.find(raw), std::string::npos) << raw;
}

TEST_P(EveryFormat, IsValidUtf8WithoutHostileCharacters) {
  for (const GateResult& result : {HostileGate(), HugeGate()}) {
    const std::string text = GetParam().render(result);
    EXPECT_EQ(text, ValidUtf8(text));
    for (const char c : {'\x01', '\x1b', '\r', '\x7f'}) EXPECT_EQ(text.find(c), std::string::npos) << int{c};
    if (GetParam().name == std::string("Json")) continue;  // whose readers want the text as it is
    EXPECT_EQ(text.find("\xE2\x80\xAE"), std::string::npos);
    EXPECT_EQ(text.find("\n::error::x"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(Gate, EveryFormat,
                         ::testing::Values(Format{"Text", Text}, Format{"Markdown", RenderGateMarkdown},
                                           Format{"JUnit", RenderGateJUnit}, Format{"Sarif", Sarif},
                                           Format{"Annotations", Annotations}, Format{"Json", RenderGateJson},
                                           Format{"Html", RenderGateHtml}),
                         [](const auto& format) { return std::string(format.param.name); });

}  // namespace
}  // namespace dladvisor::test
