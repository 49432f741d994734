// SPDX-License-Identifier: MIT

// Zip archives as a source of skills, read by libzip after zip_directory has found that every
// reader would find the same in them. The archive is in memory, so nobody can change it between the
// checks and the reading.

#include "skill/import_policy.hpp"
#include "skill/source.hpp"
#include "skill/zip_directory.hpp"
#include "sys/shared_library.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>

namespace paddock {
namespace {

// The functions of libzip that are used, loaded when one is first needed (or linked, in a static
// program).

#define PADDOCK_LIBZIP_FUNCTIONS(X)                                                                \
  X(zip_, discard)                                                                                 \
  X(zip_, error_code_zip)                                                                          \
  X(zip_, error_fini)                                                                              \
  X(zip_, error_init)                                                                              \
  X(zip_, fclose)                                                                                  \
  X(zip_, file_get_error)                                                                          \
  X(zip_, file_get_external_attributes)                                                            \
  X(zip_, fopen_index)                                                                             \
  X(zip_, fread)                                                                                   \
  X(zip_, get_error)                                                                               \
  X(zip_, get_name)                                                                                \
  X(zip_, get_num_entries)                                                                         \
  X(zip_, open_from_source)                                                                        \
  X(zip_, source_buffer_create)                                                                    \
  X(zip_, source_free)                                                                             \
  X(zip_, stat_index)                                                                              \
  X(zip_, stat_init)

struct libzip_functions {
  PADDOCK_LIBZIP_FUNCTIONS(PADDOCK_FUNCTION_MEMBER)
  bool are_there = false; ///< false: none of them may be called
};

/// The same at each call, once they are there.
const libzip_functions& libzip() noexcept {
#ifdef PADDOCK_LIBZIP_LIBRARY
  static sys::loaded_functions<libzip_functions> functions;
  return functions.get(PADDOCK_LIBZIP_LIBRARY, [](const auto& library, libzip_functions& found) {
    return true PADDOCK_LIBZIP_FUNCTIONS(PADDOCK_FIND_FUNCTION);
  });
#else
  static constexpr libzip_functions functions{PADDOCK_LIBZIP_FUNCTIONS(PADDOCK_LINK_FUNCTION) true};
  return functions;
#endif
}

struct discard {
  void operator()(zip_t* z) const { libzip().discard(z); }
};
struct close_file {
  void operator()(zip_file_t* f) const { (void)libzip().fclose(f); }
};

/// The high half of the external attributes is a Unix mode, or zero.
constexpr unsigned mode_shift = 16;

import_refusal refusal_of(int zip_error) {
  switch (zip_error) {
  case ZIP_ER_NOZIP:
    return import_refusal::not_a_zip;
  case ZIP_ER_MULTIDISK:
    return import_refusal::multi_disk;
  case ZIP_ER_CRC:
    return import_refusal::bad_checksum;
  case ZIP_ER_COMPNOTSUPP:
    return import_refusal::compression_method;
  case ZIP_ER_ENCRNOTSUPP:
  case ZIP_ER_NOPASSWD:
  case ZIP_ER_WRONGPASSWD:
    return import_refusal::encrypted;
  case ZIP_ER_ZLIB:
  case ZIP_ER_EOF:
  case ZIP_ER_COMPRESSED_DATA:
    return import_refusal::bad_data;
  default:
    return import_refusal::inconsistent;
  }
}

class zip_reader final : public skill_source_reader {
public:
  explicit zip_reader(std::string_view bytes) : bytes_(bytes) {}

  result<std::vector<source_entry>> entries(const import_context& in) override {
    PADDOCK_TRY(const auto raw, raw_entries(in));
    // libzip takes what local headers do not know yet for a contradiction.
    const bool descriptors = std::ranges::any_of(raw, &zip::raw_entry::has_descriptor);
    PADDOCK_CHECK(open(in, descriptors ? 0 : ZIP_CHECKCONS));
    const auto count = libzip().get_num_entries(archive_.get(), 0);
    if (count < 0 || static_cast<std::size_t>(count) != raw.size())
      return in.refuse(import_refusal::inconsistent);
    std::vector<source_entry> found;
    found.reserve(raw.size());
    for (const auto& one : raw) {
      PADDOCK_TRY(auto entry, describe(found.size(), one.name, in));
      if (entry.size != one.size || entry.packed != one.packed)
        return in.refuse(import_refusal::inconsistent, entry.path);
      found.push_back(std::move(entry));
    }
    return found;
  }

  result<void> read(const source_entry& entry, const import_context& in, const sink& out) override {
    const std::unique_ptr<zip_file_t, close_file> file(
        libzip().fopen_index(archive_.get(), entry.handle, 0));
    if (!file)
      return in.refuse(refusal_of(libzip().error_code_zip(libzip().get_error(archive_.get()))),
                       entry.path);
    std::uint64_t done = 0;
    std::array<char, std::size_t{64} * 1024> buffer;
    for (;;) {
      const auto n = libzip().fread(file.get(), buffer.data(), buffer.size());
      if (n < 0)
        return in.refuse(refusal_of(libzip().error_code_zip(libzip().file_get_error(file.get()))),
                         entry.path);
      if (n == 0) break;
      done += static_cast<std::uint64_t>(n);
      // Real bytes count: what is declared may lie.
      if (done > entry.size) return in.refuse(import_refusal::size_mismatch, entry.path);
      PADDOCK_CHECK(out({buffer.data(), static_cast<std::size_t>(n)}));
    }
    if (done != entry.size) return in.refuse(import_refusal::size_mismatch, entry.path);
    return {};
  }

