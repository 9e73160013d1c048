#pragma once

#include <time.h>

namespace argosy::bench {

// Processor seconds that a process has used, in all its threads; negative where there is no such process.
inline double cpu_seconds(clockid_t process = CLOCK_PROCESS_CPUTIME_ID) {
  timespec time = {};
  if (clock_gettime(process, &time) != 0) return -1;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace argosy::bench
