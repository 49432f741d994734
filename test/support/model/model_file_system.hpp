// SPDX-License-Identifier: MIT
#pragma once

// A file system in memory that answers as the library has to: what the documentation promises,
// written down a second time as plainly as possible and without any of the library's code but its
// table of errors. Directories, files and symbolic links beneath a root; paths are resolved one
// component after the other. The reserved name is `.perstack`.
//
// Each operation answers with one line: "ok" and what it returns, or the wire name of the error.

#include "support/model/model_tree.hpp"

#include <paddock/base/error.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::test {

class model_file_system {
  using kind = model_tree::kind;
  using last = model_tree::last;
  using missing = model_tree::missing;
  using node = model_tree::node;
  using found_place = model_tree::found_place;

public:
  /// `root_size`: how long the path is that the root has in links to it.
  explicit model_file_system(std::size_t root_size, wrong_rule wrong = wrong_rule::none)
      : root_size_(root_size), wrong_(wrong), tree_(wrong) {
    auto& reserved = tree_.top().add(std::string(reserved_name), kind::directory);
    reserved.add("kept", kind::file).bytes = "kept";
  }

  [[nodiscard]] std::string read(std::string_view path) {
    const auto found = tree_.open(path);
    if (found.failed) return refusal(found);
    if (found.at->is == kind::directory) return refusal(error_code::is_a_directory);
    return "ok " + model_tree::joined(found.names) + ' ' + found.at->bytes;
  }
  [[nodiscard]] std::string inspect(std::string_view path) {
    const auto found = tree_.open(path);
    if (found.failed) return refusal(found);
    return "ok " + model_tree::joined(found.names) + ' ' + describe(*found.at);
  }
  [[nodiscard]] std::string list(std::string_view path) {
    const auto found = tree_.open(path);
    if (found.failed) return refusal(found);
    if (found.at->is != kind::directory) return refusal(error_code::not_a_directory);
    std::string line = "ok " + model_tree::joined(found.names);
    for (const auto& [name, child] : found.at->children) {
      if (name == reserved_name) continue;
      line += ' ' + name + '=';
      if (child->is != kind::link) {
        line += describe(*child);
        continue;
      }
      auto names = found.names;
      names.push_back(name);
      const auto target = tree_.open(model_tree::joined(names));
      line += '@' + (target.failed ? describe_link(*child) : describe(*target.at));
    }
    return line;
  }
  [[nodiscard]] std::string write(std::string_view path, std::string_view bytes) {
    const auto where = tree_.locate(path, last::follow, missing::make);
    if (where.failed) return refusal(where);
    if (const auto no = refuse_target(where)) return refusal(*no, where);
    node& parent = model_tree::make_parents(where);
    node& file = where.existing != nullptr ? *where.existing : parent.add(where.name, kind::file);
    file.bytes = bytes;
    return "ok " + model_tree::joined(where.path());
  }
  [[nodiscard]] std::string append(std::string_view path, std::string_view bytes) {
    const auto where = tree_.locate(path, last::follow, missing::refuse);
    if (where.failed) return refusal(where);
    if (where.existing == nullptr) return refusal(error_code::not_found);
    if (const auto no = refuse_target(where)) return refusal(*no);
    where.existing->bytes += bytes;
    return "ok " + model_tree::joined(where.path());
  }
  [[nodiscard]] std::string edit(std::string_view path, char from, std::string_view to) {
    const auto where = tree_.locate(path, last::follow, missing::refuse);
    if (where.failed) return refusal(where);
    if (where.existing == nullptr) return refusal(error_code::not_found);
    if (const auto no = refuse_target(where)) return refusal(*no);
    std::string& bytes = where.existing->bytes;
    const auto count = std::count(bytes.begin(), bytes.end(), from);
    if (count == 0) return refusal(error_code::no_match);
    bytes.replace(bytes.find(from), 1, to);
    return "ok " + model_tree::joined(where.path()) + ' ' + std::to_string(count);
  }
  [[nodiscard]] std::string create_directory(std::string_view path) {
    const auto where = tree_.locate(path, last::keep, missing::make);
    if (where.failed == error_code::workspace_root) return refusal(error_code::already_exists);
    if (where.failed) return refusal(where);
    if (where.existing != nullptr) return refusal(error_code::already_exists, where);
    model_tree::make_parents(where).add(where.name, kind::directory);
    return "ok " + model_tree::joined(where.path());
  }
  [[nodiscard]] std::string move(std::string_view source, std::string_view destination) {
    const auto from = tree_.locate(source, last::keep, missing::refuse);
    if (from.failed) return refusal(from);
    if (from.existing == nullptr) return refusal(error_code::not_found);
    const bool directory = from.existing->is == kind::directory;
    if (from.slash && !directory) return refusal(error_code::not_a_directory);
    const auto to = tree_.locate(destination, last::keep, missing::make);
    if (to.failed) return refusal(to);
    if (to.existing != nullptr) return refusal(error_code::already_exists, to);
    if (to.slash && !directory) return refusal(error_code::not_a_directory, to);
    for (const node* above = to.parent; above != nullptr; above = above->parent)
      if (above == from.existing) return refusal(error_code::invalid_argument, to);
    node& parent = model_tree::make_parents(to);
    parent.take(to.name, from.parent->release(from.name));
    return "ok " + model_tree::joined(from.path()) + ' ' + model_tree::joined(to.path());
  }
  [[nodiscard]] std::string remove_file(std::string_view path) {
    const auto how = wrong_ == wrong_rule::links_are_removed_through ? last::follow : last::keep;
    const auto where = tree_.locate(path, how, missing::refuse);
    if (where.failed) return refusal(where);
    if (where.existing == nullptr) return refusal(error_code::not_found);
    if (where.existing->is == kind::directory) return refusal(error_code::is_a_directory);
    if (where.slash) return refusal(error_code::not_a_directory);
    where.parent->release(where.name);
    return "ok " + model_tree::joined(where.path());
  }
  [[nodiscard]] std::string remove_directory(std::string_view path, bool recursive) {
    const auto where = tree_.locate(path, last::keep, missing::refuse);
    if (where.failed) return refusal(where);
    if (where.existing == nullptr) return refusal(error_code::not_found);
    if (where.existing->is != kind::directory) return refusal(error_code::not_a_directory);
    if (!recursive && !where.existing->children.empty()) return refusal(error_code::not_empty);
    const auto count = where.existing->count();
    where.parent->release(where.name);
    return "ok " + model_tree::joined(where.path()) + ' ' + std::to_string(count);
  }

