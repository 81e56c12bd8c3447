#pragma once

#include <memory>

#include "adapters/adapter.h"

namespace nl::adapters {

// A model that AOTInductor compiled (.pt2). LibTorch loads those since 2.6; package_none.cpp stands in for older ones and throws Error(kTool).
std::unique_ptr<Session> open_package(const SessionOptions& options);

}  // namespace nl::adapters
