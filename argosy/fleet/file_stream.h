#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "argosy/base/status.h"

namespace argosy::fleet {

class Fleet;

struct FileStreamOptions {
  double idle_seconds = 60;   // without news, after which the stream ends
  double poll_seconds = 0.5;  // between two looks for news
  const Fleet* fleet = nullptr;  // whose workers share the stream; null: that of this process
};

// Data that comes while it is trained, as one list of files after the other: next() says what a pass is to read. All workers of a
// job call it before every pass, with the same settings, and get the same list, of which a hand-out (set_file_handout) gives each
// worker a part. The servers keep what was agreed upon, so that a worker that is started again, and its script with it, finds the
// lists of before; and they know which lines of which file they have. So every sample counts once, also where processes are
// killed.
//
// Throws argosy::Error. Thread-compatible.
class FileStream {
 public:
  explicit FileStream(FileStreamOptions options) : options_(options) {}
  virtual ~FileStream() = default;

  // Where the job goes on without a worker (on_worker_loss=shrink) whose files nobody has trained to their ends, it is an error.
  //
  // The files of the next pass; none: nothing came for idle_seconds, and the stream has ended for all workers. By then all of
  // them have trained the files of before, and settle() was called for these.
  std::vector<std::string> next();

 protected:
  struct News {
    std::string plan;      // what a pass would read now
    bool anything = false;  // whether that is more than nothing
  };
  virtual Result<News> look() = 0;
  // What was agreed upon, perhaps another worker's news.
  virtual Result<std::vector<std::string>> take(const std::string& plan) = 0;
  // All workers have trained what was taken so far. By one of them.
  virtual Status settle() { return {}; }

 private:
  struct Agreed {
    std::string plan;
    bool anything = false, ended = false;
    bool live = false;  // it was agreed upon now; false: by an earlier process of this worker
    bool first = false;  // it is this worker's
  };
  static std::string new_nonce();
  Result<News> wait_for_news(bool& idle);
  Agreed agree(const News& news, bool idle) const;

  const FileStreamOptions options_;
  const std::string nonce_ = new_nonce();
  bool live_ = false;       // nothing is replayed any more
  bool unsettled_ = false;  // something was taken since settle()
};

struct MessageStreamOptions {
  std::string brokers;  // "host:port,host:port"
  std::string topic;
  std::string group = "argosy";  // under which offsets are committed, and from which a new job goes on
  std::string from = "earliest";  // where the group has committed nothing: or "latest"
  int64_t most = 1'000'000;       // messages of one partition in a pass
  int64_t range = 50'000;         // of which so many are one file of the list
  double broker_seconds = 60;     // that brokers may be away
  FileStreamOptions stream;
};

// Messages of a Kafka topic, each a line of text (see DatasetOptions). A file of the list is a range of offsets of one partition
// (data/message_log.h): the offsets are the numbers of its lines, by which the servers know what they have. Offsets are committed
// to the brokers once the servers have all before them.
class MessageStream : public FileStream {
 public:
  explicit MessageStream(MessageStreamOptions options);
  ~MessageStream() override;

 private:
  Result<News> look() override;
  Result<std::vector<std::string>> take(const std::string& plan) override;
  Status settle() override;
  Status connect();
  Result<int64_t> first_offset(int32_t partition, int64_t first, int64_t end);

  struct Log;
  const MessageStreamOptions settings_;
  std::unique_ptr<Log> log_;
  std::map<int32_t, int64_t> next_;  // by partition: behind what was taken
};

struct FolderStreamOptions {
  std::string pattern;  // of a shell: "incoming/part-*"
  int64_t most = 1000;  // files in a pass
  FileStreamOptions stream;
};

// Files that appear: those that match a pattern and were not there before, by their names. A file is whole when it gets its name:
// it is written under another one (which the pattern does not match) and renamed.
class FolderStream : public FileStream {
 public:
  explicit FolderStream(FolderStreamOptions options) : FileStream(options.stream), settings_(std::move(options)) {}

 private:
  Result<News> look() override;
  Result<std::vector<std::string>> take(const std::string& plan) override;

  const FolderStreamOptions settings_;
  std::set<std::string> taken_;
};

}  // namespace argosy::fleet
