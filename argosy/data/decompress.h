#pragma once

#include <memory>
#include <string>

#include "argosy/data/byte_stream.h"

namespace argosy::data {

// Puts a decompressor over `packed` where the name ends with .gz or .zst; any other stream comes back as it is. Several
// members or frames one after another are one text. A cut-off or damaged archive is an error that names it.
std::unique_ptr<ByteStream> decompress_by_name(std::unique_ptr<ByteStream> packed, const std::string& name);

bool is_packed_name(const std::string& name);

}  // namespace argosy::data