  /// Somebody else makes a link in a directory that `directories` has named.
  void link(const std::string& directory, const std::string& name, const std::string& target) {
    node* at = &tree_.top();
    for (const auto& part : model_tree::split(directory))
      at = at->find(part);
    if (at->find(name) == nullptr) at->add(name, kind::link).bytes = target;
  }
  /// The paths of all directories but the reserved one, the root first.
  [[nodiscard]] std::vector<std::string> directories() const {
    std::vector<std::string> all = {""};
    collect(tree_.top(), "", all);
    return all;
  }
  /// Every entry in the order of its path, one a line.
  [[nodiscard]] std::string tree() const {
    std::vector<std::string> rows;
    describe_all(tree_.top(), "", rows);
    std::sort(rows.begin(), rows.end());
    std::string all;
    for (const auto& row : rows)
      all += row + '\n';
    return all;
  }

private:
  static std::string refusal(error_code code) { return std::string(wire_name(code)); }
  template <class Found> static std::string refusal(const Found& found) {
    return refusal(*found.failed);
  }
  /// Of an operation that would have made directories.
  std::string refusal(error_code code, const found_place& where) const {
    if (wrong_ == wrong_rule::parents_stay) model_tree::make_parents(where);
    return refusal(code);
  }

  static std::optional<error_code> refuse_target(const found_place& where) {
    const bool there = where.existing != nullptr;
    if (there && where.existing->is == kind::directory) return error_code::is_a_directory;
    if (where.slash) return there ? error_code::not_a_directory : error_code::is_a_directory;
    return {};
  }

  /// "directory", or "file" and its size.
  static std::string describe(const node& n) {
    return n.is == kind::directory ? "directory" : "file" + std::to_string(n.bytes.size());
  }

  /// One that leads nowhere is a file of its own.
  [[nodiscard]] std::string describe_link(const node& link) const {
    const bool absolute = link.bytes.starts_with(root_mark);
    const std::size_t size =
        absolute ? link.bytes.size() - root_mark.size() + root_size_ : link.bytes.size();
    return "file" + std::to_string(size);
  }

  static void collect(const node& in, const std::string& prefix, std::vector<std::string>& all) {
    for (const auto& [name, child] : in.children) {
      if (child->is != kind::directory || prefix + name == reserved_name) continue;
      all.push_back(prefix + name);
      collect(*child, prefix + name + '/', all);
    }
  }
  static void describe_all(const node& in, const std::string& prefix,
                           std::vector<std::string>& rows) {
    for (const auto& [name, child] : in.children) {
      const char* what = child->is == kind::directory ? "/" : child->is == kind::link ? "@" : "=";
      rows.push_back(prefix + name + what + child->bytes);
      describe_all(*child, prefix + name + '/', rows);
    }
  }

  std::size_t root_size_;
  wrong_rule wrong_;
  model_tree tree_;
};

} // namespace paddock::test
