#include "argosy/ps/state/operations.h"

#include <algorithm>

#include "argosy/base/random.h"
#include "argosy/ps/spec/job_spec.h"

namespace argosy::ps {
namespace {

constexpr uint64_t kEntryBytes = 160;  // of a remembered operation besides its texts, about

uint64_t bytes_of(const wire::Operation& operation, const std::string& answer) {
  return kEntryBytes + operation.kind().size() + operation.target().size() + answer.size();
}

}  // namespace

Operations::Operations(int workers, OperationLimits limits)
    : workers_(static_cast<uint64_t>(std::max(1, workers))), limits_(limits) {}

uint64_t Operations::number(uint32_t worker, const wire::Operation& operation) const {
  const uint64_t place = mix64(mix64(run_ ^ worker) ^ operation.position());
  const uint64_t named = mix64(operation.target(), mix64(operation.kind(), place) ^ operation.kind().size());
  return std::max<uint64_t>(1, mix64(named ^ operation.occurrence()));
}

const std::string* Operations::answer(uint32_t worker, const wire::Operation& operation) const {
  const auto known = done_.find(worker);
  if (known == done_.end()) return nullptr;
  const auto place = known->second.places.find(operation.position());
  if (place == known->second.places.end()) return nullptr;
  const auto found = place->second.answers.find({operation.kind(), operation.target(), operation.occurrence()});
  return found == place->second.answers.end() ? nullptr : &found->second;
}

Status Operations::check(uint32_t worker, const wire::Operation& operation) const {
  if (operation.kind().empty()) return Status::invalid_argument("an operation of worker {} has no kind", worker);
  if (const uint64_t bytes = operation.kind().size() + operation.target().size(); bytes > limits_.name_bytes) {
    return Status::invalid_argument("operation {} of worker {}: its target has {} bytes; expected {} at most", operation.kind(),
                                    worker, operation.target().size(), limits_.name_bytes);
  }
  const auto known = done_.find(worker);
  if (known == done_.end() || known->second.bytes < share() || done(worker, operation)) return {};
  uint64_t stays = 0, count = 0;  // of what end() would not drop
  for (auto place = known->second.places.lower_bound(operation.position()); place != known->second.places.end(); ++place) {
    stays += place->second.bytes;
    count += place->second.answers.size();
  }
  if (stays < share()) return {};
  return Status::resource_exhausted(
      "operation {} '{}' of worker {}: {} operations from batch {} of round {} on take {} bytes already, and operations_bytes "
      "allows a worker {}; it has to train between so many of them",
      operation.kind(), operation.target(), worker, count, static_cast<uint32_t>(operation.position()),
      round_of(operation.position()), stays, share());
}

Status Operations::check_answer(const wire::Operation& operation, uint64_t answer_bytes) const {
  if (answer_bytes <= limits_.answer_bytes) return {};
  return Status::invalid_argument("operation {} '{}': its answer has {} bytes; expected {} at most", operation.kind(),
                                  operation.target(), answer_bytes, limits_.answer_bytes);
}

bool Operations::done(uint32_t worker, const wire::Operation& operation) const {
  const auto known = done_.find(worker);
  if (known == done_.end()) return false;
  return operation.position() < known->second.dropped_before || answer(worker, operation) != nullptr;
}

wire::BeginOperationReply Operations::find(uint32_t worker, const wire::Operation& operation) const {
  wire::BeginOperationReply reply;
  reply.set_number(number(worker, operation));
  const std::string* kept = answer(worker, operation);
  reply.set_done(done(worker, operation));
  reply.set_dropped(reply.done() && kept == nullptr);
  if (kept != nullptr) reply.set_answer(*kept);
  return reply;
}

void Operations::end(uint32_t worker, const wire::Operation& operation, std::string answer) {
  if (done(worker, operation)) return;
  Worker& known = done_[worker];
  const uint64_t bytes = bytes_of(operation, answer);
  AtPosition& place = known.places[operation.position()];
  place.answers[{operation.kind(), operation.target(), operation.occurrence()}] = std::move(answer);
  place.bytes += bytes;
  known.bytes += bytes;
  while (known.bytes > share() && known.places.begin()->first < operation.position()) {
    known.bytes -= known.places.begin()->second.bytes;
    known.dropped_before = known.places.begin()->first + 1;
    known.places.erase(known.places.begin());
  }
}

uint64_t Operations::bytes() const {
  uint64_t sum = 0;
  for (const auto& [worker, known] : done_) sum += known.bytes;
  return sum;
}

void Operations::save(wire::OperationsImage* image) const {
  image->set_run(run_);
  for (const auto& [worker, known] : done_) {
    if (known.dropped_before != 0) (*image->mutable_dropped_before())[worker] = known.dropped_before;
    for (const auto& [position, place] : known.places) {
      for (const auto& [name, answer] : place.answers) {
        wire::OperationsImage::Done* done = image->add_done();
        done->set_worker(worker);
        done->mutable_operation()->set_kind(std::get<0>(name));
        done->mutable_operation()->set_target(std::get<1>(name));
        done->mutable_operation()->set_position(position);
        done->mutable_operation()->set_occurrence(std::get<2>(name));
        done->set_answer(answer);
      }
    }
  }
}

Status Operations::restore(const wire::OperationsImage& image) {
  done_.clear();
  run_ = image.run();
  const auto check_worker = [&](uint32_t worker) {
    return worker < workers_ ? Status() : Status::data_loss("an operation of worker {}; the job has {}", worker, workers_);
  };
  for (const auto& done : image.done()) {
    RETURN_IF_ERROR(check_worker(done.worker()));
    end(done.worker(), done.operation(), done.answer());
  }
  for (const auto& [worker, position] : image.dropped_before()) {
    RETURN_IF_ERROR(check_worker(worker));
    done_[worker].dropped_before = std::max(done_[worker].dropped_before, position);
  }
  return {};
}

}  // namespace argosy::ps
