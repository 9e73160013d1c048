#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>

#include <optional>

#include "argosy/base/status.h"

// The device of a program: where its variables live and its kernels run. A kernel makes its tensors like its inputs or by
// OpContext::options(), and so works wherever they are. One that walks through memory itself asks in_memory() first and has a
// second way by torch's own functions, or is registered as cpu_only().
namespace argosy::engine {

// An error that says what was found where this machine, or this libtorch, has no such device.
Status check_device(const c10::Device& device);

// Whether a kernel may walk through the tensor's memory itself.
bool in_memory(const at::Tensor& tensor);

// Whether tensors of `device` are elsewhere than in the CPU's memory, so that both sides have copies of what they share.
bool is_apart(const c10::Device& device);

// While one lives, in_memory() says no for every tensor of the process: kernels go their way for other devices, on the CPU.
// For tests.
class NoMemoryWalks {
 public:
  NoMemoryWalks();
  ~NoMemoryWalks();
  NoMemoryWalks(const NoMemoryWalks&) = delete;
};

// While one lives, what its thread computes on `device` is queued on a stream of its own, after what was queued before; the end
// waits for it. Nothing on the CPU. Confined to one thread.
class OwnStream {
 public:
  explicit OwnStream(const c10::Device& device);
  ~OwnStream();
  OwnStream(const OwnStream&) = delete;

 private:
  std::optional<c10::StreamGuard> guard_;
};

// Copies between the CPU and a device, on a stream beside the one that computes: a batch is on its way while the step before
// it runs, and a fetched value while the step goes on. On the CPU both give the tensor itself. Confined to one thread.
class DeviceCopies {
 public:
  explicit DeviceCopies(const c10::Device& device) : device_(device) {}

  // What the thread computes from now on may use it; `given` may be changed as soon as this returns, unless it is pinned.
  at::Tensor to_device(const at::Tensor& given);
  // Waits for `made`, which was recorded when the value was computed, and for nothing else; null: for all that was queued.
  at::Tensor to_cpu(const at::Tensor& value, const c10::Event* made);

 private:
  const c10::Stream& stream();

  const c10::Device device_;
  std::optional<c10::Stream> stream_;  // made when it is first used
};

// Memory for what goes to `device`: pinned, where that is another one than the CPU.
at::Tensor staging_tensor(at::IntArrayRef sizes, at::ScalarType type, const c10::Device& device);

// Tensors on their way to the CPU, which are waited for once: what the CPU needs of a step at its end. Confined to one thread.
class Readback {
 public:
  explicit Readback(const c10::Device& device) : device_(device) {}
  // Contiguous. REQUIRES: nobody reads it before wait().
  at::Tensor take(const at::Tensor& tensor);
  void wait();

 private:
  const c10::Device device_;
  bool under_way_ = false;
};

// The stream that this thread computes on. REQUIRES: a device other than the CPU, which check_device() has found.
c10::Stream current_stream(const c10::Device& device);

}  // namespace argosy::engine
