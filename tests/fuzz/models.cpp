// Models and their inputs, and the programs whose stacks are unwound.
#include "adapters/inputs.h"
#include "adapters/onnxruntime/graph_nodes.h"
#include "orchestrator/sampling/unwinder.h"
#include "parsers/hf/config.h"
#include "tests/fuzz/input_files.h"
#include "tests/fuzz/readers.h"

namespace nl::fuzz::read {

void hf_config(std::string_view bytes) { parsers::parse_hf_config(bytes, "config.json"); }

void npz(std::string_view bytes) { adapters::read_numpy(as_file(bytes, "input.npz")); }

void onnx(std::string_view bytes) {
  const adapters::ModelGraph graph = adapters::read_model_graph(as_file(bytes, "input.onnx"));
  // A fused model has a part of its nodes.
  const auto half = graph.nodes.begin() + static_cast<std::ptrdiff_t>(graph.nodes.size() / 2);
  adapters::optimised_nodes(graph.nodes, {half, graph.nodes.end()});
}

// A program is mapped as it lies in its file, and is also the stack: saved registers are then bytes that the fuzzer chose.
void unwinder(std::string_view bytes) {
  using namespace orchestrator::sampling;
  constexpr std::uint64_t kCode = 0x10000, kStack = 0x7000'0000, kPlaces = 64;
  const auto file = as_file(bytes);
  const StackBytes stack{kStack, {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()}};
  for (const Machine* machine : {&kX86_64, &kAarch64}) {
    Images images(*machine);
    AddressSpace space;
    const std::uint32_t number = images.number_of(file.string());
    space.map({.start = kCode, .end = kCode + bytes.size(), .file_offset = 0, .image = number});
    for (std::uint64_t place = 0; place < kPlaces; ++place) {
      Registers registers;
      for (std::size_t i = 0; i < kMaxRegisters; ++i) registers.set(i, kStack + 8 * i);
      registers.pc = kCode + bytes.size() * place / kPlaces;
      for (const CodePlace& function : unwind(*machine, space, images, registers, stack))
        if (images[function.image].elf) images[function.image].elf->function_at(function.address);
    }
  }
}

}  // namespace nl::fuzz::read
