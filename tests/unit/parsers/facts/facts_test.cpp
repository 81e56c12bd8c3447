#include "parsers/facts/facts.h"

#include "tests/catch.h"
#include "tests/unit/files.h"

using nl::parsers::ProcessFacts;
using nl::parsers::read_facts;

namespace {

const char* const kQwen =
    R"json({"class": "Qwen3ForCausalLM", "dtype": "bfloat16", "new_tokens": 40, "config": {"architectures": ["Qwen3ForCausalLM"],
  "model_type": "qwen3", "num_hidden_layers": 6, "hidden_size": 1024, "intermediate_size": 2816, "num_attention_heads": 16,
  "num_key_value_heads": 4, "head_dim": 64, "vocab_size": 32000}})json";

std::string facts_text(const std::string& models, const std::string& rest = "") {
  return R"json({"versions": {"python": "3.12.3", "torch": "2.11.0", "broken": 7}, "backend": "transformers", "models": [)json" + models +
         "]" + rest + "}";
}

}  // namespace

TEST_CASE("facts: versions and the shape of the model that generated the most") {
  const nl::test::Folder folder;
  folder.file("facts-1.json",
              facts_text(R"json({"class": "Small", "new_tokens": 3, "config": {"model_type": "llama", "num_hidden_layers": 1,
    "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 2, "vocab_size": 100}})json"));
  folder.file("facts-2.json", facts_text(kQwen));
  folder.file("notes.txt", "{}");
  const ProcessFacts facts = read_facts(folder.path);
  CHECK(facts.backend == "transformers");
  CHECK(facts.versions == std::map<std::string, std::string>{{"python", "3.12.3"}, {"torch", "2.11.0"}});
  REQUIRE(facts.model);
  CHECK(facts.model->attributes.at("layers") == "6");
  CHECK(facts.model->attributes.at("hidden_size") == "1024");
  CHECK(facts.model->attributes.at("dtype") == "bf16");
  CHECK(facts.notes.empty());
}

TEST_CASE("facts: what the one model of a process is called with, and whether it is trained") {
  const std::string steps = R"json(, "steps": [{"kind": "call", "batch": 8, "tokens": 4096, "count": 30}, {"kind": "decode", "batch": 2,
    "tokens": 2, "count": 9}, {"kind": "call", "batch": 3, "tokens": 384, "count": 2}, {"kind": "call", "batch": 3, "tokens": 3, "count": 1},
    {"kind": "train", "batch": 4, "tokens": 512, "count": 7}])json";
  const auto attributes = [&](const std::string& models) {
    const nl::test::Folder folder;
    folder.file("facts-1.json", facts_text(models, steps));
    folder.file("facts-2.json", facts_text(models, R"json(, "steps": [{"kind": "call", "batch": 9, "tokens": 99, "count": 1}])json"));
    return read_facts(folder.path).model->attributes;
  };
  CHECK(attributes(kQwen).at("inputs") == "8x512:30,3x128:2");
  CHECK(attributes(kQwen).at("training_inputs") == "4x128:7");
  CHECK_FALSE(attributes(kQwen).contains("output_head"));                         // it is not trained
  CHECK_FALSE(attributes(std::string(kQwen) + ", " + kQwen).contains("inputs"));  // whose calls they are is not known
  const auto trained = [&](const std::string& more) {
    return attributes(std::string(kQwen).replace(0, 1, R"json({"kind": {"trains": true, "generates": )json" + more));
  };
  CHECK(trained("true}, ").at("output_head") == "all");
  CHECK(trained("true}, ").at("attention_mask") == "causal");
  CHECK(trained("false}, ").at("output_head") == "none");
  CHECK_FALSE(trained("false}, ").contains("attention_mask"));
  CHECK_FALSE(trained("true}, ").contains("gradient_checkpointing"));
  CHECK(trained(R"json(true}, "gradient_checkpointing": true, )json").at("gradient_checkpointing") == "true");
}

TEST_CASE("facts: what is missing, broken or no transformer is said, and nothing else is lost") {
  const nl::test::Folder folder;
  CHECK(read_facts(folder.path / "not there").versions.empty());
  folder.file("facts-1.json", "{\"versions\": ");
  folder.file("facts-2.json", facts_text(R"json({"class": "Odd", "config": {"model_type": "odd"}}, {"class": "None"})json",
                                         R"json(, "errors": {"generate": 2})json"));
  const ProcessFacts facts = read_facts(folder.path);
  CHECK(facts.versions.size() == 2);
  CHECK_FALSE(facts.model);
  REQUIRE(facts.notes.size() == 3);
  CHECK(facts.notes[0] == nl::Remark{nl::Code::kFactsDamaged, {"facts-1.json"}});
  CHECK(facts.notes[1] == nl::Remark{nl::Code::kMarksFailed, {"generate", "2"}});
  CHECK(facts.notes[2].code == nl::Code::kModelShapeUnknown);
  CHECK(facts.notes[2].details.at(0) == "Odd");
}

