#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <thread>

#include "argosy/base/mutex.h"
#include "argosy/optim/clip.h"
#include "argosy/ps/client/cluster_test.h"
#include "argosy/ps/communicator/communicator.h"
#include "argosy/ps/communicator/make_communicator.h"

// A small training job whose gradients depend on the parameters that were read and on the batch, and the same job in one
// process on plain arrays: what a distributed run is compared with.
namespace argosy::ps {

inline constexpr int kDense = 0, kBias = 1, kRows = 2;  // tables of training_spec

inline JobSpec training_spec(Mode mode, int workers, const std::string& rule = "sgd", double rate = 0.1) {
  JobSpec spec{.mode = mode,
               .workers = workers,
               .tables = {dense_table("w", 20000, rate), dense_table("b", 3, rate), sparse_table("emb", 4, rate)}};
  for (TableSpec& table : spec.tables) {
    table.rule = rule;
    table.geo = mode == Mode::geo;
    if (rule == "momentum") table.hyper_parameters = {{"mu", 0.9f}};
  }
  spec.tables[kRows].initializer = {.kind = RowInitializer::Kind::uniform, .a = -1, .b = 1, .seed = 3};
  return spec;
}

inline std::vector<float> first_values(size_t size, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(random.uniform()) - 0.5f;
  return values;
}

// Batch `index` of a worker, and the gradients that it gives at some parameters.
struct TestBatch {
  TestBatch(int worker, uint32_t round, uint32_t index)
      : random(mix64(static_cast<uint64_t>(worker) << 40 ^ batch_id(round, index))) {
    while (keys.size() < 12) {
      const uint64_t key = random.below(30) * 0x123456789ULL;
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
    noise = random();
  }

  // Away from 0, where rules that divide by a gradient's size make rounding visible.
  std::vector<float> gradient(std::span<const float> parameters, uint64_t which) const {
    Random draw(noise, which);
    std::vector<float> gradient;
    for (const float parameter : parameters) gradient.push_back(0.1f * parameter + static_cast<float>(draw.uniform() / 2 + 0.2));
    return gradient;
  }

  Random random;
  std::vector<uint64_t> keys;
  uint64_t noise = 0;
};

// The job in one process: a step takes the mean gradient, clips, regularizes and applies the rule, rows lazily.
class Oracle {
 public:
  Oracle(const JobSpec& spec, std::vector<NormClip> clips) : spec_(spec), clips_(std::move(clips)) {
    for (const TableSpec& table : spec.tables) {
      Table made;
      made.rule = *optim::make_rule(table.rule, table.hyper_parameters);
      made.scalars = made.rule->initial_scalars();
      tables_.push_back(std::move(made));
    }
    tables_[kDense].row(0, first_values(20000, 1));
    tables_[kBias].row(0, first_values(3, 2));
  }

  std::vector<float>& values(int table, uint64_t key = 0) {
    Table& made = tables_[static_cast<size_t>(table)];
    if (!made.rows.contains(key)) {
      std::vector<float> fresh(spec_.tables[static_cast<size_t>(table)].width);
      table::row_initial_value(spec_.tables[static_cast<size_t>(table)].initializer, key, fresh);
      made.row(key, fresh);
    }
    return made.rows.at(key).values;
  }

  // One step of all `batches`, each with its share of the mean.
  void step(const std::vector<std::pair<TestBatch, double>>& batches) {
    std::vector<std::map<uint64_t, std::vector<float>>> mean(3);
    for (const auto& [batch, share] : batches) {
      add(mean[kDense][0], batch.gradient(values(kDense), 1), share);
      add(mean[kBias][0], batch.gradient(values(kBias), 2), share);
      for (const uint64_t key : batch.keys) add(mean[kRows][key], batch.gradient(values(kRows, key), key + 3), share);
    }
    clip(mean);
    for (size_t table = 0; table < mean.size(); ++table) apply(table, mean[table]);
    steps_ += 1;
  }

