#include "argosy/serve/model/served_version.h"

#include <xxhash.h>

namespace argosy::serve {

uint64_t digest_of(const Tensor& tensor) { return XXH3_64bits(tensor.data.get(), tensor.bytes()); }

}  // namespace argosy::serve
