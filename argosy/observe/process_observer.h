#pragma once

#include <string>

#include "argosy/base/settings.h"
#include "argosy/base/status.h"

namespace argosy::observe {

// Lets others see this process of a job: its launcher, where it has one, is told the process's numbers every second
// (base/notice.h), and with the setting metrics_port they are at http://metrics_host:metrics_port/metrics, with /healthz and
// /readyz beside them; with the setting trace it writes what its batches spend their time on. `name` is the process's in the job,
// "worker 0".
//
// Of the whole process: the first call counts, later ones do nothing. Owns the thread "observe" and those of HttpServer, until
// the process ends. An error is one of the port.
Status observe_process(const Settings& settings, const std::string& name);

// Whether anybody sees the numbers of this process: where nobody does, those that cost something need not be made.
bool is_observed();

// Tells the launcher the numbers as they are now: at the end of something, instead of within a second.
void report_now();

// The numbers that every process has: memory, processor time, threads, descriptors, by the names that all of Prometheus uses.
void collect_process_metrics();

}  // namespace argosy::observe
