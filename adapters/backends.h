#pragma once

#include <memory>
#include <string>

#include "adapters/adapter.h"

namespace nl::adapters {

// Each is defined in its own folder, or in a file <name>_none.cpp where Meson did not find its headers.
std::unique_ptr<Adapter> onnxruntime_adapter();
std::unique_ptr<Adapter> libtorch_adapter();
std::unique_ptr<Adapter> tensorrt_adapter();

// Does no work: what it reports is written in the "model" file, line by line (fake.cpp). For tests.
std::unique_ptr<Adapter> fake_adapter();

// In the place of a backend that nl-stage was built without. fix: how to build it in.
std::unique_ptr<Adapter> not_built(std::string name, std::string title, std::string fix);

}  // namespace nl::adapters
