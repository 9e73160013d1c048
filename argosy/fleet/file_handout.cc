#include "argosy/fleet/file_handout.h"

#include <atomic>

#include "argosy/fleet/fleet.h"
#include "argosy/fleet/job.h"

namespace argosy::fleet {
namespace {

std::atomic<int> handouts{0};  // that this process has made

class ServerHandout : public data::FileHandout {
 public:
  explicit ServerHandout(std::shared_ptr<RemoteWorker> worker) : worker_(std::move(worker)), number_(++handouts) {}

  void begin_pass() override { ++pass_; }

  Result<std::optional<size_t>> next(size_t files, int reader) override {
    RETURN_IF_ERROR(worker_->connect());
    ASSIGN_OR_RETURN(const auto file,
                     worker_->client().next_file(fmt::format("dataset {}, pass {}", number_, pass_.load()), files, reader));
    return file ? std::optional<size_t>(*file) : std::nullopt;
  }

 private:
  const std::shared_ptr<RemoteWorker> worker_;
  const int number_;
  std::atomic<int> pass_{0};
};

}  // namespace

std::shared_ptr<data::FileHandout> make_file_handout(const Fleet& fleet) {
  if (!fleet.initialised()) return nullptr;
  fleet.worker_index();
  return std::make_shared<ServerHandout>(fleet.worker());
}

}  // namespace argosy::fleet
