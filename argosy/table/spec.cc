#include "argosy/table/spec.h"

#include <bit>
#include <cmath>

#include "argosy/base/random.h"

namespace argosy::table {
namespace {

constexpr uint32_t kMaxWidth = 1u << 20;
constexpr uint64_t kMaxDense = uint64_t{1} << 34;

Status check_rule(Mode mode, const std::string& rule, const optim::HyperParameters& hyper_parameters,
                  const std::optional<optim::Regularization>& regularization) {
  if (mode == Mode::geo) {
    if (regularization)
      return Status::invalid_argument("a geo table adds differences and has no regularization; the workers regularize");
    return {};
  }
  if (const auto made = optim::make_rule(rule, hyper_parameters); !made.ok()) return made.status();
  return regularization ? regularization->check() : Status();
}

Status check_admission(const Admission& admission) {
  switch (admission.kind) {
    case Admission::Kind::all: return {};
    case Admission::Kind::probability:
      if (admission.probability > 0 && admission.probability <= 1) return {};
      return Status::invalid_argument("admission by probability {}: expected a number above 0 and at most 1",
                                      admission.probability);
    case Admission::Kind::count:
      if (admission.count >= 1 && admission.count <= kMaxPushes) return {};
      return Status::invalid_argument("admission from gradient number {} on: expected 1 to {}", admission.count, kMaxPushes);
    case Admission::Kind::show_click:
      if (std::isfinite(admission.score)) return {};
      return Status::invalid_argument("admission by score {}: expected a finite number", admission.score);
  }
  return Status::invalid_argument("unknown kind of admission {}", static_cast<int>(admission.kind));
}

Status check_show_click(const ShowClick& show_click) {
  if (!std::isfinite(show_click.non_click_weight) || !std::isfinite(show_click.click_weight)) {
    return Status::invalid_argument("the weights of shows and clicks are {} and {}: expected finite numbers",
                                    show_click.non_click_weight, show_click.click_weight);
  }
  if (show_click.decay > 0 && show_click.decay <= 1) return {};
  return Status::invalid_argument("shows and clicks decay by {}: expected a number above 0 and at most 1", show_click.decay);
}

}  // namespace

Status RowInitializer::check() const {
  if (static_cast<int>(kind) < 0 || kind > Kind::truncated_normal) {
    return Status::invalid_argument("unknown kind of initializer {}", static_cast<int>(kind));
  }
  if (!std::isfinite(a) || !std::isfinite(b))
    return Status::invalid_argument("initial values from {} and {}: expected finite numbers", a, b);
  if (kind == Kind::uniform && b < a)
    return Status::invalid_argument("initial values between {} and {}: the high end is lower", a, b);
  if (kind != Kind::constant && kind != Kind::uniform && b < 0)
    return Status::invalid_argument("initial values with deviation {}", b);
  return {};
}

void row_initial_value(const RowInitializer& initializer, uint64_t key, std::span<float> row) {
  const float a = initializer.a;
  const float b = initializer.b;
  Random random(initializer.seed, key);
  switch (initializer.kind) {
    case RowInitializer::Kind::constant:
      for (float& x : row) x = a;
      return;
    case RowInitializer::Kind::uniform:
      for (float& x : row) x = a + (b - a) * static_cast<float>(random.uniform());
      return;
    case RowInitializer::Kind::normal:
      for (float& x : row) x = a + b * static_cast<float>(random.normal());
      return;
    case RowInitializer::Kind::truncated_normal:
      for (float& x : row) {
        double draw = random.normal();
        while (std::abs(draw) > 2) draw = random.normal();
        x = a + b * static_cast<float>(draw);
      }
      return;
  }
}

bool SparseSpec::counts_show_click() const {
  return show_click.enabled || admission.kind == Admission::Kind::show_click || expiry.score != 0;
}

Status SparseSpec::check() const {
  const auto checked = [&]() -> Status {
    if (width < 1 || width > kMaxWidth) return Status::invalid_argument("width {}: expected 1 to {}", width, kMaxWidth);
    RETURN_IF_ERROR(initializer.check());
    RETURN_IF_ERROR(check_rule(mode, rule, hyper_parameters, regularization));
    RETURN_IF_ERROR(check_admission(admission));
    if (mode == Mode::geo && admission.kind != Admission::Kind::all) {
      return Status::invalid_argument("a geo table admits every key: its differences cannot be counted without being added");
    }
    if (!std::isfinite(expiry.score))
      return Status::invalid_argument("expiry below score {}: expected a finite number", expiry.score);
    return check_show_click(show_click);
  };
  return checked().with_context("table '{}'", name);
}

Status DenseSpec::check() const {
  if (size < 1 || size > kMaxDense)
    return Status::invalid_argument("table '{}': {} elements: expected 1 to {}", name, size, kMaxDense);
  return check_rule(mode, rule, hyper_parameters, regularization).with_context("table '{}'", name);
}

Status StoreOptions::check() const {
  if (!std::has_single_bit(shards) || shards > 1024)
    return Status::invalid_argument("{} shards: expected a power of 2 up to 1024", shards);
  if (mem_limit_bytes > 0 && directory.empty()) {
    return Status::invalid_argument("a memory limit of {} bytes needs a directory for the rows beyond it", mem_limit_bytes);
  }
  return {};
}

}  // namespace argosy::table
