// SPDX-License-Identifier: MIT
#pragma once

/// What a zip archive is: documents of many programs are archives of a certain content. Part of
/// mime.hpp.

#include <paddock/mime/detail/containers.hpp>
#include <paddock/mime/detail/inflate.hpp>

#include <cstddef>
#include <string_view>

namespace paddock::mime::detail {

/// One local file header of a zip archive (APPNOTE 4.3.7).
struct zip_entry {
  std::string_view name; ///< may be cut off by the end of the prefix
  std::string_view data; ///< as far as it is there; empty when its size stands only after it
  std::size_t end = 0;   ///< where the next header may begin
  bool deflated = false;
};

[[nodiscard]] constexpr zip_entry zip_entry_at(std::string_view prefix, std::size_t at) noexcept {
  constexpr std::size_t header_size = 30;
  const std::size_t name_at = at + header_size;
  if (name_at > prefix.size()) return {.name = {}, .data = {}, .end = prefix.size()};
  const std::string_view header = prefix.substr(at);
  const std::size_t name_size = little_endian_16(header, 26);
  const std::size_t data_at = name_at + name_size + little_endian_16(header, 28);
  const std::size_t data_size = little_endian_32(header, 18);
  const std::string_view data =
      data_at < prefix.size() ? prefix.substr(data_at, data_size) : std::string_view();
  return {.name = prefix.substr(name_at, name_size),
          .data = data,
          .end = data_at + data_size,
          .deflated = little_endian_16(header, 8) == 8};
}

/// The content of an entry called "mimetype", which OpenDocument and EPUB put first and
/// uncompressed.
[[nodiscard]] constexpr std::string_view zip_declared_type(std::string_view data) noexcept {
  constexpr std::string_view known[] = {
      "application/epub+zip",
      "application/vnd.oasis.opendocument.graphics",
      "application/vnd.oasis.opendocument.graphics-template",
      "application/vnd.oasis.opendocument.presentation",
      "application/vnd.oasis.opendocument.presentation-template",
      "application/vnd.oasis.opendocument.spreadsheet",
      "application/vnd.oasis.opendocument.spreadsheet-template",
      "application/vnd.oasis.opendocument.text",
      "application/vnd.oasis.opendocument.text-master",
      "application/vnd.oasis.opendocument.text-template",
  };
  for (const std::string_view type : known)
    if (data == type) return type;
  return "application/zip";
}

/// The kind of an Office document by the list of its parts' types, of which the main part says it.
[[nodiscard]] constexpr std::string_view office_type(std::string_view list) noexcept {
  struct row {
    std::string_view part;
    std::string_view type;
  };
  constexpr row rows[] = {
      {"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
       "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
      {"application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
       "application/vnd.openxmlformats-officedocument.wordprocessingml.template"},
      {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
       "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
      {"application/vnd.openxmlformats-officedocument.spreadsheetml.template.main+xml",
       "application/vnd.openxmlformats-officedocument.spreadsheetml.template"},
      {"application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml",
       "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
      {"application/vnd.openxmlformats-officedocument.presentationml.slideshow.main+xml",
       "application/vnd.openxmlformats-officedocument.presentationml.slideshow"},
      {"application/vnd.openxmlformats-officedocument.presentationml.template.main+xml",
       "application/vnd.openxmlformats-officedocument.presentationml.template"},
      {"application/vnd.ms-word.document.macroEnabled.main+xml",
       "application/vnd.ms-word.document.macroEnabled.12"},
      {"application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
       "application/vnd.ms-word.template.macroEnabled.12"},
      {"application/vnd.ms-excel.addin.macroEnabled.main+xml",
       "application/vnd.ms-excel.addin.macroEnabled.12"},
      {"application/vnd.ms-excel.sheet.binary.macroEnabled.main",
       "application/vnd.ms-excel.sheet.binary.macroEnabled.12"},
      {"application/vnd.ms-excel.sheet.macroEnabled.main+xml",
       "application/vnd.ms-excel.sheet.macroEnabled.12"},
      {"application/vnd.ms-excel.template.macroEnabled.main+xml",
       "application/vnd.ms-excel.template.macroEnabled.12"},
      {"application/vnd.ms-powerpoint.addin.macroEnabled.main+xml",
       "application/vnd.ms-powerpoint.addin.macroEnabled.12"},
      {"application/vnd.ms-powerpoint.presentation.macroEnabled.main+xml",
       "application/vnd.ms-powerpoint.presentation.macroEnabled.12"},
      {"application/vnd.ms-powerpoint.slideshow.macroEnabled.main+xml",
       "application/vnd.ms-powerpoint.slideshow.macroEnabled.12"},
      {"application/vnd.ms-powerpoint.template.macroEnabled.main+xml",
       "application/vnd.ms-powerpoint.template.macroEnabled.12"},
      {"application/vnd.ms-visio.", "application/vnd.visio"},
  };
  for (const row& known : rows)
    if (list.find(known.part) != std::string_view::npos) return known.type;
  return {};
}

[[nodiscard]] constexpr std::string_view office_type(const zip_entry& list) noexcept {
  return list.deflated ? office_type(inflater(list.data).unpack()) : office_type(list.data);
}

/// A zip archive is what the names of its first entries say.
[[nodiscard]] constexpr std::string_view zip(std::string_view prefix) noexcept {
  struct row {
    std::string_view name; // its beginning
    std::string_view type;
  };
  constexpr row rows[] = {
      {"META-INF/MANIFEST.MF", "application/java-archive"},
      {"AndroidManifest.xml", "application/vnd.android.package-archive"},
      {"classes.dex", "application/vnd.android.package-archive"},
      {"word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
      {"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
      {"ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
      {"visio/", "application/vnd.visio"},
      {"3D/", "model/3mf"},
      // Parts that every document of the kind has: some writers put the list of types last.
      {"word/document.xml",
       "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
      {"word/_rels/document",
       "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
      {"xl/workbook.xml", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
      {"xl/_rels/workbook", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
      {"xl/worksheets/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
      {"ppt/presentation.xml",
       "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
      {"ppt/_rels/presentation",
       "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
      {"ppt/slides/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
  };
  constexpr std::string_view magic("PK\x03\x04", 4);
  bool office = false; // those directory names mean something only beside [Content_Types].xml
  for (std::size_t at = 0; at < prefix.size();) {
    const zip_entry entry = zip_entry_at(prefix, at);
    if (entry.name == "mimetype" && !entry.deflated) return zip_declared_type(entry.data);
    if (entry.name == "[Content_Types].xml")
      if (const auto type = office_type(entry); !type.empty()) return type;
    if (entry.name == "[Content_Types].xml" || entry.name == "_rels/.rels" ||
        entry.name.starts_with("docProps/") || entry.name.starts_with("customXml/"))
      office = true;
    for (const row& known : rows)
      if (entry.name.starts_with(known.name) && (office || !known.name.ends_with('/')))
        return known.type;
    // Written as a stream, an entry has its size only behind it: look for the next header instead.
    at = prefix.find(magic, entry.end);
  }
  return "application/zip";
}

} // namespace paddock::mime::detail
