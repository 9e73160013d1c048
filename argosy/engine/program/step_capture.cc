#include "argosy/engine/program/step_capture.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/engine/program/run_frame.h"

namespace argosy::engine {
namespace {

constexpr int kRehearsals = 3;  // of which the first may make what the next ones keep, and is not judged
constexpr int kChanges = 8;     // steps with other inputs until these are the ones to record
constexpr int kRestarts = 3;

// Watches and recordings see what their process does: one at a time.
Mutex& one_at_a_time() {
  static Mutex& mutex = *new Mutex;
  return mutex;
}

const std::string& name_of(const Frame& frame, int32_t value) {
  return frame.program().values()[static_cast<size_t>(value)].name;
}

std::string text_of(const at::Tensor& tensor) {
  return fmt::format("{} {}", graph::shape_to_string(tensor.sizes().vec()), c10::toString(tensor.scalar_type()));
}

bool same_kind(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() && a.device() == b.device();
}

bool same_lod(const LodPtr& a, const LodPtr& b) { return a == b || (a != nullptr && b != nullptr && *a == *b); }

// A frame's operators tell these notes what they do.
class Noting {
 public:
  Noting(Frame& frame, CaptureNotes& notes) : frame_(frame) { frame_.notes = &notes; }
  ~Noting() { frame_.notes = nullptr; }
  Noting(const Noting&) = delete;

