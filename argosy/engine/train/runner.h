#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/base/step_gradients.h"
#include "argosy/engine/program/scope.h"
#include "argosy/engine/program/value.h"
#include "argosy/graph/program.h"

namespace argosy::engine {

class Context;  // argosy/engine/remote/context.h
class Frame;
class StepCapture;

struct ExecutorOptions {
  bool bfloat16_matmul = false;  // matrix products with a parameter in bfloat16, accumulated in float32
  bool fuse = true;
  // What an operator gives has to be finite: NaN or an infinity is an error that names the operator and the variable. Steps are
  // not captured then. Fused operators are named as such: the caller sets fuse=false for those of the program.
  bool check_finite = false;
  // The step of a program (forward, backward, update) as one CUDA graph, where it is the same for the device each time; where it
  // is not, it runs as it is, and the log says why (docs/gpu.md).
  bool capture = false;
  c10::Device device = c10::Device(c10::DeviceType::CPU);  // with its number where it is a GPU
};

// How the steps of a program that is to be captured are run.
struct CaptureReport {
  int64_t replays = 0;   // steps that were replays of a recorded one
  std::string why_not;   // empty: nothing speaks against replays
};

using Feed = std::map<std::string, Value>;

// Runs programs. A program is prepared once for each set of feed and fetch names and kept; a change of the program makes it
// anew. Thread-safe: concurrent runs of one program get frames of their own over the same scope.
class Runner {
 public:
  // `context`: what the programs reach outside this process; one that reaches nothing where none is given.
  explicit Runner(ExecutorOptions options = {}, std::shared_ptr<const Context> context = nullptr);
  ~Runner();

  // Feeds, runs everything, returns the fetched values in order. Persistable variables stay in `scope`.
  Result<std::vector<Value>> run(const graph::Program& program, const Feed& feed, const std::vector<std::string>& fetches,
                                 Scope& scope);

  // The same with one feed a thread, all at once: each thread takes part of a batch. For programs that send gradients to
  // parameter servers, where the threads' gradients meet as the mode says; another program would update twice. The parts are
  // numbered in their order, whichever runs first: a worker that is started again gives them the same numbers. Returns what each
  // thread fetched.
  Result<std::vector<std::vector<Value>>> run_parallel(const graph::Program& program, const std::vector<Feed>& feeds,
                                                       const std::vector<std::string>& fetches, Scope& scope);

  // A frame for a thread of its own, for callers that feed it themselves (the trainer). The runner outlives it.
  Result<std::unique_ptr<Frame>> make_frame(const graph::Program& program, const std::vector<std::string>& feeds,
                                            const std::vector<std::string>& fetches, Scope& scope);

  // Of the runs of `program`, with whatever was fed and fetched, that are not under way.
  CaptureReport capture_report(const graph::Program& program) const;

  const ExecutorOptions& options() const { return options_; }
  void clear();  // forgets what was prepared

 private:
  struct Entry {
    std::string key;
    std::unique_ptr<Frame> frame;
    std::unique_ptr<StepCapture> capture;  // null: the frame's steps run as they are
  };
  // As batch `batch` of the scope's remote; nothing: the next one.
  Result<std::vector<Value>> run_batch(const graph::Program& program, const Feed& feed, const std::vector<std::string>& fetches,
                                       Scope& scope, std::optional<BatchId> batch);
  // An entry whose frame has begun, with `feed` bound.
  Result<Entry> take_fed(const graph::Program& program, const Feed& feed, const std::vector<std::string>& fetches, Scope& scope);
  Result<Entry> take(const graph::Program& program, const std::vector<std::string>& feeds,
                     const std::vector<std::string>& fetches, Scope& scope);
  void give_back(Entry entry);

  const ExecutorOptions options_;
  const std::shared_ptr<const Context> context_;
  mutable Mutex mutex_;
  std::list<Entry> idle_ ARGOSY_GUARDED_BY(mutex_);  // most recently used first
};

// Checks a fed value against the variable's declaration; the message names the variable, what came and what was expected.
Status check_feed(const graph::VarDesc& variable, const Value& value);

}  // namespace argosy::engine
