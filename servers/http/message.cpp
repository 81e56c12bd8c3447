#include "servers/http/message.h"

#include <algorithm>

#include "model/error.h"

namespace nl::servers::http {

std::string Fields::first(std::string_view name) const {
  const auto found = std::find_if(pairs_.begin(), pairs_.end(), [&](const auto& pair) { return pair.first == name; });
  return found != pairs_.end() ? found->second : std::string();
}

std::vector<std::string> Fields::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [each, value] : pairs_)
    if (each == name) values.push_back(value);
  return values;
}

std::optional<std::string> Request::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found != headers.end() && found->second.size() == 1 ? std::optional(found->second.front()) : std::nullopt;
}

Response& Response::with(std::string name, std::string value) {
  const bool odd = std::any_of(value.begin(), value.end(), [](unsigned char c) { return c < ' ' || c == 127; });
  if (odd) throw Error(ErrorKind::kInternal, "a header of an answer has a control character", name);
  headers.emplace_back(std::move(name), std::move(value));
  return *this;
}

Response json_response(const nlohmann::ordered_json& json, int status) {
  return {status, kJson, json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"};
}

Response text_response(std::string text, int status) { return {status, kText, std::move(text)}; }

Response redirect(const std::string& to) {
  Response response{303, kText, "see " + to + "\n"};
  return response.with("Location", to);
}

}  // namespace nl::servers::http
