#include "argosy/launch/kubernetes/pods.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "argosy/base/text.h"

namespace argosy::launch {
namespace {

// Every key of the section, and what it is where nobody says. A container's quantities may stay out.
const std::map<std::string, std::string> kDefaults = {
    {"image", ""},           {"name", "argosy"},        {"namespace", "default"}, {"token_secret", ""},
    {"volume_claim", ""},    {"mount", "/data"},        {"port", "6170"},         {"metrics_port", "9100"},
    {"grace_seconds", "30"}, {"image_pull_policy", ""}, {"server.cpu", ""},       {"server.memory", ""},
    {"server.gpu", ""},      {"worker.cpu", ""},        {"worker.memory", ""},    {"worker.gpu", ""}};

std::vector<std::string> known_keys() {
  std::vector<std::string> keys;
  for (const auto& [key, value] : kDefaults) keys.push_back(key);
  return keys;
}

Status check_number(const std::string& key, const std::string& text, int64_t most) {
  const auto number = parse_integer(text);
  if (number && *number >= 1 && *number <= most) return {};
  return Status::invalid_argument("kubernetes: '{}' is '{}', expected a number from 1 to {}", key, text, most);
}

// As RFC 1123 has labels: what names of objects and hosts can be.
bool is_label(std::string_view text, size_t most) {
  const auto plain = [](unsigned char c) { return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '-'; };
  return !text.empty() && text.size() <= most && std::ranges::all_of(text, plain) && text.front() != '-' && text.back() != '-';
}

Status check_name(const std::string& key, const std::string& text) {
  if (is_label(text, 40)) return {};  // the names of pods are made of it
  return Status::invalid_argument("kubernetes: '{}' is '{}', expected 1 to 40 small letters, digits and dashes", key, text);
}

// What names an object that somebody else has made: labels with dots between them.
Status check_object_name(const std::string& key, const std::string& text) {
  for (const std::string& label : split(text, '.')) {
    if (text.size() > 253 || text.ends_with('.') || !is_label(label, 63))
      return Status::invalid_argument("kubernetes: '{}' is '{}', expected small letters, digits, dashes and dots", key, text);
  }
  return {};
}

Status check_mount(const std::string& path) {
  if (path.starts_with('/') && path.find(':') == std::string::npos) return {};
  return Status::invalid_argument("kubernetes: 'mount' is '{}', expected a path from / on without ':'", path);
}

Status check_pull_policy(const std::string& policy) {
  if (policy.empty() || policy == "Always" || policy == "IfNotPresent" || policy == "Never") return {};
  return Status::invalid_argument("kubernetes: 'image_pull_policy' is '{}', expected Always, IfNotPresent or Never", policy);
}

Status check_ports(const KubernetesSection& section) {
  for (const char* key : {"port", "metrics_port"}) RETURN_IF_ERROR(check_number(key, section[key], 65535));
  if (parse_integer(section["port"]) != parse_integer(section["metrics_port"])) return {};
  return Status::invalid_argument("kubernetes: 'port' and 'metrics_port' are both {}, expected different ones", section["port"]);
}

std::string variables_of(const Pod& pod, const KubernetesJob& job, const KubernetesSection& section) {
  std::string text;
  for (const auto& [name, what] : pod.variables) text += fmt::format("- name: {}\n  {}\n", name, what);
  for (const auto& [name, value] : job.environment) text += fmt::format("- name: {}\n  value: {}\n", name, yaml_text(value));
  text += fmt::format("- name: ARGOSY_METRICS_PORT\n  value: {}\n- name: ARGOSY_METRICS_HOST\n  value: \"0.0.0.0\"\n",
                      yaml_text(section["metrics_port"]));
  text += fmt::format("- name: ARGOSY_TOKEN\n  valueFrom:\n    secretKeyRef:\n      name: {}\n      key: token\n",
                      section["token_secret"]);
  return text;
}

std::string probe(const char* name, const char* path, int every, int failures, const KubernetesSection& section) {
  return fmt::format("{}:\n  httpGet:\n    path: {}\n    port: {}\n  periodSeconds: {}\n  failureThreshold: {}\n", name, path,
                     section["metrics_port"], every, failures);
}

// A server's /readyz waits for the first worker, which in a JobSet waits for the server's pod: there, that it takes connections
// is enough.
std::string readiness(const Pod& pod, const KubernetesSection& section) {
  if (pod.port.empty()) return probe("readinessProbe", "/readyz", 2, 3, section);
  return fmt::format("readinessProbe:\n  tcpSocket:\n    port: {}\n  periodSeconds: 2\n", pod.port);
}

std::string quantities(const Pod& pod, const KubernetesSection& section) {
  std::string requests, limits;
  const std::string cpu = section[pod.role + ".cpu"], memory = section[pod.role + ".memory"], gpu = section[pod.role + ".gpu"];
  if (!cpu.empty()) requests += fmt::format("cpu: {}\n", yaml_text(cpu));
  if (!memory.empty()) requests += fmt::format("memory: {}\n", yaml_text(memory));
  if (!memory.empty()) limits += fmt::format("memory: {}\n", yaml_text(memory));
  if (!gpu.empty()) limits += fmt::format("nvidia.com/gpu: {}\n", yaml_text(gpu));
  std::string text;
  if (!requests.empty()) text += "requests:\n  " + indented(requests, 2) + "\n";
  if (!limits.empty()) text += "limits:\n  " + indented(limits, 2) + "\n";
  return text.empty() ? "" : "resources:\n  " + indented(text, 2) + "\n";
}

std::string container(const Pod& pod, const KubernetesJob& job, const KubernetesSection& section) {
  std::vector<std::string> words;
  for (const std::string& word : pod.command) words.push_back(yaml_text(word));
  std::string text = fmt::format("name: {}\nimage: {}\n", pod.container, yaml_text(section["image"]));
  if (!section["image_pull_policy"].empty()) text += fmt::format("imagePullPolicy: {}\n", section["image_pull_policy"]);
  text += fmt::format("command: [{}]\n", join(words, ", "));
  text += "env:\n" + variables_of(pod, job, section);
  text += "ports:\n";
  if (!pod.port.empty()) text += fmt::format("- name: ps\n  containerPort: {}\n  protocol: TCP\n", pod.port);
  text += fmt::format("- name: metrics\n  containerPort: {}\n  protocol: TCP\n", section["metrics_port"]);
  // A server answers once it has recovered from its log, which may take minutes; a worker may read data first.
  text += probe("startupProbe", "/healthz", 2, 900, section) + readiness(pod, section) +
          probe("livenessProbe", "/healthz", 10, 6, section);
  text += quantities(pod, section);
  if (!section["volume_claim"].empty())
    text += fmt::format("volumeMounts:\n- name: data\n  mountPath: {}\n", yaml_text(section["mount"]));
  return text;
}

}  // namespace

Result<KubernetesSection> KubernetesSection::of(const std::map<std::string, std::string>& given) {
  KubernetesSection section;
  section.values_ = kDefaults;
  for (const auto& [key, value] : given) {
    if (!kDefaults.contains(key)) {
      const auto near = nearest_name(key, known_keys());
      return Status::invalid_argument("kubernetes: there is no key '{}'{}; it has {}", key,
                                      near ? fmt::format("; did you mean '{}'?", *near) : "", join(known_keys(), ", "));
    }
    section.values_[key] = value;
  }
  if (section["image"].empty())
    return Status::invalid_argument("kubernetes: 'image' is not given; expected the image that has argosy and the job's program");
  RETURN_IF_ERROR(check_name("name", section["name"]));
  RETURN_IF_ERROR(check_name("namespace", section["namespace"]));
  if (section["token_secret"].empty()) section.values_["token_secret"] = section["name"] + "-token";
  for (const char* key : {"volume_claim", "token_secret"}) RETURN_IF_ERROR(check_object_name(key, section[key]));
  RETURN_IF_ERROR(check_mount(section["mount"]));
  RETURN_IF_ERROR(check_pull_policy(section["image_pull_policy"]));
  RETURN_IF_ERROR(check_ports(section));
  RETURN_IF_ERROR(check_number("grace_seconds", section["grace_seconds"], 86400));
  return section;
}

std::string yaml_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      quoted += fmt::format("\\x{:02x}", c);
    else
      quoted += c;
  }
  return quoted + "\"";
}

std::string indented(const std::string& text, int spaces) {
  const std::string trimmed = text.ends_with('\n') ? text.substr(0, text.size() - 1) : text;
  return join(split(trimmed, '\n'), "\n" + std::string(static_cast<size_t>(spaces), ' '));
}

std::string pod_spec(const Pod& pod, const KubernetesJob& job, const KubernetesSection& section) {
  std::string text = fmt::format("restartPolicy: {}\nterminationGracePeriodSeconds: {}\ncontainers:\n- {}\n", pod.restart,
                                 section["grace_seconds"], indented(container(pod, job, section), 2));
  if (!section["volume_claim"].empty())
    text += fmt::format("volumes:\n- name: data\n  persistentVolumeClaim:\n    claimName: {}\n", section["volume_claim"]);
  return text;
}

}  // namespace argosy::launch
