// SPDX-License-Identifier: Apache-2.0
// A server of the Model Context Protocol on the standard input and output: a JSON-RPC message a line. It
// speaks the revision of 2026-07-28, in which every request names its version, and those before it, which
// begin with `initialize` (https://modelcontextprotocol.io/specification).
#include "src/cli/mcp_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "engine/base/cancellation.h"
#include "src/cli/mcp_tools.h"

namespace dladvisor {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kStateless = "2026-07-28";
// Newest first. That of 2025-03-26 is not among them: it alone has batches.
constexpr const char* kWithHandshake[] = {"2025-11-25", "2025-06-18", "2024-11-05"};
constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kInstructions =
    "Finds what makes a deep-learning run slow, from profiles of PyTorch, Nsight Systems, nvidia-smi or "
    "training "
    "logs. Call `report` first; `explain` shows the values behind a finding, `query` the facts below it. "
    "Findings "
    "below another are its symptoms: act on the one above. What is unknown was not recorded: it is neither "
    "yes nor "
    "no; `record` says what to record for it.";

enum ErrorCode {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kNoMethod = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kUnsupportedVersion = -32022
};

struct RpcError {
  int code;
  std::string message;
  Json data = nullptr;
};

// No message needs as many. What is copied and written goes down a level by a call.
constexpr int kMostLevels = 100;

// Of arrays and objects in each other. Brackets in strings are not counted.
int LevelsOf(const std::string& json) {
  int level = 0, most = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string && c == '\\')
      ++i;
    else if (c == '"')
      in_string = !in_string;
    else if (!in_string && (c == '[' || c == '{'))
      most = std::max(most, ++level);
    else if (!in_string && (c == ']' || c == '}'))
      --level;
  }
  return most;
}

// What a message may be known by.
bool IsId(const Json& value) { return value.is_string() || value.is_number(); }

// A member of an object, or `absent` where it is not there or null.
Json MemberOf(const Json& object, const char* key, const Json& absent) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? absent : *found;
}

class McpServer {
 public:
  explicit McpServer(const CommonOptions& common) : tools_(common) {}

  // Until the input ends and every request is answered.
  void Run() {
    std::thread worker([this] { Work(); });
    for (std::string line; std::getline(std::cin, line);)
      if (line.find_first_not_of(" \r\t") != std::string::npos) Receive(line);
    {
      const std::lock_guard lock(mutex_);
      at_end_ = true;
    }
    arrived_.notify_one();
    worker.join();
  }

 private:
  // One line, whole: both threads write.
  void Send(const Json& message) {
    const std::string line = message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    const std::lock_guard lock(output_);
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
  }

  void SendError(const Json& id, const RpcError& error) {
    Json body = {{"code", error.code}, {"message", error.message}};
    if (!error.data.is_null()) body["data"] = error.data;
    Send({{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(body)}});
  }

  // Whatever the line is: the server goes on.
  void Receive(const std::string& line) {
    try {
      Take(line);
    } catch (const std::exception& error) {
      SendError(nullptr, {kInternalError, error.what()});
    }
  }

  void Take(const std::string& line) {
    if (LevelsOf(line) > kMostLevels)
      return SendError(nullptr,
                       {kInvalidRequest, fmt::format("The line has more than {} levels.", kMostLevels)});
    const Json message = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (message.is_discarded()) return SendError(nullptr, {kParseError, "The line is not JSON."});
    const bool is_call = message.is_object() && message.contains("method") && message["method"].is_string();
    const bool has_id = is_call && message.contains("id");
    if (!is_call || !message.contains("jsonrpc") || message["jsonrpc"] != "2.0" ||
        (has_id && !IsId(message["id"]))) {
      if (message.is_object() && !message.contains("method") && message.contains("id") &&
          (message.contains("result") || message.contains("error")))
        return;  // an answer, to nothing that was asked
      return SendError(nullptr, {kInvalidRequest, "The line is no request of JSON-RPC 2.0."});
    }
    const std::string method = message["method"];
    if (!has_id) {
      if (method == "notifications/cancelled") Cancel(message);
      return;
    }
    // At once, whatever is being worked on.
    if (method == "ping")
      return Send({{"jsonrpc", "2.0"}, {"id", message["id"]}, {"result", Json::object()}});
    {
      const std::lock_guard lock(mutex_);
      pending_.insert(message["id"].dump());
      queue_.push_back(message);
    }
    arrived_.notify_one();
  }

  void Cancel(const Json& message) {
    if (!message.contains("params") || !message["params"].is_object() ||
        !message["params"].contains("requestId") || !IsId(message["params"]["requestId"]))
      return;
    const std::string id = message["params"]["requestId"].dump();
    const std::lock_guard lock(mutex_);
    if (pending_.contains(id)) cancelled_.insert(id);
    if (id == current_) CancelWork();
  }

  bool WasCancelled(const std::string& id) {
    const std::lock_guard lock(mutex_);
    return cancelled_.contains(id);
  }

