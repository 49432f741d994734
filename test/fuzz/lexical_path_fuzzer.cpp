// SPDX-License-Identifier: MIT

// Path algebra and the codec for names. Input: the size of a root path in one byte, the root path,
// a path.

#include <paddock/lexical_path.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace paddock;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_names(std::string_view bytes) {
  const std::string encoded = encode_name(bytes);
  require(paddock::detail::is_valid_utf8(encoded));
  require(decode_name(encoded) == bytes);
  require(needs_encoding(bytes) == (encoded != bytes));
  const std::string decoded = decode_name(bytes);
  require(decode_name(encode_name(decoded)) == decoded);
}

void check_path(std::string_view path) {
  const std::string normal = normalize_lexically(path);
  require(normalize_lexically(normal) == normal);
  require(is_absolute(normal) == is_absolute(path));
  require(normalize_lexically(join(parent(path), file_name(path))) == normal);
  require(file_name(path).ends_with(extension(path)));
  require(file_name(path).find('/') == std::string_view::npos);
  if (!escapes_lexically(path)) require(normal != ".." && !normal.starts_with("../"));
}

void check_prefix(std::string_view path, std::string_view root) {
  const auto remainder = strip_root_prefix(path, root);
  if (!remainder) return;
  require(is_absolute(path) && is_absolute(root) && path.ends_with(*remainder));
  require(!is_absolute(*remainder));
  require(normalize_lexically(join(root, *remainder)) == normalize_lexically(path));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 4096) return 0;
  const std::string_view all(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string_view root = all.substr(0, data[0]);
  const std::string_view path = all.substr(root.size());
  check_names(path);
  check_path(path);
  check_prefix(path, root);
  check_prefix(std::string(root) + std::string(path), root);
  return 0;
}
