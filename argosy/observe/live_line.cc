#include "argosy/observe/live_line.h"

#include "argosy/base/log.h"
#include "argosy/base/terminal_line.h"

namespace argosy::observe {

LiveLine::LiveLine(Options options) : options_(options), terminal_(has_terminal()) {}
LiveLine::~LiveLine() { clear(); }

bool LiveLine::is_due() const {
  if (options_.quiet) return false;
  return since_shown_.seconds() >= (terminal_ ? options_.terminal_seconds : options_.file_seconds);
}

void LiveLine::show(const JobView& view) {
  if (!is_due()) return;
  since_shown_.restart();
  if (!terminal_) return log_info("{}", job_line(view, 300));
  show_terminal_line(job_line(view, terminal_width() - 1));
}

void LiveLine::clear() { clear_terminal_line(); }

}  // namespace argosy::observe
