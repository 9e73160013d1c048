#include <algorithm>

#include "argosy/base/clock.h"
#include "argosy/base/error.h"
#include "argosy/base/text.h"
#include "argosy/data/message_log.h"
#include "argosy/fleet/file_stream.h"

namespace argosy::fleet {

struct MessageStream::Log {
  std::unique_ptr<data::MessageLog> log;
};

MessageStream::MessageStream(MessageStreamOptions options) : FileStream(options.stream), settings_(std::move(options)) {
  if (settings_.brokers.empty() || settings_.topic.empty() || settings_.group.empty())
    throw Error(Status::invalid_argument("a MessageStream needs brokers, a topic and a group; found '{}', '{}', '{}'",
                                         settings_.brokers, settings_.topic, settings_.group));
  if (settings_.topic.find('/') != std::string::npos || settings_.brokers.find('/') != std::string::npos)
    throw Error(Status::invalid_argument("brokers are HOST:PORT,HOST:PORT and a topic has no '/'; found '{}', '{}'",
                                         settings_.brokers, settings_.topic));
  if (settings_.from != "earliest" && settings_.from != "latest")
    throw Error(Status::invalid_argument("a MessageStream starts from 'earliest' or 'latest'; found '{}'", settings_.from));
  if (settings_.most < 1 || settings_.range < 1)
    throw Error(Status::invalid_argument("most and range of a MessageStream are at least 1; found {} and {}", settings_.most,
                                         settings_.range));
}

MessageStream::~MessageStream() = default;

Status MessageStream::connect() {
  if (log_ != nullptr) return {};
  ASSIGN_OR_RETURN(data::MessageLogs * logs, data::message_logs());
  auto log = std::make_unique<Log>();
  ASSIGN_OR_RETURN(log->log, logs->open(settings_.brokers, settings_.topic, settings_.group));
  log_ = std::move(log);
  return {};
}

// A plan is a line for each partition: its number, and the offsets from and to. One without messages is there as well: where it
// begins is agreed upon with the first plan.
Result<FileStream::News> MessageStream::look() {
  RETURN_IF_ERROR(connect());
  ASSIGN_OR_RETURN(const auto partitions, log_->log->offsets(Deadline::after_seconds(settings_.broker_seconds)));
  News news;
  for (const data::PartitionOffsets& one : partitions) {
    const auto known = next_.find(one.partition);
    int64_t from = 0;
    if (known != next_.end()) {
      from = known->second;
    } else {
      ASSIGN_OR_RETURN(from, first_offset(one.partition, one.first, one.end));
    }
    if (from < one.first)
      return Status::data_loss(
          "kafka://{}/{}/{}: the next message is that of offset {}, and the first that the broker has is {}: {} messages are "
          "gone by the topic's "
          "retention. Commit offset {} for group '{}' to go on without them",
          settings_.brokers, settings_.topic, one.partition, from, one.first, one.first - from, one.first, settings_.group);
    const int64_t to = std::max(from, std::min(one.end, from + settings_.most));
    news.anything = news.anything || to > from;
    news.plan += fmt::format("{}{} {} {}", news.plan.empty() ? "" : "\n", one.partition, from, to);
  }
  return news;
}

Result<int64_t> MessageStream::first_offset(int32_t partition, int64_t first, int64_t end) {
  ASSIGN_OR_RETURN(const auto committed,
                   log_->log->committed(std::span(&partition, 1), Deadline::after_seconds(settings_.broker_seconds)));
  if (committed[0]) return *committed[0];
  return settings_.from == "latest" && next_.empty() ? end : first;  // a partition that is added later is read from its beginning
}

Result<std::vector<std::string>> MessageStream::take(const std::string& plan) {
  std::vector<std::string> files;
  for (const std::string& line : split(plan, '\n')) {
    const std::vector<std::string> words = split(line, ' ');
    std::vector<int64_t> numbers;
    for (const std::string& word : words) numbers.push_back(parse_integer(word).value_or(-1));
    if (numbers.size() != 3 || std::ranges::min(numbers) < 0 || numbers[2] < numbers[1])
      return Status::data_loss("what the workers have agreed upon to read of topic '{}' cannot be read: '{}'", settings_.topic,
                               line);
    const auto partition = static_cast<int32_t>(numbers[0]);
    for (int64_t from = numbers[1]; from < numbers[2]; from += settings_.range) {
      const int64_t to = std::min(numbers[2], from + settings_.range);
      files.push_back(data::MessageRange{
          .brokers = settings_.brokers, .topic = settings_.topic, .partition = partition, .from = from, .to = to}
                          .name());
    }
    next_[partition] = numbers[2];
  }
  return files;
}

Status MessageStream::settle() {
  if (next_.empty()) return {};
  RETURN_IF_ERROR(connect());
  std::vector<data::PartitionOffsets> ends;
  for (const auto& [partition, next] : next_) ends.push_back({.partition = partition, .first = 0, .end = next});
  return log_->log->commit(ends, Deadline::after_seconds(settings_.broker_seconds));
}

}  // namespace argosy::fleet
