// SPDX-License-Identifier: MIT
#include "precompiled/tests.hpp"
#include "support/files/mime_fixtures.hpp"

#include <paddock/mime/mime.hpp>

namespace paddock::mime {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

/// A sniff of bytes in an allocation of exactly their size, so that a sanitizer sees every read
/// beyond them.
sniffed sniff_exactly(std::string_view bytes) {
  const auto copy = std::make_unique<char[]>(bytes.size());
  std::ranges::copy(bytes, copy.get());
  return sniff({copy.get(), bytes.size()});
}

TEST(MimeSniff, RecognisesSignatures) {
  for (const auto& row : test::binary_fixtures()) {
    SCOPED_TRACE(row.name);
    const sniffed found = sniff_exactly(row.bytes);
    EXPECT_EQ(found.type, row.type);
    EXPECT_EQ(found.evidence, evidence::signature);
    EXPECT_EQ(found.encoding, text_encoding::none);
  }
}

TEST(MimeSniff, AnyTruncationIsReadWithinItsBounds) {
  for (const auto& row : test::binary_fixtures())
    for (std::size_t size = 0; size < row.bytes.size(); ++size)
      EXPECT_FALSE(sniff_exactly(row.bytes.substr(0, size)).type.empty())
          << row.name << " " << size;
  for (const auto& row : test::text_fixtures())
    for (std::size_t size = 0; size < row.bytes.size(); ++size)
      EXPECT_FALSE(sniff_exactly(row.bytes.substr(0, size)).type.empty())
          << row.name << " " << size;
}

TEST(MimeSniff, BytesAfterTheSignatureDoNotMatter) {
  for (const auto& row : test::binary_fixtures()) {
    SCOPED_TRACE(row.name);
    if (row.name == "zip of anything"s || row.name == "empty zip"s) continue;
    EXPECT_EQ(sniff(row.bytes + std::string(100, '\x01')).type, row.type);
    EXPECT_EQ(sniff(row.bytes + "<html><script>alert(1)</script>%PDF-1.7 PK\x03\x04").type,
              row.type);
  }
}

TEST(MimeSniff, RecognisesText) {
  for (const auto& row : test::text_fixtures()) {
    SCOPED_TRACE(row.name);
    const sniffed found = sniff_exactly(row.bytes);
    EXPECT_EQ(found.type, row.type);
    EXPECT_EQ(found.evidence, evidence::text);
    EXPECT_NE(found.encoding, text_encoding::none);
  }
}

struct sniff_case {
  const char* name;
  std::string bytes;
  sniffed expected;
};

/// A mark is no proof: what follows has to be text.
TEST(MimeSniff, AUtf16MarkBeforeBinaryDataIsNoText) {
  for (const std::string_view bytes :
       {"\xFF\xFE\x01\0\x02\0"sv, "\xFF\xFE\0\0\x01\0\0\0"sv, "\xFE\xFF\0\0\0\0"sv,
        "\xFF\xFE\0\xDC"
        "a\0"sv,
        "\xFF\xFE\0\xD8"
        "a\0"sv,
        "\xFF\xFE"
        "a\0\xFF\xFF"sv}) {
    const sniffed found = sniff_exactly(bytes);
    EXPECT_EQ(found.encoding, text_encoding::none);
    EXPECT_EQ(found.type, "application/octet-stream");
  }
  for (const std::string_view text : {"\xFF\xFE"
                                      "a\0"sv,
                                      "\xFF\xFE\x3D\xD8\0\xDE"sv,
                                      "\xFF\xFE"
                                      "a\0\x3D\xD8"sv,
                                      "\xFF\xFE"
                                      "a\0b"sv}) // the control
    EXPECT_EQ(sniff_exactly(text).encoding, text_encoding::utf16);
}

/// Packets of a transport stream, plain and as discs have them; one packet alone says nothing.
TEST(MimeSniff, TransportStreamsAreKnownByTheirPackets) {
  const auto stream = [](std::size_t before, std::size_t size, int count) {
    std::string out(before, '\x01');
    for (int i = 0; i < count; ++i)
      out += "G" + std::string(size - 1, '\0');
    return out;
  };
  EXPECT_EQ(sniff(stream(0, 188, 8)).type, "video/mp2t");
  EXPECT_EQ(sniff(stream(4, 192, 8)).type, "video/mp2t");
  EXPECT_EQ(sniff(stream(0, 188, 2)).type, "application/octet-stream");
  EXPECT_EQ(sniff(stream(0, 187, 8)).type, "application/octet-stream");
  const auto named = classify("clip.mts", stream(4, 192, 8)); // also a name of TypeScript
  EXPECT_EQ(named.type, "video/mp2t");
  EXPECT_FALSE(named.mismatch);
  EXPECT_EQ(classify("a.mts", "export {};\n").type, "text/x-typescript");
}

TEST(MimeSniff, IsNotFooledByShortSignatures) {
  const sniffed text{"text/plain", evidence::text, text_encoding::utf8};
  const sniffed utf16{"text/plain", evidence::text, text_encoding::utf16};
  const sniffed nothing{};
  const sniff_case cases[] = {
      {"BMW", "BMW is a car", text},
      {"BM and binary", "BM\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0E\x0F\x10\x11\x12\x13\x14\x15",
       nothing},
      {"BM with a header size but reserved bytes in use",
       "BM\x46\0\0\0\x01\0\0\0\x36\0\0\0\x28\0\0\0"s, nothing},
      {"MZ", "MZ is how the story began, a long time ago, in a program loader", text},
      {"MZ without PE", "MZ" + std::string(80, '\0'), nothing},
      {"MZ with an offset beyond the end", "MZ" + std::string(58, '\0') + "\xFF\xFF\xFF\x7F",
       nothing},
      {"BZh", "BZh is the signature", text},
      {"BZh9 and text", "BZh9 is the signature", text},
      {"ID3", "ID3 tags are metadata", text},
      {"CWS", "CWS 2024, a report", text},
      {"BLENDER", "BLENDER-v278 is old", text},
      {"AC10", "AC1021 is a name", text},
      {"MAC", "MAC addresses", text},
      {"%!PSx", "%!PSst", text},
      {"mdat", "\0mdat is data"s, nothing},
      {"free",
       "\0\0\0\x10"
       "free0123456789ab"s,
       nothing},
      {"OggS", "OggS pages", text},
      {"RIFF", "RIFF is a container", text},
      {"RIFF of something", "RIFF\x10\0\0\0junkjunk"s, nothing},
      {"FORM", "FORM follows function", text},
      {"PAR1", "PAR1 is a golf hole", text},
      {"icns", "icns are icons", text},
      {"8BPS", "8BPS is a rate", text},
      {"wOFF", "wOFF!", text},
      {"Rar", "Rar! said the lion", text},
      {"PACK", "PACK your bags", text},
      {"PK", "PK is a village in Kashmir", text},
      {"0asm", "asm is a language", text},
      {"II", "II* is a footnote", text},
      {"GIF", "GIF89 is missing its letter", text},
      {".snd", ".snd is an extension", text},
      {"#!AMR", "#!AMRopolis", text},
      {"FLV", "FLV is flash", text},
      {"glTF", "glTF 2.0", text},
      {"ftyp", "1234ftypmp42", text},
      {"UTF-16LE text is not MP3", "\xFF\xFEh\0i\0"s, utf16},
      {"UTF-16BE text", "\xFE\xFF\0h\0i"s, utf16},
      {"UTF-32LE text",
       "\xFF\xFE\0\0h\0\0\0"s,
       {"text/plain", evidence::text, text_encoding::utf32}},
      {"one MP3 frame header", "\xFF\xFB\x90\0"s, nothing},
      {"one MP3 frame header, then zeros", "\xFF\xFB\x90\0"s + std::string(1000, '\0'), nothing},
      {"one AAC frame header", "\xFF\xF1\x50\x80\x01\x7F\xFC", nothing},
      {"icon without images", "\0\0\x01\0\0\0"s, nothing},
      {"EBML of another kind",
       "\x1A\x45\xDF\xA3\x84\x42\x82\x84"
       "abcd",
       nothing},
      {"PNG cut off", "\x89PN", {"text/plain", evidence::weak, text_encoding::unknown_8bit}},
      {"talk about PDF", "the header is %PDF-1.4\n", text},
      {"HTML with a PDF header in a comment",
       "<!-- %PDF-1.4 --><html></html>",
       {"text/html", evidence::text, text_encoding::utf8}},
      {"Latin-1",
       "caf\xE9 cr\xE8me\n",
       {"text/plain", evidence::weak, text_encoding::unknown_8bit}},
      {"NUL", "text\0text"s, nothing},
      {"one control byte", "\x01", nothing},
      {"escape sequences", "\x1B[31mred\x1B[0m", text},
      {"empty", "", {"text/plain", evidence::none, text_encoding::utf8}},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.name);
    const sniffed found = sniff_exactly(row.bytes);
    EXPECT_EQ(found.type, row.expected.type);
    EXPECT_EQ(found.evidence, row.expected.evidence);
    EXPECT_EQ(found.encoding, row.expected.encoding);
  }
}

