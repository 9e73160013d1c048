#include "argosy/engine/train/trainer.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <optional>
#include <span>

#include "argosy/base/clock.h"
#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/base/plant.h"
#include "argosy/base/progress.h"
#include "argosy/base/terminal_line.h"
#include "argosy/base/text.h"
#include "argosy/base/thread.h"
#include "argosy/engine/program/run_frame.h"
#include "argosy/engine/program/step_capture.h"
#include "argosy/engine/remote/remote_rows.h"
#include "argosy/engine/train/column_value.h"
#include "argosy/engine/train/fetched_value.h"
#include "argosy/engine/train/prefetcher.h"
#include "argosy/engine/train/row_prefetcher.h"
#include "argosy/engine/train/training_metrics.h"
#include "argosy/observe/process_observer.h"
#include "argosy/observe/trace.h"

namespace argosy::engine {
namespace {

constexpr double kProgressSeconds = 0.25;
constexpr int kTrainAgain = 3;  // times that a pass is read again for servers that have lost batches

void print_to_stdout(std::string_view line) {
  std::fprintf(stdout, "%.*s\n", static_cast<int>(line.size()), line.data());
  std::fflush(stdout);
}

// A batch of one thread, and its rows where they were prefetched.
struct TakenBatch {
  data::Batch batch;
  BatchId id = 0;  // from RemoteParameters::begin_batch()
  PulledTables rows;
};

// What the threads of one run share.
class Run {
 public:
  // `remote` is null where the program sends nothing to parameter servers.
  Run(data::BatchSource& source, const TrainOptions& options, std::span<const Measure> measures, int threads,
      RemoteParameters* remote)
      : source_(source), options_(options), measures_(measures), threads_(threads), remote_(remote) {}

  // Each thread's next batch is read and its rows are pulled while it computes. Before the threads begin.
  void prefetch(const RowPrefetcher& rows) { row_prefetcher_ = &rows; }
  // The steps of the only thread go by it.
  void use(StepCapture& capture) { capture_ = &capture; }
  // Of a program that does not train: how far the data are.
  void show(Progress& evaluation) { evaluation_ = &evaluation; }

  void thread_body(int number, Frame& frame) {
    Status end = run_batches(number, frame);
    if (end.ok() && remote_ != nullptr) end = remote_->thread_done();
    if (end.ok()) return;
    fail(end);
    if (remote_ != nullptr) remote_->thread_failed(end);
  }
  void fail(Status status);
  Status status();
  Result<TrainReport> finish(const std::vector<std::unique_ptr<Frame>>& frames);

 private:
  Status run_batches(int number, Frame& frame);
  Result<bool> take_batch(int number, TakenBatch& taken);
  Status step(Frame& frame, TakenBatch& taken);
  Status bind(Frame& frame, const data::Batch& batch);
  void after_step(int number, Frame& frame, const data::Batch& batch);
  void tell(Frame& frame);
  void show_measures(Frame& frame);
  void print_fetches(int64_t batch, const std::vector<Value>& values);
  void print_time(const std::vector<std::unique_ptr<Frame>>& frames);
  TrainProgress progress() const;
  void print(std::string_view line) {
    clear_terminal_line();
    options_.print ? options_.print(line) : print_to_stdout(line);
  }

  data::BatchSource& source_;
  const TrainOptions& options_;
  const std::span<const Measure> measures_;  // that who observes the process is told; none where nobody does
  const int threads_;
  RemoteParameters* const remote_;
  const RowPrefetcher* row_prefetcher_ = nullptr;  // null: each step pulls for itself
  StepCapture* capture_ = nullptr;                 // null: steps run as they are
  Progress* evaluation_ = nullptr;                 // null: it trains
  const Stopwatch watch_;
  std::atomic<int64_t> batches_{0}, samples_{0}, read_nanoseconds_{0}, compute_nanoseconds_{0};

