#include "argosy/base/plant.h"

#ifdef ARGOSY_PLANT_POINTS

#include <atomic>
#include <cstdlib>
#include <string>

namespace argosy::plant {
namespace {

constexpr std::string_view kPrefix = "argosy-plant:";

}  // namespace

bool active(std::string_view point) {
  static const std::string chosen = [] {
    const char* value = std::getenv("ARGOSY_PLANT");
    return std::string(value == nullptr ? "" : value);
  }();
  return !chosen.empty() && point.substr(kPrefix.size()) == chosen;
}

bool active_every(std::string_view point, unsigned nth) {
  static std::atomic<unsigned> reached = 0;  // one counter is enough: one point is active in a process
  return active(point) && ++reached % nth == 0;
}

}  // namespace argosy::plant

#endif
