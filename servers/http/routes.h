#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "servers/http/message.h"
#include "servers/http/target.h"

// The one table of what the server answers: dispatch, access, the OpenAPI file and docs/serve.md come from it.
namespace nl::servers::http {

enum class Entry { kOpen, kRead, kWrite };  // who may ask: everybody, readers, those who may change something
enum class Pace { kQuick, kSlow };          // kSlow: may take seconds, and has threads of its own

struct Parameter {
  std::string name, description;
  bool required = false, repeats = false;
};

// What is known of a request when its route was found.
struct Ask {
  const Request& request;
  std::vector<std::string> names;  // what stands for {run} in the path
  Fields query = {}, form = {};
  std::string who = {};  // of the token; empty: none was given
  bool may_write = false;
};

struct Route {
  std::string method, path;  // "GET", "/api/v1/runs/{run}"
  Entry entry = Entry::kRead;
  Pace pace = Pace::kQuick;
  std::string summary;
  std::function<Response(const Ask&)> answer;
  std::vector<Parameter> parameters = {};  // of the query
  std::string type = kJson;                // of its answer
  nlohmann::ordered_json body = {};        // JSON Schema of what is posted; null: nothing, or a form
};

struct Found {
  const Route* route = nullptr;
  std::vector<std::string> names;
  std::vector<std::string> allowed;  // the methods of this path, where the one asked for is not among them; empty: there is no such path
};

// HEAD is answered as GET.
Found find_route(const std::vector<Route>& routes, std::string_view method, const std::vector<std::string>& path);

bool is_api(const Route& route);  // not a page: its errors are JSON

// OpenAPI 3.1 of the routes below /api/v1, and /metrics.
nlohmann::ordered_json openapi(const std::vector<Route>& routes, const std::string& version);

}  // namespace nl::servers::http
