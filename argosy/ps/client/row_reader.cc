#include "argosy/ps/client/row_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include "argosy/base/clock.h"
#include "argosy/base/identity.h"
#include "argosy/base/mutex.h"
#include "argosy/base/text.h"
#include "argosy/ps/client/connect_server.h"
#include "argosy/ps/client/reply.h"
#include "argosy/ps/spec/job_spec_wire.h"
#include "argosy/rpc/channel.h"

namespace argosy::ps {
namespace {

constexpr double kReaderCallSeconds = 30;  // at most, of one try
constexpr uint64_t kReaderExportBytes = uint64_t{8} << 20;

// One endpoint: says who it is, and calls again while it is away. Thread-safe.
class ReadSource {
 public:
  ReadSource(std::unique_ptr<rpc::Channel> channel, std::string run, const RowReaderOptions& options)
      : channel_(std::move(channel)),
        run_(std::move(run)),
        wait_seconds_(options.wait_seconds),
        read_wait_seconds_(options.read_wait_seconds.value_or(options.wait_seconds)) {}

  const std::string& endpoint() const { return channel_->peer(); }

  // What it is, as it says.
  Result<wire::HelloReply> hello() {
    return patiently(wait_seconds_, [&](Deadline deadline) -> Result<wire::HelloReply> { return greet(deadline); });
  }

  template <typename Reply, typename Request>
  Result<Reply> call(wire::Method method, Request request, std::vector<rpc::Slice> payload = {},
                     rpc::PayloadBuffer* received = nullptr) {
    return patiently(read_wait_seconds_, [&](Deadline deadline) -> Result<Reply> {
      *request.mutable_caller() = caller();
      auto answer = channel_->call_and_wait({static_cast<uint16_t>(method), request.SerializeAsString(), payload}, deadline);
      if (answer.status().code() == Code::unauthenticated) {  // a new process, which does not know this reader
        RETURN_IF_ERROR(greet(deadline).status());
        return Status::unavailable("{}", answer.status().message());
      }
      if (!answer.ok()) return answer.status();
      if (received != nullptr) *received = std::move(answer->payload);
      return parse_reply<Reply>(*answer);
    });
  }

 private:
  Result<wire::HelloReply> greet(Deadline deadline) {
    wire::HelloRequest hello;
    hello.set_version(kProtocolVersion);
    hello.set_observer(true);
    hello.set_asks(true);
    hello.set_process(fmt::format("reader, pid {}", ::getpid()));
    hello.set_process_id(process_id_);
    {
      const MutexLock lock(mutex_);
      hello.set_job(caller_.job());
      hello.set_run(run_);
    }
    ASSIGN_OR_RETURN(const auto answer, channel_->call_and_wait({wire::HELLO, hello.SerializeAsString(), {}}, deadline));
    ASSIGN_OR_RETURN(auto reply, parse_reply<wire::HelloReply>(answer));
    const MutexLock lock(mutex_);
    if (index_ && *index_ != reply.server_index()) {
      return Status::failed_precondition(
          "{} answers as server {} now, and did as server {} before: the two addresses are not those of one server's processes",
          endpoint(), reply.server_index(), *index_);
    }
    index_ = reply.server_index();
    run_ = reply.run();
    caller_.set_job(reply.job());
    caller_.set_run(reply.run());
    caller_.set_incarnation(reply.incarnation());
    return reply;
  }
  wire::Caller caller() {
    const MutexLock lock(mutex_);
    return caller_;
  }

