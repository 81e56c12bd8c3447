#include "tests/browser/browser.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "tests/catch.h"

extern char** environ;

namespace nl::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kAnswerLimit_s = 60;  // two busy cores start a browser in a few seconds

std::string decoded(const std::string& base64) {
  std::string out;
  unsigned bits = 0;
  int held = 0;
  for (const char c : base64) {
    const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+'             ? 62
                      : c == '/'             ? 63
                                             : -1;
    if (value < 0) continue;
    bits = (bits << 6 | static_cast<unsigned>(value)) & 0xFFFFu;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>(bits >> held & 0xFFu);
  }
  return out;
}

// Both ends above the numbers that the browser wants its own at.
void high_pipe(int (&ends)[2]) {
  REQUIRE(pipe(ends) == 0);
  for (int& end : ends) {
    const int high = fcntl(end, F_DUPFD_CLOEXEC, 20);
    REQUIRE(high >= 0);
    close(end);
    end = high;
  }
}

}  // namespace

std::string browser_program() {
  const char* named = std::getenv("NL_STAGE_TEST_BROWSER");
  return named == nullptr ? std::string() : named;
}

Browser::Browser() {
  std::string name = (fs::temp_directory_path() / "nl-stage-browser-XXXXXX").string();
  REQUIRE(mkdtemp(name.data()) != nullptr);
  profile_ = name;
  signal(SIGPIPE, SIG_IGN);
  start(profile_);
  const json target = call("Target.createTarget", {{"url", "about:blank"}});
  session_ = call("Target.attachToTarget", {{"targetId", target.at("targetId")}, {"flatten", true}}).at("sessionId");
  for (const char* domain : {"Page.enable", "Runtime.enable", "Log.enable", "Network.enable"}) call(domain);
}

void Browser::start(const fs::path& profile) {
  std::vector<std::string> words = {browser_program(),
                                    "--headless",
                                    "--no-sandbox",
                                    "--disable-gpu",
                                    "--disable-quic",
                                    "--no-first-run",
                                    "--disable-background-networking",
                                    "--disable-component-update",
                                    "--disable-sync",
                                    "--disable-dev-shm-usage",
                                    "--hide-scrollbars",
                                    "--force-color-profile=srgb",
                                    "--remote-debugging-pipe",
                                    "--user-data-dir=" + profile.string(),
                                    "about:blank"};
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int commands[2], answers[2];
  high_pipe(commands);
  high_pipe(answers);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, commands[0], 3);
  posix_spawn_file_actions_adddup2(&files, answers[1], 4);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, 2, (profile / "stderr").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawnattr_t own_group;
  posix_spawnattr_init(&own_group);
  posix_spawnattr_setflags(&own_group, POSIX_SPAWN_SETPGROUP);
  const int failed = posix_spawn(&pid_, argv[0], &files, &own_group, argv.data(), environ);
  posix_spawnattr_destroy(&own_group);
  posix_spawn_file_actions_destroy(&files);
  close(commands[0]);
  close(answers[1]);
  to_ = commands[1];
  from_ = answers[0];
  REQUIRE(failed == 0);
}

Browser::~Browser() {
  close(to_);  // the end of its commands ends it
  close(from_);
  bool gone = false;
  for (int i = 0; i < 100 && !gone; ++i) {
    gone = waitpid(pid_, nullptr, WNOHANG) != 0;
    if (!gone) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  kill(-pid_, SIGKILL);  // its helpers, or itself where it hangs
  if (!gone) waitpid(pid_, nullptr, 0);
  std::error_code ignored;
  fs::remove_all(profile_, ignored);
}

void Browser::send(const json& message) {
  const std::string text = message.dump() + '\0';
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = write(to_, text.data() + at, text.size() - at);
    if (written <= 0) FAIL("the browser ended");
    at += static_cast<std::size_t>(written);
  }
}

json Browser::receive(double limit_s) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit_s);
  for (;;) {
    if (const std::size_t zero = pending_.find('\0'); zero != std::string::npos) {
      json message = json::parse(pending_.substr(0, zero));
      pending_.erase(0, zero + 1);
      return message;
    }
    pollfd waiting{from_, POLLIN, 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0 || poll(&waiting, 1, static_cast<int>(left)) <= 0) FAIL("the browser did not answer within " << limit_s << " s");
    char block[65536];
    const ssize_t got = read(from_, block, sizeof block);
    if (got <= 0) FAIL("the browser ended");
    pending_.append(block, static_cast<std::size_t>(got));
  }
}

