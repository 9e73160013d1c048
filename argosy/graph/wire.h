#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "argosy/base/status.h"
#include "argosy/graph/program.h"

namespace argosy::graph {

// A program as the bytes of Paddle's `__model__`: PaddlePaddle 1.8 and 2.6 read what is written here, and what they write is
// read here. docs/formats.md describes the bytes.
//
// What the format has no place for is lost: random_seed, and of a parameter its learning-rate factor, weight decay and
// clipping. 2.x's marks "is a parameter" and "stops gradients" are written; 1.8 skips them.
//
// Throws argosy::Error where the program is beyond the 2 GiB that the format can hold.
std::string serialize_program(const Program& program);

// The program in `bytes`, which may come from anybody: what is not a program gives an error that names the block, the
// operator or the variable at fault. In a program that is returned
//   - a block's parent comes before it, and an operator's sub-blocks come after its own block, so that neither makes a loop;
//   - each variable that an operator names is there, in its block or above ("@EMPTY@", Paddle's word for none, excepted);
//   - names are not empty, and unique in their block; sizes are -1 or more.
// Operators are not looked up: a program with types that this process lacks can be read, printed and written.
//
// The parameters are those that the file marks. Where it marks none (1.8, and models for inference), they are the persistable
// floating-point tensors of the global block that an operator reads, and that none but an optimizer's writes: weights, but
// not the running means of batch_norm, nor an optimizer's state.
Result<std::shared_ptr<Program>> parse_program(std::string_view bytes);

}  // namespace argosy::graph
