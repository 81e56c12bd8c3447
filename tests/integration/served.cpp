#include "tests/integration/served.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/catch.h"

namespace nl::test {
namespace {

// What has come until then, or nothing where the server closed.
bool read_more(int fd, std::string& pending, double limit_s) {
  pollfd waiting = {fd, POLLIN, 0};
  REQUIRE(::poll(&waiting, 1, static_cast<int>(limit_s * 1000)) > 0);
  char bytes[65536];
  const ssize_t got = ::recv(fd, bytes, sizeof bytes, 0);
  if (got <= 0) return false;
  pending.append(bytes, static_cast<std::size_t>(got));
  return true;
}

Reply parsed_head(const std::string& head) {
  Reply reply;
  reply.status = std::stoi(head.substr(head.find(' ') + 1, 3));
  for (std::size_t at = head.find("\r\n"); at != std::string::npos && at + 2 < head.size(); at = head.find("\r\n", at + 2)) {
    const std::string line = head.substr(at + 2, head.find("\r\n", at + 2) - at - 2);
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    std::string name = line.substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    reply.headers[name] = line.substr(colon + 2);
  }
  return reply;
}

}  // namespace

Client::Client(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
}

Client::~Client() { ::close(fd_); }

void Client::send(const std::string& bytes) const {
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t now = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (now <= 0) return;  // the server has heard enough
    sent += static_cast<std::size_t>(now);
  }
}

Reply Client::reply(double limit_s) {
  std::size_t end = 0;
  while ((end = pending_.find("\r\n\r\n")) == std::string::npos)
    if (!read_more(fd_, pending_, limit_s)) return {};
  Reply reply = parsed_head(pending_.substr(0, end + 2));
  pending_.erase(0, end + 4);
  const std::size_t length = reply.headers.contains("content-length") ? std::stoul(reply.headers["content-length"]) : 0;
  while (pending_.size() < length)
    if (!read_more(fd_, pending_, limit_s)) break;
  reply.body = pending_.substr(0, length);
  pending_.erase(0, length);
  return reply;
}

bool Client::closed(double limit_s) const {
  pollfd waiting = {fd_, POLLIN, 0};
  char byte = 0;
  return ::poll(&waiting, 1, static_cast<int>(limit_s * 1000)) > 0 && ::recv(fd_, &byte, 1, MSG_PEEK) <= 0;
}

Server::Server(Scene& scene, const std::vector<std::string>& more) : scene_(scene) {
  std::vector<std::string> words = {"serve", "--port", "0", "--json"};
  words.insert(words.end(), more.begin(), more.end());
  scene.env.try_emplace("XDG_DATA_HOME", (scene.path / "data").string());
  pid = scene.start(words);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (std::chrono::steady_clock::now() < give_up && port == 0 && ::kill(pid, 0) == 0) {
    const auto said = nlohmann::json::parse(scene.text(scene.path / "stdout"), nullptr, false);
    if (said.is_object() && said.contains("port") && said["pid"] == pid) port = said["port"];
    else std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  INFO(scene.text(scene.path / "stderr"));
  REQUIRE(port > 0);
}

Server::~Server() { kill_it(); }

Reply Server::ask(const std::string& method, const std::string& target, const std::string& headers, const std::string& body) const {
  Client client(port);
  client.send(fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{}{}\r\n{}", method, target, headers,
                          body.empty() ? "" : fmt::format("Content-Length: {}\r\n", body.size()), body));
  return client.reply();
}

Reply Server::post(const std::string& target, const std::string& token, const std::string& json) const {
  return ask("POST", target, fmt::format("Authorization: Bearer {}\r\nContent-Type: application/json\r\n", token), json);
}

Outcome Server::end(int signal) {
  Outcome outcome;
  ::kill(pid, signal);
  scene_.finish(pid, 30, outcome);
  pid = 0;
  return outcome;
}

void Server::kill_it() {
  if (pid == 0) return;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  pid = 0;
}

std::string token_of(Scene& scene, const std::string& name, const std::string& role) {
  scene.env.try_emplace("XDG_DATA_HOME", (scene.path / "data").string());
  const Outcome made = scene.nl_stage({"serve", "token", "add", name, "--role", role, "--json"});
  INFO(made.err);
  REQUIRE(made.status == 0);
  return nlohmann::json::parse(made.out)["token"];
}

}  // namespace nl::test
