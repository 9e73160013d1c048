#include "argosy/launch/process/event_log.h"

#include "argosy/base/log.h"

namespace argosy::launch {

Result<EventLog> EventLog::open(const std::string& folder) {
  ASSIGN_OR_RETURN(auto file, observe::EventFile::open(folder));
  return EventLog(std::move(file));
}

void EventLog::write(const observe::JobView& view, const std::map<std::string, observe::JobBoard::HistogramSum>& histograms) {
  if (failed_ || view.samples == 0) return;
  const auto step = static_cast<int64_t>(view.samples);
  Status status = write_scalars(view, step);
  for (const auto& [name, now] : histograms) {
    if (status.ok()) status = write_histogram(name, now, step);
  }
  written_ = histograms;
  failed_ = !status.ok();
  if (failed_) log_warning("{}; the job goes on without it", status.message());
}

Status EventLog::write_scalars(const observe::JobView& view, int64_t step) {
  const auto write = [&](const std::string& tag, double value) {
    return observe::is_known(value) ? file_.scalar(tag, step, value) : Status();
  };
  RETURN_IF_ERROR(write("job/samples_per_second", view.samples_per_second));
  RETURN_IF_ERROR(write("job/loss", view.loss));
  RETURN_IF_ERROR(write("job/auc", view.auc));
  RETURN_IF_ERROR(write("job/staleness_batches", view.staleness));
  for (const observe::TableView& table : view.tables) {
    if (table.rows > 0) RETURN_IF_ERROR(write("rows/" + table.name, table.rows));
    RETURN_IF_ERROR(write("memory_bytes/" + table.name, table.memory_bytes));
    RETURN_IF_ERROR(write("norm/" + table.name, table.norm));
    RETURN_IF_ERROR(write_norms(table, step));
  }
  for (const observe::ProcessView& process : view.processes) {
    if (process.worker) RETURN_IF_ERROR(write("samples_per_second/" + process.name, process.samples_per_second));
  }
  return {};
}

// Of the rows as they are now.
Status EventLog::write_norms(const observe::TableView& table, int64_t step) {
  if (table.rows_by_norm.empty()) return {};
  observe::EventFile::HistogramValues values{.bounds = {}, .counts = {}, .sum = table.norm * table.rows_looked_at()};
  for (const auto& [bound, count] : table.rows_by_norm) {
    values.bounds.push_back(bound);
    values.counts.push_back(count);
  }
  return file_.histogram("norms/" + table.name, step, values);
}

Status EventLog::write_histogram(const std::string& name, const observe::JobBoard::HistogramSum& now, int64_t step) {
  observe::JobBoard::HistogramSum& before = written_[name];
  observe::EventFile::HistogramValues values{.bounds = {}, .counts = {}, .sum = now.sum - before.sum};
  double all = 0;
  for (const auto& [bound, count] : now.buckets) {
    values.bounds.push_back(bound);
    values.counts.push_back(std::max(0.0, count - before.buckets[bound]));
    all += values.counts.back();
  }
  return all == 0 ? Status() : file_.histogram("workers/" + name, step, values);
}

}  // namespace argosy::launch
