#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "argosy/collective/group.h"
#include "argosy/collective/watch.h"

namespace argosy::collective {

struct Group::Shared {
  Place place;
  std::string host;
  std::chrono::milliseconds timeout{};
  bool check = true;
  c10::intrusive_ptr<c10d::Store> store;
  std::unique_ptr<Watch> watch;  // after the store: it says goodbye through it. None in a group of one, and after leave()
};

}  // namespace argosy::collective
