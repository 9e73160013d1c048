#include "argosy/ps/communicator/dense_lookahead.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "argosy/optim/regularize.h"

namespace argosy::ps {
namespace {

constexpr size_t kPiece = 2048;  // elements that are moved at once: they stay in the processor's first cache

// 0 times a number is 0 unless that is infinite or none.
bool all_finite(std::span<const float> numbers) {
  float sum = 0;
  for (const float number : numbers) sum += number * 0;
  return sum == 0;
}

void store(std::span<const float> from, std::span<float> to) {
  for (size_t i = 0; i < from.size(); ++i) std::atomic_ref(to[i]).store(from[i], std::memory_order_relaxed);
}

}  // namespace

Result<std::unique_ptr<DenseLookahead>> DenseLookahead::make(const JobSpec& spec) {
  std::unique_ptr<DenseLookahead> made(new DenseLookahead(spec));
  MutexLock lock(made->mutex_);
  made->tables_.resize(spec.tables.size());
  made->received_.resize(spec.tables.size());
  made->received_rates_.resize(spec.tables.size());
  for (size_t i = 0; i < spec.tables.size(); ++i) {
    const TableSpec& named = spec.tables[i];
    if (named.sparse) continue;
    ASSIGN_OR_RETURN(auto rule, optim::make_rule(named.rule, named.hyper_parameters));
    if (!rule->info().elementwise) continue;
    Table& table = made->tables_[i];
    table.scalars = rule->initial_scalars();
    for (const optim::StateSlot& slot : rule->states()) {
      if (slot.shape == optim::StateSlot::element) table.states.emplace_back(named.size, slot.initial);
    }
    table.rule = std::move(rule);
  }
  return made;
}

void DenseLookahead::bind(int table, std::span<float> values) {
  MutexLock lock(mutex_);
  const auto number = static_cast<size_t>(table);
  tables_[number].values = values;
  received_[number].resize(values.size());
  requests_.push_back({.table = table, .values = received_[number], .rate = &received_rates_[number]});
}

DenseLookahead::Move DenseLookahead::new_move(BatchId batch) {
  Move move;
  if (!spare_.empty()) {
    move = std::move(spare_.back());
    spare_.pop_back();
  }
  move.batch = batch;
  move.sent = move.covered = false;
  move.by.resize(tables_.size());
  for (std::vector<float>& by : move.by) by.clear();
  return move;
}

void DenseLookahead::drop(std::deque<Move>::iterator begin, std::deque<Move>::iterator end) {
  std::ranges::move(begin, end, std::back_inserter(spare_));
  moves_.erase(begin, end);
}

void DenseLookahead::move_table(size_t number, std::span<const float> gradient, std::vector<float>& by) {
  Table& table = tables_[number];
  const auto& penalty = spec_.tables[number].regularization;
  const optim::Step step = table.rule->begin_step(table.rate, table.scalars);
  std::array<float, kPiece> moved, regularized;
  std::array<float*, optim::kMaxElementStates> states{};
  by.resize(gradient.size());
  for (size_t begin = 0; begin < gradient.size(); begin += kPiece) {
    const auto values = table.values.subspan(begin, std::min(kPiece, gradient.size() - begin));
    const float* slope = gradient.data() + begin;
    if (penalty) {
      std::copy_n(slope, values.size(), regularized.begin());
      optim::regularize(*penalty, values, std::span(regularized).first(values.size()));
      slope = regularized.data();
    }
    for (size_t k = 0; k < table.states.size(); ++k) states[k] = table.states[k].data() + begin;
    std::ranges::copy(values, moved.begin());
    table.rule->apply(step, moved.data(), slope, states.data(), values.size());
    for (size_t k = 0; k < values.size(); ++k) by[begin + k] = moved[k] - values[k];
    store(std::span(moved).first(values.size()), values);
  }
}

void DenseLookahead::advance(const StepGradients& gradients) {
  MutexLock lock(mutex_);
  Move move = new_move(gradients.batch_id);
  for (const DenseGradient& gradient : gradients.dense) {
    const auto number = static_cast<size_t>(gradient.table);
    if (tables_[number].rule == nullptr || !all_finite(gradient.values)) continue;
    move_table(number, gradient.values, move.by[number]);
  }
  moves_.push_back(std::move(move));
}

void DenseLookahead::sent(BatchId batch) {
  MutexLock lock(mutex_);
  const auto found = std::ranges::find(moves_, batch, &Move::batch);
  if (found != moves_.end()) found->sent = true;
}

std::span<const DenseRequest> DenseLookahead::begin_receive() {
  MutexLock lock(mutex_);
  for (Move& move : moves_) move.covered = move.sent;
  return requests_;
}

void DenseLookahead::end_receive(bool received) {
  MutexLock lock(mutex_);
  if (!received) return;
  drop(std::partition(moves_.begin(), moves_.end(), [](const Move& move) { return !move.covered; }), moves_.end());
  for (const DenseRequest& request : requests_) {
    const auto number = static_cast<size_t>(request.table);
    for (const Move& move : moves_) {
      const std::vector<float>& by = move.by[number];
      for (size_t k = 0; k < by.size(); ++k) request.values[k] += by[k];
    }
    store(request.values, tables_[number].values);
    tables_[number].rate = received_rates_[number];
  }
}

void DenseLookahead::forget() {
  MutexLock lock(mutex_);
  drop(moves_.begin(), moves_.end());
}

}  // namespace argosy::ps
