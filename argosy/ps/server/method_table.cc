#include "argosy/ps/server/method_table.h"

namespace argosy::ps {

void MethodTable::dispatch(const CallPtr& call) const {
  const auto fail = [&](Status status) {
    if (!call->reply.completed()) call->fail(std::move(status));
  };
  try {
    route(call);
  } catch (const std::bad_alloc&) {
    fail(Status::resource_exhausted("{} has no memory for method {} of {} ({} bytes)", name_, call->request.method,
                                    call->request.peer, call->bytes()));
  } catch (const std::exception& error) {
    fail(Status::internal("{} could not handle method {} of {}: {}", name_, call->request.method, call->request.peer,
                          error.what()));
  }
}

void MethodTable::route(const CallPtr& call) const {
  if (ending_.is_refusing()) return call->fail(Status::unavailable("{} is stopping", name_));
  const auto entry = entries_.find(call->request.method);
  if (entry == entries_.end()) {
    if (!refusal_.ok() && wire::Method_IsValid(call->request.method)) return call->fail(refusal_);
    return call->fail(
        Status::unimplemented("{} does not know the method {} of {}", name_, call->request.method, call->request.peer));
  }
  entry->second.handle(call);
}

rpc::Lane MethodTable::lane_of(uint16_t method) const {
  const auto entry = entries_.find(method);
  return entry == entries_.end() ? rpc::Lane::change : entry->second.lane;
}

}  // namespace argosy::ps
