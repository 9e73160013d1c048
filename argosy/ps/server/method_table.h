#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>

#include "argosy/ps/server/call_admission.h"
#include "argosy/ps/server/ending.h"
#include "argosy/ps/server/server_call.h"
#include "argosy/rpc/rpc_server.h"

namespace argosy::ps {

// A method of a part of the server, as what answers a request.
template <typename Part, typename Method>
auto by(Part& part, Method method) {
  return [&part, method](const CallPtr& call, State& state, const auto& request) { (part.*method)(call, state, request); };
}

// The methods that a server answers: for each its lane, who may call it, and what answers it. Whatever comes of a call, it is
// answered, or waits somewhere.
//
// Filled before the first dispatch(), thread-safe from then on.
class MethodTable {
 public:
  MethodTable(std::string name, const Ending& ending, CallAdmission& admission)
      : name_(std::move(name)), ending_(ending), admission_(admission) {}

  // handler(call, state, request) answers requests of admitted callers. `rule`: an Allow, or a function of the request that says
  // it.
  template <typename Request, typename Rule, typename Handler>
  void add(wire::Method method, rpc::Lane lane, Rule rule, Handler handler) {
    entries_[method] = {lane, [this, rule, handler](const CallPtr& call) {
                          const auto request = read<Request>(call);
                          if (!request) return;
                          Allow allow;
                          if constexpr (std::is_same_v<Rule, Allow>) {
                            allow = rule;
                          } else {
                            allow = rule(*request);
                          }
                          State* state = admission_.admit(call, request->caller(), allow);
                          if (state != nullptr) handler(call, *state, *request);
                        }};
  }
  // handler(call, request) answers anybody's. For Hello.
  template <typename Request, typename Handler>
  void add_open(wire::Method method, rpc::Lane lane, Handler handler) {
    entries_[method] = {lane, [handler](const CallPtr& call) {
                          if (auto request = read<Request>(call)) handler(call, *request);
                        }};
  }

  // Whatever else is called is refused with this, as far as it is a method at all.
  void refuse_others(Status refusal) { refusal_ = std::move(refusal); }

  void dispatch(const CallPtr& call) const;
  // Which threads of the port a method runs on.
  rpc::Lane lane_of(uint16_t method) const;

 private:
  struct Entry {
    rpc::Lane lane = rpc::Lane::change;
    std::function<void(const CallPtr&)> handle;
  };

  // The request in the call's header; answers the call where it is none.
  template <typename Request>
  static std::optional<Request> read(const CallPtr& call) {
    Request request;
    const std::string& header = call->request.header;
    if (request.ParseFromArray(header.data(), static_cast<int>(header.size()))) return request;
    call->fail(Status::invalid_argument("the header of a {} from {} ({} bytes) cannot be read", Request::descriptor()->name(),
                                        call->request.peer, header.size()));
    return std::nullopt;
  }
  void route(const CallPtr& call) const;

  const std::string name_;
  const Ending& ending_;
  CallAdmission& admission_;
  std::map<int, Entry> entries_;
  Status refusal_;  // ok: such methods are unknown
};

}  // namespace argosy::ps