  Mutex mutex_;
  Status status_ ARGOSY_GUARDED_BY(mutex_);  // the first error
  std::vector<Value> last_fetches_ ARGOSY_GUARDED_BY(mutex_);
  int64_t last_batch_ ARGOSY_GUARDED_BY(mutex_) = 0;  // number of the batch that last_fetches_ are of
  Mutex print_mutex_;           // one line at a time
  int64_t printed_batch_ ARGOSY_GUARDED_BY(print_mutex_) = 0;
  double last_progress_ = 0;         // thread 0 only
  double last_watch_ = 0;            // thread 0 only
};

TrainProgress Run::progress() const {
  return {.batches = batches_,
          .samples = samples_,
          .seconds = watch_.seconds(),
          .read_seconds = static_cast<double>(read_nanoseconds_) * 1e-9,
          .compute_seconds = static_cast<double>(compute_nanoseconds_) * 1e-9};
}

void Run::fail(Status status) {
  {
    MutexLock lock(mutex_);
    if (status_.ok()) status_ = std::move(status);
  }
  source_.stop();
}

Status Run::status() {
  MutexLock lock(mutex_);
  return status_;
}

Status Run::bind(Frame& frame, const data::Batch& batch) {
  const auto& slots = source_.options().slots;
  for (size_t i = 0; i < slots.size(); ++i) {
    const int32_t index = frame.program().find_value(slots[i].name);
    if (index < 0) continue;  // the program does not read this slot
    const graph::VarDesc& variable = *frame.program().values()[static_cast<size_t>(index)].desc;
    frame.feed(index, column_value(batch.columns[i], batch.size, variable));
  }
  return {};
}

Status Run::step(Frame& frame, TakenBatch& taken) {
  const observe::TraceSpan span("compute");
  RETURN_IF_ERROR(frame.begin());
  RETURN_IF_ERROR(bind(frame, taken.batch));
  frame.batch_id = taken.id;
  frame.samples = static_cast<uint32_t>(taken.batch.size);
  frame.take_rows(taken.rows);
  return capture_ != nullptr ? capture_->run(frame) : run_frame(frame);
}

void Run::after_step(int number, Frame& frame, const data::Batch& batch) {
  const int64_t done = ++batches_;
  samples_ += batch.size;
  if (!options_.fetch.empty()) {
    std::vector<Value> fetched;
    for (const auto& [label, name] : options_.fetch) fetched.push_back(copy_of(frame, name));
    if (done == 1 || done % std::max(options_.print_period, 1) == 0) print_fetches(done, fetched);
    MutexLock lock(mutex_);
    if (done > last_batch_) {
      last_batch_ = done;
      last_fetches_ = std::move(fetched);
    }
  }
  if (number == 0) tell(frame);
}

void Run::show_measures(Frame& frame) {
  if (!observe::is_observed()) return;
  for (const Measure& measure : measures_) {
    const Value value = frame.fetch(frame.program().find_value(measure.variable));
    if (value.tensor.defined() && value.tensor.numel() == 1) set_measure(measure.name, value.tensor.item<double>());
  }
  set_pass_ratio(source_.read_ratio());
}

void Run::tell(Frame& frame) {
  const double now = watch_.seconds();
  if (now - last_progress_ > kProgressSeconds) {
    last_progress_ = now;
    if (options_.on_progress) options_.on_progress(progress());
    show_measures(frame);
    if (evaluation_ != nullptr) evaluation_->set(source_.read_ratio());
  }
  if (options_.on_watch && now - last_watch_ >= options_.watch_seconds) {
    last_watch_ = now;
    std::vector<Value> values;
    for (const std::string& name : options_.watch) values.push_back(on_cpu(copy_of(frame, name)));
    options_.on_watch(values);
  }
}

void Run::print_fetches(int64_t batch, const std::vector<Value>& values) {
  std::string line = fmt::format("batch {}", with_thousands(batch));
  for (size_t i = 0; i < values.size(); ++i) line += fmt::format("  {}: {}", options_.fetch[i].first, value_text(values[i]));
  line += fmt::format("  {} samples/s", with_thousands(static_cast<int64_t>(progress().samples_per_second())));
  MutexLock lock(print_mutex_);
  printed_batch_ = std::max(printed_batch_, batch);
  print(line);
}

// The next batch of a thread that the servers do not have yet; false: there is none.
Result<bool> Run::take_batch(int number, TakenBatch& taken) {
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, source_.next(number, taken.batch));
    if (!more || remote_ == nullptr) return more;
    taken.id = remote_->begin_batch(static_cast<uint32_t>(taken.batch.number), static_cast<uint32_t>(taken.batch.size),
                                    taken.batch.lines);
    if (!remote_->wants(taken.id)) continue;
    if (row_prefetcher_ != nullptr) RETURN_IF_ERROR(row_prefetcher_->pull(taken.batch, taken.rows));
    return true;
  }
}

