#pragma once

#include <span>
#include <string_view>

#include "model/error.h"

// Every reader of files that others wrote, or that may be damaged since. Its name is that of its corpus, and of tools/fuzz. docs/fuzzing.md
#define NL_FUZZ_READERS(each)                                                                                                             \
  each(archive) each(collector) each(columns) each(config) each(devices) each(expectations) each(facts) each(flight_dump) each(hf_config) \
      each(inspector) each(kineto) each(ledger) each(load) each(ncu) each(npz) each(nsys) each(onnx) each(ort) each(rules) each(run_json) \
          each(sqlite_pages) each(stacks) each(suite) each(trtexec) each(unwinder) each(whatif)

namespace nl::fuzz {

namespace read {
#define NL_DECLARE_READER(name) void name(std::string_view bytes);
NL_FUZZ_READERS(NL_DECLARE_READER)
#undef NL_DECLARE_READER
}  // namespace read

// True: the call took its input. False: it refused it by an Error, as it should where the input is damaged. Everything else is a fault, and is
// not caught: another exception, or an Error that says so itself.
template <class Call>
bool takes(Call call) {
  try {
    call();
    return true;
  } catch (const Error& error) {
    if (error.kind == ErrorKind::kInternal) throw;
    return false;
  }
}

struct Reader {
  const char* name;
  void (*read)(std::string_view bytes);
};

std::span<const Reader> readers();

}  // namespace nl::fuzz
