#include "argosy/kafka/kafka_client.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "argosy/base/env.h"
#include "argosy/base/file.h"
#include "argosy/base/text.h"

namespace argosy::kafka_module {
namespace {

using Property = std::pair<std::string, std::string>;

struct DestroyConf {
  void operator()(rd_kafka_conf_t* conf) const { rd_kafka_conf_destroy(conf); }
};
using Conf = std::unique_ptr<rd_kafka_conf_t, DestroyConf>;

Result<std::vector<Property>> users_properties() {
  std::vector<Property> properties;
  const auto path = env_text("ARGOSY_KAFKA_CONFIG");
  if (!path) return properties;
  ASSIGN_OR_RETURN(const std::string text, read_file(*path));
  int number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    const std::string_view words = trim(line);
    if (words.empty() || words.starts_with("#")) continue;
    const size_t at = words.find('=');
    if (at == std::string_view::npos)
      return Status::invalid_argument("{}:{}: expected KEY=VALUE, a property of librdkafka (the file is ARGOSY_KAFKA_CONFIG)",
                                      *path, number);
    properties.emplace_back(trim(words.substr(0, at)), trim(words.substr(at + 1)));
  }
  return properties;
}

Status set(rd_kafka_conf_t* conf, const Property& property) {
  std::array<char, 512> reason{};
  if (rd_kafka_conf_set(conf, property.first.c_str(), property.second.c_str(), reason.data(), reason.size()) == RD_KAFKA_CONF_OK)
    return {};
  return Status::invalid_argument("librdkafka refuses its property '{}': {}", property.first,
                                  reason.data());  // the value may be a secret
}

}  // namespace

Result<std::unique_ptr<KafkaClient>> KafkaClient::connect(const std::string& brokers, const std::string& group) {
  std::unique_ptr<KafkaClient> client(new KafkaClient(brokers));
  Conf conf(rd_kafka_conf_new());
  std::vector<Property> properties = {
      {"bootstrap.servers", brokers},
      {"group.id", group.empty() ? "argosy" : group},
      {"enable.auto.commit", "false"},
      {"enable.auto.offset.store", "false"},
      {"enable.partition.eof", "true"},
      {"auto.offset.reset", "error"},  // messages that are gone are an error, never passed over
      {"isolation.level", "read_committed"},
      {"fetch.wait.max.ms", "100"},
      {"queued.max.messages.kbytes", "16384"},  // in memory, at a time
      {"socket.timeout.ms", "10000"},
      {"session.timeout.ms", "6000"},  // so long a commit that nobody waits for any more holds up the end of the client
      {"reconnect.backoff.ms", "50"},
      {"reconnect.backoff.max.ms", "1000"},
  };
  ASSIGN_OR_RETURN(const auto more, users_properties());
  properties.insert(properties.end(), more.begin(), more.end());
  for (const Property& property : properties) RETURN_IF_ERROR(set(conf.get(), property));
  rd_kafka_conf_set_opaque(conf.get(), client.get());
  rd_kafka_conf_set_log_cb(conf.get(), &KafkaClient::on_log);
  rd_kafka_conf_set_error_cb(conf.get(), &KafkaClient::on_error);
  std::array<char, 512> reason{};
  client->handle_.reset(rd_kafka_new(RD_KAFKA_CONSUMER, conf.get(), reason.data(), reason.size()));
  if (client->handle_ == nullptr)
    return Status::unavailable("kafka://{}: librdkafka has not started: {}", brokers, reason.data());
  (void)conf.release();  // the handle's now
  rd_kafka_poll_set_consumer(client->handle());
  return client;
}

void KafkaClient::on_log(const rd_kafka_t* handle, int, const char*, const char* text) {
  auto* self = static_cast<KafkaClient*>(rd_kafka_opaque(handle));
  if (self == nullptr) return;
  MutexLock lock(self->mutex_);
  self->trouble_ = text;
}

void KafkaClient::on_error(rd_kafka_t*, int error, const char* reason, void* opaque) {
  auto* self = static_cast<KafkaClient*>(opaque);
  MutexLock lock(self->mutex_);
  self->trouble_ = fmt::format("{} ({})", reason, rd_kafka_err2name(static_cast<rd_kafka_resp_err_t>(error)));
}

std::string KafkaClient::last_trouble() const {
  MutexLock lock(mutex_);
  return trouble_;
}

Status KafkaClient::failed(std::string_view what, rd_kafka_resp_err_t error) const {
  const std::string trouble = last_trouble();
  return Status::unavailable("kafka://{}: {}: {}{}", brokers_, what, rd_kafka_err2str(error),
                             trouble.empty() ? "" : "; last trouble: " + trouble);
}

int milliseconds_until(Deadline deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline.when() - SteadyClock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 1, 3'600'000));
}

}  // namespace argosy::kafka_module
