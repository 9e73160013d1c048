#include "argosy/publish/publisher.h"

#include <algorithm>
#include <cstring>

#include "argosy/base/log.h"
#include "argosy/base/text.h"

namespace argosy::publish {
namespace {

constexpr size_t kRowsPerCommand = 1000;
constexpr size_t kCommandsAtOnce = 64;
constexpr const char* kUnfinishedSeconds = "3600";  // after which the keys of a publisher that was killed are gone
constexpr int kMostConflicts = 100;  // in a row with another publisher, each of some milliseconds

std::vector<uint64_t> versions_of(const std::vector<ps::RowReader::Source>& sources) {
  std::vector<uint64_t> versions;
  for (const auto& source : sources) versions.push_back(source.version);
  return versions;
}

// "812-815,790": rows that were read between two looks are of any version from the one to the other.
std::string versions_text(const std::vector<uint64_t>& before, const std::vector<uint64_t>& after) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < before.size(); ++i)
    texts.push_back(before[i] == after[i] ? std::to_string(before[i]) : fmt::format("{}-{}", before[i], after[i]));
  return join(texts, ",");
}

double furthest_behind(const std::vector<ps::RowReader::Source>& sources) {
  double seconds = 0;
  for (const auto& source : sources) seconds = std::max(seconds, source.lag_seconds);
  return seconds;
}

bool same_row(const float* a, const float* b, size_t width) { return std::memcmp(a, b, width * sizeof(float)) == 0; }

}  // namespace

Publisher::Publisher(ps::RowReader& reader, PublisherOptions options)
    : reader_(reader),
      options_(std::move(options)),
      name_(options_.name.empty() ? reader.job() : options_.name),
      redis_(options_.redis, options_.redis_seconds) {
  metrics_ = observe::Registry::process().collect([this](observe::Readings& readings) { read_metrics(readings); });
}

Publisher::~Publisher() { metrics_.end(); }

// ---- A round.

Result<Publisher::Report> Publisher::publish() {
  auto report = publish_round();
  // Somebody else wrote the head between its reading and this round's write: the next look says who.
  if (report.status().code() == Code::aborted) report = publish_round();
  if (!report.ok()) {
    const MutexLock lock(mutex_);
    ++failures_;
  }
  return report;
}

Result<Publisher::Report> Publisher::publish_round() {
  since_.begun.restart();
  ASSIGN_OR_RETURN(const auto found, watched_head(&since_.redis_seconds));
  ASSIGN_OR_RETURN(const auto sources, reader_.sources());
  since_.behind = furthest_behind(sources);
  std::vector<uint64_t> versions = versions_of(sources);
  const bool ours = head_ && found && !unsure_;
  if (head_ && !found) {
    log_warning("Redis at {} has lost version {} of '{}' (was it started again?): everything is published anew", redis_.address(),
                head_->version, name_);
  }
  if (!head_ && found) {
    log_info("found version {} of '{}' at {}, of run {}: everything is published anew, and readers stay with it until then",
             found->version, name_, redis_.address(), found->run);
  }
  if (ours && last_->before == versions) return publish_nothing();
  ASSIGN_OR_RETURN(Read read, read_tables(std::move(versions)));
  if (!ours) return publish_full(std::move(read));
  Change change = changes(read);
  const bool large = change.bytes > options_.most_delta_bytes;
  return large ? publish_full(std::move(read)) : publish_delta(std::move(read), std::move(change));
}

// The head, which must stay what it is until the next transaction; failed_precondition where this publisher has written one,
// knows that it is there, and finds another.
Result<std::optional<PublishedHead>> Publisher::watched_head(double* redis_seconds) {
  ASSIGN_OR_RETURN(const auto answers,
                   redis_.call_all({{"UNWATCH"}, {"WATCH", head_key(name_)}, {"TIME"}, read_head_words(name_)}));
  ASSIGN_OR_RETURN(const double now, redis_seconds_from(answers[2]));
  if (redis_seconds) *redis_seconds = now;
  ASSIGN_OR_RETURN(auto found, head_from(answers.back(), name_));
  const bool same = head_ && found && found->generation == head_->generation && found->version == head_->version;
  if (head_ && found && !same && !unsure_) {
    return Status::failed_precondition(
        "somebody else publishes '{}' at {}: version {} of generation {} was found, expected {} of {}; give one of them another "
        "--name",
        name_, redis_.address(), found->version, found->generation, head_->version, head_->generation);
  }
  return found;
}

