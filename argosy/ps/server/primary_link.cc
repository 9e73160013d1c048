#include "argosy/ps/server/primary_link.h"

#include <unistd.h>

#include "argosy/base/identity.h"
#include "argosy/base/log.h"
#include "argosy/ps/spec/job_spec_wire.h"

namespace argosy::ps {
namespace {

constexpr double kFindHelloSeconds = 5, kFindAgainSeconds = 0.2, kFindLineSeconds = 5;
constexpr std::chrono::seconds kLateAnswer{5};  // the channel answers by the deadline

bool primary_is_away(const Status& status) {
  return status.code() == Code::unavailable || status.code() == Code::deadline_exceeded;
}

}  // namespace

struct PrimaryLink::Answer {
  Mutex mutex;
  ConditionVariable changed;
  bool interrupted ARGOSY_GUARDED_BY(mutex) = false;
  uint64_t call ARGOSY_GUARDED_BY(mutex) = 0;  // the number of the one under way
  std::optional<Result<rpc::Received>> received ARGOSY_GUARDED_BY(mutex);
};

PrimaryLink::PrimaryLink(std::unique_ptr<rpc::Channel> channel, std::string run)
    : process_id_(draw_identity()), run_(std::move(run)), answer_(std::make_shared<Answer>()), channel_(std::move(channel)) {}

void PrimaryLink::interrupt() {
  {
    const MutexLock lock(answer_->mutex);
    answer_->interrupted = true;
  }
  answer_->changed.notify_all();
}

Result<rpc::Received> PrimaryLink::send(wire::Method method, std::string header, Deadline deadline) {
  send_off(method, std::move(header), deadline);
  return wait_for_answer();
}

void PrimaryLink::send_off(wire::Method method, std::string header, Deadline deadline) {
  Answer& answer = *answer_;
  deadline_ = deadline;
  uint64_t number = 0;
  {
    const MutexLock lock(answer.mutex);
    answer.received.reset();
    number = ++answer.call;
  }
  channel_->call({static_cast<uint16_t>(method), std::move(header), {}}, deadline,
                 [kept = answer_, number](Result<rpc::Received> received) {
                   {
                     const MutexLock lock(kept->mutex);
                     if (kept->call == number) kept->received = std::move(received);
                   }
                   kept->changed.notify_all();
                 });
}

// The channel answers by the deadline.
Result<rpc::Received> PrimaryLink::wait_for_answer() {
  Answer& answer = *answer_;
  MutexLock lock(answer.mutex);
  const bool ended = answer.changed.wait_until(lock, deadline_.when() + kLateAnswer, [&]() ARGOSY_REQUIRES(answer.mutex) {
    return answer.interrupted || answer.received;
  });
  if (!ended) return Status::deadline_exceeded("{} has not answered in time", peer());
  if (answer.interrupted) return Status::cancelled("the follower is stopping");
  return std::move(*answer.received);
}

// Between two tries; an interrupt ends it.
Status PrimaryLink::wait(double seconds) {
  MutexLock lock(answer_->mutex);
  const bool over = answer_->changed.wait_until(lock, Deadline::after_seconds(seconds).when(),
                                                [this]() ARGOSY_REQUIRES(answer_->mutex) { return answer_->interrupted; });
  return over ? Status::cancelled("the follower is stopping") : Status();
}

wire::HelloRequest PrimaryLink::greeting() const {
  wire::HelloRequest hello;
  hello.set_version(kProtocolVersion);
  hello.set_observer(true);
  hello.set_asks(true);
  hello.set_process(fmt::format("follower, pid {}", ::getpid()));
  hello.set_process_id(process_id_);
  hello.set_job(info_ ? info_->job : "");
  hello.set_run(info_ ? info_->run : run_);
  return hello;
}

Status PrimaryLink::hello(Deadline deadline) {
  ASSIGN_OR_RETURN(const rpc::Received answer, send(wire::HELLO, greeting().SerializeAsString(), deadline));
  wire::HelloReply reply;
  if (!reply.ParseFromString(answer.header)) return Status::data_loss("an answer of {} cannot be read", peer());
  return keep(reply);
}

Status PrimaryLink::keep(const wire::HelloReply& reply) {
  ASSIGN_OR_RETURN(JobSpec spec, from_wire(reply.spec()));
  PrimaryInfo found{.job = reply.job(),
                    .run = reply.run(),
                    .spec = std::move(spec),
                    .server = static_cast<int>(reply.server_index()),
                    .servers = static_cast<int>(reply.servers())};
  if (info_ && found.run != info_->run) {
    return Status::failed_precondition("{} belongs to run {} now, and this follower to run {}: another run's stream", peer(),
                                       found.run, info_->run);
  }
  if (info_ && (found.job != info_->job || found.server != info_->server || found.servers != info_->servers)) {
    return Status::failed_precondition("{} is server {} of {} of job '{}' now; this follower follows server {} of {} of job '{}'",
                                       peer(), found.server, found.servers, found.job, info_->server, info_->servers, info_->job);
  }
  if (const auto different = info_ ? difference(info_->spec, "this follower", found.spec, peer()) : std::nullopt) {
    return Status::failed_precondition("another schema: {}", *different);
  }
  if (!info_) info_ = std::move(found);
  caller_.set_job(info_->job);
  caller_.set_run(info_->run);
  caller_.set_incarnation(reply.incarnation());
  return {};
}

// A server that answers has all the time until its first worker comes; one that does not may be at another address.
Status PrimaryLink::find(double seconds) {
  Stopwatch silent, since_line;
  bool first_line = true;
  for (;;) {
    const Status status = hello(Deadline::after_seconds(kFindHelloSeconds));
    if (status.ok()) return {};
    if (!primary_is_away(status)) return status.with_context("the server at {}", peer());
    const bool answers = channel_->wait_ready(Deadline::after_seconds(kFindAgainSeconds)).ok();
    if (answers) silent.restart();
    if (silent.seconds() > seconds) {
      return Status::unavailable(
          "nobody answers at {}, after {:.0f} s: {}. Is this the address of a running server (its log says where it listens)? "
          "The "
          "server of a run that has finished has ended: serve its saved model instead",
          peer(), silent.seconds(), status.message());
    }
    if (first_line || since_line.seconds() > kFindLineSeconds) {
      log_warning("waiting for the server at {}: {}", peer(), status.message());
      since_line.restart();
      first_line = false;
    }
    RETURN_IF_ERROR(wait(kFindAgainSeconds));
  }
}

}  // namespace argosy::ps
