// SPDX-License-Identifier: MIT
#pragma once

/// The media type of a file: by its first bytes, then by its name.
///
/// Sniffing follows the tables of the WHATWG MIME Sniffing Standard for images, audio, video,
/// fonts, archives, PDF and HTML, and adds the formats of everyday development. A signature at
/// offset 0 decides; a short one also needs the structure that follows it, so that "BMW is a car"
/// is text. Without a signature, well-formed text is text. Names are looked up in one table
/// (detail/table.hpp) in which `.ts` is TypeScript.
///
/// Not guaranteed: that the rest of the file is well-formed, or that it is only of this type (files
/// can be several things at once). A type is advice about how to show bytes, never permission to
/// trust them.
///
/// Thread-safety: pure functions over constant tables. All returned types have static storage.

#include <paddock/mime/detail/signatures.hpp>
#include <paddock/mime/detail/table.hpp>
#include <paddock/mime/detail/text.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace paddock::mime {

/// How much of the beginning of a file `sniff` wants; fewer bytes are fine when the file is
/// shorter.
inline constexpr std::size_t sniff_bytes = 4096;

/// How a type was found, weakest first.
enum class evidence : std::uint8_t {
  none,      ///< nothing was recognised
  weak,      ///< a tolerated deviation: a PDF header after other bytes, text in an unknown 8-bit
             ///< encoding
  text,      ///< well-formed text
  signature, ///< a signature at its defined place
};

struct sniffed {
  std::string_view type = "application/octet-stream";
  mime::evidence evidence = mime::evidence::none;
  text_encoding encoding = text_encoding::none; ///< of text; none for everything else

  friend bool operator==(const sniffed&, const sniffed&) = default;
};

/// The type of a file that begins with `prefix`. A code point cut off by the end of the prefix is
/// not an error. An empty prefix is text/plain, with no evidence.
[[nodiscard]] inline sniffed sniff(std::string_view prefix) noexcept;

/// The type that a file name promises: a whole name ("Makefile"), else the part after the last dot,
/// without regard to ASCII case. A path may be given. Nothing for a name without extension, and for
/// unknown ones.
[[nodiscard]] constexpr std::optional<std::string_view>
from_extension(std::string_view file_name) noexcept;

struct classification {
  std::string_view type;                        ///< the answer
  sniffed by_content;                           ///< what the bytes say
  std::optional<std::string_view> by_extension; ///< what the name says
  bool mismatch = false; ///< the bytes contradict the name; `type` follows the bytes
};

/// Combines both. Text takes the textual type of the extension: text in foo.ts is
/// text/x-typescript. A container takes the more special type of the extension: a zip called
/// foo.docx. Otherwise the content decides. When it is nothing known, the extension does, unless it
/// promises a format whose signature should have been there. An empty file has the type of its
/// extension, else text/plain; whoever needs a real image looks at by_content.
[[nodiscard]] inline classification classify(std::string_view file_name,
                                             std::string_view prefix) noexcept;

/// Whether `type` is text that people edit: text/*, JSON, XML and the like.
[[nodiscard]] constexpr bool is_textual(std::string_view type) noexcept {
  constexpr std::string_view others[] = {
      "application/graphql",
      "application/json",
      "application/mbox",
      "application/sql",
      "application/toml",
      "application/vnd.apple.mpegurl",
      "application/x-ndjson",
      "application/x-subrip",
      "application/xml",
      "application/xml-dtd",
      "application/yaml",
      "audio/x-mpegurl",
      "image/x-xbitmap",
      "image/x-xpixmap",
      "message/rfc822",
      "model/mtl",
      "model/obj",
      "model/step",
  };
  return type.starts_with("text/") || type.ends_with("+json") || type.ends_with("+xml") ||
         type.ends_with("+yaml") || detail::is_one_of(type, others);
}

/// The image types that models accept as input.
[[nodiscard]] constexpr bool is_image_for_model(std::string_view type) noexcept {
  return type == "image/png" || type == "image/jpeg" || type == "image/gif" || type == "image/webp";
}

// --- inline --------------------------------------------------------------------------------------

inline sniffed sniff(std::string_view prefix) noexcept {
  if (prefix.empty()) return {"text/plain", evidence::none, text_encoding::utf8};
  const text_encoding encoding = detail::encoding_of(prefix);
  if (const auto type = detail::match_signature(prefix, encoding); !type.empty())
    return {type, evidence::signature, text_encoding::none};
  if (const auto type = detail::loose_pdf(prefix, encoding); !type.empty())
    return {type, evidence::weak, text_encoding::none};
  if (encoding == text_encoding::none) return {};
  return {detail::text_type(prefix, encoding),
          encoding == text_encoding::unknown_8bit ? evidence::weak : evidence::text, encoding};
}

constexpr std::optional<std::string_view> from_extension(std::string_view file_name) noexcept {
  const std::string_view name = file_name.substr(file_name.rfind('/') + 1);
  if (const auto type = detail::find_type(detail::whole_names, name); !type.empty()) return type;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return std::nullopt;
  const auto type = detail::find_type(detail::extensions, name.substr(dot + 1));
  return type.empty() ? std::nullopt : std::optional(type);
}

inline classification classify(std::string_view file_name, std::string_view prefix) noexcept {
  classification found{
      .type = {}, .by_content = sniff(prefix), .by_extension = from_extension(file_name)};
  found.type = found.by_content.type;
  if (!found.by_extension) return found;
  const std::string_view promised = *found.by_extension;
  const bool agrees = [&] {
    if (prefix.empty() || promised == found.type || promised == "application/octet-stream")
      return true;
    if (found.by_content.encoding != text_encoding::none)
      return is_textual(promised) || detail::has_text_form(promised);
    if (found.by_content.evidence == evidence::none)
      return detail::has_text_form(promised) ||
             (!is_textual(promised) && !detail::has_signature(promised));
    return detail::carries(found.type, promised);
  }();
  for (const detail::shared_name& row : detail::shared_names)
    if (row.content == found.type && row.promised == promised) {
      found.type = row.type;
      return found;
    }
  const bool keeps_content = promised == "application/octet-stream" && !prefix.empty();
  if (agrees && !keeps_content) found.type = promised;
  found.mismatch = !agrees;
  return found;
}

} // namespace paddock::mime
