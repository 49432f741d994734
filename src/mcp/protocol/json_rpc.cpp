// SPDX-License-Identifier: MIT
#include <paddock/mcp/json_rpc.hpp>

namespace paddock::mcp {

std::optional<request_id> request_id::from(json_view value) {
  request_id id;
  if (const auto text = value.string()) {
    if (text->size() > id_bytes_max) return std::nullopt;
    id.json_ = value.text();
    return id;
  }
  const auto number = value.integer();
  if (!number) return std::nullopt;
  return request_id(*number);
}

message classify(json_view value) {
  message m;
  const auto invalid = [&](std::string_view problem) {
    m.problem = problem;
    return m;
  };
  if (!value.is(json_kind::object)) return invalid("a message must be an object");
  const json_view method = value["method"];
  if (!method.exists() && (value["result"].exists() || value["error"].exists())) {
    m.kind = message_kind::response;
    return m;
  }
  if (value["jsonrpc"].string() != "2.0") return invalid("\"jsonrpc\" must be \"2.0\"");
  if (!method.string()) return invalid("\"method\" must be a string");
  m.method = *method.string();
  if (const json_view params = value["params"]; params.is(json_kind::object))
    m.params = params;
  else if (params.exists() && !params.is(json_kind::null))
    m.params_problem = "params must be an object";
  const json_view id = value["id"];
  if (!id.exists()) {
    m.kind = message_kind::notification;
    return m;
  }
  m.id = request_id::from(id);
  if (!m.id) return invalid("\"id\" must be an integer or a string of at most 1024 bytes");
  m.kind = message_kind::request;
  return m;
}

void write_error_response(json_writer& out, const std::optional<request_id>& id,
                          const rpc_failure& failure) {
  out.begin_object().member("jsonrpc", "2.0");
  if (id) out.key("id").raw(id->json());
  out.key("error").begin_object().key("code").integer(static_cast<int>(failure.code));
  out.member("message", failure.message);
  if (!failure.data.empty()) out.key("data").raw(failure.data);
  out.end_object().end_object();
}

std::string error_response(const std::optional<request_id>& id, rpc_error code,
                           std::string_view text, std::string_view data) {
  json_writer out;
  write_error_response(out, id,
                       {.code = code, .message = std::string(text), .data = std::string(data)});
  return out.take();
}

} // namespace paddock::mcp
