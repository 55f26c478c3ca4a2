// SPDX-License-Identifier: Apache-2.0
// The server of the Model Context Protocol: message by message, and against the protocol's own client
// libraries.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

// Where ./dev test installed the client libraries.
fs::path ClientModules() {
  if (const char* path = std::getenv("DLADVISOR_MCP_CLIENTS")) return path;
  return test::SourceDir() / "build/mcp-clients";
}

class Mcp : public testing::Test {
 protected:
  // What the server answers to these lines.
  std::vector<json> Ask(const std::vector<std::string>& lines) {
    std::string input;
    for (const std::string& line : lines) input += line + "\n";
    test::WriteFile(folder_.path() / "input", input);
    return AnswersOf(test::Run(
        fmt::format("'{}' mcp <'{}'", test::ProgramPath().string(), (folder_.path() / "input").string())));
  }

  // What one server answers to a request, and to it again after each of the shell commands `changes`, which
  // run in the scratch folder as the server does.
  std::vector<json> AskAfterEach(const std::vector<std::string>& changes, const std::string& request,
                                 const std::string& options = "") {
    test::WriteFile(folder_.path() / "request", request + "\n");
    std::string input = "cat request";
    for (size_t i = 0; i < changes.size(); ++i)
      input += fmt::format(
          "; for i in $(seq 2400); do [ $(wc -l <answers) -gt {} ] && break; sleep 0.05; done; {}; "
          "cat request",
          i, changes[i]);
    return AnswersOf(
        test::Run(fmt::format("cd '{}' && : >answers && ({}) | '{}' {} mcp >answers; cat answers",
                              folder_.path().string(), input, test::ProgramPath().string(), options)));
  }

  static std::vector<json> AnswersOf(const test::RunResult& run) {
    EXPECT_EQ(run.status, 0);
    EXPECT_EQ(run.err, "");
    std::vector<json> answers;
    std::istringstream out(run.out);
    for (std::string line; std::getline(out, line);) {
      answers.push_back(json::parse(line));
      EXPECT_EQ(answers.back()["jsonrpc"], "2.0");
    }
    return answers;
  }

  json AskOne(const std::string& line) {
    const std::vector<json> answers = Ask({line});
    EXPECT_EQ(answers.size(), 1U) << line;
    return answers.empty() ? json() : answers[0];
  }

  const test::ScratchDir folder_;
};

TEST_F(Mcp, AgreesOnAVersion) {
  const auto version = [&](const std::string& asked) {
    return AskOne(fmt::format(
        R"({{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {{"protocolVersion": "{}", )"
        R"("capabilities": {{}}, "clientInfo": {{"name": "x", "version": "1"}}}}}})",
        asked))["result"]["protocolVersion"];
  };
  EXPECT_EQ(version("2025-06-18"), "2025-06-18");
  EXPECT_EQ(version("2024-11-05"), "2024-11-05");
  EXPECT_EQ(version("2025-03-26"), "2024-11-05");  // has batches, which are refused
  EXPECT_EQ(version("1999-01-01"), "2025-11-25");
  EXPECT_EQ(version("2999-01-01"), "2025-11-25");
}

TEST_F(Mcp, RequestsMayNameTheirVersionThemselves) {
  const auto ask = [&](const std::string& method, const std::string& version) {
    return AskOne(fmt::format(
        R"({{"jsonrpc": "2.0", "id": "a", "method": "{}", "params": {{"_meta": )"
        R"({{"io.modelcontextprotocol/protocolVersion": "{}", "io.modelcontextprotocol/clientCapabilities": {{}}}}}}}})",
        method, version));
  };
  const json found = ask("server/discover", "2026-07-28")["result"];
  EXPECT_THAT(found["supportedVersions"], testing::Contains("2026-07-28"));
  EXPECT_EQ(found["resultType"], "complete");
  const json tools = ask("tools/list", "2026-07-28")["result"];
  EXPECT_EQ(tools["tools"].size(), 6U);
  EXPECT_EQ(tools["cacheScope"], "public");
  const json refused = ask("tools/list", "2027-01-01")["error"];
  EXPECT_EQ(refused["code"], -32022);
  EXPECT_EQ(refused["data"]["requested"], "2027-01-01");
  EXPECT_THAT(refused["data"]["supported"], testing::Contains("2026-07-28"));
}

