// What a workload's standard error says of its end. The texts are those of real programs; PyTorch's, JAX's and CUDA's are of an H200.
#include "orchestrator/capture/failure.h"

#include <string>

#include "tests/catch.h"

using namespace nl;
using namespace nl::orchestrator;

namespace {

std::string told(const std::string& text) {
  const auto failure = failure_in(text);
  if (!failure) return "nothing";
  const char* const kNames[] = {"memory", "host memory", "cuda", "exception"};
  const auto number = static_cast<std::size_t>(failure->code) - static_cast<std::size_t>(Code::kWorkloadOutOfMemory);
  REQUIRE(number < 4);
  return std::string(kNames[number]) + " | " + failure->what + " | " + failure->place;
}

const std::string kChain = R"(Traceback (most recent call last):
  File "/home/me/chain.py", line 3, in read
    return {}["weights"]
           ~~^^^^^^^^^^^
KeyError: 'weights'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/home/me/chain.py", line 8, in <module>
    main()
  File "/home/me/chain.py", line 7, in main
    read("model.bin")
  File "/home/me/chain.py", line 5, in read
    raise ValueError(f"cannot read {name}") from missing
ValueError: cannot read model.bin
)";

const std::string kTorchMemory = R"(Traceback (most recent call last):
  File "/tmp/oom.py", line 10, in <module>
    request(i)
  File "/tmp/oom.py", line 7, in request
    kept.append(grow(2**39))
                ^^^^^^^^^^^
  File "/tmp/oom.py", line 3, in grow
    return torch.empty(n, device="cuda", dtype=torch.float32)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2048.00 GiB. GPU 0 has a total capacity of 139.80 GiB of which 139.27 GiB is free. Including non-PyTorch memory, this process has 538.00 MiB memory in use. Of the allocated memory 12.00 MiB is allocated by PyTorch, and 8.00 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.
)";

}  // namespace

