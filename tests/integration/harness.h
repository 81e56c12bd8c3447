#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

// Runs the built nl-stage as a user would, and looks at what it leaves behind.
namespace nl::test {

namespace fs = std::filesystem;

inline const fs::path kFixtures = NL_FIXTURES;

struct Outcome {
  int status = -1;  // 128 + signal where a signal ended it
  std::string out, err;
  bool says(const std::string& text) const { return (out + err).find(text) != std::string::npos; }
};

// A fresh folder with a mark of its own: every process started from it carries the mark in its environment.
class Scene {
 public:
  Scene();
  ~Scene();
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  fs::path path;
  std::map<std::string, std::string> env;
  std::vector<std::string> prefix;  // words before nl-stage: a program that starts it
  bool perturbation = false;        // runs repeat their passes as configured; else only the capture is run

  // nl-stage with these arguments, to its end.
  Outcome nl_stage(const std::vector<std::string>& arguments, double limit_s = 120);
  // The same on a terminal of this width; `out` has both streams.
  Outcome nl_stage_on_terminal(const std::vector<std::string>& arguments, int columns, double limit_s = 120);
  // The same, but `number` is sent to it as soon as the file `when` appears.
  Outcome nl_stage_signalled(const std::vector<std::string>& arguments, const fs::path& when, int number, int times = 1);

  // Starts it and does not wait; its output goes to the files `stdout` and `stderr` of the folder.
  pid_t start(const std::vector<std::string>& arguments, const std::string& terminal = {});
  void finish(pid_t pid, double limit_s, Outcome& outcome);

  void use_standins();                                                      // nsys and ncu that replay recorded captures and outputs
  bool use_real_nsys();                                                     // false where there is none (NL_STAGE_TEST_NSYS)
  fs::path script(const std::string& name, const std::string& text) const;  // an executable file

  fs::path bundle() const { return path / "bundle"; }
  nlohmann::json json(const std::string& relative) const;  // of the bundle
  std::string text(const fs::path& file) const;
  std::vector<std::string> still_running() const;  // command lines of processes with our mark

 private:
  std::string mark_;
};

// The bundle is whole: run.json is valid, the manifest lists every file with its right digest, and no
// temporary file is left.
void check_bundle(Scene& scene);

// The arguments of a light run into the scene's bundle.
std::vector<std::string> light(const Scene& scene, const std::vector<std::string>& command, const std::vector<std::string>& more = {});

// Of cases about machines without one: there the collector records ranges only.
bool gpu_is_here();

bool have_collector();  // it was built

std::string cpu_workload();  // path of the built one; empty where it was not built

// `nl-stage import` with these words, into the scene's bundle.
Outcome import(Scene& scene, const std::vector<std::string>& more);

}  // namespace nl::test