TEST_F(Mcp, SaysWhatIsWrongWithAMessage) {
  const auto code = [&](const std::string& line) { return AskOne(line)["error"]["code"]; };
  EXPECT_EQ(code("{"), -32700);
  EXPECT_EQ(code("[]"), -32600);
  EXPECT_EQ(code("7"), -32600);
  EXPECT_EQ(code(R"({"jsonrpc": "2.0", "id": {}, "method": "ping"})"), -32600);
  EXPECT_EQ(code(R"({"jsonrpc": "1.0", "id": 1, "method": "ping"})"), -32600);
  EXPECT_EQ(code(R"({"jsonrpc": 2, "id": 1, "method": "ping"})"), -32600);
  EXPECT_EQ(code(R"({"id": 1, "method": "ping"})"), -32600);
  EXPECT_EQ(code(R"({"jsonrpc": "2.0", "id": 1, "method": "resources/list"})"), -32601);
  EXPECT_EQ(code(R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": []})"), -32602);
  EXPECT_EQ(code(R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "none"}})"),
            -32602);
  EXPECT_EQ(code(R"({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})"), -32602);
  EXPECT_EQ(AskOne(R"({"jsonrpc": "2.0", "id": 1, "method": "ping"})")["result"], json::object());
  EXPECT_TRUE(Ask({R"({"jsonrpc": "2.0", "method": "notifications/initialized"})", "",
                   R"({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}})",
                   R"({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [3]}})",
                   R"({"jsonrpc": "2.0", "id": 1, "result": {}})"})
                  .empty());
}

