#include "argosy/engine/train/runner.h"

#include <ATen/ATen.h>
#include <ATen/DeviceGuard.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/base/thread.h"
#include "argosy/engine/program/prepared.h"
#include "argosy/engine/program/run_frame.h"
#include "argosy/engine/program/step_capture.h"
#include "argosy/engine/remote/remote_rows.h"
#include "argosy/engine/train/training_metrics.h"
#include "argosy/observe/process_observer.h"

namespace argosy::engine {
namespace {

constexpr size_t kIdleFrames = 16;

std::string cache_key(const graph::Program& program, const std::vector<std::string>& feeds,
                      const std::vector<std::string>& fetches, const Scope& scope) {
  std::string key = fmt::format("{}.{}.{}.{}", program.id(), program.version(), scope.id(), fmt::ptr(scope.remote()));
  for (const std::string& name : feeds) key += fmt::format("<{}", name);
  for (const std::string& name : fetches) key += fmt::format(">{}", name);
  return key;
}

std::vector<std::string> names_of(const Feed& feed) {
  std::vector<std::string> names;
  for (const auto& [name, value] : feed) names.push_back(name);
  return names;
}

Status bind_feed(Frame& frame, const Feed& feed) {
  const graph::Block& block = frame.program().program().global_block();
  for (const auto& [name, value] : feed) {
    const graph::VarDesc* variable = block.find_var(name);
    if (variable == nullptr) return Status::not_found("feed: the program has no variable '{}'", name);
    RETURN_IF_ERROR(check_feed(*variable, value));
    frame.feed(frame.program().find_value(name), value);
  }
  return {};
}

Result<std::vector<Value>> fetch_values(Frame& frame, const std::vector<std::string>& fetches) {
  std::vector<Value> values;
  for (const std::string& name : fetches) {
    Value value = frame.fetch(frame.program().find_value(name));
    if (!value.defined()) {
      return Status::failed_precondition(
          "fetch_list: variable '{}' has no value after the run; nothing in the program computes it", name);
    }
    values.push_back(std::move(value));
  }
  return values;
}

// Of a batch that a script feeds itself: sequences have one entry of their last level per sample.
int64_t samples_of(const Feed& feed) {
  int64_t samples = 0;
  for (const auto& [name, value] : feed) {
    if (value.lod == nullptr && value.tensor.dim() > 0) samples = std::max(samples, value.tensor.size(0));
  }
  return samples;
}

// Tells who observes the process of one run of a program that trains.
void show_run(const graph::Program& program, const Feed& feed, const std::vector<std::string>& fetches,
              const std::vector<Value>& values, double seconds) {
  if (!observe::is_observed()) return;
  const std::vector<Measure> measures = measures_of(program);
  if (measures.empty() || measures.front().name != "loss") return;
  count_batch(samples_of(feed), 0, seconds);
  for (const Measure& measure : measures) {
    const auto place = std::find(fetches.begin(), fetches.end(), measure.variable) - fetches.begin();
    if (place == std::ssize(fetches)) continue;
    const at::Tensor& value = values[static_cast<size_t>(place)].tensor;
    if (value.defined() && value.numel() == 1) set_measure(measure.name, value.item<double>());
  }
}

}  // namespace

Status check_feed(const graph::VarDesc& variable, const Value& value) {
  if (!value.tensor.defined()) return Status::invalid_argument("variable '{}': fed an empty value", variable.name);
  if (!graph::shape_fits(variable.shape, value.tensor.sizes())) {
    return Status::invalid_argument("variable '{}': fed shape {}, expected {} (as it was declared)", variable.name,
                                    graph::shape_to_string(value.tensor.sizes().vec()), graph::shape_to_string(variable.shape));
  }
  if (value.tensor.scalar_type() != scalar_type(variable.dtype)) {
    return Status::invalid_argument("variable '{}': fed {}, expected {}; convert it with .astype('{}')", variable.name,
                                    graph::dtype_name(dtype_of(value.tensor)), graph::dtype_name(variable.dtype),
                                    graph::dtype_name(variable.dtype));
  }
  if (variable.lod_level > 0 && value.lod == nullptr) {
    return Status::invalid_argument(
        "variable '{}' is a sequence (lod_level={}), but a plain array was fed; use create_lod_tensor or a DataFeeder",
        variable.name, variable.lod_level);
  }
  return {};
}

Runner::Runner(ExecutorOptions options, std::shared_ptr<const Context> context)
    : options_(options), context_(context != nullptr ? std::move(context) : std::make_shared<const Context>()) {}
Runner::~Runner() = default;

Result<std::unique_ptr<Frame>> Runner::make_frame(const graph::Program& program, const std::vector<std::string>& feeds,
                                                  const std::vector<std::string>& fetches, Scope& scope) {
  RETURN_IF_ERROR(check_device(options_.device));
  const auto remote = scope.remote();
  ASSIGN_OR_RETURN(
      auto prepared,
      PreparedProgram::create(program, {.feeds = feeds, .fetches = fetches, .fuse = options_.fuse, .remote = remote.get()}));
  if (prepared->sends() && remote == nullptr) {
    return Status::failed_precondition(
        "this program trains on parameter servers, but its scope is not connected to them; run the startup program first");
  }
  RETURN_IF_ERROR(prepared->check_kernels(options_.device));
  auto frame = std::make_unique<Frame>(std::move(prepared), scope, *context_);
  frame->bfloat16_matmul = options_.bfloat16_matmul;
  frame->check_finite = options_.check_finite;
  frame->device = options_.device;
  return frame;
}

Result<std::vector<Value>> Runner::run(const graph::Program& program, const Feed& feed, const std::vector<std::string>& fetches,
                                       Scope& scope) {
  return run_batch(program, feed, fetches, scope, std::nullopt);
}

Result<Runner::Entry> Runner::take_fed(const graph::Program& program, const Feed& feed, const std::vector<std::string>& fetches,
                                       Scope& scope) {
  ASSIGN_OR_RETURN(Entry entry, take(program, names_of(feed), fetches, scope));
  RETURN_IF_ERROR(entry.frame->begin());
  RETURN_IF_ERROR(bind_feed(*entry.frame, feed));
  return entry;
}

Result<std::vector<Value>> Runner::run_batch(const graph::Program& program, const Feed& feed,
                                             const std::vector<std::string>& fetches, Scope& scope,
                                             std::optional<BatchId> batch) {
  RETURN_IF_ERROR(check_device(options_.device));
  const c10::OptionalDeviceGuard device(options_.device.is_cpu() ? std::nullopt : std::optional(options_.device));
  const Stopwatch since_begin;
  auto fed = take_fed(program, feed, fetches, scope);
  if (!fed.ok() && batch) scope.remote()->drop_batch(*batch);
  ASSIGN_OR_RETURN(Entry entry, std::move(fed));
  Frame* const frame = entry.frame.get();
  if (frame->program().sends()) frame->batch_id = batch ? *batch : scope.remote()->begin_batch();
  frame->samples = 0;
  frame->sent = false;
  if (Status status = entry.capture != nullptr ? entry.capture->run(*frame) : run_frame(*frame); !status.ok()) {
    if (frame->program().sends() && !frame->sent) scope.remote()->drop_batch(frame->batch_id);
    return status;
  }
  auto fetched = fetch_values(*frame, fetches);
  if (fetched.ok()) show_run(program, feed, fetches, *fetched, since_begin.seconds());
  frame->end();
  give_back(std::move(entry));
  return fetched;
}

Result<std::vector<std::vector<Value>>> Runner::run_parallel(const graph::Program& program, const std::vector<Feed>& feeds,
                                                             const std::vector<std::string>& fetches, Scope& scope) {
  const auto remote = scope.remote();
  const auto& ops = program.global_block().ops();
  const bool sends = std::any_of(ops.begin(), ops.end(), [](const auto& op) { return op->type == kSendOp; });
  if (!sends || remote == nullptr || feeds.empty()) {
    return Status::failed_precondition(
        "several threads can share a step where parameter servers do the update; this program updates its own parameters, or its "
        "scope is not connected to servers");
  }
  RETURN_IF_ERROR(remote->begin_parallel(static_cast<int>(feeds.size())));
  std::vector<std::vector<Value>> fetched(feeds.size());
  Mutex mutex;
  Status first_error;  // what the other threads meet then is its consequence
  std::vector<BatchId> batches;
  while (batches.size() < feeds.size()) batches.push_back(remote->begin_batch());
  {
    std::vector<Thread> threads;
    for (size_t i = 0; i < feeds.size(); ++i) {
      threads.emplace_back(fmt::format("trainer-{}", i), [&, i] {
        at::set_num_threads(1);  // of this thread only
        auto result = run_batch(program, feeds[i], fetches, scope, batches[i]);
        if (result.ok()) {
          fetched[i] = std::move(*result);
          return;
        }
        {
          MutexLock lock(mutex);
          if (first_error.ok()) first_error = result.status();
        }
        remote->thread_failed(result.status());
      });
    }
  }
  const Status ended = remote->end_parallel();
  RETURN_IF_ERROR(first_error);
  RETURN_IF_ERROR(ended);
  return fetched;
}

Result<Runner::Entry> Runner::take(const graph::Program& program, const std::vector<std::string>& feeds,
                                   const std::vector<std::string>& fetches, Scope& scope) {
  Entry taken{.key = cache_key(program, feeds, fetches, scope)};
  {
    MutexLock lock(mutex_);
    for (auto entry = idle_.begin(); entry != idle_.end(); ++entry) {
      if (entry->key != taken.key) continue;
      taken = std::move(*entry);
      idle_.erase(entry);
      return taken;
    }
  }
  ASSIGN_OR_RETURN(taken.frame, make_frame(program, feeds, fetches, scope));
  // A check reads every value on the CPU, which no replay could.
  if (options_.capture && !options_.check_finite && taken.frame->program().trains())
    taken.capture = std::make_unique<StepCapture>();
  return taken;
}

void Runner::give_back(Entry entry) {
  MutexLock lock(mutex_);
  idle_.push_front(std::move(entry));
  if (idle_.size() > kIdleFrames) idle_.pop_back();
}

CaptureReport Runner::capture_report(const graph::Program& program) const {
  CaptureReport report;
  const std::string prefix = fmt::format("{}.", program.id());
  MutexLock lock(mutex_);
  for (const Entry& entry : idle_) {
    if (entry.capture == nullptr || !entry.key.starts_with(prefix)) continue;
    report.replays += entry.capture->replays();
    if (report.why_not.empty()) report.why_not = entry.capture->why_not();
  }
  return report;
}

void Runner::clear() {
  MutexLock lock(mutex_);
  idle_.clear();
}

}  // namespace argosy::engine
