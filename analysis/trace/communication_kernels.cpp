#include "analysis/trace/communication_kernels.h"

#include "analysis/trace/kernel_class.h"

namespace nl::analysis {

CommunicationKernels::CommunicationKernels(const Trace& trace) {
  kinds_.resize(trace.shapes.size());
  for (std::size_t i = 0; i < trace.shapes.size(); ++i) {
    const std::string& name = trace.strings[trace.shapes[i].name];
    if (classify_kernel(name) != KernelClass::kCommunication) continue;
    kinds_[i] = collective_of(name);
    any_ = true;
  }
}

}  // namespace nl::analysis
