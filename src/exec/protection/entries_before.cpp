// SPDX-License-Identifier: MIT
#include "exec/protection/entries_before.hpp"

#include <istream>

namespace paddock {

entries_before::object entries_before::of(const file_status& status,
                                          const std::optional<file_status>& leads_to) {
  return {status.device,
          status.inode,
          status.kind == entry_kind::directory ? 0 : status.changed_ns,
          leads_to ? leads_to->device : 0,
          leads_to ? leads_to->inode : 0};
}

void entries_before::add(const file_status& status, const std::optional<file_status>& leads_to) {
  all_.insert(of(status, leads_to));
}

void entries_before::remove(const file_status& status) {
  all_.erase(of(status, {}));
}

bool entries_before::contains(const file_status& status,
                              const std::optional<file_status>& leads_to) const {
  return all_.contains(of(status, leads_to));
}

void entries_before::keep_those_of(const entries_before& other) {
  std::erase_if(all_, [&](const object& each) { return !other.all_.contains(each); });
}

std::string entries_before::render() const {
  std::string text;
  for (const object& each : all_)
    text += "stood " + std::to_string(each.device) + ' ' + std::to_string(each.inode) + ' ' +
            std::to_string(each.changed_ns) + ' ' + std::to_string(each.led_device) + ' ' +
            std::to_string(each.led_inode) + '\n';
  return text;
}

std::string entries_before::render_removal(const file_status& status) {
  entries_before one;
  one.add(status);
  return "not-" + one.render();
}

bool entries_before::parse(const std::string& word, std::istream& in) {
  object each{};
  if (!(in >> each.device >> each.inode >> each.changed_ns >> each.led_device >> each.led_inode))
    return false;
  if (word == "not-stood")
    all_.erase(each);
  else if (word == "stood")
    all_.insert(each);
  else
    return false;
  return true;
}

} // namespace paddock
