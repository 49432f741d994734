// SPDX-License-Identifier: MIT
#pragma once

// Where an imported skill comes from, behind one interface: a folder, an archive, files in memory.
// A source lists what it claims to hold; whether that is acceptable is decided elsewhere and once
// (import_policy.hpp), before anything is read or written.

#include <paddock/path/root.hpp>
#include <paddock/skill/store.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// What one import knows all the way down, and where it says why it ends.
struct import_context {
  const import_options& options;
  import_report& report;

  [[nodiscard]] const import_limits& limits() const { return options.limits; }
  [[nodiscard]] error refuse(import_refusal why, std::string_view entry = {}) const {
    report.refusal = why;
    report.entry = entry;
    return {code_of(why), 0, "import"};
  }
  /// Errors: cancelled.
  [[nodiscard]] result<void> check_cancelled() const {
    if (options.cancelled != nullptr && options.cancelled->load(std::memory_order_relaxed))
      return error{error_code::cancelled, 0, "import"};
    return {};
  }
};

struct source_entry {
  std::string path; ///< as the source spells it, but without a slash at the end of a directory
  entry_kind kind = entry_kind::file; ///< file or directory
  bool executable = false;
  std::uint64_t size = 0;   ///< as declared
  std::uint64_t packed = 0; ///< what it takes in the source
  std::uint64_t handle = 0; ///< the source's own number of it
};

class skill_source_reader {
public:
  using sink = std::function<result<void>(std::string_view)>;

  virtual ~skill_source_reader() = default;
  /// Errors: whatever makes the source unfit to be looked at any further.
  [[nodiscard]] virtual result<std::vector<source_entry>> entries(const import_context& in) = 0;
  /// Gives the content of a file to `out`, piece by piece. Errors: those of `out`, and a refusal
  /// when the content is not what was declared.
  [[nodiscard]] virtual result<void> read(const source_entry& entry, const import_context& in,
                                          const sink& out) = 0;
  /// Whether only reading everything shows that the source keeps its promises.
  [[nodiscard]] virtual bool needs_rehearsal() const { return false; }
};

/// `source` is the folder, opened as a root of its own.
[[nodiscard]] std::unique_ptr<skill_source_reader> folder_source(const root& source);
[[nodiscard]] std::unique_ptr<skill_source_reader>
memory_source(std::span<const uploaded_file> files);
/// `bytes` is the archive and has to outlive the reader.
[[nodiscard]] std::unique_ptr<skill_source_reader> zip_source(std::string_view bytes);

/// Entries that packing tools and version control add and that belong to no skill.
[[nodiscard]] bool is_by_product(std::string_view component);

} // namespace paddock
