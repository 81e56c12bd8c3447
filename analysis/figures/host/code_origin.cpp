#include "analysis/figures/host/code_origin.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "analysis/figures/host/known_modules.h"
#include "model/function_name.h"

namespace nl::analysis {
namespace {

constexpr std::string_view kDriverLibraries[] = {
    "libtorch",  "libc10",      "libcuda",        "libcudart",    "libcublas",       "libcudnn",         "libcufft",    "libnvrtc",
    "libnccl",   "libnvinfer",  "libonnxruntime", "libnvJitLink", "libjax",          "xla_extension",    "libcusparse", "libcusolver",
    "libcurand", "libcutensor", "libnvidia",      "libcupti",     "libnl_collector", "libToolsInjection"};
constexpr std::string_view kSystemFolders[] = {"/usr/", "/lib/", "/lib64/", "/opt/nvidia/", "/nix/store/", "/snap/"};
constexpr std::string_view kInterpreters[] = {"python", "libpython", "node", "java", "ruby"};

bool has_part(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// ".../lib/python3.12/json/decoder.py"
bool in_library_of_python(std::string_view file) {
  for (const std::string_view folder : {"/lib/python", "/lib64/python"})
    for (std::size_t at = file.find(folder); at != std::string_view::npos; at = file.find(folder, at + 1)) {
      const std::size_t digit = at + folder.size();
      if (digit < file.size() && std::isdigit(static_cast<unsigned char>(file[digit]))) return true;
    }
  return false;
}

bool is_package(std::string_view file) { return has_part(file, "/site-packages/") || has_part(file, "/dist-packages/"); }

bool is_pythons_own(std::string_view file) { return file.starts_with("<frozen ") || (in_library_of_python(file) && !is_package(file)); }

bool is_installed(std::string_view file) { return is_package(file) || is_pythons_own(file); }

bool is_generated(std::string_view file) { return has_part(file, "/torchinductor_") || file.starts_with("<eval_with_key>"); }

// "cudaLaunchKernel", "cudart::…": nvcc links the runtime into the executable unless it is told otherwise.
constexpr std::string_view kCudaPrefixes[] = {"cuda", "cublas", "cublasLt", "cudnn", "cufft", "curand", "cusparse", "cusolver", "nccl"};
constexpr std::string_view kCudaNames[] = {"__cudart",       "cudart::",      "libcudart_static_", "__cudaRegister",
                                           "__cudaPushCall", "__cudaPopCall", "libcublas_static_", "libcudnn_static_"};

}  // namespace

bool is_linked_cuda(std::string_view function) {
  const auto starts = [&](std::string_view name) { return function.starts_with(name); };
  if (std::any_of(std::begin(kCudaNames), std::end(kCudaNames), starts)) return true;
  return std::any_of(std::begin(kCudaPrefixes), std::end(kCudaPrefixes), [&](std::string_view prefix) {
    return function.size() > prefix.size() && starts(prefix) && std::isupper(static_cast<unsigned char>(function[prefix.size()]));
  });
}

namespace {

CodeOrigin native_origin(std::string_view function, std::string_view file) {
  const std::string_view name = last_part(file);
  for (const std::string_view library : kDriverLibraries)
    if (name.starts_with(library)) return CodeOrigin::kFramework;
  if (file.empty() || file.starts_with('[') || is_installed(file)) return CodeOrigin::kLibrary;
  for (const std::string_view interpreter : kInterpreters)
    if (name.starts_with(interpreter)) return CodeOrigin::kLibrary;
  if (is_linked_cuda(function)) return CodeOrigin::kFramework;
  if (is_template_library(function)) return CodeOrigin::kLibrary;
  if (!has_part(name, ".so")) return CodeOrigin::kUser;  // an executable, wherever it lies
  const bool system = has_part(file, "/cuda") || std::any_of(std::begin(kSystemFolders), std::end(kSystemFolders),
                                                             [&](std::string_view folder) { return file.starts_with(folder); });
  return system || file.front() != '/' ? CodeOrigin::kLibrary : CodeOrigin::kUser;
}

}  // namespace

CodeOrigin origin_of(const HostFrame& frame) {
  if (is_native(frame)) return native_origin(frame.function, frame.file);
  // Collectives on the host wait for other processes, and launch nothing.
  if (const auto work = known_work(frame.module); work && work->work == HostWork::kExchange) return CodeOrigin::kLibrary;
  const auto known = known_origin(frame.module);
  if (known == CodeOrigin::kFramework || is_generated(frame.file)) return CodeOrigin::kFramework;
  return is_installed(frame.file) || known ? CodeOrigin::kLibrary : CodeOrigin::kUser;
}

bool is_standard_library(const HostFrame& frame) { return !is_native(frame) && is_pythons_own(frame.file); }

bool is_module_forward(const HostFrame& frame) { return frame.function == "forward" || frame.function.ends_with(".forward"); }

}  // namespace nl::analysis
