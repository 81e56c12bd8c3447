#include "analysis/figures/host/host_work.h"

#include "tests/catch.h"

using nl::HostFrame;
using nl::HostWork;
using nl::analysis::HostWorks;
using nl::analysis::work_of;

namespace {

HostFrame python(const char* module, const char* function = "f", const char* source = "", const char* file = "/site/x.py") {
  return {function, file, module, 10, 5, source};
}

HostWork of_stack(const std::vector<HostFrame>& frames) {
  std::vector<std::uint32_t> stack;
  for (std::uint32_t i = 0; i < frames.size(); ++i) stack.push_back(i);
  return HostWorks(frames).of_stack(stack);
}

}  // namespace

TEST_CASE("host work: modules by their names, and no others that begin alike") {
  const struct {
    const char* module;
    HostWork work;
  } expected[] = {
      {"tokenizers", HostWork::kTokenizer},
      {"transformers.tokenization_utils_fast", HostWork::kTokenizer},
      {"transformers.models.qwen2.tokenization_qwen2_fast", HostWork::kTokenizer},
      {"transformers.models.llava.processing_llava", HostWork::kTokenizer},
      {"transformers.models.llava.image_processing_llava", HostWork::kOther},
      {"transformers.generation.logits_process", HostWork::kSampling},
      {"transformers.generation.stopping_criteria", HostWork::kSampling},
      {"transformers.generation.utils", HostWork::kGeneration},
      {"transformers.cache_utils", HostWork::kGeneration},
      {"transformers.models.qwen3.modeling_qwen3", HostWork::kModel},
      {"transformers.masking_utils", HostWork::kModel},
      {"torch.nn.modules.module", HostWork::kFramework},
      {"torch", HostWork::kFramework},
      {"torchvision.ops", HostWork::kOther},
      {"torch._dynamo.eval_frame", HostWork::kCompiler},
      {"torch._inductor.utils", HostWork::kCompiler},
      {"torch._functorch._aot_autograd.runtime_wrappers", HostWork::kCompiler},
      {"torch.utils.data.dataloader", HostWork::kDataLoader},
      {"datasets.arrow_dataset", HostWork::kDataLoader},
      {"asyncio.base_events", HostWork::kServer},
      {"uvicorn.server", HostWork::kServer},
      {"zmq.sugar.socket", HostWork::kServer},
      {"queue", HostWork::kServer},
      {"queue_of_mine", HostWork::kUser},
      {"vllm.v1.sample.sampler", HostWork::kSampling},
      {"vllm.v1.worker.gpu_model_runner", HostWork::kGeneration},
      {"vllm.v1.core.sched.scheduler", HostWork::kGeneration},
      {"vllm.v1.engine.core", HostWork::kServer},
      {"vllm.model_executor.models.llama", HostWork::kModel},
      {"sglang.srt.layers.sampler", HostWork::kSampling},
      {"sglang.srt.managers.scheduler", HostWork::kGeneration},
      {"sglang.srt.managers.detokenizer_manager", HostWork::kTokenizer},
      {"__main__", HostWork::kUser},
      {"torch.optim.adamw", HostWork::kOptimizer},
      {"torch.amp.grad_scaler", HostWork::kOptimizer},
      {"torch.distributed.distributed_c10d", HostWork::kExchange},
      {"torch.distributed.fsdp.fully_shard", HostWork::kFramework},
      {"mpi4py.MPI", HostWork::kExchange},
      {"logging", HostWork::kLogging},
      {"tqdm.std", HostWork::kLogging},
      {"json.encoder", HostWork::kJson},
      {"PIL.Image", HostWork::kOther},
  };
  for (const auto& each : expected) {
    INFO(each.module);
    CHECK(work_of(python(each.module)) == each.work);
  }
}