 private:
  struct Row {
    std::vector<float> values;
    std::vector<std::vector<float>> states;
  };
  struct Table {
    void row(uint64_t key, const std::vector<float>& first) {
      Row made{.values = first, .states = {}};
      for (const optim::StateSlot& slot : rule->states()) {
        if (slot.shape == optim::StateSlot::element) made.states.emplace_back(first.size(), slot.initial);
      }
      rows[key] = std::move(made);
    }
    std::unique_ptr<optim::Rule> rule;
    std::vector<float> scalars;
    std::map<uint64_t, Row> rows;
  };

  static void add(std::vector<float>& sum, const std::vector<float>& gradient, double share) {
    sum.resize(gradient.size());
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<float>(share) * gradient[i];
  }

  void clip(std::vector<std::map<uint64_t, std::vector<float>>>& mean) const {
    for (size_t table = 0; table < mean.size(); ++table) {
      const auto& limits = spec_.tables[table].value_clip;
      for (auto& [key, gradient] : mean[table]) {
        if (limits) optim::clip_by_value(gradient, limits->min, limits->max);
      }
    }
    for (const NormClip& group : clips_) {
      double sum = 0;
      for (const int table : group.tables) {
        for (const auto& [key, gradient] : mean[static_cast<size_t>(table)]) sum += optim::sum_of_squares(gradient);
      }
      for (const int table : group.tables) {
        for (auto& [key, gradient] : mean[static_cast<size_t>(table)])
          optim::scale(gradient, optim::clip_factor(sum, group.clip_norm));
      }
    }
  }

  void apply(size_t index, std::map<uint64_t, std::vector<float>>& gradients) {
    Table& table = tables_[index];
    const TableSpec& spec = spec_.tables[index];
    const optim::Step step = table.rule->begin_step(spec.schedule.value(steps_) * spec.rate_factor, table.scalars);
    for (auto& [key, gradient] : gradients) {
      Row& row = table.rows.at(key);
      if (spec.regularization) optim::regularize(*spec.regularization, row.values, gradient);
      std::vector<float*> states;
      for (auto& state : row.states) states.push_back(state.data());
      table.rule->apply(step, row.values.data(), gradient.data(), states.data(), gradient.size());
    }
  }

  const JobSpec spec_;
  const std::vector<NormClip> clips_;
  std::vector<Table> tables_;
  int64_t steps_ = 0;
};

// One worker process of the test: client, communicator, bound parameters.
class TestWorker {
 public:
  TestWorker(const ClientOptions& client_options, const JobSpec& spec, const CommunicatorOptions& options) {
    auto connected = Client::connect(client_options, spec);
    if (!connected.ok()) {
      status = connected.status();
      return;
    }
    client = std::move(*connected);
    status = begin(options);
  }

  // A pass over `batches` batches by `threads` threads; `each` sees every batch after its step.
  Status train_round(int threads, uint32_t batches, const std::function<void(uint32_t)>& each = {}) {
    auto begun = communicator->begin_round(threads);
    if (!begun.ok()) return begun.status();
    if (!*begun) return {};
    std::vector<Status> ends(static_cast<size_t>(threads));
    Mutex data;
    std::vector<std::thread> running;
    for (int thread = 0; thread < threads; ++thread) {
      running.emplace_back([&, thread] {
        Status& end = ends[static_cast<size_t>(thread)];
        for (;;) {
          BatchId batch;
          {
            std::lock_guard lock(data);
            if (taken_ == batches) break;
            taken_ += 1;
            batch = communicator->begin_batch();
          }
          if (!communicator->wants(batch)) continue;
          end = train(batch);
          if (!end.ok()) return;
          if (each) each(index_of(batch));
        }
        end = communicator->thread_done();
      });
    }
    for (auto& thread : running) thread.join();
    taken_ = 0;
    for (const Status& end : ends) RETURN_IF_ERROR(end);
    return communicator->end_round();
  }

