#include "argosy/collective/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "argosy/base/check.h"
#include "argosy/base/random.h"

namespace argosy::collective {
namespace {

int64_t divided_up(int64_t whole, int64_t by) { return (whole + by - 1) / by; }

}  // namespace

BatchSampler::BatchSampler(int64_t size, int rank, int ranks, BatchSamplerOptions options)
    : samples_(size), rank_(rank), ranks_(ranks), options_(options) {
  ARGOSY_CHECK(rank >= 0 && rank < ranks && options.batch_size > 0, "a sampler's rank and batch size");
  arrange();
}

int64_t BatchSampler::share() const { return divided_up(samples_, ranks_); }

int64_t BatchSampler::size() const {
  return options_.drop_last ? share() / options_.batch_size : divided_up(share(), options_.batch_size);
}

void BatchSampler::set_epoch(int64_t epoch) {
  epoch_ = epoch;
  position_ = 0;
  arrange();
}

void BatchSampler::arrange() {
  std::vector<int64_t> all(static_cast<size_t>(samples_));
  std::iota(all.begin(), all.end(), 0);
  if (options_.shuffle) {
    Random random(options_.seed, static_cast<uint64_t>(epoch_));
    for (size_t left = all.size(); left > 1; --left) std::swap(all[left - 1], all[random.below(left)]);
  }
  mine_.clear();
  for (int64_t at = rank_; at < share() * ranks_; at += ranks_) mine_.push_back(all[static_cast<size_t>(at % samples_)]);
}

std::vector<int64_t> BatchSampler::next() {
  if (position_ >= size()) return {};
  const auto begin = mine_.begin() + position_++ * options_.batch_size;
  return {begin, begin + std::min<int64_t>(options_.batch_size, mine_.end() - begin)};
}

std::string BatchSampler::save() const {
  return fmt::format("{} {} {} {} {} {}", epoch_, position_, samples_, ranks_, options_.batch_size, options_.seed);
}

Status BatchSampler::restore(const std::string& text) {
  int64_t epoch = 0, position = 0, samples = 0, ranks = 0, batch_size = 0;
  uint64_t seed = 0;
  if (std::istringstream in(text); !(in >> epoch >> position >> samples >> ranks >> batch_size >> seed) || position < 0) {
    return Status::data_loss("a sampler's position is six numbers; found '{}'", text);
  }
  if (samples != samples_) {
    return Status::failed_precondition("the sampler was saved with {} samples, and the dataset has {}", samples, samples_);
  }
  set_epoch(epoch);
  if (ranks != ranks_ || batch_size != options_.batch_size || seed != options_.seed) {
    return Status::failed_precondition(
        "the sampler was saved for {} ranks, batches of {} and seed {}, and now there are {}, {} and {}: pass {} begins again",
        ranks, batch_size, seed, ranks_, options_.batch_size, options_.seed, epoch);
  }
  position_ = std::min(position, size());
  return {};
}

}  // namespace argosy::collective
