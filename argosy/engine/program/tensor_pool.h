#pragma once

#include <ATen/core/Tensor.h>

namespace argosy::engine {

// An uninitialised tensor for what a step computes and forgets. Its memory is what earlier tensors of about that size have
// left on this thread, and goes back there with the last reference. A step asks for the sizes of the step before it, so
// that from the second on it faults in no pages; with malloc alone, which gives large blocks back to the system, that is a
// tenth of a CTR model's step.
//
// On other devices torch keeps memory itself.
//
// Safe from any thread; a tensor may end on another thread than it began. A thread keeps what its last few dozen tensors
// needed and gives it up when it ends.
at::Tensor pooled_tensor(at::IntArrayRef sizes, const at::TensorOptions& options);

}  // namespace argosy::engine
