#include "argosy/data/in_memory_dataset.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/base/progress.h"
#include "argosy/data/feed.h"
#include "argosy/data/file_parts.h"

namespace argosy::data {

struct InMemoryDataset::Segment {
  int64_t file, line;       // of its first line
  int64_t begin, end;       // in the order of its lane
  size_t lane = 0;
};

struct InMemoryDataset::Lane {
  explicit Lane(std::span<const SlotSpec> slots) : store(slots) {}
  RecordStore store;
  std::vector<Segment> segments;
  Status status;
};

InMemoryDataset::~InMemoryDataset() { stop(); }

Status InMemoryDataset::check_idle(std::string_view call) const {
  if (preloading_) return Status::failed_precondition("{} while a preload runs; call wait_preload_done first", call);
  if (outgoing_.has_value()) return Status::failed_precondition("{} in the middle of a global shuffle", call);
  return {};
}

Status InMemoryDataset::load_into_memory() {
  RETURN_IF_ERROR(check_idle("load_into_memory"));
  stopped_ = false;
  return load();
}

Status InMemoryDataset::preload_into_memory() {
  RETURN_IF_ERROR(check_idle("preload_into_memory"));
  RETURN_IF_ERROR(check_options(options_));
  stopped_ = false;
  preloading_ = true;
  preload_ = Thread("data-preload", [this] { preload_status_ = load(); });
  return {};
}

Status InMemoryDataset::wait_preload_done() {
  if (!preloading_) return Status::failed_precondition("wait_preload_done without preload_into_memory before it");
  preload_.join();
  preloading_ = false;
  return preload_status_;
}

Status InMemoryDataset::load() {
  RETURN_IF_ERROR(check_options(options_));
  ASSIGN_OR_RETURN(parser_, make_parser(options_));
  ASSIGN_OR_RETURN(const auto parts, FileParts::list(options_));
  if (options_.handout != nullptr) options_.handout->begin_load();
  auto feed = std::make_shared<FileFeed>(options_, parts, *parser_, options_.threads);
  {
    MutexLock lock(mutex_);
    feed_ = feed;
  }
  if (stopped_) feed->stop();
  Progress progress("load");
  std::vector<Lane> lanes;
  lanes.reserve(static_cast<size_t>(options_.threads));
  for (int i = 0; i < options_.threads; ++i) lanes.emplace_back(options_.slots);
  {
    std::vector<Thread> threads;
    for (size_t i = 1; i < lanes.size(); ++i) {
      threads.emplace_back(fmt::format("data-load-{}", i), [&, i] { lanes[i].status = fill_lane(*feed, lanes[i], progress); });
    }
    lanes[0].status = fill_lane(*feed, lanes[0], progress);
  }
  for (const Lane& lane : lanes) RETURN_IF_ERROR(lane.status);
  merge(lanes);
  counted_ = same_pass_ = true;
  if (store_.size() == 0 && options_.table != nullptr) log_warning("the table that was loaded has no rows");
  if (store_.size() == 0 && options_.table == nullptr)
    log_warning("{} data files were loaded and had no samples, the first is '{}'", options_.files.size(), options_.files[0]);
  return {};
}

Status InMemoryDataset::fill_lane(FileFeed& feed, Lane& lane, Progress& progress) const {
  TextPiece piece;
  Batch batch;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, feed.next_block(piece));
    if (!more) return {};
    batch.reset(options_.slots);
    const int64_t line = piece.line, begin = lane.store.size();
    RETURN_IF_ERROR(feed.parse(piece, batch));
    lane.store.append(batch);
    lane.segments.push_back({.file = piece.block->origin->file, .line = line, .begin = begin, .end = lane.store.size()});
    progress.set(feed.read_ratio());
  }
}

void InMemoryDataset::merge(std::vector<Lane>& lanes) {
  RecordStore merged(options_.slots);
  std::vector<Segment> segments;
  std::vector<std::vector<RecordStore::Place>> orders;
  std::vector<uint64_t> bases;
  for (size_t i = 0; i < lanes.size(); ++i) {
    for (Segment& segment : lanes[i].segments) segment.lane = i;
    segments.insert(segments.end(), lanes[i].segments.begin(), lanes[i].segments.end());
    orders.push_back(std::move(lanes[i].store.order()));
    bases.push_back(merged.adopt_chunks(std::move(lanes[i].store)));
  }
  std::sort(segments.begin(), segments.end(),
            [](const Segment& a, const Segment& b) { return std::tie(a.file, a.line) < std::tie(b.file, b.line); });
  size_t total = 0;
  for (const auto& order : orders) total += order.size();
  merged.order().reserve(total);
  for (const Segment& segment : segments) {
    for (int64_t i = segment.begin; i < segment.end; ++i) {
      merged.order().push_back(orders[segment.lane][static_cast<size_t>(i)] + (bases[segment.lane] << 32));
    }
  }
  store_ = std::move(merged);
  original_.reset();
  loaded_ = true;
}

