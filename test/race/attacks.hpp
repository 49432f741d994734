// SPDX-License-Identifier: MIT
#pragma once

// What an attacker does to the tree while operations run: it exchanges two names, as a thread of
// this process or as a process of its own, as fast as it can.

#include "support/files/canary.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <atomic>
#include <span>
#include <string>
#include <thread>

namespace paddock::test {

/// What is exchanged, and the path that operations are given. Every attack has a directory with the
/// victims inside the workspace and names like them outside.
struct attack {
  const char* name;
  const char* a;    ///< beneath the directory that holds ws and out
  const char* b;    ///< exchanged with a
  const char* home; ///< the directory of the victims, beneath it before the attack
  const char* path; ///< how operations spell that directory, relative to ws
  enum class reach {
    outside,   ///< for a moment the path leads out: a check that is overtaken escapes
    inside,    ///< it leads nowhere else, but it is not always there
    hidden,    ///< for a moment it leads to what walks must not enter
    same_place ///< it leads to the victims before and after every exchange
  } leads;
};

[[nodiscard]] std::span<const attack> attacks();

/// The file that operations read, change and remove, the one that they make, and one that nobody
/// touches.
inline constexpr const char* victim_name = "f.txt";
inline constexpr const char* new_name = "to.txt";
inline constexpr const char* marker_name = "here.txt";

/// Makes the tree that the attacks are about. Everything an operation may look for has a namesake
/// outside.
void build_for_attacks(const canary_tree& canary);

/// The outside, but for the directories that an attack itself moves.
[[nodiscard]] std::string describe_unmoved_outside(const canary_tree& canary);

enum class attacker_kind { thread, process };

/// Exchanges two names until it is destroyed, an even number of times.
class attacker {
public:
  attacker(attacker_kind kind, std::string a, std::string b);
  attacker(const attacker&) = delete;
  attacker& operator=(const attacker&) = delete;
  ~attacker();

  [[nodiscard]] long swaps() const { return shared_->swaps.load(std::memory_order_relaxed); }
  void wait_for_swaps(long count) const;
  /// Lets it act if it has not since the last call: there may be fewer processors than processes.
  void give_way();

private:
  struct shared_state {
    std::atomic<bool> done{false};
    std::atomic<long> swaps{0};
  };
  static void work(shared_state& shared, const char* a, const char* b);

  shared_state* shared_; ///< in memory that a forked process shares
  std::thread thread_;
  int process_ = -1;
  long seen_ = 0;
};

/// The directory of the victims, held by descriptor: it is reached wherever the attacker has put
/// its name.
class home {
public:
  explicit home(const std::string& path);
  /// Makes what operations consume. Names that are there already stay.
  void prepare() const;
  void clear(const char* name) const;
  void clear_tree(const char* name) const;

private:
  void write(const char* name, int flags) const;
  [[nodiscard]] bool is_link(const char* name) const;
  file_descriptor fd_;
};

} // namespace paddock::test
