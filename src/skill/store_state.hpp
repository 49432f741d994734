// SPDX-License-Identifier: MIT
#pragma once

// What a skill_store consists of, and what its sources share.

#include "skill/index.hpp"

#include <paddock/skill/store.hpp>

#include <memory>
#include <string_view>
#include <utility>

namespace paddock {

struct skill_store::state {
  state(std::shared_ptr<const root> r, skill_store_options o)
      : base(std::move(r)), options(std::move(o)), index(*base, options) {}

  const std::shared_ptr<const root> base;
  const skill_store_options options;
  skill_index index;
};

/// The name of an existing directory of skills, as a caller gives it. Errors: not_found for what
/// can be none.
[[nodiscard]] result<component> existing_id(std::string_view id);

/// The name of a new one. Errors: invalid_argument ("id").
[[nodiscard]] result<component> new_id(std::string_view id);

/// The nearest name that new_id accepts; empty when nothing is left of it.
[[nodiscard]] std::string id_from(std::string_view name);

/// UTF-8 without control characters, line separators and characters that turn the direction of
/// writing.
[[nodiscard]] bool is_plain_line(std::string_view text);

/// Whether a directory of skills has an entry of this name.
[[nodiscard]] bool has_entry(const skill_directory& in, const component& id);

/// The entry in the user's directory after a change. With errors in its frontmatter it has
/// neither name nor description. Errors: those of reading it; the change has happened all the same.
[[nodiscard]] result<skill> describe_changed(const root& base, const skill_store_options& options,
                                             const component& id);

} // namespace paddock
