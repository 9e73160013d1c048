#include "argosy/kafka/kafka_log.h"

#include <algorithm>

#include "argosy/base/env.h"
#include "argosy/kafka/kafka_client.h"

namespace argosy::kafka_module {
namespace {

struct DestroyMetadata {
  void operator()(const rd_kafka_metadata_t* metadata) const { rd_kafka_metadata_destroy(metadata); }
};
struct DestroyTopic {
  void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
};

struct DestroyQueue {
  void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
};
struct DestroyEvent {
  void operator()(rd_kafka_event_t* event) const { rd_kafka_event_destroy(event); }
};
using Queue = std::unique_ptr<rd_kafka_queue_t, DestroyQueue>;
using Event = std::unique_ptr<rd_kafka_event_t, DestroyEvent>;

Result<double> reader_seconds() {
  constexpr double kDefault = 120;
  ASSIGN_OR_RETURN(const auto seconds, env_number("ARGOSY_KAFKA_SECONDS"));
  if (!seconds || (*seconds > 0 && *seconds <= 86400)) return seconds.value_or(kDefault);
  return Status::invalid_argument(
      "environment variable ARGOSY_KAFKA_SECONDS is {}, expected a number of seconds above 0, at most 86400", *seconds);
}

// Asked again while brokers are away, until the deadline.
constexpr double kTrySeconds = 2;
constexpr int kRestMilliseconds = 100;

Deadline earlier_of(Deadline a, Deadline b) { return a.when() < b.when() ? a : b; }

Status assign(KafkaClient& client, const data::MessageRange& range) {
  const PartitionList list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), range.topic.c_str(), range.partition)->offset = range.from;
  const auto error = rd_kafka_assign(client.handle(), list.get());
  return error == RD_KAFKA_RESP_ERR_NO_ERROR ? Status() : client.failed(range.name(), error);
}

// What a message that is none says: ok where librdkafka tries again. `next`: the offset that is waited for.
Status check_message(const KafkaClient& client, const data::MessageRange& range, int64_t next,
                     const rd_kafka_message_t& message) {
  switch (message.err) {
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
      return Status::data_loss(
          "{}: the broker does not have offset {} (any more): {}; the topic's retention is shorter than the time until it "
          "was read, or the topic was made anew",
          range.name(), next, rd_kafka_message_errstr(&message));
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED: return client.failed(range.name(), message.err);
    default: return {};
  }
}

Status silence(const KafkaClient& client, const data::MessageRange& range, int64_t next, double seconds) {
  const std::string trouble = client.last_trouble();
  return Status::deadline_exceeded("{}: timed out waiting for offset {}: no message came for {:.0f} s{}", range.name(), next,
                                   seconds, trouble.empty() ? "" : "; last trouble: " + trouble);
}

Result<int64_t> time_of(const data::MessageRange& range, const rd_kafka_message_t& message) {
  rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
  const int64_t time = rd_kafka_message_timestamp(&message, &type);
  if (type != RD_KAFKA_TIMESTAMP_NOT_AVAILABLE && time >= 0) return time;
  return Status::invalid_argument(
      "{}: the message of offset {} has no timestamp, by which every_seconds of a MessageStream makes its windows; leave "
      "every_seconds out",
      range.name(), message.offset);
}

class KafkaLog : public data::MessageLog {
 public:
  KafkaLog(std::unique_ptr<KafkaClient> client, std::string topic, std::string group)
      : client_(std::move(client)), topic_(std::move(topic)), group_(std::move(group)) {}