TEST(MimeSniff, ToleratesWhatStandsBeforeAPdfHeader) {
  const sniffed loose{"application/pdf", evidence::weak, text_encoding::none};
  EXPECT_EQ(sniff("%PDF-1.7\n").evidence, evidence::signature);
  EXPECT_EQ(sniff("\xEF\xBB\xBF%PDF-1.7\n"), loose);
  EXPECT_EQ(sniff("\r\n \t%PDF-1.7\n"), loose);
  EXPECT_EQ(sniff("junk\0junk\n%PDF-1.7\n"s), loose);
  EXPECT_EQ(sniff(std::string(1019, '\0') + "%PDF-1.7"), loose);
  EXPECT_NE(sniff(std::string(1020, '\0') + "%PDF-1.7").type, "application/pdf");
}

TEST(MimeSniff, ACodePointCutOffByTheEndIsText) {
  const std::string text = "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80";
  for (std::size_t size = 1; size <= text.size(); ++size)
    EXPECT_EQ(sniff_exactly(text.substr(0, size)).encoding, text_encoding::utf8) << size;
}

TEST(MimeSniff, FindsAControlByteAtEveryPlace) {
  for (std::size_t at = 0; at < 40; ++at)
    for (int byte = 0; byte < 256; ++byte) {
      std::string bytes(40, 'x');
      bytes[at] = static_cast<char>(byte);
      const bool binary = byte <= 8 || byte == 0x0B || (byte >= 0x0E && byte <= 0x1A) ||
                          (byte >= 0x1C && byte <= 0x1F);
      ASSERT_EQ(detail::has_binary_data_byte(bytes), binary) << at << " " << byte;
    }
}

