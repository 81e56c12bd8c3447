#include "analysis/figures/efficiency/efficiency.h"

#include <cmath>

#include "analysis/figures/efficiency/stage_work.h"
#include "model/words.h"
#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/analysis/figures/efficiency/llm_shapes.h"
#include "tests/unit/analysis/into_run.h"

using namespace nl::test;

namespace {

const std::vector<nl::DeviceTableEntry> kDevices = {
    {"NVIDIA H200", {"H200"}, {{"bf16", 989.4e12}, {"f32", 67e12}}, 4.8e12, {}, "conf/device/h200.yaml"}};

nl::StageEntry stage_entry(const char* name, std::uint64_t windows, double mean_ns) {
  nl::StageEntry entry;
  entry.name = name;
  entry.wall.count = windows;
  entry.wall.mean_ns = mean_ns;
  return entry;
}

// One H200 that ran something.
nl::Run run_with(std::vector<nl::StageEntry> stages, Attributes attributes) {
  nl::Run run;
  nl::Device gpu;
  gpu.name = "NVIDIA H200";
  run.hardware.gpus = {gpu};
  run.kernels.emplace(1);
  run.stages = std::move(stages);
  run.model.attributes = std::move(attributes);
  return run;
}

const nl::StageEfficiency& of(const nl::Run& run, std::string_view name) {
  for (const auto& each : run.efficiency)
    if (each.stage == name) return each;
  FAIL("no stage " << name);
  throw 0;
}

bool says(const std::vector<std::string>& lines, const std::string& part) {
  for (const auto& line : lines)
    if (line.find(part) != std::string::npos) return true;
  return false;
}

const Attributes kLengths = {{"batch_size", "1"}, {"prompt_tokens", "512"}};

}  // namespace

TEST_CASE("the MFU of a known product is its FLOPs over its time") {
  // 8192³ in bf16: 1.0995e12 FLOPs, 1.395 ms as seen on an H200.
  auto run = run_with({stage_entry("gemm", 10, 1.395e6)},
                      {{"dtype", "bf16"}, {"stage_flops.gemm", "1099511627776"}, {"stage_bytes.gemm", "402653184"}});
  run.stages[0].budget.emplace();
  run.stages[0].budget->gpu_compute_ns = 13900000;
  nl::analysis::fill_efficiency(kDevices, run);
  const auto& gemm = of(run, "gemm");
  CHECK(*gemm.mfu == Approx(2 * std::pow(8192., 3) / (1.395e-3 * 989.4e12)).epsilon(1e-12));
  CHECK(*gemm.mfu_busy == Approx(2 * std::pow(8192., 3) / (1.390e-3 * 989.4e12)).epsilon(1e-12));
  CHECK(*gemm.mbu == Approx(3. * 8192 * 8192 * 2 / (1.395e-3 * 4.8e12)).epsilon(1e-12));
  CHECK(gemm.limit == nl::Bound::kCompute);
  CHECK(*gemm.ideal_ns == Approx(1.0995e12 / 989.4e12 * 1e9).epsilon(1e-4));
  CHECK(*gemm.intensity == Approx(8192. / 3));
  CHECK(gemm.note.empty());
  CHECK(run.peaks->source == "conf/device/h200.yaml");
}

TEST_CASE("prefill, decode and its steps of a Llama") {
  auto run = run_with({stage_entry("prefill", 2, 20e6), stage_entry("decode", 2, 64e6), stage_entry("decode_step", 32, 4e6)},
                      with(llama_8b(), kLengths));
  nl::analysis::fill_efficiency(kDevices, run);
  CHECK(of(run, "prefill").limit == nl::Bound::kCompute);
  CHECK(of(run, "decode_step").limit == nl::Bound::kMemory);
  CHECK(*of(run, "decode").flops == Approx(16 * *of(run, "decode_step").flops).epsilon(1e-12));
  // 15.0 GB of weights and 64 MB of cache in 4 ms of 4.8 TB/s.
  CHECK(*of(run, "decode_step").mbu == Approx(0.785).epsilon(0.01));
  double flops = 0;
  for (const auto& term : of(run, "prefill").terms) flops += term.flops;
  CHECK(flops == *of(run, "prefill").flops);
  CHECK(says(of(run, "prefill").assumptions, "causal attention is exact"));
  CHECK(says(of(run, "decode").assumptions, "16 steps at batch 1"));
}

