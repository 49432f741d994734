// SPDX-License-Identifier: MIT
#include "skill/source.hpp"

#include "file/directory_stream.hpp"
#include "path/resolve.hpp"
#include "sys/syscall.hpp"

#include <paddock/base/detail/ascii.hpp>
#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>

#include <array>
#include <utility>

namespace paddock {
namespace {

constexpr std::uint32_t owner_may_execute = 0100;

class folder_reader final : public skill_source_reader {
public:
  explicit folder_reader(const root& source) : source_(source) {}

  result<std::vector<source_entry>> entries(const import_context& in) override {
    std::vector<source_entry> found;
    std::vector<std::string> rest = {""};
    while (!rest.empty()) {
      PADDOCK_CHECK(in.check_cancelled());
      const std::string directory = std::move(rest.back());
      rest.pop_back();
      const auto first = found.size();
      PADDOCK_CHECK(list(directory, in, found));
      for (auto at = first; at < found.size(); ++at)
        if (found[at].kind == entry_kind::directory) rest.push_back(found[at].path);
    }
    return found;
  }

  result<void> read(const source_entry& entry, const import_context& in, const sink& out) override {
    const auto fd = open(entry.path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (!fd && resolve::met_link(fd.error())) return in.refuse(import_refusal::symlink, entry.path);
    if (!fd && fd.error().code == error_code::not_found)
      return in.refuse(import_refusal::changed, entry.path);
    if (!fd) return fd.error();
    PADDOCK_TRY(const auto status, sys::status_at(fd->get(), ""));
    if (status.kind != entry_kind::file) return in.refuse(import_refusal::changed, entry.path);
    std::uint64_t done = 0;
    std::array<char, std::size_t{64} * 1024> buffer;
    for (;;) {
      PADDOCK_TRY(const auto n, sys::read(fd->get(), buffer));
      if (n == 0) break;
      done += n;
      if (done > entry.size) break;
      PADDOCK_CHECK(out({buffer.data(), n}));
    }
    if (done != entry.size) return in.refuse(import_refusal::changed, entry.path);
    return {};
  }

private:
  /// No link on the way is followed, not even inside the folder.
  [[nodiscard]] result<file_descriptor> open(const std::string& path, int flags) const {
    const resolve::scope scope{.root = source_.descriptor(), .resolver = source_.resolver()};
    return resolve::open_strict(scope, path, static_cast<std::uint64_t>(flags));
  }

  result<void> list(const std::string& directory, const import_context& in,
                    std::vector<source_entry>& found) const {
    const auto fd = open(directory, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    if (!fd && resolve::met_link(fd.error())) return in.refuse(import_refusal::symlink, directory);
    if (!fd) return fd.error();
    result<void> failed;
    PADDOCK_CHECK(for_each_entry(fd->get(), [&](std::string_view name, unsigned char) {
      if (is_by_product(name)) {
        in.report.left_out.push_back(join(directory, name));
        return true;
      }
      if (auto added = add(fd->get(), directory, name, in, found); !added) failed = added.error();
      return failed.has_value();
    }));
    return failed;
  }

  static result<void> add(int fd, const std::string& directory, std::string_view name,
                          const import_context& in, std::vector<source_entry>& found) {
    source_entry entry{.path = directory, .handle = found.size()};
    if (!directory.empty()) entry.path += '/';
    entry.path += name;
    if (found.size() >= in.limits().entries_max)
      return in.refuse(import_refusal::too_many_entries, entry.path);
    if (entry.path.size() > in.limits().path_bytes_max)
      return in.refuse(import_refusal::path_too_long, entry.path);
    const auto status = sys::status_at(fd, name.data(), AT_SYMLINK_NOFOLLOW);
    if (!status && status.error().code == error_code::not_found)
      return in.refuse(import_refusal::changed, entry.path);
    if (!status) return status.error();
    if (status->kind == entry_kind::symlink) return in.refuse(import_refusal::symlink, entry.path);
    if (status->kind == entry_kind::other) return in.refuse(import_refusal::special, entry.path);
    entry.kind = status->kind;
    if (entry.kind == entry_kind::file) {
      entry.executable = (status->mode & owner_may_execute) != 0;
      entry.size = entry.packed = status->size;
    }
    found.push_back(std::move(entry));
    return {};
  }

  const root& source_;
};

class memory_reader final : public skill_source_reader {
public:
  explicit memory_reader(std::span<const uploaded_file> files) : files_(files) {}

  result<std::vector<source_entry>> entries(const import_context& in) override {
    if (files_.size() > in.limits().entries_max) return in.refuse(import_refusal::too_many_entries);
    std::vector<source_entry> found;
    found.reserve(files_.size());
    for (const auto& file : files_)
      found.push_back({.path = file.path,
                       .executable = file.executable,
                       .size = file.bytes.size(),
                       .packed = file.bytes.size(),
                       .handle = found.size()});
    return found;
  }

  result<void> read(const source_entry& entry, const import_context&, const sink& out) override {
    return out(files_[static_cast<std::size_t>(entry.handle)].bytes);
  }

private:
  std::span<const uploaded_file> files_;
};

} // namespace

std::unique_ptr<skill_source_reader> folder_source(const root& source) {
  return std::make_unique<folder_reader>(source);
}

std::unique_ptr<skill_source_reader> memory_source(std::span<const uploaded_file> files) {
  return std::make_unique<memory_reader>(files);
}

bool is_by_product(std::string_view component) {
  return component == "__MACOSX" || component == ".DS_Store" || component == ".git" ||
         detail::equal_ignoring_ascii_case(component, ".perstack") || component.starts_with("._");
}

} // namespace paddock
