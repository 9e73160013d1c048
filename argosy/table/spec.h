#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "argosy/base/status.h"
#include "argosy/optim/regularize.h"
#include "argosy/optim/rule.h"

// What a table is told when it is made. Every server of a job gets the same specs; nothing in them depends on how many
// servers there are. All are plain values.
namespace argosy::table {

// The first value of a row: a function of (seed, key) alone, so that it depends neither on the order of arrival nor on the
// number of servers.
struct RowInitializer {
  enum class Kind { constant, uniform, normal, truncated_normal };

  Kind kind = Kind::constant;
  float a = 0;  // constant: the value; uniform: the low end; the normal ones: the mean
  float b = 0;  // uniform: the high end, which is not drawn; the normal ones: the deviation; truncated: at most 2 of them away
  uint64_t seed = 0;

  Status check() const;

  friend bool operator==(const RowInitializer&, const RowInitializer&) = default;
};

// Fills `row` with the first value of `key`.
void row_initial_value(const RowInitializer& initializer, uint64_t key, std::span<float> row);

// Which keys get a row. One that is not admitted reads as its initial value; its gradients are counted, not applied.
struct Admission {
  enum class Kind {
    all,
    probability,  // a fixed share of all keys, drawn from (seed, key)
    count,        // from the `count`-th gradient on, that one included
    show_click,   // once the score reaches `score`
  };

  Kind kind = Kind::all;
  double probability = 1;
  uint32_t count = 0;  // at most kMaxPushes
  float score = 0;
  uint64_t seed = 0;  // of probability

  friend bool operator==(const Admission&, const Admission&) = default;
};

// Which rows shrink() drops. A limit of 0 drops none; a row goes when one of them says so.
struct Expiry {
  float score = 0;            // rows with a lower score
  uint32_t unseen_steps = 0;  // rows that got no gradient in more steps than this
  uint32_t ttl_seconds = 0;   // rows that got no gradient for longer than this

  friend bool operator==(const Expiry&, const Expiry&) = default;
};

// score = (show - click) * non_click_weight + click * click_weight.
struct ShowClick {
  bool enabled = false;  // keep the counters although neither admission nor expiry needs them
  float non_click_weight = 0.1f;
  float click_weight = 1;
  float decay = 1;  // what each shrink() multiplies the counters with, before it compares

  float score(float show, float click) const { return (show - click) * non_click_weight + click * click_weight; }

  friend bool operator==(const ShowClick&, const ShowClick&) = default;
};

enum class Mode {
  gradient,  // pushes are gradients; the rule applies them
  geo,       // pushes are differences, which are added; there is no rule and no state
};

// The gradients that a row's counter can count; it stays there.
inline constexpr uint32_t kMaxPushes = (1u << 24) - 1;

struct SparseSpec {
  std::string name;
  uint32_t width = 0;
  uint64_t declared_rows = 0;  // not 0: the table written as one tensor has keys 0 … declared_rows - 1, made or not
  RowInitializer initializer;
  Mode mode = Mode::gradient;
  std::string rule = "sgd";  // of optim::make_rule
  optim::HyperParameters hyper_parameters;
  std::optional<optim::Regularization> regularization;
  Admission admission;
  Expiry expiry;
  ShowClick show_click;

  Status check() const;
  bool counts_show_click() const;
  bool keeps_seconds() const { return expiry.ttl_seconds > 0; }

  friend bool operator==(const SparseSpec&, const SparseSpec&) = default;
};

// One block of a dense parameter: `size` elements, of which the table knows no shape.
struct DenseSpec {
  std::string name;
  uint64_t size = 0;
  Mode mode = Mode::gradient;
  std::string rule = "sgd";
  optim::HyperParameters hyper_parameters;
  std::optional<optim::Regularization> regularization;

  Status check() const;

  friend bool operator==(const DenseSpec&, const DenseSpec&) = default;
};

// How one server keeps its part of a sparse table.
struct StoreOptions {
  uint32_t shards = 64;  // a power of 2, at most 1024
  // Of rows and index; 0: no limit. Beyond it the coldest rows go to `directory`, whose part that belongs to this table is
  // emptied when the table is made. Buffers for the disk come on top, up to 50 MB.
  uint64_t mem_limit_bytes = 0;
  std::filesystem::path directory;
  std::function<Status()> overflow_fault;  // for tests: asked before each write to the directory; an error is the disk's

  Status check() const;
};

}  // namespace argosy::table
