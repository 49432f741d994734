// SPDX-License-Identifier: MIT
#include "crypto/crypto.hpp"
#include "precompiled/tests.hpp"

namespace paddock {
namespace {

TEST(Hex, EveryByte) {
  for (int byte = 0; byte < 256; ++byte) {
    char expected[8];
    std::snprintf(expected, sizeof expected, "%02xff", byte);
    EXPECT_EQ(hex(std::string{static_cast<char>(byte), '\xff'}), expected);
  }
  EXPECT_EQ(hex(""), "");
}

// The examples that NIST publishes with FIPS 180-4, and the empty message.
TEST(Sha256, PublishedVectors) {
  struct row {
    std::string message;
    std::string_view digest;
  };
  const row rows[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmn"
       "opqrsmnopqrstnopqrstu",
       "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
      {std::string(1'000'000, 'a'),
       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
  };
  for (const auto& [message, digest] : rows)
    EXPECT_EQ(sha256_hex(message), digest) << message.size();
}

// Every length around the boundaries of blocks: the digest of all digests so far, computed with
// Python's hashlib.
TEST(Sha256, EveryLengthUpToThreeBlocks) {
  std::string chain;
  for (std::size_t length = 0; length <= 192; ++length) {
    std::string message;
    for (std::size_t i = 0; i < length; ++i)
      message += static_cast<char>((i * 7 + length) & 0xFF);
    chain = sha256_hex(chain + message);
  }
  EXPECT_EQ(chain, "a085653f1837451812b929d1aea933fb0e394042dfaed2875c054e3939e87ae7");
}

// RFC 4231, cases 1, 2, 3 and 6.
TEST(Hmac, OfTheStandardsExamples) {
  const struct {
    std::string key;
    std::string message;
    const char* digest;
  } cases[] = {
      {std::string(20, '\x0b'), "Hi There",
       "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {"Jefe", "what do ya want for nothing?",
       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {std::string(20, '\xaa'), std::string(50, '\xdd'),
       "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
      {std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First",
       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(c.digest, hmac_sha256_hex(c.key, c.message)) << c.message;
}

TEST(SameSecret, IsTheSameBytes) {
  EXPECT_TRUE(same_secret("", ""));
  EXPECT_TRUE(same_secret(std::string_view("a\0b", 3), std::string_view("a\0b", 3)));
  EXPECT_FALSE(same_secret(std::string_view("a\0b", 3), std::string_view("a\0c", 3)));
  EXPECT_FALSE(same_secret("a", "A"));
  EXPECT_FALSE(same_secret("a", "ab"));
  EXPECT_FALSE(same_secret("a", ""));
}

TEST(Base64, PublishedVectors) {
  for (const auto& [bytes, text] :
       {std::pair("", ""), std::pair("f", "Zg=="), std::pair("fo", "Zm8="),
        std::pair("foo", "Zm9v"), std::pair("foob", "Zm9vYg=="), std::pair("fooba", "Zm9vYmE="),
        std::pair("foobar", "Zm9vYmFy"), std::pair("\xFF\xFE\xFD", "//79")}) {
    EXPECT_EQ(base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, OnlyWhatItMakesIsTaken) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zm9", "Zm9vYg",
                           "Zg===", "Zg==Zg==", "=Zg=", "====", "Zh==", "Zm9=", "Zm9v\n", " Zm9v",
                           "Zm 9v", "Zm9-", "Zm9_", "Zm9\xC3\xA9"})
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  EXPECT_EQ(from_base64(std::string_view("Zm9v\0\0\0\0", 8)), std::nullopt);
}

// Two bytes at the end, each with every value.
TEST(Base64, EveryEnd) {
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second) {
      const std::string bytes{'x', 'y', 'z', static_cast<char>(first), static_cast<char>(second)};
      ASSERT_EQ(from_base64(base64(bytes)), bytes);
    }
}

} // namespace
} // namespace paddock