// --- names ---------------------------------------------------------------------------------------

struct name_case {
  std::string_view name;
  std::optional<std::string_view> type;
};

constexpr name_case name_cases[] = {
    {"a.ts", "text/x-typescript"},
    {"a.tsx", "text/tsx"},
    {"a.rs", "text/x-rust"},
    {"a.py", "text/x-python"},
    {"a.go", "text/x-go"},
    {"a.kt", "text/x-kotlin"},
    {"a.vue", "text/x-vue"},
    {"a.rb", "text/x-ruby"},
    {"a.swift", "text/x-swift"},
    {"a.proto", "text/x-protobuf"},
    {"a.toml", "application/toml"},
    {"a.lock", "text/plain"},
    {"a.md", "text/markdown"},
    {"a.json", "application/json"},
    {"a.jsonl", "application/x-ndjson"},
    {"a.yml", "application/yaml"},
    {"a.html", "text/html"},
    {"a.mjs", "text/javascript"},
    {"a.csv", "text/csv"},
    {"a.png", "image/png"},
    {"A.PNG", "image/png"},
    {"a.b.Jpg", "image/jpeg"},
    {"a.tar.gz", "application/gzip"},
    {"a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"a.bin", "application/octet-stream"},
    {"libc.so.6", std::nullopt},
    {"a.eml", "message/rfc822"},
    {"a.zst", "application/zstd"},
    {"dir.png/a.md", "text/markdown"},
    {"dir.png/a", std::nullopt},
    {"Makefile", "text/x-makefile"},
    {"src/Makefile", "text/x-makefile"},
    {"Dockerfile", "text/x-dockerfile"},
    {"CMakeLists.txt", "text/x-cmake"},
    {"Cargo.lock", "application/toml"},
    {"LICENSE", "text/plain"},
    {"Gemfile", "text/x-ruby"},
    {".gitignore", "text/plain"},
    {".bashrc", "text/x-shellscript"},
    {"go.mod", "text/x-go-mod"},
    {"", std::nullopt},
    {"a", std::nullopt},
    {"png", std::nullopt},
    {".png", std::nullopt},
    {".hidden", std::nullopt},
    {"a.", std::nullopt},
    {"a.png ", std::nullopt},
    {"a.nosuchextension", std::nullopt},
    {"a.\xC3\xA9", std::nullopt},
    {"a/", std::nullopt},
};

/// The lines of what a program prints.
std::vector<std::string> lines_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> out(::popen(command.c_str(), "re"), ::pclose);
  std::vector<std::string> lines;
  std::string line;
  for (int c = 0; (c = std::fgetc(out.get())) != EOF;) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    lines.push_back(std::exchange(line, ""));
  }
  return lines;
}