TEST_CASE("facts: the model as loaded, not as saved, nested configurations too") {
  const nl::test::Folder folder;
  folder.file("facts-1.json",
              facts_text(R"json({"class": "LlavaForConditionalGeneration", "dtype": "torch.float16", "new_tokens": 1, "attention": "sdpa",
    "parameters": {"count": 7063427072, "bytes": 14126854144}, "config": {"model_type": "llava", "dtype": "bfloat16",
    "text_config": {"model_type": "llama", "dtype": "bfloat16", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
      "intermediate_size": 11008, "vocab_size": 32064}}})json"));
  const ProcessFacts facts = read_facts(folder.path);
  REQUIRE(facts.model);
  CHECK(facts.model->attributes.at("dtype") == "f16");
  CHECK(facts.model->attributes.at("parameters") == "7063427072");
  CHECK(facts.model->attributes.at("attention_implementation") == "sdpa");
}

TEST_CASE("facts: packed weights tell no number of parameters, and a stated precision is kept") {
  const nl::test::Folder folder;
  std::string quantised = kQwen;
  quantised.insert(quantised.rfind("}}"), R"json(, "quantization_config": {"quant_method": "gptq", "bits": 4})json");
  quantised.insert(1, R"json("parameters": {"count": 70000000}, "precision": "gptq-int4", )json");
  folder.file("facts-1.json", facts_text(quantised));
  const ProcessFacts facts = read_facts(folder.path);
  REQUIRE(facts.model);
  CHECK(facts.model->attributes.at("dtype") == "int4");
  CHECK(facts.model->attributes.at("compute_dtype") == "bf16");
  CHECK(facts.model->attributes.at("quantization") == "gptq");
  CHECK_FALSE(facts.model->attributes.contains("parameters"));
  CHECK(facts.model->precision == "gptq-int4");
}

TEST_CASE("facts: a module without a configuration has a precision, and gives way to a model that has one") {
  const nl::test::Folder folder;
  folder.file("facts-1.json", facts_text(R"json({"class": "Loop", "precision": "float16", "new_tokens": 0})json"));
  REQUIRE(read_facts(folder.path).model);
  CHECK(read_facts(folder.path).model->precision == "f16");
  CHECK(read_facts(folder.path).model->attributes.empty());
  folder.file("facts-2.json", facts_text(kQwen));
  CHECK(read_facts(folder.path).model->attributes.at("layers") == "6");
}

TEST_CASE("facts: the flags of XLA stand beside the versions") {
  const nl::test::Folder folder;
  folder.file("facts-1.json",
              R"json({"versions": {"jax": "0.11.1"}, "jax": {"xla_flags": ["--xla_dump_to", "--xla_gpu_autotune_level=2", 7]}})json");
  CHECK(read_facts(folder.path).versions ==
        std::map<std::string, std::string>{{"jax", "0.11.1"}, {"xla_flags", "--xla_dump_to --xla_gpu_autotune_level=2"}});
}

TEST_CASE("facts: the ranks that launchers told the processes join the capture that does not tell them") {
  const nl::test::Folder folder;
  const std::map<std::uint32_t, nl::RankFacts> told = {{4711, {3, 8, nl::RankSource::kEnvironment, {}}},
                                                       {4712, {0, std::nullopt, nl::RankSource::kEnvironment, {}}}};
  folder.file(nl::parsers::kRanksFile, nl::parsers::process_ranks_json(told));
  const ProcessFacts facts = read_facts(folder.path);
  REQUIRE(facts.ranks.size() == 2);
  CHECK(facts.ranks.at(4711).rank == 3u);
  CHECK(facts.ranks.at(4711).world_size == 8u);
  CHECK_FALSE(facts.ranks.at(4712).world_size);
  CHECK(facts.notes.empty());
  nl::Trace trace;
  trace.processes = {{4711, "python3", {}}, {4712, "python3", 5u}, {4800, "bash", {}}};
  nl::parsers::join_process_ranks(facts.ranks, trace);
  CHECK(trace.processes[0].rank == 3u);
  CHECK(trace.processes[1].rank == 5u);  // as the capture tells
  CHECK_FALSE(trace.processes[2].rank);
  folder.file(nl::parsers::kRanksFile,
              R"json({"processes": [{"pid": -1, "rank": 2}, {"pid": 7, "rank": "x"}, {"pid": 7, "rank": 1e12}, 5]})json");
  CHECK(read_facts(folder.path).ranks.empty());
}
