#include "argosy/fleet/row_birth.h"

#include <optional>
#include <vector>

#include "argosy/base/random.h"
#include "argosy/base/text.h"

namespace argosy::fleet {
namespace {

// Same on every process of a job, and another for each table.
uint64_t seed_of(const std::string& table, int64_t given) { return mix64(table, static_cast<uint64_t>(given)); }

}  // namespace

Result<ps::RowInitializer> row_initializer(const graph::OpDesc* op, const std::string& table, int32_t program_seed) {
  using Kind = ps::RowInitializer::Kind;
  if (op == nullptr) return Status::failed_precondition("the startup program has no first values for '{}'", table);
  const int32_t seed = op->attribute_or<int32_t>("seed", 0);
  ps::RowInitializer init{.seed = seed_of(table, seed != 0 ? seed : program_seed)};
  if (op->type == "fill_constant") {
    init.a = op->attribute_or<float>("value", 0);
  } else if (op->type == "uniform_random") {
    init.kind = Kind::uniform;
    init.a = op->attribute_or<float>("min", -1);
    init.b = op->attribute_or<float>("max", 1);
  } else if (op->type == "gaussian_random" || op->type == "truncated_gaussian_random") {
    init.kind = op->type == "gaussian_random" ? Kind::normal : Kind::truncated_normal;
    init.a = op->attribute_or<float>("mean", 0);
    init.b = op->attribute_or<float>("std", 1);
  } else {
    return Status::invalid_argument(
        "table '{}' gets its first values from operator '{}'; rows that servers make on first use can be constant, uniform or "
        "normal. Give it such an initializer, or build the embedding with is_sparse=False",
        table, op->type);
  }
  return init;
}

Result<ps::Admission> read_entry(const std::string& entry, const std::string& table) {
  using Kind = ps::Admission::Kind;
  const std::vector<std::string> parts = split(entry, ':');
  const auto number = parts.size() == 2 ? parse_number(parts[1]) : std::nullopt;
  if (parts.size() == 1 && parts[0] == "none") return ps::Admission{};
  if (parts[0] == "count_filter_entry" && number && *number == 0) return ps::Admission{};
  if (parts[0] == "count_filter_entry" && number && *number >= 1)
    return ps::Admission{.kind = Kind::count, .count = static_cast<uint32_t>(*number)};
  if (parts[0] == "probability_entry" && number && *number > 0 && *number <= 1)
    return ps::Admission{.kind = Kind::probability, .probability = *number, .seed = seed_of(table, 1)};
  if (parts[0] == "show_click_entry" && parts.size() == 3) return ps::Admission{};
  return Status::invalid_argument(
      "table '{}': entry '{}' is not known; expected none, count_filter_entry:N, probability_entry:P or "
      "show_click_entry:SHOW:CLICK with the names of two variables",
      table, entry);
}

}  // namespace argosy::fleet
