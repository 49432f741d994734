// SPDX-License-Identifier: MIT
#pragma once

/// The structure behind signatures: what a container holds, and whether a short signature is meant.
/// Part of mime.hpp.
///
/// Each function takes a prefix that begins with its signature, of any length, and returns a type,
/// or an empty view when the structure is not there.

#include <paddock/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace paddock::mime::detail {

/// The byte at `at`, or 0 beyond the end.
[[nodiscard]] constexpr std::uint32_t byte_at(std::string_view bytes, std::size_t at) noexcept {
  return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0U;
}
[[nodiscard]] constexpr std::uint32_t little_endian_16(std::string_view bytes,
                                                       std::size_t at) noexcept {
  return byte_at(bytes, at) | byte_at(bytes, at + 1) << 8;
}
[[nodiscard]] constexpr std::uint32_t little_endian_32(std::string_view bytes,
                                                       std::size_t at) noexcept {
  return little_endian_16(bytes, at) | little_endian_16(bytes, at + 2) << 16;
}
[[nodiscard]] constexpr std::uint32_t big_endian_32(std::string_view bytes,
                                                    std::size_t at) noexcept {
  return byte_at(bytes, at) << 24 | byte_at(bytes, at + 1) << 16 | byte_at(bytes, at + 2) << 8 |
         byte_at(bytes, at + 3);
}
[[nodiscard]] constexpr bool has_at(std::string_view bytes, std::size_t at,
                                    std::string_view expected) noexcept {
  return at < bytes.size() && bytes.substr(at, expected.size()) == expected;
}

/// Whether `value` is an element of `values`.
template <class T, std::size_t N>
[[nodiscard]] constexpr bool is_one_of(const T& value, const T (&values)[N]) noexcept {
  for (const T& candidate : values)
    if (candidate == value) return true;
  return false;
}

/// ICO and CUR: reserved 0, type, then the number of images and their directory entries.
[[nodiscard]] constexpr std::string_view icon(std::string_view prefix) noexcept {
  if (prefix.size() < 6 || little_endian_16(prefix, 4) == 0) return {};
  return prefix[2] == '\1' ? "image/vnd.microsoft.icon" : "image/x-win-bitmap";
}

/// A TrueType font has at most a few dozen tables.
[[nodiscard]] constexpr std::string_view true_type(std::string_view prefix) noexcept {
  const bool plausible =
      byte_at(prefix, 4) == 0 && byte_at(prefix, 5) > 0 && byte_at(prefix, 5) < 128;
  return plausible ? "font/ttf" : "";
}

/// BMP: the reserved fields are 0 and one of the known header sizes follows.
[[nodiscard]] constexpr std::string_view bitmap(std::string_view prefix) noexcept {
  constexpr std::uint32_t header_sizes[] = {12, 16, 40, 52, 56, 64, 108, 124};
  const bool structured = prefix.size() >= 18 && little_endian_32(prefix, 6) == 0 &&
                          is_one_of(little_endian_32(prefix, 14), header_sizes);
  return structured ? "image/bmp" : "";
}

/// bzip2: the block size, then the digits of pi before a block or of its square root before the
/// end.
[[nodiscard]] constexpr std::string_view bzip2(std::string_view prefix) noexcept {
  constexpr std::string_view block = "1AY&SY";
  constexpr std::string_view end("\x17\x72\x45\x38\x50\x90", 6);
  if (prefix.size() < 10 || prefix[3] < '1' || prefix[3] > '9') return {};
  return has_at(prefix, 4, block) || has_at(prefix, 4, end) ? "application/x-bzip2" : "";
}

/// "#!AMR" or "#!AMR-WB" and a newline; anything else after "#!" is an interpreter.
[[nodiscard]] constexpr std::string_view amr(std::string_view prefix) noexcept {
  if (has_at(prefix, 5, "\n")) return "audio/AMR";
  return has_at(prefix, 5, "-WB\n") ? "audio/AMR-WB" : "";
}