  // Again while the server is away: wait_ready() waits for it to answer at all, and one that answers asks for patience by itself.
  template <typename Call>
  auto patiently(double wait_seconds, const Call& call) -> decltype(call(Deadline::after_seconds(0))) {
    const Deadline deadline = Deadline::after_seconds(wait_seconds);
    for (;;) {
      auto result = call(Deadline::after_seconds(std::min(kReaderCallSeconds, wait_seconds)));
      const Code code = result.status().code();
      if (result.ok() || (code != Code::unavailable && code != Code::deadline_exceeded)) {
        return result.ok() ? std::move(result) : result.status().with_context("{}", endpoint());
      }
      if (deadline.passed()) {
        return Status::unavailable("{} was not there for {:.0f} s: {}", endpoint(), wait_seconds, result.status().message());
      }
      const double left = std::clamp(deadline.seconds_left(), 0.01, 1.0);
      (void)channel_->wait_ready(Deadline::after_seconds(left));
      MutexLock lock(mutex_);
      never_.wait_until(lock, Deadline::after_seconds(std::min(left, 0.05)).when());
    }
  }

  const uint64_t process_id_ = draw_identity();
  const std::unique_ptr<rpc::Channel> channel_;
  Mutex mutex_;
  ConditionVariable never_;  // notified by nobody: a pause between two tries
  std::string run_ ARGOSY_GUARDED_BY(mutex_);
  std::optional<uint64_t> index_ ARGOSY_GUARDED_BY(mutex_);  // of its server; nothing: not heard yet
  wire::Caller caller_ ARGOSY_GUARDED_BY(mutex_);
  const double wait_seconds_, read_wait_seconds_;
};

using ReadSources = std::vector<std::unique_ptr<ReadSource>>;

class ServersRowReader final : public RowReader {
 public:
  ServersRowReader(wire::HelloReply first, JobSpec spec, ReadSources sources)
      : first_(std::move(first)), spec_(std::move(spec)), sources_(std::move(sources)) {}

  const JobSpec& spec() const override { return spec_; }
  const std::string& job() const override { return first_.job(); }
  const std::string& run() const override { return first_.run(); }

  Status pull_rows(size_t table, std::span<const uint64_t> keys, std::span<float> rows, std::vector<size_t>* missing) override {
    RETURN_IF_ERROR(check(table, true));
    const size_t width = spec_.tables[table].width;
    for (int server = 0; server < size(); ++server) {
      std::vector<uint64_t> own;
      std::vector<size_t> places;
      for (size_t i = 0; i < keys.size(); ++i) {
        if (server_of(keys[i], size()) != server) continue;
        own.push_back(keys[i]);
        places.push_back(i);
      }
      if (own.empty()) continue;
      wire::PullRowsRequest request;
      wire::Section* section = request.add_sections();
      section->set_table(static_cast<uint32_t>(table));
      section->set_count(own.size());
      request.set_tell_missing(missing != nullptr);
      rpc::PayloadBuffer found;
      ASSIGN_OR_RETURN(const auto reply, source(server).call<wire::PullRowsReply>(wire::PULL_ROWS, request,
                                                                                  {rpc::Slice::own(std::move(own))}, &found));
      RETURN_IF_ERROR(check_size(server, found, places.size() * width * sizeof(float)));
      for (size_t i = 0; i < places.size(); ++i) {
        std::memcpy(rows.data() + places[i] * width, found.data() + i * width * sizeof(float), width * sizeof(float));
      }
      for (const uint64_t place : reply.missing())
        if (missing != nullptr && place < places.size()) missing->push_back(places[place]);
    }
    if (missing != nullptr) std::ranges::sort(*missing);
    return {};
  }

  Status pull_dense(size_t table, std::span<float> values) override {
    RETURN_IF_ERROR(check(table, false));
    for (int server = 0; server < size(); ++server) {
      const Range range = dense_range(spec_, table, size(), server);
      if (range.size() == 0) continue;
      wire::PullDenseRequest request;
      request.add_tables(static_cast<uint32_t>(table));
      rpc::PayloadBuffer found;
      RETURN_IF_ERROR(source(server).call<wire::PullDenseReply>(wire::PULL_DENSE, request, {}, &found).status());
      RETURN_IF_ERROR(check_size(server, found, range.size() * sizeof(float)));
      std::memcpy(values.data() + range.begin, found.data(), found.size());
    }
    return {};
  }

