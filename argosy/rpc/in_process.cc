#include "argosy/rpc/in_process.h"

#include <cstring>
#include <utility>

#include "argosy/rpc/call_table.h"
#include "argosy/rpc/work_pool.h"

namespace argosy::rpc {
namespace {

PayloadBuffer join_slices(const std::vector<Slice>& payload) {
  PayloadBuffer joined(payload_bytes(payload));
  std::byte* to = joined.data();
  for (const Slice& slice : payload) {
    if (slice.size > 0) std::memcpy(to, slice.data, slice.size);
    to += slice.size;
  }
  return joined;
}

class TableSink final : public ReplySink {
 public:
  TableSink(std::shared_ptr<CallTable> calls, CallTable::Id id, uint16_t method)
      : calls_(std::move(calls)), id_(id), method_(method) {}

  // The callback runs on the table's thread: the answering thread may hold locks.
  void finish(Status status, std::string header, std::vector<Slice> payload) override {
    if (!status.ok()) return calls_->end(id_, std::move(status));
    calls_->end(id_, Received{method_, std::move(header), join_slices(payload)});
  }
  bool cancelled() const override { return calls_->ended(id_); }

 private:
  const std::shared_ptr<CallTable> calls_;  // a handler may keep the Reply longer than the channel lives
  const CallTable::Id id_;
  const uint16_t method_;
};

class InProcessChannel final : public Channel {
 public:
  InProcessChannel(Handler handler, const InProcessOptions& options)
      : name_(options.name),
        handler_(std::move(handler)),
        calls_(std::make_shared<CallTable>(options.name)),
        pool_("rpc-handler", options.threads) {}

  ~InProcessChannel() override {
    calls_->stop();
    pool_.stop();
  }

  void call(Message message, Deadline deadline, Callback done) override {
    if (deadline.passed()) {
      return done(Status::deadline_exceeded("the deadline of a call of method {} to {} has passed", message.method, name_));
    }
    const auto id = calls_->begin(message.method, deadline, 0, done);
    if (id == 0) return done(Status::cancelled("the channel to {} is closed", name_));
    auto reply = std::make_shared<Reply>(std::make_shared<TableSink>(calls_, id, message.method));
    pool_.add(0, [this, message = std::move(message), deadline, reply]() mutable {
      if (reply->cancelled()) return;
      handler_(Request{message.method, std::move(message.header), join_slices(message.payload), name_, deadline},
               std::move(*reply));
    });
  }

  Status wait_ready(Deadline) override { return Status::ok_status(); }
  const std::string& peer() const override { return name_; }

 private:
  const std::string name_;
  const Handler handler_;
  const std::shared_ptr<CallTable> calls_;
  WorkPool pool_;
};

}  // namespace

std::unique_ptr<Channel> connect_in_process(Handler handler, const InProcessOptions& options) {
  return std::make_unique<InProcessChannel>(std::move(handler), options);
}

}  // namespace argosy::rpc
