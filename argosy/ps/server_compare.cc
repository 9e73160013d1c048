// What a worker and a process that has recovered its state agree on; messages.proto has the protocol.
#include <fmt/format.h>

#include "argosy/ps/job_spec_wire.h"
#include "argosy/ps/server_core.h"

namespace argosy::ps {

// The workers whose batches are missing here. An error: nobody is left who could send them again.
Status Core::check_expected(const State& state, const wire::CompareRequest& request, std::vector<int>& missing) const {
  if (durability_ == Durability::snapshot) return {};
  for (int worker = 0; worker < std::min(request.expected_size(), state.members().workers()); ++worker) {
    bool whole_rounds = false;
    const auto lacking = state.members().lacking(worker, from_wire(request.expected(worker)), whole_rounds);
    if (lacking.empty() && !whole_rounds) continue;
    missing.push_back(worker);
    if (state.members().is_awaited(worker)) continue;
    return Status::data_loss(
        "{} was started again without batches that it had acknowledged ({} of pass {}{}), of worker {}, which is done and cannot "
        "train them again: its log was cut short, as by a power cut (durability=wal_sync keeps what is acknowledged), or its "
        "directory was changed",
        name_, lacking.size(), request.expected(worker).round(), whole_rounds ? ", and passes before it" : "", worker);
  }
  return {};
}

void Core::on_compare(const CallPtr& call) {
  const auto request = read<wire::CompareRequest>(call);
  if (!request) return;
  State* state = admit(call, request->caller(), Allow::not_compared);
  if (state == nullptr) return;
  const int worker = static_cast<int>(request->caller().worker());
  wire::CompareReply reply;
  reply.set_boot(boot_);
  if (request->boot() != boot_) {
    *reply.mutable_window() = to_wire(state->members().worker(worker).window);
    return call->send(outgoing(reply));
  }
  const uint64_t seen = parking_.version(Topic::batches);
  std::vector<int> missing;
  if (Status s = check_expected(*state, *request, missing); !s.ok()) return call->fail(s);
  if (!missing.empty()) return parking_.park(Topic::batches, seen, call);
  state->members().compared(worker, request->caller().incarnation());
  call->send(outgoing(reply));
}

}  // namespace argosy::ps
