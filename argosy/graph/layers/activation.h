#pragma once

#include <optional>
#include <string>

#include "argosy/graph/layers/types.h"

// Functions of every element of a variable, with the names, operators and shapes of fluid.layers: each adds one operator to
// the default main program. `name` replaces the generated name. They throw argosy::Error. Confined to the building thread.
namespace argosy::layers {

Variable relu(const Variable& x, const std::string& name = "");
Variable sigmoid(const Variable& x, const std::string& name = "");
Variable logsigmoid(const Variable& x, const std::string& name = "");
Variable tanh(const Variable& x, const std::string& name = "");
Variable tanh_shrink(const Variable& x, const std::string& name = "");
Variable softsign(const Variable& x, const std::string& name = "");
Variable softplus(const Variable& x, const std::string& name = "");
Variable exp(const Variable& x, const std::string& name = "");
Variable log(const Variable& x, const std::string& name = "");
Variable sqrt(const Variable& x, const std::string& name = "");
Variable rsqrt(const Variable& x, const std::string& name = "");
Variable square(const Variable& x, const std::string& name = "");
Variable abs(const Variable& x, const std::string& name = "");
Variable ceil(const Variable& x, const std::string& name = "");
Variable floor(const Variable& x, const std::string& name = "");
Variable round(const Variable& x, const std::string& name = "");  // halves away from zero
Variable reciprocal(const Variable& x, const std::string& name = "");
Variable sin(const Variable& x, const std::string& name = "");
Variable cos(const Variable& x, const std::string& name = "");
Variable asin(const Variable& x, const std::string& name = "");
Variable acos(const Variable& x, const std::string& name = "");
Variable atan(const Variable& x, const std::string& name = "");
Variable erf(const Variable& x);
Variable sign(const Variable& x);

Variable relu6(const Variable& x, float threshold = 6.0f, const std::string& name = "");
Variable leaky_relu(const Variable& x, float alpha = 0.02f, const std::string& name = "");
Variable elu(const Variable& x, float alpha = 1.0f, const std::string& name = "");
Variable gelu(const Variable& x, bool approximate = false);
Variable swish(const Variable& x, float beta = 1.0f, const std::string& name = "");
Variable hard_sigmoid(const Variable& x, float slope = 0.2f, float offset = 0.5f, const std::string& name = "");
Variable hard_swish(const Variable& x, float threshold = 6.0f, float scale = 6.0f, float offset = 3.0f,
                    const std::string& name = "");
Variable pow(const Variable& x, float factor = 1.0f, const std::string& name = "");
Variable pow(const Variable& x, const Variable& factor, const std::string& name = "");

Variable softmax(const Variable& input, int32_t axis = -1, const std::string& name = "");
// softmax, then log, as fluid.layers writes it. `dtype` converts the input first.
Variable log_softmax(const Variable& input, int32_t axis = -1, std::optional<DType> dtype = std::nullopt,
                     const std::string& name = "");

}  // namespace argosy::layers