TEST_CASE("each kind of stage has the work of its part of the model, and any other name has none") {
  const Attributes seeing = {{"vision_layers", "24"},         {"vision_hidden_size", "1024"}, {"vision_intermediate_size", "4096"},
                             {"vision_patches", "577"},       {"vision_patch_size", "14"},    {"image_tokens", "576"},
                             {"projector_input_size", "1024"}};
  const Attributes attributes = with(with(llama_8b(), kLengths), seeing);
  std::vector<nl::StageEntry> stages = {stage_entry("sampling", 1, 1e6)};
  for (const std::string_view key : nl::keys_of<nl::StageKind>())
    stages.push_back(stage_entry(std::string(key).c_str(), key == "decode_step" ? 16 : 1, 1e6));
  auto run = run_with(stages, attributes);
  nl::analysis::fill_efficiency(kDevices, run);
  const auto shape = nl::analysis::read_llm_shape(attributes);
  using nl::analysis::StageWork;
  const StageWork vision = nl::analysis::vision_work(shape, 1);
  const std::map<std::string, StageWork> expected = {{"prefill", nl::analysis::prefill_work(shape, 1, 512)},
                                                     {"decode", nl::analysis::decode_work(shape, 1, 512, 16)},
                                                     {"decode_step", nl::analysis::decode_step_work(shape, 1, 512, 16)},
                                                     {"vision", vision},
                                                     {"vision_encoder", vision},
                                                     {"vision_tower", vision},
                                                     {"projector", nl::analysis::projector_work(shape, 1)}};
  // Of programs that do not generate, what is not known of this one.
  const std::string passes = "sequence_tokens and model.attention_mask", trained = passes + " and model.output_head";
  const std::map<std::string, std::string> needed = {
      {"batch", passes}, {"denoise_step", "sequence_tokens"}, {"train_step", trained}, {"forward", trained}, {"backward", trained}};
  REQUIRE(run.efficiency.size() == nl::keys_of<nl::StageKind>().size() + 1);
  for (const nl::StageEfficiency& each : run.efficiency) {
    INFO(each.stage);
    const auto work = expected.find(each.stage);
    CHECK(each.flops.has_value() == (work != expected.end()));
    const auto needs = needed.find(each.stage);
    if (needs != needed.end()) {
      CHECK(each.note == "its work is not known; set model." + needs->second + ", or model.stage_flops." + each.stage);
      continue;
    }
    if (work == expected.end()) {
      CHECK(each.note ==
            "the work of this stage is not known; set model.stage_flops." + each.stage + " and model.stage_bytes." + each.stage);
      continue;
    }
    double flops = 0, bytes = 0;
    for (const auto& term : work->second.terms) flops += term.flops, bytes += term.bytes;
    CHECK(flops > 0);
    CHECK(each.flops == flops);
    CHECK(each.bytes == bytes);
  }
}

TEST_CASE("the workload's own marks tell batch and prompt where the model file does not") {
  auto run = run_with({stage_entry("prefill", 1, 20e6)}, llama_8b());
  run.stages[0].tokens_per_window = 1024;
  run.latency.batch = 2;
  nl::analysis::fill_efficiency(kDevices, run);
  CHECK(says(of(run, "prefill").assumptions, "prompt of 512 tokens at batch 2"));
  CHECK(of(run, "prefill").mfu);
}

