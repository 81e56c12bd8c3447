// The NVTX half: NVTX loads this library where NVTX_INJECTION64_PATH names it, calls
// InitializeInjectionNvtx2 once for every shared object that uses NVTX, and from then on our functions in
// place of its empty ones. Handles of domains and registered strings are our interned texts.
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include "collector/nvtx/recorder.h"

namespace nl::collector {
namespace {

const Text* text_of(nvtxDomainHandle_t domain) { return reinterpret_cast<const Text*>(domain); }
nvtxDomainHandle_t domain_of(const Text* text) { return reinterpret_cast<nvtxDomainHandle_t>(const_cast<Text*>(text)); }
nvtxStringHandle_t string_of(const Text* text) { return reinterpret_cast<nvtxStringHandle_t>(const_cast<Text*>(text)); }

const Text* name_of(const nvtxEventAttributes_t* event) {
  if (event == nullptr || event->size < sizeof *event) return nullptr;
  switch (event->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII: return intern(event->message.ascii, Keep::kPassing);
    case NVTX_MESSAGE_TYPE_UNICODE: return intern(event->message.unicode, Keep::kPassing);
    case NVTX_MESSAGE_TYPE_REGISTERED: return reinterpret_cast<const Text*>(event->message.registered);
    default: return nullptr;
  }
}

Payload payload_of(const nvtxEventAttributes_t* event) {
  if (event == nullptr || event->size < sizeof *event) return {};
  switch (event->payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64: return static_cast<std::int64_t>(event->payload.ullValue);
    case NVTX_PAYLOAD_TYPE_INT64: return event->payload.llValue;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32: return event->payload.uiValue;
    case NVTX_PAYLOAD_TYPE_INT32: return event->payload.iValue;
    default: return {};
  }
}

void NVTX_API mark_ex(const nvtxEventAttributes_t* event) { record_mark({name_of(event), nullptr}, payload_of(event)); }
void NVTX_API mark_a(const char* name) { record_mark({intern(name, Keep::kPassing), nullptr}, {}); }
void NVTX_API mark_w(const wchar_t* name) { record_mark({intern(name, Keep::kPassing), nullptr}, {}); }
int NVTX_API push_ex(const nvtxEventAttributes_t* event) { return record_push({name_of(event), nullptr}, payload_of(event)); }
int NVTX_API push_a(const char* name) { return record_push({intern(name, Keep::kPassing), nullptr}, {}); }
int NVTX_API push_w(const wchar_t* name) { return record_push({intern(name, Keep::kPassing), nullptr}, {}); }
int NVTX_API pop() { return record_pop(nullptr); }
nvtxRangeId_t NVTX_API start_ex(const nvtxEventAttributes_t* event) { return record_start({name_of(event), nullptr}, payload_of(event)); }
nvtxRangeId_t NVTX_API start_a(const char* name) { return record_start({intern(name, Keep::kPassing), nullptr}, {}); }
nvtxRangeId_t NVTX_API start_w(const wchar_t* name) { return record_start({intern(name, Keep::kPassing), nullptr}, {}); }
void NVTX_API end(nvtxRangeId_t range) { record_end(range); }
void NVTX_API name_thread_a(std::uint32_t tid, const char* name) { record_thread_name(tid, intern(name, Keep::kForGood)); }
void NVTX_API name_thread_w(std::uint32_t tid, const wchar_t* name) { record_thread_name(tid, intern(name, Keep::kForGood)); }

void NVTX_API domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  record_mark({name_of(event), text_of(domain)}, payload_of(event));
}
int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return record_push({name_of(event), text_of(domain)}, payload_of(event));
}
int NVTX_API domain_pop(nvtxDomainHandle_t domain) { return record_pop(text_of(domain)); }
nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return record_start({name_of(event), text_of(domain)}, payload_of(event));
}
void NVTX_API domain_end(nvtxDomainHandle_t, nvtxRangeId_t range) { record_end(range); }
nvtxStringHandle_t NVTX_API register_a(nvtxDomainHandle_t, const char* text) { return string_of(intern(text, Keep::kForGood)); }
nvtxStringHandle_t NVTX_API register_w(nvtxDomainHandle_t, const wchar_t* text) { return string_of(intern(text, Keep::kForGood)); }
nvtxDomainHandle_t NVTX_API create_domain_a(const char* name) { return domain_of(intern(name, Keep::kForGood)); }
nvtxDomainHandle_t NVTX_API create_domain_w(const wchar_t* name) { return domain_of(intern(name, Keep::kForGood)); }

class Module {
 public:
  Module(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module) {
    if (callbacks.GetModuleFunctionTable(module, &table_, &size_) == 0) size_ = 0;
  }
  template <typename Function>
  void set(unsigned slot, Function function) {
    if (slot < size_ && table_[slot] != nullptr) *table_[slot] = reinterpret_cast<NvtxFunctionPointer>(function);
  }

 private:
  NvtxFunctionTable table_ = nullptr;
  unsigned size_ = 0;
};

void fill(const NvtxExportTableCallbacks& callbacks) {
  Module core(callbacks, NVTX_CB_MODULE_CORE);
  core.set(NVTX_CBID_CORE_MarkEx, mark_ex);
  core.set(NVTX_CBID_CORE_MarkA, mark_a);
  core.set(NVTX_CBID_CORE_MarkW, mark_w);
  core.set(NVTX_CBID_CORE_RangeStartEx, start_ex);
  core.set(NVTX_CBID_CORE_RangeStartA, start_a);
  core.set(NVTX_CBID_CORE_RangeStartW, start_w);
  core.set(NVTX_CBID_CORE_RangeEnd, end);
  core.set(NVTX_CBID_CORE_RangePushEx, push_ex);
  core.set(NVTX_CBID_CORE_RangePushA, push_a);
  core.set(NVTX_CBID_CORE_RangePushW, push_w);
  core.set(NVTX_CBID_CORE_RangePop, pop);
  core.set(NVTX_CBID_CORE_NameOsThreadA, name_thread_a);
  core.set(NVTX_CBID_CORE_NameOsThreadW, name_thread_w);

  Module domains(callbacks, NVTX_CB_MODULE_CORE2);
  domains.set(NVTX_CBID_CORE2_DomainMarkEx, domain_mark);
  domains.set(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start);
  domains.set(NVTX_CBID_CORE2_DomainRangeEnd, domain_end);
  domains.set(NVTX_CBID_CORE2_DomainRangePushEx, domain_push);
  domains.set(NVTX_CBID_CORE2_DomainRangePop, domain_pop);
  domains.set(NVTX_CBID_CORE2_DomainRegisterStringA, register_a);
  domains.set(NVTX_CBID_CORE2_DomainRegisterStringW, register_w);
  domains.set(NVTX_CBID_CORE2_DomainCreateA, create_domain_a);
  domains.set(NVTX_CBID_CORE2_DomainCreateW, create_domain_w);
}

}  // namespace
}  // namespace nl::collector

// 0 tells NVTX to go on as if no tool were there.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table) {
  if (export_table == nullptr || !nl::collector::start_recording()) return 0;
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof *callbacks) return 0;
  nl::collector::fill(*callbacks);
  return 1;
}
