#include "argosy/ps/client.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "argosy/base/identity.h"
#include "argosy/base/log.h"
#include "argosy/base/notice.h"
#include "argosy/base/plant.h"
#include "argosy/ps/client_impl.h"
#include "argosy/ps/job_spec_wire.h"

namespace argosy::ps {
namespace {

constexpr double kCarrySeconds = 2;  // of waiting for servers before server 0 is asked again which run it serves
constexpr double kServerLineSeconds = 5;  // between two lines about servers that are waited for
constexpr double kLookSeconds = 0.2;  // between two looks at what heartbeats have found
constexpr size_t kLongestWhy = 2000;  // bytes of a cause that others are told

std::string this_process() {
  char host[256] = "";
  if (gethostname(host, sizeof(host) - 1) != 0) return fmt::format("?:{}", getpid());
  return fmt::format("{}:{}", host, getpid());
}

Status check(const ClientOptions& options, const JobSpec& spec) {
  RETURN_IF_ERROR(spec.check());
  if (options.servers.empty()) return Status::invalid_argument("the job '{}' has no servers to connect to", options.job);
  if (options.servers.size() > 65535)
    return Status::invalid_argument("{} servers; expected at most 65535", options.servers.size());
  if (options.worker < 0 || options.worker >= spec.workers) {
    return Status::invalid_argument("worker {} of a job with {} workers; expected 0 to {}", options.worker, spec.workers,
                                    spec.workers - 1);
  }
  if (!(options.call_seconds > 0))
    return Status::invalid_argument("call_seconds is {}; expected more than 0", options.call_seconds);
  if (!(options.server_wait_seconds >= 0)) {
    return Status::invalid_argument("server_wait_seconds is {}; expected 0 or more", options.server_wait_seconds);
  }
  return {};
}

// A channel to each server.
Result<Servers::Channels> connect_all(const ClientOptions& options) {
  Servers::Channels channels;
  for (const std::string& endpoint : options.servers) {
    auto channel =
        options.make_channel
            ? options.make_channel(endpoint)
            : rpc::connect_channel(endpoint, {.security = options.security, .max_message_bytes = options.max_message_bytes});
    if (!channel.ok()) return channel.status().with_context("server {} of job '{}'", channels.size(), options.job);
    channels.push_back(std::move(*channel));
  }
  return channels;
}

}  // namespace

Result<std::unique_ptr<Client>> Client::connect(const ClientOptions& options, const JobSpec& spec) {
  RETURN_IF_ERROR(check(options, spec));
  ASSIGN_OR_RETURN(auto channels, connect_all(options));
  ASSIGN_OR_RETURN(auto heartbeats, connect_all(options));
  const ServersOptions patience{.server_wait_seconds = options.server_wait_seconds, .call_seconds = options.call_seconds};
  auto client = std::make_unique<ClientImpl>(options, spec,
                                             std::make_unique<Servers>(std::move(channels), std::move(heartbeats), patience));
  RETURN_IF_ERROR(client->introduce());
  return std::unique_ptr<Client>(std::move(client));
}

Status Client::pull_rows(std::span<const RowRequest> requests) {
  return pull_rows(requests, std::nullopt, Deadline::after_seconds(0));
}

Status Client::pull_dense(std::span<const DenseRequest> requests) {
  return pull_dense(requests, std::nullopt, Deadline::after_seconds(0));
}

ClientImpl::ClientImpl(const ClientOptions& options, const JobSpec& spec, std::unique_ptr<Servers> servers)
    : options_(options),
      spec_(spec),
      servers_(std::move(servers)),
      process_id_(draw_identity()),
      run_(options.run),
      introductions_(static_cast<size_t>(servers_->size())),
      watch_(std::make_shared<Watch>(servers_->size())),
      frontier_(servers_->size(), options.worker),
      settler_(std::make_shared<LossSettler>(servers_->size())) {
  servers_->set_compare([this](int server) { return compare_with(server); });
  changed_calls_.resize(introductions_.size(), 0);
}

ClientImpl::~ClientImpl() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stopping_changed_.notify_all();
  heartbeat_.join();
}

