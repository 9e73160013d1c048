#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/status.h"
#include "argosy/data/byte_stream.h"
#include "argosy/data/message_bytes.h"

// What the module argosy_kafka, a shared library that is opened when messages are read for the first time, offers. No header of
// librdkafka is seen outside of the module.
namespace argosy::data {

// Messages [from, to) of a partition of a topic: a file of a dataset by the name kafka://BROKERS/TOPIC/PARTITION?from=A&to=B. The
// name says which messages it has, for good: every reader gets the same lines.
struct MessageRange {
  std::string brokers;  // "host:port,host:port"
  std::string topic;
  int32_t partition = 0;
  int64_t from = 0, to = 0;

  std::string name() const;
  friend bool operator==(const MessageRange&, const MessageRange&) = default;
};

bool is_message_range(const std::string& path);  // begins with kafka:
Result<MessageRange> parse_message_range(const std::string& path);

// Offsets of one partition.
struct PartitionOffsets {
  int32_t partition = 0;
  int64_t first = 0, end = 0;  // of the messages that are there: [first, end)
};

// A message by its offset, and the time that its timestamp says, in milliseconds since 1970; no time: there is no such message.
struct TimedOffset {
  int64_t offset = 0;
  std::optional<int64_t> time;
};

// A topic. Thread-compatible. Errors name brokers and topic. Calls wait for the brokers up to the deadline.
class MessageLog {
 public:
  virtual ~MessageLog() = default;
  virtual Result<std::vector<PartitionOffsets>> offsets(Deadline deadline) = 0;  // ascending partitions
  // What a group has committed, per partition; none: nothing yet.
  virtual Result<std::vector<std::optional<int64_t>>> committed(std::span<const int32_t> partitions, Deadline deadline) = 0;
  // The first message of offsets [from, to) that is of `time` or later; `to` where there is none. Messages are read for it, in
  // the order of their offsets. An error where none comes for so many seconds, or one has no timestamp.
  virtual Result<TimedOffset> first_at(int32_t partition, int64_t from, int64_t to, int64_t time, double silence_seconds) = 0;
  virtual Status commit(std::span<const PartitionOffsets> ends, Deadline deadline) = 0;  // `end` of each
};

// Thread-safe.
class MessageLogs {
 public:
  virtual ~MessageLogs() = default;
  virtual Result<std::unique_ptr<MessageLog>> open(const std::string& brokers, const std::string& topic,
                                                   const std::string& group) = 0;
  // A line per offset, of a message in this form; an empty one where there is no message (compacted, aborted, without a value).
  // `stop` outlives the stream.
  virtual Result<std::unique_ptr<ByteStream>> read(const MessageRange& range, MessageForm form, const StopSignal& stop) = 0;
};

inline constexpr int kMessageLogsVersion = 3;
inline constexpr const char* kMessageLogsFunction = "argosy_message_logs";

// Opens the module, once in a process. An error says what is missing.
Result<MessageLogs*> message_logs();

}  // namespace argosy::data
