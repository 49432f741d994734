// SPDX-License-Identifier: MIT
#include "fixtures.hpp"

#include <paddock/mcp/content.hpp>

#include <string>
#include <utility>

namespace paddock::conformance {
namespace {

using namespace mcp;

constexpr std::int64_t keep_ms = 60'000;

// --- prompts -------------------------------------------------------------------------------------

constexpr std::string_view prompt_list =
    R"({"prompts":[)"
    R"({"name":"test_simple_prompt","description":"A prompt without arguments."},)"
    R"({"name":"test_prompt_with_arguments","description":"A prompt that repeats its arguments.",)"
    R"("arguments":[{"name":"arg1","description":"The first one.","required":true},)"
    R"({"name":"arg2","description":"The second one.","required":true}]},)"
    R"({"name":"test_prompt_with_embedded_resource","description":"A prompt with a resource.",)"
    R"("arguments":[{"name":"resourceUri","description":"Its URI.","required":true}]},)"
    R"({"name":"test_prompt_with_image","description":"A prompt with an image."},)"
    R"({"name":"test_input_required_result_prompt","description":"A prompt that asks first."}]})";

constexpr std::string_view context_question =
    R"({"user_context":{"method":"elicitation/create","params":{)"
    R"("message":"What context should the prompt use?","requestedSchema":{"type":"object",)"
    R"("properties":{"context":{"type":"string"}},"required":["context"]}}}})";

method_result invalid(std::string_view message) {
  return method_result::failure(rpc_error::invalid_params, message);
}

/// The messages of a prompt: each block by itself, said by the user.
method_result messages(content_blocks& blocks) {
  json_document document;
  json_writer out;
  out.begin_object().key("messages").begin_array();
  if (const auto parsed = document.parse(blocks.take()))
    parsed->for_each_element([&](json_view block) {
      out.begin_object().member("role", "user").key("content").raw(block.text()).end_object();
    });
  out.end_array().end_object();
  return {.json = out.take()};
}

method_result get_prompt(call& c) {
  const std::string_view name = c.arguments()["name"].string().value_or("");
  const json_view given = c.arguments()["arguments"];
  if (name == "test_simple_prompt")
    return messages(content_blocks().text("This is a simple prompt for testing."));
  if (name == "test_prompt_with_arguments") {
    const auto first = given["arg1"].string();
    const auto second = given["arg2"].string();
    if (!first || !second) return invalid("Give the strings arg1 and arg2");
    return messages(content_blocks().text("Prompt with arguments: arg1='" + std::string(*first) +
                                          "', arg2='" + std::string(*second) + "'"));
  }
  if (name == "test_prompt_with_embedded_resource") {
    const auto uri = given["resourceUri"].string();
    if (!uri) return invalid("Give the string resourceUri");
    return messages(content_blocks()
                        .text_resource(*uri, "text/plain", "Embedded resource content for testing.")
                        .text("Please process the embedded resource above."));
  }
  if (name == "test_prompt_with_image")
    return messages(
        content_blocks().image(tiny_image(), "image/png").text("Please analyze the image above."));
  if (name == "test_input_required_result_prompt") {
    const auto context = c.answer("user_context")["content"]["context"].string();
    if (!context) return {.needed = input_needed{std::string(context_question), {}}};
    return messages(content_blocks().text("Use this context: " + std::string(*context)));
  }
  return invalid("Unknown prompt");
}

// --- resources -----------------------------------------------------------------------------------

constexpr std::string_view resource_list =
    R"({"resources":[)"
    R"({"uri":"test://static-text","name":"text","description":"A text.","mimeType":"text/plain"},)"
    R"({"uri":"test://static-binary","name":"image","description":"A PNG.","mimeType":"image/png"},)"
    R"({"uri":"test://watched-resource","name":"watched","description":"A text that never changes.",)"
    R"("mimeType":"text/plain"}]})";

constexpr std::string_view template_list =
    R"({"resourceTemplates":[{"uriTemplate":"test://template/{id}/data","name":"data",)"
    R"("description":"What is known of an id.","mimeType":"application/json"}]})";

constexpr std::string_view template_begin = "test://template/";
constexpr std::string_view template_end = "/data";

/// The resource in the block, as the only content.
method_result contents(content_blocks& block) {
  json_document document;
  json_writer out;
  out.begin_object().key("contents").begin_array();
  if (const auto parsed = document.parse(block.take()))
    parsed->for_each_element([&](json_view b) { out.raw(b["resource"].text()); });
  out.end_array().end_object();
  return {.json = out.take()};
}

std::string data_of(std::string_view id) {
  json_writer out;
  out.begin_object().member("id", id).key("templateTest").boolean(true);
  out.member("data", "Data for ID: " + std::string(id)).end_object();
  return out.take();
}

method_result read_resource(call& c) {
  const std::string_view uri = c.arguments()["uri"].string().value_or("");
  if (uri == "test://static-text")
    return contents(content_blocks().text_resource(
        uri, "text/plain", "This is the content of the static text resource."));
  if (uri == "test://static-binary")
    return contents(content_blocks().binary_resource(uri, "image/png", tiny_image()));
  if (uri == "test://watched-resource")
    return contents(content_blocks().text_resource(uri, "text/plain", "Nothing happens here."));
  if (uri.starts_with(template_begin) && uri.ends_with(template_end) &&
      uri.size() > template_begin.size() + template_end.size())
    return contents(content_blocks().text_resource(
        uri, "application/json",
        data_of(uri.substr(template_begin.size(),
                           uri.size() - template_begin.size() - template_end.size()))));
  json_writer data;
  data.begin_object().member("uri", uri).end_object();
  return method_result::failure(rpc_error::invalid_params, "Resource not found", data.str());
}

/// Its resources never change, so there is nothing to remember.
method_result subscribe(call& c) {
  if (!c.arguments()["uri"].string()) return invalid("Give the string uri");
  return {.json = "{}"};
}

// --- completion ----------------------------------------------------------------------------------

method_result complete(call& c) {
  const auto begun = c.arguments()["argument"]["value"].string();
  if (!begun) return invalid("Give the string argument.value");
  json_writer out;
  out.begin_object().key("completion").begin_object().key("values").begin_array();
  std::int64_t total = 0;
  for (const std::string_view word : {"paris", "park", "party"})
    if (word.starts_with(*begun)) {
      out.string(word);
      ++total;
    }
  out.end_array().key("total").integer(total).key("hasMore").boolean(false);
  out.end_object().end_object();
  return {.json = out.take()};
}

extension_method list(std::string name, std::string_view result) {
  return {.name = std::move(name), .time_to_live_ms = keep_ms, .handler = [result](call&) {
            return method_result{.json = std::string(result)};
          }};
}

} // namespace

extension fixture_methods() {
  return {.capabilities = {"prompts", "resources", "completions"},
          .methods = {
              list("prompts/list", prompt_list),
              {.name = "prompts/get", .handler = get_prompt},
              list("resources/list", resource_list),
              list("resources/templates/list", template_list),
              {.name = "resources/read", .time_to_live_ms = keep_ms, .handler = read_resource},
              {.name = "resources/subscribe", .handler = subscribe, .era = method_era::legacy},
              {.name = "resources/unsubscribe", .handler = subscribe, .era = method_era::legacy},
              {.name = "completion/complete", .handler = complete},
          }};
}

} // namespace paddock::conformance
