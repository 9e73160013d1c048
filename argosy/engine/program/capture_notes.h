#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include <functional>
#include <string>
#include <vector>

#include "argosy/engine/program/prepared.h"

namespace argosy::engine {

// What a step that is to be captured does besides queueing kernels, noted while it runs as it is: what a replay could not repeat,
// and the checks of fed values that must come before each replay. Confined to the running thread, and to autograd's while that
// computes for it.
class CaptureNotes {
 public:
  struct Check {
    const Instruction* instruction;
    int32_t value;
    std::function<void(const at::Tensor&)> check;  // of the value on the CPU; throws KernelError
  };

  void begin(const Instruction& instruction) { running_ = &instruction; }
  // The running operator does something that cannot be captured: "reads 'x' on the CPU". The first reason stays.
  void refuse(const std::string& what);
  void check_before_replay(int32_t value, std::function<void(const at::Tensor&)> check);

  // While one lives, nothing is refused.
  class Pause {
   public:
    explicit Pause(CaptureNotes& notes) : notes_(notes) { ++notes_.pauses_; }
    ~Pause() { --notes_.pauses_; }
    Pause(const Pause&) = delete;

   private:
    CaptureNotes& notes_;
  };

  const std::string& why_not() const { return why_not_; }  // empty: nothing was refused
  std::vector<Check> take_checks() { return std::move(checks_); }

 private:
  const Instruction* running_ = nullptr;
  std::string why_not_;
  int pauses_ = 0;
  std::vector<Check> checks_;
};

// While one lives, the calls of torch in its thread, and in autograd's for it, that wait for `device` are noted. One at a time in
// a process.
class WaitWatch {
 public:
  WaitWatch(CaptureNotes& notes, c10::DeviceType device);
  ~WaitWatch();
  WaitWatch(const WaitWatch&) = delete;

 private:
  at::CallbackHandle handle_;
};

}  // namespace argosy::engine