Status Run::run_batches(int number, Frame& frame) {
  at::set_num_threads(1);  // of this thread only
  const OwnStream stream(frame.device);
  TakenBatch taken;
  std::optional<Prefetcher<TakenBatch>> prefetcher;
  if (row_prefetcher_ != nullptr)
    prefetcher.emplace(fmt::format("prefetch-{}", number), [this, number](TakenBatch& next) { return take_batch(number, next); });
  for (;;) {
    Stopwatch phase;
    auto more = [&] {
      const observe::TraceSpan span("read");
      return prefetcher ? prefetcher->next(taken) : take_batch(number, taken);
    }();
    const double read_seconds = phase.seconds();
    read_nanoseconds_ += static_cast<int64_t>(read_seconds * 1e9);
    if (!more.ok()) return more.status();  // also a stop from outside: the pass was cut short
    if (!*more) return {};
    phase.restart();
    RETURN_IF_ERROR(step(frame, taken));
    const double compute_seconds = phase.seconds();
    compute_nanoseconds_ += static_cast<int64_t>(compute_seconds * 1e9);
    count_batch(taken.batch.size, read_seconds, compute_seconds);
    after_step(number, frame, taken.batch);
    frame.end();
  }
}

void Run::print_time(const std::vector<std::unique_ptr<Frame>>& frames) {
  const TrainProgress total = progress();
  const double all = std::max(total.read_seconds + total.compute_seconds, 1e-9);
  std::map<std::string, double, std::less<>> seconds;
  for (const auto& frame : frames) {
    const auto& instructions = frame->program().instructions();
    for (size_t i = 0; i < instructions.size(); ++i) seconds[instructions[i].desc.type] += frame->op_seconds()[i];
  }
  const auto spent_in = [&](std::string_view type) {
    const auto found = seconds.find(type);
    return found == seconds.end() ? 0.0 : found->second;
  };
  const double pull = spent_in(kPullRowsOp), push = spent_in(kSendOp), compute = total.compute_seconds - pull - push;
  print(
      fmt::format("time of {} thread(s): read {:.3f} s ({:.1f} %), pull {:.3f} s ({:.1f} %), compute {:.3f} s ({:.1f} %), push "
                  "{:.3f} s ({:.1f} %)",
                  threads_, total.read_seconds, 100 * total.read_seconds / all, pull, 100 * pull / all, compute,
                  100 * compute / all, push, 100 * push / all));
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [type, spent] : seconds) order.emplace_back(spent, type);
  std::sort(order.rbegin(), order.rend());
  for (const auto& [spent, type] : order) print(fmt::format("  {:<28} {:9.3f} s  {:5.1f} %", type, spent, 100 * spent / all));
}

Result<TrainReport> Run::finish(const std::vector<std::unique_ptr<Frame>>& frames) {
  RETURN_IF_ERROR(status());
  std::vector<Value> fetches;
  int64_t batch = 0, printed = 0;
  {
    MutexLock lock(mutex_);
    fetches = std::move(last_fetches_);
    batch = last_batch_;
  }
  {
    MutexLock lock(print_mutex_);
    printed = printed_batch_;
  }
  if (!fetches.empty() && printed < batch) print_fetches(batch, fetches);
  for (Value& value : fetches) value = on_cpu(std::move(value));
  TrainReport report{.total = progress(), .last_fetches = std::move(fetches), .data = source_.counters()};
  print(fmt::format("{} samples in {} batches, {:.2f} s: {} samples/s", with_thousands(report.total.samples),
                    with_thousands(report.total.batches), report.total.seconds,
                    with_thousands(static_cast<int64_t>(report.total.samples_per_second()))));
  if (options_.debug) print_time(frames);
  return report;
}

void run_threads(Run& run, const std::vector<std::unique_ptr<Frame>>& frames) {
  std::vector<Thread> workers;
  for (size_t i = 1; i < frames.size(); ++i) {
    workers.emplace_back(fmt::format("trainer-{}", i), [&run, &frames, i] { run.thread_body(static_cast<int>(i), *frames[i]); });
  }
  Thread zero("trainer-0", [&] { run.thread_body(0, *frames[0]); });
}

