// Pushes and pulls of tables that are rounded on the wire: what servers apply is what was sent, once, whatever is lost on the
// way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "argosy/ps/client/client.h"
#include "argosy/ps/client/cluster_test.h"
#include "argosy/ps/spec/packed.h"

namespace argosy::ps {
namespace {

using ::testing::HasSubstr;

constexpr int kW = 0, kEmb = 1;
constexpr size_t kElements = 20'000, kWidth = 3;

JobSpec rounded_spec(WireFormat format) {
  JobSpec spec{.mode = Mode::async, .workers = 1, .tables = {dense_table("w", kElements), sparse_table("emb", kWidth)}};
  for (TableSpec& table : spec.tables) table.wire_format = format;
  return spec;
}

std::unique_ptr<Client> connected(const Cluster& cluster, const JobSpec& spec, std::shared_ptr<Faults> faults = nullptr) {
  auto client = Client::connect(cluster.client(0, std::move(faults)), spec);
  EXPECT_TRUE(client.ok()) << client.status().to_string();
  return client.ok() ? std::move(*client) : nullptr;
}

std::vector<float> dense_of(Client& client, Numbers numbers) {
  std::vector<float> values(kElements, -99);
  const DenseRequest request{.table = kW, .values = values};
  const Status pulled = client.pull_dense(std::span(&request, 1), std::nullopt, Deadline::after_seconds(60), numbers);
  EXPECT_TRUE(pulled.ok()) << pulled.to_string();
  return values;
}

std::vector<float> rows_of(Client& client, const std::vector<uint64_t>& keys, Numbers numbers) {
  std::vector<float> rows(keys.size() * kWidth, -99);
  const RowRequest request{.table = kEmb, .keys = keys, .rows = rows.data()};
  const Status pulled = client.pull_rows(std::span(&request, 1), numbers);
  EXPECT_TRUE(pulled.ok()) << pulled.to_string();
  return rows;
}

// What arrives of these numbers.
std::vector<float> rounded(WireFormat format, std::span<const float> numbers, size_t block) {
  std::vector<std::byte> bytes(wire_bytes(format, numbers.size(), block));
  round_to_wire(format, numbers, block, bytes.data());
  std::vector<float> read(numbers.size());
  read_from_wire(format, bytes.data(), block, read);
  return read;
}

struct Gradients {
  std::vector<float> dense = std::vector<float>(kElements);
  std::vector<uint64_t> keys;
  std::vector<float> rows;

