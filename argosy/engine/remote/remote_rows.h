#pragma once

#include <string>
#include <vector>

#include "argosy/engine/remote/remote_parameters.h"
#include "argosy/graph/op_desc.h"
#include "argosy/graph/program.h"

namespace argosy::engine {

inline constexpr std::string_view kPullRowsOp = "pull_rows";
inline constexpr std::string_view kSendOp = "send";
inline constexpr std::string_view kReceiveOp = "recv";

// Whether `op` reads rows of a table `W` by `Ids`.
bool is_lookup(const graph::OpDesc& op);

// Whether `op` gives the values of `X` in the same order, in another shape.
bool only_reshapes(const graph::OpDesc& op);

// Makes the lookups of remote row tables work on the rows of a batch. Before the first lookup comes a `pull_rows` for each table
// with the ids of all lookups that are known by then, and where ids are known later, another one: its outputs are the table's
// variable, now with one row for each key of the batch, and the ids as numbers of these rows. Those that stand one after another
// are one message to each server. Ids that are only reshaped are so before the first lookup. The lookups, and passes over them,
// stay what they are. `ops` is what will run; variables for the numbers are added to `program`. An operator that reads such a
// table otherwise is an error that names it: it would see the rows of a batch, or none.
Status pull_remote_rows(std::vector<graph::OpDesc>& ops, graph::Program& program, const RemoteParameters& remote);

}  // namespace argosy::engine
