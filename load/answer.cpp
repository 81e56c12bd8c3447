#include "load/answer.h"

#include <nlohmann/json.hpp>

#include "model/error.h"
#include "model/input_bounds.h"
#include "model/visible_text.h"

namespace nl::load {
namespace {

using nlohmann::json;

constexpr InputBounds kBounds{64, 1'000'000};
constexpr std::size_t kMostErrorText = 200;

const json& member(const json& object, const char* key) {
  static const json kNone;
  if (!object.is_object()) return kNone;
  const auto found = object.find(key);
  return found == object.end() ? kNone : *found;
}

bool has_text(const json& value) { return value.is_string() && !value.get_ref<const std::string&>().empty(); }

std::optional<std::uint64_t> count_of(const json& usage, const char* key) {
  const json& value = member(usage, key);
  return value.is_number_unsigned() ? std::optional(value.get<std::uint64_t>()) : std::nullopt;
}

// {"index": 0, "text": " the"} of completions; {"index": 0, "delta": {"content": " the"}} of a chat, "message" where it is not streamed.
// Reasoning is "reasoning_content" in vLLM and SGLang, "reasoning" in others.
ChunkKind kind_of(const json& choice) {
  const json& delta = member(choice, member(choice, "delta").is_object() ? "delta" : "message");
  if (has_text(member(choice, "text")) || has_text(member(delta, "content"))) return ChunkKind::kText;
  if (has_text(member(delta, "reasoning_content")) || has_text(member(delta, "reasoning"))) return ChunkKind::kReasoning;
  const json& calls = member(delta, "tool_calls");
  return calls.is_array() && !calls.empty() ? ChunkKind::kToolCall : ChunkKind::kEmpty;
}

json parsed(std::string_view text) {
  try {
    return json::parse(json_within_bounds(text, "answer", kBounds), nullptr, false);
  } catch (const Error&) {
    return json(json::value_t::discarded);
  }
}

std::string said_in(const json& error) {
  if (error.is_string()) return error.get<std::string>();
  const json& message = member(error, "message");
  return message.is_string() ? message.get<std::string>() : error.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

AnswerPart read_part(std::string_view data) {
  using enum AnswerPart::Kind;
  if (data == "[DONE]") return {.kind = kDone};
  const json root = parsed(data);
  if (!root.is_object()) return {.kind = kGarbled, .error = error_text(data)};
  AnswerPart part;
  const json& usage = member(root, "usage");
  part.prompt_tokens = count_of(usage, "prompt_tokens");
  part.output_tokens = count_of(usage, "completion_tokens");
  const json& choices = member(root, "choices");
  if (const json& error = member(root, "error"); !error.is_null()) {
    part.kind = kError;
    part.error = error_text(said_in(error));
  } else if (choices.is_array() && !choices.empty()) {
    part.kind = kChoice;
    part.chunk = kind_of(choices.front());
    part.finished = member(choices.front(), "finish_reason").is_string();
  }
  return part;
}

std::string error_text(std::string_view body) {
  const json root = body.starts_with('{') ? parsed(body) : json();
  const json& error = member(root, "error");
  const std::string text = !error.is_null() ? said_in(error) : root.is_object() ? said_in(root) : std::string(body);
  return cut_to(visible_line(text), kMostErrorText);
}

}  // namespace nl::load
