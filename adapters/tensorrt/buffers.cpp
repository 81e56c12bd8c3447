#include "adapters/tensorrt/buffers.h"

#include <algorithm>

#include "adapters/tensor_types.h"
#include "adapters/tensorrt/tensors.h"
#include "model/error.h"

namespace nl::adapters::tensorrt {

InputBuffer::InputBuffer(const CudaRuntime& cuda, const CudaStream& stream, Tensor tensor, bool on_host) : tensor_(std::move(tensor)) {
  if (on_host) return;
  device_ = std::make_unique<DeviceMemory>(cuda, tensor_.data.size(), "input " + tensor_.name);
  cuda.check(cuda.copy(device_->get(), tensor_.data.data(), tensor_.data.size(), cudaMemcpyHostToDevice, stream.get()),
             "copying input " + tensor_.name);
}

void* InputBuffer::address() { return device_ ? device_->get() : tensor_.data.data(); }

OutputBuffer::OutputBuffer(const CudaRuntime& cuda, const nvinfer1::ICudaEngine& engine, const char* name)
    : cuda_(cuda), name_(name), type_(engine.getTensorDataType(name)),
      on_host_(engine.getTensorLocation(name) == nvinfer1::TensorLocation::kHOST) {}

void OutputBuffer::attach(nvinfer1::IExecutionContext& context) {
  const nvinfer1::Dims dims = context.getTensorShape(name_.c_str());
  shape_ = shape_of(dims);
  const bool taken = !has_open_size(dims) ? context.setTensorAddress(name_.c_str(), reserve(bytes_for(type_, values_in(shape_))))
                                          : context.setOutputAllocator(name_.c_str(), this);
  if (!taken) throw Error(ErrorKind::kWorkload, "TensorRT does not take the memory for an output", "output " + name_);
}

void* OutputBuffer::reserve(std::size_t bytes) {
  if (on_host_) {
    host_.resize(std::max(bytes, host_.size()));
    return host_.data();
  }
  if (!device_ || device_->bytes() < bytes) {
    device_.reset();
    device_ = std::make_unique<DeviceMemory>(cuda_, bytes, "output " + name_);
  }
  return device_->get();
}

// TensorRT lets no exception through; null tells it that there is no memory.
void* OutputBuffer::reallocateOutputAsync(const char*, void*, std::uint64_t size, std::uint64_t, cudaStream_t) noexcept {
  try {
    return reserve(size);
  } catch (...) {
    failure_ = std::current_exception();
    return nullptr;
  }
}

void OutputBuffer::notifyShape(const char*, const nvinfer1::Dims& dims) noexcept { shape_ = shape_of(dims); }

void OutputBuffer::rethrow() const {
  if (failure_) std::rethrow_exception(failure_);
}

Tensor OutputBuffer::result(const CudaStream& stream) const {
  Tensor tensor{name_, dtype_name(type_), shape_, {}};
  tensor.data.resize(bytes_for(type_, values_in(shape_)));
  if (on_host_) {
    std::copy_n(host_.begin(), std::min(host_.size(), tensor.data.size()), tensor.data.begin());
  } else if (device_) {
    cuda_.check(cuda_.copy(tensor.data.data(), device_->get(), tensor.data.size(), cudaMemcpyDeviceToHost, stream.get()),
                "copying output " + name_);
    stream.wait("copying output " + name_);
  }
  return tensor;
}

}  // namespace nl::adapters::tensorrt