TEST_F(Mcp, RefusesWhatIsNestedDeeply) {
  const auto nested = [](size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  const auto call = [](const std::string& params) {
    return R"({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"x": )" + params + "}}";
  };
  const std::vector<json> answers =
      Ask({call(nested(200'000)), call(nested(99)), call(nested(98)), call("\"\\\"" + nested(200) + "\""),
           R"({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": )" +
               nested(200'000) + "}}",
           nested(200'000), std::string(200'000, '[')});
  ASSERT_EQ(answers.size(), 7U);
  int refused = 0, answered = 0;
  for (const json& answer : answers)
    if (answer.contains("result"))
      ++answered;
    else
      refused += answer["error"]["code"] == -32600;
  EXPECT_EQ(answered, 2);
  EXPECT_EQ(refused, 5);
}

TEST_F(Mcp, NullIsAsGoodAsNothing) {
  EXPECT_TRUE(
      AskOne(R"({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": null})").contains("result"));
  const json called = AskOne(R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": )"
                             R"({"name": "facts", "arguments": null, "_meta": {"progressToken": null}}})");
  EXPECT_EQ(called["result"]["isError"], false) << called;
}

TEST_F(Mcp, ProgressGoesToTokensThatAreTextsOrNumbers) {
  const auto answers = [&](const std::string& token) {
    test::WriteFile(folder_.path() / "empty.sqlite", "");
    return Ask({fmt::format(
                   R"({{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {{"name": "report", )"
                   R"("arguments": {{"profile": "{}"}}, "_meta": {{"progressToken": {}}}}}}})",
                   (folder_.path() / "empty.sqlite").string(), token)})
        .size();
  };
  EXPECT_GT(answers("7"), 1U);
  EXPECT_GT(answers(R"("a")"), 1U);
  EXPECT_EQ(answers("[7]"), 1U);
}

TEST_F(Mcp, AnswersFollowTheFiles) {
  const std::string generator = (test::ProgramPath().parent_path() / "megatron-gpt").string();
  ASSERT_EQ(
      test::Run(fmt::format("cd '{}' && mkdir job && '{}' naive -o a.sqlite && cp a.sqlite job/0.sqlite && "
                            "cp -r '{}' rules && echo 'rules: {{}}' >own.yaml",
                            folder_.path().string(), generator,
                            (test::SourceDir() / "examples/team-rules/rules/kernels").string()))
          .status,
      0);
  const auto call = [](const std::string& profile, const std::string& tool = "report",
                       const std::string& more = "") {
    return fmt::format(R"({{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {{"name": "{}", )"
                       R"("arguments": {{"profile": "{}"{}}}}}}})",
                       tool, profile, more);
  };
  const auto text_of = [](const json& answer) {
    EXPECT_EQ(answer["result"]["isError"], false) << answer;
    return answer["result"]["content"][0]["text"].get<std::string>();
  };
  // A file comes, is written in place, which leaves the time of its folder, and goes.
  for (const std::string profile : {"job", "job/*.sqlite"}) {
    const std::vector<json> answers =
        AskAfterEach({":", "cp a.sqlite job/1.sqlite", "truncate -s 100000 job/1.sqlite", "rm job/1.sqlite"},
                     call(profile));
    ASSERT_EQ(answers.size(), 5U);
    EXPECT_EQ(text_of(answers[1]), text_of(answers[0]));
    EXPECT_NE(text_of(answers[2]), text_of(answers[0]));
    EXPECT_THAT(text_of(answers[3]), HasSubstr("could not be read"));
    EXPECT_EQ(text_of(answers[4]), text_of(answers[0]));
  }
  const std::vector<json> configured = AskAfterEach({"echo 'rules: {cpu-launch-starvation: off}' >own.yaml"},
                                                    call("a.sqlite"), "--config own.yaml");
  ASSERT_EQ(configured.size(), 2U);
  EXPECT_THAT(text_of(configured[0]), HasSubstr("cpu-launch-starvation"));
  EXPECT_THAT(text_of(configured[1]), testing::Not(HasSubstr("cpu-launch-starvation")));
  const std::vector<json> ruled =
      AskAfterEach({"sed -i 's/default: 0.01/default: 0.02/' rules/unfused-softmax.yaml"},
                   call("a.sqlite", "explain", R"(, "rule": "unfused-softmax")"), "--rules rules");
  ASSERT_EQ(ruled.size(), 2U);
  EXPECT_NE(text_of(ruled[0]), text_of(ruled[1]));
}

TEST_F(Mcp, WhatIsCancelledIsNotAnswered) {
  const std::string path = (folder_.path() / "run.sqlite").string();
  const std::string generator = (test::ProgramPath().parent_path() / "megatron-gpt").string();
  ASSERT_EQ(test::Run(fmt::format("'{}' naive -o '{}'", generator, path)).status, 0);
  const auto call = [&](int id) {
    return fmt::format(
        R"({{"jsonrpc": "2.0", "id": {}, "method": "tools/call", "params": {{"name": "report", )"
        R"("arguments": {{"profile": "{}"}}}}}})",
        id, path);
  };
  const std::vector<json> answers =
      Ask({call(1), call(2),
           R"({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})"});
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0]["id"], 1);
  EXPECT_EQ(answers[0]["result"]["isError"], false);
}

TEST_F(Mcp, TheProtocolsOwnClientsUnderstandIt) {
  if (test::Run("node --version").status != 0) GTEST_SKIP() << "node is not installed";
  if (!fs::exists(ClientModules() / "node_modules"))
    GTEST_SKIP() << "no clients of the protocol in " << ClientModules();
  const std::string generator = (test::ProgramPath().parent_path() / "megatron-gpt").string();
  const std::string folder = folder_.path().string();
  ASSERT_EQ(test::Run(fmt::format("cd '{}' && '{}' naive -o a.sqlite && '{}' naive -o b.sqlite", folder,
                                  generator, generator))
                .status,
            0);
  const test::RunResult run =
      test::Run(fmt::format("cd '{}' && node '{}' '{}' '{}' a.sqlite b.sqlite", folder,
                            (test::SourceDir() / "tests/cli/mcp_client.mjs").string(),
                            ClientModules().string(), test::ProgramPath().string()));
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "ok\n");
}

}  // namespace
}  // namespace dladvisor
