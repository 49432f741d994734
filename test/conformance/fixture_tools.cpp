// SPDX-License-Identifier: MIT
#include "fixtures.hpp"

#include <paddock/mcp/content.hpp>

#include <utility>

namespace paddock::conformance {
namespace {

using namespace mcp;

constexpr unsigned char image_bytes[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
    0x44, 0x52, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00,
    0x00, 0x90, 0x77, 0x53, 0xde, 0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x78,
    0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0x00, 0x00, 0x03, 0x01, 0x01, 0x00, 0xc9, 0xfe, 0x92,
    0xef, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
constexpr unsigned char sound_bytes[] = {
    0x52, 0x49, 0x46, 0x46, 0x24, 0x00, 0x00, 0x00, 0x57, 0x41, 0x56, 0x45, 0x66, 0x6d, 0x74,
    0x20, 0x10, 0x00, 0x00, 0x00, 0x01, 0x00, 0x01, 0x00, 0x40, 0x1f, 0x00, 0x00, 0x40, 0x1f,
    0x00, 0x00, 0x01, 0x00, 0x08, 0x00, 0x64, 0x61, 0x74, 0x61, 0x00, 0x00, 0x00, 0x00};

std::string_view as_text(const unsigned char* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

constexpr std::string_view schema_2020_12 =
    R"({"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",)"
    R"("$defs":{"address":{"$anchor":"addressDef","type":"object",)"
    R"("properties":{"street":{"type":"string"},"city":{"type":"string"}}}},)"
    R"("properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},)"
    R"("contactMethod":{"type":"string","enum":["phone","email"]},)"
    R"("phone":{"type":"string"},"email":{"type":"string"}},)"
    R"("allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],)"
    R"("if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},)"
    R"("then":{"required":["phone"]},"else":{"required":["email"]},)"
    R"("additionalProperties":false})";

/// A tool without parameters that always answers the same.
tool constant(std::string name, std::string description, tool_result result) {
  return {.name = std::move(name),
          .description = std::move(description),
          .annotations = {.read_only = true, .destructive = false, .idempotent = true},
          .handler = [r = std::move(result)](call&) { return r; }};
}

tool_result blocks(content_blocks& b) {
  return {.content = b.take()};
}

tool_result report_progress(call& c) {
  for (const double done : {0, 50, 100})
    c.progress(done, "");
  return blocks(content_blocks().text("The progress was reported."));
}

tool_result write_log(call& c) {
  for (const char* text :
       {"Tool execution started", "Tool processing data", "Tool execution completed"})
    c.log(log_level::info, text);
  return blocks(content_blocks().text("The log was written."));
}

} // namespace

std::string_view tiny_image() {
  return as_text(image_bytes, sizeof image_bytes);
}
std::string_view tiny_sound() {
  return as_text(sound_bytes, sizeof sound_bytes);
}

std::vector<tool> fixture_tools() {
  return {
      constant("test_simple_text", "Answers a text.",
               blocks(content_blocks().text("This is a simple text response for testing."))),
      constant("test_image_content", "Answers an image.",
               blocks(content_blocks().image(tiny_image(), "image/png"))),
      constant("test_audio_content", "Answers a sound.",
               blocks(content_blocks().audio(tiny_sound(), "audio/wav"))),
      constant("test_embedded_resource", "Answers a resource.",
               blocks(content_blocks().text_resource("test://embedded-resource", "text/plain",
                                                     "This is an embedded resource content."))),
      constant("test_multiple_content_types", "Answers three blocks.",
               blocks(content_blocks()
                          .text("Multiple content types test:")
                          .image(tiny_image(), "image/png")
                          .text_resource("test://mixed-content-resource", "application/json",
                                         R"({"test":"data","value":123})"))),
      constant("test_error_handling", "Fails.",
               {.error = "other",
                .content = content_blocks()
                               .text("This tool intentionally returns an error for testing")
                               .take()}),
      {.name = "test_tool_with_progress",
       .description = "Reports progress.",
       .handler = report_progress},
      {.name = "test_tool_with_logging", .description = "Writes a log.", .handler = write_log},
      {.name = "test_logging_tool", .description = "Writes a log.", .handler = write_log},
      {.name = "test_parameter_header",
       .description = "Has a parameter that is repeated in a header.",
       .parameters = {{.name = "region", .description = "Any text.", .header = "Region"}},
       .handler = [](call& c) { return tool_result{.json = c.arguments().text()}; }},
      {.name = "json_schema_2020_12_tool",
       .description = "Has a schema with much of JSON Schema 2020-12 in it.",
       .input_schema = std::string(schema_2020_12),
       .handler = [](call&) { return blocks(content_blocks().text("Taken.")); }},
  };
}

} // namespace paddock::conformance
