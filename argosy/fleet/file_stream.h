#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "argosy/base/status.h"

namespace argosy {
class Deadline;
}  // namespace argosy

namespace argosy::data {
class MessageLog;
struct PartitionOffsets;
}  // namespace argosy::data

namespace argosy::fleet {

class Fleet;

struct FileStreamOptions {
  double idle_seconds = 60;   // 0 or more: without news, after which the stream ends
  double poll_seconds = 0.5;  // more than 0: between two looks for news
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
  explicit FileStream(FileStreamOptions options);
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
  // `silent`: there was no news for idle_seconds, and where there is none now the stream ends.
  virtual Result<News> look(bool silent) = 0;
  // What was agreed upon, perhaps another worker's news.
  virtual Result<std::vector<std::string>> take(const std::string& plan) = 0;
  // The stream has ended, with this plan of nothing.
  virtual Status end(const std::string&) { return {}; }
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
  std::string brokers;  // "host:port,host:port"; an IPv6 address in brackets
  std::string topic;
  std::string group = "argosy";  // under which offsets are committed, and from which a new job goes on
  std::string from = "earliest";  // where the group has committed nothing: or "latest"
  int64_t most = 1'000'000;       // messages of one partition in a pass
  int64_t range = 50'000;         // of which so many are one file of the list
  double broker_seconds = 60;     // that brokers may be away
  double every_seconds = 0;  // the length of windows of event time, after each of which as_of() says so; 0: there are none
  // With windows: a partition without later messages has all of a window so long after its end; none: 10.
  std::optional<double> late_seconds;
  FileStreamOptions stream;
};

// Messages of a Kafka topic, each a line of text (see DatasetOptions). A file of the list is a range of offsets of one partition
// (data/message_log.h): the offsets are the numbers of its lines, by which the servers know what they have. Offsets are committed
// to the brokers once the servers have all before them.
//
// With every_seconds no list goes beyond the end T of a window of event time, the time in the messages' timestamps (multiples of
// every_seconds since 1970, in UTC), before all messages of the window are taken. These are, partition by partition, those before
// the first one of T or later. Where a partition has no such message yet, they are those that are there late_seconds after T by
// this machine's clock, or when nothing has come for idle_seconds. What comes after them with an earlier time is late, and
// belongs to the next window.
class MessageStream : public FileStream {
 public:
  explicit MessageStream(MessageStreamOptions options);
  // Of a topic that is open.
  MessageStream(MessageStreamOptions options, std::unique_ptr<data::MessageLog> log);
  ~MessageStream() override;

  // The end T of a window, in milliseconds since 1970, where the list that next() gave last begins another one: before that list
  // is trained, the model has exactly the messages before T. Once the stream has ended: where it has all of the last window. The
  // same in all workers, and in one that is started again.
  std::optional<int64_t> as_of() const { return as_of_; }

 private:
  struct Range;
  struct Window;
  // Messages before `offset` are before the end of the window; `time`: that of the first one which is not, where it is known.
  struct Ahead {
    int64_t end_of_window = 0, offset = 0;
    std::optional<int64_t> time = {};
  };

  Result<News> look(bool silent) override;
  Result<std::vector<std::string>> take(const std::string& plan) override;
  Status end(const std::string& plan) override;
  Status settle() override;
  Status connect();
  Result<std::vector<Range>> new_messages();
  Result<int64_t> first_offset(const data::PartitionOffsets& there, bool later, const Deadline& deadline);
  static bool nothing_in(const std::vector<Range>& ranges);
  // Event time.
  Result<Window> cut(std::vector<Range>& ranges, bool silent);
  Result<bool> cut_before(std::vector<Range>& ranges, int64_t time, bool silent);
  Result<std::optional<int64_t>> next_window(const std::vector<Range>& ranges, bool silent);
  int64_t late_milliseconds() const;
  Result<Window> read_window(const std::string& line) const;

  const MessageStreamOptions settings_;
  std::unique_ptr<data::MessageLog> log_;
  std::map<int32_t, int64_t> next_;   // by partition: behind what was taken
  std::map<int32_t, int64_t> begin_;  // by partition: where this worker would begin
  int64_t window_end_ = 0;           // of the window that is being taken; 0: there is none yet
  std::optional<int64_t> as_of_;
  std::map<int32_t, Ahead> ahead_;   // by partition: where the window ends, as far as that is known
};

struct FolderStreamOptions {
  std::string pattern;  // of a shell: "incoming/part-*", "s3://bucket/incoming/part-*"
  int64_t most = 1000;  // files in a pass
  FileStreamOptions stream;
};

// Files that appear: those that match a pattern and were not there before, by their names. A file is whole when it gets its name:
// it is written under another one (which the pattern does not match) and renamed; an object is whole when it is there.
class FolderStream : public FileStream {
 public:
  // The folder is there, as far as the pattern names one; of a store nothing needs to be.
  explicit FolderStream(FolderStreamOptions options);

 private:
  Result<News> look(bool silent) override;
  Result<std::vector<std::string>> take(const std::string& plan) override;

  const FolderStreamOptions settings_;
  std::set<std::string> taken_;
};

}  // namespace argosy::fleet
