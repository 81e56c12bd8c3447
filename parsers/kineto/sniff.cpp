#include "parsers/kineto/sniff.h"

#include "parsers/kineto/event.h"
#include "parsers/json/sniff.h"

namespace nl::parsers::kineto {
namespace {

// "Kernel" is left out: before 2022 Kineto wrote it, ONNX Runtime does today.
bool is_own(std::string_view category) {
  for (const char* own : {"cpu_op", "Operator", "user_annotation", "cuda_runtime", "cuda_driver", "kernel", "gpu_memcpy", "gpu_memset"})
    if (category == own) return true;
  return false;
}

}  // namespace

bool is_trace(const FileHead& head) {
  return head.json_opening() != 0 &&
         any_event<KinetoEventReader, KinetoEvent>(head, "traceEvents", [](const KinetoEvent& event) { return is_own(event.category); });
}

}  // namespace nl::parsers::kineto
