#include "argosy/publish/published_tables.h"

#include <cstring>

#include "argosy/table/spec.h"

namespace argosy::publish {
namespace {

constexpr int kTries = 5;  // a generation is replaced rarely
constexpr size_t kIdleConnections = 16;

}  // namespace

Result<std::unique_ptr<PublishedTables>> PublishedTables::open(const std::string& redis, const std::string& name,
                                                               double seconds) {
  std::unique_ptr<PublishedTables> tables(new PublishedTables(redis, name, seconds));
  ASSIGN_OR_RETURN(const Standing found, tables->read_head());
  const PublishedHead& head = found.head;
  ASSIGN_OR_RETURN(tables->spec_, ps::decode_job_spec(head.spec));
  RETURN_IF_ERROR(tables->spec_.check());
  tables->spec_bytes_ = head.spec;
  return tables;
}

std::unique_ptr<RedisConnection> PublishedTables::take() {
  const MutexLock lock(mutex_);
  if (idle_.empty()) return std::make_unique<RedisConnection>(redis_, seconds_);
  auto connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

void PublishedTables::give_back(std::unique_ptr<RedisConnection> connection) {
  const MutexLock lock(mutex_);
  if (idle_.size() < kIdleConnections) idle_.push_back(std::move(connection));
}

Result<PublishedTables::Standing> PublishedTables::read_head() {
  auto connection = take();
  ASSIGN_OR_RETURN(const auto answers, connection->call_all({read_head_words(name_), {"TIME"}}));
  give_back(std::move(connection));
  ASSIGN_OR_RETURN(auto head, head_from(answers.front(), name_));
  ASSIGN_OR_RETURN(const double redis_seconds, redis_seconds_from(answers.back()));
  if (!head) {
    return Status::not_found("Redis at {} has nothing that was published as '{}'; is `argosy publish` running, with this --name?",
                             redis_, name_);
  }
  const MutexLock lock(mutex_);
  generation_ = head->generation;
  return Standing{.head = std::move(*head), .redis_seconds = redis_seconds};
}

Result<PublishedTables::Standing> PublishedTables::standing() {
  auto found = read_head();
  if (found.status().code() == Code::not_found) return Status::unavailable("{}", found.status().message());
  if (found.ok() && found->head.spec != spec_bytes_) {
    return Status::failed_precondition("'{}' at {} is of a job with other tables now (run {}); start again for it", name_, redis_,
                                       found->head.run);
  }
  return found;
}

Result<PublishedHead> PublishedTables::head() {
  ASSIGN_OR_RETURN(Standing found, standing());
  return std::move(found.head);
}

Result<RedisValue> PublishedTables::read(size_t table, RedisConnection::Words words) {
  for (int i = 0; i < kTries; ++i) {
    uint64_t generation = 0;
    {
      const MutexLock lock(mutex_);
      generation = generation_;
    }
    words[1] = table_key(name_, generation, spec_.tables[table]);
    auto connection = take();
    ASSIGN_OR_RETURN(auto answers, connection->transact({read_head_words(name_), words}));
    give_back(std::move(connection));
    ASSIGN_OR_RETURN(const auto head, head_from(answers.front(), name_));
    if (head && head->generation == generation && head->spec == spec_bytes_) return std::move(answers.back());
    RETURN_IF_ERROR(this->head().status());
  }
  return Status::unavailable("'{}' at {} was replaced {} times while it was read", name_, redis_, kTries);
}

Status PublishedTables::pull_rows(size_t table, std::span<const uint64_t> keys, std::span<float> rows) {
  if (keys.empty()) return {};
  const ps::TableSpec& spec = spec_.tables[table];
  RedisConnection::Words words = {"HMGET", ""};
  for (const uint64_t key : keys) words.push_back(row_field(key));
  ASSIGN_OR_RETURN(const RedisValue answer, read(table, std::move(words)));
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto row = rows.subspan(i * spec.width, spec.width);
    const RedisValue* found = i < answer.list.size() ? &answer.list[i] : nullptr;
    if (found == nullptr || (!found->is_nil() && found->text.size() != row.size_bytes()))
      return Status::data_loss("row {} of table '{}' in Redis is damaged", keys[i], spec.name);
    if (found->is_nil())
      table::row_initial_value(spec.initializer, keys[i], row);
    else
      std::memcpy(row.data(), found->text.data(), row.size_bytes());
  }
  return {};
}

Status PublishedTables::pull_dense(size_t table, std::span<float> values) {
  ASSIGN_OR_RETURN(const RedisValue answer, read(table, {"GET", ""}));
  if (answer.text.size() != values.size_bytes()) {
    return Status::data_loss("table '{}' in Redis has {} bytes, expected {}", spec_.tables[table].name, answer.text.size(),
                             values.size_bytes());
  }
  std::memcpy(values.data(), answer.text.data(), answer.text.size());
  return {};
}

}  // namespace argosy::publish
