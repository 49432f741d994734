// SPDX-License-Identifier: MIT
#pragma once

/// Which of several ignore files decides about a path, and what lies in an ignored directory.
///
/// A directory may hold a `.ignore` and a `.gitignore`, and a repository's `.git/info/exclude`. Of
/// one kind the file nearest to the path that has a rule for it decides; `.ignore` goes before
/// `.gitignore`, that before `info/exclude` (as in ripgrep). The rules of a repository do not reach
/// into a repository below it; those of `.ignore` do. Whatever lies in an ignored directory is
/// ignored, and no rule takes it back (as in git).
///
/// Values only: nothing is read from a disk. Thread-safety: const members may be called from any
/// number of threads at once.

#include <paddock/search/ignore_rules.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

/// The files that have rules.
enum class ignore_source : std::uint8_t {
  dot_ignore,   ///< `.ignore`
  gitignore,    ///< `.gitignore`
  info_exclude, ///< `.git/info/exclude`
};

/// Where the file lies, relative to the directory it is about.
[[nodiscard]] constexpr std::string_view file_of(ignore_source source) noexcept {
  switch (source) {
  case ignore_source::dot_ignore:
    return ".ignore";
  case ignore_source::gitignore:
    return ".gitignore";
  case ignore_source::info_exclude:
    return ".git/info/exclude";
  }
  return "";
}

/// The rules that one directory adds to those above it.
struct ignore_frame {
  std::string directory; ///< relative to the tree, "" at its top
  ignore_rules dot_ignore{};
  ignore_rules gitignore{};
  ignore_rules info_exclude{};
  bool repository = false;             ///< has a `.git`: rules of repositories above it end here
  const ignore_frame* above = nullptr; ///< the nearest one that has rules; not owned

  /// Those of one kind.
  [[nodiscard]] const ignore_rules& rules(ignore_source source) const noexcept {
    if (source == ignore_source::dot_ignore) return dot_ignore;
    return source == ignore_source::gitignore ? gitignore : info_exclude;
  }
};

/// A verdict with its origin. The pointers are null where it is `unmatched`; they are valid as long
/// as the frames.
struct ignore_decision {
  ignore_verdict verdict = ignore_verdict::unmatched;
  const ignore_rule* rule = nullptr;
  const ignore_frame* frame = nullptr;
  ignore_source source = ignore_source::gitignore;

  /// The ignore file, relative to the tree. Precondition: a rule decided.
  [[nodiscard]] std::string file() const {
    const std::string_view name = file_of(source);
    return frame->directory.empty() ? std::string(name)
                                    : frame->directory + '/' + std::string(name);
  }
};

/// What the innermost frame and those above it say of `path`, relative to the tree and beneath all
/// of them. The directories on the way to `path` are not asked. `may_go_on`: see ignore_rules.
template <class MayGoOn>
[[nodiscard]] ignore_decision match_frames(const ignore_frame* innermost, std::string_view path,
                                           entry_kind kind, MayGoOn&& may_go_on) {
  for (const ignore_source source :
       {ignore_source::dot_ignore, ignore_source::gitignore, ignore_source::info_exclude}) {
    for (const ignore_frame* frame = innermost; frame != nullptr; frame = frame->above) {
      const std::size_t skipped = frame->directory.empty() ? 0 : frame->directory.size() + 1;
      const ignore_match found = frame->rules(source).match(path.substr(skipped), kind, may_go_on);
      if (found.rule != nullptr) return {found.verdict, found.rule, frame, source};
      if (frame->repository && source != ignore_source::dot_ignore) break;
    }
  }
  return {};
}

/// The same for who has time for all rules.
[[nodiscard]] inline ignore_decision match_frames(const ignore_frame* innermost,
                                                  std::string_view path, entry_kind kind) noexcept {
  return match_frames(innermost, path, kind, [](std::uint64_t) { return true; });
}

/// A whole tree's ignore files, for who has no walker. Moves only.
class ignore_tree {
public:
  /// Gives the file of this kind in `directory` (relative to the tree, "" its top) its content.
  void add(std::string_view directory, ignore_source source, std::string_view text) {
    ignore_frame& frame = at(directory);
    ignore_rules& rules = source == ignore_source::dot_ignore  ? frame.dot_ignore
                          : source == ignore_source::gitignore ? frame.gitignore
                                                               : frame.info_exclude;
    rules = ignore_rules(text);
  }
  /// Says that `directory` has a `.git` of its own.
  void add_repository(std::string_view directory) { at(directory).repository = true; }

  /// Whether `path` is ignored: by a rule about itself, or because a directory above it is.
  /// Pointers in the answer are valid until the next change.
  [[nodiscard]] ignore_decision match(std::string_view path, entry_kind kind) const noexcept {
    for (std::size_t slash = path.find('/'); slash != npos; slash = path.find('/', slash + 1)) {
      const std::string_view above = path.substr(0, slash);
      const ignore_decision found =
          match_frames(innermost(parent_of(above)), above, entry_kind::directory);
      if (found.verdict == ignore_verdict::ignored) return found;
    }
    return match_frames(innermost(parent_of(path)), path, kind);
  }

private:
  static constexpr std::size_t npos = std::string_view::npos;

  /// "" at last: paths of a tree have no slash in front, nor at their end.
  static std::string_view parent_of(std::string_view path) noexcept {
    const std::size_t slash = path.rfind('/');
    return path.substr(0, slash == npos ? 0 : slash);
  }
  /// The place of a directory's frame among the frames, there or to be made.
  [[nodiscard]] std::size_t place_of(std::string_view directory) const noexcept {
    std::size_t begin = 0, end = frames_.size();
    while (begin < end) {
      const std::size_t middle = begin + (end - begin) / 2;
      if (frames_[middle]->directory < directory)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  }
  ignore_frame& at(std::string_view directory) {
    const std::size_t place = place_of(directory);
    if (is_at(place, directory)) return *frames_[place];
    auto fresh = std::make_unique<ignore_frame>();
    fresh->directory = directory;
    fresh->above = directory.empty() ? nullptr : innermost(parent_of(directory));
    const auto where = frames_.begin() + static_cast<std::ptrdiff_t>(place);
    ignore_frame& made = **frames_.insert(where, std::move(fresh));
    // Those in it begin with its name, and so stand together.
    for (std::size_t i = place + 1;
         i < frames_.size() && frames_[i]->directory.starts_with(directory); ++i)
      frames_[i]->above = innermost(parent_of(frames_[i]->directory));
    return made;
  }
  [[nodiscard]] bool is_at(std::size_t place, std::string_view directory) const noexcept {
    return place < frames_.size() && frames_[place]->directory == directory;
  }
  /// The frame of `directory` or of the nearest one above it.
  [[nodiscard]] const ignore_frame* innermost(std::string_view directory) const noexcept {
    for (;; directory = parent_of(directory)) {
      const std::size_t place = place_of(directory);
      if (is_at(place, directory)) return frames_[place].get();
      if (directory.empty()) return nullptr;
    }
  }

  std::vector<std::unique_ptr<ignore_frame>> frames_; ///< by directory; they point to each other
};

} // namespace paddock
