#include "argosy/data/queue_dataset.h"

#include <utility>

#include "argosy/base/mutex.h"
#include "argosy/data/feed.h"
#include "argosy/data/file_parts.h"

namespace argosy::data {
namespace {

void note_lines(const std::vector<TextPiece>& pieces, Batch& batch) {
  for (const TextPiece& piece : pieces)
    batch.lines.push_back({.file = static_cast<uint64_t>(piece.block->origin->file),
                           .lines = {static_cast<uint64_t>(piece.line), static_cast<uint64_t>(piece.lines)}});
}

}  // namespace

Status QueueDataset::start(int threads) {
  if (threads < 1) return Status::invalid_argument("a dataset was started for {} threads, expected at least 1", threads);
  RETURN_IF_ERROR(check_options(options_));
  stop();
  ASSIGN_OR_RETURN(const auto parts, FileParts::list(options_));
  const bool again = again_;
  ASSIGN_OR_RETURN(parser_, make_parser(options_, again ? passes_ - 1 : passes_));
  again_ = false;
  if (!again) ++passes_;
  if (options_.handout != nullptr) again ? options_.handout->repeat_pass() : options_.handout->begin_pass();
  begun_ = true;
  threads_ = threads;
  auto fresh = std::make_shared<FileFeed>(options_, parts, *parser_, threads);
  MutexLock lock(mutex_);
  feed_ = std::move(fresh);
  return {};
}

void QueueDataset::skip() {
  ++passes_;
  if (options_.handout != nullptr) options_.handout->begin_pass();
}

void QueueDataset::repeat() { again_ = std::exchange(begun_, false) || again_; }

Result<bool> QueueDataset::next(int thread, Batch& batch) {
  const std::shared_ptr<FileFeed> feed = this->feed();
  if (feed == nullptr) return Status::failed_precondition("the dataset was not started");
  ARGOSY_CHECK(thread >= 0 && thread < threads_, "next() for a thread that start() does not know");
  batch.reset(options_.slots);
  std::vector<TextPiece> pieces;
  while (batch.size == 0) {  // again where every line was bad
    ASSIGN_OR_RETURN(const bool more, feed->next_lines(options_.batch_size, pieces, batch.number));
    if (!more) return false;
    int64_t lines = 0;
    for (const TextPiece& piece : pieces) lines += piece.lines;
    if (options_.drop_last && lines < options_.batch_size) return false;
    batch.lines.clear();
    if (options_.handout != nullptr) note_lines(pieces, batch);
    for (TextPiece& piece : pieces) RETURN_IF_ERROR(feed->parse(piece, batch));
  }
  return true;
}

void QueueDataset::stop() {
  if (const std::shared_ptr<FileFeed> feed = this->feed()) feed->stop();
}

DatasetCounters QueueDataset::counters() const {
  const std::shared_ptr<FileFeed> feed = this->feed();
  return feed == nullptr ? DatasetCounters{} : feed->counters();
}

std::optional<double> QueueDataset::read_ratio() const {
  const std::shared_ptr<FileFeed> feed = this->feed();
  return feed == nullptr ? std::nullopt : feed->read_ratio();
}

std::shared_ptr<FileFeed> QueueDataset::feed() const {
  MutexLock lock(mutex_);
  return feed_;
}

}  // namespace argosy::data
