#include "argosy/ps/communicator/meeting_communicator.h"

namespace argosy::ps {
namespace {

// The threads of this worker wait for each other and for the servers' acknowledgement, but for no other worker.
class HalfAsyncCommunicator final : public MeetingCommunicator {
 public:
  using MeetingCommunicator::MeetingCommunicator;

  Status start() override {
    RETURN_IF_ERROR(check_bound());
    return refresh_all();
  }

  Status pull(std::span<const RowRequest> requests) override {
    RETURN_IF_ERROR(failure());
    return pull_from_servers(requests);
  }

 private:
  Status refresh_all() override { return receive_dense({}, patience()); }
  Status begin_again() override { return refresh_all(); }

  Status send(const Push& push) override {
    RETURN_IF_ERROR(push_to_all(push));
    return refresh_all();
  }
};

}  // namespace

std::unique_ptr<Communicator> make_half_async_communicator(const CommunicatorOptions& options, Client& client, Clipper clipper) {
  return std::make_unique<HalfAsyncCommunicator>(options, client, std::move(clipper));
}

}  // namespace argosy::ps
