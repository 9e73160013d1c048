#pragma once

#include <functional>

#include "argosy/base/status.h"
#include "argosy/engine/program/frame.h"

namespace argosy::engine {

// Runs all instructions of the frame's program, in their order, between Frame::begin() and Frame::end(). The error of a kernel,
// and what torch throws, becomes a Status that names the operator and what it was given; the instructions after it do not run.
Status run_frame(Frame& frame);

// What `body`, a part of the instruction's work, throws: as such a Status.
Status status_of(const Instruction& instruction, Frame& frame, const std::function<void()>& body);

}  // namespace argosy::engine
