#include "argosy/ps/client/round_calls.h"

#include <algorithm>
#include <numeric>

#include "argosy/base/counted.h"
#include "argosy/base/log.h"
#include "argosy/ps/client/reply.h"
#include "argosy/ps/spec/job_spec_wire.h"
#include "argosy/ps/spec/pass_book.h"

namespace argosy::ps {

// Server 0 is told last: it says what the pass came to on all servers.
Result<PassLoss> RoundCalls::leave(uint32_t round, uint32_t steps, const PassReading* reading) {
  PassLoss most;
  std::vector<int> others(static_cast<size_t>(servers().size() - 1));
  std::iota(others.begin(), others.end(), 1);
  const int first = 0;
  for (const std::span<const int> turn : {std::span<const int>(others), std::span<const int>(&first, 1)}) {
    const Status left = leave(round, steps, reading, turn, most);
    if (left.code() == Code::data_loss) comparison_.lost();
    RETURN_IF_ERROR(left);
  }
  return most;
}

// Tells these servers, with what the others have lost; adds what these say.
Status RoundCalls::leave(uint32_t round, uint32_t steps, const PassReading* reading, std::span<const int> whom, PassLoss& most) {
  if (whom.empty()) return {};
  wire::LeaveRequest request;
  request.set_round(round);
  request.set_steps(steps);
  if (reading != nullptr) {
    *request.mutable_ledger() = ps::to_wire(*reading);
    request.mutable_ledger()->set_lost_elsewhere_batches(most.batches);
    request.mutable_ledger()->set_lost_elsewhere_samples(most.samples);
  }
  std::vector<ServerCall> calls;
  for (const int server : whom) {
    wire::LeaveRequest own = request;
    const Acknowledged::Late late = comparison_.acknowledged().late(server, round);
    if (reading != nullptr) {
      own.mutable_ledger()->mutable_given_up()->Add(late.batches.begin(), late.batches.end());
      own.mutable_ledger()->set_given_up_samples(late.samples);
    }
    calls.push_back({server, session_.message(wire::LEAVE, server, std::move(own))});
  }
  const uint32_t batches = reading == nullptr ? 0 : reading->batches - static_cast<uint32_t>(reading->empty.size());
  const auto note = [&](int server, const rpc::Received& answer) -> Status {
    ASSIGN_OR_RETURN(const auto reply, parse_reply<wire::LeaveReply>(answer));
    const Acknowledged::Late late = comparison_.acknowledged().late(server, round);
    comparison_.acknowledged().leave(server, round, batches);
    most.batches = std::max(most.batches, reply.lost_batches() + late.batches.size());
    most.samples = std::max(most.samples, reply.lost_samples() + late.samples);
    if (reply.lost_batches() > 0) {
      log_warning("{}: lost of pass {} of worker {}, as its durability allows: {} ({})", servers().name(server), round,
                  session_.worker(), counted(reply.lost_batches(), "batch", "batches"), counted(reply.lost_samples(), "sample"));
    }
    return {};
  };
  return servers().call(std::move(calls), {}, note).status();
}

Result<std::optional<std::vector<StepNorm>>> RoundCalls::step_norms(Position step, Deadline deadline) {
  wire::StepNormsRequest request;
  *request.mutable_step() = to_wire(step);
  ASSIGN_OR_RETURN(const auto answers, servers().call(session_.to_all(wire::STEP_NORMS, request), deadline));
  std::vector<StepNorm> norms;
  for (const std::string& group : job().clip_groups()) norms.push_back({group, 0});
  bool everywhere = true;
  for (const rpc::Received& answer : answers) {
    ASSIGN_OR_RETURN(const auto reply, parse_reply<wire::StepNormsReply>(answer));
    if (reply.applied() && reply.norms().empty()) return std::optional<std::vector<StepNorm>>();
    everywhere = everywhere && reply.applied();
    if (reply.norms_size() != static_cast<int>(norms.size())) {
      return Status::data_loss("a server knows {} clip groups; the job has {}", reply.norms_size(), norms.size());
    }
    for (size_t i = 0; i < norms.size(); ++i) norms[i].sum_of_squares += reply.norms(static_cast<int>(i)).sum_of_squares();
  }
  if (everywhere) return std::optional<std::vector<StepNorm>>();
  return std::optional(std::move(norms));
}

Status RoundCalls::apply_step(Position step, std::span<const ClipFactor> factors) {
  wire::ApplyStepRequest request;
  *request.mutable_step() = to_wire(step);
  for (const ClipFactor& factor : factors) {
    wire::Number& number = *request.add_factors();
    number.set_name(factor.group);
    number.set_value(factor.factor);
  }
  return servers().call(session_.to_all(wire::APPLY_STEP, request)).status();
}

Result<Position> RoundCalls::position() {
  ASSIGN_OR_RETURN(const auto answers, servers().call(session_.to_all(wire::PULL_DENSE, wire::PullDenseRequest())));
  std::optional<Position> lowest;
  for (const rpc::Received& answer : answers) {
    ASSIGN_OR_RETURN(const auto reply, parse_reply<wire::PullDenseReply>(answer));
    const Position position = from_wire(reply.position());
    if (!lowest || position < *lowest) lowest = position;
  }
  return *lowest;
}

}  // namespace argosy::ps
