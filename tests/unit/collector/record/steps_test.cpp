#include "collector/record/steps.h"

#include <cstring>
#include <string>
#include "tests/catch.h"

using namespace nl::collector;

namespace {

Step step_of(const std::string& mark) { return step_of_mark(mark.data(), static_cast<std::uint32_t>(mark.size())); }
std::uint32_t requests_of(const std::string& name) { return requests_of_name(name.data(), static_cast<std::uint32_t>(name.size())); }

Text text_of(const char* words) { return {0, 1, static_cast<std::uint32_t>(std::strlen(words)), words}; }

}  // namespace

TEST_CASE("recorded steps: a mark tells the number and how many requests are in the batch") {
  CHECK(step_of("step index=41 requests=7:prefill:512,8:decode:1").index == 41);
  CHECK(step_of("step index=41 requests=7:prefill:512,8:decode:1").requests == 2);
  CHECK(step_of("LLM@step index=0 requests=7:decode:1").index == 0);
  CHECK(step_of("step index=3 part=2/2 requests=1:decode:1,2:decode:1,3:decode:1 more=5").requests == 3);
  CHECK(step_of("step index=9 requests=").requests == 0);
  CHECK(step_of("step index= requests=1:decode:1").index == -1);
}

TEST_CASE("recorded steps: marks of other words and domains are no steps") {
  const Text llm = text_of("LLM"), other = text_of("engine"), step = text_of("step index=1"), literal = text_of("LLM@step index=1"),
             request = text_of("request queued id=1");
  CHECK(is_step_mark({&step, &llm}));
  CHECK(is_step_mark({&literal, nullptr}));
  CHECK_FALSE(is_step_mark({&step, nullptr}));
  CHECK_FALSE(is_step_mark({&step, &other}));
  CHECK_FALSE(is_step_mark({&request, &llm}));
  CHECK_FALSE(is_step_mark({nullptr, &llm}));
}

TEST_CASE("recorded steps: collectives are those that NCCL marks, and no sends and groups") {
  const Text nccl = text_of("NCCL"), other = text_of("NCCI"), reduce = text_of("ncclAllReduce"), gather = text_of("ncclAllGather"),
             send = text_of("ncclSend"), group = text_of("ncclGroupEnd"), init = text_of("ncclCommInitRank"),
             longer = text_of("ncclReduce2");
  CHECK(is_collective({&reduce, &nccl}));
  CHECK(is_collective({&gather, &nccl}));
  for (const Text* name : {&send, &group, &init, &longer}) CHECK_FALSE(is_collective({name, &nccl}));
  CHECK_FALSE(is_collective({&reduce, &other}));
  CHECK_FALSE(is_collective({&reduce, nullptr}));
  CHECK_FALSE(is_collective({nullptr, &nccl}));
}

TEST_CASE("recorded steps: names of vLLM and SGLang tell how many requests are in the batch") {
  CHECK(requests_of("execute_context_2(512)_generation_6(6)") == 8);
  CHECK(requests_of("execute_context_0(0)_generation_31(31)") == 31);
  CHECK(requests_of("execute_1024_context_3(sq1sk1)_generation_5(sq5)") == 8);
  CHECK(requests_of("step[DECODE bs=16 toks=16]") == 16);
  CHECK(requests_of("decode_step") == 0);
}

TEST_CASE("recorded steps: the median is that of the last 128") {
  StepTimes times;
  CHECK(times.median_ns() == 0);
  for (int i = 1; i <= 5; ++i) times.add(i * 10);
  CHECK(times.median_ns() == 30);
  for (int i = 0; i < 128; ++i) times.add(7);
  CHECK(times.median_ns() == 7);
  CHECK(times.count() == 133);
}
