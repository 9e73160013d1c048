#include "argosy/data/message_log.h"

#include <string_view>

#include "argosy/base/text.h"
#include "argosy/data/module.h"

namespace argosy::data {
namespace {

constexpr std::string_view kScheme = "kafka://";

std::optional<int64_t> number_after(std::string_view text, std::string_view name) {
  if (!text.starts_with(name)) return std::nullopt;
  const auto number = parse_integer(text.substr(name.size()));
  return number && *number >= 0 ? number : std::nullopt;
}

}  // namespace

std::string MessageRange::name() const {
  return fmt::format("{}{}/{}/{}?from={}&to={}", kScheme, brokers, topic, partition, from, to);
}

bool is_message_range(const std::string& path) { return path.starts_with("kafka:"); }

Result<MessageRange> parse_message_range(const std::string& path) {
  const Status bad = Status::invalid_argument(
      "'{}': expected kafka://BROKERS/TOPIC/PARTITION?from=OFFSET&to=OFFSET, as fleet's MessageStream makes them", path);
  if (!path.starts_with(kScheme)) return bad;
  const std::vector<std::string> parts = split(std::string_view(path).substr(kScheme.size()), '/');
  if (parts.size() != 3 || parts[0].empty() || parts[1].empty()) return bad;
  const size_t query = parts[2].find('?'), next = parts[2].find('&');
  if (query == std::string::npos || next == std::string::npos || next < query) return bad;
  const std::string_view last = parts[2];
  const auto partition = number_after(last.substr(0, query), "");
  const auto from = number_after(last.substr(query + 1, next - query - 1), "from="),
             to = number_after(last.substr(next + 1), "to=");
  if (!partition || *partition > INT32_MAX || !from || !to || *to < *from) return bad;
  return MessageRange{
      .brokers = parts[0], .topic = parts[1], .partition = static_cast<int32_t>(*partition), .from = *from, .to = *to};
}

Result<MessageLogs*> message_logs() {
  static const Result<void*> logs = open_module(
      {.library = "libargosy_kafka.so",
       .function = kMessageLogsFunction,
       .version = kMessageLogsVersion,
       .purpose = "Kafka's messages are read with librdkafka",
       .remedy = "install it (Debian: librdkafka1), or build with ARGOSY_KAFKA=ON where librdkafka-dev is installed"});
  RETURN_IF_ERROR(logs.status());
  return static_cast<MessageLogs*>(*logs);
}

}  // namespace argosy::data
