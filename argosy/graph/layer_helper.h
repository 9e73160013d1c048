#pragma once

#include <optional>
#include <string>
#include <vector>

#include "argosy/graph/initializer.h"
#include "argosy/graph/variable.h"

namespace argosy::graph {

// How a layer's parameter is made: everything may be left out.
struct ParamAttr {
  ParamAttr() = default;
  ParamAttr(const char* parameter_name) : name(parameter_name) {}
  ParamAttr(std::string parameter_name) : name(std::move(parameter_name)) {}
  ParamAttr(Initializer first_values) : initializer(std::move(first_values)) {}

  std::string name;  // generated where empty
  std::optional<Initializer> initializer;
  float learning_rate = 1.0f;
  std::optional<optim::Regularization> regularizer;
  std::optional<optim::GradientClip> gradient_clip;
  bool trainable = true;
  bool need_clip = true;
  // Taken for PaddlePaddle's sake: there is no ModelAverage to read it. Where it is set a warning says so, once per process.
  std::optional<bool> do_model_average;
  bool absent = false;  // no such parameter: `bias_attr=False`

  static ParamAttr none() {
    ParamAttr attr;
    attr.absent = true;
    return attr;
  }
};

// What every layer function needs: names, parameters with their startup operators, temporary variables, operators. Works on
// the default programs. Throws argosy::Error, as the layer functions do. Confined to the building thread.
class LayerHelper {
 public:
  // `name` is the user's, or empty: then one is generated from `type`.
  LayerHelper(std::string type, const std::string& name);

  const std::string& name() const { return name_; }

  // A parameter named attr.name or "<layer>.w_<n>" ("b" for a bias). One that exists under that name is shared; its shape must
  // agree.
  Variable create_parameter(const ParamAttr& attr, std::vector<int64_t> shape, DType dtype, bool is_bias = false,
                            std::optional<Initializer> otherwise = std::nullopt);
  // "<layer>.tmp_<n>".
  Variable create_tmp(DType dtype = DType::float32, bool stop_gradient = false);
  // A persistable variable of the main program with its first values set in the startup program; not a parameter.
  Variable create_state(const std::string& variable_name, std::vector<int64_t> shape, DType dtype, const Initializer& init);

  OpDesc& append_op(OpDesc op);
  // Adds `type` with X -> Out and returns Out.
  Variable append_unary(const std::string& op_type, const Variable& x, AttributeMap attributes = {});
  Variable append_bias(const Variable& x, const ParamAttr& bias, int32_t axis);  // x where bias.absent
  Variable append_activation(const Variable& x, const std::string& act);         // x where act is empty

  Program& main() const { return *main_; }

 private:
  std::string type_, name_;
  std::shared_ptr<Program> main_, startup_;
};

}  // namespace argosy::graph
