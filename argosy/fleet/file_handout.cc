#include "argosy/fleet/file_handout.h"

#include <atomic>

#include "argosy/fleet/fleet.h"
#include "argosy/fleet/job.h"

namespace argosy::fleet {
namespace {

class ServerHandout : public data::FileHandout {
 public:
  explicit ServerHandout(std::shared_ptr<RemoteWorker> worker) : worker_(std::move(worker)), number_(worker_->new_handout()) {}

  void begin_pass() override { ++pass_, use_ = ps::FileQuestion::Use::pass; }
  void begin_load() override { ++pass_, use_ = ps::FileQuestion::Use::memory; }

  Result<std::optional<File>> next(size_t files, int reader, int64_t lines) override {
    RETURN_IF_ERROR(worker_->connect());
    ASSIGN_OR_RETURN(const auto handed,
                     worker_->client().next_file({.list = fmt::format("dataset {}, pass {}", number_, pass_.load()),
                                                  .files = files,
                                                  .reader = reader,
                                                  .use = use_,
                                                  .round = worker_->round(),
                                                  .lines = static_cast<uint64_t>(lines)}));
    if (!handed) return std::optional<File>();
    File file{
        .place = static_cast<size_t>(handed->place), .skip = handed->skip, .in_parts = static_cast<int64_t>(handed->in_parts)};
    if (handed->lines) file.lines = static_cast<int64_t>(*handed->lines);
    return std::optional(std::move(file));
  }

 private:
  const std::shared_ptr<RemoteWorker> worker_;
  const int number_;
  std::atomic<int> pass_{0};
  std::atomic<ps::FileQuestion::Use> use_{ps::FileQuestion::Use::pass};
};

}  // namespace

std::shared_ptr<data::FileHandout> make_file_handout(const Fleet& fleet) {
  if (!fleet.initialised()) return nullptr;
  fleet.worker_index();
  return std::make_shared<ServerHandout>(fleet.worker());
}

}  // namespace argosy::fleet