rpc::Message ClientImpl::hello_message(int server) const {
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

Status ClientImpl::introduce() {
  heartbeat_ = Thread("ps-heartbeat", [this] { heartbeats(); });
  if (run_.empty()) {
    RETURN_IF_ERROR(greet({0}));
    RETURN_IF_ERROR(carry_run());
  } else {
    RETURN_IF_ERROR(greet_all());
  }
  if (replays_) log_info("worker {} was started before: batches that the servers have are skipped", options_.worker);
  return {};
}

Status ClientImpl::greet_all() {
  std::vector<int> all(static_cast<size_t>(servers_->size()));
  std::iota(all.begin(), all.end(), 0);
  return greet(all);
}

Status ClientImpl::greet(const std::vector<int>& to, std::optional<Deadline> until) {
  std::vector<ServerCall> calls;
  for (const int server : to) calls.push_back({server, hello_message(server)});
  const auto keep = [this](int server, const rpc::Received& answer) { return keep_introduction(server, answer); };
  return servers_->call(std::move(calls), until, keep).status();
}

// Takes the id that server 0 gave to the other servers. They believe it, so one that waits for them asks server 0 from time to
// time whether it is still that run's: it may be that all servers were ended and started again meanwhile.
Status ClientImpl::carry_run() {
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

std::vector<int> ClientImpl::not_greeted() {
  std::lock_guard lock(mutex_);
  std::vector<int> missing;
  for (int server = 0; server < servers_->size(); ++server) {
    if (std::ranges::find(greeted_, server) == greeted_.end()) missing.push_back(server);
  }
  return missing;
}

Status ClientImpl::keep_introduction(int server, const rpc::Received& received) {
  auto reply = parse_reply<wire::HelloReply>(received);
  if (!reply.ok()) return reply.status().with_context("{}", servers_->name(server));
  if (run_.empty()) run_ = reply->run();
  Introduction& introduction = introductions_[static_cast<size_t>(server)];
  introduction.incarnation = reply->incarnation();
  const wire::Window& window = reply->window();
  introduction.window =
      Window(window.round(), window.through(), {window.above().data(), static_cast<size_t>(window.above_size())});
  introduction.position = from_wire(reply->position());
  introduction.next_step = reply->next_step();
  introduction.lease_seconds = reply->lease_seconds();
  if (introduction.window != Window()) replays_ = true;
  Acknowledged& acknowledged = watch_->acknowledged;
  if (const auto loss = acknowledged.compare(server, acknowledged.window(server), introduction.window, reply->boot())) {
    log_warning("{} was started again without {}, of worker {}", servers_->name(server), Acknowledged::describe(*loss),
                options_.worker);
  }
  acknowledged.greeted(server, introduction.window, reply->boot(), reply->may_lose());
  {
    std::lock_guard lock(mutex_);
    if (std::ranges::find(greeted_, server) == greeted_.end()) greeted_.push_back(server);
  }
  stopping_changed_.notify_all();
  return {};
}

wire::Caller ClientImpl::caller(int server) const {
  wire::Caller caller;
  caller.set_job(options_.job);
  caller.set_run(run_);
  caller.set_worker(static_cast<uint32_t>(options_.worker));
  caller.set_incarnation(introductions_[static_cast<size_t>(server)].incarnation);
  return caller;
}

// A heartbeat that is lost is made up for by the next; one that is refused says what every other call will be told.
void ClientImpl::heartbeats() {
  std::vector<int> greeted;
  Deadline next = Deadline::after_seconds(kLongestBeat);
  for (double every = kLongestBeat;;) {
    {
      std::unique_lock lock(mutex_);
      const auto wake = std::min(next.when(), Deadline::after_seconds(kLookSeconds).when());
      stopping_changed_.wait_until(lock, wake, [&] { return stopping_ || greeted_.size() > greeted.size(); });
      if (stopping_) return;
      if (greeted_.size() == greeted.size() && !next.passed()) {
        lock.unlock();
        (void)act_on_losses();
        continue;
      }
      greeted = greeted_;
    }
    for (const int server : greeted) {
      every = std::min(every, std::max(introductions_[static_cast<size_t>(server)].lease_seconds / 4, kShortestBeat));
      beat(server);
    }
    if (static_cast<int>(greeted.size()) == servers_->size()) settle_losses(Deadline::after_seconds(every));
    next = Deadline::after_seconds(every);
  }
}

// With the heartbeats, because every worker that is alive has them and nothing waits for them.
void ClientImpl::settle_losses(Deadline deadline) {
  for (auto& [server, request] : settler_->due()) {
    const auto answered = [settler = settler_, to = server, loss = request.loss()](const Result<rpc::Received>& answer) {
      if (!answer.ok()) return;
      if (const auto reply = parse_reply<wire::SettleLossReply>(*answer); reply.ok()) settler->answered(to, loss, *reply);
    };
    servers_->channel(server).call(message(wire::SETTLE_LOSS, server, std::move(request)), deadline, answered);
  }
}

Status ClientImpl::resume() {
  {
    std::lock_guard lock(watch_->mutex);
    ++watch_->resumed;
    watch_->losses.clear();
    watch_->refusal = Status();
    went_back_ = false;
    servers_->go_on();
  }
  process_id_ = draw_identity();
  std::ranges::fill(changed_calls_, 0);
  {
    std::lock_guard lock(mutex_);
    files_.clear();  // a pass that begins again has the same files
  }
  RETURN_IF_ERROR(greet_all());
  replays_ = true;
  log_info("worker {} begins again in pass {}: batches that the servers have are skipped", options_.worker, first_open_round());
  return {};
}

void ClientImpl::abandon(uint32_t round, const std::string& why) {
  wire::AbandonRequest request;
  request.set_round(round);
  request.set_why(why.substr(0, kLongestWhy));
  for (int server = 0; server < servers_->size(); ++server) {
    servers_->channel(server).call(message(wire::ABANDON, server, request), Deadline::after_seconds(kLongestBeat),
                                   [](const Result<rpc::Received>&) {});
  }
}

Result<JobLedger> ClientImpl::ledger() {
  ASSIGN_OR_RETURN(const auto answers, servers_->call(to_all(wire::LEDGER, wire::LedgerRequest())));
  std::vector<wire::LedgerReply> replies;
  for (const rpc::Received& answer : answers) {
    ASSIGN_OR_RETURN(auto reply, parse_reply<wire::LedgerReply>(answer));
    replies.push_back(std::move(reply));
  }
  return join_ledgers(replies);
}

bool ClientImpl::had(int server, BatchId batch) const {
  return replays_ && introductions_[static_cast<size_t>(server)].window.contains(batch);
}

bool ClientImpl::all_had(BatchId batch) const {
  if (!replays_) return false;
  if (ARGOSY_PLANTED("restarted_skips_too_much"))
    return std::ranges::any_of(introductions_, [&](const Introduction& server) { return server.window.contains(batch); });
  return std::ranges::all_of(introductions_, [&](const Introduction& server) { return server.window.contains(batch); });
}

uint32_t ClientImpl::first_open_round() const {
  uint32_t round = std::numeric_limits<uint32_t>::max();
  for (const Introduction& introduction : introductions_) round = std::min(round, introduction.window.round());
  return round;
}

uint32_t ClientImpl::next_step() const {
  const uint32_t round = first_open_round();
  uint32_t steps = std::numeric_limits<uint32_t>::max();
  for (const Introduction& introduction : introductions_) {
    if (introduction.window.round() == round) steps = std::min(steps, introduction.next_step);
  }
  return steps;
}

ClientCounters ClientImpl::counters() const {
  const Servers::Counters& counters = servers_->counters();
  return {.calls = counters.calls,
          .retries = counters.retries,
          .pushes = pushes_,
          .bytes_sent = counters.bytes_sent,
          .bytes_received = counters.bytes_received};
}

Status ClientImpl::stop() { return say_goodbye({}); }

void ClientImpl::fail(const std::string& why) {
  wire::GoodbyeRequest goodbye;
  goodbye.set_failed(why);
  (void)say_goodbye(goodbye);
}

Status ClientImpl::say_goodbye(const wire::GoodbyeRequest& goodbye) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return {};
    stopping_ = true;
  }
  stopping_changed_.notify_all();
  heartbeat_.join();
  servers_->go_on();
  frontier_.forget();
  // A server that has heard everybody's goodbye ends, perhaps before its answer is on its way: nothing to wait for long.
  auto answers =
      servers_->call(to_all(wire::GOODBYE, goodbye), Deadline::after_seconds(std::min(5.0, options_.server_wait_seconds)));
  const Code code = answers.status().code();
  return code == Code::unavailable || code == Code::deadline_exceeded ? Status() : answers.status();
}

}  // namespace argosy::ps
