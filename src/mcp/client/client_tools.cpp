// SPDX-License-Identifier: MIT

// The list of a server's tools, page by page.

#include "base/later.hpp"
#include "mcp/client/client_core.hpp"
#include "mcp/client/open_request.hpp"
#include "sys/syscall.hpp"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::size_t pages_max = 1000;

/// What the pages of a list have brought.
struct collected_tools {
  std::vector<remote_tool> tools;
  std::unordered_set<std::string> names;
  std::unordered_map<std::string, std::vector<parameter_header>> headers;
};

/// Takes the definitions of one page; what cannot be called is left out, and told.
void take_page(json_view page, collected_tools& to, bool with_headers,
               const std::function<void(std::string_view)>& log) {
  page["tools"].for_each_element([&](json_view definition) {
    const auto name = definition["name"].string();
    const json_view schema = definition["inputSchema"];
    if (!name || name->empty() || !schema.is(json_kind::object))
      return log("a tool without name or input schema is left out");
    const std::string shown(name->substr(0, text_bytes_max));
    parameter_headers headers;
    if (with_headers) headers = parameter_headers_of(schema);
    if (!headers.problem.empty())
      return log("the tool " + shown + " is left out: " + headers.problem);
    if (!to.names.emplace(*name).second)
      return log("a second tool named " + shown + " is left out");
    if (!headers.headers.empty()) to.headers.emplace(*name, std::move(headers.headers));
    const json_view title = definition["title"];
    to.tools.push_back(
        {.name = std::string(*name),
         .title = string_or_empty(title.exists() ? title : definition["annotations"]["title"]),
         .description = string_or_empty(definition["description"]),
         .input_schema = schema.text(),
         .definition = definition.text()});
  });
}

} // namespace

result<void, detailed_error> client_core::fetch_tools(const call_options& o) {
  collected_tools collected;
  json_document document;
  std::optional<std::string> cursor;
  const std::int64_t deadline_ms = later(sys::monotonic_ms(), o.timeout_ms);
  for (std::size_t page = 0; page == 0 || cursor; ++page) {
    const std::int64_t id = next_id_.fetch_add(1);
    json_writer out = begin_request(id, "tools/list");
    if (cursor) out.member("cursor", *cursor);
    write_meta(out, id, {}, {});
    const std::int64_t left_ms = std::max<std::int64_t>(0, deadline_ms - sys::monotonic_ms());
    answer a = round_trip({.id = id, .json = out.str(), .method = "tools/list"},
                          {.timeout_ms = left_ms, .timeout_ms_max = left_ms, .cancel = o.cancel});
    const bool has_none = a.what == answer::outcome::rpc_error && page == 0 &&
                          a.code == static_cast<int>(rpc_error::method_not_found);
    if (has_none) break;
    if (a.what != answer::outcome::result) return detailed_error(a.reason, std::move(a.text));
    const auto parsed = document.parse(a.json);
    if (!parsed || !(*parsed)["tools"].is(json_kind::array))
      return detailed_error({error_code::io, 0, "tools/list"}, "the server's tools are no list");
    take_page(*parsed, collected, is_http() && speaks_modern(),
              [this](std::string_view line) { on_log(line); });
    if (collected.tools.size() > options.tools_max || page == pages_max)
      return detailed_error({error_code::too_large, 0, "tools/list"},
                            "the server offers more tools than are accepted");
    cursor.reset();
    if (const auto next = (*parsed)["nextCursor"].string()) cursor = std::string(*next);
  }
  const std::lock_guard lock(guard_);
  tools_ = std::make_shared<const std::vector<remote_tool>>(std::move(collected.tools));
  tool_headers_ = std::move(collected.headers);
  return {};
}

} // namespace paddock::mcp
