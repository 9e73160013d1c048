#pragma once

#include <arrow/result.h>
#include <arrow/status.h>

#include "argosy/base/status.h"

namespace argosy::stores_module {

// Arrow's outcome of one request as ours: `unavailable` is what may go well another time.
Status status_of(const arrow::Status& status);

#define ARGOSY_STORES_RETURN_IF_ERROR(expression) RETURN_IF_ERROR(::argosy::stores_module::status_of(expression))
#define ARGOSY_STORES_ASSIGN(declaration, expression) \
  ARGOSY_STORES_ASSIGN_INNER(ARGOSY_CONCAT(arrow_result_, __LINE__), declaration, expression)
#define ARGOSY_STORES_ASSIGN_INNER(result, declaration, expression)             \
  auto result = (expression);                                                   \
  if (!result.ok()) return ::argosy::stores_module::status_of(result.status()); \
  declaration = std::move(result).ValueUnsafe()

}  // namespace argosy::stores_module
