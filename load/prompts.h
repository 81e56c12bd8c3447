#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/load.h"

// What is asked of the server.
namespace nl::load {

// "512", or "128..1024": each request draws its own, evenly.
struct Lengths {
  std::uint64_t least = 0, most = 0;
};
inline constexpr std::uint64_t kMostTokens = 10'000'000;

// Throws Error(kUsage) that names the flag.
Lengths lengths_of(const std::string& text, const char* flag);

struct Prompt {
  std::string text;
  std::optional<std::uint64_t> asked_tokens;  // none: it comes from a file
  std::uint64_t output_tokens = 0;
};

// The prompt of each request, made when it is needed.
class Prompts {
 public:
  Prompts() = default;
  // Words of which most tokenizers make one token each; no two prompts begin alike, so that no cache of prefixes serves them.
  Prompts(Lengths prompt, Lengths output, std::uint64_t seed) : prompt_(prompt), output_(output), seed_(seed) {}
  Prompts(std::vector<Prompt> given, Lengths output, std::uint64_t seed) : given_(std::move(given)), output_(output), seed_(seed) {}

  Prompt at(std::size_t index) const;  // those of a file come in turn

 private:
  std::vector<Prompt> given_;
  Lengths prompt_, output_;
  std::uint64_t seed_ = 0;
};

// A file of prompts: a line each, as text or as {"prompt": "…", "output_tokens": 64}. Throws Error(kInput) that names the line.
std::vector<Prompt> read_prompts(const std::filesystem::path& file);

// Requests of a trace and when they are due, sorted; the earliest at 0. A line each, as {"at_s": 1.25, "prompt_tokens": 512, "output_tokens": 64}
// with "prompt" where the text is to be sent, or as Mooncake's traces have it: {"timestamp": 1250, "input_length": 512, "output_length": 64}, in ms.
struct Replay {
  std::vector<Ns> due_ns;
  std::vector<Prompt> prompts;
};
Replay read_replay(const std::filesystem::path& file);

// The body of a request, which asks for a stream with the counts of tokens at its end. `to_the_end`: the model goes on until the tokens are there.
std::string request_body(LoadEndpoint endpoint, const std::string& model, const Prompt& prompt, bool to_the_end);

}  // namespace nl::load