  void Work() {
    for (;;) {
      Json request;
      {
        std::unique_lock lock(mutex_);
        arrived_.wait(lock, [this] { return at_end_ || !queue_.empty(); });
        if (queue_.empty()) return;
        request = std::move(queue_.front());
        queue_.pop_front();
        current_ = request["id"].dump();
      }
      Answer(request);
      const std::lock_guard lock(mutex_);
      pending_.erase(current_);
      cancelled_.erase(current_);
      current_.clear();
      AllowWork();
    }
  }

  void Answer(const Json& request) {
    const Json& id = request["id"];
    try {
      if (WasCancelled(id.dump())) return;
      Json result = Result(request);
      if (WasCancelled(id.dump())) return;
      Send({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
    } catch (const Cancelled&) {  // who cancels waits for no answer
    } catch (const RpcError& error) {
      SendError(id, error);
    } catch (const std::exception& error) {
      SendError(id, {kInternalError, error.what()});
    }
  }

  // Whether the request names its version itself. Throws RpcError for one that is not spoken.
  static bool IsStateless(const Json& params) {
    if (!params.contains("_meta") || !params["_meta"].is_object() || !params["_meta"].contains(kVersionKey))
      return false;
    const Json& version = params["_meta"][kVersionKey];
    if (version == kStateless) return true;
    throw RpcError{kUnsupportedVersion,
                   "Unsupported protocol version",
                   {{"supported", Json::array({kStateless})}, {"requested", version}}};
  }

  Json Result(const Json& request) {
    const std::string method = request["method"];
    const Json params = MemberOf(request, "params", Json::object());
    if (!params.is_object()) throw RpcError{kInvalidParams, "The parameters are no object."};
    const bool is_stateless = IsStateless(params);
    Json result;
    if (method == "initialize")
      result = Initialize(params);
    else if (method == "server/discover")
      result = {{"supportedVersions", Json::array({kStateless})},
                {"capabilities", {{"tools", Json::object()}}},
                {"instructions", kInstructions}};
    else if (method == "tools/list")
      result = {{"tools", McpTools::List()}};
    else if (method == "tools/call")
      result = CallTool(params);
    else
      throw RpcError{kNoMethod, "There is no method " + method};
    if (is_stateless || method == "server/discover") {
      result["resultType"] = "complete";
      if (method != "tools/call") {
        result["ttlMs"] = 3'600'000;  // what is offered does not change while the program runs
        result["cacheScope"] = "public";
      }
      result["_meta"]["io.modelcontextprotocol/serverInfo"] = ServerInfo();
    }
    return result;
  }

  static Json ServerInfo() { return {{"name", "dladvisor"}, {"version", DLADVISOR_VERSION}}; }

  static Json Initialize(const Json& params) {
    if (!params.contains("protocolVersion") || !params["protocolVersion"].is_string())
      throw RpcError{kInvalidParams, "initialize needs a protocolVersion"};
    const std::string asked = params["protocolVersion"];
    // The newest one that is not after it: who speaks a version mostly speaks those before it.
    const auto* const agreed =
        std::ranges::find_if(kWithHandshake, [&](const char* version) { return version <= asked; });
    return {{"protocolVersion", agreed == std::end(kWithHandshake) ? kWithHandshake[0] : *agreed},
            {"capabilities", {{"tools", Json::object()}}},
            {"serverInfo", ServerInfo()},
            {"instructions", kInstructions}};
  }

  Json CallTool(const Json& params) {
    if (!params.contains("name") || !params["name"].is_string())
      throw RpcError{kInvalidParams, "tools/call needs the name of a tool"};
    const std::string name = params["name"];
    if (!McpTools::Has(name)) throw RpcError{kInvalidParams, "Unknown tool: " + name};
    const Json meta = MemberOf(params, "_meta", Json::object());
    const Json token = meta.is_object() ? MemberOf(meta, "progressToken", Json()) : Json();
    int parts = 0;
    const auto progress = [&](const std::string& part) {
      ThrowIfCancelled();
      if (!IsId(token)) return;
      Send({{"jsonrpc", "2.0"},
            {"method", "notifications/progress"},
            {"params", {{"progressToken", token}, {"progress", ++parts}, {"message", part}}}});
    };
    std::string text;
    bool is_error = false;
    try {
      text = tools_.Call(name, MemberOf(params, "arguments", Json::object()), progress);
    } catch (const std::exception& error) {  // what the caller can put right is the tool's answer
      text = std::string(error.what()).substr(0, kMostAnswerBytes);
      is_error = true;
    }
    return {{"content", Json::array({Json{{"type", "text"}, {"text", std::move(text)}}})},
            {"isError", is_error}};
  }

  McpTools tools_;  // of the worker alone
  std::mutex mutex_, output_;
  std::condition_variable arrived_;
  std::deque<Json> queue_;
  std::set<std::string> pending_, cancelled_;  // ids
  std::string current_;                        // id of what is being worked on, or ""
  bool at_end_ = false;
};

}  // namespace

void AddMcpCommand(CLI::App& app, const CommonOptions& common) {
  CLI::App* command = app.add_subcommand(
      "mcp", "Serve agents: tools of the Model Context Protocol on standard input and output");
  command->footer("An agent starts it: give it the command `dladvisor mcp`. See docs/agents.md.");
  command->callback([&common] { McpServer(common).Run(); });
}

}  // namespace dladvisor
