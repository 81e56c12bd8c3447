#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace nl::cli {

// The flags that name a model file and how it is run: of `profile`, `run`, `plan` and `session`. Each is a key of the section `session`.
struct SessionFlags {
  std::string backend, provider, precision, inputs;
  std::vector<std::string> dims, shapes;
  std::string batch, seq, iterations, warmup, threads, seed;
};

void add_session_flags(CLI::App& verb, SessionFlags& flags);

// As --set would give them; only what was given. model: the file.
std::vector<std::string> session_sets(const SessionFlags& flags, const std::string& model);

}  // namespace nl::cli
