// SPDX-License-Identifier: MIT
// The client as a program, for tests that bring their own servers:
//   conformance_client [--kind automatic|streamable|sse] [--call TOOL ARGUMENTS]... URL
// Connects, calls each tool in turn, and prints one line of JSON for the server and one for each
// answer. The conformance suite gives the URL only and names its scenario in the environment.
#include <paddock/mcp/client.hpp>
#include <paddock/mcp/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace paddock::mcp;

struct wanted {
  std::string scenario;
  http_endpoint to{.url = {}, .headers = {}, .addresses = address_policy::any};
  std::vector<std::pair<std::string, std::string>> calls;
};

std::vector<std::pair<std::string, std::string>> calls_of_scenario(std::string_view scenario) {
  if (scenario == "tools_call") return {{"add_numbers", R"({"a":5,"b":3})"}};
  if (scenario == "sse-retry") return {{"test_reconnection", "{}"}};
  return {};
}

/// {"toolCalls": [{"name", "arguments"}]}
void take_context(std::string_view context, wanted& out) {
  json_document document;
  if (const auto parsed = document.parse(context))
    (*parsed)["toolCalls"].for_each_element([&](json_view each) {
      out.calls.emplace_back(each["name"].string().value_or(""), each["arguments"].text());
    });
}

/// What some scenarios want depends on what the server offers.
void add_calls_of_tools(std::string_view scenario, const client& c, wanted& w) {
  for (const remote_tool& tool : *c.tools()) {
    if (scenario == "http-invalid-tool-headers" || scenario == "sep-2322-client-request-state")
      w.calls.emplace_back(tool.name, "{}");
    if (scenario == "json-schema-2020-12-preservation" && tool.name != "json_schema_echo")
      w.calls.emplace_back("json_schema_echo", R"({"schema":)" + tool.input_schema + "}");
  }
}

wanted read_arguments(int argc, char** argv) {
  wanted out;
  if (const char* scenario = std::getenv("MCP_CONFORMANCE_SCENARIO")) {
    out.scenario = scenario;
    out.calls = calls_of_scenario(scenario);
  }
  if (const char* context = std::getenv("MCP_CONFORMANCE_CONTEXT")) take_context(context, out);
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--kind" && i + 1 < argc) {
      const std::string_view kind = argv[++i];
      out.to.kind = kind == "sse"          ? http_kind::sse
                    : kind == "streamable" ? http_kind::streamable
                                           : http_kind::automatic;
    } else if (word == "--call" && i + 2 < argc) {
      out.calls.emplace_back(argv[i + 1], argv[i + 2]);
      i += 2;
    } else {
      out.to.url = word;
    }
  }
  return out;
}

/// Says yes to whatever a server asks.
std::optional<std::string> accept_all(std::string_view requests) {
  json_document document;
  json_writer out;
  out.begin_object();
  if (const auto parsed = document.parse(requests))
    parsed->for_each_member([&](std::string_view name, json_view) {
      out.key(name).raw(R"({"action":"accept","content":{"confirmed":true}})");
    });
  return out.end_object().take();
}

void print_server(const client& c) {
  json_writer out;
  out.begin_object().member("name", c.server().name).member("revision", c.server().revision);
  out.key("tools").begin_array();
  for (const remote_tool& tool : *c.tools())
    out.string(tool.name);
  out.end_array().end_object();
  std::puts(out.str().c_str());
}

int run(wanted w) {
  auto connected = client::connect(
      w.to, {.on_log =
                 [](std::string_view line) {
                   std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
                 },
             .on_input = accept_all,
             .capabilities = R"({"elicitation":{}})"});
  if (!connected) {
    std::fprintf(stderr, "not connected: %s\n", explain(connected.error()).c_str());
    return 1;
  }
  print_server(*connected);
  add_calls_of_tools(w.scenario, *connected, w);
  for (const auto& [name, arguments] : w.calls) {
    int progress = 0;
    const auto reply = connected->call_tool(
        name, arguments, {.on_progress = [&](double, double, std::string_view) { ++progress; }});
    if (!reply) {
      std::fprintf(stderr, "%s failed: %s\n", name.c_str(), explain(reply.error()).c_str());
      return 1;
    }
    json_writer out;
    out.begin_object().key("progress").integer(progress).key("result").raw(reply->json);
    std::puts(out.end_object().str().c_str());
  }
  connected->close();
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  return run(read_arguments(argc, argv));
}
