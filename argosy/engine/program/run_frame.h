#pragma once

#include "argosy/base/status.h"
#include "argosy/engine/program/frame.h"

namespace argosy::engine {

// Runs all instructions of the frame's program, in their order, between Frame::begin() and Frame::end(). The error of a kernel,
// and what torch throws, becomes a Status that names the operator and what it was given; the instructions after it do not run.
Status run_frame(Frame& frame);

}  // namespace argosy::engine
