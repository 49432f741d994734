// SPDX-License-Identifier: MIT
#pragma once

/// What searches found, as JSON: the results of the tools `searchText`, `findFiles` and
/// `mapDirectory`, and what `paddock search`, `find` and `map` print with `--json`.
///
/// Names that are no UTF-8 are written in the codec of lexical_path.hpp; in lines of text what is
/// no UTF-8 becomes U+FFFD. Thread-safety: functions of their arguments.

#include <paddock/mcp/json.hpp>
#include <paddock/search/find_files.hpp>
#include <paddock/search/text_search.hpp>
#include <paddock/search/tree_map.hpp>

#include <string_view>

namespace paddock::mcp {

/// One object: matches, files or counts as `options.output` says, then the totals, whether they are
/// exact, where the next page begins, and what was searched and left out. `json_bytes_max` bounds
/// its size, about; what does not fit is on the next page. Returns how many matches (files, counts)
/// were written.
std::uint64_t write_matches(json_writer& out, const text_matches& found,
                            const search_options& options, std::size_t json_bytes_max);

/// Why not everything was searched, and what to do; empty: everything was.
[[nodiscard]] std::string_view notice_of(const text_matches& found);

/// One object: paths, total, whether there are more and where they begin, and what was left out.
/// Returns how many paths were written.
std::uint64_t write_found(json_writer& out, const found_files& found, const find_options& options,
                          std::size_t json_bytes_max);

/// One object: the map as text, what is in the tree, and what could not be looked at.
void write_map(json_writer& out, const tree_map& map, std::size_t json_bytes_max);

} // namespace paddock::mcp
