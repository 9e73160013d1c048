#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "argosy/base/status.h"

namespace argosy::observe {

// What the threads of this process spend the time of batches on, as Chrome's trace events, which Perfetto opens: a span per part
// of a batch (read, pull, compute, push, apply) with the wall clock's time, so that the files of several processes fit together.
//
// Of the whole process. Thread-safe. Where nobody asked for a trace, a span costs one look at a flag.

// Begins to write `folder`/trace-NAME.json, the name without spaces; the file is whole at any time but for its last bracket,
// which readers do without. After kMostSpans spans no more are written.
inline constexpr int64_t kMostSpans = 2'000'000;
Status start_trace(const std::string& folder, const std::string& process);
void flush_trace();

// Joins the files of a folder, of the processes of one job, into `folder`/trace.json.
Status join_traces(const std::string& folder);

namespace internal {
extern std::atomic<bool> tracing;
void add_span(const char* name, int64_t begin_ns, int64_t end_ns);
int64_t wall_nanoseconds();
}  // namespace internal

// From here to the end of the scope. REQUIRES: the name is a literal.
class TraceSpan {
 public:
  explicit TraceSpan(const char* name)
      : name_(internal::tracing.load(std::memory_order_relaxed) ? name : nullptr),
        begin_(name_ == nullptr ? 0 : internal::wall_nanoseconds()) {}
  ~TraceSpan() {
    if (name_ != nullptr) internal::add_span(name_, begin_, internal::wall_nanoseconds());
  }
  TraceSpan(const TraceSpan&) = delete;

 private:
  const char* const name_;
  const int64_t begin_;
};

}  // namespace argosy::observe
