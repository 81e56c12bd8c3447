#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A request and its answer, without sockets: what the pages and the API are functions of.
namespace nl::servers::http {

// Pairs of a query ("?tag=a&tag=b") or a form, decoded, in their order.
class Fields {
 public:
  void add(std::string name, std::string value) { pairs_.emplace_back(std::move(name), std::move(value)); }
  std::string first(std::string_view name) const;  // empty: it is not there
  std::vector<std::string> all(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& pairs() const { return pairs_; }

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

struct Request {
  std::string method;                                            // "GET"
  std::string target;                                            // as it was sent: "/runs?tag=nightly"
  std::map<std::string, std::vector<std::string>> headers = {};  // by name in lower case
  std::string body = {};
  std::string client = {};  // its address: "127.0.0.1"
  bool tls = false;
  std::stop_token stop = {};  // the answer is not wanted any more: the time is over, the server ends

  // The one value of a header; nothing where it is absent or there twice.
  std::optional<std::string> header(const std::string& name) const;
};

inline constexpr const char* kJson = "application/json";
inline constexpr const char* kHtml = "text/html; charset=utf-8";
inline constexpr const char* kText = "text/plain; charset=utf-8";

struct Response {
  int status = 200;
  std::string type = kHtml;
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};

  // Throws Error(kInternal) for a value that would begin a header of its own.
  Response& with(std::string name, std::string value);
};

Response json_response(const nlohmann::ordered_json& json, int status = 200);
Response text_response(std::string text, int status = 200);
Response redirect(const std::string& to);  // 303: with GET, to an address of ours

}  // namespace nl::servers::http
