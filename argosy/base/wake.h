#pragma once

#include "argosy/base/fd.h"

namespace argosy {

// Ends a poll() from elsewhere: its descriptor is readable from wake() on until clear(). Thread-safe.
class Wake {
 public:
  Wake();

  int fd() const { return event_.get(); }
  void wake() const;  // async-signal-safe
  void clear() const;

 private:
  Fd event_;
};

}  // namespace argosy