/// "MZ" belongs to DOS; the offset of the "PE" header is at 0x3C.
[[nodiscard]] constexpr std::string_view portable_executable(std::string_view prefix) noexcept {
  const std::string_view pe("PE\0\0", 4);
  const bool found = has_at(prefix, little_endian_32(prefix, 0x3C), pe);
  return found ? "application/vnd.microsoft.portable-executable" : "";
}

/// Java's major version, 45 or more, stands where a universal Mach-O has its small number of
/// architectures.
[[nodiscard]] constexpr std::string_view
java_class_or_fat_binary(std::string_view prefix) noexcept {
  if (prefix.size() < 8) return {};
  return big_endian_32(prefix, 4) < 45 ? "application/x-mach-binary" : "application/java-vm";
}

[[nodiscard]] constexpr std::string_view unix_archive(std::string_view prefix) noexcept {
  return has_at(prefix, 8, "debian-binary") ? "application/vnd.debian.binary-package"
                                            : "application/x-archive";
}

[[nodiscard]] constexpr std::string_view riff(std::string_view prefix) noexcept {
  if (has_at(prefix, 8, "WEBPVP")) return "image/webp";
  if (has_at(prefix, 8, "WAVE")) return "audio/wav";
  if (has_at(prefix, 8, "QLCM")) return "audio/qcelp";
  return has_at(prefix, 8, "AVI ") ? "video/x-msvideo" : "";
}

[[nodiscard]] constexpr std::string_view iff(std::string_view prefix) noexcept {
  return has_at(prefix, 8, "AIFF") || has_at(prefix, 8, "AIFC") ? "audio/aiff" : "";
}

/// The first page holds the header of the first stream's codec.
[[nodiscard]] constexpr std::string_view ogg(std::string_view prefix) noexcept {
  constexpr std::size_t packet = 28;
  constexpr std::string_view audio[] = {"\x01vorbis", "OpusHead",
                                        "\x7F"
                                        "FLAC",
                                        "Speex   "};
  for (const std::string_view header : audio)
    if (has_at(prefix, packet, header)) return "audio/ogg";
  return has_at(prefix, packet, "\x80theora") ? "video/ogg" : "application/ogg";
}

/// EBML: the DocType element (42 82) within the header says which.
[[nodiscard]] constexpr std::string_view matroska(std::string_view prefix) noexcept {
  const std::string_view header = prefix.substr(0, 64);
  const std::size_t at = header.find("\x42\x82");
  if (at == std::string_view::npos) return {};
  if (has_at(prefix, at + 3, "webm")) return "video/webm";
  return has_at(prefix, at + 3, "matroska") ? "video/matroska" : "";
}

/// Length in bytes of the MPEG audio frame (layer II or III) whose header is at `at`; 0 when
/// there is none.
[[nodiscard]] constexpr std::size_t mpeg_frame_size(std::string_view bytes,
                                                    std::size_t at) noexcept {
  constexpr std::uint16_t kbit_1_layer_2[] = {32,  48,  56,  64,  80,  96,  112,
                                              128, 160, 192, 224, 256, 320, 384};
  constexpr std::uint16_t kbit_1_layer_3[] = {32,  40,  48,  56,  64,  80,  96,
                                              112, 128, 160, 192, 224, 256, 320};
  constexpr std::uint16_t kbit_2[] = {8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160};
  constexpr std::uint32_t hertz_1[] = {44100, 48000, 32000};
  const std::uint32_t header = big_endian_32(bytes, at);
  const std::uint32_t version = header >> 19 & 3; // 3: MPEG-1, 2: MPEG-2, 0: MPEG-2.5
  const std::uint32_t layer = header >> 17 & 3;   // 1: III, 2: II
  const std::uint32_t bit_rate = header >> 12 & 15;
  const std::uint32_t sample_rate = header >> 10 & 3;
  if (header >> 21 != 0x7FF || version == 1 || layer == 0 || layer == 3) return 0;
  if (bit_rate == 0 || bit_rate == 15 || sample_rate == 3) return 0;
  const auto* kbit = version != 3 ? kbit_2 : layer == 2 ? kbit_1_layer_2 : kbit_1_layer_3;
  const std::uint32_t hertz = hertz_1[sample_rate] >> (version == 3 ? 0 : version == 2 ? 1 : 2);
  const std::uint32_t samples_by_8 = version != 3 && layer == 1 ? 72 : 144;
  return samples_by_8 * 1000 * kbit[bit_rate - 1] / hertz + (header >> 9 & 1);
}

