// SPDX-License-Identifier: MIT
#pragma once

// A restore as a change of entries that the change room carries out, and back.

#include "change/plan.hpp"
#include "history/content_packs.hpp"
#include "history/restore_plan.hpp"

#include <string>
#include <string_view>

namespace paddock::history {

/// Contents of the store.
class packed_contents final : public content_source {
public:
  explicit packed_contents(const content_packs& packs) : packs_(packs) {}
  [[nodiscard]] result<std::string_view> bytes(const content_ref& of) override {
    PADDOCK_TRY(last_, packs_.read({.high = of.high, .low = of.low}));
    return std::string_view(last_);
  }

private:
  const content_packs& packs_;
  std::string last_;
};

/// `staging`: a temporary name that nobody has.
[[nodiscard]] change_plan steps_of(const store::impl& of, const restore_plan& plan,
                                   std::string staging);
/// What such a plan has brought about, as far as the history has to know it again.
[[nodiscard]] restore_plan restored_by(const change_plan& plan);

} // namespace paddock::history
