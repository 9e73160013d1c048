#include "argosy/ps/communicator/geo_rows.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "argosy/base/mutex.h"
#include "argosy/base/plant.h"
#include "argosy/optim/initial_states.h"

namespace argosy::ps {

GeoRows::GeoRows(size_t width, const optim::Rule& rule)
    : width_(width),
      rule_(rule),
      initial_states_(optim::initial_element_states(rule, width)),
      stride_(2 * width + initial_states_.size()) {}

void GeoRows::read(std::span<const uint64_t> keys, float* rows, std::vector<uint32_t>& unknown) {
  for (size_t i = 0; i < keys.size(); ++i) {
    Shard& shard = shard_of(keys[i]);
    MutexLock lock(shard.mutex);
    const auto found = shard.slots.find(keys[i]);
    if (found == shard.slots.end()) {
      unknown.push_back(static_cast<uint32_t>(i));
    } else {
      std::copy_n(values(shard, found->second), width_, rows + i * width_);
    }
  }
}

void GeoRows::insert(std::span<const uint64_t> keys, const float* rows) {
  for (size_t i = 0; i < keys.size(); ++i) {
    Shard& shard = shard_of(keys[i]);
    MutexLock lock(shard.mutex);
    const auto [place, is_new] = shard.slots.try_emplace(keys[i], static_cast<uint32_t>(shard.keys.size()));
    if (!is_new) continue;
    shard.keys.push_back(keys[i]);
    shard.trained.push_back(false);
    const float* row = rows + i * width_;
    shard.floats.insert(shard.floats.end(), row, row + width_);
    shard.floats.insert(shard.floats.end(), row, row + width_);
    shard.floats.insert(shard.floats.end(), initial_states_.begin(), initial_states_.end());
  }
}

void GeoRows::apply(float* row, const float* gradient, const optim::Step& step) const {
  std::array<float*, optim::kMaxElementStates> states{};
  for (size_t k = 0; k < rule_.element_states(); ++k) states[k] = row + (2 + k) * width_;
  rule_.apply(step, row, gradient, states.data(), width_);
}

void GeoRows::train(std::span<const uint64_t> keys, const float* gradients, const optim::Step& step,
                    const std::optional<optim::Regularization>& regularization, const std::function<bool(uint64_t key)>& wanted) {
  std::vector<float> regularized(regularization ? width_ : 0);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (wanted && !wanted(keys[i])) continue;
    Shard& shard = shard_of(keys[i]);
    MutexLock lock(shard.mutex);
    const auto found = shard.slots.find(keys[i]);
    if (found == shard.slots.end()) continue;
    float* row = values(shard, found->second);
    const float* gradient = gradients + i * width_;
    if (regularization) {
      std::copy_n(gradient, width_, regularized.data());
      optim::regularize(*regularization, std::span(row, width_), regularized);
      gradient = regularized.data();
    }
    apply(row, gradient, step);
    if (shard.trained[found->second]) continue;
    shard.trained[found->second] = true;
    shard.touched.push_back(found->second);
  }
}

void GeoRows::collect(float share, std::vector<uint64_t>& keys, std::vector<float>& differences) {
  for (Shard& shard : shards_) {
    MutexLock lock(shard.mutex);
    for (const uint32_t slot : shard.touched) {
      float* row = values(shard, slot);
      float* base = row + width_;
      keys.push_back(shard.keys[slot]);
      for (size_t k = 0; k < width_; ++k) {
        const float difference = share * (row[k] - base[k]);
        differences.push_back(difference);
        if (!ARGOSY_PLANTED("geo_sent_stays_unsent")) base[k] += difference;
      }
      shard.trained[slot] = false;
    }
    shard.touched.clear();
  }
}

template <typename Body>
void GeoRows::for_known(std::span<const uint64_t> keys, const Body& body) {
  for (size_t i = 0; i < keys.size(); ++i) {
    Shard& shard = shard_of(keys[i]);
    MutexLock lock(shard.mutex);
    const auto found = shard.slots.find(keys[i]);
    if (found != shard.slots.end()) body(i, values(shard, found->second));
  }
}

void GeoRows::replace(std::span<const uint64_t> keys, std::span<const float> rows) {
  for_known(keys, [&](size_t i, float* row) {
    for (float* to : {row, row + width_}) std::ranges::copy(rows.subspan(i * width_, width_), to);
  });
}

void GeoRows::receive(std::span<const uint64_t> keys, std::span<const float> rows) {
  for_known(keys, [&](size_t i, float* row) {
    float* base = row + width_;
    for (size_t k = 0; k < width_; ++k) {
      row[k] = rows[i * width_ + k] + (row[k] - base[k]);  // exactly theirs where nothing is unsent
      base[k] = rows[i * width_ + k];
    }
  });
}

double GeoRows::unsent() {
  double sum = 0;
  for (Shard& shard : shards_) {
    MutexLock lock(shard.mutex);
    for (uint32_t slot = 0; slot < shard.keys.size(); ++slot) {
      const float* row = values(shard, slot);
      for (size_t i = 0; i < width_; ++i) sum += std::abs(double{row[i]} - double{row[width_ + i]});
    }
  }
  return sum;
}

void GeoRows::clear() {
  for (Shard& shard : shards_) {
    MutexLock lock(shard.mutex);
    shard.slots.clear();
    shard.keys.clear();
    shard.floats.clear();
    shard.trained.clear();
    shard.touched.clear();
  }
}

}  // namespace argosy::ps