  Result<std::vector<data::PartitionOffsets>> offsets(Deadline deadline) override {
    std::vector<data::PartitionOffsets> found;
    rd_kafka_resp_err_t of_topic = RD_KAFKA_RESP_ERR_NO_ERROR;
    RETURN_IF_ERROR(again(deadline, fmt::format("partitions and offsets of topic '{}'", topic_), [&](Deadline of_try) {
      // Leaders as well, anew each time: the one that has not answered may lead no more.
      if (const auto error = read_partitions(of_try, found, of_topic); error != RD_KAFKA_RESP_ERR_NO_ERROR) return error;
      if (of_topic != RD_KAFKA_RESP_ERR_NO_ERROR || found.empty()) return RD_KAFKA_RESP_ERR_NO_ERROR;
      if (const auto error = read_offsets(of_try, RD_KAFKA_OFFSET_BEGINNING, &data::PartitionOffsets::first, found);
          error != RD_KAFKA_RESP_ERR_NO_ERROR)
        return error;
      return read_offsets(of_try, RD_KAFKA_OFFSET_END, &data::PartitionOffsets::end, found);
    }));
    if (of_topic != RD_KAFKA_RESP_ERR_NO_ERROR || found.empty())
      return Status::not_found("kafka://{}: there is no topic '{}' ({}); make it, and give it partitions", client_->brokers(),
                               topic_, rd_kafka_err2str(of_topic));
    return found;
  }

