#include "argosy/serve/http/describe_model.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

namespace argosy::serve {
namespace {

using Json = nlohmann::json;

Json described(const std::vector<TensorInfo>& infos) {
  Json all = Json::array();
  for (const TensorInfo& info : infos)
    all.push_back(
        {{"name", info.name}, {"dtype", graph::dtype_name(info.dtype)}, {"shape", info.shape}, {"lod_level", info.lod_level}});
  return all;
}

Json described(const std::vector<ParameterSource::Origin>& origins) {
  Json all = Json::array();
  for (const auto& origin : origins)
    all.push_back({{"address", origin.address},
                   {"version", origin.version},
                   {"lag_records", origin.lag_records},
                   {"lag_seconds", origin.lag_seconds},
                   {"text", origin.text}});
  return all;
}

std::string text_of(const Json& page) { return page.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string model_page(const std::string& name, const ServedVersion& version, const std::string& problem) {
  const Status ready = version.ready();
  Json page = {{"name", name}, {"ready", ready.ok()}, {"version", version.version}};
  page["model_version_status"] = {
      {{"version", version.version},
       {"state", ready.ok() ? "AVAILABLE" : "LOADING"},
       {"status", {{"error_code", ready.ok() ? "OK" : "UNAVAILABLE"}, {"error_message", ready.message()}}}}};
  page["inputs"] = described(version.inputs);
  page["outputs"] = described(version.outputs);
  page["settings"] = {{"threads", version.options.threads},
                      {"fusion", version.options.fuse},
                      {"precision", version.options.bfloat16_matmul ? "bfloat16" : "float32"}};
  if (const auto origins = version.origins(); !origins.empty()) page["parameters_from"] = described(origins);
  if (!problem.empty()) page["refused"] = problem;
  return text_of(page);
}

Result<std::string> parameters_page(const ServedVersion& version, uint64_t most_rows_bytes) {
  Json all = Json::array();
  const auto parameters = version.parameters(most_rows_bytes);
  if (parameters.status().code() == Code::resource_exhausted) {
    return Status::resource_exhausted(
        "{} (max_parameters_bytes); raise it with --max_parameters_bytes of `argosy serve`, or look at the rows where they come "
        "from: "
        "`argosy check-online MODEL redis://…` for Redis, `argosy rows` for servers and followers",
        parameters.status().message());
  }
  if (!parameters.ok()) return parameters.status();
  for (const auto& [name, tensor] : *parameters)
    all.push_back({{"name", name},
                   {"dtype", graph::dtype_name(tensor.dtype)},
                   {"shape", tensor.shape},
                   {"digest", fmt::format("{:016x}", digest_of(tensor))}});
  return text_of({{"parameters", all}});
}

std::string source_metrics(const ServedVersion& version) {
  std::string text;
  const auto out = std::back_inserter(text);
  const auto begin = [&](const char* name, const char* help) {
    fmt::format_to(out, "# HELP {0} {1}\n# TYPE {0} gauge\n", name, help);
  };
  begin("argosy_serve_ready", "1: predictions can be made.");
  fmt::format_to(out, "argosy_serve_ready {}\n", version.ready().ok() ? 1 : 0);
  const auto origins = version.origins();
  if (origins.empty()) return text;
  const auto add = [&](const char* name, const char* help, const auto& value) {
    begin(name, help);
    for (const auto& origin : origins) fmt::format_to(out, "{}{{address=\"{}\"}} {}\n", name, origin.address, value(origin));
  };
  add("argosy_serve_source_version", "Version of the parameters, at each place that they come from.",
      [](const auto& origin) { return origin.version; });
  add("argosy_serve_source_lag_records", "Records that a follower's server has and the follower has not.",
      [](const auto& origin) { return origin.lag_records; });
  add("argosy_serve_source_lag_seconds", "Since the place had all that the job's servers have; 0: it has.",
      [](const auto& origin) { return origin.lag_seconds; });
  return text;
}

}  // namespace argosy::serve
