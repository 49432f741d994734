// SPDX-License-Identifier: MIT
#pragma once

/// Content blocks of every kind that a tool's result or a prompt's message can have: text, images,
/// sounds, embedded resources and links to resources.
///
///     return {.content = content_blocks().text("As asked:").image(png, "image/png").take()};
///
/// Binary data goes in as bytes and is sent in Base64. What is not UTF-8 in texts becomes U+FFFD.
/// Whether bytes fit their type, and whether a URI can be read, is the caller's business. Clients
/// of 2024-11-05 know no sounds, those before 2025-06-18 no links; both are sent nevertheless.
///
/// Thread-safety: belongs to one thread at a time.

#include <paddock/mcp/json.hpp>

#include <string>
#include <string_view>

namespace paddock::mcp {

/// A resource that the client may read by itself.
struct resource_link {
  std::string_view uri{};
  std::string_view name{};
  std::string_view description{}; ///< may be empty
  std::string_view mime_type{};   ///< may be empty
};

/// Collects blocks in their order.
class content_blocks {
public:
  content_blocks() { out_.begin_array(); }

  /// For the model, and usually shown to people too.
  content_blocks& text(std::string_view utf8);
  /// `bytes` are the picture's file, `mime_type` such as "image/png".
  content_blocks& image(std::string_view bytes, std::string_view mime_type);
  /// `bytes` are the sound's file, `mime_type` such as "audio/wav".
  content_blocks& audio(std::string_view bytes, std::string_view mime_type);
  /// A resource with its content; `mime_type` may be empty.
  content_blocks& text_resource(std::string_view uri, std::string_view mime_type,
                                std::string_view utf8);
  /// The same for content that is not text.
  content_blocks& binary_resource(std::string_view uri, std::string_view mime_type,
                                  std::string_view bytes);
  /// A resource without its content.
  content_blocks& link(const resource_link& to);

  /// The JSON array, for tool_result::content; then this object starts again.
  [[nodiscard]] std::string take();

private:
  json_writer out_;
};

} // namespace paddock::mcp
