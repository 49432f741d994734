// SPDX-License-Identifier: MIT
#pragma once

// Why a change of text was not made, in words that let a model repair its next call, and as the
// members of a failure: {"error", "message", "path", "edit"?, "occurrencesAt"?, "nearest"?,
// "hash"?}.

#include <paddock/base/error.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/file/file.hpp>
#include <paddock/mcp/tool.hpp>
#include <paddock/text/edit_steps.hpp>
#include <paddock/text/near_miss.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::mcp {

/// The end of the words of a refusal.
inline constexpr std::string_view unchanged = "; nothing was changed";

struct refusal {
  error_code code{};
  std::string words;                ///< what is wrong, and what to do next
  std::optional<std::size_t> edit;  ///< which one, from 0
  std::vector<std::uint64_t> lines; ///< of the places that fit, from 0
  std::optional<near_miss> nearest; ///< its lines count in the content before the call
  std::string hash;                 ///< of the file as it is; empty: not known
};

/// Puts a clause before the end of the words, which is that nothing was changed.
void say_also(refusal& why, std::string_view clause);

/// The same as an error.
struct failed_change : error {
  failed_change(refusal r) : error{r.code, 0, "change"}, why(std::move(r)) {}
  failed_change(refusal r, std::string_view named) : failed_change(std::move(r)) { path = named; }

  refusal why;
  std::string path;          ///< as the caller gave it; empty: not known here
  std::vector<refusal> more; ///< of the same file, where more than the first is wanted
};

/// `path` as the caller gave it. An empty one is left out.
[[nodiscard]] tool_result refused(const refusal& why, std::string_view path);

/// Of what the file system says. `hint` as in failure.
[[nodiscard]] refusal refusal_of(const error& e, std::string_view hint = {});

/// Why a step was not made in `text`, which is looked at once more for that as long as `bounds`
/// allow. `list` is what the call named the steps, such as "edits".
[[nodiscard]] refusal refusal_of(std::string_view text, std::span<const edit_step> steps,
                                 const edit_failure& failure, std::string_view list,
                                 const work_bounds& bounds);

/// Of what would take long to look through, nothing.
[[nodiscard]] std::optional<near_miss> nearest_in(std::string_view text, std::string_view old_text,
                                                  std::string_view new_text,
                                                  const work_bounds& bounds);
/// Why `old_text` does not occur in `text`, where that can be told from both alone; else empty.
/// `given` as in words_of.
[[nodiscard]] std::string plain_cause(std::string_view text, std::string_view old_text,
                                      std::string_view given);
/// What nearest_in found in `text`, as the end of a sentence that begins with "does not occur";
/// with what to do about it. `given` is what the caller named the old text.
[[nodiscard]] std::string words_of(const std::optional<near_miss>& nearest, std::string_view text,
                                   std::string_view given, const work_bounds& bounds);

/// "line 3", "lines 3, 9, …"; given from 0, said from 1.
[[nodiscard]] std::string lines_text(std::span<const std::uint64_t> lines, std::uint64_t all);

/// What an `ifHash` asks of the content to be changed; empty: nothing.
class wanted_hash {
public:
  explicit wanted_hash(std::string_view given) : given_(given) {}

  [[nodiscard]] bool is_given() const noexcept { return !given_.empty(); }
  /// Whether this is the content that is meant; for one that is not its hash is kept.
  [[nodiscard]] bool operator()(std::string_view content);
  /// The same as the changes of files ask for it. Precondition: this outlives it.
  [[nodiscard]] content_check check() {
    return is_given() ? content_check(*this) : content_check();
  }

  /// Whether an operation failed because of the hash that was asked for.
  [[nodiscard]] bool explains(const error& e) const;
  /// Why, of the content last seen. Precondition: `explains(e)`.
  [[nodiscard]] refusal why(const error& e) const;
  /// The same as a result; `name` is the parameter that has the path.
  [[nodiscard]] tool_result refuse(const error& e, const call& c, std::string_view name) const;

private:
  std::string_view given_;
  std::string seen_; ///< the first digits
};

} // namespace paddock::mcp
