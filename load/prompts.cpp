#include "load/prompts.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "model/draw.h"
#include "model/error_code.h"

namespace nl::load {
namespace {

constexpr auto kWords = std::to_array<std::string_view>(
    {"the", "of",    "and",  "to",   "in",   "is",   "that", "for",   "it",   "as",    "was",  "with", "be",   "by",    "on",   "not",
     "he",  "his",   "are",  "this", "or",   "but",  "from", "had",   "at",   "which", "she",  "an",   "they", "you",   "were", "her",
     "all", "we",    "can",  "been", "has",  "if",   "one",  "more",  "when", "will",  "who",  "out",  "so",   "up",    "said", "what",
     "its", "about", "than", "into", "them", "time", "some", "could", "new",  "other", "then", "two",  "may",  "first", "any",  "like"});

std::string words(std::uint64_t count, std::uint64_t seed) {
  Draw draw(seed);
  std::string text;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i > 0) text += ' ';
    text += kWords[draw.below(kWords.size())];
  }
  return text;
}

std::optional<std::uint64_t> whole(std::string_view text) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && !text.empty() ? std::optional(value) : std::nullopt;
}

}  // namespace

Lengths lengths_of(const std::string& text, const char* flag) {
  const std::size_t dots = text.find("..");
  const auto least = whole(std::string_view(text).substr(0, dots));
  const auto most = dots == std::string::npos ? least : whole(std::string_view(text).substr(dots + 2));
  if (!least || !most || *least < 1 || *least > *most || *most > kMostTokens)
    throw CodedError(ErrorCode::kWrongValue, fmt::format("'{}' is no number of tokens", text), flag,
                     fmt::format("give a number or a range from 1 to {}: {} 512, or {} 128..1024", kMostTokens, flag, flag));
  return {*least, *most};
}

Prompt Prompts::at(std::size_t index) const {
  Draw draw(seed_ ^ (0x5851f42d4c957f2du * (index + 1)));
  const auto drawn = [&](const Lengths& lengths) { return lengths.least + draw.below(lengths.most - lengths.least + 1); };
  Prompt prompt;
  if (given_.empty()) {
    prompt.asked_tokens = drawn(prompt_);
    prompt.text = words(*prompt.asked_tokens, draw.bits());
  } else {
    prompt = given_[index % given_.size()];
    if (prompt.text.empty() && prompt.asked_tokens) prompt.text = words(*prompt.asked_tokens, draw.bits());
  }
  if (prompt.output_tokens == 0) prompt.output_tokens = drawn(output_);
  return prompt;
}

std::string request_body(LoadEndpoint endpoint, const std::string& model, const Prompt& prompt, bool to_the_end) {
  nlohmann::ordered_json body = {{"model", model}};
  if (endpoint == LoadEndpoint::kChat) body["messages"] = {{{"role", "user"}, {"content", prompt.text}}};
  else body["prompt"] = prompt.text;
  body["max_tokens"] = prompt.output_tokens;
  body["temperature"] = 0;
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  if (to_the_end) body["ignore_eos"] = true;
  return body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace nl::load
