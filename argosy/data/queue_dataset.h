#pragma once

#include <memory>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/data/dataset.h"
#include "argosy/data/line_parser.h"

namespace argosy::data {

class FileFeed;

// Streams the files once per start(): text is parsed by the thread that asks for a batch, straight into its columns. A batch is
// batch_size lines; the last one may be smaller, and is left out with drop_last; bad lines make their batch smaller. With one
// thread the samples come in the order of the files.
//
// Threads as BatchSource says; no start() while a thread is inside next().
class QueueDataset : public BatchSource {
 public:
  explicit QueueDataset(DatasetOptions options) : options_(std::move(options)) {}
  ~QueueDataset() override { stop(); }

  Status start(int threads) override;
  void skip() override;
  void repeat() override;
  Result<bool> next(int thread, Batch& batch) override;
  void stop() override;
  DatasetCounters counters() const override;
  std::optional<double> read_ratio() const override;
  const DatasetOptions& options() const override { return options_; }

 private:
  std::shared_ptr<FileFeed> feed() const;

  const DatasetOptions options_;
  std::unique_ptr<LineParser> parser_;  // made by start()
  int threads_ = 0;                     // of the current pass
  uint64_t passes_ = 0;                 // begun or skipped
  bool begun_ = false;                  // a pass that may be begun again
  bool again_ = false;                  // the next start() begins it again
  mutable Mutex mutex_;
  std::shared_ptr<FileFeed> feed_ ARGOSY_GUARDED_BY(mutex_);
};

}  // namespace argosy::data
