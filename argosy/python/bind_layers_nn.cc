#include "argosy/graph/layers/fill.h"
#include "argosy/graph/layers/nn.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

// A layer's binding: its arguments as fluid.layers has them, moved into the options of the C++ function.
namespace argosy::python {

using graph::DType;
using graph::ParamAttr;
using graph::Variable;

namespace {

using Embedding = Variable (*)(const Variable&, const std::vector<int64_t>&, const layers::EmbeddingOptions&);

void bind_embedding(py::module_& m, const char* name, Embedding function, const char* doc) {
  m.def(
      name,
      [function](const Variable& input, const std::vector<int64_t>& size, bool is_sparse, bool is_distributed,
                 std::optional<int64_t> padding_idx, const ParamAttr& param_attr, DType dtype) {
        return function(input, size,
                        {.is_sparse = is_sparse,
                         .is_distributed = is_distributed,
                         .padding_idx = padding_idx,
                         .param = param_attr,
                         .dtype = dtype});
      },
      py::arg("input"), py::arg("size"), py::arg("is_sparse") = false, py::arg("is_distributed") = false,
      py::arg("padding_idx") = py::none(), py::arg("param_attr") = py::none(), py::arg("dtype") = "float32", doc);
}

void bind_data_and_fc(py::module_& m) {
  m.def(
      "data",
      [](const std::string& name, const std::vector<std::optional<int64_t>>& shape, bool append_batch_size, DType dtype,
         int32_t lod_level, const py::object&, bool stop_gradient) {
        std::vector<int64_t> sizes;
        for (const auto& size : shape) sizes.push_back(size.value_or(-1));
        return layers::data(name, sizes, dtype,
                            {.append_batch_size = append_batch_size, .lod_level = lod_level, .stop_gradient = stop_gradient});
      },
      py::arg("name"), py::arg("shape"), py::arg("append_batch_size") = true, py::arg("dtype") = "float32",
      py::arg("lod_level") = 0, py::arg("type") = py::none(), py::arg("stop_gradient") = true,
      R"(A variable to feed. Its shape gets -1 in front, for the batch, unless it has one or append_batch_size is False.

    >>> fluid.layers.data("x", [4]).shape
    (-1, 4)
    )");
  m.def(
      "fc",
      [](const OneOrMore& input, int64_t size, int32_t num_flatten_dims, const ParamAttrs& param_attr, const ParamAttr& bias_attr,
         const Text& act, const Text& name) {
        layers::FcOptions options{.num_flatten_dims = num_flatten_dims, .bias = bias_attr, .act = act, .name = name};
        if (param_attr.values.size() == 1)
          options.param = param_attr.values[0];
        else
          options.params = param_attr.values;
        return layers::fc(input.values, size, options);
      },
      py::arg("input"), py::arg("size"), py::arg("num_flatten_dims") = 1, py::arg("param_attr") = py::none(),
      py::arg("bias_attr") = py::none(), py::arg("act") = py::none(), py::arg("name") = py::none(),
      R"(act(sum of input @ weights + bias).

    >>> x = fluid.data("x", [None, 4])
    >>> fluid.layers.fc(x, size=2, act="relu").shape
    (-1, 2)
    )");
}

}  // namespace

void bind_layers_nn(py::module_& m) {
  bind_data_and_fc(m);
  bind_embedding(m, "embedding", &layers::embedding, R"(Rows of a table by id; the last dimension of the ids is 1 and is dropped.

    >>> ids = fluid.data("ids", [None, 1], "int64")
    >>> fluid.layers.embedding(ids, size=[100, 8], is_sparse=True).shape
    (-1, 8)
    )");
  bind_embedding(m, "embedding_v2", &layers::embedding_v2, R"(Rows of a table by id; the ids keep all their dimensions.

    >>> ids = fluid.data("ids", [None, 3], "int64")
    >>> fluid.embedding(ids, size=[100, 8]).shape
    (-1, 3, 8)
    )");
  m.def(
      "sparse_embedding",
      [](const Variable& input, const std::vector<int64_t>& size, std::optional<int64_t> padding_idx, bool is_test,
         const std::string& entry, const std::string& table_class, const ParamAttr& param_attr, DType dtype, int32_t slot) {
        return layers::sparse_embedding(input, size,
                                        {.padding_idx = padding_idx,
                                         .is_test = is_test,
                                         .entry = entry,
                                         .table_class = table_class,
                                         .param = param_attr,
                                         .dtype = dtype,
                                         .slot = slot});
      },
      py::arg("input"), py::arg("size"), py::arg("padding_idx") = py::none(), py::arg("is_test") = false,
      py::arg("entry") = "none", py::arg("table_class") = "MemorySparseTable", py::arg("param_attr") = py::none(),
      py::arg("dtype") = "float32", py::arg("slot") = 0, R"(A table that lives on the parameter servers.

    >>> ids = fluid.data("ids", [None, 1], "int64")
    >>> rows = fluid.layers.sparse_embedding(ids, size=[100, 8])
    )");
}

}  // namespace argosy::python
