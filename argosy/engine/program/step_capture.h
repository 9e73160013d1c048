#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/capture/recording.h"
#include "argosy/engine/program/capture_notes.h"
#include "argosy/engine/program/frame.h"

namespace argosy::engine {

// Runs the steps of one frame by a recording, where they are all the same to a device: the first steps are rehearsals, which run
// as they are and are watched; then one is recorded; from then on each is a replay, on inputs that are copied to where the
// recorded ones lie and on variables that stay where they are.
//
// A step whose inputs have other shapes, or sequences of other lengths, than the recorded ones runs as it is. What can never be
// replayed (why_not()) is logged once, and all steps run as they are. Confined to the frame's thread.
class StepCapture {
 public:
  // In place of run_frame(), with the same result but for rounding.
  Status run(Frame& frame);

  int64_t replays() const { return replays_; }
  const std::string& why_not() const { return why_not_; }  // empty: nothing is known that speaks against it

 private:
  struct Input {
    int32_t value;
    at::Tensor tensor;  // each batch is copied here
    LodPtr lod;
  };

  Status rehearse(Frame& frame);
  Status record(Frame& frame);
  Status replay(Frame& frame);
  Status compute(Frame& frame);    // what was recorded, on inputs and variables that are in their places
  void begin_again(Frame& frame);  // with the inputs of this step
  void give_up(std::string why);
  Status run_noted(Frame& frame, CaptureNotes& notes);

  std::string difference(Frame& frame) const;  // from the inputs that are expected; empty: none
  void expect_inputs(Frame& frame);
  void use_inputs(Frame& frame);
  void note_what_is_fetched(Frame& frame, CaptureNotes& notes) const;
  Status keep_variables_in_place(Frame& frame);
  bool variables_fit(Frame& frame);  // those of the scope have the shapes of the recorded ones
  void put_variables_back(Frame& frame);

  std::unique_ptr<capture::Recording> recording_;
  std::vector<Input> inputs_;
  std::vector<CaptureNotes::Check> checks_;
  std::map<int32_t, at::Tensor> variables_;  // persistable ones, where the recording reads and writes them
  std::vector<int32_t> written_;             // of these
  std::map<int32_t, Value> fetched_;         // what a replay computes for the caller
  int rehearsals_ = 0;
  int changes_ = 0;   // steps with other inputs, one after the other
  int restarts_ = 0;  // recordings that other inputs have made useless
  bool recorded_ = false;
  int64_t replays_ = 0;
  std::string why_not_;
};

}  // namespace argosy::engine
