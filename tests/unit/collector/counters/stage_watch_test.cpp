#include "collector/counters/stage_watch.h"

#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.h"

using namespace nl::collector;

// Stands in for the recorder: ranges are told of by hand.
namespace {

const RangeListener* ranges = nullptr;
std::vector<std::string> told;

void opened(EventText text, std::uint64_t token) {
  told.push_back(std::string("+") + text.name->data + (token >= kPushedStage ? "" : " " + std::to_string(token)));
}
void closed(std::uint64_t token) { told.push_back(token >= kPushedStage ? "-" : "- " + std::to_string(token)); }
constexpr StageListener kListener{opened, closed};

Text text(const char* words) { return {0, 1, static_cast<std::uint32_t>(std::strlen(words)), words}; }

Text domain = text("LLM"), other_domain = text("LL"), empty_domain = text("");

void push(const char* name, const Text* where = &domain) {
  const Text words = text(name);
  ranges->begins({&words, where}, 0);
}
void pop(const Text* where = &domain) { ranges->ended(where, 0); }
void start(const char* name, std::uint64_t number, const Text* where = &domain) {
  const Text words = text(name);
  ranges->begins({&words, where}, number);
}
void end(std::uint64_t number) { ranges->ended(nullptr, number); }

std::vector<std::string> taken() { return std::exchange(told, {}); }
using Told = std::vector<std::string>;

void watch() {
  static const bool watching = watch_stages(
      "LLM@prefill\n\nLLM@decode_all\nexecute_context_0(0)_generation_*\nexecute_context_*_generation_0(0)\nexecute_context_*\nLLM@step *",
      &kListener);
  REQUIRE(watching);
  REQUIRE(ranges != nullptr);
  told.clear();
}

}  // namespace

namespace nl::collector {
void listen_to_ranges(const RangeListener* listener) { ranges = listener; }
}  // namespace nl::collector

TEST_CASE("stage watch: a name is told apart by its domain and its letters, however often it comes") {
  watch();
  const std::string longer(60, 'x');  // than names that are remembered
  for (int i = 0; i < 3; ++i) {
    push("prefill", &other_domain), pop(&other_domain);
    push("prefiil"), pop();
    CHECK(taken().empty());
    push("prefill"), pop();
    push("execute_context_7(7)_generation_0(0)", &empty_domain), pop(&empty_domain);
    push(("step " + longer).c_str()), pop();
    push(longer.c_str()), pop();
    CHECK(taken() == Told{"+prefill", "-", "+execute_context_7(7)_generation_0(0)", "-", "+step " + longer, "-"});
  }
}

TEST_CASE("stage watch: the whole name in its domain, or both in one without a domain") {
  watch();
  for (const char* name : {"prefill", "decode_all"}) {
    push(name);
    CHECK(in_stage());
    pop();
    CHECK(taken() == Told{std::string("+") + name, "-"});
  }
  for (const Text* none : {static_cast<const Text*>(nullptr), static_cast<const Text*>(&empty_domain)}) {
    push("LLM@prefill", none);
    CHECK(in_stage());
    pop(none);
    CHECK(taken().size() == 2);
  }
  for (const char* name : {"pre", "prefill2", "LLM@prefill", "decode", ""}) {
    push(name);
    CHECK_FALSE(in_stage());
    pop();
  }
  for (const char* name : {"prefill", "LLM@pre", "LLM@prefill2", "LLM", ""}) {
    push(name, nullptr);
    CHECK_FALSE(in_stage());
    pop(nullptr);
  }
  push("prefill", &other_domain);
  CHECK_FALSE(in_stage());
  pop(&other_domain);
  ranges->begins({nullptr, &domain}, 0);  // a range without a name
  CHECK_FALSE(in_stage());
  pop();
  CHECK(taken().empty());
}

TEST_CASE("stage watch: of stages inside each other the outermost counts") {
  watch();
  push("prefill");
  push("layer");
  push("decode_all");
  pop();
  pop();
  CHECK(in_stage());
  CHECK(taken() == Told{"+prefill"});
  pop();
  CHECK(taken() == Told{"-"});
  CHECK_FALSE(in_stage());
  pop();  // one too many
  CHECK(taken().empty());
}

TEST_CASE("stage watch: started ranges count on every thread until they end, by their number") {
  watch();
  start("prefill", 7);
  start("layer", 8);
  start("decode_all", 9);
  end(8);
  end(7);
  CHECK(in_stage());
  end(7);
  end(9);
  CHECK_FALSE(in_stage());
  CHECK(taken() == Told{"+prefill 7", "+decode_all 9", "- 7", "- 9"});
}

TEST_CASE("stage watch: * stands for any text, and the first line that names a range counts") {
  watch();
  const auto line_of = [](const char* name, const Text* where = &empty_domain) {
    const Text words = text(name);
    return stage_line({&words, where});
  };
  CHECK(line_of("execute_context_0(0)_generation_6(6)") == 2);
  CHECK(line_of("execute_context_0(0)_generation_6(6)", nullptr) == 2);
  CHECK(line_of("execute_context_2(512)_generation_0(0)") == 3);
  CHECK(line_of("execute_context_2(512)_generation_6(6)") == 4);
  CHECK(line_of("execute_context_") == 4);
  CHECK(line_of("execute_context") == -1);
  CHECK(line_of("execute_context_2(512)", &domain) == -1);  // its domain is part of its name
  CHECK(line_of("step 7", &domain) == 5);
  CHECK(line_of("LLM@step 7") == 5);
  CHECK(line_of("step", &domain) == -1);
  CHECK(line_of("prefill", &domain) == 0);
  CHECK(line_of("prefill *", &domain) == -1);
  CHECK(stage_line({nullptr, &domain}) == -1);

  push("execute_context_2(512)_generation_6(6)", &empty_domain);
  push("execute_context_0(0)_generation_6(6)", &empty_domain);
  pop(&empty_domain);
  pop(&empty_domain);
  CHECK(taken() == Told{"+execute_context_2(512)_generation_6(6)", "-"});
}
