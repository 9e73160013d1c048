#include <fmt/format.h>
#include <httplib.h>

#include <nlohmann/json.hpp>

#include "argosy/base/text.h"
#include "argosy/serve/check/side.h"

namespace argosy::serve {
namespace {

using Json = nlohmann::json;
constexpr time_t kSeconds = 60;

// A model's address, http://host:port/v1/models/NAME, in two parts.
struct ServedAddress {
  std::string host, page;
};

Result<ServedAddress> parse_address(const std::string& url) {
  const size_t page = url.find('/', std::string("http://").size());
  if (!url.starts_with("http://") || page == std::string::npos || url.find("/v1/models/") != page)
    return Status::invalid_argument(
        "'{}' is no address of a served model; `argosy serve` prints it: http://HOST:PORT/v1/models/NAME", url);
  return ServedAddress{url.substr(0, page), url.substr(page)};
}

// A request and its answer as JSON; `body` empty: a GET.
Result<std::string> ask(const ServedAddress& address, const std::string& ending, const std::string& body) {
  httplib::Client client(address.host);
  client.set_connection_timeout(kSeconds);
  client.set_read_timeout(kSeconds);
  const std::string page = address.page + ending;
  const auto answer = body.empty() ? client.Get(page) : client.Post(page, body, "application/json");
  if (!answer) return Status::unavailable("{}{} does not answer: {}", address.host, page, httplib::to_string(answer.error()));
  if (answer->status != 200)
    return Status::failed_precondition("{}{} answered {}: {}", address.host, page, answer->status, answer->body.substr(0, 400));
  return answer->body;
}

Result<Json> ask_json(const ServedAddress& address, const std::string& ending) {
  ASSIGN_OR_RETURN(const std::string text, ask(address, ending, ""));
  Json page = Json::parse(text, nullptr, false);
  if (page.is_discarded()) return Status::data_loss("{}{}{} is no JSON", address.host, address.page, ending);
  return page;
}

Result<std::vector<TensorInfo>> infos_of(const Json& described) {
  std::vector<TensorInfo> infos;
  for (const Json& one : described) {
    const auto dtype = graph::parse_dtype(one.at("dtype").get<std::string>());
    if (!dtype) return Status::data_loss("a served model has an unknown type '{}'", one.at("dtype").get<std::string>());
    infos.push_back(
        {one.at("name").get<std::string>(), *dtype, one.at("shape").get<std::vector<int64_t>>(), one.at("lod_level").get<int>()});
  }
  return infos;
}

Result<Side> described_side(const std::string& url, const ServedAddress& address) {
  ASSIGN_OR_RETURN(const Json page, ask_json(address, ""));
  ASSIGN_OR_RETURN(const Json parameters, ask_json(address, "/parameters"));
  Side side{.name = url};
  ASSIGN_OR_RETURN(side.inputs, infos_of(page.at("inputs")));
  ASSIGN_OR_RETURN(side.outputs, infos_of(page.at("outputs")));
  const Json& settings = page.at("settings");
  side.settings = PredictorOptions{.threads = settings.at("threads").get<int>(),
                                   .fuse = settings.at("fusion").get<bool>(),
                                   .bfloat16_matmul = settings.at("precision").get<std::string>() == "bfloat16"};
  side.parameters.emplace();
  for (const Json& one : parameters.at("parameters"))
    side.parameters->emplace(one.at("name").get<std::string>(),
                             ParameterFacts{.dtype = one.at("dtype").get<std::string>(),
                                            .shape = one.at("shape").get<std::vector<int64_t>>(),
                                            .digest = std::stoull(one.at("digest").get<std::string>(), nullptr, 16),
                                            .values = std::nullopt});
  return side;
}

}  // namespace

Result<Side> open_served(const std::string& url) {
  ASSIGN_OR_RETURN(const ServedAddress address, parse_address(url));
  auto side = [&]() -> Result<Side> {
    try {
      return described_side(url, address);
    } catch (const std::exception& error) {  // a page that lacks something
      return Status::data_loss("'{}' is no model of `argosy serve`: {}", url, error.what());
    }
  }();
  if (!side.ok()) return side;
  side->run = [address, infos = side->inputs](const Inputs& inputs) -> Result<std::vector<OutputValues>> {
    ASSIGN_OR_RETURN(const std::string answer, ask(address, ":predict", format_request(infos, inputs)));
    return parse_answer(answer);
  };
  return side;
}

}  // namespace argosy::serve
