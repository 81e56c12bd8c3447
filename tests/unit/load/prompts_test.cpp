#include "load/prompts.h"

#include <nlohmann/json.hpp>
#include <set>

#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

using namespace nl;
using load::Prompts;
using nlohmann::json;

namespace {

template <class Call>
Error error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::kInternal, "nothing was refused");
}

}  // namespace

TEST_CASE("load prompts: lengths are drawn from their range, by the seed, and no two prompts begin alike") {
  const load::Lengths range = load::lengths_of("16..64", "--prompt-tokens"), four = load::lengths_of("4", "--output-tokens");
  const Prompts prompts(range, four, 5), again(range, four, 5), other(range, four, 6);
  std::set<std::string> beginnings;
  std::uint64_t least = 1000, most = 0;
  for (std::size_t i = 0; i < 500; ++i) {
    const load::Prompt prompt = prompts.at(i);
    CHECK(prompt.text == again.at(i).text);
    CHECK(static_cast<std::uint64_t>(test::count(prompt.text, " ")) + 1 == *prompt.asked_tokens);
    CHECK(prompt.output_tokens == 4);
    beginnings.insert(prompt.text.substr(0, 40));
    least = std::min(least, *prompt.asked_tokens);
    most = std::max(most, *prompt.asked_tokens);
  }
  CHECK(beginnings.size() == 500);
  CHECK(least == 16);  // 500 draws of 49 lengths miss one in 30,000 times; the seed is fixed
  CHECK(most == 64);
  CHECK(prompts.at(0).text != other.at(0).text);
  for (const char* wrong : {"", "0", "64..16", "x", "1..", "..4", "-3", "1.5", "99999999999"})
    CHECK(error_of([&] { load::lengths_of(wrong, "--prompt-tokens"); }).kind == ErrorKind::kUsage);
}

TEST_CASE("load prompts: the body asks for a stream with usage") {
  const load::Prompt prompt{"Say \"é\"", std::nullopt, 12};
  CHECK(json::parse(load::request_body(LoadEndpoint::kCompletions, "m", prompt, true)) ==
        json::parse(R"({"model": "m", "prompt": "Say \"é\"", "max_tokens": 12, "temperature": 0, "stream": true,
                        "stream_options": {"include_usage": true}, "ignore_eos": true})"));
  const json chat = json::parse(load::request_body(LoadEndpoint::kChat, "m", prompt, false));
  CHECK(chat["messages"] == json::parse(R"([{"role": "user", "content": "Say \"é\""}])"));
  CHECK_FALSE(chat.contains("ignore_eos"));
  CHECK_FALSE(chat.contains("prompt"));
}

TEST_CASE("load prompts: a file of texts and objects, in turn") {
  const test::Folder folder;
  const auto file = folder.file("prompts", "first\r\n\n{\"prompt\": \"second\", \"output_tokens\": 7}\n");
  const Prompts prompts(load::read_prompts(file), {3, 3}, 1);
  CHECK(prompts.at(0).text == "first");
  CHECK(prompts.at(0).output_tokens == 3);
  CHECK(prompts.at(1).text == "second");
  CHECK(prompts.at(1).output_tokens == 7);
  CHECK(prompts.at(2).text == "first");
  CHECK(error_of([&] { load::read_prompts(folder / "none"); }).kind == ErrorKind::kInput);
  CHECK(error_of([&] { load::read_prompts(folder.file("empty", "\n\n")); }).message == "the file has no prompts");
  CHECK(test::has(error_of([&] { load::read_prompts(folder.file("bad", "x\n{\"prompt\": 3}\n")); }).where, "line 2"));
}

TEST_CASE("load replay: rows of ours and of Mooncake, sorted, from 0 on") {
  const test::Folder folder;
  const auto ours = load::read_replay(folder.file("a", R"({"at_s": 11.5, "prompt_tokens": 4, "output_tokens": 8}
{"at_s": 10, "prompt": "Why?"})"));
  CHECK(ours.due_ns == std::vector<Ns>{0, 1'500'000'000});
  CHECK(ours.prompts[0].text == "Why?");
  CHECK(ours.prompts[1].asked_tokens == 4u);
  CHECK(ours.prompts[1].output_tokens == 8);
  CHECK(test::count(Prompts(ours.prompts, {2, 2}, 1).at(1).text, " ") == 3);
  const auto mooncake =
      load::read_replay(folder.file("b",
                                    "{\"timestamp\": 27482, \"input_length\": 6955, \"output_length\": 52, \"hash_ids\": [46, 47]}\n"
                                    "{\"timestamp\": 30535, \"input_length\": 6472, \"output_length\": 26, \"hash_ids\": [46]}\n"));
  CHECK(mooncake.due_ns == std::vector<Ns>{0, 3'053'000'000});
  CHECK(mooncake.prompts[0].asked_tokens == 6955u);
  for (const char* wrong :
       {"{\"at_s\": -1, \"prompt\": \"a\"}", "{\"prompt\": \"a\"}", "{\"at_s\": 1}", "[]", "x", "{\"at_s\": 1, \"prompt_tokens\": 1e9}",
        "{\"at_s\": 0, \"prompt\": \"a\"}\n{\"at_s\": 90000, \"prompt\": \"a\"}"})
    CHECK(error_of([&] { load::read_replay(folder.file("c", wrong)); }).kind == ErrorKind::kInput);
}
