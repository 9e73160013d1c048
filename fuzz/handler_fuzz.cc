// Any calls after a Hello: no crash, every call is answered, and what a server logs it can apply.
//
// An input is u8 of what the server is, and a list of calls: u8 method, u8 what is put right, u16 bytes of the header, u16 bytes
// of the payload, header, payload. The first byte: its two low bits are the mode; 4, the server has a directory, and so a log
// that can be followed; 8, it is one of two processes (replicas=1), the primary of epoch 1. The first bits of a call's second
// byte: 1, the caller is a worker that has said Hello (in a protobuf the last value of a field counts, so it is put behind the
// header); 2, that is an observer; 4, the payload is repeated up to a size that fits the tables.
//
// Snapshots are written and read below a folder of the input's own, which is the server's only root: there where a name begins
// with
// '@', and what lies elsewhere the server has to refuse. A few per input.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "argosy/base/check.h"
#include "argosy/base/log.h"
#include "argosy/base/temporary.h"
#include "argosy/ps/server/replica_seat.h"
#include "argosy/ps/server/server.h"
#include "argosy/ps/server/server_core.h"
#include "argosy/ps/spec/job_spec_wire.h"
#include "argosy/ps/spec/messages.pb.h"
#include "argosy/rpc/handler.h"

using namespace argosy;
using namespace argosy::ps;

namespace {

// Counts the answers that are still owed.
class Counted final : public rpc::ReplySink {
 public:
  explicit Counted(std::atomic<int>& owed, std::string* answer = nullptr) : owed_(owed), answer_(answer) { ++owed_; }
  void finish(Status status, std::string header, std::vector<rpc::Slice>) override {
    if (answer_ != nullptr && status.ok()) *answer_ = std::move(header);
    --owed_;
  }
  bool cancelled() const override { return false; }

 private:
  std::atomic<int>& owed_;
  std::string* const answer_;
};

TableSpec sparse(const std::string& name, bool geo) {
  TableSpec table;
  table.name = name;
  table.sparse = true;
  table.width = 2;
  table.geo = geo;
  if (!geo) table.wire_format = WireFormat::bfloat16;  // of packed messages
  table.schedule = optim::LearningRate(1.0).to_schedule();
  return table;
}

JobSpec job_of(Mode mode) {
  TableSpec dense;
  dense.name = "dense";
  dense.size = 4;
  dense.geo = mode == Mode::geo;
  dense.schedule = optim::LearningRate(1.0).to_schedule();
  return {mode, 2, {sparse("rows", mode == Mode::geo), dense}};
}

wire::HelloRequest hello_of(const JobSpec& spec, uint32_t worker, bool observer) {
  wire::HelloRequest hello;
  hello.set_version(kProtocolVersion);
  hello.set_job("fuzz");
  hello.set_run("fuzz");
  hello.set_worker(worker);
  hello.set_servers(1);
  *hello.mutable_spec() = to_wire(spec);
  hello.set_process_id(worker + (observer ? 100 : 1));
  hello.set_observer(observer);
  return hello;
}

// A server with one job, without a port.
class Target {
 public:
  explicit Target(uint8_t kind) : spec_(job_of(static_cast<Mode>(kind % 4))), folder_(value_or_end(make_folder())) {
    ServerOptions options;
    options.address = "";
    options.job = "fuzz";
    options.run = "fuzz";
    options.end_with_workers = false;
    options.max_message_bytes = 1 << 20;
    options.snapshot_roots = {folder_.path()};
    options.replica = (kind & 8) != 0;
    if ((kind & 4) != 0 || options.replica) options.directory = folder_.path() / "server-0";
    if (options.replica) {
      begin_pair(options);
    } else {
      server_ = value_or_end(Server::start(options));
    }
    worker_ = introduce(0, false);
    observer_ = introduce(0, true);
    (void)introduce(1, false);
  }
  ~Target() {
    const auto over = core_ ? core_->wait(Deadline::after_seconds(0)) : server_->wait(Deadline::after_seconds(0));
    ARGOSY_CHECK(over.ok() || ends_, over.status().message());  // what was accepted could be done
    if (core_) (void)core_->stop(false);
    server_.reset();  // answers who waits
    ARGOSY_CHECK(owed_ == 0, "calls were not answered");
  }

  void call(uint16_t method, std::string header, std::string_view bytes, std::string* answer = nullptr) {
    rpc::PayloadBuffer payload(bytes.size());
    if (!bytes.empty()) std::memcpy(payload.data(), bytes.data(), bytes.size());
    rpc::Request request{.method = method,
                         .header = std::move(header),
                         .payload = std::move(payload),
                         .peer = "fuzzer",
                         .deadline = Deadline::after_seconds(60)};
    rpc::Reply reply(std::make_shared<Counted>(owed_, answer));
    core_ ? seat_->handle(std::move(request), std::move(reply)) : server_->handler()(std::move(request), std::move(reply));
  }

