#include "argosy/base/log.h"
#include "argosy/data/in_memory_dataset.h"
#include "argosy/engine/train/evaluation_metrics.h"
#include "argosy/fleet/file_handout.h"
#include "argosy/fleet/fleet.h"
#include "argosy/fleet/job.h"
#include "argosy/fleet/leave.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"
#include "argosy/python/interrupt.h"

// Roles, strategies, and a process's life in its job. Whatever waits for another process releases the GIL and ends at Ctrl-C.
namespace argosy::python {

using fleet::Fleet;
using fleet::RemoteWorker;
using fleet::Role;
using fleet::RoleInfo;
using fleet::Strategy;

namespace {

// A call of a Fleet that waits for other processes.
template <typename Answer, typename FleetType, typename... Arguments>
auto waiting(Answer (*call)(FleetType&, Arguments...)) {
  return [call](FleetType& fleet, Arguments... arguments) {
    if constexpr (std::is_void_v<Answer>) {
      run_without_gil([&] { call(fleet, arguments...); });
    } else {
      std::optional<Answer> answer;
      run_without_gil([&] { answer.emplace(call(fleet, arguments...)); });
      return std::move(*answer);
    }
  };
}

LogLevel log_level(const std::string& name) {
  if (name == "debug") return LogLevel::debug;
  if (name == "info") return LogLevel::info;
  if (name == "warning" || name == "warn") return LogLevel::warning;
  if (name == "error" || name == "critical") return LogLevel::error;
  throw Error(Status::invalid_argument("log_level is DEBUG, INFO, WARNING or ERROR; found '{}'", name));
}

// Workers whose script changes the rate between runs: one tells the servers; in geo mode each has its own.
bool directs_rate(const RemoteWorker& worker) { return worker.index() == 0 || worker.plan().spec.mode == Mode::geo; }

std::optional<std::pair<std::string, double>> learning_rate(const RemoteWorker& worker) {
  if (worker.plan().learning_rate.empty()) return std::nullopt;
  return std::pair(worker.plan().learning_rate, worker.plan().first_rate());
}

void bind_roles(py::module_& m) {
  py::enum_<Role>(m, "Role").value("WORKER", Role::worker).value("SERVER", Role::server);
  py::class_<RoleInfo>(m, "RoleInfo", "Who this process is in its job, and who the others are.")
      .def_readonly("role", &RoleInfo::role)
      .def_readonly("index", &RoleInfo::index)
      .def_readonly("worker_count", &RoleInfo::worker_count)
      .def_readonly("server_endpoints", &RoleInfo::server_endpoints)
      .def_readonly("worker_endpoints", &RoleInfo::worker_endpoints);
  m.def("paddle_cloud_role", [] { return value_or_throw(fleet::paddle_cloud_role()); });
  m.def(
      "mpi_symmetric_role", [] { return value_or_throw(fleet::mpi_symmetric_role()); }, py::call_guard<py::gil_scoped_release>());
  m.def(
      "user_defined_role",
      [](int current_id, Role role, int worker_num, std::vector<std::string> servers, std::vector<std::string> workers) {
        return value_or_throw(fleet::user_defined_role(current_id, role, worker_num, std::move(servers), std::move(workers)));
      },
      py::arg("current_id"), py::arg("role"), py::arg("worker_num"), py::arg("server_endpoints"), py::arg("worker_endpoints"));
}

void bind_strategy(py::module_& m) {
  py::enum_<Mode>(m, "Mode")
      .value("sync", Mode::sync)
      .value("half_async", Mode::half_async)
      .value("async_", Mode::async)
      .value("geo", Mode::geo);
  py::class_<Strategy>(m, "Strategy", "How a parameter-server job trains.")
      .def(py::init<>())
      .def_readwrite("mode", &Strategy::mode)
      .def_readwrite("geo_k_steps", &Strategy::geo_k_steps)
      .def_readwrite("max_merge_var_num", &Strategy::max_merge_var_num)
      .def_readwrite("send_queue_size", &Strategy::send_queue_size)
      .def_readwrite("min_send_grad_num_before_recv", &Strategy::min_send_grad_num_before_recv)
      .def_readwrite("send_wait_times", &Strategy::send_wait_times)
      .def_readwrite("thread_pool_size", &Strategy::thread_pool_size)
      .def_readwrite("independent_recv_thread", &Strategy::independent_recv_thread)
      .def_readwrite("sum_merged", &Strategy::sum_merged)
      .def_readwrite("tables", &Strategy::tables)
      .def_readwrite("settings", &Strategy::settings);
}

void bind_worker(py::module_& m) {
  py::class_<RemoteWorker, std::shared_ptr<RemoteWorker>>(m, "RemoteWorker", "A worker's connection to the servers of its job.")
      .def("connected", &RemoteWorker::connected)
      .def(
          "fail", [](RemoteWorker& w, const std::string& why) { run_without_gil([&] { w.fail(why); }); }, py::arg("why"))
      .def("leave_at_exit", [](const std::shared_ptr<RemoteWorker>& w) { fleet::leave_at_exit(w); })
      .def(
          "meet_threads", [](RemoteWorker& w) { run_without_gil([&] { throw_if_error(w.meet_threads()); }); },
          "Trains as in a half-async job from here on.")
      .def("directs_rate", &directs_rate)
      .def("learning_rate", &learning_rate,
           "The (name, value) of the rate that servers use; None where they follow a schedule, or several rates.")
      .def(
          "own_rates", [](const RemoteWorker& w) { return w.plan().own_rates; },
          "Where parameters have several rates: the names and values of the constant ones.")
      .def(
          "set_learning_rate",
          [](RemoteWorker& w, double rate) { run_without_gil([&] { throw_if_error(w.set_rate(static_cast<float>(rate))); }); },
          py::arg("rate"));
}

void bind_server_stats(py::module_& m) {
  using ps::ServerStats;
  py::class_<ServerStats> stats(m, "ServerStats", "One server, as it says.");
  stats.def_readonly("batches", &ServerStats::batches, "applied, of all workers")
      .def_readonly("pushes", &ServerStats::pushes)
      .def_readonly("duplicates", &ServerStats::duplicates, "pushes that it had already")
      .def_readonly("bytes_in", &ServerStats::bytes_in)
      .def_readonly("bytes_out", &ServerStats::bytes_out)
      .def_readonly("log_bytes", &ServerStats::log_bytes)
      .def_readonly("snapshots", &ServerStats::snapshots)
      .def_readonly("tables", &ServerStats::tables)
      .def_readonly("workers", &ServerStats::workers)
      .def_property_readonly(
          "position", [](const ServerStats& s) { return std::pair(s.position.round, s.position.step); },
          "sync: round and step that come next");
  py::class_<ServerStats::Table>(stats, "Table")
      .def_readonly("name", &ServerStats::Table::name)
      .def_readonly("rows", &ServerStats::Table::rows, "of a sparse table, on this server")
      .def_readonly("cold_rows", &ServerStats::Table::cold_rows, "of them on disk")
      .def_readonly("memory_bytes", &ServerStats::Table::memory_bytes)
      .def_readonly("learning_rate", &ServerStats::Table::rate)
      .def_readonly("nonfinite", &ServerStats::Table::nonfinite, "rows that came with a gradient which is NaN or infinite")
      .def_readonly("staleness", &ServerStats::Table::staleness,
                    "pushes by how many batches of all workers (sync: steps) the server applied between the reading that "
                    "they were computed from and their arrival: a dict from \"at most so many\" to pushes, inf last; of "
                    "merged batches the oldest; since the server's process began")
      .def_readonly("staleness_sum", &ServerStats::Table::staleness_sum, "of these batches, over the pushes");
  py::class_<ServerStats::Worker>(stats, "Worker")
      .def_readonly("incarnation", &ServerStats::Worker::incarnation, "how often it was started")
      .def_readonly("state", &ServerStats::Worker::state, "not seen, live, lost or done")
      .def_readonly("silent_seconds", &ServerStats::Worker::silent_seconds)
      .def_readonly("given_up", &ServerStats::Worker::given_up, "batches that were dropped because it was lost")
      .def_property_readonly(
          "round", [](const ServerStats::Worker& w) { return w.window.round(); }, "the first that is not complete")
      .def_property_readonly(
          "through", [](const ServerStats::Worker& w) { return w.window.through(); },
          "of that round, the batches below this number are applied")
      .def_property_readonly(
          "above",
          [](const ServerStats::Worker& w) { return std::vector<uint32_t>(w.window.above().begin(), w.window.above().end()); },
          "and these of its later batches");
}

void bind_queries(py::class_<Fleet>& fleet) {
  fleet.def("init", &Fleet::init, py::arg("role"))
      .def("initialised", &Fleet::initialised)
      .def("is_first_worker", &Fleet::is_first_worker)
      .def("is_worker", &Fleet::is_worker)
      .def("is_server", &Fleet::is_server)
      .def("worker_index", &Fleet::worker_index)
      .def("server_index", &Fleet::server_index)
      .def("worker_num", &Fleet::worker_num)
      .def("server_num", &Fleet::server_num)
      .def("worker_endpoints", &Fleet::worker_endpoints)
      .def("server_endpoints", &Fleet::server_endpoints)
      .def(
          "get_file_shard", [](const Fleet& f, const std::vector<std::string>& files) { return f.util().get_file_shard(files); },
          py::arg("files"))
      .def("set_log_level", [](const Fleet&, const std::string& name) { set_log_level(log_level(name)); }, py::arg("name"));
}

py::dict init_server(Fleet& fleet, const std::string& folder, const std::vector<std::string>& names, const std::string& fs_name,
                     const std::string& fs_ugi) {
  const fleet::ServerModel model{.folder = folder, .names = names, .store = {.fs_name = fs_name, .fs_ugi = fs_ugi}};
  LoadReport report;
  run_without_gil([&] { report = fleet.init_server(model); });
  py::dict found;
  found["loaded"] = report.loaded;
  found["missing"] = report.missing;
  found["unused"] = report.unused;
  return found;
}

void bind_life(py::class_<Fleet>& fleet) {
  fleet.def("distribute", &Fleet::distribute, py::arg("main"), py::arg("startup"), py::arg("strategy"))
      .def("describe", [](const Fleet& f) { return f.job().plan().text(); })
      .def("worker", [](const Fleet& f) { return f.worker(); })
      .def("check_worker", waiting(+[](const Fleet& f, const std::string& call) { f.connection(call); }), py::arg("call"))
      .def("init_worker", waiting(+[](Fleet& f) { f.init_worker(); }))
      .def("init_server", &init_server, py::arg("folder"), py::arg("names"), py::arg("fs_name"), py::arg("fs_ugi"))
      .def("run_server", &Fleet::run_server, py::call_guard<py::gil_scoped_release>())
      .def("stop_worker", waiting(+[](Fleet& f) { f.stop_worker(); }))
      .def("save_snapshot",
           waiting(+[](const Fleet& f, const std::string& folder, const std::string& kind) { f.save_snapshot(folder, kind); }),
           py::arg("folder"), py::arg("kind"))
      .def("load_snapshot", waiting(+[](const Fleet& f, const std::string& folder) { f.load_snapshot(folder); }),
           py::arg("folder"))
      .def("shrink",
           waiting(+[](const Fleet& f, std::optional<double> threshold, std::optional<uint32_t> unseen_steps,
                       std::optional<uint32_t> ttl_seconds) { return f.shrink(threshold, unseen_steps, ttl_seconds); }),
           py::arg("threshold"), py::arg("unseen_steps"), py::arg("ttl_seconds"))
      .def("server_stats", waiting(+[](const Fleet& f) { return f.server_stats(); }))
      .def("ledger_json", waiting(+[](const Fleet& f) { return f.ledger().to_json(); }));
}

using Numbers = std::vector<double>;
using Integers = std::vector<int64_t>;

void bind_together(py::class_<Fleet>& fleet) {
  fleet.def("barrier_worker", waiting(+[](const Fleet& f) { f.barrier_worker(); }))
      .def("all_reduce", waiting(+[](const Fleet& f, const Numbers& values, const std::string& mode) {
             return f.util().all_reduce(values, mode);
           }),
           py::arg("values"), py::arg("mode"))
      .def("all_reduce_integers", waiting(+[](const Fleet& f, const Integers& values, const std::string& mode) {
             return f.util().all_reduce(values, mode);
           }),
           py::arg("values"), py::arg("mode"))
      .def(
          "all_gather",
          [](const Fleet& f, const py::bytes& bytes) {
            const std::string own = bytes;
            std::vector<std::string> all;
            run_without_gil([&] { all = f.util().all_gather(own); });
            py::list result;
            for (const std::string& one : all) result.append(py::bytes(one));
            return result;
          },
          py::arg("bytes"))
      .def("next_file", waiting(+[](const Fleet& f, const std::string& list, const std::vector<std::string>& files) {
             return f.util().next_file(list, files);
           }),
           py::arg("list"), py::arg("files"))
      .def("global_shuffle",
           waiting(+[](const Fleet& f, data::InMemoryDataset& dataset, uint64_t seed) { f.global_shuffle(dataset, seed); }),
           py::arg("dataset"), py::arg("seed"));
}

}  // namespace

void bind_fleet(py::module_& m) {
  bind_roles(m);
  bind_strategy(m);
  bind_worker(m);
  bind_server_stats(m);
  py::class_<Fleet> fleet(m, "Fleet", "A process's place in its job, and its life there.");
  fleet.def(py::init([] { return std::make_unique<Fleet>(fleet::FleetOptions{.context = fleet::process_context()}); }));
  bind_queries(fleet);
  bind_life(fleet);
  bind_together(fleet);
  m.def("file_handout", &fleet::make_file_handout, py::arg("fleet"), "None before fleet.init(): the process reads all files.");
  m.def("fleet", &fleet::fleet, py::return_value_policy::reference, "The one of this process.");
  m.def(
      "auc_of_counts",
      [](const Integers& positive, const Integers& negative) { return engine::auc_of_counts(positive, negative); },
      py::arg("positive"), py::arg("negative"));
  m.def("log_warning", [](const std::string& text) { log_warning("{}", text); }, py::arg("text"));
}

}  // namespace argosy::python
