// SPDX-License-Identifier: MIT
#include "fixtures.hpp"

#include <paddock/mcp/content.hpp>

#include <string>
#include <utility>

namespace paddock::conformance {
namespace {

using namespace mcp;

constexpr std::string_view name_form =
    R"({"type":"object","properties":{"name":{"type":"string"}},"required":["name"]})";
constexpr std::string_view color_form =
    R"({"type":"object","properties":{"color":{"type":"string"}},"required":["color"]})";
constexpr std::string_view ok_form =
    R"({"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]})";

/// Builds input_needed::requests.
class questions {
public:
  questions() { out_.begin_object(); }
  questions& form(std::string_view name, std::string_view message, std::string_view schema) {
    begin(name, "elicitation/create").member("message", message);
    out_.key("requestedSchema").raw(schema).end_object().end_object();
    return *this;
  }
  questions& model(std::string_view name, std::string_view prompt, std::int64_t tokens_max) {
    begin(name, "sampling/createMessage").key("messages").begin_array().begin_object();
    out_.member("role", "user").key("content").begin_object();
    out_.member("type", "text").member("text", prompt).end_object().end_object().end_array();
    out_.key("maxTokens").integer(tokens_max).end_object().end_object();
    return *this;
  }
  questions& roots(std::string_view name) {
    begin(name, "roots/list").end_object().end_object();
    return *this;
  }
  tool_result ask(std::string state = {}) {
    return {.needed = input_needed{out_.end_object().take(), std::move(state)}};
  }

private:
  json_writer& begin(std::string_view name, std::string_view method) {
    return out_.key(name).begin_object().member("method", method).key("params").begin_object();
  }
  json_writer out_;
};

tool_result say(std::string_view text) {
  return {.content = content_blocks().text(text).take()};
}

tool_result ask_name(call& c) {
  const auto name = c.answer("user_name")["content"]["name"].string();
  if (!name) return questions().form("user_name", "What is your name?", name_form).ask();
  return say("Hello, " + std::string(*name) + "!");
}

tool_result ask_model(call& c) {
  const auto text = c.answer("capital_question")["content"]["text"].string();
  if (!text)
    return questions().model("capital_question", "What is the capital of France?", 100).ask();
  return say(*text);
}

tool_result ask_roots(call& c) {
  const json_view roots = c.answer("client_roots")["roots"];
  if (!roots.is(json_kind::array)) return questions().roots("client_roots").ask();
  return say("The roots are " + roots.text());
}

tool_result ask_with_state(call& c) {
  if (c.state() != "asked" || !c.answer("confirm").exists())
    return questions().form("confirm", "Please confirm", ok_form).ask("asked");
  return say("state-ok");
}

tool_result ask_everything(call& c) {
  const bool complete = c.answer("user_name").exists() && c.answer("greeting").exists() &&
                        c.answer("client_roots").exists();
  if (c.state() == "asked" && complete) return say("All answers have come.");
  return questions()
      .form("user_name", "What is your name?", name_form)
      .model("greeting", "Generate a greeting", 50)
      .roots("client_roots")
      .ask("asked");
}

tool_result ask_twice(call& c) {
  if (c.state() == "step 2" && c.answer("step2").exists()) return say("Both answers have come.");
  if (c.state() == "step 1" && c.answer("step1").exists())
    return questions()
        .form("step2", "Step 2: What is your favorite color?", color_form)
        .ask("step 2");
  return questions().form("step1", "Step 1: What is your name?", name_form).ask("step 1");
}

tool_result ask_what_is_declared(call& c) {
  const json_view declared = c.client_capabilities();
  questions q;
  if (declared["sampling"].exists()) q.model("greeting", "Generate a greeting", 50);
  if (declared["elicitation"].exists()) q.form("user_name", "What is your name?", name_form);
  return q.ask();
}

} // namespace

std::vector<tool> asking_tools() {
  const auto make = [](std::string name, std::string description, handler h) {
    return tool{.name = std::move(name),
                .description = std::move(description),
                .annotations = {.read_only = true, .destructive = false},
                .handler = std::move(h)};
  };
  const std::string prefix = "test_input_required_result_";
  return {
      make("test_missing_capability", "Asks the model.", ask_model),
      make("test_streaming_elicitation", "Asks for a name.", ask_name),
      make(prefix + "elicitation", "Asks for a name.", ask_name),
      make(prefix + "sampling", "Asks the model.", ask_model),
      make(prefix + "list_roots", "Asks for the roots.", ask_roots),
      make(prefix + "request_state", "Remembers that it asked.", ask_with_state),
      make(prefix + "tampered_state", "Remembers that it asked.", ask_with_state),
      make(prefix + "multiple_inputs", "Asks user, model and client at once.", ask_everything),
      make(prefix + "multi_round", "Asks twice.", ask_twice),
      make(prefix + "capabilities", "Asks whom it can.", ask_what_is_declared),
  };
}

} // namespace paddock::conformance