 private:
  Frame& frame_;
};

}  // namespace

Status StepCapture::run(Frame& frame) {
  if (!why_not_.empty()) return run_frame(frame);
  if (recording_ == nullptr) {
    auto made = capture::make_recording(frame.device.type());
    if (!made.ok()) {
      give_up(made.status().message());
      return run_frame(frame);
    }
    recording_ = std::move(*made);
    expect_inputs(frame);
  }
  if (recorded_ && !variables_fit(frame)) begin_again(frame);
  const std::string changed = difference(frame);
  if (changed.empty()) {
    changes_ = 0;
    if (recorded_) return replay(frame);
    return rehearsals_ < kRehearsals ? rehearse(frame) : record(frame);
  }
  if (++changes_ < kChanges && recorded_) return run_frame(frame);
  if (recorded_ ? ++restarts_ > kRestarts : changes_ >= kChanges) {
    give_up("what is fed changes from step to step: " + changed);
    return run_frame(frame);
  }
  begin_again(frame);
  return rehearse(frame);
}

void StepCapture::begin_again(Frame& frame) {
  recorded_ = false;
  rehearsals_ = 0;
  expect_inputs(frame);
}

void StepCapture::give_up(std::string why) {
  why_not_ = std::move(why);
  log_warning("the step of a program is not captured: {}; it runs as it is", why_not_);
  recorded_ = false;
  recording_.reset();
  inputs_.clear();
  fetched_.clear();
  checks_.clear();
  variables_.clear();
}

std::string StepCapture::difference(Frame& frame) const {
  for (const Input& input : inputs_) {
    const Value& fed = frame.value(input.value);
    if (!same_kind(fed.tensor, input.tensor)) {
      return fmt::format("variable '{}' was {} and is {}", name_of(frame, input.value), text_of(input.tensor),
                         text_of(fed.tensor));
    }
    if (!same_lod(fed.lod, input.lod))
      return fmt::format("the sequences of variable '{}' have other lengths", name_of(frame, input.value));
  }
  return {};
}

void StepCapture::expect_inputs(Frame& frame) {
  inputs_.clear();
  for (const int32_t index : frame.fed()) {
    const Value& fed = frame.value(index);
    inputs_.push_back(
        {.value = index, .tensor = at::empty_like(fed.tensor.detach(), at::MemoryFormat::Contiguous), .lod = fed.lod});
  }
}

void StepCapture::use_inputs(Frame& frame) {
  const at::NoGradGuard no_grad;
  frame.forget_made();
  for (const Input& input : inputs_) {
    at::Tensor& fed = frame.value(input.value).tensor;
    if (fed.is_alias_of(input.tensor)) continue;
    input.tensor.copy_(fed.detach());
    fed = input.tensor.detach().set_requires_grad(fed.requires_grad());
  }
}

Status StepCapture::run_noted(Frame& frame, CaptureNotes& notes) {
  const Noting noting(frame, notes);
  return run_frame(frame);
}

Status StepCapture::rehearse(Frame& frame) {
  CaptureNotes notes;
  {
    MutexLock lock(one_at_a_time());
    const WaitWatch watch(notes, frame.device.type());
    use_inputs(frame);
    RETURN_IF_ERROR(recording_->rehearse([&] { return run_noted(frame, notes); }));
  }
  if (++rehearsals_ == 1) return {};
  note_what_is_fetched(frame, notes);
  for (const CaptureNotes::Check& check : notes.take_checks()) {
    const auto fed = [&](const Input& input) { return input.value == check.value; };
    if (std::any_of(inputs_.begin(), inputs_.end(), fed)) continue;
    notes.begin(*check.instruction);
    notes.refuse(fmt::format("checks '{}', which the program computes, on the CPU", name_of(frame, check.value)));
  }
  if (!notes.why_not().empty()) give_up(notes.why_not());
  return {};
}

void StepCapture::note_what_is_fetched(Frame& frame, CaptureNotes& notes) const {
  const auto& values = frame.program().values();
  for (size_t i = 0; i < values.size(); ++i) {
    const Value& value = frame.value(static_cast<int32_t>(i));
    if (values[i].fetched && (value.rows != nullptr || value.array != nullptr))
      notes.refuse(fmt::format("(fetch of '{}', which is no tensor)", values[i].name));
  }
}

// A variable that the step has put into new memory is copied to where it was, which the next replay reads.
Status StepCapture::keep_variables_in_place(Frame& frame) {
  const at::NoGradGuard no_grad;
  for (const auto& [index, stored] : frame.stored()) {
    const auto before = variables_.find(index);
    if (before == variables_.end() || !same_kind(before->second, stored->tensor)) {
      return Status::failed_precondition("variable '{}' becomes {}, which it was not before the step", name_of(frame, index),
                                         text_of(stored->tensor));
    }
    if (stored->tensor.data_ptr() == before->second.data_ptr()) continue;
    before->second.copy_(stored->tensor);
    stored->tensor = before->second;
  }
  return {};
}

Status StepCapture::record(Frame& frame) {
  variables_.clear();
  std::map<int32_t, int64_t> versions;
  for (const auto& [index, stored] : frame.stored()) {
    variables_[index] = stored->tensor;
    versions[index] = stored->tensor._version();
  }
  use_inputs(frame);
  std::map<int32_t, Value> fed;  // operators drop what they were the last to read
  for (const Input& input : inputs_) fed[input.value] = frame.value(input.value);
  CaptureNotes notes;
  Status status;
  {
    MutexLock lock(one_at_a_time());
    status = recording_->record([&] {
      RETURN_IF_ERROR(run_noted(frame, notes));
      return keep_variables_in_place(frame);
    });
  }
  if (!status.ok()) {  // nothing was computed
    for (const auto& [index, stored] : frame.stored()) stored->tensor = variables_[index];
    for (const auto& [index, value] : fed) frame.value(index) = value;
    frame.bind_stored();
    give_up(status.message());
    return run_frame(frame);
  }
  checks_ = notes.take_checks();
  fetched_.clear();
  const auto& values = frame.program().values();
  for (size_t i = 0; i < values.size(); ++i) {
    Value& value = frame.value(static_cast<int32_t>(i));
    if (!values[i].fetched || values[i].persistable || !value.tensor.defined()) continue;
    value.tensor = value.tensor.detach();
    fetched_[static_cast<int32_t>(i)] = value;
  }
  written_.clear();
  for (const auto& [index, version] : versions) {
    if (variables_[index]._version() != version) written_.push_back(index);
  }
  recorded_ = true;
  return compute(frame);
}

bool StepCapture::variables_fit(Frame& frame) {
  for (const auto& [index, stored] : frame.stored()) {
    const auto recorded = variables_.find(index);
    if (recorded != variables_.end() && !same_kind(stored->tensor, recorded->second)) return false;
  }
  return true;
}

// What others have put into the scope since goes to where the recording has it, which then is the scope's again.
void StepCapture::put_variables_back(Frame& frame) {
  const at::NoGradGuard no_grad;
  bool changed = false;
  for (const auto& [index, stored] : frame.stored()) {
    const auto recorded = variables_.find(index);
    if (recorded == variables_.end() || stored->tensor.data_ptr() == recorded->second.data_ptr()) continue;
    recorded->second.copy_(stored->tensor);
    stored->tensor = recorded->second;
    changed = true;
  }
  if (changed) frame.bind_stored();
}

Status StepCapture::replay(Frame& frame) {
  for (const CaptureNotes::Check& check : checks_) {
    const Value& fed = frame.value(check.value);
    RETURN_IF_ERROR(
        status_of(*check.instruction, frame, [&] { check.check(fed.fed.defined() ? fed.fed : fed.tensor.detach().cpu()); }));
  }
  put_variables_back(frame);
  use_inputs(frame);
  return compute(frame);
}

Status StepCapture::compute(Frame& frame) {
  RETURN_IF_ERROR(recording_->replay());
  for (const int32_t index : written_) variables_[index].unsafeGetTensorImpl()->bump_version();
  for (const auto& [index, value] : fetched_) {
    frame.value(index) = value;
    // The next replay writes here. From a device the caller gets a copy anyway.
    if (value.tensor.is_cpu()) frame.value(index).tensor = value.tensor.clone();
  }
  ++replays_;
  return {};
}

}  // namespace argosy::engine
