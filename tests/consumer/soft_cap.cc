// An operator of a user's own.
#include <ATen/ATen.h>
#include <argosy/engine/program/op.h>

using argosy::engine::OpContext;

ARGOSY_OP("soft_cap",
          [](const OpContext& op) {
            const float cap = op.attr<float>("cap");
            if (!(cap > 0)) op.fail("attribute 'cap' is {}, expected a number above 0", cap);
            op.set_output("Out", cap * at::tanh(op.tensor("X") / cap), op.input("X").lod);
          })
    .doc("cap * tanh(x / cap): like x where x is small, and never beyond cap")
    .input("X", "any shape")
    .output("Out", "like X")
    .attr("cap", 1.0f, "the largest absolute value of the output")
    .infer_shape(argosy::graph::same_shape_as_x)
    .function({.signature = "soft_cap(x, cap=1.0, name=None)"});
