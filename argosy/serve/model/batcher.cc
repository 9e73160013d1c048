#include "argosy/serve/model/batcher.h"

#include <fmt/format.h>

#include "argosy/serve/predict/join_inputs.h"

namespace argosy::serve {
namespace {

constexpr std::chrono::seconds kLook{1};  // how often an idle thread looks whether it should end

}  // namespace

Batcher::Batcher(const BatcherOptions& options, ServeCounters& counters) : options_(options), counters_(counters) {
  for (int i = 0; i < options_.threads; ++i) threads_.emplace_back(fmt::format("serve-{}", i), [this] { work(); });
}

Batcher::~Batcher() { stop(); }

void Batcher::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (Thread& thread : threads_) thread.join();
}

Result<std::vector<Tensor>> Batcher::predict(std::shared_ptr<const ServedVersion> version, Inputs inputs, Deadline deadline) {
  auto job =
      std::make_shared<Job>(Job{.version = std::move(version), .inputs = std::move(inputs), .deadline = deadline, .answer = {}});
  if (const auto samples = count_samples(job->version->inputs, job->inputs); samples.ok()) job->samples = *samples;
  auto answer = job->answer.get_future();
  {
    MutexLock lock(mutex_);
    if (stopping_) return Status::unavailable("the server is stopping");
    if (queue_.size() >= options_.max_queue)
      return Status::resource_exhausted("{} requests wait already (max_queue); send fewer at once, or start more servers",
                                        options_.max_queue);
    queue_.push_back(std::move(job));
    counters_.set_queued(static_cast<int64_t>(queue_.size()));
  }
  changed_.notify_one();
  if (answer.wait_until(deadline.when()) != std::future_status::ready)
    return Status::deadline_exceeded(
        "no prediction within the request's deadline; the server is busy, or the deadline too short");
  return answer.get();
}

// Moves requests from the queue's front into the batch while they fit.
void Batcher::add_fitting(Batch& batch, int64_t& samples) {
  while (!queue_.empty()) {
    const Job& first = *batch.front();
    const Job& next = *queue_.front();
    const bool fits = first.samples >= 0 && next.samples >= 0 && next.version == first.version &&
                      samples + next.samples <= options_.max_batch && can_join(first.inputs, next.inputs);
    if (!fits) return;
    samples += next.samples;
    batch.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
}

bool Batcher::take(Batch& batch) {
  MutexLock lock(mutex_);
  while (queue_.empty()) {
    if (stopping_) return false;
    changed_.wait_for(lock, kLook, [&]() ARGOSY_REQUIRES(mutex_) { return stopping_ || !queue_.empty(); });
  }
  batch.push_back(std::move(queue_.front()));
  queue_.pop_front();
  int64_t samples = std::max<int64_t>(batch.front()->samples, 0);
  const auto until = batch.front()->arrived + options_.max_wait;
  add_fitting(batch, samples);
  while (samples < options_.max_batch && queue_.empty() && !stopping_ && batch.front()->samples >= 0 &&
         SteadyClock::now() < until) {
    changed_.wait_until(lock, until, [&]() ARGOSY_REQUIRES(mutex_) { return stopping_ || !queue_.empty(); });
    add_fitting(batch, samples);
  }
  counters_.set_queued(static_cast<int64_t>(queue_.size()));
  return true;
}

void Batcher::work() {
  for (Batch batch; take(batch); batch.clear()) {
    std::erase_if(batch, [](const auto& job) { return job->deadline.passed(); });  // nobody waits for it
    if (!batch.empty()) run(batch);
  }
}

void Batcher::run_alone(Job& job) {
  counters_.add_batch(1, std::max<int64_t>(job.samples, 0));
  job.answer.set_value(job.version->run(job.inputs));
}

void Batcher::run(const Batch& batch) {
  if (batch.size() == 1) return run_alone(*batch.front());
  std::vector<const Inputs*> parts;
  std::vector<int64_t> samples;
  int64_t all = 0;
  for (const auto& job : batch) {
    parts.push_back(&job->inputs);
    samples.push_back(job->samples);
    all += job->samples;
  }
  const auto outputs = batch.front()->version->run(join(parts));
  auto divided = outputs.ok() ? split(batch.front()->version->outputs, *outputs, samples) : outputs.status();
  if (!divided.ok()) {  // a bad request must not fail its neighbours, and outputs that cannot be divided need runs of their own
    for (const auto& job : batch) run_alone(*job);
    return;
  }
  counters_.add_batch(static_cast<int64_t>(batch.size()), all);
  for (size_t i = 0; i < batch.size(); ++i) batch[i]->answer.set_value(std::move((*divided)[i]));
}

}  // namespace argosy::serve
