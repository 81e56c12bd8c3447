#pragma once

#include <memory>

#include "adapters/adapter.h"

namespace nl::adapters::tensorrt {

// An engine file, or an ONNX file (by its name) of which an engine is built at bind(), when the shapes are known.
std::unique_ptr<Session> open_session(const SessionOptions& options);

}  // namespace nl::adapters::tensorrt