/// Length of the AAC frame (ADTS) at `at`; 0 when there is none.
[[nodiscard]] constexpr std::size_t adts_frame_size(std::string_view bytes,
                                                    std::size_t at) noexcept {
  if (byte_at(bytes, at) != 0xFF || (byte_at(bytes, at + 1) & 0xF6) != 0xF0) return 0;
  const std::uint32_t size = big_endian_32(bytes, at + 2) >> 5 & 0x1FFF;
  return size >= 7 ? size : 0;
}

/// A frame header is too common a pattern: a second frame has to follow the first.
[[nodiscard]] constexpr std::string_view mpeg_audio_frames(std::string_view prefix) noexcept {
  if (const std::size_t size = mpeg_frame_size(prefix, 0); size != 0)
    return mpeg_frame_size(prefix, size) != 0 ? "audio/mpeg" : "";
  if (const std::size_t size = adts_frame_size(prefix, 0); size != 0)
    return adts_frame_size(prefix, size) != 0 ? "audio/aac" : "";
  return {};
}

/// JPEG 2000 in its boxes: one picture, several, several with a layout, or frames of a film.
[[nodiscard]] constexpr std::string_view jpeg_2000(std::string_view prefix) noexcept {
  constexpr std::size_t brand = 20;
  if (has_at(prefix, brand, "jpx ")) return "image/jpx";
  if (has_at(prefix, brand, "jpm ")) return "image/jpm";
  if (has_at(prefix, brand, "mjp2")) return "video/mj2";
  return "image/jp2";
}

/// ISO base media (MP4, QuickTime, HEIF, AVIF): the brands of the `ftyp` box, the major one first.
[[nodiscard]] constexpr std::string_view iso_media(std::string_view prefix) noexcept {
  struct row {
    std::string_view brand; // its beginning
    std::string_view type;
  };
  constexpr row rows[] = {
      {"avif", "image/avif"},
      {"avis", "image/avif"},
      {"heic", "image/heic"},
      {"heix", "image/heic"},
      {"heim", "image/heic"},
      {"heis", "image/heic"},
      {"hevc", "image/heic-sequence"},
      {"hevx", "image/heic-sequence"},
      {"crx ", "image/x-canon-cr3"},
      {"qt  ", "video/quicktime"},
      {"M4A", "audio/mp4"},
      {"M4B", "audio/mp4"},
      {"M4P", "audio/mp4"},
      {"3gp", "video/3gpp"},
      {"3g2", "video/3gpp2"},
      {"mp4", "video/mp4"},
      {"M4V", "video/mp4"},
      {"avc1", "video/mp4"},
      {"iso", "video/mp4"},
      {"dash", "video/mp4"},
      {"MSNV", "video/mp4"},
      {"f4v", "video/mp4"},
      {"F4V", "video/mp4"},
      {"F4P", "video/mp4"},
      {"F4A", "audio/mp4"},
      {"F4B", "audio/mp4"},
  };
  if (!has_at(prefix, 4, "ftyp")) return {};
  const std::string_view box = prefix.substr(0, big_endian_32(prefix, 0));
  std::string_view generic; // an image of unnamed coding, unless another brand says more
  for (std::size_t at = 8; at + 4 <= box.size();
       at += at == 8 ? 8 : 4) { // the minor version is no brand
    const std::string_view brand = box.substr(at, 4);
    if (generic.empty() && brand == "mif1") generic = "image/heif";
    if (generic.empty() && brand == "msf1") generic = "image/heif-sequence";
    for (const row& known : rows)
      if (brand.starts_with(known.brand) && (generic.empty() || known.type.starts_with("image/")))
        return known.type;
  }
  return generic;
}

