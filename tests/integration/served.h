#pragma once

#include <sys/types.h>

#include <map>
#include <string>

#include "tests/integration/harness.h"

// A running `nl-stage serve`, and a client that sends what it is told, byte by byte.
namespace nl::test {

struct Reply {
  int status = 0;                              // 0: the server closed the connection without an answer
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  nlohmann::json json() const { return nlohmann::json::parse(body); }
};

class Client {
 public:
  explicit Client(int port);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(const std::string& bytes) const;
  Reply reply(double limit_s = 30);   // fails the test where none comes in time
  bool closed(double limit_s) const;  // by the server

 private:
  int fd_ = -1;
  std::string pending_;
};

class Server {
 public:
  // `serve --port 0 --json` with these words; waits until it listens.
  Server(Scene& scene, const std::vector<std::string>& more = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  Reply get(const std::string& target, const std::string& headers = {}) const { return ask("GET", target, headers, {}); }
  Reply post(const std::string& target, const std::string& token, const std::string& json) const;
  Reply ask(const std::string& method, const std::string& target, const std::string& headers, const std::string& body) const;
  Outcome end(int signal);  // sends it and waits
  void kill_it();           // as the kernel does for want of memory

  int port = 0;
  pid_t pid = 0;

 private:
  Scene& scene_;
};

std::string token_of(Scene& scene, const std::string& name, const std::string& role);  // makes one

}  // namespace nl::test
