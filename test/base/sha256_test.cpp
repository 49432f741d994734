// SPDX-License-Identifier: MIT
#include "base/sha256.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace paddock {
namespace {

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

} // namespace
} // namespace paddock
