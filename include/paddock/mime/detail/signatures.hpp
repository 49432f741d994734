// SPDX-License-Identifier: MIT
#pragma once

/// Signatures of binary formats: one table, indexed by the first byte, with a check of structure
/// where the bytes of a signature alone are too few or where a container holds several types. Part
/// of mime.hpp.
///
/// Sources: WHATWG MIME Sniffing Standard (image, audio or video, font and archive patterns) and
/// the specifications of the formats themselves. Types are the IANA registered ones where these
/// exist.

#include <paddock/mime/detail/containers.hpp>
#include <paddock/mime/detail/text.hpp>
#include <paddock/mime/detail/zip.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace paddock::mime::detail {

/// Whether bytes that are well-formed text may still be this format. Short signatures of printable
/// bytes may not.
enum class if_text : std::uint8_t { accept, reject };

struct signature {
  std::string_view magic;
  std::string_view type; ///< empty when only `refine` can tell
  std::string_view (*refine)(std::string_view) =
      nullptr; ///< the type of a prefix with this magic, or empty
  mime::detail::if_text text = mime::detail::if_text::accept;
};

// Rows are ordered by the first byte of the magic; within one byte the first match wins.
// clang-format off
inline constexpr signature signatures[] = {
  {{"\0\0\0\x0C" "JXL \r\n\x87\n", 12},           "image/jxl"},
  {{"\0\0\0\x0C" "jP  \r\n\x87\n", 12},           "image/jp2", jpeg_2000},
  {{"\0\0\x01\0", 4},                             "image/vnd.microsoft.icon", icon},
  {{"\0\0\x02\0", 4},                             "image/x-win-bitmap", icon},
  {{"\0\x01\0\0", 4},                             "font/ttf", true_type},
  {{"\0asm", 4},                                  "application/wasm"},
  {{"\0\0\x27\x0A\0\0\0\0", 8},                   "application/x-esri-shape"},
  {{"\0", 1},                                     "", iso_media},
  {{"\x04\0\0\0", 4},                             "application/x-asar", electron_archive},
  {{"\x04\x22\x4D\x18", 4},                       "application/x-lz4"},
  {{"\x06\x0E\x2B\x34\x02\x05\x01\x01", 8},       "application/mxf"},
  {{"\x06\x06\xED\xF5\xD8\x1D\x46\xE5", 8},       "application/x-indesign"},
  {{"\x08", 1},                                   "application/x-onnx", onnx},
  {{"\x0B\x77", 2},                               "audio/ac3", ac_3},
  {{"\x1A\x45\xDF\xA3", 4},                       "", matroska},
  {{"\x1F\x8B\x08", 3},                           "application/gzip"},
  {{"\x1F\x9D", 2},                               "application/x-compress"},
  {"!BDN",                                        "application/vnd.ms-outlook-pst", nullptr, if_text::reject},
  {"!<arch>\n",                                   "application/x-archive", unix_archive},
  {"#!AMR",                                       "audio/AMR", amr},
  {"$FL2@(#)",                                    "application/x-spss-sav", nullptr, if_text::reject},
  {"$FL3@(#)",                                    "application/x-spss-sav", nullptr, if_text::reject},
  {"%!PS-Adobe-",                                 "application/postscript"},
  {"%PDF-",                                       "application/pdf"},
  {"%!PS",                                        "application/postscript", post_script},
  {{"(\xB5\x2F\xFD", 4},                          "application/zstd"},
  {{".RMF\0", 5},                                 "application/vnd.rn-realmedia"},
  {".snd",                                        "audio/basic", nullptr, if_text::reject},
  {{"0&\xB2\x75\x8E\x66\xCF\x11", 8},             "video/x-ms-asf"},
  {{"7z\xBC\xAF\x27\x1C", 6},                     "application/x-7z-compressed"},
  {{"8BPS\0\x01", 6},                             "image/vnd.adobe.photoshop"},
  {{"8BPS\0\x02", 6},                             "image/vnd.adobe.photoshop"},
  {"AC10",                                        "image/vnd.dwg", auto_cad},
  {"AT&TFORM",                                    "image/vnd.djvu", nullptr, if_text::reject},
  {"ARROW1",                                      "application/vnd.apache.arrow.file", nullptr, if_text::reject},
  {{"BPG\xFB", 4},                                "image/bpg"},
  {"BLENDER",                                     "application/x-blender", blender, if_text::reject},
  {"BM",                                          "image/bmp", bitmap},
  {"BZh",                                         "application/x-bzip2", bzip2},
  {{"BC\xC0\xDE", 4},                             "application/x-llvm-bitcode"},
  {"Creative Voice File\x1A",                     "audio/x-voc"},
  {"Cr24",                                        "application/x-chrome-extension", chrome_extension},
  {"CWS",                                         "application/x-shockwave-flash", flash, if_text::reject},
  {"DSD ",                                        "audio/x-dsf", nullptr, if_text::reject},
  {"DDS ",                                        "image/vnd.ms-dds", nullptr, if_text::reject},
  {"DRACO",                                       "application/x-draco", nullptr, if_text::reject},
  {"Extended Module: ",                           "audio/x-xm", nullptr, if_text::reject},
  {"FUJIFILMCCD-RAW ",                            "image/x-fuji-raf", nullptr, if_text::reject},
  {"FWS",                                         "application/x-shockwave-flash", flash, if_text::reject},
  {{"FLV\x01", 4},                                "video/x-flv"},
  {"FORM",                                        "", iff},
  {"GIF87a",                                      "image/gif"},
  {"GIF89a",                                      "image/gif"},
  {"GGUF",                                        "application/x-gguf", nullptr, if_text::reject},
  {"G",                                           "video/mp2t", transport_stream},
  {{"IIRO\x08\0", 6},                             "image/x-olympus-orf"},
  {{"IIU\0", 4},                                  "image/x-panasonic-rw2"},
  {{"II\xBC\x01", 4},                             "image/vnd.ms-photo"},
  {"IMPM",                                        "audio/x-it", nullptr, if_text::reject},
  {"ID3",                                         "", id3_tag},
  {{"II*\0", 4},                                  "image/tiff"},
  {{"II+\0", 4},                                  "image/tiff"},
  {{"JM\x01\0PK\x03\x04", 8},                     "application/x-jmod"},
  {{"Kaydara FBX Binary  \0", 21},                "application/x-fbx"},
  {{"L\0\0\0\x01\x14\x02\0", 8},                  "application/x-ms-shortcut"},
  {{"LZIP\x01", 5},                               "application/lzip"},
  {{"MM\0*", 4},                                  "image/tiff"},
  {{"MM\0+", 4},                                  "image/tiff"},
  {{"MSCF\0\0\0\0", 8},                           "application/vnd.ms-cab-compressed"},
  {{"MThd\0\0\0\x06", 8},                         "audio/midi"},
  {"MZ",                                          "application/vnd.microsoft.portable-executable", portable_executable},
  {"MAC ",                                        "audio/x-ape", nullptr, if_text::reject},
  {{"MP+\x07", 4},                                "audio/x-musepack"},
  {"MPCK",                                        "audio/x-musepack", nullptr, if_text::reject},
  {"NES\x1A",                                     "application/x-nes-rom"},
  {{"OTTO\0", 5},                                 "font/otf"},
  {{"Obj\x01", 4},                                "application/vnd.apache.avro"},
  {{"OggS\0", 5},                                 "application/ogg", ogg},
  {{"PACK\0\0\0\x02", 8},                         "application/x-git-pack"},
  {"PAR1",                                        "application/vnd.apache.parquet", nullptr, if_text::reject},
  {{"PK\x03\x04", 4},                             "application/zip", zip},
  {{"PK\x05\x06", 4},                             "application/zip"},
  {"RIFF",                                        "", riff},
  {{"Rar!\x1A\x07\0", 7},                         "application/vnd.rar"},
  {{"Rar!\x1A\x07\x01\0", 8},                     "application/vnd.rar"},
  {"SIT!",                                        "application/x-stuffit", nullptr, if_text::reject},
  {"StuffIt (c)1997",                             "application/x-stuffit", nullptr, if_text::reject},
  {{"SQLite format 3\0", 16},                     "application/vnd.sqlite3"},
  {"ZWS",                                         "application/x-shockwave-flash", flash, if_text::reject},
  {{"`\xEA", 2},                                  "application/x-arj", arj},
  {"bplist0",                                     "application/x-bplist", nullptr, if_text::reject},
  {{"book\0\0\0\0mark\0\0\0\0", 16},              "application/x-apple-alias"},
  {{"caff\0\x01", 6},                             "audio/x-caf"},
  {{"dex\n0", 5},                                 "application/vnd.android.dex", nullptr, if_text::reject},
  {{"fLaC\0\0\0\x22", 8},                         "audio/flac"},
  {{"fLaC\x80\0\0\x22", 8},                       "audio/flac"},
  {{"glTF\x02\0\0\0", 8},                         "model/gltf-binary"},
  {"gimp xcf ",                                   "image/x-xcf", nullptr, if_text::reject},
  {"icns",                                        "image/x-icns", nullptr, if_text::reject},
  {"qoif",                                        "image/qoi", nullptr, if_text::reject},
  {"regf",                                        "application/x-ms-registry-hive", nullptr, if_text::reject},
  {{"ttcf\0", 5},                                 "font/collection"},
  {{"v/1\x01", 4},                                "image/x-exr"},
  {"wvpk",                                        "audio/x-wavpack", nullptr, if_text::reject},
  {{"wOF2\0\x01\0\0", 8},                         "font/woff2"},
  {"wOF2OTTO",                                    "font/woff2"},
  {{"wOF2ttcf", 8},                               "font/woff2"},
  {{"wOFF\0\x01\0\0", 8},                         "font/woff"},
  {"wOFFOTTO",                                    "font/woff"},
  {"{\\rtf",                                      "application/rtf"},
  {{"~\x10\x04", 3},                              "application/x-mie", mie},
  {{"~\x18\x04", 3},                              "application/x-mie", mie},
  {{"\x7F" "ELF", 4},                             "application/x-elf"},
  {{"\x80", 1},                                   "application/x-python-pickle", pickle},
  {{"\x89" "HDF\r\n\x1A\n", 8},                   "application/x-hdf5"},
  {{"\x89PNG\r\n\x1A\n", 8},                      "image/png"},
  {{"\x93NUMPY", 6},                              "application/x-npy"},
  {{"\x95\x04\x12\xDE", 4},                       "application/x-gettext-translation"},
  {{"\xA1\xB2\xC3\xD4", 4},                       "application/vnd.tcpdump.pcap"},
  {{"\xC5\xD0\xD3\xC6", 4},                       "application/postscript"},
  {{"\xCA\xFE\xBA\xBE", 4},                       "", java_class_or_fat_binary},
  {{"\xCE\xFA\xED\xFE", 4},                       "application/x-mach-binary"},
  {{"\xCF\xFA\xED\xFE", 4},                       "application/x-mach-binary"},
  {{"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", 8},       "application/x-ole-storage"},
  {{"\xD4\xC3\xB2\xA1", 4},                       "application/vnd.tcpdump.pcap"},
  {{"\xDE\x12\x04\x95", 4},                       "application/x-gettext-translation"},
  {{"\xED\xAB\xEE\xDB", 4},                       "application/x-rpm"},
  {{"\xFD" "7zXZ\0", 6},                          "application/x-xz"},
  {{"\xFE\xED\xFA\xCE", 4},                       "application/x-mach-binary"},
  {{"\xFE\xED\xFA\xCF", 4},                       "application/x-mach-binary"},
  {{"\xFF\xFE\xFF\x0E", 4},                       "application/vnd.sketchup.skp"},
  {{"\xFF\x4F\xFF\x51", 4},                       "image/x-jp2-codestream"},
  {{"\xFF\x0A", 2},                               "image/jxl", nullptr, if_text::reject},
  {{"\xFF\xD8\xFF\xF7", 4},                       "image/jls"},
  {{"\xFF\xD8\xFF", 3},                           "image/jpeg"},
  {{"\xFF\xFF\0\0\x07\0\0\0\x04\0\0\0", 12},      "application/x-jmp-data"},
  {{"\xFF", 1},                                   "", mpeg_audio_frames},
};

