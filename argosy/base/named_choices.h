#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "argosy/base/status.h"

namespace argosy {

using NamedChoices = std::vector<std::pair<std::string, std::string>>;

// "emb=int8,fc_0.w_0=bfloat16": for each name one of `choices`, behind its last '='. Empty entries are passed over; a choice that
// there is not, and a name that is there twice, are errors.
Result<NamedChoices> read_named_choices(std::string_view text, const std::vector<std::string>& choices);

}  // namespace argosy
