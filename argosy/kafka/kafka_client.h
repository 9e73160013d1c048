#pragma once

#include <librdkafka/rdkafka.h>

#include <memory>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/base/status.h"

namespace argosy::kafka_module {

struct DestroyHandle {
  void operator()(rd_kafka_t* handle) const {
    rd_kafka_destroy_flags(handle, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);  // it was in no group
  }
};
struct DestroyList {
  void operator()(rd_kafka_topic_partition_list_t* list) const { rd_kafka_topic_partition_list_destroy(list); }
};
struct DestroyMessage {
  void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
};
using Handle = std::unique_ptr<rd_kafka_t, DestroyHandle>;
using PartitionList = std::unique_ptr<rd_kafka_topic_partition_list_t, DestroyList>;
using Message = std::unique_ptr<rd_kafka_message_t, DestroyMessage>;

// A consumer of librdkafka, which is in no group by itself: partitions are assigned to it, and offsets committed, when its owner
// says so. Thread-compatible; librdkafka's threads are its own, and end with it.
class KafkaClient {
 public:
  // The properties of the file that ARGOSY_KAFKA_CONFIG names (lines KEY=VALUE, as librdkafka has them) come on top of ours.
  static Result<std::unique_ptr<KafkaClient>> connect(const std::string& brokers, const std::string& group);

  rd_kafka_t* handle() const { return handle_.get(); }
  const std::string& brokers() const { return brokers_; }
  // What went wrong with the brokers last, in librdkafka's words.
  std::string last_trouble() const;
  Status failed(std::string_view what, rd_kafka_resp_err_t error) const;

 private:
  explicit KafkaClient(std::string brokers) : brokers_(std::move(brokers)) {}
  static void on_log(const rd_kafka_t* handle, int level, const char* facility, const char* text);
  static void on_error(rd_kafka_t* handle, int error, const char* reason, void* self);

  const std::string brokers_;
  mutable Mutex mutex_;
  std::string trouble_ ARGOSY_GUARDED_BY(mutex_);
  Handle handle_;  // last: its threads call back
};

// Milliseconds for librdkafka's calls: at least 1.
int milliseconds_until(Deadline deadline);

}  // namespace argosy::kafka_module