/// Signatures at a later offset. Text is left to text.hpp.
struct placed_signature {
  std::size_t at = 0;
  std::string_view magic;
  std::string_view type;
  std::string_view (*refine)(std::string_view) = nullptr;
};
inline constexpr placed_signature placed_signatures[] = {
  {2,   "-lh",     "application/x-lzh-compressed", lzh},
  {2,   "-lz",     "application/x-lzh-compressed", lzh},
  {7,   "**ACE**", "application/x-ace-compressed"},
  {8,   "{\"",     "application/x-safetensors", safetensors},
  {36,  "acsp",    "application/vnd.iccprofile"},
  {44,  "SCRM",    "audio/x-s3m"},
  {128, "DICM",    "application/dicom"}, // behind a preamble that may hold anything
  {4,   "G",       "video/mp2t", transport_stream_of_discs},
};

/// Types that only a `refine` function gives, of formats that cannot do without their signature.
inline constexpr std::string_view refined_types[] = {
  "application/epub+zip", "audio/aiff",  "audio/mp4",    "audio/ogg",       "audio/wav",
  "font/collection",      "image/avif",  "image/heic",   "image/heif",      "image/webp",
  "video/matroska",       "video/mp4",   "video/ogg",    "video/webm",      "video/x-msvideo",
  "application/java-vm",  "application/dicom", "audio/aac",  "video/quicktime",
};