// A replayed CUDA graph: the range around the replay is over long before the GPU is.
TEST_CASE("a stage that does not wait for its GPU work is measured by the GPU's time") {
  auto run = run_with({stage_entry("decode_step", 10, 0.2e6), stage_entry("decode", 1, 60e6)}, with(llama_8b(), kLengths));
  nl::analysis::fill_efficiency(kDevices, run);
  REQUIRE(of(run, "decode_step").mbu);
  const double over_wall = *of(run, "decode_step").mbu;
  run.stages[0].gpu_busy_ns = 10 * 6'000'000;
  nl::analysis::fill_efficiency(kDevices, run);
  CHECK(*of(run, "decode_step").mbu == Approx(over_wall * 0.2 / 6));
  CHECK(of(run, "decode_step").note.find("its ranges end before their GPU work (0.2 ms of 6 ms)") != std::string::npos);
  run.stages[0].gpu_busy_ns = 10 * 209'000;  // the tail of the last kernel
  nl::analysis::fill_efficiency(kDevices, run);
  CHECK(*of(run, "decode_step").mbu == Approx(over_wall));
}

TEST_CASE("what is not known is asked for by name") {
  auto run = run_with(
      {stage_entry("prefill", 1, 1e6), stage_entry("decode", 1, 1e6), stage_entry("sampling", 1, 1e6), stage_entry("vision", 1, 1e6)},
      llama_8b());
  nl::analysis::fill_efficiency(kDevices, run);
  CHECK(of(run, "prefill").note == "its number of tokens is not known; set model.batch_size and model.prompt_tokens");
  CHECK(of(run, "decode").note.find("model.decode_tokens") != std::string::npos);
  CHECK_FALSE(of(run, "prefill").flops);
  CHECK_FALSE(of(run, "prefill").mfu);
  CHECK(of(run, "sampling").note.find("set model.stage_flops.sampling") != std::string::npos);
  CHECK(of(run, "vision").note.find("set model.batch_size") != std::string::npos);
  auto shapeless = run_with({stage_entry("prefill", 1, 1e6)}, {{"layers", "4"}});
  nl::analysis::fill_efficiency(kDevices, shapeless);
  CHECK(of(shapeless, "prefill").note.find("model.hidden_size, model.heads, model.intermediate_size, model.vocab_size are not set") !=
        std::string::npos);
}

TEST_CASE("an unknown type leaves FLOPs, and says what it would give") {
  auto attributes = with(llama_8b(), kLengths);
  attributes.erase("dtype");
  auto run = run_with({stage_entry("prefill", 1, 20e6)}, attributes);
  nl::analysis::fill_efficiency(kDevices, run);
  CHECK(of(run, "prefill").flops);
  CHECK_FALSE(of(run, "prefill").bytes);
  CHECK_FALSE(of(run, "prefill").mfu);
  CHECK_FALSE(of(run, "prefill").limit);
  CHECK(of(run, "prefill").note.find("set model.dtype") != std::string::npos);
  auto quantised = run_with({stage_entry("prefill", 1, 20e6)}, with(with(llama_8b(), kLengths), {{"dtype", "int4"}}));
  nl::analysis::fill_efficiency(kDevices, quantised);
  CHECK(of(quantised, "prefill").bytes);
  CHECK(of(quantised, "prefill").note.find("set model.compute_dtype") != std::string::npos);
  auto exotic = run_with({stage_entry("prefill", 1, 20e6)}, with(with(llama_8b(), kLengths), {{"dtype", "fp4"}}));
  nl::analysis::fill_efficiency(kDevices, exotic);
  CHECK(of(exotic, "prefill").note == "no MFU: the fp4 peak of NVIDIA H200 is not known");
}

TEST_CASE("a model file that contradicts the trace is called so, and no number is hidden") {
  auto run = run_with({stage_entry("prefill", 1, 1e6), stage_entry("decode", 2, 1e6), stage_entry("decode_step", 16, 1e5)},
                      with(with(llama_8b(), kLengths), {{"decode_tokens", "32"}}));
  run.stages[0].tokens_per_window = 128;
  nl::analysis::fill_efficiency(kDevices, run);
  CHECK(*of(run, "prefill").mfu > 1);
  CHECK(of(run, "prefill").note.find("is impossible: the model file contradicts the trace") != std::string::npos);
  CHECK(*of(run, "decode_step").mbu > 1.05);
  CHECK(of(run, "decode_step").note.find("an MBU of") != std::string::npos);
  CHECK(says(of(run, "decode").assumptions, "model.decode_tokens is 32, the trace has 8 steps per decode; the trace's number is used"));
  CHECK(says(of(run, "prefill").assumptions, "model.prompt_tokens is 512, prefill has 128 tokens at batch 1"));
  run.model.attributes["decode_tokens"] = "9";  // the prefill made the first of them
  run.stages[0].tokens_per_window = 512;
  nl::analysis::fill_efficiency(kDevices, run);
  CHECK_FALSE(says(of(run, "decode").assumptions, "contradicts"));
}

