// SPDX-License-Identifier: MIT
#pragma once

/// Paths, files, text, commands and skills. For programs that use most of it; a program that needs
/// one component includes that one and pays for no other.
///
/// Not in it, nor in the amalgamation, is what has libraries of its own: MCP, the skill manager,
/// the search of files (paddock/search/text_search.hpp) and the history
/// (paddock/history/history.hpp).
///
/// A `line_index` counts from 0; a `line_number`, and the `line` of what is wrong with a file
/// (skills, configurations), count from 1, as compilers do.

#include <paddock/base/cancellation.hpp>
#include <paddock/base/config.hpp>
#include <paddock/base/detailed_error.hpp>
#include <paddock/base/error.hpp>
#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/file_status.hpp>
#include <paddock/base/limits.hpp>
#include <paddock/base/result.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/exec/command.hpp>
#include <paddock/exec/confinement.hpp>
#include <paddock/exec/environment.hpp>
#include <paddock/exec/process.hpp>
#include <paddock/file/allowed_file.hpp>
#include <paddock/file/change_set.hpp>
#include <paddock/file/directory.hpp>
#include <paddock/file/file.hpp>
#include <paddock/frontmatter/frontmatter.hpp>
#include <paddock/frontmatter/frontmatter_yaml.hpp>
#include <paddock/mime/mime.hpp>
#include <paddock/path/lexical_path.hpp>
#include <paddock/path/protected_names.hpp>
#include <paddock/path/root.hpp>
#include <paddock/search/glob.hpp>
#include <paddock/search/ignore_rules.hpp>
#include <paddock/search/ignore_tree.hpp>
#include <paddock/skill/prompt.hpp>
#include <paddock/skill/skill.hpp>
#include <paddock/skill/store.hpp>
#include <paddock/text/text_edit.hpp>
#include <paddock/todo/todo.hpp>
#include <paddock/version.hpp>
