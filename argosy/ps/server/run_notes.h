#pragma once

#include <functional>
#include <memory>
#include <string>

#include "argosy/ps/server/server_folder.h"
#include "argosy/ps/server/server_run.h"
#include "argosy/ps/server/state_holder.h"

namespace argosy::ps {

// Keeps the record of the run in the server's folder up to date. It is for people and launchers: that it could not be written is
// said, and stops nothing.
//
// Thread-compatible: recovery, then the snapshot thread, then the end of the server.
class RunNotes {
 public:
  // `job`: as the server was told; `failed`: says that the record could not be written.
  RunNotes(std::string job, const RunGuard& run, const StateHolder& state, std::function<void(const Status&)> failed)
      : job_(std::move(job)), run_(run), state_(state), failed_(std::move(failed)) {}

  void set_folder(std::unique_ptr<ServerFolder> folder) { folder_ = std::move(folder); }
  ServerFolder* folder() const { return folder_.get(); }  // null: nothing is kept

  uint64_t count_rows() const;
  // A run begins, or goes on, in the folder.
  Status begin(bool anew);
  // `now`: whatever has changed.
  void note(bool now);

 private:
  RunProgress progress() const;  // without the number of rows

  const std::string job_;
  const RunGuard& run_;
  const StateHolder& state_;
  const std::function<void(const Status&)> failed_;
  std::unique_ptr<ServerFolder> folder_;
};

}  // namespace argosy::ps
