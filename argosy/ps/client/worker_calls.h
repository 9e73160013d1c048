#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/ps/client/client_types.h"
#include "argosy/ps/client/comparison.h"
#include "argosy/ps/client/session.h"

namespace argosy::ps {

// What a client does for workers among each other: gathers, hand-out of files, boxes. Counts this worker's calls, so that a
// replayed script finds the old answers. Client has the contracts.
//
// Thread-safe: one lock, never held over a call.
class WorkerCalls {
 public:
  WorkerCalls(Session& session, Comparison& comparison) : session_(session), comparison_(comparison) {}

  Result<std::vector<std::string>> all_gather(std::string_view name, std::string_view bytes, Deadline deadline, BatchId position);
  Result<std::optional<HandedFile>> next_file(const FileQuestion& question);
  Status post(int to, std::string_view bytes);
  Result<Mail> take(Deadline deadline);

  // A pass that begins again has the same files.
  void resume();

 private:
  Servers& servers() const { return session_.servers(); }
  const JobSpec& job() const { return session_.spec(); }
  // Lost workers had the file: what servers have of it from them is left out.
  Status take_over(const FileQuestion& question, const wire::NextFileReply& reply, HandedFile& file);

  Session& session_;
  Comparison& comparison_;
  Mutex mutex_;
  struct Gathers {
    BatchId position = 0;
    uint64_t calls = 0;   // answered, at this position
    uint64_t number = 0;  // the largest of their gatherings
  };
  std::map<std::string, Gathers, std::less<>> gathers_ ARGOSY_GUARDED_BY(mutex_);    // by name
  std::map<std::pair<std::string, int>, uint64_t> files_ ARGOSY_GUARDED_BY(mutex_);  // handed out, by list and reader
  std::map<int, uint64_t> posts_ ARGOSY_GUARDED_BY(mutex_);                          // by receiver
  uint64_t taken_ ARGOSY_GUARDED_BY(mutex_) = 0;
};

}  // namespace argosy::ps