// Nothing has changed; that somebody has looked is said to those who read.
Result<Publisher::Report> Publisher::publish_nothing() {
  head_->current_seconds = since_.current();
  RedisConnection::Words set = {"HSET", head_key(name_)};
  for (std::string& word : head_->current_field()) set.push_back(std::move(word));
  RETURN_IF_ERROR(redis_.transact({std::move(set)}).status());
  return note({.kind = Report::Kind::nothing, .version = head_->version});
}

Result<Publisher::Read> Publisher::read_tables(std::vector<uint64_t> versions) {
  Read read{.before = std::move(versions), .sources = {}, .rows = {}};
  const auto& tables = reader_.spec().tables;
  for (size_t i = 0; i < tables.size(); ++i) {
    Rows& rows = read.rows.emplace_back();
    if (tables[i].sparse) {
      ASSIGN_OR_RETURN(rows, reader_.export_rows(i));
    } else {
      rows.values.resize(tables[i].size);
      RETURN_IF_ERROR(reader_.pull_dense(i, rows.values));
    }
  }
  ASSIGN_OR_RETURN(const auto after, reader_.sources());
  read.sources = versions_text(read.before, versions_of(after));
  return read;
}

// ---- Everything.

Result<Publisher::Report> Publisher::publish_full(Read read) {
  ASSIGN_OR_RETURN(const RedisValue generation, redis_.call({"INCR", generations_key(name_)}));
  const auto number = static_cast<uint64_t>(generation.integer);
  RETURN_IF_ERROR(write_generation(number, read));
  Result<PublishedHead> head = Status::aborted("not tried");
  // Another publisher of the name that still runs renews its head meanwhile, and with it ends the transaction: who comes later
  // takes the name, so the head alone is tried again.
  for (int conflicts = 0; head.status().code() == Code::aborted && conflicts < kMostConflicts; ++conflicts)
    head = replace_head(number, read);
  RETURN_IF_ERROR(head.status());
  unsure_ = false;
  Report report{.kind = Report::Kind::full, .version = head->version};
  for (const Rows& rows : read.rows) report.rows += rows.keys.size();
  head_ = *std::move(head);
  last_ = std::move(read);
  return note(report);
}

// Readers use this generation from now on. `aborted`: the head was written by somebody else at the same moment.
Result<PublishedHead> Publisher::replace_head(uint64_t generation, const Read& read) {
  ASSIGN_OR_RETURN(const auto before, watched_head(nullptr));
  const uint64_t last = std::max(before ? before->version : 0, head_ ? head_->version : 0);
  PublishedHead head = next_head(generation, last + 1, read);
  std::vector<RedisConnection::Words> commands;
  const std::string grace = std::to_string(static_cast<int64_t>(std::max(1.0, options_.grace_seconds)));
  for (const ps::TableSpec& table : reader_.spec().tables) {
    commands.push_back({"PERSIST", table_key(name_, generation, table)});
  }
  const Result<ps::JobSpec> old = before ? ps::decode_job_spec(before->spec) : ps::JobSpec();
  for (const ps::TableSpec& table : old.ok() ? old->tables : std::vector<ps::TableSpec>())
    commands.push_back({"EXPIRE", table_key(name_, before->generation, table), grace});
  RedisConnection::Words set = {"HSET", head_key(name_)};
  for (std::string& field : head.fields()) set.push_back(std::move(field));
  commands.push_back(std::move(set));
  if (const auto done = redis_.transact(std::move(commands)); !done.ok()) {
    unsure_ = done.status().code() == Code::unavailable;
    return done.status();
  }
  return head;
}

Status Publisher::write_generation(uint64_t generation, const Read& read) {
  RedisConnection writer(options_.redis, options_.redis_seconds);
  const auto& tables = reader_.spec().tables;
  for (size_t i = 0; i < tables.size(); ++i) {
    const std::string key = table_key(name_, generation, tables[i]);
    const Rows& rows = read.rows[i];
    if (!tables[i].sparse) {
      const RedisConnection::Words set = {"SET", key, bytes_of(rows.values.data(), rows.values.size()), "EX", kUnfinishedSeconds};
      RETURN_IF_ERROR(writer.call(set).status());
      continue;
    }
    std::vector<RedisConnection::Words> commands;
    for (size_t from = 0; from < rows.keys.size(); from += kRowsPerCommand) {
      RedisConnection::Words words = {"HSET", key};
      for (size_t row = from; row < std::min(rows.keys.size(), from + kRowsPerCommand); ++row) {
        words.push_back(row_field(rows.keys[row]));
        words.push_back(bytes_of(rows.values.data() + row * tables[i].width, tables[i].width));
      }
      commands.push_back(std::move(words));
      if (from == 0) commands.push_back({"EXPIRE", key, kUnfinishedSeconds});
      if (commands.size() < kCommandsAtOnce) continue;
      RETURN_IF_ERROR(writer.call_all(commands).status());
      commands.clear();
    }
    if (!commands.empty()) RETURN_IF_ERROR(writer.call_all(commands).status());
  }
  return {};
}