TEST_CASE("host work: source and function say more than the module") {
  for (const char* source :
       {"n = x.item()", "ids = out.tolist()", "x = logits.cpu()", "a = t.numpy()", "torch.cuda.synchronize()", "y = x.to('cpu')"}) {
    INFO(source);
    CHECK(work_of(python("__main__", "main", source)) == HostWork::kSync);
    CHECK(work_of(python("transformers.generation.utils", "_sample", source)) == HostWork::kSync);
  }
  CHECK(work_of(python("__main__", "main", "x = torch.from_numpy(a)")) == HostWork::kUser);
  CHECK(work_of(python("__main__", "main", "time.sleep(0.004)")) == HostWork::kSleep);
  CHECK(work_of(python("__main__", "main", "print(token, end='')")) == HostWork::kLogging);
  CHECK(work_of(python("__main__", "main", "line = orjson.dumps(record)")) == HostWork::kJson);
  CHECK(work_of(python("transformers.models.bart.modeling_bart", "BartForCausalLM._reorder_cache")) == HostWork::kGeneration);
  CHECK(work_of(python("transformers.cache_utils", "DynamicCache.reorder_cache")) == HostWork::kGeneration);
  CHECK(work_of(python("transformers.generation.utils", "GenerationMixin._has_unfinished_sequences", "elif this_peer_finished:")) ==
        HostWork::kSync);
  CHECK(work_of(python("transformers.generation.utils", "GenerationMixin._sample", "probs = nn.functional.softmax(scores, dim=-1)")) ==
        HostWork::kSampling);
  CHECK(work_of(python("transformers.generation.utils", "GenerationMixin._sample", "scores = logits_processor(input_ids, logits)")) ==
        HostWork::kSampling);
  CHECK(work_of(python("__main__", "main", "token = torch.argmax(logits, -1)")) == HostWork::kSampling);
  CHECK(work_of(python("__main__", "Attention.forward", "p = torch.softmax(s, -1)")) == HostWork::kModel);
  CHECK(work_of(python("my.model", "forward")) == HostWork::kModel);
  CHECK(work_of(python("my.model", "carry_forward")) == HostWork::kUser);
  CHECK(work_of(python("c123", "call", "", "/tmp/torchinductor_me/ab/c123.py")) == HostWork::kCompiler);
}

TEST_CASE("host work: native functions by their library") {
  CHECK(work_of({"at::native::add", "/site/torch/lib/libtorch_cpu.so", "", 0, 0, ""}) == HostWork::kFramework);
  CHECK(work_of({"encode", "/site/tokenizers/tokenizers.abi3.so", "", 0, 0, ""}) == HostWork::kTokenizer);
  CHECK_FALSE(work_of({"memcpy", "/lib/libc.so.6", "", 0, 0, ""}));
}

TEST_CASE("host work: the innermost frame that says something decides") {
  const HostFrame main = python("__main__", "main"),
                  loop = python("transformers.generation.utils", "_sample", "outputs = model_forward(**inputs)"),
                  model = python("transformers.models.qwen3.modeling_qwen3", "Qwen3Attention.forward"),
                  call = python("torch.nn.modules.module", "_call_impl"), context = python("contextlib", "__exit__"),
                  warp = python("transformers.generation.logits_process", "__call__"),
                  functional = python("torch.nn.functional", "softmax"), tokens = python("transformers.tokenization_utils_base", "decode"),
                  compiled = python("torch._dynamo.eval_frame", "_fn");
  CHECK(of_stack({main, loop}) == HostWork::kGeneration);
  CHECK(of_stack({main, loop, call, model}) == HostWork::kModel);
  CHECK(of_stack({main, loop, call, model, call}) == HostWork::kFramework);  // Python overhead of modules
  CHECK(of_stack({main, loop, warp, functional}) == HostWork::kSampling);
  CHECK(of_stack({main, loop, compiled, call}) == HostWork::kCompiler);
  CHECK(of_stack({main, tokens, call, context}) == HostWork::kTokenizer);
  CHECK(of_stack({main, loop, context}) == HostWork::kGeneration);
  CHECK(of_stack({main, functional}) == HostWork::kFramework);
  CHECK(of_stack({functional}) == HostWork::kFramework);
  CHECK(of_stack({context}) == HostWork::kOther);
}

