#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include <atomic>
#include <memory>
#include <string>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/rpc/door.h"
#include "argosy/rpc/handler.h"
#include "argosy/rpc/read_turns.h"
#include "argosy/rpc/rpc_server.h"
#include "argosy/rpc/stream_state.h"
#include "argosy/rpc/wire_frame.h"
#include "argosy/rpc/work_pool.h"

namespace argosy::rpc {

// Counts the calls that have been taken and whose answers have not left yet, and the bytes of those answers. Thread-safe.
class CallsUnderWay {
 public:
  // Dropping it takes the call off, and its answer.
  class Ticket {
   public:
    explicit Ticket(std::shared_ptr<CallsUnderWay> calls) : calls_(std::move(calls)) {}
    ~Ticket() { calls_->leave(unsent_); }
    Ticket(const Ticket&) = delete;
    // The call has an answer of so many bytes. Once.
    void answered(uint64_t bytes);

   private:
    const std::shared_ptr<CallsUnderWay> calls_;
    uint64_t unsent_ = 0;
  };

  // A ticket for one more; null once closed.
  static std::shared_ptr<Ticket> enter(const std::shared_ptr<CallsUnderWay>& calls);
  // Lets nobody in any more, and waits until all have left; false where the deadline came first.
  bool close_and_wait(Deadline deadline);
  uint64_t unsent_bytes() const { return unsent_.load(std::memory_order_relaxed); }

 private:
  void leave(uint64_t unsent);

  Mutex mutex_;
  ConditionVariable left_;
  size_t count_ ARGOSY_GUARDED_BY(mutex_) = 0;
  bool closed_ ARGOSY_GUARDED_BY(mutex_) = false;
  std::atomic<uint64_t> unsent_ = 0;
};

// What the streams of a server share; constant once it listens, but for the counters.
struct ServerShared {
  ServerShared(Handler handler, int threads)
      : handler(std::move(handler)),
        turns(ReadTurns::pace_of(threads)),
        changes("rpc-handler", threads),
        reads("rpc-read", threads),
        urgent("rpc-urgent", 1) {}

  const Handler handler;
  std::function<Lane(uint16_t)> lane;
  RpcLimits limits;
  std::unique_ptr<Door> door;
  std::string endpoint;
  std::string token;
  size_t max_message_bytes = 0;
  std::atomic<uint64_t> calls{0}, refused{0}, bytes_in{0}, bytes_out{0};
  std::atomic<uint64_t> streams{0}, streams_refused{0}, replies_refused{0}, replies_expired{0};
  const std::shared_ptr<CallsUnderWay> under_way = std::make_shared<CallsUnderWay>();
  ReadTurns turns;
  WorkPool changes, reads, urgent;

  WorkPool& pool(Lane of) { return of == Lane::change ? changes : of == Lane::read ? reads : urgent; }
};

// The server's end of a channel's stream. Requests are handed to the pools as they arrive, as long as not too many wait there, or
// too many answers for the caller to take them; answers leave in the order in which they are given. Kept by gRPC's view of it
// (until OnDone) and by the replies that are still owed. Thread-safe.
class ServerStream final : public grpc::ServerGenericBidiReactor, public std::enable_shared_from_this<ServerStream> {
 public:
  static ServerStream* open(std::shared_ptr<ServerShared> shared, grpc::GenericCallbackServerContext* context);
  ServerStream(std::shared_ptr<ServerShared> shared, std::string peer);
  ~ServerStream() override;

  // `expires`: nobody waits for the answer from then on.
  void answer(uint64_t call, SteadyClock::time_point expires, const Status& status, const std::string& header,
              const std::vector<Slice>& payload, std::shared_ptr<CallsUnderWay::Ticket> ticket);
  bool closed() const { return state_.closed(); }

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override { act(state_.close()); }
  void OnDone() override { self_.reset(); }

 private:
  void act(StreamState::Then then);
  void refuse(const Status& status);  // the whole stream
  Lane lane_of(const grpc::ByteBuffer& request) const;
  bool has_room_for(size_t reply_bytes);
  void read_next();
  bool begin_read();
  bool read_on(size_t arrived);  // whether there is room for more; if not, resume() reads again
  void taken(size_t bytes);
  void resume();
  bool too_many_wait() const ARGOSY_REQUIRES(mutex_);
  void handle(const grpc::ByteBuffer& request);
  void handle(WireFrame frame);

  const std::shared_ptr<ServerShared> shared_;
  const std::string peer_;
  const WorkPool::Source source_;
  StreamState state_;
  grpc::ByteBuffer incoming_;
  Mutex mutex_;
  Status refusal_ ARGOSY_GUARDED_BY(mutex_);
  size_t waiting_bytes_ ARGOSY_GUARDED_BY(mutex_) = 0;  // of requests that wait for a thread
  size_t waiting_requests_ ARGOSY_GUARDED_BY(mutex_) = 0;
  bool paused_ ARGOSY_GUARDED_BY(mutex_) = false;  // reading goes on when fewer wait
  bool heard_ = false;  // a request has come; touched by reactions to reads only
  ReadTurns::Burst burst_;  // the same
  bool let_in_ = false;  // by the door; constant after open()
  std::shared_ptr<ServerStream> self_;  // until OnDone
};

}  // namespace argosy::rpc