void Browser::note(const json& event) {
  const std::string method = event.value("method", "");
  if (method == "Page.loadEventFired") loaded_ = true;
  if (method == "Log.entryAdded") complaints.push_back(event.at("params").at("entry").value("text", "?"));
  if (method == "Runtime.exceptionThrown") complaints.push_back(event.at("params").dump());
  if (method == "Runtime.consoleAPICalled") complaints.push_back(event.at("params").at("args").dump());
  if (method == "Network.requestWillBeSent") requests.push_back(event.at("params").at("request").at("url"));
}

json Browser::call(const std::string& method, json parameters) {
  json message = {{"id", ++last_id_}, {"method", method}, {"params", std::move(parameters)}};
  if (!session_.empty()) message["sessionId"] = session_;
  send(message);
  for (;;) {
    json answer = receive(kAnswerLimit_s);
    if (answer.value("id", 0) != last_id_) {
      note(answer);
      continue;
    }
    if (answer.contains("error")) FAIL(method << ": " << answer["error"].dump());
    return answer.at("result");
  }
}

void Browser::screen(int width, int height, bool phone) {
  call("Emulation.setDeviceMetricsOverride", {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", phone}});
}

void Browser::theme(const std::string& scheme) {
  call("Emulation.setEmulatedMedia", {{"features", {{{"name", "prefers-color-scheme"}, {"value", scheme}}}}});
}

void Browser::open(const fs::path& page) { open_address("file://" + page.string()); }

void Browser::open_address(const std::string& address) {
  complaints.clear();
  requests.clear();
  loaded_ = false;
  call("Page.navigate", {{"url", address}});
  while (!loaded_) note(receive(kAnswerLimit_s));
}

json Browser::evaluate(const std::string& expression) {
  const json answer = call("Runtime.evaluate", {{"expression", expression}, {"returnByValue", true}, {"awaitPromise", true}});
  if (answer.contains("exceptionDetails")) FAIL(expression << ": " << answer["exceptionDetails"].dump());
  return answer.at("result").value("value", json());
}

void Browser::follow(const std::string& script) {
  loaded_ = false;
  evaluate("setTimeout(() => { " + script + " }); 0");  // it has answered before its page is gone
  while (!loaded_) note(receive(kAnswerLimit_s));
}

double Browser::thread_seconds() {
  const json metrics = call("Performance.getMetrics");
  for (const auto& metric : metrics.at("metrics"))
    if (metric.at("name") == "TaskDuration") return metric.at("value");
  FAIL("the browser has no TaskDuration");
  return 0;
}

std::string Browser::screenshot() { return decoded(call("Page.captureScreenshot", {{"format", "png"}}).at("data")); }

std::string Browser::pdf() { return decoded(call("Page.printToPDF", {{"printBackground", true}, {"preferCSSPageSize", true}}).at("data")); }

void Browser::press(const std::string& key, int code) {
  json event = {{"type", "keyDown"}, {"key", key}, {"code", key}, {"windowsVirtualKeyCode", code}};
  if (key == "Enter") event["text"] = "\r";
  call("Input.dispatchKeyEvent", event);
  event["type"] = "keyUp";
  event.erase("text");
  call("Input.dispatchKeyEvent", event);
}

void Browser::type(const std::string& text) { call("Input.insertText", {{"text", text}}); }

void Browser::mouse(const std::string& type, double x, double y, json more) {
  more.update({{"type", type}, {"x", x}, {"y", y}});
  call("Input.dispatchMouseEvent", std::move(more));
}

void Browser::click(double x, double y) {
  mouse("mousePressed", x, y, {{"button", "left"}, {"clickCount", 1}});
  mouse("mouseReleased", x, y, {{"button", "left"}, {"clickCount", 1}});
}

void Browser::drag(double from_x, double from_y, double to_x, double to_y, int modifiers) {
  const json held = {{"button", "left"}, {"buttons", 1}, {"clickCount", 1}, {"modifiers", modifiers}};
  mouse("mousePressed", from_x, from_y, held);
  for (int part = 1; part <= 4; ++part) mouse("mouseMoved", from_x + (to_x - from_x) * part / 4, from_y + (to_y - from_y) * part / 4, held);
  mouse("mouseReleased", to_x, to_y, held);
}

void Browser::touch(const std::string& type, const std::vector<std::pair<double, double>>& fingers) {
  json points = json::array();
  for (std::size_t i = 0; i < fingers.size(); ++i) points.push_back({{"x", fingers[i].first}, {"y", fingers[i].second}, {"id", i}});
  call("Input.dispatchTouchEvent", {{"type", type}, {"touchPoints", points}});
}

}  // namespace nl::test
