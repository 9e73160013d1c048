#pragma once

#include <optional>
#include <span>
#include <string>

#include "argosy/base/status.h"
#include "argosy/ps/spec/nonfinite_policy.h"
#include "argosy/ps/state/state.h"

// Gradients that are not finite numbers. One of them in a row makes the row NaN for ever, so none reaches a table: a State
// refuses it, and what the other policies make of it is done before the push is checked and logged.
namespace argosy::ps {

// Whether all numbers of a push are finite. One pass; the usual case.
bool is_finite(std::span<const TableGradient> gradients);

// Why the push is refused: the first number that is not finite, with its table, key, worker and batch; counts them all in
// `tables`. REQUIRES: !is_finite(gradients).
Status nonfinite_gradient(Tables& tables, const wire::PushRequest& push, std::span<const TableGradient> gradients);

// A push without its numbers that are not finite. skip: a row of a sparse table, and a section of a dense one, that has such a
// number is left out. clip: NaN becomes 0; an infinity becomes the bound of the table's value_clip on its side, 0 where it has
// none. Its sections say how many there were, which is counted where the push is applied. Nothing: all numbers are finite, or
// the push is none that could be read. REQUIRES: policy is not refuse.
struct FinitePush {
  std::string header;
  std::shared_ptr<std::vector<uint64_t>> payload;  // at a multiple of 8
  size_t payload_bytes = 0;

  Record record(uint32_t seconds) const;  // over this
};
std::optional<FinitePush> make_finite(const Tables& tables, const Record& record, Nonfinite policy);

// "3 gradients of table 'rows', 1 gradient of table 'dense'": what Tables::nonfinite() counts; empty: nothing. A
// gradient is that of a row, or a dense table's part of a push.
std::string nonfinite_counts(const Tables& tables);

}  // namespace argosy::ps
