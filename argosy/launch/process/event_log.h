#pragma once

#include <map>
#include <string>

#include "argosy/observe/event_file.h"
#include "argosy/observe/job_board.h"

namespace argosy::launch {

// Writes a job's numbers as TensorBoard shows them: scalars over the samples trained so far, and of the workers' histograms what
// came since the last time. An error is told once, and the job goes on without. Confined to one thread.
class EventLog {
 public:
  static Result<EventLog> open(const std::string& folder);

  void write(const observe::JobView& view, const std::map<std::string, observe::JobBoard::HistogramSum>& histograms);

 private:
  explicit EventLog(observe::EventFile file) : file_(std::move(file)) {}
  Status write_scalars(const observe::JobView& view, int64_t step);
  Status write_norms(const observe::TableView& table, int64_t step);
  Status write_histogram(const std::string& name, const observe::JobBoard::HistogramSum& now, int64_t step);

  observe::EventFile file_;
  std::map<std::string, observe::JobBoard::HistogramSum> written_;
  bool failed_ = false;
};

}  // namespace argosy::launch
