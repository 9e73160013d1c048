#include "argosy/publish/published_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "argosy/base/text.h"

namespace argosy::publish {
namespace {

const std::vector<std::string> kFields = {"generation", "version", "job", "run", "sources", "unix_milliseconds", "spec"};
constexpr const char* kCurrent = "current_milliseconds";  // not in heads that earlier versions wrote

std::string milliseconds(double seconds) { return std::to_string(std::llround(seconds * 1000)); }

}  // namespace

std::vector<std::string> PublishedHead::fields() const {
  const std::vector<std::string> values = {
      std::to_string(generation), std::to_string(version), job, run, sources, milliseconds(unix_seconds), spec};
  std::vector<std::string> words;
  for (size_t i = 0; i < kFields.size(); ++i) {
    words.push_back(kFields[i]);
    words.push_back(values[i]);
  }
  for (std::string& word : current_field()) words.push_back(std::move(word));
  return words;
}

std::vector<std::string> PublishedHead::current_field() const { return {kCurrent, milliseconds(current_seconds)}; }

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
  words.emplace_back(kCurrent);
  return words;
}

Result<std::optional<PublishedHead>> head_from(const RedisValue& answer, const std::string& name) {
  const auto damaged = [&] { return Status::data_loss("'{}' in Redis is not what argosy publish has written", head_key(name)); };
  if (answer.list.size() != kFields.size() + 1) return damaged();
  if (answer.list[0].is_nil()) return std::optional<PublishedHead>();
  const auto generation = parse_integer(answer.list[0].text), version = parse_integer(answer.list[1].text),
             time = parse_integer(answer.list[5].text);
  const RedisValue& said = answer.list.back();
  const auto current = said.is_nil() ? time : parse_integer(said.text);
  const bool whole = std::none_of(answer.list.begin(), answer.list.end() - 1, [](const auto& each) { return each.is_nil(); });
  if (!whole || !generation || *generation < 1 || !version || *version < 1 || !time || !current) return damaged();
  return std::optional(PublishedHead{.generation = static_cast<uint64_t>(*generation),
                                     .version = static_cast<uint64_t>(*version),
                                     .job = answer.list[2].text,
                                     .run = answer.list[3].text,
                                     .sources = answer.list[4].text,
                                     .unix_seconds = static_cast<double>(*time) / 1000,
                                     .current_seconds = static_cast<double>(*current) / 1000,
                                     .spec = answer.list[6].text});
}

Result<double> redis_seconds_from(const RedisValue& answer) {
  const auto seconds = answer.list.size() == 2 ? parse_integer(answer.list[0].text) : std::nullopt;
  const auto microseconds = answer.list.size() == 2 ? parse_integer(answer.list[1].text) : std::nullopt;
  if (!seconds || !microseconds)
    return Status::data_loss("Redis does not say its time: expected two numbers as the answer to TIME");
  return static_cast<double>(*seconds) + static_cast<double>(*microseconds) / 1e6;
}

}  // namespace argosy::publish
