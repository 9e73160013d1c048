#include "argosy/engine/program/capture_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "argosy/base/check.h"

namespace argosy::engine {
namespace {

struct Watched {
  CaptureNotes* notes = nullptr;
  c10::DeviceType device = c10::DeviceType::CPU;
};
Watched watched;  // constant while calls are watched
std::atomic<bool> watching{false};

// Functions of torch that give the CPU a number of the device, or a tensor whose size only the device knows.
constexpr std::array kWaits = {
    "aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select", "aten::equal", "aten::_unique2", "aten::unique_dim",
    "aten::unique_consecutive",  "aten::bincount"};

bool is_on_device(const at::RecordFunction& call) {
  const auto inputs = call.inputs();
  return !inputs.empty() && inputs[0].isTensor() && inputs[0].toTensor().defined() &&
         inputs[0].toTensor().device().type() == watched.device;
}

bool between_devices(const at::RecordFunction& call) {
  const auto inputs = call.inputs();
  return inputs.size() > 1 && inputs[0].isTensor() && inputs[1].isTensor() && inputs[0].toTensor().defined() &&
         inputs[1].toTensor().defined() && inputs[0].toTensor().device() != inputs[1].toTensor().device();
}

std::unique_ptr<at::ObserverContext> note_call(const at::RecordFunction& call) {
  if (!watching.load(std::memory_order_acquire)) return nullptr;
  const std::string name = call.name();
  if (std::find(kWaits.begin(), kWaits.end(), name) != kWaits.end()) {
    if (is_on_device(call)) watched.notes->refuse(fmt::format("calls {}, which waits for the device", name));
  } else if (name == "aten::copy_" && between_devices(call)) {
    watched.notes->refuse("copies between the CPU and the device");
  }
  return nullptr;
}

}  // namespace

void CaptureNotes::refuse(const std::string& what) {
  if (!why_not_.empty() || pauses_ > 0) return;
  why_not_ = running_ == nullptr ? what : fmt::format("operator '{}' {}", running_->desc.type, what);
}

void CaptureNotes::check_before_replay(int32_t value, std::function<void(const at::Tensor&)> check) {
  checks_.push_back({.instruction = running_, .value = value, .check = std::move(check)});
}

WaitWatch::WaitWatch(CaptureNotes& notes, c10::DeviceType device) {
  ARGOSY_CHECK(!watching);
  watched = {&notes, device};
  watching.store(true, std::memory_order_release);
  handle_ =
      at::addThreadLocalCallback(at::RecordFunctionCallback(&note_call).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
}

WaitWatch::~WaitWatch() {
  at::removeCallback(handle_);
  watching.store(false, std::memory_order_release);
}

}  // namespace argosy::engine
