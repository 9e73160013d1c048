#pragma once

#include "argosy/base/clock.h"
#include "argosy/observe/job_view.h"

namespace argosy::observe {

// Shows how a job goes on, on stderr: on a terminal one line that is written over again and again, and elsewhere a dated line of
// the log from time to time. Lines of the log (base/log.h) come above it. Of one thread, while any may log.
class LiveLine {
 public:
  struct Options {
    bool quiet = false;
    double terminal_seconds = 0.5;  // between two looks
    double file_seconds = 30;
  };
  explicit LiveLine(Options options);
  ~LiveLine();  // leaves no half line
  LiveLine(const LiveLine&) = delete;

  bool is_due() const;  // show() would show something
  void show(const JobView& view);
  // Takes the line off the terminal before something else is written there.
  void clear();

 private:
  const Options options_;
  const bool terminal_;
  Stopwatch since_shown_;
};

}  // namespace argosy::observe
