#include "argosy/serve/http/describe_model.h"

#include <fmt/format.h>

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

std::string text_of(const Json& page) { return page.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string model_page(const std::string& name, const ServedVersion& version, const std::string& problem) {
  Json page = {{"name", name}, {"ready", true}, {"version", version.version}};
  page["model_version_status"] = {
      {{"version", version.version}, {"state", "AVAILABLE"}, {"status", {{"error_code", "OK"}, {"error_message", ""}}}}};
  page["inputs"] = described(version.inputs);
  page["outputs"] = described(version.outputs);
  page["settings"] = {{"threads", version.options.threads},
                      {"fusion", version.options.fuse},
                      {"precision", version.options.bfloat16_matmul ? "bfloat16" : "float32"}};
  if (!problem.empty()) page["refused"] = problem;
  return text_of(page);
}

std::string parameters_page(const ServedVersion& version) {
  Json all = Json::array();
  for (const auto& [name, tensor] : version.parameters())
    all.push_back({{"name", name},
                   {"dtype", graph::dtype_name(tensor.dtype)},
                   {"shape", tensor.shape},
                   {"digest", fmt::format("{:016x}", digest_of(tensor))}});
  return text_of({{"parameters", all}});
}

}  // namespace argosy::serve
