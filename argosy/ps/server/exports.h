#pragma once

#include <map>
#include <memory>
#include <string>

#include "argosy/base/mutex.h"
#include "argosy/ps/server/server_call.h"
#include "argosy/ps/spec/messages.pb.h"
#include "argosy/ps/state/limit.h"
#include "argosy/ps/state/state_tables.h"

namespace argosy::ps {

// The exports of rows that are under way, each piece by piece (messages.proto: ExportRows).
//
// Thread-safe: one lock over the list, and one for each export, which is held while its next piece is read.
class Exports {
 public:
  // `name`: of the server. `exports` limits how many there are, `answer` how large a piece is.
  Exports(std::string name, Limit& exports, const Limit& answer);
  ~Exports();

  Result<Outgoing> piece(Tables& tables, const wire::ExportRowsRequest& request);
  // Ends those that nobody has asked for in a minute.
  void drop_idle();
  bool empty() const;  // none is under way

 private:
  struct Session;

  Result<std::shared_ptr<Session>> find(const table::SparseTable& table, const wire::ExportRowsRequest& request, uint64_t& id);
  Status make_room() ARGOSY_REQUIRES(mutex_);

  const std::string name_;
  Limit& limit_;
  const Limit& answer_;
  mutable Mutex mutex_;
  std::map<uint64_t, std::shared_ptr<Session>> sessions_ ARGOSY_GUARDED_BY(mutex_);
  uint64_t next_ ARGOSY_GUARDED_BY(mutex_) = 1;
};

}  // namespace argosy::ps
