#include "analysis/figures/host/code_origin.h"

#include "tests/catch.h"

using nl::HostFrame;
using nl::analysis::CodeOrigin;
using nl::analysis::origin_of;

namespace {

CodeOrigin of_python(const char* file, const char* module) { return origin_of({"f", file, module, 10, 5, ""}); }
CodeOrigin of_native(const char* library) { return origin_of({"f", library, "", 0, 0, ""}); }

}  // namespace

TEST_CASE("code origin: a file is the user's unless it is installed") {
  CHECK(of_python("/home/me/serve.py", "__main__") == CodeOrigin::kUser);
  CHECK(of_python("serve.py", "__main__") == CodeOrigin::kUser);
  CHECK(of_python("/work/repo/shop/ledger.py", "shop.ledger") == CodeOrigin::kUser);
  CHECK(of_python("<stdin>", "__main__") == CodeOrigin::kUser);
  CHECK(of_python("/tmp/ipykernel_77/1.py", "__main__") == CodeOrigin::kUser);
  CHECK(of_python("/work/library/python_tools/x.py", "x") == CodeOrigin::kUser);
  CHECK(of_python("/work/repo/.venv/lib/python3.11/site-packages/pandas/io.py", "pandas.io") == CodeOrigin::kLibrary);
  CHECK(of_python("/usr/lib/python3/dist-packages/yaml/loader.py", "yaml.loader") == CodeOrigin::kLibrary);
  CHECK(of_python("/opt/conda/lib/python3.12/random.py", "random") == CodeOrigin::kLibrary);
  CHECK(of_python("/opt/conda/lib/python3.12/statistics.py", "statistics") == CodeOrigin::kLibrary);
  CHECK(of_python("<frozen runpy>", "runpy") == CodeOrigin::kLibrary);
  CHECK(of_python("/usr/lib/python312.zip/json/decoder.py", "json.decoder") == CodeOrigin::kLibrary);
}

TEST_CASE("code origin: frameworks by their modules, also from a repository") {
  CHECK(of_python("/x/site-packages/torch/nn/modules/module.py", "torch.nn.modules.module") == CodeOrigin::kFramework);
  CHECK(of_python("/home/me/vllm/vllm/v1/engine/core.py", "vllm.v1.engine.core") == CodeOrigin::kFramework);
  CHECK(of_python("/x/site-packages/jax/_src/pjit.py", "jax._src.pjit") == CodeOrigin::kFramework);
  CHECK(of_python("/tmp/torchinductor_me/ab/cab.py", "cab") == CodeOrigin::kFramework);
  CHECK(of_python("/home/me/torch_tools/run.py", "torch_tools.run") == CodeOrigin::kUser);
}

TEST_CASE("code origin: native code is the user's in the executable and in libraries outside of the system") {
  CHECK(of_native("/srv/bin/server") == CodeOrigin::kUser);
  CHECK(of_native("/usr/local/bin/llama-server") == CodeOrigin::kUser);
  CHECK(of_native("/home/me/build/libllama.so.1") == CodeOrigin::kUser);
  CHECK(of_native("/usr/bin/python3.12") == CodeOrigin::kLibrary);
  CHECK(of_native("/opt/conda/lib/libpython3.12.so.1.0") == CodeOrigin::kLibrary);
  CHECK(of_native("/usr/lib/x86_64-linux-gnu/libc.so.6") == CodeOrigin::kLibrary);
  CHECK(of_native("/home/me/.venv/lib/python3.12/site-packages/numpy/core.so") == CodeOrigin::kLibrary);
  CHECK(of_native("[kernel.kallsyms]") == CodeOrigin::kLibrary);
  CHECK(of_native("/usr/lib/libcuda.so.1") == CodeOrigin::kFramework);
  CHECK(of_native("/x/site-packages/torch/lib/libtorch_cpu.so") == CodeOrigin::kFramework);
}

// One table says what a module's code does and who wrote it.
TEST_CASE("a module whose work is known by its name is nobody's own code, wherever its file lies") {
  for (const char* module : {"structlog.stdlib", "grain.python", "simplejson", "mlflow.tracking", "torchdata.nodes", "tiktoken.core"})
    CHECK(of_python("/repo/vendored/module.py", module) == CodeOrigin::kLibrary);
  for (const char* module : {"optax._src.alias", "deepspeed.ops.adam.fused_adam", "vllm.v1.engine.core"})
    CHECK(of_python("/repo/vendored/module.py", module) == CodeOrigin::kFramework);
  CHECK(of_python("/repo/model.py", "mymodel.tokenization_words") == CodeOrigin::kUser);  // whose work is known, but not who wrote it
}

TEST_CASE("code origin: what a program has linked into itself") {
  const auto linked = [](const char* function) { return origin_of({function, "/srv/bin/server", "", 0, 0, ""}); };
  for (const char* cuda :
       {"cudaLaunchKernel", "__cudart1024", "cudart::contextState::load", "libcudart_static_0a1b", "cublasGemmEx", "ncclAllReduce"})
    CHECK(linked(cuda) == CodeOrigin::kFramework);
  for (const char* library : {"std::__introsort_loop", "thrust::sort", "operator new"}) CHECK(linked(library) == CodeOrigin::kLibrary);
  for (const char* own : {"settle_accounts", "main", "cudart_free_zone", "cudaless", "curate", "ncclless"})
    CHECK(linked(own) == CodeOrigin::kUser);
  CHECK(of_native("/home/me/build/collector/libnl_collector.so") == CodeOrigin::kFramework);
  CHECK(of_native("[vdso]") == CodeOrigin::kLibrary);
}
