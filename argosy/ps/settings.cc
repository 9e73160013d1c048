#include "argosy/ps/settings.h"

#include <array>
#include <limits>

#include "argosy/base/env.h"
#include "argosy/base/text.h"

namespace argosy::ps {
namespace {

template <typename T>
Status integer_into(T& field, std::string_view text, int64_t low, int64_t high) {
  const auto value = parse_integer(text);
  if (!value || *value < low || *value > high) {
    return Status::invalid_argument("'{}' is not a whole number from {} to {}", text, low, high);
  }
  field = static_cast<T>(*value);
  return {};
}

Status seconds_into(double& field, std::string_view text, double low) {
  const auto value = parse_number(text);
  if (!value || !(*value >= low) || !(*value <= 1e9)) {
    return Status::invalid_argument("'{}' is not a number of seconds of {} or more", text, low);
  }
  field = *value;
  return {};
}

// "512M", "8G", "1048576".
template <typename T>
Status bytes_into(T& field, std::string_view text) {
  constexpr std::string_view units = "KMGT";
  std::string_view digits = text;
  int shift = 0;
  if (!text.empty() && units.find(text.back()) != std::string_view::npos) {
    shift = 10 * (static_cast<int>(units.find(text.back())) + 1);
    digits.remove_suffix(1);
  }
  const auto value = parse_integer(digits);
  if (!value || *value < 0 || *value > (std::numeric_limits<int64_t>::max() >> shift)) {
    return Status::invalid_argument("'{}' is not a size: a whole number of bytes, or with K, M, G or T behind it", text);
  }
  field = static_cast<T>(*value << shift);
  return {};
}

template <typename T>
Status name_into(T& field, std::string_view text, std::span<const T> choices, std::string_view (*name_of)(T)) {
  std::vector<std::string> names;
  for (const T choice : choices) {
    names.emplace_back(name_of(choice));
    if (text == names.back()) {
      field = choice;
      return {};
    }
  }
  return Status::invalid_argument("'{}' is none of: {}", text, join(names, ", "));
}

Status flag_into(bool& field, std::string_view text) {
  field = text == "1" || text == "true" || text == "yes" || text == "on";
  if (field || text == "0" || text == "false" || text == "no" || text == "off") return {};
  return Status::invalid_argument("'{}' is neither true nor false", text);
}

Status set_durability(ServerOptions& o, std::string_view text) {
  constexpr std::array all = {Durability::none, Durability::snapshot, Durability::wal, Durability::wal_sync};
  Durability chosen = {};
  RETURN_IF_ERROR(name_into<Durability>(chosen, text, all, durability_name));
  o.durability = chosen;
  return {};
}

Status set_on_worker_loss(ServerOptions& o, std::string_view text) {
  constexpr std::array all = {OnWorkerLoss::fail, OnWorkerLoss::wait, OnWorkerLoss::shrink};
  return name_into<OnWorkerLoss>(o.on_worker_loss, text, all, on_worker_loss_name);
}

using Text = std::string_view;
using O = ServerOptions;

constexpr Setting kSettings[] = {
    {"address", "ARGOSY_ADDRESS", "--address", "127.0.0.1:0", "host:port to listen at, and only there; port 0 takes a free one",
     [](O& o, Text t) { return o.address = t, Status(); }},
    {"job", "ARGOSY_JOB", "--job", "", "the job's name; without one, the first worker's",
     [](O& o, Text t) { return o.job = t, Status(); }},
    {"server", "ARGOSY_SERVER_INDEX", "--server-index", "0", "which server of the job this is, from 0",
     [](O& o, Text t) { return integer_into(o.server, t, 0, 65535); }},
    {"servers", "ARGOSY_SERVERS", "--servers", "1", "how many servers the job has",
     [](O& o, Text t) { return integer_into(o.servers, t, 1, 65536); }},
    {"workers", "ARGOSY_WORKERS", "--workers", "0", "how many workers the job has; 0: as the first worker says",
     [](O& o, Text t) { return integer_into(o.workers, t, 0, 65536); }},
    {"durability", "ARGOSY_DURABILITY", "--durability", "",
     "none, snapshot, wal (an acknowledged push survives kill -9) or wal_sync (and a power cut); without one: wal where there "
     "is a directory",
     set_durability},
    {"directory", "ARGOSY_DIRECTORY", "--directory", "", "folder of this server's log, snapshots and cold rows",
     [](O& o, Text t) { return o.directory = t, Status(); }},
    {"snapshot_seconds", "ARGOSY_SNAPSHOT_SECONDS", "--snapshot-seconds", "600",
     "from one snapshot to the next; 0: only when the log is full",
     [](O& o, Text t) { return seconds_into(o.snapshot_seconds, t, 0); }},
    {"log_limit_bytes", "ARGOSY_LOG_LIMIT", "--log-limit", "4G", "a larger log makes a snapshot due, which empties it",
     [](O& o, Text t) { return bytes_into(o.log_limit_bytes, t); }},
    {"mem_limit_bytes", "ARGOSY_MEM_LIMIT", "--mem-limit", "0",
     "memory of sparse rows, such as 8G; beyond it the coldest go to the directory; 0: no limit",
     [](O& o, Text t) { return bytes_into(o.mem_limit_bytes, t); }},
    {"lease_seconds", "ARGOSY_LEASE_SECONDS", "--lease-seconds", "10", "a worker that is silent for longer is lost",
     [](O& o, Text t) { return seconds_into(o.lease_seconds, t, 0.1); }},
    {"on_worker_loss", "ARGOSY_ON_WORKER_LOSS", "--on-worker-loss", "fail",
     "fail (whoever waits for it gets an error), wait (for it to come back) or shrink (go on without it)", set_on_worker_loss},
    {"worker_wait_seconds", "ARGOSY_WORKER_WAIT_SECONDS", "--worker-wait-seconds", "600",
     "how long on_worker_loss=wait waits", [](O& o, Text t) { return seconds_into(o.worker_wait_seconds, t, 0); }},
    {"end_with_workers", "ARGOSY_END_WITH_WORKERS", "--end-with-workers", "true",
     "end when all workers have said goodbye", [](O& o, Text t) { return flag_into(o.end_with_workers, t); }},
    {"tls_ca", "ARGOSY_TLS_CA", "--tls-ca", "", "PEM file of the authority; with it, peers must show a certificate of its",
     [](O& o, Text t) { return o.security.ca = t, Status(); }},
    {"tls_certificate", "ARGOSY_TLS_CERTIFICATE", "--tls-certificate", "", "PEM file that this server shows",
     [](O& o, Text t) { return o.security.certificate = t, Status(); }},
    {"tls_key", "ARGOSY_TLS_KEY", "--tls-key", "", "PEM file of its key", [](O& o, Text t) { return o.security.key = t, Status(); }},
    {"token", "ARGOSY_TOKEN", "--token", "", "a secret of the job that every call has to carry",
     [](O& o, Text t) { return o.security.token = t, Status(); }},
    {"threads", "ARGOSY_SERVER_THREADS", "--threads", "0", "threads that handle requests; 0: one a core, at least 2",
     [](O& o, Text t) { return integer_into(o.threads, t, 0, 1024); }},
    {"max_message_bytes", "ARGOSY_MAX_MESSAGE", "--max-message", "256M", "the largest request",
     [](O& o, Text t) { return bytes_into(o.max_message_bytes, t); }},
    {"mailbox_limit_bytes", "ARGOSY_MAILBOX_LIMIT", "--mailbox-limit", "1G",
     "letters between workers (global_shuffle) that are kept for a worker that starts again",
     [](O& o, Text t) { return bytes_into(o.mailbox_limit_bytes, t); }},
};

}  // namespace

std::span<const Setting> server_settings() { return kSettings; }

Result<ServerOptions> server_options(const Lookup& flag, const Lookup& variable) {
  ServerOptions options;
  for (const Setting& setting : kSettings) {
    std::string_view source = setting.flag;
    std::optional<std::string> text = flag(setting.flag);
    if (!text) {
      source = setting.variable;
      text = variable(setting.variable);
    }
    if (!text) {
      if (setting.default_value.empty()) continue;
      text = std::string(setting.default_value);
      source = setting.name;
    }
    if (Status s = setting.set(options, *text); !s.ok()) return s.with_context("{}", source);
  }
  return options;
}

Result<ServerOptions> server_options_from_environment() {
  return server_options([](std::string_view) { return std::nullopt; },
                        [](std::string_view name) { return env_text(std::string(name).c_str()); });
}

}  // namespace argosy::ps
