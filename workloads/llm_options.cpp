#include "workloads/llm_options.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "workloads/turns.h"

namespace nl::llm {
namespace {

constexpr const char* kHelp =
    "  --layers N      layers (4)\n"
    "  --hidden N      width, a multiple of 32 (256)\n"
    "  --prompt N      tokens of the prompt (128)\n"
    "  --steps N       decode steps (128)\n"
    "  --iterations N  how often all of it (8)\n"
    "  --turns         instead: once for each line on standard input\n"
    "  --seed N        of the weights and the prompt (0)\n"
    "  --threads N     CPU threads (1)\n";
constexpr const char* kCudaHelp =
    "  --graph         decode steps as a CUDA graph\n"
    "  --streams N     as many sequences, each on its own stream (1)\n"
    "  --check         compare the tokens with the CPU's\n";

[[noreturn]] void fail(const char* program, const std::string& what) {
  std::fprintf(stderr, "%s: %s; --help lists the options\n", program, what.c_str());
  std::exit(2);
}

long number(const char* program, const std::string& option, const char* text, long smallest, long largest) {
  char* end = nullptr;
  long value = text != nullptr ? std::strtol(text, &end, 10) : 0;
  if (text == nullptr || end == text || *end != '\0' || value < smallest || value > largest)
    fail(program, option + " wants a number from " + std::to_string(smallest) + " to " + std::to_string(largest));
  return value;
}

}  // namespace

Options parse_options(int argc, char** argv, Program program) {
  Options options;
  int layers = options.shape.layers, hidden = options.shape.hidden;
  for (int i = 1; i < argc; ++i) {
    std::string option = argv[i];
    bool cuda = program == Program::kCuda;
    auto next = [&](long smallest, long largest) {
      return static_cast<int>(number(argv[0], option, i + 1 < argc ? argv[++i] : nullptr, smallest, largest));
    };
    if (option == "--help") {
      std::printf("usage: %s [options]\n%s%s", argv[0], kHelp, cuda ? kCudaHelp : "");
      std::exit(0);
    } else if (option == "--layers") layers = next(1, 1000);
    else if (option == "--hidden") hidden = next(32, 65536);
    else if (option == "--prompt") options.prompt = next(1, 100000);
    else if (option == "--steps") options.steps = next(0, 100000);
    else if (option == "--iterations") options.iterations = next(1, 1000000);
    else if (option == "--turns") options.turns = true;
    else if (option == "--threads") options.threads = next(1, 1024);
    else if (option == "--seed") options.seed = static_cast<std::uint64_t>(next(0, 0x7FFFFFFF));
    else if (cuda && option == "--graph") options.graph = true;
    else if (cuda && option == "--streams") options.streams = next(1, 64);
    else if (cuda && option == "--check") options.check = true;
    else fail(argv[0], "unknown option " + option);
  }
  if (hidden % 32 != 0) fail(argv[0], "--hidden wants a multiple of 32");
  options.shape = shape_of(layers, hidden);
  return options;
}

bool another_iteration(const Options& options, int done) { return options.turns ? next_turn() : done < options.iterations; }

void print_iteration(const Options& options, int iteration, const Generation& generation) {
  auto rate = [](int tokens, double seconds) { return seconds > 0 ? tokens / seconds : 0.0; };
  std::printf("iteration %d: prefill %d tokens %.1f ms %.0f tokens/s, decode %d tokens %.1f ms %.0f tokens/s, checksum %016llx\n",
              iteration, options.prompt, generation.prefill_s * 1e3, rate(options.prompt, generation.prefill_s), options.steps,
              generation.decode_s * 1e3, rate(options.steps, generation.decode_s),
              static_cast<unsigned long long>(checksum(generation.tokens)));
  std::fflush(stdout);
}

}  // namespace nl::llm
