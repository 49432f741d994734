// SPDX-License-Identifier: MIT

#include "corpus.hpp"

#include <iterator>

namespace paddock::test::corpus {

using enum action;

std::vector<attempt> all(std::initializer_list<action> actions, const std::string& path,
                         const expected& want) {
  std::vector<attempt> attempts;
  for (const auto what : actions)
    attempts.push_back({.what = what, .path = path, .want = want});
  return attempts;
}

std::vector<attempt> every_following(const std::string& path, error_code code) {
  return all({read, read_part, write, append, edit, inspect, list, enter}, path, refused(code));
}

std::vector<attempt> every(const std::string& path, error_code code) {
  return join(
      {every_following(path, code),
       all({make_directory, remove_file, remove_directory, remove_tree, move}, path, refused(code)),
       {{.what = move, .path = "f", .want = refused(code), .other = path}}});
}

std::vector<attempt> join(std::vector<std::vector<attempt>> lists) {
  std::vector<attempt> joined;
  for (auto& list : lists)
    joined.insert(joined.end(), std::make_move_iterator(list.begin()),
                  std::make_move_iterator(list.end()));
  return joined;
}

std::vector<row> rows() {
  std::vector<row> joined;
  for (auto* part : {path_rows, link_rows, special_file_rows, change_rows, replacement_rows,
                     reserved_rows, name_rows, limit_rows, race_rows}) {
    auto some = part();
    joined.insert(joined.end(), std::make_move_iterator(some.begin()),
                  std::make_move_iterator(some.end()));
  }
  return joined;
}

std::vector<not_offered> rows_not_offered() {
  return {{"P72", "nothing here makes symbolic links; that is tried by a test of its own"}};
}

} // namespace paddock::test::corpus
