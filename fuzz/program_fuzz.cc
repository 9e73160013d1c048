// Any bytes as a saved program: an error, or a program that prints, prunes, and comes back from its own bytes unchanged.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/check.h"
#include "argosy/graph/inference_model.h"
#include "argosy/graph/wire.h"

using namespace argosy::graph;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto program = parse_program({reinterpret_cast<const char*>(data), size});
  if (!program.ok()) return 0;
  (*program)->to_string();
  (*program)->clone(true);

  const std::string bytes = serialize_program(**program);
  const auto again = parse_program(bytes);
  ARGOSY_CHECK(again.ok(), again.status().message());
  ARGOSY_CHECK(serialize_program(**again) == bytes);

  const auto names = inference_names(**program);
  if (names.ok()) {
    if (const auto model = make_inference_program(**program, names->feeds, names->fetches); model.ok())
      serialize_program(**model);
  }
  return 0;
}
