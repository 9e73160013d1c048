// Any bytes as a tensor file: an error, or tensors that are written back as they were read.
#include <cstdint>
#include <string>
#include <string_view>

#include "argosy/base/check.h"
#include "argosy/graph/tensor_file.h"

using namespace argosy::graph;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  TensorFileReader reader({reinterpret_cast<const char*>(data), size});
  while (!reader.done()) {
    const size_t before = reader.offset();
    const auto tensor = reader.next();
    if (!tensor.ok()) return 0;
    ARGOSY_CHECK(reader.offset() > before);

    std::string file;
    append_tensor(*tensor, file);
    const auto again = decode_tensor(file);
    ARGOSY_CHECK(again.ok(), again.status().message());
    ARGOSY_CHECK(again->dtype == tensor->dtype && again->shape == tensor->shape && again->lod == tensor->lod &&
                 again->bytes == tensor->bytes);
  }
  return 0;
}