  Result<std::vector<std::optional<int64_t>>> committed(std::span<const int32_t> partitions, Deadline deadline) override {
    const PartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())));
    for (int32_t partition : partitions) rd_kafka_topic_partition_list_add(list.get(), topic_.c_str(), partition);
    RETURN_IF_ERROR(again(deadline, fmt::format("what group '{}' has committed", group_), [&](Deadline of_try) {
      return rd_kafka_committed(client_->handle(), list.get(), milliseconds_until(of_try));
    }));
    std::vector<std::optional<int64_t>> found;
    for (int i = 0; i < list->cnt; ++i)
      found.push_back(list->elems[i].offset >= 0 ? std::optional(list->elems[i].offset) : std::nullopt);
    return found;
  }

  Result<data::TimedOffset> first_at(int32_t partition, int64_t from, int64_t to, int64_t time, double silence_seconds) override {
    if (from >= to) return data::TimedOffset{.offset = to, .time = {}};
    if (times_ == nullptr) {
      ASSIGN_OR_RETURN(times_, KafkaClient::connect(client_->brokers(), ""));
    }
    const data::MessageRange range{
        .brokers = client_->brokers(), .topic = topic_, .partition = partition, .from = from, .to = to};
    RETURN_IF_ERROR(assign(*times_, range));
    auto found = read_times(range, time, silence_seconds);
    rd_kafka_assign(times_->handle(), nullptr);  // nothing more is fetched
    return found;
  }

  Status commit(std::span<const data::PartitionOffsets> ends, Deadline deadline) override {
    const PartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(ends.size())));
    for (const data::PartitionOffsets& end : ends)
      rd_kafka_topic_partition_list_add(list.get(), topic_.c_str(), end.partition)->offset = end.end;
    return again(deadline, fmt::format("commit of group '{}'", group_), [&](Deadline) { return commit_before(deadline, *list); });
  }

 private:
  Result<data::TimedOffset> read_times(const data::MessageRange& range, int64_t time, double silence_seconds) {
    for (Deadline deadline = Deadline::after_seconds(silence_seconds);;) {
      const Message message(rd_kafka_consumer_poll(times_->handle(), kRestMilliseconds));
      const bool good = message != nullptr && message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
      if (!good && deadline.passed()) return silence(*times_, range, range.from, silence_seconds);
      if (message == nullptr || message->partition != range.partition) continue;
      const bool end = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
      if ((good || end) && message->offset >= range.to) return data::TimedOffset{.offset = range.to, .time = {}};
      if (!good && !end) RETURN_IF_ERROR(check_message(*times_, range, range.from, *message));
      if (!good) continue;
      deadline = Deadline::after_seconds(silence_seconds);
      ASSIGN_OR_RETURN(const int64_t of_message, time_of(range, *message));
      if (of_message >= time) return data::TimedOffset{.offset = message->offset, .time = of_message};
    }
  }

  // What may pass: a broker that is away, a leader that is being chosen. `call` ends by the deadline that it is given.
  template <typename Call>
  Status again(Deadline deadline, const std::string& what, Call&& call) {
    for (const Stopwatch watch;;) {
      const rd_kafka_resp_err_t error = call(earlier_of(deadline, Deadline::after_seconds(kTrySeconds)));
      if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
      if (error == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC || error == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION)
        return client_->failed(what, error);
      if (deadline.passed())
        return client_->failed(fmt::format("{}: timed out after {:.1f} s (broker_seconds)", what, watch.seconds()), error);
      const Message rest(rd_kafka_consumer_poll(client_->handle(), kRestMilliseconds));
    }
  }

  // `of_topic`: what the brokers say of the topic as such.
  rd_kafka_resp_err_t read_partitions(Deadline deadline, std::vector<data::PartitionOffsets>& found,
                                      rd_kafka_resp_err_t& of_topic) {
    const std::unique_ptr<rd_kafka_topic_t, DestroyTopic> topic(rd_kafka_topic_new(client_->handle(), topic_.c_str(), nullptr));
    const rd_kafka_metadata_t* answer = nullptr;
    const auto error = rd_kafka_metadata(client_->handle(), 0, topic.get(), &answer, milliseconds_until(deadline));
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return error;
    const std::unique_ptr<const rd_kafka_metadata_t, DestroyMetadata> metadata(answer);
    if (metadata->topic_cnt != 1) return RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
    const rd_kafka_metadata_topic& only = metadata->topics[0];
    of_topic = only.err;
    found.clear();
    for (int i = 0; i < only.partition_cnt; ++i) found.push_back({.partition = only.partitions[i].id});
    std::ranges::sort(found, {}, &data::PartitionOffsets::partition);
    return of_topic == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE ? of_topic : RD_KAFKA_RESP_ERR_NO_ERROR;
  }

  // Not by rd_kafka_query_watermark_offsets: whatever timeout it is given, it waits for a leader that is away until that is back.
  rd_kafka_resp_err_t read_offsets(Deadline deadline, int64_t which, int64_t data::PartitionOffsets::* field,
                                   std::vector<data::PartitionOffsets>& found) {
    const PartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(found.size())));
    for (const data::PartitionOffsets& one : found)
      rd_kafka_topic_partition_list_add(list.get(), topic_.c_str(), one.partition)->offset = which;
    const auto error = rd_kafka_offsets_for_times(client_->handle(), list.get(), milliseconds_until(deadline));
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return error;
    for (data::PartitionOffsets& one : found) {
      const auto* answer = rd_kafka_topic_partition_list_find(list.get(), topic_.c_str(), one.partition);
      if (answer->err != RD_KAFKA_RESP_ERR_NO_ERROR) return answer->err;
      if (answer->offset < 0) return RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE;
      one.*field = answer->offset;
    }
    return RD_KAFKA_RESP_ERR_NO_ERROR;
  }

  // rd_kafka_commit() has no timeout, and waits for a coordinator that is away.
  rd_kafka_resp_err_t commit_before(Deadline deadline, const rd_kafka_topic_partition_list_t& ends) {
    const Queue answers(rd_kafka_queue_new(client_->handle()));
    const auto error = rd_kafka_commit_queue(client_->handle(), &ends, answers.get(), nullptr, nullptr);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return error;
    const Event answer(rd_kafka_queue_poll(answers.get(), milliseconds_until(deadline)));
    return answer == nullptr ? RD_KAFKA_RESP_ERR__TIMED_OUT : rd_kafka_event_error(answer.get());
  }

  const std::unique_ptr<KafkaClient> client_;
  std::unique_ptr<KafkaClient> times_;  // reads messages for their times; null: nobody has asked
  const std::string topic_, group_;
};

class RangeStream : public data::ByteStream {
 public:
  RangeStream(std::unique_ptr<KafkaClient> client, const data::MessageRange& range, data::MessageForm form,
              double patience_seconds, const data::StopSignal& stop)
      : client_(std::move(client)),
        range_(range),
        form_(form),
        patience_seconds_(patience_seconds),
        stop_(stop),
        next_(range.from) {}

