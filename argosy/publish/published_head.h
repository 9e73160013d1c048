#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/ps/spec/job_spec.h"
#include "argosy/publish/redis_connection.h"

namespace argosy::publish {

// How the tables of a job lie in Redis, under a name N:
//   argosy:{N}:head          a hash: which generation readers use, its version, where it comes from, the job's schema
//   argosy:{N}:G:rows:T      of generation G, table T: a hash from keys (8 bytes, little-endian) to rows (float32)
//   argosy:{N}:G:dense:T     a string of float32
//   argosy:{N}:generations   the last generation's number
// A generation is written beside the one in use, and takes its place when the head names it; later changes of it come with a new
// version in the head, all in one transaction. So who reads the head and rows in one transaction sees one version.
struct PublishedHead {
  uint64_t generation = 0;
  uint64_t version = 0;  // 1, 2, … of everything that was ever published under the name
  std::string job, run;
  std::string
      sources;   // the servers' versions when their tables were read, "812,790"; "812-815,790" where they changed meanwhile
  // By Redis' clock: when it was published, and when Redis was last known to have all that the servers had. A head that no
  // publisher renews falls behind from then on.
  double unix_seconds = 0, current_seconds = 0;
  std::string spec;  // ps::encode_job_spec

  std::vector<std::string> fields() const;  // for HSET: name, value, …
  std::vector<std::string> current_field() const;  // the same of current_seconds alone
};

std::string head_key(const std::string& name);
std::string generations_key(const std::string& name);
std::string table_key(const std::string& name, uint64_t generation, const ps::TableSpec& table);
std::string row_field(uint64_t key);
std::string bytes_of(const float* values, size_t count);

// The command that reads a head, and its answer; nothing: there is none.
RedisConnection::Words read_head_words(const std::string& name);
Result<std::optional<PublishedHead>> head_from(const RedisValue& answer, const std::string& name);

// What Redis answers to {"TIME"}, in seconds.
Result<double> redis_seconds_from(const RedisValue& answer);

}  // namespace argosy::publish