/// A content of the first type is not at odds with a name that promises the second: the container is the same.
struct carrier {
  std::string_view content;
  std::string_view promised;
};
inline constexpr carrier carriers[] = {
  {"application/gzip",          "application/x-blender"},
  {"application/gzip",          "application/x-rds"},
  {"application/java-archive",  "application/vnd.android.package-archive"},
  {"application/ogg",           "audio/ogg"},
  {"application/ogg",           "video/ogg"},
  {"application/pdf",           "application/vnd.adobe.illustrator"},
  {"application/postscript",    "application/vnd.adobe.illustrator"},
  {"application/vnd.sqlite3",   "application/geopackage+sqlite3"},
  {"application/x-archive",     "application/x-object"},
  {"application/x-elf",         "application/x-object"},
  {"application/x-hdf5",        "application/x-netcdf"},
  {"application/x-mach-binary", "application/x-object"},
  {"application/x-ole-storage", "application/msword"},
  {"application/x-ole-storage", "application/vnd.ms-excel"},
  {"application/x-ole-storage", "application/vnd.ms-powerpoint"},
  {"application/x-ole-storage", "application/vnd.visio"},
  {"application/x-ole-storage", "application/x-msi"},
  {"application/zip",           "application/epub+zip"},
  {"application/zip",           "application/java-archive"},
  {"application/zip",           "application/vnd.android.package-archive"},
  {"application/zip",           "application/vnd.apple.keynote"},
  {"application/zip",           "application/vnd.apple.numbers"},
  {"application/zip",           "application/vnd.apple.pages"},
  {"application/zip",           "application/vnd.comicbook+zip"},
  {"application/zip",           "application/vnd.google-earth.kmz"},
  {"application/zip",           "application/vnd.ms-excel.addin.macroEnabled.12"},
  {"application/zip",           "application/vnd.ms-excel.sheet.binary.macroEnabled.12"},
  {"application/zip",           "application/vnd.ms-excel.sheet.macroEnabled.12"},
  {"application/zip",           "application/vnd.ms-excel.template.macroEnabled.12"},
  {"application/zip",           "application/vnd.ms-powerpoint.addin.macroEnabled.12"},
  {"application/zip",           "application/vnd.ms-powerpoint.presentation.macroEnabled.12"},
  {"application/zip",           "application/vnd.ms-powerpoint.slideshow.macroEnabled.12"},
  {"application/zip",           "application/vnd.ms-powerpoint.template.macroEnabled.12"},
  {"application/zip",           "application/vnd.ms-word.document.macroEnabled.12"},
  {"application/zip",           "application/vnd.ms-word.template.macroEnabled.12"},
  {"application/zip",           "application/vnd.oasis.opendocument.graphics"},
  {"application/zip",           "application/vnd.oasis.opendocument.graphics-template"},
  {"application/zip",           "application/vnd.oasis.opendocument.presentation"},
  {"application/zip",           "application/vnd.oasis.opendocument.presentation-template"},
  {"application/zip",           "application/vnd.oasis.opendocument.spreadsheet"},
  {"application/zip",           "application/vnd.oasis.opendocument.spreadsheet-template"},
  {"application/zip",           "application/vnd.oasis.opendocument.text"},
  {"application/zip",           "application/vnd.oasis.opendocument.text-master"},
  {"application/zip",           "application/vnd.oasis.opendocument.text-template"},
  {"application/zip",           "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
  {"application/zip",           "application/vnd.openxmlformats-officedocument.presentationml.slideshow"},
  {"application/zip",           "application/vnd.openxmlformats-officedocument.presentationml.template"},
  {"application/zip",           "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
  {"application/zip",           "application/vnd.openxmlformats-officedocument.spreadsheetml.template"},
  {"application/zip",           "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
  {"application/zip",           "application/vnd.openxmlformats-officedocument.wordprocessingml.template"},
  {"application/zip",           "application/vnd.visio"},
  {"application/zip",           "application/x-npz"},
  {"application/zip",           "application/x-xpinstall"},
  {"application/zip",           "model/3mf"},
  {"application/zstd",          "application/x-blender"},
  {"audio/mpeg",                "audio/aac"},
  {"audio/mpeg",                "audio/flac"},
  {"audio/ogg",                 "application/ogg"},
  {"audio/ogg",                 "video/ogg"},
  {"font/otf",                  "font/ttf"},
  {"font/ttf",                  "font/otf"},
  {"image/heic",                "image/heif"},
  {"image/heic-sequence",       "image/heic"},
  {"image/heif",                "image/heic"},
  {"image/heif-sequence",       "image/heif"},
  {"image/png",                 "image/apng"},
  {"image/tiff",                "image/x-adobe-dng"},
  {"image/tiff",                "image/x-canon-cr2"},
  {"image/tiff",                "image/x-nikon-nef"},
  {"image/tiff",                "image/x-sony-arw"},
  {"image/vnd.microsoft.icon",  "image/x-win-bitmap"},
  {"video/matroska",            "audio/matroska"},
  {"video/mp4",                 "audio/mp4"},
  {"video/mp4",                 "video/quicktime"},
  {"video/quicktime",           "video/mp4"},
  {"video/webm",                "audio/webm"},
  {"video/webm",                "video/matroska"},
  {"video/x-ms-asf",            "audio/x-ms-wma"},
  {"video/x-ms-asf",            "video/x-ms-wmv"},
};

/// A name that two formats have, and content that tells: what it then is, and no contradiction.
struct shared_name {
  std::string_view content;
  std::string_view promised;
  std::string_view type;
};
inline constexpr shared_name shared_names[] = {
  {"application/x-bplist", "text/xml",          "application/x-bplist"},         // .plist
  {"application/zip",      "application/x-pem-file", "application/vnd.apple.keynote"}, // .key
  {"video/mp2t",           "text/x-typescript", "video/mp2t"},                   // .ts, .mts
};
// clang-format on

/// Where the rows of a first byte begin; those of byte b end where those of b + 1 begin.
inline constexpr auto signature_buckets = [] {
  static_assert(std::size(signatures) < 256);
  std::array<std::uint8_t, 257> begins{};
  std::size_t row = 0;
  for (std::size_t byte = 0; byte < begins.size(); ++byte) {
    while (row < std::size(signatures) &&
           static_cast<unsigned char>(signatures[row].magic.front()) < byte)
      ++row;
    begins[byte] = static_cast<std::uint8_t>(row);
  }
  return begins;
}();

static_assert([] {
  // Each row is in the bucket of its first byte, so the rows are ordered.
  for (std::size_t i = 0; i < std::size(signatures); ++i) {
    const auto first = static_cast<unsigned char>(signatures[i].magic.front());
    if (i < signature_buckets[first] || i >= signature_buckets[first + 1U]) return false;
  }
  return true;
}());

/// The type by signature, or empty. Precondition: `prefix` is not empty.
[[nodiscard]] inline std::string_view match_signature(std::string_view prefix,
                                                      text_encoding encoding) noexcept {
  const auto first = static_cast<unsigned char>(prefix.front());
  for (std::size_t i = signature_buckets[first]; i < signature_buckets[first + 1U]; ++i) {
    const signature& row = signatures[i];
    if (!prefix.starts_with(row.magic)) continue;
    if (row.text == if_text::reject && encoding != text_encoding::none) continue;
    const std::string_view type = row.refine != nullptr ? row.refine(prefix) : row.type;
    if (!type.empty()) return type;
  }
  constexpr std::size_t tar_magic_at = 257;   // POSIX ustar header
  for (const placed_signature& row : placed_signatures) {
    if (encoding != text_encoding::none && row.magic != "DICM") continue;
    if (!has_at(prefix, row.at, row.magic)) continue;
    const std::string_view type = row.refine != nullptr ? row.refine(prefix) : row.type;
    if (!type.empty()) return type;
  }
  if (encoding == text_encoding::none)
    if (const auto type = old_quicktime(prefix); !type.empty()) return type;
  if (prefix.size() > tar_magic_at && prefix.substr(tar_magic_at).starts_with("ustar"))
    return "application/x-tar";
  return {};
}

/// A PDF whose header is not at offset 0: after a byte order mark and white space, or
/// within the first 1024 bytes of something that is not text (a text may talk about "%PDF-").
[[nodiscard]] inline std::string_view loose_pdf(std::string_view prefix,
                                                text_encoding encoding) noexcept {
  constexpr std::string_view header = "%PDF-";
  constexpr std::size_t header_within = 1024;
  std::string_view text = prefix;
  if (text.starts_with(utf8_bom)) text.remove_prefix(utf8_bom.size());
  const bool found = skip_white_space(text).starts_with(header) ||
                     (encoding == text_encoding::none &&
                      prefix.substr(0, header_within).find(header) != std::string_view::npos);
  return found ? "application/pdf" : "";
}

/// Whether files of this type always begin with a signature that is known here.
[[nodiscard]] constexpr bool has_signature(std::string_view type) noexcept {
  for (const signature& row : signatures)
    if (row.type == type) return true;
  for (const placed_signature& row : placed_signatures)
    if (row.type == type) return true;
  for (const carrier& row : carriers)
    if (row.promised == type) return true;
  return is_one_of(type, refined_types);
}

/// Whether files of this type are text or binary, as their writer chose.
[[nodiscard]] constexpr bool has_text_form(std::string_view type) noexcept {
  constexpr std::string_view types[] = {
      "application/pgp-signature",
      "application/x-pem-file",
      "image/x-portable-anymap",
      "image/x-portable-bitmap",
      "image/x-portable-graymap",
      "image/x-portable-pixmap",
      "model/stl",
      "model/x-ply",
  };
  return is_one_of(type, types);
}

/// Whether a file with this content may have a name that promises the other type.
[[nodiscard]] constexpr bool carries(std::string_view content, std::string_view promised) noexcept {
  for (const carrier& row : carriers)
    if (row.content == content && row.promised == promised) return true;
  return false;
}

} // namespace paddock::mime::detail
