#pragma once

// NVTX ranges for a workload, in the vocabulary that nl-stage understands. C++11, one header, no library:
//
//   nl::nvtx::Scope prefill{nl::nvtx::kPrefill};            // a stage, until the end of the block
//   nl::nvtx::Scope step{nl::nvtx::kDecodeStep, i};         // with a number
//   nl::nvtx::Operator op{"attention", layer};              // an operator inside a stage
//   nl::nvtx::Layer mlp{"model.layers.0.mlp", "MLP"};       // a module of the model, with its class
//   nl::nvtx::tokens(256, 1);                               // what comes next: a prompt of 256 tokens, batch 1
//   nl::nvtx::mark("first token");
//   nl::nvtx::Range request{"request"};                     // may end on another thread: request.end()
//
// Where NVTX's headers are absent, or NL_NVTX_DISABLE is defined, all of it compiles to nothing.
#include <cstdint>
#include <cstdio>

#if !defined(NL_NVTX_DISABLE) && defined(__has_include)
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define NL_NVTX_ENABLED 1
#endif
#endif

namespace nl {
namespace nvtx {

constexpr const char* kPrefill = "prefill";
constexpr const char* kDecodeAll = "decode_all";
constexpr const char* kDecodeStep = "decode_step";

#ifdef NL_NVTX_ENABLED

namespace detail {

inline nvtxDomainHandle_t stages() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("LLM");
  return domain;
}

inline nvtxDomainHandle_t operators() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("LLM.ops");
  return domain;
}

inline nvtxDomainHandle_t layers() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("LLM.layers");
  return domain;
}

inline nvtxEventAttributes_t event(const char* name) {
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  return attributes;
}

inline nvtxEventAttributes_t event(const char* name, std::int64_t payload) {
  nvtxEventAttributes_t attributes = event(name);
  attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  attributes.payload.llValue = payload;
  return attributes;
}

class Pushed {
 public:
  Pushed(nvtxDomainHandle_t domain, const nvtxEventAttributes_t& attributes) : domain_(domain) {
    nvtxDomainRangePushEx(domain_, &attributes);
  }
  ~Pushed() { nvtxDomainRangePop(domain_); }
  Pushed(const Pushed&) = delete;
  Pushed& operator=(const Pushed&) = delete;

 private:
  nvtxDomainHandle_t domain_;
};

}  // namespace detail

class Scope : detail::Pushed {
 public:
  explicit Scope(const char* name) : Pushed(detail::stages(), detail::event(name)) {}
  Scope(const char* name, std::int64_t payload) : Pushed(detail::stages(), detail::event(name, payload)) {}
};

class Operator : detail::Pushed {
 public:
  explicit Operator(const char* name) : Pushed(detail::operators(), detail::event(name)) {}
  Operator(const char* name, std::int64_t payload) : Pushed(detail::operators(), detail::event(name, payload)) {}
};

// Named as the module is in the model; "name|type" is what goes out. A name of over 250 characters is cut.
class Layer : detail::Pushed {
 public:
  explicit Layer(const char* name, const char* type = "") : Layer(Text(name, type)) {}

 private:
  struct Text {
    char text[256];
    Text(const char* name, const char* type) { std::snprintf(text, sizeof text, "%s%s%s", name, type[0] == '\0' ? "" : "|", type); }
  };
  explicit Layer(const Text& text) : Pushed(detail::layers(), detail::event(text.text)) {}
};

class Range {
 public:
  explicit Range(const char* name) {
    nvtxEventAttributes_t attributes = detail::event(name);
    id_ = nvtxDomainRangeStartEx(detail::stages(), &attributes);
  }
  ~Range() { end(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
  void end() {
    if (open_) nvtxDomainRangeEnd(detail::stages(), id_);
    open_ = false;
  }

 private:
  nvtxRangeId_t id_ = 0;
  bool open_ = true;
};

inline void mark(const char* name) {
  nvtxEventAttributes_t attributes = detail::event(name);
  nvtxDomainMarkEx(detail::stages(), &attributes);
}

// How many tokens the iteration that follows works on: time to first token and tokens/s need it.
inline void tokens(std::int64_t prompt, std::int64_t batch = 1) {
  char text[80];
  std::snprintf(text, sizeof text, "tokens prompt=%lld batch=%lld", static_cast<long long>(prompt), static_cast<long long>(batch));
  mark(text);
}

#else

// The destructors are there so that the compiler does not warn of a scope as an unused variable.
class Scope {
 public:
  explicit Scope(const char*) {}
  Scope(const char*, std::int64_t) {}
  ~Scope() {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
};

class Operator {
 public:
  explicit Operator(const char*) {}
  Operator(const char*, std::int64_t) {}
  ~Operator() {}
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;
};

class Layer {
 public:
  explicit Layer(const char*, const char* = "") {}
  ~Layer() {}
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
};

class Range {
 public:
  explicit Range(const char*) {}
  ~Range() {}
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
  void end() {}
};

inline void mark(const char*) {}
inline void tokens(std::int64_t, std::int64_t = 1) {}

#endif

}  // namespace nvtx
}  // namespace nl
