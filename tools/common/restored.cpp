// SPDX-License-Identifier: MIT
#include "restored.hpp"

#include "text_forms.hpp"

#include <paddock/mcp/change_results.hpp>
#include <paddock/path/lexical_path.hpp>

namespace paddock::cli {

void write_restored(mcp::json_writer& out, const history::restore_outcome& outcome,
                    const std::optional<left_commits>& commits) {
  out.key("restored").unsigned_integer(outcome.restored);
  write_names(out, "paths", outcome.paths);
  out.key("pathsTotal").unsigned_integer(outcome.paths_total).key("folded").begin_array();
  for (const history::folded_directory& each : outcome.folded)
    out.begin_object()
        .member("path", encode_name(each.path))
        .key("files")
        .unsigned_integer(each.files)
        .end_object();
  out.end_array();
  mcp::write_reasons(out, "conflicts", outcome.conflicts, outcome.conflicts_total);
  mcp::write_reasons(out, "left", outcome.left, outcome.left_total);
  out.key("lost").unsigned_integer(outcome.lost);
  if (!outcome.kept.empty()) out.member("kept", encode_name(outcome.kept));
  if (!outcome.notice.empty()) out.member("notice", encode_name(outcome.notice));
  mcp::write_running(out, outcome.running);
  if (commits)
    out.key("commitsLeft")
        .begin_object()
        .member("repository", encode_name(commits->repository))
        .member("from", commits->from)
        .member("to", commits->to)
        .end_object();
  if (outcome.before != 0) out.key("checkpoint").unsigned_integer(outcome.before);
}

} // namespace paddock::cli