  // The place that a name stands for; see above.
  std::string place_of(const std::string& name) const {
    return name.starts_with('@') ? (folder_.path() / name.substr(1)).string() : name;
  }
  // A call says that the primary is of an earlier epoch: it does right to end.
  void may_end() { ends_ = true; }

  // A caller field for the end of a header, in the protobuf format: field 1, a message.
  std::string caller(bool observer) const {
    wire::StatsRequest request;
    request.mutable_caller()->set_job("fuzz");
    request.mutable_caller()->set_run("fuzz");
    request.mutable_caller()->set_incarnation(observer ? observer_ : worker_);
    return request.SerializeAsString();
  }

 private:
  template <typename T>
  static T value_or_end(Result<T> result) {
    ARGOSY_CHECK(result.ok(), result.status().message());
    return std::move(*result);
  }
  static Result<Temporary> make_folder() {
    return Temporary::folder(std::filesystem::temp_directory_path() / "argosy-handler-fuzz");
  }

  void begin_pair(const ServerOptions& options) {
    seat_ = value_or_end(ReplicaSeat::make(options));
    core_ = std::make_unique<Core>(options);
    wire::TakeRoleRequest role;
    role.set_role(wire::ReplicaStatus::PRIMARY);
    role.set_epoch(1);
    for (const Status& status : {core_->recover(), core_->take_role(role)}) ARGOSY_CHECK(status.ok(), status.message());
    core_->start([] { return rpc::RpcServerCounters(); });
    seat_->set_core(*core_);
  }

  uint64_t introduce(uint32_t worker, bool observer) {
    std::string answer;
    call(wire::HELLO, hello_of(spec_, worker, observer).SerializeAsString(), {}, &answer);
    wire::HelloReply reply;
    ARGOSY_CHECK(owed_ == 0 && reply.ParseFromString(answer) && reply.incarnation() != 0, "a Hello was not answered");
    return reply.incarnation();
  }

  const JobSpec spec_;
  const Temporary folder_;
  std::atomic<int> owed_ = 0;
  bool ends_ = false;
  std::unique_ptr<Server> server_;     // or else these two
  std::unique_ptr<ReplicaSeat> seat_;
  std::unique_ptr<Core> core_;
  uint64_t worker_ = 0, observer_ = 0;
};

template <typename T>
std::optional<T> take(std::string_view& input) {
  T value{};
  if (input.size() < sizeof value) return std::nullopt;
  std::memcpy(&value, input.data(), sizeof value);
  input.remove_prefix(sizeof value);
  return value;
}

std::string_view take_bytes(std::string_view& input, size_t size) {
  const std::string_view bytes = input.substr(0, std::min(size, input.size()));
  input.remove_prefix(bytes.size());
  return bytes;
}

// The request with its folder at the place that it stands for.
template <typename Request>
std::string placed(const Target& target, std::string header) {
  Request request;
  if (!request.ParseFromString(header)) return header;
  request.set_folder(target.place_of(request.folder()));
  return request.SerializeAsString();
}

bool names_later_epoch(uint16_t method, const std::string& header) {
  wire::TakeRoleRequest role;
  wire::StatsRequest any;  // its caller is where that of every request is
  wire::FollowRequest follow;
  if (method == wire::TAKE_ROLE) return role.ParseFromString(header) && role.epoch() > 1;
  if (method == wire::FOLLOW && follow.ParseFromString(header) && follow.epoch() > 1) return true;
  return any.ParseFromString(header) && any.caller().epoch() > 1;
}

constexpr int kMostSnapshots = 4;  // of an input

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool quiet = (set_log_level(LogLevel::error), true);
  if (size == 0 || !quiet) return 0;
  std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  Target target(data[0]);
  int snapshots = 0;
  while (!input.empty()) {
    const auto method = take<uint8_t>(input), right = take<uint8_t>(input);
    const auto header_bytes = take<uint16_t>(input), payload_bytes = take<uint16_t>(input);
    if (!method || !right || !header_bytes || !payload_bytes) break;
    const bool saves = *method == wire::SAVE_SNAPSHOT, loads = *method == wire::LOAD_SNAPSHOT;
    if ((saves || loads) && ++snapshots > kMostSnapshots) continue;
    std::string header(take_bytes(input, *header_bytes));
    std::string payload(take_bytes(input, *payload_bytes));
    if ((*right & 3) != 0) header += target.caller((*right & 2) != 0);
    if ((*right & 4) != 0 && !payload.empty()) {
      while (payload.size() < 64) payload += payload;
      payload.resize((*right >> 3) * 4);
    }
    if (saves) header = placed<wire::SaveSnapshotRequest>(target, std::move(header));
    if (loads) header = placed<wire::LoadSnapshotRequest>(target, std::move(header));
    if (names_later_epoch(*method, header)) target.may_end();
    target.call(*method, std::move(header), payload);
  }
  return 0;
}