TEST_CASE("host work: stacks of programs as they are, by kind") {
  const HostFrame main = python("__main__", "train", "", "/home/me/train.py"), loader = python("torch.utils.data.dataloader", "_next_data"),
                  get = python("torch.utils.data.dataloader", "_MultiProcessingDataLoaderIter._try_get_data"),
                  queue = python("multiprocessing.queues", "Queue.get"),
                  receive = python("multiprocessing.connection", "Connection.recv_bytes"),
                  select = python("selectors", "_PollLikeSelector.select"),
                  rebuild = python("torch.multiprocessing.reductions", "rebuild_storage_fd"),
                  fetch = python("torch.utils.data._utils.fetch", "_MapDatasetFetcher.fetch"),
                  item = python("__main__", "Lines.__getitem__", "row = json.loads(self.rows[i])", "/home/me/train.py"),
                  decoder = python("json.decoder", "JSONDecoder.raw_decode"), disabled = python("torch._compile", "inner"),
                  wrapped = python("torch._dynamo.eval_frame", "_TorchDynamoContext.__call__.<locals>._fn"),
                  zero = python("torch.optim.optimizer", "Optimizer.zero_grad"),
                  record = python("torch.autograd.profiler", "record_function.__enter__"), step = python("torch.optim.adamw", "AdamW.step"),
                  many = python("torch.optim.adam", "_multi_tensor_adam"),
                  group = python("torch.utils._foreach_utils", "_group_tensors_by_device_and_dtype"),
                  profile = python("torch.optim.optimizer", "Optimizer.profile_hook_step.<locals>.wrapper"),
                  generate = python("transformers.generation.utils", "GenerationMixin._beam_search", "past.reorder_cache(beam_idx)"),
                  reorder = python("transformers.cache_utils", "DynamicLayer.reorder_cache"),
                  decode = python("transformers.tokenization_utils_fast", "PreTrainedTokenizerFast._decode"),
                  info = python("logging", "Logger.info"), emit = python("logging", "StreamHandler.emit"),
                  encode = python("json.encoder", "JSONEncoder.iterencode"),
                  put = python("__main__", "Ledger.put", "", "/home/me/train.py"),
                  sleeping = python("__main__", "pace", "time.sleep(0.001)", "/home/me/train.py"),
                  engine = python("vllm.v1.engine.core", "EngineCoreProc.run_busy_loop"), poll = python("zmq.sugar.poll", "Poller.poll");
  CHECK(of_stack({main, loader, get, queue, receive}) == HostWork::kDataLoader);
  CHECK(of_stack({main, loader, get, queue, receive, select}) == HostWork::kDataLoader);
  CHECK(of_stack({main, loader, get, queue, rebuild}) == HostWork::kDataLoader);
  CHECK(of_stack({main, loader, fetch, item}) == HostWork::kDataLoader);
  CHECK(of_stack({main, loader, fetch, item, decoder}) == HostWork::kDataLoader);
  CHECK(of_stack({main, queue, receive}) == HostWork::kServer);  // a queue of its own
  CHECK(of_stack({engine, poll, select}) == HostWork::kServer);
  CHECK(of_stack({main, disabled, wrapped, zero}) == HostWork::kOptimizer);
  CHECK(of_stack({main, disabled, wrapped, zero, record}) == HostWork::kOptimizer);
  CHECK(of_stack({main, profile, step, many, group}) == HostWork::kOptimizer);
  CHECK(of_stack({main, python("torch.nn.modules.module", "Module.zero_grad")}) == HostWork::kOptimizer);
  CHECK(of_stack({main, generate, reorder}) == HostWork::kGeneration);
  CHECK(of_stack({main, generate, reorder, python("torch._tensor", "index_select")}) == HostWork::kFramework);
  CHECK(of_stack({main, decode}) == HostWork::kTokenizer);
  CHECK(of_stack({main, info, emit}) == HostWork::kLogging);
  CHECK(of_stack({main, put, encode}) == HostWork::kJson);
  CHECK(of_stack({main, sleeping}) == HostWork::kSleep);
  CHECK(of_stack({main, put}) == HostWork::kUser);
  CHECK(of_stack({main, put, python("statistics", "mean", "", "/usr/lib/python3.12/statistics.py")}) == HostWork::kUser);
  CHECK(of_stack({main, put, python("PIL.Image", "resize", "", "/x/site-packages/PIL/Image.py")}) == HostWork::kOther);
}

TEST_CASE("host work: the line that makes a call is the innermost outside of PyTorch") {
  const std::vector<HostFrame> frames = {python("__main__"),
                                         python("transformers.generation.utils"),
                                         python("torch._tensor"),
                                         python("contextlib"),
                                         {"cudaStreamSynchronize", "/lib/libcudart.so", "", 0, 0, ""}};
  const HostWorks works(frames);
  CHECK(works.calling_frame({0, 1, 2, 3, 4}) == 1);
  CHECK(works.calling_frame({0, 2}) == 0);
  CHECK(works.calling_frame({2, 4}) == 4);
}

TEST_CASE("host work: CUDA's calls are their caller's framework's, or themselves") {
  const HostFrame main{"main", "/srv/grains", "", 0, 0, ""}, driver{"(no symbol)", "/usr/lib/libcuda.so.1", "", 0, 0, ""},
      linked{"cudaLaunchKernel", "/srv/grains", "", 0, 0, ""}, torch{"at::native::add", "/site/torch/lib/libtorch_cuda.so", "", 0, 0, ""},
      copy{"memmove", "/usr/lib/libc.so.6", "", 0, 0, ""};
  CHECK(of_stack({main, driver}) == HostWork::kCuda);
  CHECK(of_stack({main, linked}) == HostWork::kCuda);
  CHECK(of_stack({main, driver, copy}) == HostWork::kCuda);
  CHECK(of_stack({main, torch, driver}) == HostWork::kFramework);
  CHECK(of_stack({main, copy}) == HostWork::kUser);
}
