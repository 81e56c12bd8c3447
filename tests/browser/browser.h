#pragma once

#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

// A real Chromium without a window, spoken to over its DevTools pipe (NUL-separated JSON, file descriptors 3 and 4).
namespace nl::test {

// What NL_STAGE_TEST_BROWSER names (tools/test sets it); empty where there is none.
std::string browser_program();

class Browser {
 public:
  Browser();
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  // One command to the page, to its answer; fails the test on an error or after a minute.
  nlohmann::json call(const std::string& method, nlohmann::json parameters = nlohmann::json::object());

  void screen(int width, int height, bool phone);
  void theme(const std::string& scheme);          // "light", "dark"
  void open(const std::filesystem::path& page);   // to the end of loading
  void open_address(const std::string& address);  // the same for "http://localhost:8470/runs"
  nlohmann::json evaluate(const std::string& expression);
  void follow(const std::string& script);  // one that leads to another page: to the end of loading that
  double thread_seconds();                 // of the processor, taken by the page's main thread; after Performance.enable
  std::string screenshot();                // the bytes of a PNG
  std::string pdf();
  void press(const std::string& key, int code = 0);  // on what has the focus
  void type(const std::string& text);                // into what has the focus
  void mouse(const std::string& type, double x, double y,
             nlohmann::json more = nlohmann::json::object());  // "mousePressed", "mouseWheel" …
  void click(double x, double y);
  void drag(double from_x, double from_y, double to_x, double to_y, int modifiers = 0);        // 8: with Shift
  void touch(const std::string& type, const std::vector<std::pair<double, double>>& fingers);  // "touchStart" …

  // Since the last open(): what the console, the engine or the policy complained about, and what was asked for.
  std::vector<std::string> complaints, requests;

 private:
  void start(const std::filesystem::path& profile);
  void send(const nlohmann::json& message);
  nlohmann::json receive(double limit_s);
  void note(const nlohmann::json& event);

  std::filesystem::path profile_;
  pid_t pid_ = 0;
  int to_ = -1, from_ = -1;
  std::string pending_, session_;
  int last_id_ = 0;
  bool loaded_ = false;
};

}  // namespace nl::test
