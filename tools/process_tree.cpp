// SPDX-License-Identifier: MIT
#include "process_tree.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace paddock::exec {
namespace {

// A stopped tree needs two passes; each generation of processes that is started meanwhile needs one
// more.
constexpr int freeze_passes_max = 64;

struct directory_record { // linux_dirent64
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t size;
  std::uint8_t type;
  char name[1];
};

/// The state and the parent from /proc/PID/stat: "PID (NAME) STATE PARENT …", where NAME may
/// contain anything.
bool read_stat(int proc, const char* id, process& found) {
  char path[32];
  std::snprintf(path, sizeof path, "%.20s/stat", id);
  const int fd = ::openat(proc, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[512];
  const ssize_t n = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (n <= 0) return false;
  text[n] = '\0';
  const char* end_of_name = std::strrchr(text, ')');
  if (end_of_name == nullptr || end_of_name[1] != ' ' || end_of_name[2] == '\0') return false;
  found.id = static_cast<pid_t>(std::strtol(id, nullptr, 10));
  found.state = end_of_name[2];
  found.parent = static_cast<pid_t>(std::strtol(end_of_name + 3, nullptr, 10));
  found.descendant = false;
  return true;
}

bool is_dead(const process& p) {
  return p.state == 'Z' || p.state == 'X';
}

/// Whether it will not start another process: stopped, dead, or asleep in the kernel (where a
/// process that waits for a stopped vfork child stays for good; any other one stops as soon as it
/// wakes).
bool is_still(const process& p) {
  return p.state == 'T' || p.state == 't' || p.state == 'D' || is_dead(p);
}

} // namespace

bool process_tree::append(process found) {
  if (size_ == capacity_) {
    const std::size_t wanted = capacity_ == 0 ? 1024 : capacity_ * 2;
    void* larger = std::realloc(processes_, wanted * sizeof(process));
    if (larger == nullptr) return false;
    processes_ = static_cast<process*>(larger);
    capacity_ = wanted;
  }
  processes_[size_++] = found;
  return true;
}

bool process_tree::scan() {
  size_ = 0;
  const int proc = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (proc < 0) return false;
  alignas(directory_record) char records[16 * 1024];
  bool whole = true;
  for (;;) {
    const long n = ::syscall(SYS_getdents64, proc, records, sizeof records);
    if (n <= 0) {
      whole = whole && n == 0;
      break;
    }
    for (long at = 0; at < n;) {
      const char* record = records + at;
      std::uint16_t size;
      std::memcpy(&size, record + offsetof(directory_record, size), sizeof size);
      const char* name = record + offsetof(directory_record, name);
      process found;
      if (name[0] >= '1' && name[0] <= '9' && read_stat(proc, name, found))
        whole = append(found) && whole;
      at += size;
    }
  }
  ::close(proc);
  mark_descendants();
  return whole && size_ > 0;
}

process* process_tree::find(pid_t id) {
  std::size_t low = 0;
  std::size_t high = size_;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (processes_[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < size_ && processes_[low].id == id ? &processes_[low] : nullptr;
}

void process_tree::mark_descendants() {
  // /proc lists processes by ascending ID and a child usually has the higher one, so few rounds do.
  const pid_t self = ::getpid();
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < size_; ++i) {
      process& p = processes_[i];
      if (p.descendant) continue;
      const process* parent = p.parent == self ? nullptr : find(p.parent);
      if (p.parent == self || (parent != nullptr && parent->descendant))
        changed = p.descendant = true;
    }
  }
}

bool process_tree::freeze() {
  int quiet = 0; // twice in a row, because one pass can miss a process that is just being started
  for (int pass = 0; pass < freeze_passes_max && quiet < 2; ++pass) {
    if (!scan()) return false;
    bool all_still = true;
    for (std::size_t i = 0; i < size_; ++i) {
      const process& p = processes_[i];
      if (!p.descendant || p.state == 'T') continue;
      ::kill(p.id, SIGSTOP); // also when the first thread is dead: others may live
      all_still = all_still && is_still(p);
    }
    quiet = all_still ? quiet + 1 : 0;
  }
  return true;
}

void process_tree::kill_all() const {
  for (std::size_t i = size_; i > 0; --i)
    if (processes_[i - 1].descendant) ::kill(processes_[i - 1].id, SIGKILL);
}

bool process_tree::has_other_than(pid_t first, pid_t second) const {
  for (std::size_t i = 0; i < size_; ++i) {
    const process& p = processes_[i];
    if (p.descendant && !is_dead(p) && p.id != first && p.id != second) return true;
  }
  return false;
}

} // namespace paddock::exec
