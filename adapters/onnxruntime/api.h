#pragma once

// The C++ API of ONNX Runtime, whose functions library.cpp sets once the library is loaded.
#define ORT_API_MANUAL_INIT
#include <onnxruntime_cxx_api.h>