std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < digits.size(); at += 2)
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(at, 2)), nullptr, 16));
  return bytes;
}

std::string unpacked(std::string_view packed) {
  const auto copy = std::make_unique<char[]>(packed.size());
  std::ranges::copy(packed, copy.get());
  return std::string(detail::inflater({copy.get(), packed.size()}).unpack());
}

// The judge is Python's zlib: all levels and strategies, stored, fixed and transmitted codes.
TEST(MimeInflate, UnpacksWhatOthersPack) {
  const auto rows = lines_of(R"(python3 -c '
import random, zlib
r = random.Random(5)
for level in (0, 1, 6, 9):
    for strategy in (0, 1, 2, 3, 4):
        for size in (0, 1, 30, 700, 4096, 9000):
            words = [bytes(r.randrange(97, 123) for _ in range(r.randrange(1, 9))) for _ in range(40)]
            plain = b" ".join(r.choice(words) for _ in range(size))[:size]
            c = zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy)
            print((c.compress(plain) + c.flush()).hex(), plain.hex())
' 2>/dev/null)");
  if (rows.empty()) GTEST_SKIP() << "no python3 here";
  ASSERT_EQ(120U, rows.size());
  for (const auto& row : rows) {
    const auto space = row.find(' ');
    const std::string packed = from_hex(row.substr(0, space));
    const std::string plain = from_hex(row.substr(space + 1)).substr(0, detail::inflater::room);
    ASSERT_EQ(plain, unpacked(packed)) << row.substr(0, space);
    for (std::size_t size = 0; size < packed.size(); size += 1 + packed.size() / 40)
      ASSERT_TRUE(plain.starts_with(unpacked(packed.substr(0, size)))) << size;
  }
}

TEST(MimeInflate, AnyBytesAreReadWithinTheirBounds) {
  std::mt19937 random(3); // NOLINT: the same bytes every time
  std::size_t unpacked_some = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(random() % 200, '\0');
    for (char& c : bytes)
      c = static_cast<char>(random());
    const auto out = unpacked(bytes);
    EXPECT_LE(out.size(), detail::inflater::room);
    unpacked_some += out.empty() ? 0U : 1U;
  }
  EXPECT_GT(unpacked_some, 1'000U);
}