TEST_CASE("lengths come from the trace where they are not configured") {
  auto run = run_with({stage_entry("prefill", 1, 20e6), stage_entry("decode_step", 15, 4e6)}, with(llama_8b(), {{"batch_size", "2"}}));
  run.stages[0].tokens_per_window = 1024;
  run.iterations.count = 3;
  run.iterations.warmup = 1;
  nl::analysis::fill_efficiency(kDevices, run);
  CHECK(*of(run, "prefill").flops > 0);
  CHECK(says(of(run, "decode_step").assumptions, "7.5 steps on average"));
  auto no_steps = run_with({stage_entry("decode", 1, 64e6)}, with(with(llama_8b(), kLengths), {{"decode_tokens", "16"}}));
  nl::analysis::fill_efficiency(kDevices, no_steps);
  CHECK(says(of(no_steps, "decode").assumptions, "16 steps at batch 1"));
}

TEST_CASE("no GPU, no kernels, no description of it: FLOPs, but no share of a peak") {
  auto run = run_with({stage_entry("prefill", 1, 20e6)}, with(llama_8b(), kLengths));
  run.kernels->clear();
  nl::analysis::fill_efficiency(kDevices, run);
  CHECK_FALSE(run.peaks);
  CHECK(of(run, "prefill").flops_per_s);
  CHECK_FALSE(of(run, "prefill").mfu);
  CHECK(of(run, "prefill").note == "no MFU or MBU: no kernel ran in the capture");
  run.kernels.reset();
  nl::analysis::fill_efficiency(kDevices, run);
  CHECK(of(run, "prefill").note == "no MFU or MBU: GPU work was not captured");
  run.kernels.emplace(1);
  run.hardware.gpus.clear();
  nl::analysis::fill_efficiency(kDevices, run);
  CHECK(of(run, "prefill").note == "no MFU or MBU: the capture does not describe the GPU");
}

TEST_CASE("stages without length, without windows, and no stages at all") {
  auto run = run_with({stage_entry("prefill", 1, 0), stage_entry("decode_step", 0, 0)}, with(llama_8b(), kLengths));
  run.stages[0].budget.emplace();
  nl::analysis::fill_efficiency(kDevices, run);
  CHECK_FALSE(of(run, "prefill").mfu);
  CHECK_FALSE(of(run, "prefill").mfu_busy);
  CHECK_FALSE(of(run, "prefill").flops_per_s);
  CHECK(of(run, "prefill").note == "no rates: its windows are empty");
  CHECK_FALSE(of(run, "decode_step").flops);
  nl::Run empty;
  nl::analysis::fill_efficiency(kDevices, empty);
  CHECK(empty.efficiency.empty());
  CHECK_FALSE(empty.peaks);
}

TEST_CASE("two GPUs: the first that worked counts, and the other is mentioned") {
  auto run = run_with({stage_entry("prefill", 1, 20e6)}, with(llama_8b(), kLengths));
  nl::Device second = run.hardware.gpus[0];
  second.id = 1;
  run.hardware.gpus[0].name = "NVIDIA T4";
  run.hardware.gpus.push_back(second);
  run.kernels->at(0).device = 1;
  nl::analysis::fill_efficiency(kDevices, run);
  CHECK(run.peaks->name == "NVIDIA H200");
  CHECK_FALSE(says(of(run, "prefill").assumptions, "GPUs ran kernels"));
  run.kernels->emplace_back();
  nl::analysis::fill_efficiency(kDevices, run);
  CHECK(says(of(run, "prefill").assumptions, "2 GPUs ran kernels, but model.tensor_parallel is 1"));
  run.model.attributes["tensor_parallel"] = "2";
  nl::analysis::fill_efficiency(kDevices, run);
  CHECK_FALSE(says(of(run, "prefill").assumptions, "GPUs ran kernels"));
}

