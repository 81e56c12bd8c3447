#include <algorithm>
#include <map>
#include <set>

#include "tests/unit/exporters/sample_run.h"

namespace nl::test {
namespace {

const std::string kSite = "/usr/lib/python3.12/site-packages/";

StackFrame frame(HostWork kind, const char* function, const char* file, const char* module, std::uint32_t line, const char* source) {
  return {{function, (file[0] == '/' ? "" : kSite) + file, module, line, line, source}, kind};
}

// A Qwen3 of transformers, generating.
std::vector<StackFrame> frames() {
  constexpr const char *kUtils = "transformers/generation/utils.py", *kUtilsModule = "transformers.generation.utils";
  constexpr const char *kQwen = "transformers/models/qwen3/modeling_qwen3.py", *kQwenModule = "transformers.models.qwen3.modeling_qwen3";
  constexpr const char *kModule = "torch/nn/modules/module.py", *kModuleModule = "torch.nn.modules.module";
  return {
      frame(HostWork::kUser, "<module>", "/home/me/run.py", "__main__", 88, "model.generate(**inputs)"),
      frame(HostWork::kFramework, "decorate_context", "torch/utils/_contextlib.py", "torch.utils._contextlib", 120,
            "return func(*args, **kwargs)"),
      frame(HostWork::kGeneration, "GenerationMixin.generate", kUtils, kUtilsModule, 2566, "result = decoding_method("),
      frame(HostWork::kGeneration, "GenerationMixin._sample", kUtils, kUtilsModule, 2786,
            "outputs = model_forward(**model_inputs, return_dict=True)"),
      frame(HostWork::kFramework, "Module._wrapped_call_impl", kModule, kModuleModule, 1775, "return self._call_impl(*args, **kwargs)"),
      frame(HostWork::kFramework, "Module._call_impl", kModule, kModuleModule, 1786, "return forward_call(*args, **kwargs)"),
      frame(HostWork::kModel, "Qwen3ForCausalLM.forward", kQwen, kQwenModule, 480, "outputs = self.model("),
      frame(HostWork::kModel, "Qwen3Model.forward", kQwen, kQwenModule, 410, "hidden_states = decoder_layer("),
      frame(HostWork::kModel, "Qwen3DecoderLayer.forward", kQwen, kQwenModule, 260, "hidden_states, _ = self.self_attn("),
      frame(HostWork::kModel, "Qwen3Attention.forward", kQwen, kQwenModule, 245, "attn_output = self.o_proj(attn_output)"),
      frame(HostWork::kModel, "Qwen3Attention.forward", kQwen, kQwenModule, 231,
            "key_states, value_states = past_key_values.update(key_states, value_states)"),
      frame(HostWork::kModel, "Qwen3MLP.forward", kQwen, kQwenModule, 81,
            "return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))"),
      frame(HostWork::kModel, "Qwen3RMSNorm.forward", kQwen, kQwenModule, 63, "variance = hidden_states.pow(2).mean(-1, keepdim=True)"),
      frame(HostWork::kFramework, "Linear.forward", "torch/nn/modules/linear.py", "torch.nn.modules.linear", 134,
            "return F.linear(input, self.weight, self.bias)"),
      frame(HostWork::kGeneration, "DynamicLayer.update", "transformers/cache_utils.py", "transformers.cache_utils", 119,
            "self.keys = torch.cat([self.keys, key_states], dim=-2)"),
      frame(HostWork::kSampling, "GenerationMixin._sample", kUtils, kUtilsModule, 2820,
            "next_tokens = torch.argmax(next_token_scores, dim=-1)"),
      frame(HostWork::kSync, "GenerationMixin._sample", kUtils, kUtilsModule, 2829, "this_peer_finished = unfinished_sequences.max() == 0"),
      frame(HostWork::kTokenizer, "PreTrainedTokenizerBase.decode", "transformers/tokenization_utils_base.py",
            "transformers.tokenization_utils_base", 3900, ""),
      frame(HostWork::kGeneration, "GenerationMixin.prepare_inputs_for_generation", kUtils, kUtilsModule, 600,
            "model_inputs[\"cache_position\"] = cache_position"),
  };
}

std::vector<WaitStack> stacks() {
  const auto in_layer = [](std::vector<std::uint32_t> inner, std::uint64_t samples) {
    std::vector<std::uint32_t> path = {0, 1, 2, 3, 4, 5, 6, 4, 5, 7, 4, 5, 8};
    path.insert(path.end(), inner.begin(), inner.end());
    return WaitStack{"decode_step", path, samples};
  };
  return {in_layer({4, 5, 9, 4, 5, 13}, 84),  in_layer({4, 5, 9}, 61),     in_layer({4, 5, 11, 4, 5, 13}, 52),
          in_layer({4, 5, 12}, 48),           in_layer({4, 5}, 37),        in_layer({4, 5, 10, 14}, 31),
          {"decode_step", {0, 1, 2, 15}, 28}, in_layer({4}, 22),           {"decode_step", {0, 1, 2, 18}, 19},
          {"decode_step", {0, 1, 2, 16}, 17}, {"decode_step", {0, 17}, 9}, {"decode_step", {0, 1, 2, 3, 4, 5, 6}, 1},
          {"decode_step", {0, 1, 2}, 1}};
}

// Lines as the stacks have them; of a function, the line where it was seen stands for where it begins.
HostCode code_of(const HostStacks& host, Ns waited_ns) {
  HostCode code;
  code.waited_ns = waited_ns;
  std::map<std::uint32_t, HostLine> lines;
  std::map<HostWork, HostWorkTime> kinds;
  for (const WaitStack& stack : host.stacks) {
    code.samples += stack.samples;
    const StackFrame& inner = host.frames[stack.frames.back()];
    lines[stack.frames.back()].samples += stack.samples;
    kinds[inner.kind].samples += stack.samples;
    for (const std::uint32_t each : std::set(stack.frames.begin(), stack.frames.end())) lines[each].samples_inside += stack.samples;
  }
  const auto time = [&](std::uint64_t samples) { return waited_ns * static_cast<Ns>(samples) / static_cast<Ns>(code.samples); };
  for (auto& [index, line] : lines) {
    line = {host.frames[index].frame, host.frames[index].kind, line.samples,
            line.samples_inside,      time(line.samples),      time(line.samples_inside)};
    if (line.samples > 0) code.lines.push_back(line);
    code.functions.push_back(line);
  }
  for (auto& [kind, sum] : kinds) code.kinds.push_back({kind, sum.samples, time(sum.samples)});
  std::stable_sort(code.lines.begin(), code.lines.end(), [](const HostLine& a, const HostLine& b) { return a.samples > b.samples; });
  std::stable_sort(code.functions.begin(), code.functions.end(),
                   [](const HostLine& a, const HostLine& b) { return a.samples_inside > b.samples_inside; });
  return code;
}

}  // namespace

Run host_run() {
  Run run = rich_run();
  HostStacks& host = run.host.emplace();
  host.sampler = HostSampler::kPython;
  host.period_ns = 10'309'278;
  host.cost_share = 0.008;
  host.samples = 1912;
  host.lost = 3;
  host.frames = frames();
  host.stacks = stacks();
  StageEntry& step = run.stages[2];
  HostCode code = code_of(host, step.budget->launch_starved_ns);
  code.syncs = {{host.frames[16].frame, 21, 2'165'000}, {host.frames[15].frame, 4, 412'000}};
  code.collections = 2;
  code.collection_ns = 1'210'000;
  code.os_calls = {{"pthread_cond_wait", 24, 3'100'000}, {"futex", 7, 160'000}};
  step.host_code = code;
  run.stages[1].host_code = code;  // decode as a whole: the same once more
  HostCode few;
  few.waited_ns = run.stages[0].budget->launch_starved_ns;
  few.samples = 6;
  run.stages[0].host_code = few;
  return run;
}

}  // namespace nl::test