TEST(MimeSniff, OfficeDocumentsSayInADeflatedListWhatTheyAre) {
  // What Python's zipfile writes of the list of a document with macros.
  const auto rows = lines_of(R"(python3 -c '
import io, zipfile
out = io.BytesIO()
with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("[Content_Types].xml", "<Types>" + "<Default Extension=\"x\" ContentType=\"a/b\"/>" * 20 +
               "<Override ContentType=\"application/vnd.ms-word.document.macroEnabled.main+xml\"/></Types>")
    z.writestr("word/document.xml", "<d/>")
print(out.getvalue().hex())
' 2>/dev/null)");
  if (rows.empty()) GTEST_SKIP() << "no python3 here";
  const std::string bytes = from_hex(rows[0]);
  EXPECT_EQ("application/vnd.ms-word.document.macroEnabled.12", sniff(bytes).type);
  const auto renamed = classify("harmless.docx", bytes);
  EXPECT_EQ("application/vnd.ms-word.document.macroEnabled.12", renamed.type);
  EXPECT_TRUE(renamed.mismatch);
  EXPECT_FALSE(classify("a.docm", bytes).mismatch);
}

TEST(MimeName, Table) {
  for (const auto& row : name_cases)
    EXPECT_EQ(from_extension(row.name), row.type) << row.name;
}

/// Calls check(name, type) for each name of a table.
template <class F> void for_each_name(std::span<const detail::type_row> rows, F&& check) {
  for (const auto& row : rows)
    for (std::istringstream names{std::string(row.names)}; !names.eof();) {
      std::string name;
      ASSERT_TRUE(std::getline(names, name, ' ') && !name.empty()) << row.type;
      check(name, row.type);
    }
}

TEST(MimeName, EveryNameIsFoundInBothCasesAndStandsOnce) {
  std::set<std::string> seen;
  for_each_name(detail::extensions, [&](const std::string& name, std::string_view type) {
    std::string upper(name);
    for (char& c : upper)
      c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    EXPECT_EQ(from_extension("x." + name), type);
    EXPECT_EQ(from_extension("x." + upper), type);
    EXPECT_TRUE(seen.insert(name).second) << name;
  });
  for_each_name(detail::whole_names, [&](const std::string& name, std::string_view type) {
    EXPECT_EQ(from_extension(name), type);
    EXPECT_TRUE(seen.insert("/" + name).second) << name;
  });
}

TEST(MimeName, TypesAreWellFormed) {
  const auto well_formed = [](std::string_view type) {
    const std::size_t slash = type.find('/');
    return slash != 0 && slash != std::string_view::npos && slash + 1 < type.size() &&
           type.find_first_of(" ;\t", 0) == std::string_view::npos &&
           type.find('/', slash + 1) == std::string_view::npos;
  };
  for (const auto& row : detail::extensions)
    EXPECT_TRUE(well_formed(row.type)) << row.type;
  for (const auto& row : detail::whole_names)
    EXPECT_TRUE(well_formed(row.type)) << row.type;
  for (const auto& row : detail::signatures)
    EXPECT_TRUE(row.type.empty() || well_formed(row.type)) << row.type;
}

TEST(MimeName, CarriersPromiseTypesThatNamesCanHave) {
  std::set<std::string_view> promised;
  for (const auto& row : detail::extensions)
    promised.insert(row.type);
  for (const auto& row : detail::carriers)
    EXPECT_TRUE(promised.contains(row.promised)) << row.promised;
}

// --- both ----------------------------------------------------------------------------------------

struct classify_case {
  const char* name;
  std::string_view file_name;
  std::string bytes;
  std::string_view type;
  bool mismatch = false;
};

TEST(MimeClassify, Table) {
  const std::string png = test::png();
  const std::string zip = test::zip_entry("a.txt", "hello");
  const std::string noise = "\x01\x02\x03\x04noise";
  constexpr auto word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
  const classify_case cases[] = {
      {"text takes the textual type of the name", "a.ts", "let x = 1;\n", "text/x-typescript"},
      {"markdown that begins with HTML", "README.md", "<h1 align=center>x</h1>", "text/markdown"},
      {"JSON", "a.json", "{}", "application/json"},
      {"script with another extension", "a.py", "#!/bin/sh\n", "text/x-python"},
      {"script without extension", "run", "#!/bin/sh\n", "text/x-shellscript"},
      {"Makefile", "Makefile", "all:\n", "text/x-makefile"},
      {"XML by extension", "a.csproj", "<?xml version=\"1.0\"?><Project/>", "text/xml"},
      {"RSS", "a.rss", "<?xml version=\"1.0\"?><rss/>", "application/rss+xml"},
      {"STEP", "a.stp", "ISO-10303-21;\nHEADER;\n", "model/step"},
      {"SVG", "a.svg", "<svg xmlns=\"\"/>", "image/svg+xml"},
      {"Latin-1 source", "a.c", "// caf\xE9\n", "text/x-c"},
      {"UTF-16 CSV", "a.csv",
       "\xFF\xFE"
       "a\0,\0"s,
       "text/csv"},
      {"text without extension", "notes", "hi", "text/plain"},
      {"text with unknown extension", "a.xyzzy", "hi", "text/plain"},
      {"text in a data file", "a.dat", "hi", "text/plain"},
      {"text called PNG", "a.png", "hi", "text/plain", true},
      {"HTML called PNG", "a.png", "<!DOCTYPE html><html>", "text/html", true},
      {"HTML called PDF", "a.pdf", "<html><body>404", "text/html", true},
      {"PNG", "a.png", png, "image/png"},
      {"PNG without extension", "a", png, "image/png"},
      {"PNG with unknown extension", "a.xyzzy", png, "image/png"},
      {"PNG called JPEG", "a.jpg", png, "image/png", true},
      {"PNG called text", "a.txt", png, "image/png", true},
      {"PNG in a data file", "a.bin", png, "image/png"},
      {"noise called PNG", "a.png", noise, "application/octet-stream", true},
      {"noise called Word", "a.docx", noise, "application/octet-stream", true},
      {"noise called text", "a.txt", noise, "application/octet-stream", true},
      {"noise of a type without signature", "a.tga", noise, "image/x-tga"},
      {"noise without extension", "a", noise, "application/octet-stream"},
      {"noise in a data file", "a.dat", noise, "application/octet-stream"},
      {"certificate as text", "a.crt", "-----BEGIN CERTIFICATE-----\n", "application/x-pem-file"},
      {"certificate as bytes", "a.crt", "\x30\x82\x01\x02", "application/x-pem-file"},
      {"mail", "a.eml", "From: a\n\nb", "message/rfc822"},
      {"zip", "a.zip", zip, "application/zip"},
      {"zip called Word", "a.docx", zip, word},
      {"zip called Python wheel", "a.whl", zip, "application/zip"},
      {"zip called PNG", "a.png", zip, "application/zip", true},
      {"OLE called Word", "a.doc", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "application/msword"},
      {"MP4 called M4A", "a.m4a", test::iso_media("isom"), "audio/mp4"},
      {"Loose PDF", "a.pdf", "\n%PDF-1.4", "application/pdf"},
      {"empty image", "a.png", "", "image/png"},
      {"empty source", "a.ts", "", "text/x-typescript"},
      {"empty", "a", "", "text/plain"},
      {"empty data file", "a.bin", "", "application/octet-stream"},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.name);
    const classification found = classify(row.file_name, row.bytes);
    EXPECT_EQ(found.type, row.type);
    EXPECT_EQ(found.mismatch, row.mismatch);
    EXPECT_EQ(found.by_content, sniff(row.bytes));
    EXPECT_EQ(found.by_extension, from_extension(row.file_name));
  }
}

TEST(MimeClassify, TypesForModels) {
  for (const auto type : {"image/png", "image/jpeg", "image/gif", "image/webp"})
    EXPECT_TRUE(is_image_for_model(type));
  for (const auto type :
       {"image/svg+xml", "image/avif", "image/bmp", "image/apng", "text/html", ""})
    EXPECT_FALSE(is_image_for_model(type)) << type;
}

TEST(MimeClassify, TextualTypes) {
  for (const auto type : {"text/plain", "application/json", "image/svg+xml", "application/ld+json",
                          "application/toml"})
    EXPECT_TRUE(is_textual(type)) << type;
  for (const auto type :
       {"image/png", "application/pdf", "application/octet-stream", "application/rtf", ""})
    EXPECT_FALSE(is_textual(type)) << type;
}

} // namespace
} // namespace paddock::mime
