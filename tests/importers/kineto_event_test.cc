// SPDX-License-Identifier: Apache-2.0
// The text of events of PyTorch's profiler, and the lists that hold it, whole and broken.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "src/importers/kineto/event.h"
#include "src/importers/kineto/event_text.h"

namespace dladvisor {
namespace {

TEST(KinetoTime, KeepsEveryDigit) {
  using kineto::NanosecondsOf;
  EXPECT_EQ(NanosecondsOf("1740461679479712"), 1740461679479712000);
  EXPECT_EQ(NanosecondsOf("1740461679479712.345"), 1740461679479712345);
  EXPECT_EQ(NanosecondsOf("0.001"), 1);
  EXPECT_EQ(NanosecondsOf("7.5"), 7500);
  EXPECT_EQ(NanosecondsOf("7.12345"), 7123);
  EXPECT_EQ(NanosecondsOf("-2.5"), -2500);
  EXPECT_EQ(NanosecondsOf("1.5e3"), 1500000);
  EXPECT_EQ(NanosecondsOf(""), kineto::kUnknown);
  EXPECT_EQ(NanosecondsOf("null"), kineto::kUnknown);
  EXPECT_EQ(NanosecondsOf("99999999999999999999"), kineto::kUnknown);
}

TEST(KinetoText, IsUnescaped) {
  std::string buffer;
  EXPECT_EQ(kineto::Unescape(R"(plain)", buffer), "plain");
  EXPECT_EQ(kineto::Unescape(R"(a\"b\\c\u00e9\nd)", buffer), "a\"b\\c\xC3\xA9\nd");
  EXPECT_EQ(kineto::Unescape(R"(C:\Users\x)", buffer), R"(C:\Users\x)");  // as some writers forget to escape
  EXPECT_EQ(kineto::Unescape(R"(\u12)", buffer), R"(\u12)");
}

// The names of the events of a list; nothing where it is broken.
std::optional<std::vector<std::string>> NamesOf(std::string text) {
  const size_t size = text.size();
  text.resize(size + 64);
  kineto::EventParser parser;
  std::vector<std::string> names;
  if (!parser.Parse(std::string_view(text).substr(0, size), text.size(),
                    [&](const kineto::Event& event) { names.emplace_back(event.name); }))
    return std::nullopt;
  return names;
}

TEST(KinetoEvents, AreReadBesideOtherValuesAndBlanks) {
  EXPECT_EQ(NamesOf("[]"), std::vector<std::string>{});
  EXPECT_EQ(NamesOf(R"([ 7 , "x" , [ { } ] , null , { } , { "name" : "a" , "args" : { "grid" : [ 1 , 2 , 3 ] ,
                        "other" : { "name" : [ { } , NaN ] } } , "more" : { "name" : "b" } } ])"),
            (std::vector<std::string>{"", "a"}));
}

TEST(KinetoEvents, OfBrokenListsAreRefused) {
  for (const char* broken : {"", "{}", "[", "[{}", "[{},]", "[,{}]", "[{} {}]", "[{}]]", "[{}] 1",
                             R"([{"a" 1}])", R"([{"a":}])", R"([{"a":1,}])", R"([{1:2}])", R"([{"a":[1}])",
                             R"([{"a":"x])", R"([{"args":{"a":1]}])", "[{\"a\":\"\xff\"}]"})
    EXPECT_EQ(NamesOf(broken), std::nullopt) << broken;
}

TEST(KinetoEvents, HaveTheirGridInWholeNumbers) {
  std::string text = R"([{"args": {"grid": [ 2 , "3", 4.0], "block": [5, 6], "stream": "7"}}])";
  const size_t size = text.size();
  text.resize(size + 64);
  kineto::EventParser parser;
  kineto::Event event;
  EXPECT_TRUE(parser.Parse(std::string_view(text).substr(0, size), text.size(),
                           [&](const kineto::Event& e) { event = e; }));
  EXPECT_TRUE(event.has_shape);
  EXPECT_EQ(event.grid, (std::array<int64_t, 3>{2, 3, 4}));
  EXPECT_EQ(event.stream, 7);
}

}  // namespace
}  // namespace dladvisor
