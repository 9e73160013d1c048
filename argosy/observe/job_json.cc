#include <fmt/format.h>

#include <limits>

#include "argosy/observe/job_view.h"
#include "argosy/observe/json_writer.h"

namespace argosy::observe {
namespace {

const char* level_name(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return "debug";
    case LogLevel::info: return "info";
    case LogLevel::warning: return "warning";
    case LogLevel::error: return "error";
  }
  return "";
}

void write(JsonWriter& json, const ProcessView& process) {
  json.begin_object()
      .text("name", process.name)
      .text("role", process.worker ? "worker" : "server")
      .number("pid", static_cast<double>(process.pid))
      .text("state", state_name(process.state))
      .text("how", process.how)
      .text("work", process.work)
      .number("work_ratio", process.work_ratio)
      .number("restarts", process.restarts)
      .text("log", process.log)
      .text("address", process.address)
      .text("metrics", process.metrics)
      .number("started", process.started)
      .number("silent_seconds", process.silent_seconds)
      .number("memory_bytes", process.memory_bytes)
      .number("cpu_seconds", process.cpu_seconds);
  if (process.worker) {
    json.number("samples", process.samples)
        .number("samples_per_second", process.samples_per_second)
        .number("loss", process.loss)
        .number("auc", process.auc)
        .number("pull_seconds", process.pull_seconds)
        .number("push_seconds", process.push_seconds)
        .number("staleness", process.staleness)
        .number("queue", process.queue)
        .number("pass_ratio", process.pass_ratio)
        .boolean("straggler", process.straggler);
  } else {
    json.number("pushes", process.pushes)
        .number("pulls", process.pulls)
        .number("rows", process.rows)
        .number("table_bytes", process.table_bytes)
        .number("log_bytes", process.log_bytes)
        .number("received_bytes", process.received_bytes)
        .number("sent_bytes", process.sent_bytes)
        .number("snapshots", process.snapshots)
        .number("snapshot_age_seconds", process.snapshot_age_seconds)
        .number("workers_lost", process.workers_lost)
        .number("parked_calls", process.parked_calls)
        .number("refused", process.refused)
        .number("replica_epoch", process.replica_epoch)
        .number("replica_whole", process.replica_whole)
        .number("follower_lag_records", process.follower_lag_records);
  }
  json.text("tail", process.tail).end_object();
}

void write(JsonWriter& json, std::string_view key, const std::vector<double>& values) {
  json.begin_array(key);
  for (const double value : values) json.number({}, value);
  json.end_array();
}

void write_head(JsonWriter& json, const JobView& view) {
  json.text("job", view.name)
      .text("run", view.run)
      .text("state", view.state)
      .text("folder", view.folder)
      .text("command", view.command)
      .text("host", view.host)
      .number("launcher_pid", static_cast<double>(view.launcher_pid))
      .number("started", view.started)
      .number("now", view.now)
      .number("exit_code", view.exit_code ? *view.exit_code : kUnknown)
      .number("samples", view.samples)
      .number("samples_per_second", view.samples_per_second)
      .number("loss", view.loss)
      .number("auc", view.auc)
      .number("staleness", view.staleness)
      .number("eta_seconds", view.eta_seconds)
      .number("alive", view.alive)
      .number("restarts", view.restarts);
}

}  // namespace

std::string job_json(const JobView& view) {
  JsonWriter json;
  json.begin_object();
  write_head(json, view);
  json.begin_array("processes");
  for (const ProcessView& process : view.processes) write(json, process);
  json.end_array().begin_array("tables");
  for (const TableView& table : view.tables) {
    json.begin_object()
        .text("name", table.name)
        .number("rows", table.rows)
        .number("cold_rows", table.cold_rows)
        .number("memory_bytes", table.memory_bytes)
        .number("norm", table.norm)
        .number("mean_staleness", table.mean_staleness())
        .begin_object("pushes_by_staleness");
    for (const auto& [bound, pushes] : table.pushes_by_staleness)
      json.number(bound < std::numeric_limits<double>::max() ? fmt::format("{:.0f}", bound) : "inf", pushes);
    json.end_object().end_object();
  }
  json.end_array().begin_array("events");
  for (const JobEvent& event : view.events) {
    json.begin_object()
        .number("time", event.time)
        .text("level", level_name(event.level))
        .text("process", event.process)
        .text("text", event.text)
        .end_object();
  }
  json.end_array().begin_array("ledger");
  for (const std::string& line : view.ledger) json.text({}, line);
  json.end_array().begin_object("history");
  write(json, "time", view.history.time);
  write(json, "samples_per_second", view.history.samples_per_second);
  write(json, "loss", view.history.loss);
  write(json, "auc", view.history.auc);
  json.end_object().end_object();
  return json.json();
}

}  // namespace argosy::observe