// One reading of the data by all threads. `remote`: where gradients go, in a round that has begun; null: nowhere.
Result<TrainReport> run_pass(const std::vector<std::unique_ptr<Frame>>& frames, data::BatchSource& source,
                             const TrainOptions& options, std::span<const Measure> measures, RemoteParameters* remote,
                             StepCapture* capture) {
  const int threads = static_cast<int>(frames.size());
  Run run(source, options, measures, threads, remote);
  if (capture != nullptr) run.use(*capture);
  std::optional<Progress> evaluation;
  if (!frames[0]->program().trains()) run.show(evaluation.emplace("evaluation"));
  std::optional<RowPrefetcher> rows;
  if (remote != nullptr && remote->may_prefetch())
    rows.emplace(frames[0]->program(), source.options().slots, *remote, frames[0]->device);
  if (rows && !rows->empty()) run.prefetch(*rows);
  if (Status status = source.start(threads); status.ok())
    run_threads(run, frames);
  else
    run.fail(std::move(status));
  source.stop();
  if (remote != nullptr && run.status().ok()) {
    const data::DatasetCounters read = source.counters();
    const ReadCounters counters{.lines = static_cast<uint64_t>(read.lines),
                                .bad_lines = static_cast<uint64_t>(read.bad_lines),
                                .files = source.options().files.size(),
                                .lines_of_lost = static_cast<uint64_t>(read.lines_of_lost),
                                .lines_in_parts = static_cast<uint64_t>(read.lines_in_parts)};
    if (Status status = remote->end_round(counters); !status.ok()) run.fail(std::move(status));
  }
  return run.finish(frames);
}

// After an error the pass is not finished: the next one, also of this worker started again, goes on in it.
Result<TrainReport> run_remote_pass(const std::vector<std::unique_ptr<Frame>>& frames, data::BatchSource& source,
                                    const TrainOptions& options, std::span<const Measure> measures, RemoteParameters& remote,
                                    StepCapture* capture) {
  const auto wanted = remote.begin_round(static_cast<int>(frames.size()));
  if (wanted.ok() && !*wanted) {
    log_info("this worker had finished this pass before it was started again; it is skipped");
    source.skip();
    return TrainReport{};
  }
  auto report =
      wanted.ok() ? run_pass(frames, source, options, measures, &remote, capture) : Result<TrainReport>(wanted.status());
  if (report.ok()) return report;
  if (wanted.ok()) source.repeat();
  if (ARGOSY_PLANTED("leave_after_error"))
    (void)remote.end_round({});
  else
    remote.abandon_round(report.status());
  return report;
}

// Null where steps run as they are.
std::unique_ptr<StepCapture> make_capture(const Runner& runner, const Frame& frame, int threads) {
  if (!runner.options().capture || !frame.program().trains()) return nullptr;
  if (threads == 1) return std::make_unique<StepCapture>();
  log_warning("the step of a program is not captured: {} threads train it at once; it runs as it is", threads);
  return nullptr;
}

}  // namespace

Result<TrainReport> train(Runner& runner, const graph::Program& program, data::BatchSource& source, const TrainOptions& options,
                          Scope& scope) {
  std::vector<std::string> feeds, fetches;
  for (const data::SlotSpec& slot : source.options().slots) feeds.push_back(slot.name);
  for (const auto& [label, name] : options.fetch) fetches.push_back(name);
  fetches.insert(fetches.end(), options.watch.begin(), options.watch.end());
  const std::vector<Measure> measures = observe::is_observed() ? measures_of(program) : std::vector<Measure>();
  for (const Measure& measure : measures) fetches.push_back(measure.variable);
  const int threads = std::max(1, options.threads > 0 ? options.threads : source.options().threads);
  std::vector<std::unique_ptr<Frame>> frames;
  ASSIGN_OR_RETURN(auto first, runner.make_frame(program, feeds, fetches, scope));
  frames.push_back(std::move(first));
  while (frames.size() < static_cast<size_t>(threads)) frames.push_back(frames[0]->another());
  for (size_t i = 0; i < frames.size(); ++i) {
    frames[i]->stream = i;
    frames[i]->measure(options.debug);
  }
  const auto remote = scope.remote();
  if (threads > 1 && frames[0]->program().averages()) {
    return Status::invalid_argument(
        "{} threads: a program of a collective job has one in each process, so that all meet in the same order; start more "
        "processes, or set thread=1",
        threads);
  }
  const bool sends = frames[0]->program().sends();
  if (remote != nullptr && !sends) RETURN_IF_ERROR(remote->refresh());
  const auto capture = make_capture(runner, *frames[0], threads);
  if (!sends) return run_pass(frames, source, options, measures, nullptr, capture.get());
  for (int again = 0;; ++again) {
    auto report = run_remote_pass(frames, source, options, measures, *remote, capture.get());
    if (report.ok() || !remote->lost_batches() || again == kTrainAgain) return report;
    log_warning("{}. The pass is read again, and what the servers lack is trained again", report.status().message());
  }
}

}  // namespace argosy::engine
