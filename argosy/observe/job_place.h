#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "argosy/base/status.h"

namespace argosy::observe {

// A job that somebody names by its log folder or by the URL of its status page. The launcher says in the folder's file
// `launcher`, and at /launcher of the page, which process it is; its state is in status.txt and status.json of both.
class JobPlace {
 public:
  // Empty: the folder logs or log of the working directory.
  static Result<JobPlace> find(std::string folder_or_url);

  // The state as text for a terminal, and as JSON. Of a launcher that has gone without a last word the text says so first.
  Result<std::string> text() const;
  Result<std::string> json() const;
  bool has_ended() const;  // the launcher is gone, or says no more

  // Asks the launcher to end its job, as Ctrl-C does, and waits until it has. It must be on this machine.
  Status stop(double seconds) const;

 private:
  explicit JobPlace(std::string where) : where_(std::move(where)) {}
  bool is_url() const { return where_.starts_with("http://"); }
  Result<std::string> read(const std::string& name) const;

  struct Launcher {
    int64_t pid = 0, start = 0;
    std::string host;
    bool runs_here() const;  // the same process, not a later one of its number
  };
  Result<Launcher> launcher() const;

  std::string where_;
};

// The text of the file `launcher` of this process.
std::string launcher_file(const std::string& url);

}  // namespace argosy::observe