  // A row that is there all the time comes at least once, the newest value last.
  Result<Rows> export_rows(size_t table) override {
    RETURN_IF_ERROR(check(table, true));
    Rows all;
    for (int server = 0; server < size(); ++server) RETURN_IF_ERROR(export_from(server, table, all));
    return sorted(all, spec_.tables[table].width);
  }

  Result<std::vector<Source>> sources() override {
    std::vector<Source> all;
    for (int server = 0; server < size(); ++server) {
      ASSIGN_OR_RETURN(const auto stats, source(server).call<wire::StatsReply>(wire::STATS, wire::StatsRequest()));
      all.push_back({.endpoint = source(server).endpoint(),
                     .follows = stats.following().primary(),
                     .version = stats.version(),
                     .lag_records = stats.following().lag_records(),
                     .lag_seconds = stats.following().lag_seconds(),
                     .waits_for = stats.following().waits_for(),
                     .answers_from = stats.following().answers_from(),
                     .wire_format = stats.following().wire_format()});
    }
    return all;
  }

  Result<std::vector<Versions>> versions(VersionAction action, const std::string& name) override {
    wire::VersionsRequest request;
    request.set_action(action == VersionAction::keep          ? wire::VersionsRequest::KEEP
                       : action == VersionAction::drop        ? wire::VersionsRequest::DROP
                       : action == VersionAction::answer_from ? wire::VersionsRequest::ANSWER_FROM
                                                              : wire::VersionsRequest::LIST);
    request.set_name(name);
    std::vector<Versions> all;
    for (int server = 0; server < size(); ++server) {
      ASSIGN_OR_RETURN(const auto reply, source(server).call<wire::VersionsReply>(wire::VERSIONS, request));
      Versions& one = all.emplace_back();
      one.endpoint = source(server).endpoint();
      one.newest = reply.newest();
      one.answers_from = reply.answers_from();
      for (const auto& kept : reply.kept())
        one.kept.push_back({.name = kept.name(), .version = kept.version(), .age_seconds = kept.age_seconds()});
    }
    return all;
  }

 private:
  int size() const { return static_cast<int>(sources_.size()); }
  ReadSource& source(int server) { return *sources_[static_cast<size_t>(server)]; }

  Status check(size_t table, bool sparse) const {
    if (table >= spec_.tables.size()) {
      return Status::invalid_argument("there is no table {}; the job has {}", table, spec_.tables.size());
    }
    if (spec_.tables[table].sparse == sparse) return {};
    return Status::invalid_argument("table '{}' is {}", spec_.tables[table].name, sparse ? "dense" : "sparse");
  }
  Status check_size(int server, const rpc::PayloadBuffer& found, size_t expected) {
    if (found.size() == expected) return {};
    return Status::data_loss("{} has answered {} bytes, expected {}", source(server).endpoint(), found.size(), expected);
  }

  Status export_from(int server, size_t table, Rows& all) {
    const size_t width = spec_.tables[table].width;
    wire::ExportRowsRequest request;
    request.set_table(static_cast<uint32_t>(table));
    request.set_max_bytes(kReaderExportBytes);
    for (uint64_t number = 0;; ++number) {
      request.set_number(number);
      rpc::PayloadBuffer found;
      ASSIGN_OR_RETURN(const auto reply, source(server).call<wire::ExportRowsReply>(wire::EXPORT_ROWS, request, {}, &found));
      RETURN_IF_ERROR(check_size(server, found, reply.count() * (sizeof(uint64_t) + width * sizeof(float))));
      const auto keys = found.values<uint64_t>(0, reply.count());
      const auto values = found.values<float>(reply.count() * sizeof(uint64_t), reply.count() * width);
      all.keys.insert(all.keys.end(), keys.begin(), keys.end());
      all.values.insert(all.values.end(), values.begin(), values.end());
      request.set_session(reply.session());
      if (reply.done()) return {};
    }
  }