Status InMemoryDataset::local_shuffle(uint64_t seed) {
  RETURN_IF_ERROR(check_idle("local_shuffle"));
  if (!loaded_) return Status::failed_precondition("local_shuffle before load_into_memory: there is nothing to shuffle");
  store_.shuffle(seed);
  return {};
}

Status InMemoryDataset::shuffle_slots(std::span<const std::string> slots, int64_t candidates, uint64_t seed) {
  RETURN_IF_ERROR(check_idle("slots_shuffle"));
  if (!loaded_) return Status::failed_precondition("slots_shuffle before load_into_memory: there is nothing to shuffle");
  if (candidates < 1)
    return Status::invalid_argument("slots_shuffle: {} candidates for a sample, expected 1 or more", candidates);
  std::vector<size_t> columns;
  for (const std::string& name : slots) {
    const auto found =
        std::find_if(options_.slots.begin(), options_.slots.end(), [&](const SlotSpec& slot) { return slot.name == name; });
    if (found == options_.slots.end()) {
      std::vector<std::string> names;
      for (const SlotSpec& slot : options_.slots) names.push_back(slot.name);
      return Status::not_found("slots_shuffle: the dataset has no slot '{}'; it has {}", name, fmt::join(names, ", "));
    }
    columns.push_back(static_cast<size_t>(found - options_.slots.begin()));
  }
  if (!original_.has_value()) original_.emplace(std::move(store_));
  store_ = original_->with_slots_of_others(columns, candidates, seed);
  return {};
}

Status InMemoryDataset::release_memory() {
  RETURN_IF_ERROR(check_idle("release_memory"));
  original_.reset();
  store_ = RecordStore(options_.slots);
  loaded_ = false;
  return {};
}

Status InMemoryDataset::begin_exchange(uint64_t seed) {
  RETURN_IF_ERROR(check_idle("global_shuffle"));
  if (!loaded_) return Status::failed_precondition("global_shuffle before load_into_memory: there is nothing to shuffle");
  if (original_.has_value())
    return Status::failed_precondition(
        "global_shuffle after slots_shuffle, whose samples belong together no more; shuffle first");
  MutexLock lock(give_mutex_);
  outgoing_.emplace(std::exchange(store_, RecordStore(options_.slots)));
  outgoing_->prepare_take();
  exchange_seed_ = seed;
  return {};
}

bool InMemoryDataset::take_records(std::span<std::string> blocks) {
  return outgoing_.has_value() && outgoing_->take(exchange_seed_, blocks);
}

Status InMemoryDataset::give_records(std::string_view block) {
  MutexLock lock(give_mutex_);
  return store_.give(block);
}

Status InMemoryDataset::end_exchange() {
  if (!outgoing_.has_value()) return Status::failed_precondition("end_exchange without begin_exchange before it");
  if (outgoing_->size() > 0) return Status::failed_precondition("the exchange ends before all records were taken");
  outgoing_.reset();
  return {};
}

double InMemoryDataset::exchange_ratio() const { return outgoing_.has_value() ? outgoing_->taken_ratio() : 1; }

Status InMemoryDataset::start(int threads) {
  if (threads < 1) return Status::invalid_argument("a dataset was started for {} threads, expected at least 1", threads);
  RETURN_IF_ERROR(check_idle("a pass"));
  if (!loaded_) return Status::failed_precondition("the InMemoryDataset has no data in memory; call load_into_memory first");
  threads_ = threads;
  cursor_ = 0;
  stopped_ = false;
  if (!std::exchange(same_pass_, false)) counted_ = false;
  return {};
}

Result<bool> InMemoryDataset::next(int thread, Batch& batch) {
  if (threads_ == 0) return Status::failed_precondition("the dataset was not started");
  ARGOSY_CHECK(thread >= 0 && thread < threads_, "next() for a thread that start() does not know");
  if (stopped_) return Status::cancelled("the dataset was stopped");
  batch.reset(options_.slots);
  const int64_t first = cursor_.fetch_add(options_.batch_size);
  const int64_t count = std::min<int64_t>(options_.batch_size, store_.size() - first);
  if (count <= 0 || (options_.drop_last && count < options_.batch_size)) return false;
  store_.gather(first, count, batch);
  batch.number = static_cast<uint64_t>(first / options_.batch_size);
  return true;
}

void InMemoryDataset::stop() {
  stopped_ = true;
  if (const auto feed = this->feed()) feed->stop();
}

DatasetCounters InMemoryDataset::counters() const {
  const auto feed = this->feed();
  return feed == nullptr || !counted_ ? DatasetCounters{} : feed->counters();
}

std::optional<double> InMemoryDataset::read_ratio() const {
  if (threads_ == 0 || store_.size() == 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(cursor_) / static_cast<double>(store_.size()));
}

std::shared_ptr<FileFeed> InMemoryDataset::feed() const {
  MutexLock lock(mutex_);
  return feed_;
}

}  // namespace argosy::data
