#include "argosy/engine/program/device.h"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <atomic>

namespace argosy::engine {
namespace {

std::atomic<int> no_memory_walks{0};

}  // namespace

Status check_device(const c10::Device& device) {
  if (device.is_cpu()) return {};
  if (!c10::impl::hasDeviceGuardImpl(device.type()))
    return Status::failed_precondition("{}: this libtorch was built without such devices; run on the CPU", device.str());
  const int count = c10::impl::VirtualGuardImpl(device.type()).deviceCount();
  if (device.has_index() && device.index() < count) return {};
  return Status::failed_precondition(
      "{}: libtorch sees {} such device(s) on this machine; expected a number below that, or the CPU", device.str(), count);
}

bool in_memory(const at::Tensor& tensor) { return tensor.is_cpu() && no_memory_walks.load(std::memory_order_relaxed) == 0; }

bool is_apart(const c10::Device& device) { return !device.is_cpu() || no_memory_walks.load(std::memory_order_relaxed) > 0; }

NoMemoryWalks::NoMemoryWalks() { ++no_memory_walks; }
NoMemoryWalks::~NoMemoryWalks() { --no_memory_walks; }

c10::Stream current_stream(const c10::Device& device) { return c10::impl::VirtualGuardImpl(device.type()).getStream(device); }

OwnStream::OwnStream(const c10::Device& device) {
  if (device.is_cpu()) return;
  const c10::Stream own = c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
  c10::Event before(device.type());  // what others have computed until now: first values, for example
  before.record(current_stream(device));
  before.block(own);
  guard_.emplace(own);
}

OwnStream::~OwnStream() {
  if (guard_) guard_->current_stream().synchronize();
}

const c10::Stream& DeviceCopies::stream() {
  if (!stream_) stream_ = c10::impl::VirtualGuardImpl(device_.type()).getStreamFromGlobalPool(device_);
  return *stream_;
}

at::Tensor DeviceCopies::to_device(const at::Tensor& given) {
  if (given.device() == device_) return given;
  if (!given.is_cpu() || device_.is_cpu()) return given.to(device_);
  const c10::Stream computes = current_stream(device_);
  c10::Event arrived(device_.type());
  at::Tensor brought;
  {
    const c10::StreamGuard guard(stream());
    brought = given.pin_memory().to(at::TensorOptions(device_), /*non_blocking=*/true);
    arrived.record(stream());
  }
  arrived.block(computes);
  brought.record_stream(computes);
  return brought;
}

at::Tensor staging_tensor(at::IntArrayRef sizes, at::ScalarType type, const c10::Device& device) {
  return at::empty(sizes, at::TensorOptions(type).pinned_memory(!device.is_cpu()));
}

at::Tensor Readback::take(const at::Tensor& tensor) {
  if (tensor.is_cpu()) return tensor.contiguous();
  under_way_ = true;
  return staging_tensor(tensor.sizes(), tensor.scalar_type(), device_).copy_(tensor, /*non_blocking=*/true);
}

void Readback::wait() {
  if (under_way_) current_stream(device_).synchronize();
  under_way_ = false;
}

at::Tensor DeviceCopies::to_cpu(const at::Tensor& value, const c10::Event* made) {
  if (value.is_cpu() || made == nullptr) return value.cpu();
  const c10::StreamGuard guard(stream());
  made->block(stream());
  return value.cpu();
}

}  // namespace argosy::engine
