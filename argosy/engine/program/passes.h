#pragma once

#include <string>
#include <vector>

#include "argosy/graph/op_desc.h"
#include "argosy/graph/program.h"

namespace argosy::engine {

// Rewrites the operators of a prepared program into fused ones that compute the same: fc and Linear layers (mul or matmul +
// elementwise_add + relu),
// and embeddings with their pooling and concat. Variables in `fetches` keep their operators. `ops` is what will run;
// `program` gives the variables and is not changed.
void run_passes(std::vector<graph::OpDesc>& ops, const graph::Program& program, const std::vector<std::string>& fetches);

}  // namespace argosy::engine