TEST_CASE("a real capture: a small Llama's stages on an H200") {
  const auto trace = nl::parsers::read_nsys_sqlite(NL_FIXTURES "/h200-llama/nsys.sqlite");
  nl::Run run;
  nl::analysis::summarise(trace, {}, run);
  run.hardware.gpus = trace.devices;
  run.model.attributes = {{"architecture", "llama"}, {"dtype", "bf16"},   {"layers", "4"},          {"hidden_size", "1024"},
                          {"heads", "16"},           {"kv_heads", "4"},   {"head_dim", "64"},       {"intermediate_size", "2816"},
                          {"vocab_size", "32000"},   {"batch_size", "1"}, {"prompt_tokens", "256"}, {"decode_tokens", "8"},
                          {"prefill_logits", "all"}};
  nl::analysis::fill_efficiency(kDevices, run);
  CHECK(run.peaks->name == "NVIDIA H200");
  const double layer = 1024. * (16 + 8) * 64 + 16. * 64 * 1024 + 3. * 1024 * 2816, head = 1024. * 32000;
  CHECK(*of(run, "prefill").flops == 2 * 256 * (4 * layer + head) + 4. * 16 * 64 * 256 * 257 / 2 * 4);
  CHECK(*of(run, "decode_step").flops == Approx(2 * (4 * layer + head) + 4. * 16 * 64 * 260.5 * 4).epsilon(1e-12));
  for (const char* name : {"prefill", "decode", "decode_step"}) {
    const auto& figures = of(run, name);
    INFO(name << ": MFU " << *figures.mfu << ", MBU " << *figures.mbu);
    // A model this small leaves an H200 waiting for its launches.
    CHECK(*figures.mfu > 0);
    CHECK(*figures.mfu < 0.05);
    CHECK(*figures.mbu < 0.05);
    CHECK(figures.note.empty());
    CHECK_FALSE(says(figures.assumptions, "contradicts"));
  }
}

TEST_CASE("the work of a stage may be configured in part") {
  auto run =
      run_with({stage_entry("a", 1, 1e6), stage_entry("b", 1, 1e6), stage_entry("c", 1, 1e6)},
               {{"dtype", "bf16"}, {"stage_flops.a", "10"}, {"stage_bytes.b", "20"}, {"stage_flops.c", "30"}, {"stage_bytes.c", "40"}});
  nl::analysis::fill_efficiency(kDevices, run);
  CHECK(of(run, "a").flops == 10.0);
  CHECK_FALSE(of(run, "a").bytes);
  CHECK(of(run, "a").flops_per_s == Approx(10 / 1e-3));
  CHECK_FALSE(of(run, "a").limit);
  CHECK_FALSE(of(run, "b").flops);
  CHECK_FALSE(of(run, "b").flops_per_s);
  CHECK(of(run, "b").bytes == 20.0);
  CHECK(of(run, "c").intensity == 0.75);
  const std::pair<const char*, const char*> formulas[] = {
      {"a", "model.stage_flops.a = 10"}, {"b", "model.stage_bytes.b = 20"}, {"c", "model.stage_flops.c = 30; model.stage_bytes.c = 40"}};
  for (const auto& [name, formula] : formulas) {
    const auto& configured = of(run, name);
    REQUIRE(configured.terms.size() == 1);
    CHECK(configured.terms[0].name == "as configured");
    CHECK(configured.terms[0].formula == formula);
    CHECK(configured.assumptions == std::vector<std::string>{"the work comes from the configuration, not from the model shape"});
    CHECK(configured.dtype == "bf16");
    CHECK(configured.note.empty());
  }
}

