#include "argosy/data/queue_dataset.h"

namespace argosy::data {

Status QueueDataset::start(int threads) {
  if (threads < 1) return Status::invalid_argument("a dataset was started for {} threads, expected at least 1", threads);
  RETURN_IF_ERROR(check_options(options_));
  stop();
  ASSIGN_OR_RETURN(parser_, make_parser(options_));
  current_.clear();
  current_.resize(static_cast<size_t>(threads));
  auto fresh = std::make_shared<FileFeed>(options_, *parser_, threads);
  std::lock_guard lock(mutex_);
  feed_ = std::move(fresh);
  return {};
}

Result<bool> QueueDataset::next(int thread, Batch& batch) {
  const std::shared_ptr<FileFeed> feed = this->feed();
  if (feed == nullptr) return Status::failed_precondition("the dataset was not started");
  ARGOSY_CHECK(thread >= 0 && static_cast<size_t>(thread) < current_.size(), "next() for a thread that start() does not know");
  TextBlock& block = current_[static_cast<size_t>(thread)];
  batch.reset(options_.slots);
  while (batch.size < options_.batch_size) {
    if (block.done()) {
      ASSIGN_OR_RETURN(const bool more, feed->next_block(block));
      if (!more) break;
    }
    RETURN_IF_ERROR(feed->parse(block, options_.batch_size, batch));
  }
  if (batch.size < options_.batch_size && options_.drop_last) batch.reset(options_.slots);
  return batch.size > 0;
}

void QueueDataset::stop() {
  if (const std::shared_ptr<FileFeed> feed = this->feed()) feed->stop();
}

DatasetCounters QueueDataset::counters() const {
  const std::shared_ptr<FileFeed> feed = this->feed();
  return feed == nullptr ? DatasetCounters{} : feed->counters();
}

std::shared_ptr<FileFeed> QueueDataset::feed() const {
  std::lock_guard lock(mutex_);
  return feed_;
}

}  // namespace argosy::data
