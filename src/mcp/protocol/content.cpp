// SPDX-License-Identifier: MIT
#include "crypto/crypto.hpp"

#include <paddock/mcp/content.hpp>

namespace paddock::mcp {
namespace {

void write_media(json_writer& out, std::string_view type, std::string_view bytes,
                 std::string_view mime_type) {
  out.begin_object().member("type", type).member("data", base64(bytes));
  out.member("mimeType", mime_type).end_object();
}

void write_resource(json_writer& out, std::string_view uri, std::string_view mime_type,
                    std::string_view member, std::string_view content) {
  out.begin_object().member("type", "resource").key("resource").begin_object();
  out.member("uri", uri).member("mimeType", mime_type).member(member, content);
  out.end_object().end_object();
}

} // namespace

content_blocks& content_blocks::text(std::string_view utf8) {
  out_.begin_object().member("type", "text").member("text", utf8).end_object();
  return *this;
}

content_blocks& content_blocks::image(std::string_view bytes, std::string_view mime_type) {
  write_media(out_, "image", bytes, mime_type);
  return *this;
}

content_blocks& content_blocks::audio(std::string_view bytes, std::string_view mime_type) {
  write_media(out_, "audio", bytes, mime_type);
  return *this;
}

content_blocks& content_blocks::text_resource(std::string_view uri, std::string_view mime_type,
                                              std::string_view utf8) {
  write_resource(out_, uri, mime_type, "text", utf8);
  return *this;
}

content_blocks& content_blocks::binary_resource(std::string_view uri, std::string_view mime_type,
                                                std::string_view bytes) {
  write_resource(out_, uri, mime_type, "blob", base64(bytes));
  return *this;
}

content_blocks& content_blocks::link(const resource_link& to) {
  out_.begin_object().member("type", "resource_link").member("uri", to.uri);
  out_.member("name", to.name);
  if (!to.description.empty()) out_.member("description", to.description);
  if (!to.mime_type.empty()) out_.member("mimeType", to.mime_type);
  out_.end_object();
  return *this;
}

std::string content_blocks::take() {
  std::string array = out_.end_array().take();
  out_.begin_array();
  return array;
}

} // namespace paddock::mcp