TEST_CASE("more than the peak is impossible; of the memory's, five percent more") {
  // In one millisecond an H200 computes 989.4e9 FLOPs and moves 4.8e9 bytes.
  const auto note = [](const char* flops, const char* bytes, nl::Ns compute_ns = 0) {
    auto run = run_with({stage_entry("x", 1, 1e6)}, {{"dtype", "bf16"}, {"stage_flops.x", flops}, {"stage_bytes.x", bytes}});
    run.stages[0].budget.emplace().gpu_compute_ns = compute_ns;
    nl::analysis::fill_efficiency(kDevices, run);
    return of(run, "x").note.substr(0, of(run, "x").note.find(':'));
  };
  CHECK(note("980e9", "5e9") == "");
  CHECK(note("1000e9", "5e9") == "an MFU of 101 % is impossible");
  CHECK(note("980e9", "5.1e9") == "an MBU of 106 % is impossible");
  CHECK(note("600e9", "1e9", 500'000) == "an MFU of 121 % is impossible");  // of the time in which the GPU computes
}

TEST_CASE("the least time of a stage is that of its slower side") {
  auto run = run_with({stage_entry("memory", 1, 2e6), stage_entry("compute", 1, 2e6), stage_entry("both", 1, 2e6)},
                      {{"dtype", "bf16"},
                       {"stage_flops.memory", "98.94e9"},
                       {"stage_bytes.memory", "4.8e9"},
                       {"stage_flops.compute", "989.4e9"},
                       {"stage_bytes.compute", "0.48e9"},
                       {"stage_flops.both", "989.4e12"},
                       {"stage_bytes.both", "4.8e12"}});
  nl::analysis::fill_efficiency(kDevices, run);
  CHECK(*of(run, "memory").ideal_ns == Approx(1e6));
  CHECK(of(run, "memory").limit == nl::Bound::kMemory);
  CHECK(*of(run, "memory").mbu == Approx(0.5));
  CHECK(*of(run, "compute").ideal_ns == Approx(1e6));
  CHECK(of(run, "compute").limit == nl::Bound::kCompute);
  CHECK(*of(run, "compute").mfu == Approx(0.5));
  CHECK(of(run, "both").limit == nl::Bound::kCompute);
}

TEST_CASE("why there is no MFU: no type, no peaks of any type, one key missing") {
  auto untyped = run_with({stage_entry("x", 1, 1e6)}, {{"stage_flops.x", "10"}});
  nl::analysis::fill_efficiency(kDevices, untyped);
  CHECK(of(untyped, "x").note == "no MFU: the compute dtype is not known; set model.dtype (such as bf16)");
  std::vector<nl::DeviceTableEntry> no_peaks = {{"NVIDIA H200", {"H200"}, {}, 4.8e12, {}, "h200.yaml"}};
  auto unknown =
      run_with({stage_entry("x", 1, 1e6), stage_entry("y", 1, 1e6)}, {{"dtype", "bf16"}, {"stage_flops.x", "10"}, {"stage_bytes.y", "10"}});
  nl::analysis::fill_efficiency(no_peaks, unknown);
  CHECK(of(unknown, "x").note == "the GPU's peak FLOP/s are not known");
  CHECK(of(unknown, "y").note.empty());  // nothing that a peak of FLOP/s would say of it
  CHECK(of(unknown, "y").mbu);
  no_peaks[0].notes = {"measure them", "or not"};
  nl::analysis::fill_efficiency(no_peaks, unknown);
  CHECK(of(unknown, "x").note == "measure them");
  auto one_missing = run_with({stage_entry("prefill", 1, 1e6)}, with(with(llama_8b(), kLengths), {{"vocab_size", ""}}));
  nl::analysis::fill_efficiency(kDevices, one_missing);
  CHECK(of(one_missing, "prefill").note ==
        "the model shape is not known: model.vocab_size is not set; give --model a name of conf/model/llm or a Hugging Face config.json");
}

TEST_CASE("a vision stage asks for the keys of its own part") {
  auto run = run_with({stage_entry("vision", 1, 1e6), stage_entry("projector", 1, 1e6)}, with(llama_8b(), kLengths));
  nl::analysis::fill_efficiency(kDevices, run);
  CHECK(of(run, "vision").note == "its shape is not known; set model.vision_layers, vision_hidden_size and vision_patches");
  CHECK(of(run, "projector").note == "its shape is not known; set model.projector_input_size, image_tokens and hidden_size");
}