  explicit Gradients(uint64_t first_key = 0) {
    for (size_t i = 0; i < kElements; ++i) dense[i] = std::sin(static_cast<float>(i)) * 0.1f;
    for (uint64_t i = 0; i < 500; ++i) {
      keys.push_back(first_key + mix64(i) % (uint64_t{1} << 31));
      for (size_t k = 0; k < kWidth; ++k) rows.push_back(std::cos(static_cast<float>(i * kWidth + k)));
    }
  }
};

Status push(Client& client, const Gradients& gradients, uint32_t index) {
  const BatchId batch = batch_id(0, index);
  const DenseGradient dense{.table = kW, .values = gradients.dense};
  const RowGradients rows{.table = kEmb, .keys = gradients.keys, .values = gradients.rows.data()};
  return client.push({.batches = std::span(&batch, 1), .dense = std::span(&dense, 1), .rows = std::span(&rows, 1)});
}

// The dense values of each server's range, rounded as its blocks are.
std::vector<float> rounded_ranges(const JobSpec& spec, int servers, std::span<const float> values) {
  std::vector<float> all(values.size());
  for (int server = 0; server < servers; ++server) {
    const Range range = dense_range(spec, kW, servers, server);
    const auto part = rounded(spec.tables[kW].wire_format, values.subspan(range.begin, range.size()), kWireBlock);
    std::ranges::copy(part, all.begin() + static_cast<std::ptrdiff_t>(range.begin));
  }
  return all;
}

// With long and short keys, on one and on several servers.
TEST(PackedClient, ServersApplyWhatWasSentAndAnswerBothWays) {
  for (const WireFormat format : {WireFormat::bfloat16, WireFormat::int8}) {
    for (const int servers : {1, 3}) {
      for (const uint64_t first_key : {uint64_t{0}, uint64_t{1} << 40}) {
        SCOPED_TRACE(fmt::format("{}, {} servers, keys from {}", wire_format_name(format), servers, first_key));
        Cluster cluster(servers);
        const JobSpec spec = rounded_spec(format);
        const auto client = connected(cluster, spec);
        const std::vector<float> first(kElements, 0.337f);
        ASSERT_TRUE(client->init_dense(kW, first).ok());
        EXPECT_EQ(dense_of(*client, Numbers::exact), first) << "first values are not rounded";
        const Gradients gradients(first_key);
        const Status pushed = push(*client, gradients, 0);
        ASSERT_TRUE(pushed.ok()) << pushed.to_string();

        std::vector<float> w = rounded_ranges(spec, servers, gradients.dense);
        for (float& value : w) value = 0.337f - value;
        EXPECT_EQ(dense_of(*client, Numbers::exact), w);
        EXPECT_EQ(dense_of(*client, Numbers::on_wire), rounded_ranges(spec, servers, w));
        std::vector<float> emb = rounded(format, gradients.rows, kWidth);
        for (float& value : emb) value = 0 - value;
        EXPECT_EQ(rows_of(*client, gradients.keys, Numbers::exact), emb);
        EXPECT_EQ(rows_of(*client, gradients.keys, Numbers::on_wire), rounded(format, emb, kWidth));
      }
    }
  }
}

// A step much smaller than its block's largest is rounded to 0 each time; what is left is added up until it counts.
TEST(PackedClient, WhatInt8LeavesOutComesLater) {
  Cluster cluster(2);
  const auto client = connected(cluster, rounded_spec(WireFormat::int8));
  ASSERT_TRUE(client->init_dense(kW, std::vector<float>(kElements, 0)).ok());
  Gradients gradients;
  std::ranges::fill(gradients.dense, 0.3f);
  for (size_t i = 0; i < kElements; i += 100) gradients.dense[i] = 100;
  for (size_t i = 0; i < gradients.rows.size(); ++i) gradients.rows[i] = i % kWidth == 0 ? 100.0f : 0.3f;
  for (uint32_t i = 0; i < 50; ++i) ASSERT_TRUE(push(*client, gradients, i).ok());
  const auto w = dense_of(*client, Numbers::exact);
  const auto rows = rows_of(*client, gradients.keys, Numbers::exact);
  const float step = 101.0f / 127;
  for (size_t i = 0; i < kElements; ++i) ASSERT_NEAR(w[i], -50 * gradients.dense[i], step) << i;
  for (size_t i = 0; i < rows.size(); ++i) ASSERT_NEAR(rows[i], -50 * gradients.rows[i], step) << i;
}

// Messages that are lost or repeated, or whose answers are, carry the same bytes: every push counts once, with what it said
// first.
TEST(PackedClient, RetriesSayTheSameOnce) {
  for (const WireFormat format : {WireFormat::bfloat16, WireFormat::int8}) {
    const auto train = [&](double trouble) {
      Cluster cluster(2);
      const auto faults = std::make_shared<Faults>(11);
      const auto client = connected(cluster, rounded_spec(format), faults);
      EXPECT_TRUE(client->init_dense(kW, std::vector<float>(kElements, 1)).ok());
      faults->disturb(trouble);
      Gradients gradients;
      for (uint32_t i = 0; i < 20; ++i) {
        for (float& value : gradients.dense) value *= -0.97f;
        EXPECT_TRUE(push(*client, gradients, i).ok());
      }
      faults->heal();
      EXPECT_EQ(client->counters().retries > 0, trouble > 0);
      return std::pair(dense_of(*client, Numbers::exact), rows_of(*client, gradients.keys, Numbers::exact));
    };
    EXPECT_EQ(train(0.2), train(0));
  }
}

// What a server recovers from its log is what it had applied, bit by bit.
TEST(PackedClient, ARecoveredServerHasTheSameBits) {
  Cluster cluster(2, {}, true);
  const auto client = connected(cluster, rounded_spec(WireFormat::int8));
  ASSERT_TRUE(client->init_dense(kW, std::vector<float>(kElements, 1)).ok());
  const Gradients gradients;
  for (uint32_t i = 0; i < 5; ++i) ASSERT_TRUE(push(*client, gradients, i).ok());
  const auto w = dense_of(*client, Numbers::exact), rows = rows_of(*client, gradients.keys, Numbers::exact);
  for (const int server : {0, 1}) {
    cluster.kill(server);
    cluster.start(server);
  }
  EXPECT_EQ(dense_of(*client, Numbers::exact), w);
  EXPECT_EQ(rows_of(*client, gradients.keys, Numbers::exact), rows);
}

// A gradient that is not finite is refused as ever, with table and key.
TEST(PackedClient, NaNIsRefusedByName) {
  for (const WireFormat format : {WireFormat::bfloat16, WireFormat::int8}) {
    Cluster cluster(1);
    const auto client = connected(cluster, rounded_spec(format));
    ASSERT_TRUE(client->init_dense(kW, std::vector<float>(kElements, 1)).ok());
    Gradients gradients;
    gradients.rows[7 * kWidth] = std::nanf("");
    EXPECT_THAT(push(*client, gradients, 0).message(), HasSubstr(fmt::format("table 'emb', key {}", gradients.keys[7])));
    EXPECT_EQ(dense_of(*client, Numbers::exact), std::vector<float>(kElements, 1));
  }
}

TEST(PackedClient, AnotherFormatIsRefusedByName) {
  Cluster cluster(1);
  const auto first = connected(cluster, rounded_spec(WireFormat::bfloat16));
  const auto second = Client::connect(cluster.client(0), rounded_spec(WireFormat::int8));
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.status().message(), HasSubstr("table 'w': wire_format is bfloat16 at"));
}

TEST(PackedClient, MessagesAreSmaller) {
  uint64_t before = 0;
  for (const auto& [format, most] :
       {std::pair(WireFormat::float32, 1.0), {WireFormat::bfloat16, 0.52}, {WireFormat::int8, 0.28}}) {
    Cluster cluster(1);
    const auto client = connected(cluster, rounded_spec(format));
    ASSERT_TRUE(client->init_dense(kW, std::vector<float>(kElements, 1)).ok());
    const uint64_t sent = client->counters().bytes_sent, received = client->counters().bytes_received;
    ASSERT_TRUE(push(*client, Gradients(), 0).ok());
    (void)dense_of(*client, Numbers::on_wire);
    const uint64_t bytes = client->counters().bytes_sent - sent + client->counters().bytes_received - received;
    if (format == WireFormat::float32) before = bytes;
    EXPECT_LE(static_cast<double>(bytes), most * static_cast<double>(before)) << wire_format_name(format);
  }
}

}  // namespace
}  // namespace argosy::ps
