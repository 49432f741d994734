// SPDX-License-Identifier: MIT

// Sniffing of arbitrary bytes under an arbitrary name. Input: the size of the name in one byte, the
// name, the bytes.

#include <paddock/mime/mime.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_utf8(paddock::mime::text_encoding encoding) {
  return encoding == paddock::mime::text_encoding::utf8 ||
         encoding == paddock::mime::text_encoding::utf8_with_bom;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paddock::mime;
  if (size == 0) return 0;
  const std::string_view all(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string_view name = all.substr(0, data[0]);
  const std::string_view bytes = all.substr(name.size());
  // Allocations of their own, so that a read beyond either of them is seen.
  const std::vector<char> name_copy(name.begin(), name.end());
  const classification found = classify({name_copy.data(), name_copy.size()}, bytes);

  require(!found.type.empty() && found.by_content == sniff(bytes));
  require(found.type == found.by_content.type || found.type == found.by_extension);
  require(!found.mismatch || (found.by_extension && found.type == found.by_content.type));
  const bool is_text = found.by_content.encoding != text_encoding::none;
  require(!is_text || is_textual(found.by_content.type));
  if (is_utf8(found.by_content.encoding)) {
    require(bytes.find('\0') == std::string_view::npos);
    require(paddock::detail::is_valid_utf8(paddock::detail::truncate_to_valid_prefix(bytes)));
  }
  // An image that is handed to a model has been recognised by its bytes.
  if (is_image_for_model(found.type) && !bytes.empty())
    require(found.by_content.evidence == evidence::signature);
  return 0;
}
