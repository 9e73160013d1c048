#include "argosy/base/run_id.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "argosy/base/env_variable.h"
#include "argosy/base/identity.h"
#include "argosy/base/random.h"

namespace argosy {
namespace {

constexpr size_t kLongest = 64;

std::string as_name(const std::string& text) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; };
  const bool fits = text.size() <= kLongest && text.front() != '.' && std::all_of(text.begin(), text.end(), plain);
  return fits ? text : fmt::format("{:016x}", mix64(text));
}

}  // namespace

std::string draw_run_id() { return fmt::format("{:016x}", draw_identity()); }

std::string known_run_id(const std::string& given) {
  if (!given.empty()) return as_name(given);
  for (const auto& [name, scheduler] : {std::pair{"SLURM_JOB_ID", "slurm"}, {"PBS_JOBID", "pbs"}, {"LSB_JOBID", "lsf"}}) {
    if (const std::optional<EnvVariable> said = variable(name)) return as_name(fmt::format("{}-{}", scheduler, said->value));
  }
  const std::optional<EnvVariable> grid_engine = variable("JOB_ID");  // a name that others use too
  if (grid_engine && variable("SGE_ROOT")) return as_name(fmt::format("sge-{}", grid_engine->value));
  return "";
}

}  // namespace argosy
