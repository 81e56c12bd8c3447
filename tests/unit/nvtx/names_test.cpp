#include "nvtx/names.h"

#include <algorithm>

#include "tests/catch.h"

using namespace nl;
using namespace nl::nvtx;

TEST_CASE("a literal LLM@prefill in the default domain is prefill of the LLM domain") {
  RangeName range = normalise_range("", "LLM@prefill");
  CHECK(range.domain == "LLM");
  CHECK(range.name == "prefill");
  RangeName op = normalise_range("", "LLM.ops@attention");
  CHECK(op.domain == "LLM.ops");
  CHECK(op.name == "attention");
}

TEST_CASE("everything else stays as it is") {
  for (const char* name : {"prefill", "LLM@", "LLM", "LLMx@prefill", "other@prefill", "", "@", "llm@prefill"}) {
    CHECK(normalise_range("", name).domain.empty());
    CHECK(normalise_range("", name).name == name);
  }
  CHECK(normalise_range("mine", "LLM@prefill").domain == "mine");
  CHECK(normalise_range("mine", "LLM@prefill").name == "LLM@prefill");
  CHECK(normalise_range("", "LLM@a@b").name == "a@b");
}

TEST_CASE("a range names its stage in either spelling") {
  CHECK(stage_of("LLM", "prefill") == "prefill");
  CHECK(stage_of("", "LLM@prefill") == "prefill");
  CHECK(stage_of("LLM", "decode_all") == "decode");
  CHECK(stage_of("LLM", "decode") == "decode");
  CHECK(stage_of("", "LLM@decode_step") == "decode_step");
  CHECK(stage_of("LLM", "sampling") == "sampling");
}

TEST_CASE("ranges outside the LLM domain are no stages") {
  CHECK(stage_of("", "prefill").empty());
  CHECK(stage_of("cuBLAS", "prefill").empty());
  CHECK(stage_of("LLM.ops", "attention").empty());
  CHECK(stage_of("", "LLM.ops@attention").empty());
}

TEST_CASE("decode is made of decode_all, decode and decode_step") {
  CHECK(ranges_of_stage("decode") == std::vector<std::string>{"decode_all", "decode", "decode_step"});
  CHECK(ranges_of_stage("prefill") == std::vector<std::string>{"prefill"});
}

TEST_CASE("ncu filters cover both spellings and both styles") {
  CHECK(ncu_include_filters("prefill") == std::vector<std::string>{"LLM@prefill/", "LLM@prefill", "LLM\\@prefill/", "LLM\\@prefill"});
  std::vector<std::string> decode = ncu_include_filters("decode");
  CHECK(decode.size() == 12);
  for (const char* filter : {"LLM@decode_all/", "LLM\\@decode_step/", "LLM@decode_step", "LLM\\@decode"})
    CHECK(std::count(decode.begin(), decode.end(), filter) == 1);
}

TEST_CASE("what is special to ncu is escaped inside a name") {
  CHECK(ncu_include_filters("a/b[c],d*+\\")[0] == "LLM@a\\/b\\[c\\]\\,d\\*\\+\\\\/");
  CHECK(ncu_include_filters("x@y")[2] == "LLM\\@x\\@y/");
}

TEST_CASE("marks of a clock, in their domain or literally, and nothing else") {
  CHECK(parse_clock_mark("LLM.clock", "monotonic_ns=81234567890") == 81234567890);
  CHECK(parse_clock_mark("", "LLM.clock@monotonic_ns=5") == 5);
  for (const char* text : {"monotonic_ns=", "monotonic_ns=5 s", "monotonic_ns=x", "realtime_ns=5", "5", ""}) {
    INFO(text);
    CHECK_FALSE(parse_clock_mark("LLM.clock", text));
  }
  CHECK_FALSE(parse_clock_mark("LLM", "monotonic_ns=5"));
  CHECK_FALSE(parse_clock_mark("", "monotonic_ns=5"));
  CHECK(stage_of("LLM.clock", "monotonic_ns=5") == "");
  CHECK(stage_of("", "LLM.clock@monotonic_ns=5") == "");
}

TEST_CASE("marks that tell how many tokens there are") {
  const auto both = parse_token_mark("LLM", "tokens prompt=256 batch=2");
  REQUIRE(both);
  CHECK(both->prompt == 256);
  CHECK(both->batch == 2);
  CHECK_FALSE(both->decode);
  CHECK_FALSE(both->beams);
  const auto beams = parse_token_mark("LLM", "tokens prompt=256 batch=2 beams=3 decode=64");
  REQUIRE(beams);
  CHECK(beams->beams == 3);
  CHECK(beams->batch == 2);
  CHECK(beams->decode == 64);
  CHECK(parse_token_mark("LLM", "tokens beams=4")->beams == 4);
  CHECK_FALSE(parse_token_mark("LLM", "tokens beams=0"));
  const auto literal = parse_token_mark("", "LLM@tokens decode=64");
  REQUIRE(literal);
  CHECK(literal->decode == 64);
  CHECK(parse_token_mark("LLM", "tokens  batch=3  later=7 prompt=x")->batch == 3);
  for (const char* text : {"tokens", "tokens prompt=", "tokens prompt=-1", "tokens prompt=0", "tokens prompt=1.5", "tokens =3",
                           "tokens prompt=99999999999999999999", "tokens_prompt=3", "first token", ""}) {
    INFO(text);
    CHECK_FALSE(parse_token_mark("LLM", text));
  }
  CHECK_FALSE(parse_token_mark("", "tokens prompt=256"));
  CHECK_FALSE(parse_token_mark("cuBLAS", "tokens prompt=256"));
}
