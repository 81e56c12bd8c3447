#include "orchestrator/machine/ceilings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <random>
#include <utility>

#include "model/error.h"
#include "model/time.h"
#include "orchestrator/machine/cuda_driver.h"
#include "orchestrator/machine/tools.h"
#include "orchestrator/process/process.h"

namespace nl::orchestrator {
namespace {

constexpr int kSide = 8192;                     // of the matrices: large enough that only the arithmetic counts
constexpr int kRepeats = 20, kWarmUps = 3;      // after a few milliseconds clocks and caches are settled
constexpr std::size_t kCopied = 1ULL << 30;     // bytes of a copy on the card
constexpr std::size_t kOverBus = 256ULL << 20;  // and over the bus

// Memory of the card, for as long as it is needed.
class DeviceMemory {
 public:
  DeviceMemory(const CudaDriver& cuda, std::size_t bytes) : cuda_(cuda) {
    CudaDriver::check(cuda.allocate(&address_, bytes), "give memory");
  }
  ~DeviceMemory() { cuda_.free(address_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  std::uint64_t at() const { return address_; }

 private:
  const CudaDriver& cuda_;
  std::uint64_t address_ = 0;
};

// Calls of cuBLASLt that one product needs, with the numbers that its headers give the codes.
class CublasLt {
 public:
  explicit CublasLt(const std::string& file)
      : library_(file, "libcublasLt", "install PyTorch or the CUDA toolkit, or name the file: --cublas FILE") {
    library_.find(create, "cublasLtCreate");
    library_.find(desc_create, "cublasLtMatmulDescCreate");
    library_.find(desc_set, "cublasLtMatmulDescSetAttribute");
    library_.find(layout_create, "cublasLtMatrixLayoutCreate");
    library_.find(multiply, "cublasLtMatmul");
  }
  using Handle = void*;
  int (*create)(Handle*) = nullptr;
  int (*desc_create)(Handle*, int compute, int scale) = nullptr;
  int (*desc_set)(Handle, int attribute, const void*, std::size_t) = nullptr;
  int (*layout_create)(Handle*, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t leading) = nullptr;
  int (*multiply)(Handle, Handle, const void* alpha, const void* a, Handle, const void* b, Handle, const void* beta, const void* c, Handle,
                  void* d, Handle, const void* algorithm, void* workspace, std::size_t, Handle stream) = nullptr;

 private:
  LoadedLibrary library_;
};

enum CudaType : int { kR32F = 0, kR16F = 2, kR16BF = 14, kR8F = 28 };
enum CublasCompute : int { kCompute32F = 68, kComputeTf32 = 77 };

struct Product {
  const char* type;  // as peaks and rooflines have it
  CudaType in, out;
  CublasCompute compute;
  std::size_t bytes;        // of an element
  std::uint32_t keep, set;  // of random bits: numbers of either sign from a half to one, because zeros take less power and run faster
};
constexpr std::array<Product, 5> kProducts = {{{"bf16", kR16BF, kR16BF, kCompute32F, 2, 0x807F'807F, 0x3F00'3F00},
                                               {"f16", kR16F, kR16F, kCompute32F, 2, 0x83FF'83FF, 0x3800'3800},
                                               {"fp8", kR8F, kR16BF, kCompute32F, 1, 0x8787'8787, 0x3030'3030},
                                               {"tf32", kR32F, kR32F, kComputeTf32, 4, 0x807F'FFFF, 0x3F00'0000},
                                               {"f32", kR32F, kR32F, kCompute32F, 4, 0x807F'FFFF, 0x3F00'0000}}};

class Bench {
 public:
  Bench(const CudaDriver& cuda, int gpu) : cuda_(cuda), stream_(cuda.start(gpu)) {
    for (auto& event : events_) CudaDriver::check(cuda.event_create(&event, 0), "make an event");
  }

  CudaDriver::Handle stream() const { return stream_; }
  const CudaDriver& cuda() const { return cuda_; }

  // The seconds of the fastest of some; nothing where the work is refused.
  std::optional<double> least_s(const std::function<bool()>& work) const {
    double least = 0;
    for (int i = 0; i < kWarmUps + kRepeats; ++i) {
      CudaDriver::check(cuda_.event_record(events_[0], stream_), "record an event");
      if (!work()) return std::nullopt;
      CudaDriver::check(cuda_.event_record(events_[1], stream_), "record an event");
      CudaDriver::check(cuda_.stream_wait(stream_), "end its work");
      float ms = 0;
      CudaDriver::check(cuda_.event_elapsed(&ms, events_[0], events_[1]), "tell a time");
      if (i >= kWarmUps && ms > 0 && (least == 0 || ms < least)) least = ms;
    }
    return least > 0 ? std::optional(least / 1e3) : std::nullopt;
  }

 private:
  const CudaDriver& cuda_;
  CudaDriver::Handle stream_;
  std::array<CudaDriver::Handle, 2> events_ = {};
};

// Random numbers from one megabyte of them, over and over.
void fill(const Bench& bench, const DeviceMemory& memory, std::size_t bytes, const Product& product) {
  std::mt19937 random(1);
  std::vector<std::uint32_t> words((1 << 20) / sizeof(std::uint32_t));
  for (std::uint32_t& word : words) word = (random() & product.keep) | product.set;
  const std::size_t piece = words.size() * sizeof(std::uint32_t);
  for (std::size_t at = 0; at < bytes; at += piece)
    CudaDriver::check(bench.cuda().copy_to_device(memory.at() + at, words.data(), std::min(piece, bytes - at), bench.stream()), "copy");
  CudaDriver::check(bench.cuda().stream_wait(bench.stream()), "copy");
}

// Both factors lie along the sum, as FP8 wants it. Nothing where this card does not know the type.
std::optional<double> flops_per_s(const Bench& bench, const CublasLt& blas, CublasLt::Handle handle, const Product& product) {
  constexpr std::size_t kElements = static_cast<std::size_t>(kSide) * kSide;
  constexpr std::size_t kWorkspace = 64ULL << 20;
  constexpr int kTransposeA = 3, kTransposed = 1;
  const std::size_t out_bytes = product.out == kR32F ? 4 : 2;
  const DeviceMemory a(bench.cuda(), kElements * product.bytes), b(bench.cuda(), kElements * product.bytes),
      c(bench.cuda(), kElements * out_bytes), workspace(bench.cuda(), kWorkspace);
  fill(bench, a, kElements * product.bytes, product);
  fill(bench, b, kElements * product.bytes, product);
  CublasLt::Handle desc = nullptr, in = nullptr, out = nullptr;
  if (blas.desc_create(&desc, product.compute, kR32F) != 0 || blas.layout_create(&in, product.in, kSide, kSide, kSide) != 0 ||
      blas.layout_create(&out, product.out, kSide, kSide, kSide) != 0 || blas.desc_set(desc, kTransposeA, &kTransposed, sizeof(int)) != 0)
    return std::nullopt;
  const float one = 1, zero = 0;
  const auto on_card = [](std::uint64_t address) { return reinterpret_cast<void*>(address); };
  const auto seconds = bench.least_s([&] {
    return blas.multiply(handle, desc, &one, on_card(a.at()), in, on_card(b.at()), in, &zero, on_card(c.at()), out, on_card(c.at()), out,
                         nullptr, on_card(workspace.at()), kWorkspace, bench.stream()) == 0;
  });
  return seconds ? std::optional(2.0 * kSide * kSide * kSide / *seconds) : std::nullopt;
}

void measure_products(const Bench& bench, const std::string& library, MeasuredCeilings& out) {
  try {
    const CublasLt blas(library);
    CublasLt::Handle handle = nullptr;
    if (blas.create(&handle) != 0) throw Error(ErrorKind::kTool, "libcublasLt does not start", library, "");
    for (const Product& product : kProducts) {
      const auto rate = flops_per_s(bench, blas, handle, product);
      if (rate) out.card.gemm_flops_per_s[product.type] = *rate;
      else out.notes.push_back(fmt::format("No products of {}: libcublasLt refuses them on this card.", product.type));
    }
  } catch (const Error& error) {
    out.notes.push_back(fmt::format("No products: {} ({}).", error.what(), error.where));
  }
}

void measure_copies(const Bench& bench, DeviceCeilings& card) {
  const CudaDriver& cuda = bench.cuda();
  const auto rate = [&](std::size_t bytes, const std::function<int()>& copy) -> std::optional<double> {
    const auto seconds = bench.least_s([&] { return copy() == 0; });
    return seconds ? std::optional(static_cast<double>(bytes) / *seconds) : std::nullopt;
  };
  const DeviceMemory from(cuda, kCopied), to(cuda, kCopied);
  void* pinned = nullptr;
  CudaDriver::check(cuda.allocate_pinned(&pinned, kOverBus), "give pinned memory");
  card.copy_bytes_per_s = rate(2 * kCopied, [&] { return cuda.copy_on_device(to.at(), from.at(), kCopied, bench.stream()); });
  card.h2d_bytes_per_s = rate(kOverBus, [&] { return cuda.copy_to_device(to.at(), pinned, kOverBus, bench.stream()); });
  card.d2h_bytes_per_s = rate(kOverBus, [&] { return cuda.copy_from_device(pinned, from.at(), kOverBus, bench.stream()); });
  cuda.free_pinned(pinned);
}

// Prints the FLOPs a second of fused attention over a long prompt.
constexpr const char* kAttention = R"(
import torch, torch.nn.functional as F
torch.cuda.set_device(GPU)
batch, heads, length, width = 4, 32, 4096, 128
q, k, v = (torch.randn(batch, heads, length, width, device="cuda", dtype=torch.bfloat16) for _ in range(3))
times = []
for _ in range(23):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    F.scaled_dot_product_attention(q, k, v)
    end.record()
    end.synchronize()
    times.append(begin.elapsed_time(end) / 1e3)
print(4 * batch * heads * length * length * width / min(times[3:]))
)";

void measure_attention(const CeilingRequest& request, MeasuredCeilings& out) {
  std::string script = kAttention;
  script.replace(script.find("GPU"), 3, std::to_string(request.gpu));
  ProcessSpec spec;
  spec.argv = {request.python, "-c", script};
  spec.timeout_s = 300;
  spec.not_found = ErrorKind::kTool;
  spec.label = "attention";
  try {
    const ProcessResult result = run_process(spec);
    const double rate = result.exit_status == 0 ? std::strtod(result.stdout_text.c_str(), nullptr) : 0;
    if (rate > 0) out.card.attention_flops_per_s = rate;
    else out.notes.push_back(fmt::format("No attention: {} has no PyTorch that uses this GPU; name one with --python.", request.python));
  } catch (const Error& error) {
    out.notes.push_back(fmt::format("No attention: {}.", error.what()));
  }
}

std::string utc_now() {
  using namespace std::chrono;
  return utc_text(duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count());
}

// As NVML and nsys write it.
std::string uuid_text(const CudaDriver::Uuid& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i)
    text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid.bytes[i]);
  return text;
}

}  // namespace

MeasuredCeilings measure_ceilings(const CeilingRequest& request) {
  const CudaDriver cuda(request.driver);
  const Bench bench(cuda, request.gpu);
  MeasuredCeilings out;
  int device = 0;
  std::array<char, 256> name = {};
  CudaDriver::Uuid uuid = {};
  CudaDriver::check(cuda.device_get(&device, request.gpu), "show a GPU");
  CudaDriver::check(cuda.device_name(name.data(), static_cast<int>(name.size()), device), "name its GPU");
  CudaDriver::check(cuda.device_uuid(&uuid, device), "name its GPU");
  out.card.name = name.data();
  out.card.uuid = uuid_text(uuid);
  out.card.measured_at = utc_now();
  measure_copies(bench, out.card);
  measure_products(bench, request.cublas.empty() ? find_cublas_lt().string() : request.cublas.string(), out);
  measure_attention(request, out);
  return out;
}

}  // namespace nl::orchestrator
