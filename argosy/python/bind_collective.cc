#include <torch/csrc/utils/pybind.h>

#include "argosy/base/rank_info.h"
#include "argosy/base/resume.h"
#include "argosy/base/spare.h"
#include "argosy/collective/data_parallel.h"
#include "argosy/collective/group.h"
#include "argosy/collective/group_batch_norm.h"
#include "argosy/collective/local_sgd.h"
#include "argosy/fleet/collective_training.h"
#include "argosy/fleet/process_context.h"
#include "argosy/fleet/shared_program.h"
#include "argosy/fleet/step_loop.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"
#include "argosy/python/interrupt.h"

// Groups of processes and the data-parallel reducer. Tensors come from torch's Python package, which their caller has loaded;
// bytes and barriers do without. Whatever waits for another process releases the GIL and ends at Ctrl-C.
namespace argosy::python {

using collective::DataParallel;
using collective::DataParallelOptions;
using collective::Group;
using collective::LocalSgd;
using collective::NamedTensor;
using collective::ReduceOp;
using fleet::StepLoop;

namespace {

using SharedGroup = std::shared_ptr<Group>;
using Names = std::vector<std::pair<std::string, at::Tensor>>;

// What `call` gives, a Status or a Result, without the GIL.
template <typename Call>
auto waited(Call call) {
  std::optional<decltype(call())> answer;
  run_without_gil([&] {
    answer.emplace(call());
    if constexpr (std::is_same_v<decltype(call()), Status>) {
      throw_if_error(*answer);
    } else {
      throw_if_error(answer->status());
    }
  });
  if constexpr (!std::is_same_v<decltype(call()), Status>) return std::move(*answer).value();
}

ReduceOp reduce_op(const std::string& name) { return value_or_throw(collective::parse_reduce_op(name)); }

std::vector<NamedTensor> named(const Names& names) {
  std::vector<NamedTensor> result;
  for (const auto& [name, tensor] : names) result.push_back({name, tensor});
  return result;
}

py::list bytes_list(const std::vector<std::string>& all) {
  py::list result;
  for (const std::string& one : all) result.append(py::bytes(one));
  return result;
}

RankInfo user_place(int rank, const std::vector<std::string>& endpoints) {
  RankInfo place = value_or_throw(rank_info_from_environment());
  place.rank = place.local_rank = rank;
  place.world_size = place.local_world_size = static_cast<int>(endpoints.size());
  place.endpoints = endpoints;
  if (rank < 0 || rank >= place.world_size) {
    throw Error(Status::invalid_argument("rank {} of {} processes, which are numbered from 0", rank, place.world_size));
  }
  const auto colon = endpoints[0].rfind(':');
  place.master_host = endpoints[0].substr(0, colon);
  place.master_port = colon == std::string::npos ? 0 : std::atoi(endpoints[0].c_str() + colon + 1);
  place.master_is_hosted = false;
  return place;
}

// The only process of its job, on the device that was chosen for it.
RankInfo place_alone(const RankInfo& found) {
  RankInfo alone;
  alone.device = found.device;
  alone.restart = found.restart;
  alone.resume = found.resume;
  return alone;
}

// A worker of a job without servers, for the queries of fleet.
fleet::RoleInfo collective_role(const RankInfo& place) {
  return {.index = place.rank, .worker_count = place.world_size, .server_endpoints = {}, .worker_endpoints = place.endpoints};
}

void bind_place(py::module_& m) {
  py::class_<RankInfo>(m, "RankInfo", "Which process of how many this is in a job of equals.")
      .def_readonly("rank", &RankInfo::rank)
      .def_readonly("world_size", &RankInfo::world_size)
      .def_readonly("local_rank", &RankInfo::local_rank)
      .def_readonly("local_world_size", &RankInfo::local_world_size)
      .def_readonly("endpoints", &RankInfo::endpoints)
      .def_readonly("restart", &RankInfo::restart)
      .def_readonly("resume", &RankInfo::resume)
      .def_readwrite("device", &RankInfo::device);
  m.def("rank_info_from_environment", [] {
    RankInfo place;
    run_without_gil([&] { place = value_or_throw(rank_info_from_environment()); });
    return place;
  });
  m.def("variables_of_place", &variables_of_place);
  m.def("user_place", &user_place, py::arg("rank"), py::arg("endpoints"));
  m.def("place_alone", &place_alone, py::arg("found"));
  m.def("collective_role", &collective_role, py::arg("place"));
  m.def("note_checkpoint", [](const std::string& path) { throw_if_error(note_checkpoint(path)); }, py::arg("path"));
  m.def("checkpoint_to_resume", &checkpoint_to_resume);
}

// The job of this process; see fleet/collective_training.h.
void bind_job(py::module_& m) {
  m.def(
      "announce_job",
      [](const RankInfo& place, const std::map<std::string, std::string>& settings) {
        run_without_gil([&] { fleet::announce({.settings = settings}, place); });
      },
      py::arg("place"), py::arg("settings"));
  m.def("job_world", [] {
    SharedGroup world;
    run_without_gil([&] { world = fleet::world(); });
    return world;
  });
  m.def("job_met", &fleet::met);
  m.def("leave_job", &fleet::leave, py::call_guard<py::gil_scoped_release>());
  m.def(
      "share_gradients",
      [](graph::Program& main, graph::Program& startup, double piece_mb, bool half_precision, int merge_steps, bool merge_average,
         int local_steps, int local_begin, bool sync_batch_norm) {
        throw_if_error(fleet::share_gradients(main, startup, *fleet::process_context(), fleet::collective_job(),
                                              {.average = {.piece_mb = piece_mb, .half_precision = half_precision},
                                               .merge_steps = merge_steps,
                                               .merge_average = merge_average,
                                               .local_steps = local_steps,
                                               .local_begin = local_begin,
                                               .sync_batch_norm = sync_batch_norm}));
      },
      py::arg("main"), py::arg("startup"), py::kw_only(), py::arg("piece_mb"), py::arg("half_precision"), py::arg("merge_steps"),
      py::arg("merge_average"), py::arg("local_steps"), py::arg("local_begin"), py::arg("sync_batch_norm"));
}

void bind_members(py::class_<Group, SharedGroup>& group) {
  group
      .def(
          "subgroup", [](Group& g, const std::vector<int>& ranks) { return waited([&] { return g.subgroup(ranks); }); },
          py::arg("ranks"))
      .def_property_readonly("rank", &Group::rank)
      .def_property_readonly("size", &Group::size)
      .def_property_readonly("generation", &Group::generation)
      .def_property_readonly("survives", [](const Group& g) { return g.generations() != nullptr; })
      .def_property_readonly("ranks", &Group::ranks);
}

void bind_collectives(py::class_<Group, SharedGroup>& group) {
  group
      .def("all_reduce", [](Group& g, at::Tensor tensor,
                            const std::string& op) { waited([&] { return g.all_reduce(tensor, reduce_op(op)); }); })
      .def("reduce", [](Group& g, at::Tensor tensor, int to,
                        const std::string& op) { waited([&] { return g.reduce(tensor, to, reduce_op(op)); }); })
      .def("broadcast", [](Group& g, at::Tensor tensor, int from) { waited([&] { return g.broadcast(tensor, from); }); })
      .def("broadcast_all",
           [](Group& g, std::vector<at::Tensor> tensors, int from) { waited([&] { return g.broadcast(tensors, from); }); })
      .def("all_gather", [](Group& g, const at::Tensor& tensor) { return waited([&] { return g.all_gather(tensor); }); })
      .def("reduce_scatter",
           [](Group& g, const std::vector<at::Tensor>& inputs, const std::string& op) {
             return waited([&] { return g.reduce_scatter(inputs, reduce_op(op)); });
           })
      .def("send", [](Group& g, const at::Tensor& tensor, int to) { waited([&] { return g.send(tensor, to); }); })
      .def("recv", [](Group& g, at::Tensor tensor, int from) { waited([&] { return g.recv(tensor, from); }); })
      .def("barrier", [](Group& g) { waited([&] { return g.barrier(); }); })
      .def("all_gather_bytes",
           [](Group& g, const py::bytes& bytes) {
             const std::string own = bytes;
             return bytes_list(waited([&] { return g.all_gather(own); }));
           })
      .def("broadcast_bytes", [](Group& g, const py::bytes& bytes, int from) {
        const std::string own = bytes;
        return py::bytes(waited([&] { return g.broadcast(own, from); }));
      });
}

void bind_data_parallel(py::module_& m) {
  py::class_<DataParallelOptions>(m, "DataParallelOptions", "How gradients travel.")
      .def(py::init<>())
      .def_readwrite("bucket_mb", &DataParallelOptions::bucket_mb)
      .def_readwrite("first_bucket_mb", &DataParallelOptions::first_bucket_mb)
      .def_readwrite("find_unused_parameters", &DataParallelOptions::find_unused_parameters)
      .def_readwrite("gradient_as_bucket_view", &DataParallelOptions::gradient_as_bucket_view)
      .def_readwrite("broadcast_buffers", &DataParallelOptions::broadcast_buffers)
      .def_readwrite("sparse", &DataParallelOptions::sparse)
      .def_readwrite("reduce_alone", &DataParallelOptions::reduce_alone)
      .def_property("gradient_type", nullptr, [](DataParallelOptions& options, const std::string& name) {
        options.gradient_type = value_or_throw(collective::parse_gradient_type(name));
      });
  py::class_<DataParallel>(m, "DataParallel", "A model's copy in each process of a group, kept equal.")
      .def(py::init([](SharedGroup group, const Names& parameters, const Names& buffers, const DataParallelOptions& options) {
             return waited([&] { return DataParallel::make(group, named(parameters), named(buffers), options); });
           }),
           py::arg("group"), py::arg("parameters"), py::arg("buffers"), py::arg("options"))
      .def(
          "before_forward", [](DataParallel& d, bool training) { waited([&] { return d.before_forward(training); }); },
          py::arg("training"))
      .def(
          "after_forward",
          [](DataParallel& d, const std::vector<at::Tensor>& outputs) { waited([&] { return d.after_forward(outputs); }); },
          py::arg("outputs"))
      .def("keep_buffers", &DataParallel::keep_buffers)
      .def("put_buffers_back", &DataParallel::put_buffers_back)
      .def("share_buffers", [](DataParallel& d) { waited([&] { return d.share_buffers(); }); })
      .def("renew", [](DataParallel& d) { waited([&] { return d.renew(); }); })
      .def_property("sync", &DataParallel::sync, &DataParallel::set_sync);
}

// Functions of Python that the loop calls without the GIL. What is not an Exception, KeyboardInterrupt above all, is no lost
// rank.
std::function<void()> called(const py::function& function) {
  return [function] {
    const py::gil_scoped_acquire acquire;
    try {
      function();
    } catch (const py::error_already_set& error) {
      if (error.matches(PyExc_Exception)) throw;
      throw StepLoop::Fatal{std::current_exception()};
    }
  };
}

fleet::LoopModel loop_model(const py::object& model) {
  const auto call = [&](const char* name) { return called(model.attr(name)); };
  return {.keep_buffers = call("keep_buffers"),
          .put_buffers_back = call("put_buffers_back"),
          .share_buffers = call("share_buffers"),
          .renew = call("renew"),
          .lend =
              [lend = py::function(model.attr("lend"))] {
                const py::gil_scoped_acquire acquire;
                return std::string(py::bytes(lend()));
              },
          .take =
              [take = py::function(model.attr("take"))](const std::string& bytes) {
                const py::gil_scoped_acquire acquire;
                take(py::bytes(bytes));
              }};
}

void bind_step_loop(py::module_& m) {
  py::class_<StepLoop>(m, "StepLoop", "Steps that all ranks take together, and that survive the loss of a rank.")
      .def(py::init([](SharedGroup group, const py::object& model) {
             return std::make_unique<StepLoop>(std::move(group), loop_model(model));
           }),
           py::arg("group"), py::arg("model"))
      .def("begin", [](StepLoop& loop) { run_without_gil([&] { loop.begin(); }); })
      .def(
          "step",
          [](StepLoop& loop, const py::function& body, const py::function& commit) {
            const fleet::LoopStep step{.body = called(body), .commit = called(commit)};
            run_without_gil([&] { loop.step(step); });
          },
          py::arg("body"), py::arg("commit"))
      .def("finish", [](StepLoop& loop) { run_without_gil([&] { loop.finish(); }); })
      .def_property_readonly("counted", &StepLoop::counted);
}

void bind_parts(py::module_& m) {
  py::class_<LocalSgd>(m, "LocalSgd", "Parameters that become their mean every few steps.")
      .def(py::init([](SharedGroup group, std::vector<at::Tensor> parameters, int k_steps, int begin_step, bool adaptive) {
             return std::make_unique<LocalSgd>(std::move(group), std::move(parameters),
                                               collective::LocalSgdOptions{k_steps, begin_step, adaptive});
           }),
           py::arg("group"), py::arg("parameters"), py::arg("k_steps"), py::arg("begin_step"), py::arg("adaptive"))
      .def(
          "step", [](LocalSgd& l, double loss, double rate) { return waited([&] { return l.step(loss, rate); }); },
          py::arg("loss"), py::arg("learning_rate"))
      .def_property_readonly("k_steps", &LocalSgd::k_steps);
  m.def(
      "sync_batch_norm",
      [](SharedGroup group, const at::Tensor& input, const std::optional<at::Tensor>& weight,
         const std::optional<at::Tensor>& bias, const at::Tensor& mean, const at::Tensor& variance, double momentum,
         double epsilon) {
        const collective::BatchNormState state{.weight = weight.value_or(at::Tensor()),
                                               .bias = bias.value_or(at::Tensor()),
                                               .running_mean = mean,
                                               .running_var = variance,
                                               .momentum = momentum,
                                               .eps = epsilon,
                                               .biased_var = true};
        at::Tensor output;
        run_without_gil([&] { output = collective::sync_batch_norm(input, state, /*training=*/true, std::move(group)); });
        return output;
      },
      py::arg("group"), py::arg("input"), py::arg("weight"), py::arg("bias"), py::arg("mean"), py::arg("variance"),
      py::arg("momentum"), py::arg("epsilon"));
}

}  // namespace

void bind_collective(py::module_& m) {
  bind_place(m);
  py::class_<Group, SharedGroup> group(m, "Group", "Processes that compute together.");
  bind_members(group);
  bind_collectives(group);
  bind_data_parallel(m);
  bind_job(m);
  bind_parts(m);
  bind_step_loop(m);
}

}  // namespace argosy::python