TEST_CASE("failure: the last exception of Python, with the innermost line of the program's own code") {
  CHECK(told(kChain) == "exception | ValueError: cannot read model.bin | chain.py:5 in read");
  // Carets of Python 3.11, modules of PyTorch around the own one and inside it
  CHECK(told(R"(Traceback (most recent call last):
  File "/tmp/layer.py", line 6, in <module>
    m(torch.zeros(8, 32, device="cuda"))
  File "/opt/torch/.venv/lib/python3.12/site-packages/torch/nn/modules/module.py", line 1779, in _wrapped_call_impl
    return self._call_impl(*args, **kwargs)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/tmp/layer.py", line 4, in forward
    def forward(self, x): return self.l(x)
                                 ^^^^^^^^^
  File "/opt/torch/.venv/lib/python3.12/site-packages/torch/nn/modules/linear.py", line 134, in forward
    return F.linear(input, self.weight, self.bias)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x32 and 64x64)
)") == "exception | RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x32 and 64x64) | layer.py:4 in forward");
  CHECK(told(R"(Traceback (most recent call last):
  File "/home/me/rec.py", line 2, in <module>
    f(0)
  File "/home/me/rec.py", line 1, in f
    def f(n): return f(n + 1)
                     ^^^^^^^^
  [Previous line repeated 996 more times]
RecursionError: maximum recursion depth exceeded
)") == "exception | RecursionError: maximum recursion depth exceeded | rec.py:1 in f");
  CHECK(told(R"(  File "/home/me/syn.py", line 1
    def f(
         ^
SyntaxError: '(' was never closed
)") == "exception | SyntaxError: '(' was never closed | syn.py:1");
}

TEST_CASE("failure: a failed assertion of Python has its message, else its line") {
  const std::string frames = R"(Traceback (most recent call last):
  File "/home/me/asrt.py", line 6, in <module>
    check(5)
  File "/home/me/asrt.py", line 2, in check
    assert n < 3, f"batch {n} is too large"
           ^^^^^
)";
  CHECK(told(frames + "AssertionError: batch 5 is too large\n") == "exception | AssertionError: batch 5 is too large | asrt.py:2 in check");
  CHECK(told(R"(Traceback (most recent call last):
  File "/home/me/asrt.py", line 4, in bare
    assert n < 3
           ^^^^^
AssertionError
)") == "exception | AssertionError: assert n < 3 | asrt.py:4 in bare");
}

TEST_CASE("failure: what Python reports after it, of a destructor or of a launcher, is not the failure") {
  CHECK(told(R"(Traceback (most recent call last):
  File "/home/me/ignored.py", line 5, in main
    raise KeyError("token")
KeyError: 'token'
Exception ignored in: <function D.__del__ at 0xffffbc4dde40>
Traceback (most recent call last):
  File "/home/me/ignored.py", line 2, in __del__
    def __del__(self): raise OSError("closing")
                       ^^^^^^^^^^^^^^^^^^^^^^^^
OSError: closing
)") == "exception | KeyError: 'token' | ignored.py:5 in main");
  CHECK(told(R"([rank0]: Traceback (most recent call last):
[rank0]:   File "/home/me/train.py", line 12, in step
[rank0]:     loss.backward()
[rank0]: RuntimeError: element 0 of tensors does not require grad
Traceback (most recent call last):
  File "/opt/venv/bin/torchrun", line 8, in <module>
    sys.exit(main())
  File "/opt/venv/lib/python3.12/site-packages/torch/distributed/launcher/api.py", line 264, in launch_agent
    raise ChildFailedError(
torch.distributed.elastic.multiprocessing.errors.ChildFailedError: 
============================================================
train.py FAILED
)") == "exception | RuntimeError: element 0 of tensors does not require grad | train.py:12 in step");
  CHECK(told(R"((EngineCore_0 pid=17) ERROR 11-17 20:28:38 [core.py:708] Traceback (most recent call last):
(EngineCore_0 pid=17) ERROR 11-17 20:28:39 [core.py:708]   File "/home/me/plugin.py", line 3, in load
(EngineCore_0 pid=17) ERROR 11-17 20:28:39 [core.py:708]     raise ValueError("no such head")
(EngineCore_0 pid=17) ERROR 11-17 20:28:39 [core.py:708] ValueError: no such head
)") == "exception | ValueError: no such head | plugin.py:3 in load");
}

TEST_CASE("failure: of a group of exceptions the group and its first") {
  CHECK(told(R"(  + Exception Group Traceback (most recent call last):
  |   File "/home/me/group.py", line 7, in <module>
  |     asyncio.run(main())
  |   File "/usr/lib/python3.11/asyncio/taskgroups.py", line 145, in __aexit__
  |     raise me from None
  | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/home/me/group.py", line 2, in a
    |     async def a(): raise ValueError("one of them")
    |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    | ValueError: one of them
    +---------------- 2 ----------------
    | Traceback (most recent call last):
    |   File "/home/me/group.py", line 3, in b
    |     async def b(): raise TypeError("two")
    |                    ^^^^^^^^^^^^^^^^^^^^^^
    | TypeError: two
    +------------------------------------
)") == "exception | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions), the first ValueError: one of them | group.py:2 in "
       "a");
}

TEST_CASE("failure: out of GPU memory has what was asked for and what was there") {
  CHECK(told(kTorchMemory) == "memory | : 2048.00 GiB asked for, 139.27 GiB of 139.80 GiB free on GPU 0 | oom.py:3 in grow");
  CHECK(told("Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    f()\n"
             "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 15.78 GiB total capacity; 14.60 GiB already allocated; "
             "13.75 MiB free; 14.70 GiB reserved in total by PyTorch)\n") ==
        "memory | : 20.00 MiB asked for, 13.75 MiB of 15.78 GiB free on GPU 0 | a.py:1");
  CHECK(told(R"(W1117 20:29:02.439334     958 bfc_allocator.cc:609] *_________________________________
Traceback (most recent call last):
  File "/tmp/joom2.py", line 6, in serve
    def serve(): return f(jnp.ones((2**20,), jnp.float32)).block_until_ready()
                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8.00TiB with allocator GPU_0_bfc on device 0. [executable_name='jit_f'] [tf-allocator-allocation-error='']
)") == "memory | : 8.00 TiB asked for | joom2.py:6 in serve");
  CHECK(
      told("Traceback (most recent call last):\n  File \"j.py\", line 2, in <module>\n    f()\n"
           "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 2199023255552 bytes.\n"
           "--------------------\nFor simplicity, JAX has removed its internal frames from the traceback of the following exception.\n") ==
      "memory | : 2.00 TiB asked for | j.py:2");
  CHECK(told("Traceback (most recent call last):\n  File \"c.py\", line 2, in <module>\n    f()\n"
             "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 2,199,023,255,552 bytes (allocated so far: 512 bytes).\n") ==
        "memory | : 2.00 TiB asked for | c.py:2");
  CHECK(told("terminate called after throwing an instance of 'std::runtime_error'\n  what():  CUDA error: out of memory\n") ==
        "memory |  | ");
}

TEST_CASE("failure: out of the machine's memory") {
  CHECK(told(R"(Traceback (most recent call last):
  File "/root/out/cpuoom.py", line 2, in <module>
    torch.empty(2**45)
RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 140737488355328 bytes. Error code 12 (Cannot allocate memory)
)") == "host memory | : 128.00 TiB asked for | cpuoom.py:2");
  CHECK(told("Traceback (most recent call last):\n  File \"m.py\", line 1, in <module>\n    x = bytearray(1 << 60)\n"
             "        ^^^^^^^^^^^^^^^^^^\nMemoryError\n") == "host memory |  | m.py:1");
  CHECK(told("terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n") == "host memory |  | ");
}

TEST_CASE("failure: what a kernel broke") {
  CHECK(
      told(
          R"(/pytorch/aten/src/ATen/native/cuda/Indexing.cu:1515: indexSelectSmallIndex: block: [0,0,0], thread: [0,0,0] Assertion `srcIndex < srcSelectDimSize` failed.
/pytorch/aten/src/ATen/native/cuda/Indexing.cu:1515: indexSelectSmallIndex: block: [0,0,0], thread: [1,0,0] Assertion `srcIndex < srcSelectDimSize` failed.
Traceback (most recent call last):
  File "/root/out/assert.py", line 4, in <module>
    look(3); x = look(99); torch.cuda.synchronize(); print(x)
                           ^^^^^^^^^^^^^^^^^^^^^^^^
  File "/opt/torch/.venv/lib/python3.12/site-packages/torch/cuda/__init__.py", line 1162, in synchronize
    return torch._C._cuda_synchronize()
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
torch.AcceleratorError: CUDA error: device-side assert triggered
Search for `cudaErrorAssert' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more information.
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
)") == "cuda | device-side assert triggered: srcIndex < srcSelectDimSize | assert.py:4");
  CHECK(told("terminate called after throwing an instance of 'std::runtime_error'\n"
             "  what():  CUDA error: an illegal memory access was encountered\n") == "cuda | an illegal memory access was encountered | ");
  CHECK(told("step 3\nCUDA error at main.cu:12: an illegal memory access was encountered\n") ==
        "cuda | an illegal memory access was encountered | ");
}

TEST_CASE("failure: exceptions and assertions of C and C++, panics of Rust") {
  CHECK(told("terminate called after throwing an instance of 'std::runtime_error'\n  what():  engine file is of another version\nsecond "
             "line\n") == "exception | std::runtime_error: engine file is of another version | ");
  CHECK(told("terminate called after throwing an instance of 'int'\n") == "exception | int | ");
  CHECK(told("t: t.cpp:6: int main(int, char**): Assertion `c > 2' failed.\n") == "exception | a failed assertion: c > 2 | t.cpp:6");
  CHECK(told("thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds\nnote: run with `RUST_BACKTRACE=1`\n") ==
        "exception | a panic: index out of bounds | main.rs:4");
}

TEST_CASE("failure: nothing is made of a text that tells none") {
  for (const char* text :
       {"", "loading\nstep 1\nstep 2\n", "Traceback (most recent call last):\n", "Error: no such file\n",
        "the model is out of memory lane\n", "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n"}) {
    CAPTURE(text);
    CHECK(told(text) == "nothing");
  }
}

TEST_CASE("failure: a message is cut to its first line and 300 characters, without colours") {
  const std::string head = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    f()\n";
  const auto failure = failure_in(head + "ValueError: " + std::string(299, 'x') + "äbc\nsecond line\n");
  REQUIRE(failure);
  CHECK(failure->what == "ValueError: " + std::string(299, 'x') + "…");
  CHECK(told(head + "\x1b[1;31mValueError\x1b[0m: no\n") == "exception | ValueError: no | a.py:1");
}

TEST_CASE("failure: lines that only decorate are told from words") {
  for (const char* line : {"", "   ^^^^^^", "    ~~~~^^^^", "--------------------", "Traceback (most recent call last):", "  +-+----"}) {
    CAPTURE(line);
    CHECK(is_decoration(line));
  }
  CHECK_FALSE(is_decoration("out of memory"));
}

TEST_CASE("failure: secrets do not get into the words") {
  CHECK(without_secrets("cannot log in with s3cr3t-value-17", {{"API_SECRET", "s3cr3t-value-17"}, {"HOME", "/home/me"}}) ==
        "cannot log in with …");
  CHECK(without_secrets("no /home/me/model", {{"HOME", "/home/me"}, {"N", "no"}}) == "no /home/me/model");
  CHECK(without_secrets("postgres://me:hunter22@db/x refused", {}) == "postgres://me:…@db/x refused");
  CHECK(without_secrets("401 for token hf_abcdefghijklmnop", {}) == "401 for token hf_…");
  CHECK(without_secrets("headers: {'Authorization': 'abcdefghijk'}", {}) == "headers: {'Authorization': '…'}");
  CHECK(without_secrets("token 50257 is out of range, token=17", {}) == "token 50257 is out of range, token=17");
}
