#pragma once

#include <map>
#include <string>
#include <utility>

#include "argosy/base/mutex.h"
#include "argosy/ps/client/client_types.h"
#include "argosy/ps/client/session.h"

namespace argosy::ps {

// What a client does once, whatever is repeated: asks server 0 whether an earlier start of this worker has done it, and tells it
// when it is done; see wire::Operation. Client has the contract.
//
// Thread-safe: one lock, never held over a call.
class OperationCalls {
 public:
  explicit OperationCalls(Session& session) : session_(session) {}

  Result<OperationOutcome> once(const Operation& operation, const OperationBody& body);

 private:
  Servers& servers() const { return session_.servers(); }
  wire::Operation with_occurrence(const Operation& operation);
  void count_operation(const wire::Operation& operation);
  Status end_operation(const wire::Operation& operation, const std::string& answer);

  Session& session_;
  Mutex mutex_;
  BatchId position_ ARGOSY_GUARDED_BY(mutex_) = 0;  // of the last operation, and how many of each kind and target were done there
  std::map<std::pair<std::string, std::string>, uint32_t> done_ ARGOSY_GUARDED_BY(mutex_);
};

}  // namespace argosy::ps