/// ID3v2: version 2 to 4, a revision that is not FF, a size of four 7-bit bytes. What follows the
/// tag decides, where it is still within the prefix.
[[nodiscard]] constexpr std::string_view id3_tag(std::string_view prefix) noexcept {
  if (prefix.size() < 10 || prefix[3] < 2 || prefix[3] > 4 || prefix[4] == '\xFF') return {};
  if ((big_endian_32(prefix, 6) & 0x8080'8080U) != 0) return {};
  const bool footer = (byte_at(prefix, 5) & 0x10U) != 0;
  const std::size_t behind =
      (footer ? 20U : 10U) + (byte_at(prefix, 6) << 21 | byte_at(prefix, 7) << 14 |
                              byte_at(prefix, 8) << 7 | byte_at(prefix, 9));
  if (has_at(prefix, behind, "fLaC")) return "audio/flac";
  return adts_frame_size(prefix, behind) > 0 ? "audio/aac" : "audio/mpeg";
}

/// A QuickTime file of before "ftyp": its first box is the film, or its data.
[[nodiscard]] constexpr std::string_view old_quicktime(std::string_view prefix) noexcept {
  const std::uint32_t size = big_endian_32(prefix, 0);
  const bool film =
      has_at(prefix, 4, "moov") && (has_at(prefix, 12, "mvhd") || has_at(prefix, 12, "cmov"));
  const bool data = has_at(prefix, 4, "mdat") && (size == 0 || size == 1 || size >= 8);
  const bool padded =
      (has_at(prefix, 4, "wide") || has_at(prefix, 4, "free") || has_at(prefix, 4, "skip")) &&
      size >= 8 &&
      (has_at(prefix, size + std::size_t{4}, "mdat") ||
       has_at(prefix, size + std::size_t{4}, "moov"));
  return film || data || padded ? "video/quicktime" : "";
}

/// "%!PS", then the end of the line or a version.
[[nodiscard]] constexpr std::string_view post_script(std::string_view prefix) noexcept {
  constexpr std::string_view next = "\n\r- ";
  return prefix.size() == 4 || next.find(prefix[4]) != std::string_view::npos
             ? "application/postscript"
             : "";
}

/// Flash: the version, then the size of what is unpacked.
[[nodiscard]] constexpr std::string_view flash(std::string_view prefix) noexcept {
  const bool plausible =
      prefix.size() >= 8 && prefix[3] > 0 && prefix[3] < 64 && little_endian_32(prefix, 4) > 8;
  return plausible ? "application/x-shockwave-flash" : "";
}

/// Blender: the size of its pointers, its byte order, its version.
[[nodiscard]] constexpr std::string_view blender(std::string_view prefix) noexcept {
  const bool plausible = (has_at(prefix, 7, "-") || has_at(prefix, 7, "_")) &&
                         (has_at(prefix, 8, "v") || has_at(prefix, 8, "V"));
  return plausible ? "application/x-blender" : "";
}

[[nodiscard]] constexpr std::string_view chrome_extension(std::string_view prefix) noexcept {
  const auto version = little_endian_32(prefix, 4);
  return version == 2 || version == 3 ? "application/x-chrome-extension" : "";
}

/// An archive of Electron: sizes, then its list of files as JSON.
[[nodiscard]] constexpr std::string_view electron_archive(std::string_view prefix) noexcept {
  return has_at(prefix, 16, "{\"files\"") ? "application/x-asar" : "";
}

/// ONNX: the version of its representation, then who made it, as protocol buffers have it.
[[nodiscard]] constexpr std::string_view onnx(std::string_view prefix) noexcept {
  const std::uint32_t size = byte_at(prefix, 3);
  const bool plausible = byte_at(prefix, 1) > 0 && byte_at(prefix, 1) < 32 &&
                         byte_at(prefix, 2) == 0x12 && size < 128 && prefix.size() > 4 + size;
  for (std::size_t at = 4; plausible && at < 4 + size; ++at)
    if (byte_at(prefix, at) < 0x20 || byte_at(prefix, at) > 0x7E) return {};
  const std::uint32_t next = byte_at(prefix, 4 + size); // its version, its domain, the graph
  return plausible && (next == 0x1A || next == 0x22 || next == 0x3A) ? "application/x-onnx" : "";
}

/// The tensors' list as JSON behind its size.
[[nodiscard]] constexpr std::string_view safetensors(std::string_view prefix) noexcept {
  return little_endian_32(prefix, 0) > 2 && little_endian_32(prefix, 4) == 0
             ? "application/x-safetensors"
             : "";
}

/// Python's pickle from protocol 2 on: what it begins with is a frame, or makes an object.
[[nodiscard]] constexpr std::string_view pickle(std::string_view prefix) noexcept {
  constexpr std::string_view makers = "}])(cXUKMJGNq\x88\x89\x8A\x8C";
  const std::uint32_t version = byte_at(prefix, 1);
  const bool plausible = prefix.size() > 3 && version >= 2 && version <= 5 &&
                         (prefix[2] == '\x95' || makers.find(prefix[2]) != std::string_view::npos);
  return plausible ? "application/x-python-pickle" : "";
}

/// Dolby Digital: a sampling rate that there is, and a version of the stream.
[[nodiscard]] constexpr std::string_view ac_3(std::string_view prefix) noexcept {
  const std::uint32_t rates = byte_at(prefix, 4), version = byte_at(prefix, 5) >> 3;
  if (prefix.size() < 8 || version > 16 || version < 4) return {};
  if (version > 10) return "audio/eac3";
  return rates >> 6 < 3 && (rates & 63) < 38 ? "audio/ac3" : "";
}

/// Packets of 188 bytes, of which each begins with a G; on discs with four bytes before each.
[[nodiscard]] constexpr std::string_view packets(std::string_view prefix, std::size_t at,
                                                 std::size_t size) noexcept {
  if (prefix.size() < at + 3 * size + 1) return {};
  for (std::size_t packet = at; packet < prefix.size(); packet += size)
    if (prefix[packet] != 'G') return {};
  return "video/mp2t";
}
[[nodiscard]] constexpr std::string_view transport_stream(std::string_view prefix) noexcept {
  return packets(prefix.substr(0, 1024), 0, 188);
}
[[nodiscard]] constexpr std::string_view
transport_stream_of_discs(std::string_view prefix) noexcept {
  return packets(prefix.substr(0, 1024), 4, 192);
}

/// ARJ: the size of the header, which is not large, and that of its first part.
[[nodiscard]] constexpr std::string_view arj(std::string_view prefix) noexcept {
  const std::uint32_t size = little_endian_16(prefix, 2), first = byte_at(prefix, 4);
  return size >= 30 && size <= 2600 && first >= 30 && first <= size ? "application/x-arj" : "";
}

[[nodiscard]] constexpr std::string_view mie(std::string_view prefix) noexcept {
  return has_at(prefix, 4, "0MIE") || has_at(prefix, 5, "0MIE") ? "application/x-mie" : "";
}

/// LHA: "-lh5-" and the like.
[[nodiscard]] constexpr std::string_view lzh(std::string_view prefix) noexcept {
  return has_at(prefix, 6, "-") ? "application/x-lzh-compressed" : "";
}

/// AutoCAD: "AC10", two digits, a zero.
[[nodiscard]] constexpr std::string_view auto_cad(std::string_view prefix) noexcept {
  const auto digit = [&](std::size_t at) {
    return byte_at(prefix, at) >= '0' && byte_at(prefix, at) <= '9';
  };
  return prefix.size() > 6 && digit(4) && digit(5) && prefix[6] == '\0' ? "image/vnd.dwg" : "";
}

} // namespace paddock::mime::detail
