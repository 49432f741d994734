// SPDX-License-Identifier: MIT

// Path algebra and the codec for names. Input: the size of a root path in one byte, the root path,
// a path. Where there are no links, the algebra and the kernel agree.

#include <paddock/base/file_descriptor.hpp>
#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
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

/// A directory with others above it, so that paths may leave it.
class deep_place {
public:
  deep_place() {
    const bool in_memory = ::access("/dev/shm", W_OK | X_OK) == 0;
    top_ = std::string(in_memory ? "/dev/shm" : "/tmp") + "/paddock-fuzz-XXXXXX";
    require(::mkdtemp(top_.data()) != nullptr);
  }
  deep_place(const deep_place&) = delete;
  deep_place& operator=(const deep_place&) = delete;
  ~deep_place() { clear(top_); }

  /// Makes the directories that the path walks through, as the kernel walks it. False when it
  /// cannot be walked at all.
  bool make(std::string_view path) {
    clear(top_ + "/1");
    std::string base = top_;
    for (int i = 0; i < depth; ++i)
      require(::mkdir((base += "/1").c_str(), 0777) == 0);
    base_ = file_descriptor(::open(base.c_str(), O_PATH | O_CLOEXEC));
    file_descriptor at(::open(base.c_str(), O_PATH | O_CLOEXEC));
    for (auto part = next_component(path); !part.empty(); part = next_component(path)) {
      const std::string name(part);
      const bool made = ::mkdirat(at.get(), name.c_str(), 0777) == 0 || errno == EEXIST;
      if (!made) return false; // too long
      at = file_descriptor(::openat(at.get(), name.c_str(), O_PATH | O_CLOEXEC));
    }
    return true;
  }
  /// Where a path leads, as a number; 0: out of the base.
  [[nodiscard]] std::uint64_t inode(const std::string& path, std::uint64_t resolve) const {
    open_how how{.flags = O_PATH | O_CLOEXEC, .mode = 0, .resolve = resolve};
    file_descriptor fd;
    for (errno = EAGAIN; !fd && errno == EAGAIN;) // a rename somewhere on the machine
      fd = file_descriptor(
          static_cast<int>(::syscall(SYS_openat2, base_.get(), path.c_str(), &how, sizeof how)));
    if (!fd && errno == ENOSYS) return unknown;
    struct stat s{};
    return fd && ::fstat(fd.get(), &s) == 0 ? s.st_ino : 0;
  }

  static constexpr int depth = 12;
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};

private:
  static void clear(const std::string& path) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }

  std::string top_;
  file_descriptor base_;
};

/// Spelling a path in another way does not change where it leads, and it leaves the base when the
/// kernel says so.
void check_against_kernel(std::string_view path) {
  static deep_place place;
  const bool fits = path.size() <= 2 * deep_place::depth && !is_absolute(path) && !path.empty() &&
                    path.find('\0') == std::string_view::npos;
  if (!fits || !place.make(path)) return;
  const std::string spelled(path);
  const std::string normal = normalize_lexically(path);
  const std::uint64_t there = place.inode(spelled, 0);
  require(there != 0 && place.inode(normal, 0) == there);
  require(place.inode(join(parent(path), file_name(path)), 0) == there);
  const std::uint64_t beneath = place.inode(spelled, RESOLVE_BENEATH);
  if (beneath != deep_place::unknown) require((beneath == 0) == escapes_lexically(path));
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
  check_against_kernel(path);
  check_prefix(path, root);
  check_prefix(std::string(root) + std::string(path), root);
  return 0;
}