  Status train(BatchId id) {
    const TestBatch batch(client->worker(), round_of(id), index_of(id));
    std::vector<float> rows(batch.keys.size() * 4);
    const RowRequest request{.table = kRows, .keys = batch.keys, .rows = rows.data()};
    RETURN_IF_ERROR(communicator->pull(std::span(&request, 1)));
    const auto w = read(dense), b = read(bias);
    const auto w_gradient = batch.gradient(w, 1), b_gradient = batch.gradient(b, 2);
    std::vector<float> gradients;
    for (size_t i = 0; i < batch.keys.size(); ++i) {
      const auto row = batch.gradient(std::span(rows).subspan(i * 4, 4), batch.keys[i] + 3);
      gradients.insert(gradients.end(), row.begin(), row.end());
    }
    const DenseGradient dense_gradients[] = {{.table = kDense, .values = w_gradient}, {.table = kBias, .values = b_gradient}};
    const RowGradients row_gradients{.table = kRows, .keys = batch.keys, .values = gradients.data()};
    return communicator->step({.batch_id = id, .dense = dense_gradients, .rows = std::span(&row_gradients, 1)});
  }

  Status status;  // of the start
  std::vector<float> dense = std::vector<float>(20000), bias = std::vector<float>(3);  // the communicator's threads write to them
  std::unique_ptr<Client> client;
  std::unique_ptr<Communicator> communicator;

 private:
  Status begin(const CommunicatorOptions& options) {
    if (client->worker() == 0) {
      RETURN_IF_ERROR(client->init_dense(kDense, first_values(20000, 1)));
      RETURN_IF_ERROR(client->init_dense(kBias, first_values(3, 2)));
    }
    RETURN_IF_ERROR(client->wait_initialised(Deadline::after_seconds(60)));
    ASSIGN_OR_RETURN(communicator, make_communicator(options, *client));
    RETURN_IF_ERROR(communicator->bind_dense(kDense, dense));
    RETURN_IF_ERROR(communicator->bind_dense(kBias, bias));
    return communicator->start();
  }

  // The communicator may write meanwhile.
  static std::vector<float> read(std::vector<float>& values) {
    std::vector<float> copy;
    for (float& value : values) copy.push_back(std::atomic_ref<float>(value).load(std::memory_order_relaxed));
    return copy;
  }

  uint32_t taken_ = 0;
};

// Runs `body` for each worker on a thread of its own.
inline void as_workers(int workers, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int worker = 0; worker < workers; ++worker) threads.emplace_back(body, worker);
  for (auto& thread : threads) thread.join();
}

// What the servers hold, against the oracle.
inline void expect_equal(Client& client, Oracle& oracle, float tolerance) {
  std::vector<float> dense(20000), bias(3);
  const DenseRequest requests[] = {{.table = kDense, .values = dense}, {.table = kBias, .values = bias}};
  ASSERT_TRUE(client.pull_dense(requests).ok());
  for (size_t i = 0; i < dense.size(); ++i) ASSERT_NEAR(dense[i], oracle.values(kDense)[i], tolerance) << i;
  for (size_t i = 0; i < bias.size(); ++i) ASSERT_NEAR(bias[i], oracle.values(kBias)[i], tolerance) << i;
  std::vector<uint64_t> keys;
  for (uint64_t i = 0; i < 30; ++i) keys.push_back(i * 0x123456789ULL);
  std::vector<float> rows(keys.size() * 4);
  const RowRequest request{.table = kRows, .keys = keys, .rows = rows.data(), .create = false};
  ASSERT_TRUE(client.pull_rows(std::span(&request, 1)).ok());
  for (size_t i = 0; i < keys.size(); ++i) {
    for (size_t k = 0; k < 4; ++k) ASSERT_NEAR(rows[4 * i + k], oracle.values(kRows, keys[i])[k], tolerance) << i << " " << k;
  }
}

}  // namespace argosy::ps
