#include "adapters/onnxruntime/failures.h"

#include <fmt/format.h>

namespace nl::adapters {
namespace {

// "…/bfc_arena.cc:376 void* onnxruntime::BFCArena::AllocateRawInternal(…) Failed to allocate memory for requested buffer of size 288230376151711744"
// There is no code for it.
bool is_out_of_memory(std::string_view message) {
  return message.find("Failed to allocate memory") != message.npos || message.find("bad_alloc") != message.npos ||
         message.find("CUDA_ERROR_OUT_OF_MEMORY") != message.npos || message.find("out of memory") != message.npos;
}

std::string one_line(std::string_view message) {
  std::string line(message.substr(0, message.find_last_not_of(" \n") + 1));
  for (char& character : line)
    if (character == '\n') character = ' ';
  return line;
}

Error out_of_memory(const Ort::Exception& failure, const std::filesystem::path& model) {
  return {ErrorKind::kWorkload, fmt::format("ONNX Runtime is out of memory: {}", one_line(failure.what())), model.string(),
          "give smaller sizes (--batch, --seq, --dim)"};
}

}  // namespace

Error load_failure(const Ort::Exception& failure, const std::filesystem::path& model) {
  if (is_out_of_memory(failure.what())) return out_of_memory(failure, model);
  const std::string what = fmt::format("ONNX Runtime does not load the model: {}", one_line(failure.what()));
  if (failure.GetOrtErrorCode() == ORT_NOT_IMPLEMENTED)
    return {ErrorKind::kUsage, what, model.string(),
            "the provider has no kernel for an operator of this type; give another --provider, or convert the model"};
  return {ErrorKind::kInput, what, model.string(), "give a whole ONNX file, with the files of its weights beside it"};
}

Error run_failure(const Ort::Exception& failure, const std::filesystem::path& model) {
  if (is_out_of_memory(failure.what())) return out_of_memory(failure, model);
  return {ErrorKind::kWorkload, fmt::format("ONNX Runtime ends with an error: {}", one_line(failure.what())), model.string(),
          "check the sizes of the inputs (--dim, --inputs)"};
}

}  // namespace nl::adapters
