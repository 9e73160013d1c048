#include "argosy/kafka/kafka_log.h"

// The one symbol of the shared library argosy_kafka; argosy/data/message_log.h says who asks for it.
namespace argosy::kafka_module {
namespace {

class Logs : public data::MessageLogs {
 public:
  Result<std::unique_ptr<data::MessageLog>> open(const std::string& brokers, const std::string& topic,
                                                 const std::string& group) override {
    return open_log(brokers, topic, group);
  }
  Result<std::unique_ptr<data::ByteStream>> read(const data::MessageRange& range, data::MessageForm form,
                                                 const data::StopSignal& stop) override {
    return read_range(range, form, stop);
  }
};

}  // namespace
}  // namespace argosy::kafka_module

extern "C" __attribute__((visibility("default"))) void* argosy_message_logs(int version) {
  static argosy::data::MessageLogs* const logs =
      new argosy::kafka_module::Logs;  // never destroyed: threads may be reading at exit
  return version == argosy::data::kMessageLogsVersion ? logs : nullptr;
}
