#pragma once

#include <map>
#include <string>
#include <vector>

#include "servers/http/site.h"
#include "tests/unit/files.h"
#include "tests/unit/runs/ledger/ledger_places.h"

// A server without sockets over a ledger of its own.
namespace nl::test {

// Three tools: one that reads and echoes, one that writes, one that runs commands.
class EchoTools : public servers::Tools {
 public:
  EchoTools();
  const std::vector<servers::Tool>& all() const override { return tools_; }
  servers::Answer call(std::string_view name, const nlohmann::json& arguments, const servers::Call& call) override;

 private:
  std::vector<servers::Tool> tools_;
};

struct SiteScene {
  explicit SiteScene(const std::string& database = "sqlite", servers::http::Gate gate = {});

  servers::http::Response get(const std::string& target, std::map<std::string, std::string> headers = {}) {
    return ask("GET", target, "", std::move(headers));
  }
  // As the form of a page sends it.
  servers::http::Response form(const std::string& target, const std::string& body, std::map<std::string, std::string> headers = {});
  servers::http::Response post_json(const std::string& target, const std::string& body, std::map<std::string, std::string> headers = {});
  servers::http::Response ask(const std::string& method, const std::string& target, const std::string& body,
                              std::map<std::string, std::string> headers);

  void record(const Run& run, const std::filesystem::path& bundle = {});  // and its run.json
  std::map<std::string, std::string> writer_cookie() const { return {{"cookie", "nl_stage=" + writer}, {"origin", "http://localhost"}}; }

  LedgerPlace place;
  Folder folder;
  EchoTools tools;
  servers::http::Counters counters;
  std::string reader, writer;  // tokens
  servers::http::Site site;

 private:
  servers::http::SiteOptions options(servers::http::Gate gate);
};

std::string header_of(const servers::http::Response& response, const std::string& name);  // empty: it has none

}  // namespace nl::test
