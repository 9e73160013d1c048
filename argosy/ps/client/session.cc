#include "argosy/ps/client/session.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "argosy/base/identity.h"
#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/base/plant.h"
#include "argosy/ps/client/reply.h"
#include "argosy/ps/spec/job_spec_wire.h"

namespace argosy::ps {
namespace {

constexpr double kCarrySeconds = 2;  // of waiting for servers before server 0 is asked again which run it serves
constexpr double kServerLineSeconds = 5;   // between two lines about servers that are waited for

std::string this_process() {
  char host[256] = "";
  if (gethostname(host, sizeof(host) - 1) != 0) return fmt::format("?:{}", getpid());
  return fmt::format("{}:{}", host, getpid());
}

}  // namespace

Session::Session(const ClientOptions& options, const JobSpec& spec, std::unique_ptr<Servers> servers)
    : options_(options),
      spec_(spec),
      servers_(std::move(servers)),
      process_id_(draw_identity()),
      run_(options.run),
      introductions_(static_cast<size_t>(servers_->size())) {}

std::vector<int> Session::all() const {
  std::vector<int> servers(static_cast<size_t>(size()));
  std::iota(servers.begin(), servers.end(), 0);
  return servers;
}

rpc::Message Session::hello_message(int server) const {
  wire::HelloRequest hello;
  hello.set_version(kProtocolVersion);
  hello.set_job(options_.job);
  hello.set_worker(static_cast<uint32_t>(options_.worker));
  hello.set_servers(static_cast<uint32_t>(servers_->size()));
  hello.set_server(static_cast<uint32_t>(server));
  *hello.mutable_spec() = to_wire(spec_);
  hello.set_process(this_process());
  hello.set_process_id(process_id_);
  hello.set_run(run_);
  return {.method = wire::HELLO, .header = hello.SerializeAsString(), .payload = {}};
}

Status Session::introduce(OnHello on_hello) {
  on_hello_ = std::move(on_hello);
  if (run_.empty()) {
    RETURN_IF_ERROR(greet({0}));
    RETURN_IF_ERROR(carry_run());
  } else {
    RETURN_IF_ERROR(greet(all()));
  }
  if (replays_) log_info("worker {} was started before: batches that the servers have are skipped", options_.worker);
  return {};
}

Status Session::resume() {
  process_id_ = draw_identity();
  RETURN_IF_ERROR(greet(all()));
  replays_ = true;
  log_info("worker {} begins again in pass {}: batches that the servers have are skipped", options_.worker, first_open_round());
  return {};
}

Status Session::greet(const std::vector<int>& to, std::optional<Deadline> until) {
  std::vector<ServerCall> calls;
  for (const int server : to) calls.push_back({server, hello_message(server)});
  const auto keep = [this](int server, const rpc::Received& answer) { return keep_introduction(server, answer); };
  return servers_->call(std::move(calls), until, keep).status();
}

// Takes the id that server 0 gave to the other servers. They believe it, so one that waits for them asks server 0 from time to
// time whether it is still that run's: it may be that all servers were ended and started again meanwhile.
Status Session::carry_run() {
  const Stopwatch waited;
  Stopwatch since_line;
  for (std::vector<int> missing = not_greeted(); !missing.empty(); missing = not_greeted()) {
    const double left = options_.server_wait_seconds - waited.seconds();
    const Status status = greet(missing, Deadline::after_seconds(kCarrySeconds));
    if (status.ok()) continue;
    const bool away = status.code() == Code::unavailable || status.code() == Code::deadline_exceeded;
    if (!away || left <= 0) return status.with_context("waited {:.0f} s", waited.seconds());
    if (since_line.seconds() > kServerLineSeconds) {
      log_warning("waiting for servers since {:.0f} s, {:.0f} s at most: {}", waited.seconds(), options_.server_wait_seconds,
                  status.message());
      since_line.restart();
    }
    RETURN_IF_ERROR(servers_->call(0, message(wire::HEARTBEAT, 0, wire::HeartbeatRequest())).status());
  }
  return {};
}

std::vector<int> Session::not_greeted() {
  MutexLock lock(mutex_);
  std::vector<int> missing = all();
  std::erase_if(missing, [&](int server) ARGOSY_REQUIRES(mutex_) { return greeted_.contains(server); });
  return missing;
}

Status Session::keep_introduction(int server, const rpc::Received& received) {
  const auto reply = parse_reply<wire::HelloReply>(received);
  if (!reply.ok()) return reply.status().with_context("{}", servers_->name(server));
  if (run_.empty()) run_ = reply->run();
  Introduction& introduction = introductions_[static_cast<size_t>(server)];
  introduction.incarnation = reply->incarnation();
  met(server, reply->epoch());
  introduction.window = from_wire(reply->window());
  introduction.next_step = reply->next_step();
  introduction.lease_seconds = reply->lease_seconds();
  if (introduction.window != Window()) replays_ = true;
  {
    MutexLock lock(mutex_);
    greeted_.insert(server);
  }
  on_hello_(server, *reply);
  return {};
}

wire::Caller Session::caller(int server) const {
  wire::Caller caller;
  caller.set_job(options_.job);
  caller.set_run(run_);
  caller.set_worker(static_cast<uint32_t>(options_.worker));
  caller.set_incarnation(introductions_[static_cast<size_t>(server)].incarnation);
  if (const uint64_t epoch = introductions_[static_cast<size_t>(server)].epoch; epoch != 0) caller.set_epoch(epoch);
  return caller;
}

void Session::met(int server, uint64_t epoch) {
  std::atomic<uint64_t>& known = introductions_[static_cast<size_t>(server)].epoch;
  uint64_t before = known;
  while (before < epoch && !known.compare_exchange_weak(before, epoch)) {
  }
  if (epoch != 0) servers_->met(server, caller(server));
}

bool Session::had(int server, BatchId batch) const {
  return replays_ && introductions_[static_cast<size_t>(server)].window.contains(batch);
}

bool Session::all_had(BatchId batch) const {
  if (!replays_) return false;
  if (ARGOSY_PLANTED("restarted_skips_too_much"))
    return std::ranges::any_of(introductions_, [&](const Introduction& server) { return server.window.contains(batch); });
  return std::ranges::all_of(introductions_, [&](const Introduction& server) { return server.window.contains(batch); });
}

uint32_t Session::first_open_round() const {
  uint32_t round = std::numeric_limits<uint32_t>::max();
  for (const Introduction& introduction : introductions_) round = std::min(round, introduction.window.round());
  return round;
}

uint32_t Session::next_step() const {
  const uint32_t round = first_open_round();
  uint32_t steps = std::numeric_limits<uint32_t>::max();
  for (const Introduction& introduction : introductions_) {
    if (introduction.window.round() == round) steps = std::min(steps, introduction.next_step);
  }
  return steps;
}

}  // namespace argosy::ps
