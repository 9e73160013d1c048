#include "argosy/launch/collective/devices.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>

#include "argosy/base/env.h"
#include "argosy/base/env_variable.h"
#include "argosy/base/text.h"
#include "argosy/base/thread.h"

namespace argosy::launch {
namespace {

constexpr int kMostProcesses = 4096;

std::vector<int> first_numbers(size_t count) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

bool wants_cpu() {
  const std::optional<EnvVariable> device = variable("ARGOSY_DEVICE");
  return device && device->value == "cpu";
}

// The GPU `name` as its processes count it: CUDA numbers those of CUDA_VISIBLE_DEVICES anew.
Result<int> own_number(const std::string& name, const std::vector<int>& visible) {
  const std::optional<EnvVariable> list = variable("CUDA_VISIBLE_DEVICES");
  if (!list) {
    const auto number = parse_integer(name);
    if (number && std::find(visible.begin(), visible.end(), *number) != visible.end()) return static_cast<int>(*number);
    return Status::invalid_argument("--gpus: there is no GPU {}; this machine has {}", name,
                                    visible.empty() ? "none" : fmt::format("{} to {}", visible.front(), visible.back()));
  }
  const std::vector<std::string> names = list_of(*list);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  return Status::invalid_argument("--gpus: {} is not one of {}", name, list->to_string());
}

Result<Devices> listed_devices(const std::vector<std::string>& gpus, bool shared) {
  Devices devices{.processes = static_cast<int>(gpus.size())};
  if (!shared && !wants_cpu() && std::set<std::string>(gpus.begin(), gpus.end()).size() != gpus.size()) {
    return Status::invalid_argument(
        "--gpus {}: a GPU occurs twice, which NCCL refuses; --collective_backend gloo lets processes share one", join(gpus, ","));
  }
  for (const std::string& gpu : gpus) {
    if (parse_integer(gpu).value_or(-1) < 0)
      return Status::invalid_argument("--gpus: found '{}', expected numbers such as 0,1", gpu);
  }
  if (wants_cpu()) return devices;
  const std::vector<int> visible = visible_gpus();
  if (visible.empty()) {
    return Status::failed_precondition(
        "--gpus {}: this machine has no GPU; set ARGOSY_DEVICE=cpu to run as many processes on its CPU, or use --nproc_per_node",
        join(gpus, ","));
  }
  for (const std::string& gpu : gpus) {
    ASSIGN_OR_RETURN(const int number, own_number(gpu, visible));
    devices.gpus.push_back(number);
  }
  return devices;
}

// --nproc_per_node without --gpus.
Result<Devices> counted_devices(const std::string& processes) {
  const std::vector<int> visible = wants_cpu() || processes == "cpu" ? std::vector<int>() : visible_gpus();
  const auto count = static_cast<int64_t>(visible.size());
  if (processes == "gpu" || (processes == "auto" && count > 0)) {
    if (count == 0) return Status::failed_precondition("--nproc_per_node gpu: no GPU is seen here");
    return Devices{.processes = static_cast<int>(count), .gpus = visible};
  }
  if (processes == "cpu" || processes == "auto") return Devices{.processes = available_cores()};
  const auto number = parse_integer(processes);
  if (!number || *number < 1 || *number > kMostProcesses)
    return Status::invalid_argument("--nproc_per_node: found '{}', expected a number from 1, auto, gpu or cpu", processes);
  if (count == 0) return Devices{.processes = static_cast<int>(*number)};
  if (*number > count) {
    return Status::invalid_argument("--nproc_per_node {}: {} GPUs are seen here; ARGOSY_DEVICE=cpu uses the CPU", *number, count);
  }
  return Devices{.processes = static_cast<int>(*number), .gpus = {visible.begin(), visible.begin() + *number}};
}

}  // namespace

std::vector<int> visible_gpus(const std::string& folder) {
  if (const auto list = env_text("CUDA_VISIBLE_DEVICES")) {
    const std::vector<std::string> names = split(trim(*list), ',');
    // CUDA takes the names before the first that it does not know.
    const auto end =
        std::find_if(names.begin(), names.end(), [](const std::string& name) { return name.empty() || name[0] == '-'; });
    return first_numbers(static_cast<size_t>(end - names.begin()));
  }
  std::vector<int> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const auto number = name.starts_with("nvidia") ? parse_integer(name.substr(6)) : std::nullopt;
    if (number && *number >= 0 && *number < kMostProcesses) found.push_back(static_cast<int>(*number));
  }
  std::sort(found.begin(), found.end());
  return found;
}

Result<Devices> choose_devices(const std::vector<std::string>& gpus, const std::string& processes, const RankInfo& launcher,
                               bool shared_gpus) {
  if (!gpus.empty()) {
    ASSIGN_OR_RETURN(Devices devices, listed_devices(gpus, shared_gpus));
    if (!processes.empty() && processes != std::to_string(devices.processes)) {
      return Status::invalid_argument("--gpus lists {} and --nproc_per_node says {}; leave one out", devices.processes,
                                      processes);
    }
    return devices;
  }
  if (!processes.empty()) return counted_devices(processes);
  const std::vector<int> visible = wants_cpu() ? std::vector<int>() : visible_gpus();
  if (visible.empty()) return Devices();
  if (launcher.local_world_size == 1) return Devices{.processes = static_cast<int>(visible.size()), .gpus = visible};
  if (static_cast<size_t>(launcher.local_rank) >= visible.size()) {
    return Status::failed_precondition(
        "this is launcher {} of {} on a machine with {} GPUs; start fewer, or set ARGOSY_DEVICE=cpu", launcher.local_rank,
        launcher.local_world_size, visible.size());
  }
  return Devices{.gpus = {visible[static_cast<size_t>(launcher.local_rank)]}};
}

}  // namespace argosy::launch