// ---- What has changed.

Publisher::Change Publisher::changes(const Read& read) const {
  Change change;
  const auto& tables = reader_.spec().tables;
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables[i].sparse) {
      add_row_changes(i, read.rows[i], change);
    } else if (read.rows[i].values != last_->rows[i].values) {
      change.commands.push_back({"SET", table_key(name_, head_->generation, tables[i]),
                                 bytes_of(read.rows[i].values.data(), read.rows[i].values.size())});
      change.bytes += change.commands.back().back().size();
    }
  }
  return change;
}

// Both are in the order of their keys.
void Publisher::add_row_changes(size_t table, const Rows& now, Change& change) const {
  const ps::TableSpec& spec = reader_.spec().tables[table];
  const Rows& before = last_->rows[table];
  const std::string key = table_key(name_, head_->generation, spec);
  RedisConnection::Words set = {"HSET", key}, remove = {"HDEL", key};
  size_t old = 0;
  for (size_t row = 0; row < now.keys.size(); ++row) {
    for (; old < before.keys.size() && before.keys[old] < now.keys[row]; ++old) remove.push_back(row_field(before.keys[old]));
    const float* values = now.values.data() + row * spec.width;
    const bool known = old < before.keys.size() && before.keys[old] == now.keys[row];
    const bool same = known && same_row(values, before.values.data() + old * spec.width, spec.width);
    old += known ? 1 : 0;
    if (same) continue;
    set.push_back(row_field(now.keys[row]));
    set.push_back(bytes_of(values, spec.width));
    change.bytes += sizeof(uint64_t) + spec.width * sizeof(float);
  }
  for (; old < before.keys.size(); ++old) remove.push_back(row_field(before.keys[old]));
  change.rows += (set.size() - 2) / 2;
  change.removed += remove.size() - 2;
  if (set.size() > 2) change.commands.push_back(std::move(set));
  if (remove.size() > 2) change.commands.push_back(std::move(remove));
}

Result<Publisher::Report> Publisher::publish_delta(Read read, Change change) {
  const PublishedHead head = next_head(head_->generation, head_->version + 1, read);
  RedisConnection::Words set = {"HSET", head_key(name_)};
  for (std::string& field : head.fields()) set.push_back(std::move(field));
  change.commands.push_back(std::move(set));
  if (const auto done = redis_.transact(std::move(change.commands)); !done.ok()) {
    unsure_ = done.status().code() == Code::unavailable;
    return done.status();
  }
  const Report report{.kind = Report::Kind::delta, .version = head.version, .rows = change.rows, .removed = change.removed};
  head_ = head;
  last_ = std::move(read);
  return note(report);
}

PublishedHead Publisher::next_head(uint64_t generation, uint64_t version, const Read& read) const {
  return {.generation = generation,
          .version = version,
          .job = reader_.job(),
          .run = reader_.run(),
          .sources = read.sources,
          .unix_seconds = since_.redis_seconds + since_.begun.seconds(),
          .current_seconds = since_.current(),
          .spec = ps::encode_job_spec(reader_.spec())};
}

// ---- How it stands.

Publisher::Report Publisher::note(const Report& report) {
  const MutexLock lock(mutex_);
  version_ = report.version;
  since_equal_ = since_;
  rows_ += report.rows;
  full_ += report.kind == Report::Kind::full ? 1 : 0;
  deltas_ += report.kind == Report::Kind::delta ? 1 : 0;
  return report;
}

void Publisher::read_metrics(observe::Readings& readings) const {
  const observe::Labels labels = {{"name", name_}};
  const MutexLock lock(mutex_);
  readings.gauge("argosy_publish_version", "The version that Redis has.", static_cast<double>(version_), labels);
  readings.gauge("argosy_publish_lag_seconds",
                 "Since Redis had all that the job's servers had; it grows while a follower that is read from is behind.",
                 since_equal_.begun.seconds() + since_equal_.behind, labels);
  readings.counter("argosy_publish_full_total", "Tables that were published whole.", static_cast<double>(full_), labels);
  readings.counter("argosy_publish_delta_total", "Versions of which only the changes were published.",
                   static_cast<double>(deltas_), labels);
  readings.counter("argosy_publish_rows_total", "Rows that were written.", static_cast<double>(rows_), labels);
  readings.counter("argosy_publish_failures_total", "Rounds that failed, because a server or Redis was away.",
                   static_cast<double>(failures_), labels);
}

}  // namespace argosy::publish
