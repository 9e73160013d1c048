#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>

#include "argosy/engine/program/model_io.h"
#include "argosy/engine/program/scope.h"
#include "argosy/engine/remote/remote_rows.h"
#include "argosy/engine/train/runner.h"
#include "argosy/fleet/process_context.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"
#include "argosy/python/interrupt.h"
#include "argosy/python/numpy_array.h"

namespace argosy::python {

using engine::Lod;
using engine::RemoteParameters;
using engine::Runner;
using engine::Scope;
using engine::Value;

namespace {

Lod lengths_to_offsets(const Lod& lengths) {
  Lod offsets;
  for (const auto& level : lengths) {
    auto& added = offsets.emplace_back(std::vector<int64_t>{0});
    for (int64_t length : level) added.push_back(added.back() + length);
  }
  return offsets;
}

Lod offsets_to_lengths(const Lod& offsets) {
  Lod lengths;
  for (const auto& level : offsets) {
    auto& added = lengths.emplace_back();
    for (size_t i = 1; i < level.size(); ++i) added.push_back(level[i] - level[i - 1]);
  }
  return lengths;
}

// Each level starts at 0, does not fall, and ends at the number of parts of the next, the last at the number of rows.
Status check_lod(const Lod& lod, int64_t rows) {
  for (size_t i = 0; i < lod.size(); ++i) {
    const auto& level = lod[i];
    if (level.empty() || level[0] != 0) return Status::invalid_argument("level {} of the LoD does not start at 0", i);
    if (!std::is_sorted(level.begin(), level.end())) return Status::invalid_argument("level {} of the LoD falls", i);
    const int64_t parts = i + 1 < lod.size() ? static_cast<int64_t>(lod[i + 1].size()) - 1 : rows;
    if (level.back() != parts) {
      return Status::invalid_argument("level {} of the LoD ends at {}, but there are {} {} below it", i, level.back(), parts,
                                      i + 1 < lod.size() ? "sequences" : "rows");
    }
  }
  return {};
}

int64_t rows_of(const Value& value) { return value.tensor.defined() && value.tensor.dim() > 0 ? value.tensor.size(0) : 0; }

void set_lod(const TensorHandle& handle, Lod lod) {
  if (lod.empty()) {
    handle.value->lod = nullptr;
    return;
  }
  if (handle.value->tensor.defined()) throw_if_error(check_lod(lod, rows_of(*handle.value)));
  handle.value->lod = std::make_shared<const Lod>(std::move(lod));
}

Lod lod_of(const TensorHandle& handle) { return handle.value->lod == nullptr ? Lod{} : *handle.value->lod; }

// Gives the servers the value that a variable of theirs is set to. False: an earlier start of this worker had set it here, and
// the handle has what they hold now.
bool store_remote(const TensorHandle& handle, const at::Tensor& given) {
  const at::Tensor tensor = given.to(at::kFloat).contiguous();
  const engine::RemoteVariable& variable = *handle.remote->find(handle.name);
  if (tensor.sizes().vec() != variable.shape) {
    throw Error(Status::invalid_argument("variable '{}' was set to shape {}; on the servers it has {}", handle.name,
                                         graph::shape_to_string(tensor.sizes().vec()), graph::shape_to_string(variable.shape)));
  }
  const std::span values(tensor.const_data_ptr<float>(), static_cast<size_t>(tensor.numel()));
  bool before = false;
  run_without_gil([&] {
    const auto store = [&](uint64_t) -> Result<std::string> {
      RETURN_IF_ERROR(handle.remote->store(handle.name, values));
      return std::string();
    };
    before = value_or_throw(handle.remote->once("set", handle.name, store)).before;
    if (before && variable.kind != engine::RemoteVariable::dense)
      handle.value->tensor = value_or_throw(engine::fetch_remote(*handle.remote, handle.name));
  });
  return !before;
}

// Writes into the memory that is there where shape and dtype agree: others may share it.
void set_data(const TensorHandle& handle, const py::object& data) {
  at::Tensor fresh = tensor_from_python(data);
  if (handle.remote != nullptr && !store_remote(handle, fresh)) return;
  Value& value = *handle.value;
  const bool fits =
      value.tensor.defined() && value.tensor.sizes() == fresh.sizes() && value.tensor.scalar_type() == fresh.scalar_type();
  if (fits)
    value.tensor.copy_(fresh);
  else
    value.tensor = std::move(fresh);
  value.rows = nullptr;
}

std::vector<int64_t> shape_of(const TensorHandle& handle) {
  const Value& value = *handle.value;
  if (value.rows != nullptr) return {value.rows->height, value.rows->width};
  return value.tensor.defined() ? value.tensor.sizes().vec() : std::vector<int64_t>{};
}

py::object array_protocol(const TensorHandle& handle, const py::object& dtype, const py::object& copy) {
  const py::object array = array_from_value(*handle.value);
  return dtype.is_none() ? array : array.attr("astype")(dtype);
}

Value value_from_python(const graph::Program& program, const std::string& name, const py::object& given) {
  if (py::isinstance<TensorHandle>(given)) return *given.cast<const TensorHandle&>().value;
  const graph::VarDesc* variable = program.global_block().find_var(name);
  const bool is_array = py::hasattr(given, "__array__");
  Value value;
  try {
    value.tensor = tensor_from_python(given, variable != nullptr && !is_array ? std::optional(variable->dtype) : std::nullopt);
  } catch (const Error& error) {
    throw Error(error.status().with_context("variable '{}'", name));
  }
  return value;
}

engine::Feed feed_from_python(const graph::Program& program, const py::dict& feed) {
  engine::Feed values;
  for (const auto& [name, value] : feed) {
    const auto key = name.cast<std::string>();
    values[key] = value_from_python(program, key, py::reinterpret_borrow<py::object>(value));
  }
  return values;
}

std::vector<TensorHandle> handles(std::vector<Value> values) {
  std::vector<TensorHandle> result;
  for (Value& value : values) result.push_back({std::make_shared<Value>(std::move(value))});
  return result;
}

std::vector<TensorHandle> run(Runner& runner, const graph::Program& program, const py::dict& feed,
                              const std::vector<std::string>& fetches, Scope& scope) {
  const engine::Feed values = feed_from_python(program, feed);
  std::vector<Value> fetched;
  run_without_gil([&] { fetched = value_or_throw(runner.run(program, values, fetches, scope)); });
  return handles(std::move(fetched));
}

std::vector<std::vector<TensorHandle>> run_parallel(Runner& runner, const graph::Program& program,
                                                    const std::vector<py::dict>& feeds, const std::vector<std::string>& fetches,
                                                    Scope& scope) {
  std::vector<engine::Feed> values;
  for (const py::dict& feed : feeds) values.push_back(feed_from_python(program, feed));
  std::optional<Result<std::vector<std::vector<Value>>>> fetched;
  run_interruptibly([&] { fetched = runner.run_parallel(program, values, fetches, scope); });
  std::vector<std::vector<TensorHandle>> result;
  for (std::vector<Value>& one : value_or_throw(std::move(*fetched))) result.push_back(handles(std::move(one)));
  return result;
}

// Element `i` of a tensor as one line.
at::Tensor element(const TensorHandle& handle, int64_t i) {
  const at::Tensor& tensor = handle.value->tensor;
  if (!tensor.defined() || i < 0 || i >= tensor.numel()) {
    throw Error(Status::invalid_argument("element {} of a tensor that has {}", i, tensor.defined() ? tensor.numel() : 0));
  }
  return tensor.view({-1})[i];
}

double get_element(const TensorHandle& handle, int64_t i) { return element(handle, i).item().toDouble(); }
void set_element(const TensorHandle& handle, int64_t i, double value) { element(handle, i).fill_(value); }

// The small methods that scripts of 1.x use.
void bind_tensor_details(py::class_<TensorHandle>& tensor) {
  tensor.def("_get_float_element", &get_element, py::arg("index"))
      .def("_get_double_element", &get_element, py::arg("index"))
      .def("_set_float_element", &set_element, py::arg("index"), py::arg("value"))
      .def("_set_double_element", &set_element, py::arg("index"), py::arg("value"))
      .def("_clear", [](const TensorHandle& t) { *t.value = Value(); })
      .def(
          "_set_dims",
          [](const TensorHandle& t, const std::vector<int64_t>& shape) {
            t.value->tensor = t.value->tensor.defined() ? t.value->tensor.reshape(shape) : at::zeros(shape, at::kFloat);
          },
          py::arg("dims"))
      .def(
          "_share_data_with", [](const TensorHandle& t, const TensorHandle& other) { t.value->tensor = other.value->tensor; },
          py::arg("other"))
      .def(
          "_copy",
          [](const TensorHandle& t, const py::object&) {
            Value copy = *t.value;
            if (copy.tensor.defined()) copy.tensor = copy.tensor.clone();
            return TensorHandle{std::make_shared<Value>(std::move(copy))};
          },
          py::arg("place") = py::none());
}

void bind_tensor(py::module_& m) {
  py::class_<TensorHandle> tensor(m, "LoDTensor", R"(A tensor with levels of sequence boundaries.

    >>> tensor = fluid.create_lod_tensor(np.array([[1], [2], [3]]), [[2, 1]])
    >>> tensor.lod()
    [[0, 2, 3]]
    )");
  bind_tensor_details(tensor);
  tensor.def(py::init<>())
      .def(
          "set", [](const TensorHandle& t, const py::object& array, const py::object&) { set_data(t, array); }, py::arg("array"),
          py::arg("place") = py::none())
      .def("shape", &shape_of)
      .def("_dtype",
           [](const TensorHandle& t) {
             return t.value->tensor.defined() ? engine::dtype_of(t.value->tensor) : graph::DType::float32;
           })
      .def("_is_initialized", [](const TensorHandle& t) { return t.value->defined(); })
      .def("lod", &lod_of, "The offsets of each level, outermost first.")
      .def("set_lod", &set_lod, py::arg("lod"))
      .def("recursive_sequence_lengths", [](const TensorHandle& t) { return offsets_to_lengths(lod_of(t)); })
      .def(
          "set_recursive_sequence_lengths",
          [](const TensorHandle& t, const Lod& lengths) { set_lod(t, lengths_to_offsets(lengths)); },
          py::arg("recursive_sequence_lengths"))
      .def("has_valid_recursive_sequence_lengths",
           [](const TensorHandle& t) { return check_lod(lod_of(t), rows_of(*t.value)).ok(); })
      .def("__array__", &array_protocol, py::arg("dtype") = py::none(), py::arg("copy") = py::none())
      .def("__len__", [](const TensorHandle& t) { return rows_of(*t.value); });
}

using SharedScope = std::shared_ptr<Scope>;

SharedScope unowned(Scope& scope) { return SharedScope(SharedScope(), &scope); }

// A variable of a scope; scripts write scope.find_var(name).get_tensor().
struct ScopeVariable {
  std::string name;
  TensorHandle tensor;
};

// A copy of what the servers hold of a variable that the scope has no copy of.
TensorHandle fetched_from_servers(std::shared_ptr<RemoteParameters> remote, const std::string& name) {
  TensorHandle handle{.remote = std::move(remote), .name = name};
  run_without_gil([&] { handle.value->tensor = value_or_throw(engine::fetch_remote(*handle.remote, name)); });
  return handle;
}

std::optional<ScopeVariable> find_in_scope(const SharedScope& scope, const std::string& name) {
  auto remote = scope->remote();
  const engine::RemoteVariable* held = remote == nullptr ? nullptr : remote->find(name);
  if (held != nullptr && held->kind != engine::RemoteVariable::dense)
    return ScopeVariable{name, fetched_from_servers(std::move(remote), name)};
  Value* found = scope->find(name);
  if (found == nullptr) return std::nullopt;
  return ScopeVariable{name, {std::shared_ptr<Value>(scope, found), held == nullptr ? nullptr : std::move(remote), name}};
}

ScopeVariable make_in_scope(const SharedScope& scope, const std::string& name) {
  const auto remote = scope->remote();
  if (remote != nullptr && remote->find(name) != nullptr) {
    if (auto held = find_in_scope(scope, name)) return *held;
  }
  return {name, {std::shared_ptr<Value>(scope, &scope->var(name))}};
}

bool trains_on_servers(const graph::Program& program) {
  const auto& ops = program.global_block().ops();
  return std::any_of(ops.begin(), ops.end(), [](const auto& op) { return op->type == engine::kSendOp; });
}

void bind_scope(py::module_& m) {
  py::class_<ScopeVariable>(m, "ScopeVariable", "A variable of a scope.")
      .def_readonly("name", &ScopeVariable::name)
      .def("get_tensor", [](const ScopeVariable& v) { return v.tensor; });
  py::class_<Scope, SharedScope>(m, "Scope", R"(The variables that outlive a run, by name.

    >>> scope = fluid.Scope()
    >>> with fluid.scope_guard(scope):
    ...     _ = fluid.Executor().run(fluid.default_startup_program())
    )")
      .def(py::init([] { return std::make_shared<Scope>(); }))
      .def("find_var", &find_in_scope, py::arg("name"), "The variable, here or in a parent; None where there is none.")
      .def("var", &make_in_scope, py::arg("name"), "The variable, made here where there is none.")
      .def("new_scope", [](const SharedScope& s) { return SharedScope(s, &s->new_child()); })
      .def("drop_kids", &Scope::drop_children)
      .def(
          "erase",
          [](Scope& s, const std::vector<std::string>& names) {
            for (const auto& name : names) s.erase(name);
          },
          py::arg("names"))
      .def("local_var_names", &Scope::names)
      .def_property_readonly("_id", &Scope::id);
  m.def(
      "global_scope", [] { return unowned(global_scope()); },
      R"(The scope of this process, which programs use where they are given no other.

    >>> _ = fluid.layers.create_global_var([1], 2.0, "float32", persistable=True, name="two")
    >>> _ = fluid.Executor().run(fluid.default_startup_program())
    >>> np.array(fluid.global_scope().find_var("two").get_tensor()).tolist()
    [2.0]
    )");
  m.def("switch_global_scope", [](Scope* scope) { switch_global_scope(scope); }, py::arg("scope"));
}

}  // namespace

void bind_engine(py::module_& m) {
  bind_tensor(m);
  bind_scope(m);
  py::class_<Runner>(m, "Runner", "Runs programs, each prepared once for its feeds and fetches.")
      .def(py::init([](bool bfloat16_matmul, bool fuse, bool capture, const std::string& device, bool check_finite) {
             return std::make_unique<Runner>(engine::ExecutorOptions{.bfloat16_matmul = bfloat16_matmul,
                                                                     .fuse = fuse,
                                                                     .check_finite = check_finite,
                                                                     .capture = capture,
                                                                     .device = c10::Device(device)},
                                             fleet::process_context());
           }),
           py::arg("bfloat16_matmul") = false, py::arg("fuse") = true, py::arg("capture") = false, py::arg("device") = "cpu",
           py::arg("check_finite") = false)
      .def("run", &run, py::arg("program"), py::arg("feed"), py::arg("fetches"), py::arg("scope"))
      .def("run_parallel", &run_parallel, py::arg("program"), py::arg("feeds"), py::arg("fetches"), py::arg("scope"))
      .def(
          "capture_report",
          [](const Runner& runner, const graph::Program& program) {
            const engine::CaptureReport report = runner.capture_report(program);
            return std::pair(report.replays, report.why_not);
          },
          py::arg("program"),
          "How many steps of a program were replays of a recorded one, and why not more; empty: nothing is against it.")
      .def("clear", &Runner::clear);
  m.def("to_array", [](const TensorHandle& t) { return array_from_value(*t.value); }, py::arg("tensor"));
  m.def("trains_on_servers", &trains_on_servers, py::arg("program"), "Whether a run sends gradients to parameter servers.");
  m.def(
      "leave_servers",
      [](const Scope& s) {
        if (const auto remote = s.remote()) run_without_gil([&] { throw_if_error(remote->close()); });
      },
      py::arg("scope"), "The worker that this scope belongs to is done; nothing where it belongs to none.");
  m.def(
      "refresh",
      [](const Scope& s) {
        if (const auto remote = s.remote()) run_without_gil([&] { throw_if_error(remote->refresh()); });
      },
      py::arg("scope"), "The scope's parameters become the servers' current ones; nothing where no servers hold them.");
  m.def("manual_seed", [](uint64_t seed) { at::manual_seed(seed); }, py::arg("seed"));
  m.def("gpu_count", [] { return static_cast<int64_t>(at::getNumGPUs()); });
  m.def("set_num_threads", [](int threads) { at::set_num_threads(threads); }, py::arg("threads"));
}

}  // namespace argosy::python
