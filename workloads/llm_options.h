#pragma once

#include <cstdint>

#include "workloads/llm_generate.h"
#include "workloads/llm_shape.h"

namespace nl::llm {

struct Options {
  Shape shape;
  int prompt = 128;
  int steps = 128;
  int iterations = 8;
  bool turns = false;  // an iteration for each line on standard input, however many
  int threads = 1;
  std::uint64_t seed = 0;
  bool graph = false;  // CUDA only: decode steps as a CUDA graph
  int streams = 1;     // CUDA only: as many sequences, each on a separate stream
  bool check = false;  // CUDA only: compare with the CPU

  int capacity() const { return prompt + steps + 1; }
};

enum class Program { kCpu, kCuda };

// Prints the help, or what is wrong, and exits where the command line asks for that.
Options parse_options(int argc, char** argv, Program program);

// Whether there is one more to do after `done`. With turns, waits for a line on standard input.
bool another_iteration(const Options& options, int done);

void print_iteration(const Options& options, int iteration, const Generation& generation);

}  // namespace nl::llm