  Result<size_t> read(std::span<char> room) override {
    size_t filled = 0;
    while (filled < room.size()) {
      if (given_ == text_.size()) {
        if (next_ >= range_.to) break;
        ASSIGN_OR_RETURN(const bool more,
                         fill(filled > 0 ? 0 : patience_seconds_));  // what there is is handed on before it waits
        if (!more) break;
      }
      const size_t part = std::min(room.size() - filled, text_.size() - given_);
      std::copy_n(text_.data() + given_, part, room.data() + filled);
      given_ += part;
      filled += part;
    }
    return filled;
  }

 private:
  static constexpr int kPollMilliseconds = 100;

  // Puts the next lines into text_; false: none came in time (0 seconds), or the range has ended.
  Result<bool> fill(double seconds) {
    text_.clear();
    given_ = 0;
    const Deadline deadline = Deadline::after_seconds(seconds);
    while (next_ < range_.to) {
      if (stop_.stopped()) return Status::cancelled("reading was stopped");
      const Message message(rd_kafka_consumer_poll(client_->handle(), seconds > 0 ? kPollMilliseconds : 0));
      if (message != nullptr) RETURN_IF_ERROR(take(*message));
      if (!text_.empty()) return true;
      if (message == nullptr && seconds <= 0) return false;
      if (seconds > 0 && deadline.passed()) return silence(*client_, range_, next_, seconds);
    }
    return !text_.empty();
  }

  Status take(const rd_kafka_message_t& message) {
    switch (message.err) {
      case RD_KAFKA_RESP_ERR_NO_ERROR:
        pass_over(std::min(message.offset, range_.to));
        if (message.offset < next_ || message.offset >= range_.to) return {};
        append({static_cast<const char*>(message.payload), message.len});
        ++next_;
        return {};
      case RD_KAFKA_RESP_ERR__PARTITION_EOF:
        // The end of the partition: what lacks before it is no message. A broker whose end lies before ours is not up to date.
        if (message.offset >= range_.to) pass_over(range_.to);
        return {};
      default: return check_message(*client_, range_, next_, message);
    }
  }

  void pass_over(int64_t until) {
    for (; next_ < until; ++next_) text_ += '\n';
  }
  void append(std::string_view message) {
    if (form_ == data::MessageForm::bytes) return data::append_bytes_line(message, text_);
    message = message.substr(0, message.find_last_not_of("\r\n") + 1);
    const size_t at = text_.size();
    text_.append(message);
    std::replace(text_.begin() + static_cast<std::ptrdiff_t>(at), text_.end(), '\n', ' ');
    text_ += '\n';
  }

  const std::unique_ptr<KafkaClient> client_;
  const data::MessageRange range_;
  const data::MessageForm form_;
  const double patience_seconds_;
  const data::StopSignal& stop_;
  std::string text_;  // lines that were not read yet, from given_ on
  size_t given_ = 0;
  int64_t next_;  // offset of the next line
};

}  // namespace

Result<std::unique_ptr<data::MessageLog>> open_log(const std::string& brokers, const std::string& topic,
                                                   const std::string& group) {
  ASSIGN_OR_RETURN(auto client, KafkaClient::connect(brokers, group));
  return std::unique_ptr<data::MessageLog>(std::make_unique<KafkaLog>(std::move(client), topic, group));
}

Result<std::unique_ptr<data::ByteStream>> read_range(const data::MessageRange& range, data::MessageForm form,
                                                     const data::StopSignal& stop) {
  ASSIGN_OR_RETURN(const double patience_seconds, reader_seconds());
  ASSIGN_OR_RETURN(auto client, KafkaClient::connect(range.brokers, ""));
  RETURN_IF_ERROR(assign(*client, range));
  return std::unique_ptr<data::ByteStream>(std::make_unique<RangeStream>(std::move(client), range, form, patience_seconds, stop));
}

}  // namespace argosy::kafka_module