  [[nodiscard]] bool needs_rehearsal() const override { return true; }

private:
  result<std::vector<zip::raw_entry>> raw_entries(const import_context& in) const {
    zip::directory_end end;
    switch (zip::find_end(bytes_, end)) {
    case zip::end_state::found:
      break;
    case zip::end_state::missing:
      return in.refuse(zip::begins_like_an_archive(bytes_) ? import_refusal::truncated
                                                           : import_refusal::not_a_zip);
    case zip::end_state::ambiguous:
      return in.refuse(import_refusal::inconsistent);
    case zip::end_state::multi_disk:
      return in.refuse(import_refusal::multi_disk);
    }
    if (end.entries > in.limits().entries_max) return in.refuse(import_refusal::too_many_entries);
    auto raw = zip::read_entries(bytes_, end);
    if (!raw) return in.refuse(import_refusal::inconsistent);
    // libzip refuses most of these as well, but the archive as a whole and not by their names.
    std::set<std::string_view> names;
    for (const auto& entry : *raw) {
      auto path = entry.name;
      if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
      PADDOCK_CHECK(check_entry_name(path, in));
      if (!names.insert(entry.name).second) return in.refuse(import_refusal::duplicate, path);
      if (entry.contradicted) return in.refuse(import_refusal::name_mismatch, path);
      if (entry.method != ZIP_CM_STORE && entry.method != ZIP_CM_DEFLATE)
        return in.refuse(import_refusal::compression_method, path);
    }
    if (!zip::is_without_gaps(bytes_, end, *raw)) return in.refuse(import_refusal::inconsistent);
    return *std::move(raw);
  }

  result<void> open(const import_context& in, int checks) {
    if (!libzip().are_there) return in.refuse(import_refusal::no_zip_support);
    zip_error_t failure;
    libzip().error_init(&failure);
    zip_source_t* source = libzip().source_buffer_create(bytes_.data(), bytes_.size(), 0, &failure);
    if (source != nullptr)
      archive_.reset(libzip().open_from_source(source, ZIP_RDONLY | checks, &failure));
    const int code = libzip().error_code_zip(&failure);
    libzip().error_fini(&failure);
    if (archive_) return {};
    if (source != nullptr) libzip().source_free(source);
    if (code == ZIP_ER_MEMORY) return error{error_code::too_many, 0, "libzip"};
    // Its end has been found, so it is an archive, and one that something is wrong with.
    return in.refuse(code == ZIP_ER_NOZIP ? import_refusal::inconsistent : refusal_of(code));
  }

  result<source_entry> describe(std::uint64_t at, std::string_view name, const import_context& in) {
    using enum import_refusal;
    source_entry entry{.path = std::string(name), .handle = at};
    const char* translated = libzip().get_name(archive_.get(), at, ZIP_FL_ENC_RAW);
    if (translated == nullptr || name != translated) return in.refuse(name_mismatch, name);
    zip_stat_t status;
    libzip().stat_init(&status);
    constexpr zip_uint64_t needed =
        ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (libzip().stat_index(archive_.get(), at, 0, &status) != 0 ||
        (status.valid & needed) != needed)
      return in.refuse(inconsistent, name);
    if (status.encryption_method != ZIP_EM_NONE) return in.refuse(encrypted, name);
    if (status.comp_method != ZIP_CM_STORE && status.comp_method != ZIP_CM_DEFLATE)
      return in.refuse(compression_method, name);
    entry.size = status.size;
    entry.packed = status.comp_size;
    PADDOCK_CHECK(classify(at, entry, in));
    return entry;
  }

  /// Kind and mode: from the Unix mode, where there is one with a type, and from the slash at the
  /// end of the name. Permission bits without a type, as some writers leave them, say nothing about
  /// the kind.
  result<void> classify(std::uint64_t at, source_entry& entry, const import_context& in) {
    using enum import_refusal;
    zip_uint8_t system = 0;
    zip_uint32_t attributes = 0;
    if (libzip().file_get_external_attributes(archive_.get(), at, 0, &system, &attributes) != 0)
      return in.refuse(inconsistent, entry.path);
    const unsigned mode = attributes >> mode_shift;
    const unsigned type = mode & static_cast<unsigned>(S_IFMT);
    if (type == S_IFLNK) return in.refuse(symlink, entry.path);
    if (type != 0 && type != S_IFREG && type != S_IFDIR) return in.refuse(special, entry.path);
    const bool slash = entry.path.ends_with('/');
    if ((type == S_IFREG && slash) || (type == S_IFDIR && !slash) || (slash && entry.size != 0))
      return in.refuse(type_mismatch, entry.path);
    entry.executable = !slash && (mode & static_cast<unsigned>(S_IXUSR)) != 0;
    if (slash) {
      entry.kind = entry_kind::directory;
      entry.path.pop_back();
    }
    return {};
  }

  std::string_view bytes_;
  std::unique_ptr<zip_t, discard> archive_;
};

} // namespace

std::unique_ptr<skill_source_reader> zip_source(std::string_view bytes) {
  return std::make_unique<zip_reader>(bytes);
}

} // namespace paddock