  // In the order of the keys, each once, as it came last.
  static Rows sorted(const Rows& all, size_t width) {
    std::vector<size_t> order(all.keys.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t i) { return all.keys[i]; });
    Rows rows;
    for (size_t i = 0; i < order.size(); ++i) {
      const size_t at = order[i];
      if (i + 1 < order.size() && all.keys[order[i + 1]] == all.keys[at]) continue;
      rows.keys.push_back(all.keys[at]);
      rows.values.insert(rows.values.end(), all.values.begin() + static_cast<std::ptrdiff_t>(at * width),
                         all.values.begin() + static_cast<std::ptrdiff_t>((at + 1) * width));
    }
    return rows;
  }

  const wire::HelloReply first_;
  const JobSpec spec_;
  const ReadSources sources_;  // by server
};

// Whether two endpoints belong together.
Status check_same_job(const wire::HelloReply& one, const std::string& at, const wire::HelloReply& other,
                      const std::string& other_at) {
  if (one.job() != other.job() || one.run() != other.run() || one.servers() != other.servers()) {
    return Status::failed_precondition(
        "{} is of job '{}', run {}, with {} servers; {} of job '{}', run {}, with {}: give the endpoints of one job", at,
        one.job(), one.run(), one.servers(), other_at, other.job(), other.run(), other.servers());
  }
  ASSIGN_OR_RETURN(const JobSpec ours, from_wire(one.spec()));
  ASSIGN_OR_RETURN(const JobSpec theirs, from_wire(other.spec()));
  const auto different = difference(ours, at, theirs, other_at);
  return different ? Status::failed_precondition("another schema: {}", *different) : Status();
}

}  // namespace

Result<size_t> RowReader::table(std::string_view name) const {
  std::vector<std::string> names;
  for (size_t i = 0; i < spec().tables.size(); ++i) {
    if (spec().tables[i].name == name) return i;
    names.push_back("'" + spec().tables[i].name + "'");
  }
  return Status::not_found("there is no table '{}'; the job has {}", name, join(names, ", "));
}

Result<std::unique_ptr<RowReader>> RowReader::connect(const RowReaderOptions& options) {
  if (options.endpoints.empty()) return Status::invalid_argument("no endpoint is given; expected host:port,host:port");
  std::optional<wire::HelloReply> first;
  ReadSources by_server;
  for (const std::string& endpoint : options.endpoints) {
    ASSIGN_OR_RETURN(auto channel,
                     connect_server(endpoint, {.security = options.security, .max_message_bytes = options.max_message_bytes}));
    auto source = std::make_unique<ReadSource>(std::move(channel), first ? first->run() : options.run, options);
    ASSIGN_OR_RETURN(const wire::HelloReply hello, source->hello());
    if (!first) {
      first = hello;
      by_server.resize(hello.servers());
    }
    RETURN_IF_ERROR(check_same_job(*first, options.endpoints.front(), hello, endpoint));
    if (hello.server_index() >= by_server.size())
      return Status::data_loss("{} says that it is server {}", endpoint, hello.server_index());
    std::unique_ptr<ReadSource>& place = by_server[hello.server_index()];
    if (place != nullptr) {
      return Status::invalid_argument("{} and {} both have the rows of server {}; give each server's once", place->endpoint(),
                                      endpoint, hello.server_index());
    }
    place = std::move(source);
  }
  for (size_t i = 0; i < by_server.size(); ++i) {
    if (by_server[i] != nullptr) continue;
    return Status::invalid_argument("the job has {} servers, and none of the {} endpoints has the rows of server {}",
                                    by_server.size(), options.endpoints.size(), i);
  }
  ASSIGN_OR_RETURN(JobSpec spec, from_wire(first->spec()));
  return std::unique_ptr<RowReader>(std::make_unique<ServersRowReader>(std::move(*first), std::move(spec), std::move(by_server)));
}

}  // namespace argosy::ps
