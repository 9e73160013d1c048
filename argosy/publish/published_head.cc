#include "argosy/publish/published_head.h"

#include <fmt/format.h>

#include <cstring>

#include "argosy/base/text.h"

namespace argosy::publish {
namespace {

const std::vector<std::string> kFields = {"generation", "version", "job", "run", "sources", "unix_milliseconds", "spec"};

}  // namespace

std::vector<std::string> PublishedHead::fields() const {
  const std::vector<std::string> values = {std::to_string(generation),
                                           std::to_string(version),
                                           job,
                                           run,
                                           sources,
                                           std::to_string(static_cast<int64_t>(unix_seconds * 1000)),
                                           spec};
  std::vector<std::string> words;
  for (size_t i = 0; i < kFields.size(); ++i) {
    words.push_back(kFields[i]);
    words.push_back(values[i]);
  }
  return words;
}

std::string head_key(const std::string& name) { return fmt::format("argosy:{{{}}}:head", name); }
std::string generations_key(const std::string& name) { return fmt::format("argosy:{{{}}}:generations", name); }

std::string table_key(const std::string& name, uint64_t generation, const ps::TableSpec& table) {
  return fmt::format("argosy:{{{}}}:{}:{}:{}", name, generation, table.sparse ? "rows" : "dense", table.name);
}

std::string row_field(uint64_t key) { return {reinterpret_cast<const char*>(&key), sizeof(key)}; }

std::string bytes_of(const float* values, size_t count) { return {reinterpret_cast<const char*>(values), count * sizeof(float)}; }

RedisConnection::Words read_head_words(const std::string& name) {
  RedisConnection::Words words = {"HMGET", head_key(name)};
  words.insert(words.end(), kFields.begin(), kFields.end());
  return words;
}

Result<std::optional<PublishedHead>> head_from(const RedisValue& answer, const std::string& name) {
  const auto damaged = [&] { return Status::data_loss("'{}' in Redis is not what argosy publish has written", head_key(name)); };
  if (answer.list.size() != kFields.size()) return damaged();
  if (answer.list[0].is_nil()) return std::optional<PublishedHead>();
  const auto generation = parse_integer(answer.list[0].text), version = parse_integer(answer.list[1].text),
             time = parse_integer(answer.list[5].text);
  if (!generation || !version || !time) return damaged();
  return std::optional(PublishedHead{.generation = static_cast<uint64_t>(*generation),
                                     .version = static_cast<uint64_t>(*version),
                                     .job = answer.list[2].text,
                                     .run = answer.list[3].text,
                                     .sources = answer.list[4].text,
                                     .unix_seconds = static_cast<double>(*time) / 1000,
                                     .spec = answer.list[6].text});
}

}  // namespace argosy::publish
