#include "adapters/tensorrt/libraries.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "model/error.h"

namespace nl::adapters::tensorrt {
namespace {

constexpr std::size_t kFirst = 2, kLast = 3;  // lines of the log that are kept

constexpr const char* kFix =
    "set NL_STAGE_TENSORRT to the folder that holds TensorRT's libraries, or import trtexec's files (docs/adapters.md)";

std::vector<std::string> names_by_version(const std::string& stem, std::initializer_list<int> majors) {
  std::vector<std::string> names = {fmt::format("{}.{}", stem, NV_TENSORRT_MAJOR), stem};
  for (const int major : majors) names.push_back(fmt::format("{}.{}", stem, major));
  return names;
}

template <class Function>
Function function_of(void* library, const char* name, const std::string& path) {
  void* found = dlsym(library, name);
  if (found == nullptr) throw Error(ErrorKind::kTool, fmt::format("the library lacks {}", name), path, kFix);
  return reinterpret_cast<Function>(found);
}

std::string path_of(void* library, const char* function) {
  Dl_info info{};
  void* found = dlsym(library, function);
  return found != nullptr && dladdr(found, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

// 10.3.0 is 100300; up to version 9 it was 8601 for 8.6.1.
std::string version_text(std::int32_t code) {
  const std::int32_t unit = code >= 10000 ? 10000 : 1000;
  return fmt::format("{}.{}.{}", code / unit, code % unit / 100, code % 100);
}

std::int32_t major_of(std::int32_t code) { return code >= 10000 ? code / 10000 : code / 1000; }

}  // namespace

void Log::log(Severity severity, const char* line) noexcept {
  if (severity > Severity::kERROR) return;
  const std::lock_guard lock(mutex_);
  const bool known = std::find(errors_.begin(), errors_.end(), line) != errors_.end();
  if (known) return;
  if (errors_.size() == kFirst + kLast) errors_.erase(errors_.begin() + kFirst);
  errors_.emplace_back(line);
}

std::string Log::take_errors() {
  const std::lock_guard lock(mutex_);
  std::string lines = fmt::format("{}", fmt::join(errors_, "; "));
  errors_.clear();
  return lines;
}

std::string quoted(Log& log) {
  const std::string lines = log.take_errors();
  return lines.empty() ? lines : " (TensorRT: " + lines + ")";
}

std::vector<std::string> library_folders() {
  const char* folder = std::getenv("NL_STAGE_TENSORRT");
  return folder != nullptr && *folder != '\0' ? std::vector<std::string>{folder} : std::vector<std::string>{"", "/usr/local/cuda/lib64"};
}

void* open_library(const std::vector<std::string>& folders, const std::vector<std::string>& names, std::string& path,
                   std::string& trouble) {
  trouble.clear();
  for (const std::filesystem::path folder : folders)
    for (const std::string& name : names) {
      path = (folder / name).string();
      if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
      if (const char* reason = dlerror(); trouble.empty() && reason != nullptr) trouble = reason;
    }
  return nullptr;
}

InferLibrary::InferLibrary() {
  std::string trouble;
  // The versions around it are opened only to be named in the refusal.
  handle_ =
      open_library(library_folders(),
                   names_by_version("libnvinfer.so", {NV_TENSORRT_MAJOR + 1, NV_TENSORRT_MAJOR - 1, NV_TENSORRT_MAJOR - 2}), path, trouble);
  if (handle_ == nullptr) throw Error(ErrorKind::kTool, fmt::format("TensorRT {} is not here", NV_TENSORRT_MAJOR), trouble, kFix);
  if (const std::string loaded = path_of(handle_, "getInferLibVersion"); !loaded.empty()) path = loaded;
  version_code_ = function_of<std::int32_t (*)()>(handle_, "getInferLibVersion", path)();
  version = version_text(version_code_);
  if (major_of(version_code_) != NV_TENSORRT_MAJOR)
    throw Error(ErrorKind::kTool, fmt::format("this is TensorRT {}; nl-stage was built for TensorRT {}", version, NV_TENSORRT_MAJOR), path,
                kFix);
}

// TensorRT refuses headers that are newer than itself. Interfaces only grow within a major version, so it is given its own version.
void* InferLibrary::create(const char* function, Log& log) const {
  const auto make = function_of<void* (*)(void*, std::int32_t)>(handle_, function, path);
  void* made = make(static_cast<nvinfer1::ILogger*>(&log), version_code_);
  if (made == nullptr)
    throw Error(ErrorKind::kTool, "TensorRT cannot start" + quoted(log), path, "nl-stage doctor checks the driver and the GPU");
  return made;
}

std::unique_ptr<nvinfer1::IRuntime> InferLibrary::runtime(Log& log) const {
  return std::unique_ptr<nvinfer1::IRuntime>(static_cast<nvinfer1::IRuntime*>(create("createInferRuntime_INTERNAL", log)));
}

std::unique_ptr<nvinfer1::IBuilder> InferLibrary::builder(Log& log) const {
  return std::unique_ptr<nvinfer1::IBuilder>(static_cast<nvinfer1::IBuilder*>(create("createInferBuilder_INTERNAL", log)));
}

std::unique_ptr<nvonnxparser::IParser> onnx_parser(nvinfer1::INetworkDefinition& network, Log& log) {
  std::string path, trouble;
  void* library = open_library(library_folders(), names_by_version("libnvonnxparser.so", {}), path, trouble);
  if (library == nullptr) throw Error(ErrorKind::kTool, "TensorRT's reader of ONNX files is not here", trouble, kFix);
  const auto make = function_of<void* (*)(void*, void*, int)>(library, "createNvOnnxParser_INTERNAL", path);
  void* made = make(&network, static_cast<nvinfer1::ILogger*>(&log), NV_ONNX_PARSER_VERSION);
  if (made == nullptr) throw Error(ErrorKind::kTool, "TensorRT's reader of ONNX files cannot start" + quoted(log), path, kFix);
  return std::unique_ptr<nvonnxparser::IParser>(static_cast<nvonnxparser::IParser*>(made));
}

}  // namespace nl::adapters::tensorrt
