// SPDX-License-Identifier: MIT

// paddock review: what was done in a workspace, on a page, and the way back.

#include "review_page/review.hpp"

#include "common/history_cli.hpp"
#include "common/option_values.hpp"
#include "subcommands.hpp"

#include <paddock/history/naming.hpp>
#include <paddock/path/root.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace paddock::cli {
namespace {

constexpr std::string_view review_command = "paddock review";

struct review_arguments : undo_options {
  std::uint16_t port = 0;
};

int run_review(const review_arguments& options) {
  const std::string directory = history_directory(review_command, options.history);
  if (directory.empty()) return usage;
  const auto found = find_workspace(review_command, options, directory);
  if (!found) return usage;
  const auto store = open_history(review_command, found->workspace, options.history);
  if (!store) return usage;
  const auto since = history::checkpoint_named(options.since, store->checkpoints());
  const auto list = store->changes({.since = since.number, .limit = 1, .look = false});
  if (!since.is_known || (!list && since.number && list.error().code == error_code::not_found)) {
    complain_of_checkpoint(review_command, *store, options.since);
    return usage;
  }
  if (!list) {
    complain(review_command, "the history cannot be used: " + std::string(text(list.error().code)) +
                                 "; " + std::string(advice(list.error().code)));
    return usage;
  }
  return review_page::serve_review(
      {.workspace = store->workspace(),
       .store = store,
       .since = list->since,
       .state_directory = directory,
       .left_outside = [&](auto to) { return commits_left(*store, to); }},
      options.port);
}

} // namespace

subcommand add_review(CLI::App& app) {
  const auto options = std::make_shared<review_arguments>();
  CLI::App* parser = app.add_subcommand("review", "Show and undo changes on a local web page");
  parser->footer(exit_codes_help);
  add_found_workspace_option(*parser, options->workspace);
  add_history_option(*parser, options->history);
  parser
      ->add_option(
          "--since", options->since,
          "Begin with this checkpoint, a number or label (default: the last start of a server)")
      ->type_name("CHECKPOINT");
  parser->add_option("--port", options->port, "Listen on this port (default 0: any free port)")
      ->type_name("N")
      ->check(whole_number(65'535));
  return {parser, [options] { return run_review(*options); }};
}

} // namespace paddock::cli
