#pragma once

#include <string_view>

// Planted bugs: named mistakes that the tests have to find, so that it is known what they can find.
//
//   if (!ARGOSY_PLANTED("ack_before_log")) RETURN_IF_ERROR(journal.append(record));
//
// A point is false at compile time, and its name is in no binary, unless the build is the preset `planted`; there the variable
// ARGOSY_PLANT names the one point that is true. tests/fault/plants.py lists all points, and `make planted` runs the tests
// against each.
//
// Thread-safe.
#ifdef ARGOSY_PLANT_POINTS

namespace argosy::plant {
bool active(std::string_view point);
// True each `nth` time that an active point is reached in this process.
bool active_every(std::string_view point, unsigned nth);
}  // namespace argosy::plant

#define ARGOSY_PLANTED(name) (::argosy::plant::active("argosy-plant:" name))
#define ARGOSY_PLANTED_EVERY(name, nth) (::argosy::plant::active_every("argosy-plant:" name, nth))

#else

namespace argosy::plant {
consteval bool never(std::string_view) { return false; }
}  // namespace argosy::plant

#define ARGOSY_PLANTED(name) (::argosy::plant::never(name))
#define ARGOSY_PLANTED_EVERY(name, nth) (::argosy::plant::never(name))

#endif
