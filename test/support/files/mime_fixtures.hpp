// SPDX-License-Identifier: MIT
#pragma once

// The smallest beginnings of files of many formats, made here byte by byte.

#include <string>
#include <string_view>
#include <vector>

namespace paddock::mime::test {

struct fixture {
  const char* name;
  std::string bytes;
  std::string_view type;
};

inline std::string little_endian(unsigned long value, int bytes) {
  std::string out;
  for (; bytes > 0; --bytes, value >>= 8)
    out += static_cast<char>(value & 0xFF);
  return out;
}

inline std::string big_endian(unsigned long value, int bytes) {
  const std::string little = little_endian(value, bytes);
  return {little.rbegin(), little.rend()};
}

inline std::string zeros(std::size_t size) {
  return std::string(size, '\0');
}

inline std::string png() {
  return "\x89PNG\r\n\x1A\n" + big_endian(13, 4) + "IHDR" + big_endian(1, 4) + big_endian(1, 4);
}

/// A local file header and stored data.
inline std::string zip_entry(std::string_view name, std::string_view data) {
  std::string entry = "PK\x03\x04" + little_endian(20, 2) + little_endian(0, 12);
  entry += little_endian(data.size(), 4) + little_endian(data.size(), 4);
  entry += little_endian(name.size(), 2) + little_endian(0, 2);
  return entry.append(name).append(data);
}

/// As written to a pipe: the sizes follow the data.
inline std::string streamed_zip_entry(std::string_view name, std::string_view data) {
  std::string entry =
      "PK\x03\x04" + little_endian(20, 2) + little_endian(8, 2) + little_endian(0, 10);
  entry += little_endian(0, 8) + little_endian(name.size(), 2) + little_endian(0, 2);
  entry.append(name).append(data);
  return entry + "PK\x07\x08" + little_endian(0, 4) + little_endian(data.size(), 4) +
         little_endian(data.size(), 4);
}

inline std::string office(std::string_view directory) {
  return zip_entry("[Content_Types].xml", "<Types/>") + zip_entry("_rels/.rels", "<R/>") +
         zip_entry(std::string(directory) + "/document.xml", "<d/>");
}

inline std::string declared_zip(std::string_view type) {
  return zip_entry("mimetype", type) + zip_entry("META-INF/container.xml", "<c/>");
}

inline std::string iso_media(std::string_view major, std::string_view compatible = "") {
  std::string box = "ftyp";
  box.append(major).append(zeros(4)).append(compatible);
  return big_endian(box.size() + 4, 4) + box;
}

inline std::string mpeg_frames(std::string_view header, std::size_t size) {
  const std::string frame = std::string(header) + zeros(size - header.size());
  return frame + frame;
}

inline std::string matroska(std::string_view document_type) {
  std::string type = "\x42\x82";
  type += static_cast<char>(0x80 | document_type.size());
  type.append(document_type);
  std::string header = "\x1A\x45\xDF\xA3";
  header += static_cast<char>(0x80 | (type.size() + 4));
  return header + "\x42\x86\x81\x01" + type;
}

inline std::string ogg(std::string_view packet) {
  std::string page = "OggS";
  page += '\0';
  page += '\x02';
  page += zeros(20) + "\x01\x1E";
  return page.append(packet);
}

inline std::string riff(std::string_view kind) {
  return "RIFF" + little_endian(100, 4) + std::string(kind);
}

inline std::string portable_executable() {
  return "MZ" + zeros(58) + little_endian(0x80, 4) + zeros(64) + "PE" + zeros(2) + "\x64\x86";
}

inline std::string tar() {
  return "hello.txt" + zeros(248) + "ustar" + zeros(1) + "00" + zeros(247);
}

inline std::vector<fixture> image_fixtures() {
  using namespace std::string_literals;
  const std::string bitmap = "BM" + little_endian(70, 4) + zeros(4) + little_endian(54, 4);
  return {
      {"png", png(), "image/png"},
      {"jpeg", "\xFF\xD8\xFF\xE0\0\x10JFIF\0"s, "image/jpeg"},
      {"jpeg-ls", "\xFF\xD8\xFF\xF7\0\x0B"s, "image/jls"},
      {"gif 87", "GIF87a\x01\0\x01\0"s, "image/gif"},
      {"gif 89", "GIF89a\x01\0\x01\0"s, "image/gif"},
      {"gif and script", "GIF89a/*\x01*/=alert(1)", "image/gif"},
      {"webp lossy", riff("WEBPVP8 "), "image/webp"},
      {"webp lossless", riff("WEBPVP8L"), "image/webp"},
      {"bmp", bitmap + little_endian(40, 4), "image/bmp"},
      {"bmp v5", bitmap + little_endian(124, 4), "image/bmp"},
      {"ico", "\0\0\x01\0\x01\0\x10\x10"s, "image/vnd.microsoft.icon"},
      {"cur", "\0\0\x02\0\x01\0\x10\x10"s, "image/x-win-bitmap"},
      {"tiff little endian", "II*\0\x08\0\0\0"s, "image/tiff"},
      {"tiff big endian", "MM\0*\0\0\0\x08"s, "image/tiff"},
      {"psd", "8BPS\0\x01"s + zeros(6), "image/vnd.adobe.photoshop"},
      {"avif", iso_media("avif", "mif1miaf"), "image/avif"},
      {"avif by compatible brand", iso_media("mif1", "avifmiaf"), "image/avif"},
      {"heic", iso_media("heic", "mif1heic"), "image/heic"},
      {"heif", iso_media("mif1", "miafMiHB"), "image/heif"},
      {"jxl codestream", "\xFF\x0A\0\x10"s, "image/jxl"},
      {"jxl container", "\0\0\0\x0CJXL \r\n\x87\n"s, "image/jxl"},
      {"jp2", "\0\0\0\x0CjP  \r\n\x87\n"s, "image/jp2"},
      {"jpx", "\0\0\0\x0CjP  \r\n\x87\n\0\0\0\x14" "ftypjpx "s, "image/jpx"},
      {"jpm", "\0\0\0\x0CjP  \r\n\x87\n\0\0\0\x14" "ftypjpm "s, "image/jpm"},
      {"mj2", "\0\0\0\x0CjP  \r\n\x87\n\0\0\0\x14" "ftypmjp2"s, "video/mj2"},
      {"icns", "icns\0\0\x10\0"s, "image/x-icns"},
      {"xcf", "gimp xcf v011\0"s, "image/x-xcf"},
      {"dds", "DDS \x7C\0\0\0"s, "image/vnd.ms-dds"},
      {"exr", "v/1\x01\x02\0\0\0"s, "image/x-exr"},
      {"djvu", "AT&TFORM\0\0\1\0DJVU"s, "image/vnd.djvu"},
      {"qoi", "qoif\0\0\0\x01"s, "image/qoi"},
  };
}

inline std::vector<fixture> media_fixtures() {
  using namespace std::string_literals;
  return {
      {"mp4", iso_media("isom", "mp41"), "video/mp4"},
      {"mp4 by compatible brand", iso_media("XXXX", "mp42"), "video/mp4"},
      {"m4a", iso_media("M4A ", "isom"), "audio/mp4"},
      {"quicktime", iso_media("qt  "), "video/quicktime"},
      {"3gp", iso_media("3gp4"), "video/3gpp"},
      {"webm", matroska("webm"), "video/webm"},
      {"matroska", matroska("matroska"), "video/matroska"},
      {"avi", riff("AVI LIST"), "video/x-msvideo"},
      {"flv", "FLV\x01\x05\0\0\0\x09"s, "video/x-flv"},
      {"asf", "0&\xB2\x75\x8E\x66\xCF\x11\xA6\xD9", "video/x-ms-asf"},
      {"wav", riff("WAVEfmt "), "audio/wav"},
      {"aiff",
       "FORM\0\0\0\x10"
       "AIFFCOMM"s,
       "audio/aiff"},
      {"mp3 with tag", "ID3\x03\0\0\0\0\x02\x01"s, "audio/mpeg"},
      {"mp3 frames", mpeg_frames("\xFF\xFB\x90\x64"s, 417), "audio/mpeg"},
      {"mp3 frames of MPEG-2", mpeg_frames("\xFF\xF3\x84\x64"s, 192), "audio/mpeg"},
      {"mp2 frames", mpeg_frames("\xFF\xFD\x84\x04"s, 384), "audio/mpeg"},
      {"aac frames", mpeg_frames("\xFF\xF1\x50\x80\x01\x7F\xFC"s, 11), "audio/aac"},
      {"flac", "fLaC\0\0\0\x22"s, "audio/flac"},
      {"vorbis", ogg("\x01vorbis"), "audio/ogg"},
      {"opus", ogg("OpusHead"), "audio/ogg"},
      {"theora", ogg("\x80theora"), "video/ogg"},
      {"ogg of another codec", ogg("fishead"), "application/ogg"},
      {"midi", "MThd\0\0\0\x06\0\x01"s, "audio/midi"},
      {"au", ".snd\0\0\0\x18"s, "audio/basic"},
      {"amr", "#!AMR\n\x3C", "audio/AMR"},
      {"amr wide band", "#!AMR-WB\n\x3C", "audio/AMR-WB"},
      {"woff", "wOFF\0\x01\0\0"s, "font/woff"},
      {"woff2", "wOF2OTTO\0\0"s, "font/woff2"},
      {"ttf", "\0\x01\0\0\0\x10\x01\0"s, "font/ttf"},
      {"otf", "OTTO\0\x0C\0\x80"s, "font/otf"},
      {"ttc", "ttcf\0\x01\0\0"s, "font/collection"},
      {"glb", "glTF\x02\0\0\0"s, "model/gltf-binary"},
  };
}

inline std::vector<fixture> archive_fixtures() {
  using namespace std::string_literals;
  return {
      {"zip of anything", zip_entry("a.txt", "hello"), "application/zip"},
      {"empty zip", "PK\x05\x06"s + zeros(18), "application/zip"},
      {"zip with a directory called word", zip_entry("word/a", "x"), "application/zip"},
      {"docx", office("word"),
       "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
      {"xlsx", office("xl"), "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
      {"pptx", office("ppt"),
       "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
      {"docx, streamed",
       streamed_zip_entry("[Content_Types].xml", "<T/>") +
           streamed_zip_entry("word/document.xml", "<d/>"),
       "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
      {"odt", declared_zip("application/vnd.oasis.opendocument.text"),
       "application/vnd.oasis.opendocument.text"},
      {"ods", declared_zip("application/vnd.oasis.opendocument.spreadsheet"),
       "application/vnd.oasis.opendocument.spreadsheet"},
      {"epub", declared_zip("application/epub+zip"), "application/epub+zip"},
      {"zip that declares something else", declared_zip("text/html"), "application/zip"},
      {"jar", zip_entry("META-INF/", "") + zip_entry("META-INF/MANIFEST.MF", "M"),
       "application/java-archive"},
      {"apk", zip_entry("AndroidManifest.xml", "x"), "application/vnd.android.package-archive"},
      {"gzip", "\x1F\x8B\x08\0"s, "application/gzip"},
      {"bzip2", "BZh91AY&SY", "application/x-bzip2"},
      {"bzip2 of nothing", "BZh9\x17\x72\x45\x38\x50\x90", "application/x-bzip2"},
      {"xz",
       "\xFD"
       "7zXZ\0\0\x04"s,
       "application/x-xz"},
      {"zstd", "(\xB5\x2F\xFD\x04", "application/zstd"},
      {"lz4", "\x04\x22\x4D\x18\x64", "application/x-lz4"},
      {"lzip", "LZIP\x01\x0C", "application/lzip"},
      {"7z", "7z\xBC\xAF\x27\x1C\0\x04"s, "application/x-7z-compressed"},
      {"rar 4", "Rar!\x1A\x07\0"s, "application/vnd.rar"},
      {"rar 5", "Rar!\x1A\x07\x01\0"s, "application/vnd.rar"},
      {"tar", tar(), "application/x-tar"},
      {"ar", "!<arch>\nlib.o/", "application/x-archive"},
      {"deb", "!<arch>\ndebian-binary   ", "application/vnd.debian.binary-package"},
      {"rpm", "\xED\xAB\xEE\xDB\x03", "application/x-rpm"},
      {"cab", "MSCF\0\0\0\0"s, "application/vnd.ms-cab-compressed"},
      {"git pack", "PACK\0\0\0\x02"s, "application/x-git-pack"},
  };
}

inline std::vector<fixture> program_fixtures() {
  using namespace std::string_literals;
  return {
      {"elf",
       "\x7F"
       "ELF\x02\x01\x01",
       "application/x-elf"},
      {"pe", portable_executable(), "application/vnd.microsoft.portable-executable"},
      {"mach-o", "\xCF\xFA\xED\xFE\x07\0\0\x01"s, "application/x-mach-binary"},
      {"universal mach-o", "\xCA\xFE\xBA\xBE\0\0\0\x02"s, "application/x-mach-binary"},
      {"java class", "\xCA\xFE\xBA\xBE\0\0\0\x34"s, "application/java-vm"},
      {"wasm", "\0asm\x01\0\0\0"s, "application/wasm"},
      {"dex", "dex\n035\0"s, "application/vnd.android.dex"},
      {"llvm bitcode", "BC\xC0\xDE\x35", "application/x-llvm-bitcode"},
  };
}

inline std::vector<fixture> document_fixtures() {
  using namespace std::string_literals;
  return {
      {"pdf", "%PDF-1.7\n%\xE2\xE3\xCF\xD3\n", "application/pdf"},
      {"pdf and html", "%PDF-1.7\n<html>", "application/pdf"},
      {"postscript", "%!PS-Adobe-3.0\n", "application/postscript"},
      {"eps with preview", "\xC5\xD0\xD3\xC6\x1E\0\0\0"s, "application/postscript"},
      {"rtf", "{\\rtf1\\ansi", "application/rtf"},
      {"ole", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "application/x-ole-storage"},
      {"sqlite", "SQLite format 3\0\x10"s, "application/vnd.sqlite3"},
      {"parquet", "PAR1\x15\x04\x15", "application/vnd.apache.parquet"},
      {"arrow", "ARROW1\0\0"s, "application/vnd.apache.arrow.file"},
      {"avro", "Obj\x01\x04", "application/vnd.apache.avro"},
      {"hdf5", "\x89HDF\r\n\x1A\n", "application/x-hdf5"},
      {"npy", "\x93NUMPY\x01\0"s, "application/x-npy"},
      {"pcap", "\xD4\xC3\xB2\xA1\x02\0"s, "application/vnd.tcpdump.pcap"},
  };
}

/// An Office document whose list of parts says which kind it is.
inline std::string office_kind(std::string_view main_part) {
  const std::string list =
      "<Types><Override PartName=\"/x\" ContentType=\"" + std::string(main_part) + "\"/></Types>";
  return zip_entry("[Content_Types].xml", list) + zip_entry("word/document.xml", "<d/>");
}

inline std::string tagged(std::string_view behind) {
  using namespace std::string_literals;
  return "ID3\x04\0\0\0\0\0\x05tag.."s.append(behind);
}

inline std::vector<fixture> office_fixtures() {
  constexpr auto word = "application/vnd.openxmlformats-officedocument.wordprocessingml.";
  constexpr auto slides = "application/vnd.openxmlformats-officedocument.presentationml.";
  return {
      {"docx by its parts", office_kind(word + std::string("document.main+xml")),
       "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
      {"dotx", office_kind(word + std::string("template.main+xml")),
       "application/vnd.openxmlformats-officedocument.wordprocessingml.template"},
      {"docm", office_kind("application/vnd.ms-word.document.macroEnabled.main+xml"),
       "application/vnd.ms-word.document.macroEnabled.12"},
      {"xlsm", office_kind("application/vnd.ms-excel.sheet.macroEnabled.main+xml"),
       "application/vnd.ms-excel.sheet.macroEnabled.12"},
      {"ppsx", office_kind(slides + std::string("slideshow.main+xml")),
       "application/vnd.openxmlformats-officedocument.presentationml.slideshow"},
      {"potm", office_kind("application/vnd.ms-powerpoint.template.macroEnabled.main+xml"),
       "application/vnd.ms-powerpoint.template.macroEnabled.12"},
      {"vsdx", office_kind("application/vnd.ms-visio.drawing.main+xml"), "application/vnd.visio"},
      {"ott", declared_zip("application/vnd.oasis.opendocument.text-template"),
       "application/vnd.oasis.opendocument.text-template"},
      {"otp", declared_zip("application/vnd.oasis.opendocument.presentation-template"),
       "application/vnd.oasis.opendocument.presentation-template"},
  };
}

inline std::vector<fixture> further_fixtures() {
  using namespace std::string_literals;
  return {
      {"mov, film first", "\0\x01\x7F\x42moov\0\0\0\x6Cmvhd"s, "video/quicktime"},
      {"mov, data first", "\0\x0B\x2A\0mdat\x78\xF9"s, "video/quicktime"},
      {"mov, much data first", "\x12\x0B\x2A\0mdat\x78\xF9"s, "video/quicktime"},
      {"mov, padded", "\0\0\0\x08wide\0\0\x10\0mdat"s, "video/quicktime"},
      {"gguf", "GGUF\x03\0\0\0"s, "application/x-gguf"},
      {"safetensors", "\x40\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"F32\""s, "application/x-safetensors"},
      {"onnx",
       "\x08\x08\x12\x07pytorch\x1A\x05"
       "2.1.0"s,
       "application/x-onnx"},
      {"pickle", "\x80\x04\x95\x10\0\0\0\0\0\0\0}"s, "application/x-python-pickle"},
      {"pickle of protocol 2", "\x80\x02}q\0"s, "application/x-python-pickle"},
      {"binary plist", "bplist00\xD1\x01\x02"s, "application/x-bplist"},
      {"gettext", "\xDE\x12\x04\x95\0\0\0\0"s, "application/x-gettext-translation"},
      {"gettext, big endian", "\x95\x04\x12\xDE\0\0\0\0"s, "application/x-gettext-translation"},
      {"jmod", "JM\x01\0PK\x03\x04"s, "application/x-jmod"},
      {"ac3", "\x0B\x77\x71\x06\x1C\x40\x43\x7F"s, "audio/ac3"},
      {"icc", little_endian(560, 4) + zeros(32) + "acsp", "application/vnd.iccprofile"},
      {"lha", "\x26\xB6-lh5-\x6A\x36\x01\0"s, "application/x-lzh-compressed"},
      {"arj", "`\xEA\x2F\0\x22\x0B\x01\x02"s, "application/x-arj"},
      {"ace", "\x10\0\x31\0\0\0\x90**ACE**\x14"s, "application/x-ace-compressed"},
      {"indesign", "\x06\x06\xED\xF5\xD8\x1D\x46\xE5"s, "application/x-indesign"},
      {"sketchup", "\xFF\xFE\xFF\x0ES\0k\0"s, "application/vnd.sketchup.skp"},
      {"docx, its list of types behind it",
       zip_entry("docProps/app.xml", "<Properties/>") + zip_entry("word/document.xml", "<w/>"),
       "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
      {"flac behind a tag", tagged("fLaC\0\0\0\x22"s), "audio/flac"},
      {"aac behind a tag", tagged(mpeg_frames("\xFF\xF1\x50\x80\x02\x1F\xFC", 16)), "audio/aac"},
      {"mp3 behind a tag", tagged(mpeg_frames("\xFF\xFB\x90\x64", 417)), "audio/mpeg"},
      {"postscript of few words", "%!PS\n/x 1 def\n", "application/postscript"},
      {"flash", "FWS\x08\x3C\x55\0\0"s, "application/x-shockwave-flash"},
      {"flash, packed", "CWS\x0A\x3C\x55\0\0"s, "application/x-shockwave-flash"},
      {"blend", "BLENDER-v278REND\0"s, "application/x-blender"},
      {"dicom", zeros(128) + "DICM\x02\0", "application/dicom"},
      {"crx", "Cr24\x02\0\0\0\xA2\0\0\0"s, "application/x-chrome-extension"},
      {"asar", "\x04\0\0\0\x3C\0\0\0\x38\0\0\0\x31\0\0\0{\"files\":{}}"s, "application/x-asar"},
      {"lnk", "L\0\0\0\x01\x14\x02\0\0\0\0\0\xC0"s, "application/x-ms-shortcut"},
      {"dwg", "AC1021\0\0"s, "image/vnd.dwg"},
      {"f4a", iso_media("F4A "), "audio/mp4"},
      {"realmedia", ".RMF\0\0\0\x12"s, "application/vnd.rn-realmedia"},
      {"mxf", "\x06\x0E\x2B\x34\x02\x05\x01\x01\x0D"s, "application/mxf"},
      {"voc", "Creative Voice File\x1A\x1A\0"s, "audio/x-voc"},
      {"fbx", "Kaydara FBX Binary  \0\x1A"s, "application/x-fbx"},
      {"raf", "FUJIFILMCCD-RAW 0201\0"s, "image/x-fuji-raf"},
      {"jpeg 2000 codestream", "\xFF\x4F\xFF\x51\0\x2F"s, "image/x-jp2-codestream"},
  };
}

inline std::vector<fixture> binary_fixtures() {
  std::vector<fixture> all = image_fixtures();
  for (const auto& more : {media_fixtures(), archive_fixtures(), program_fixtures(),
                           document_fixtures(), office_fixtures(), further_fixtures()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

inline std::vector<fixture> text_fixtures() {
  using namespace std::string_literals;
  return {
      {"ascii", "hello\n", "text/plain"},
      {"utf-8", "gr\xC3\xBC\xC3\x9F dich \xE2\x82\xAC\n", "text/plain"},
      {"byte order mark", "\xEF\xBB\xBFhello", "text/plain"},
      {"only a byte order mark", "\xEF\xBB\xBF", "text/plain"},
      {"utf-16", "\xFF\xFEh\0i\0"s, "text/plain"},
      {"doctype", "<!DOCTYPE html>\n<html>", "text/html"},
      {"doctype in other case", "\n <!dOcTyPe HTML>", "text/html"},
      {"html element", "<html lang=en>", "text/html"},
      {"html after a mark", "\xEF\xBB\xBF<html>", "text/html"},
      {"html comment", "<!-- x -->\n<p>", "text/html"},
      {"html script", "<script>alert(1)</script>", "text/html"},
      {"html link", "<a href=x>", "text/html"},
      {"tag that is cut off", "<html", "text/plain"},
      {"tag with a longer name", "<article>", "text/plain"},
      {"generic type", "<T> T id(T x);", "text/plain"},
      {"xml", "<?xml version=\"1.0\"?>\n<root/>", "text/xml"},
      {"svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "image/svg+xml"},
      {"svg after a declaration",
       "<?xml version=\"1.0\"?>\n<!-- x -->\n<!DOCTYPE svg PUBLIC \"\" \"\">\n<svg>",
       "image/svg+xml"},
      {"xml with svg inside", "<?xml version=\"1.0\"?><a><svg/></a>", "text/xml"},
      {"svg in a word", "<svgish/>", "text/plain"},
      {"shell", "#!/bin/sh\necho", "text/x-shellscript"},
      {"shell with an option", "#! /bin/bash -eu\r\necho", "text/x-shellscript"},
      {"python by env", "#!/usr/bin/env python3.11\n", "text/x-python"},
      {"env with options", "#!/usr/bin/env -S LANG=C node --flag\n", "text/javascript"},
      {"interpreter at the end of the text", "#!/usr/bin/perl", "text/x-perl"},
      {"unknown interpreter", "#!/opt/thing\n", "text/plain"},
      {"no interpreter", "#!\n", "text/plain"},
      {"interpreter of digits", "#!/usr/bin/7\n", "text/plain"},
  };
}

} // namespace paddock::mime::test
