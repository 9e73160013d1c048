#include "argosy/serve/grpc/grpc_model_server.h"

#include <chrono>
#include <utility>

#include "argosy/base/address.h"
#include "argosy/rpc/unary_server.h"
#include "argosy/serve/grpc/health.pb.h"
#include "argosy/serve/grpc/predict.pb.h"
#include "argosy/serve/grpc/proto_tensor.h"

namespace argosy::serve {
namespace {

using rpc::UnaryRequest;
using Health = grpc::health::v1::HealthCheckResponse;

constexpr const char* kService = "argosy.serve.v1.Prediction";

template <typename Message>
Result<Message> parse(const std::string& bytes) {
  Message message;
  if (message.ParseFromString(bytes)) return message;
  return Status::invalid_argument("the request is no {}: {} bytes that protobuf cannot read", message.GetTypeName(),
                                  bytes.size());
}

Result<std::string> check_health(const PredictService& service, const std::string& bytes) {
  ASSIGN_OR_RETURN(const auto asked, parse<grpc::health::v1::HealthCheckRequest>(bytes));
  if (!asked.service().empty() && asked.service() != kService)
    return Status::not_found("there is no service '{}' here; '{}' is served", asked.service(), kService);
  Health health;
  health.set_status(service.ready().ok() ? Health::SERVING : Health::NOT_SERVING);
  return health.SerializeAsString();
}

Status check_name(const PredictService& service, const std::string& model) {
  return model.empty() ? Status() : service.check_name(model);
}

Result<std::string> describe(const PredictService& service, const std::string& bytes) {
  ASSIGN_OR_RETURN(const auto asked, parse<v1::StatusRequest>(bytes));
  RETURN_IF_ERROR(check_name(service, asked.model()));
  const auto version = service.model().current();
  const Status ready = service.ready();
  v1::StatusReply reply;
  reply.set_model(service.name());
  reply.set_version(version->version);
  reply.set_ready(ready.ok());
  reply.set_not_ready_because(ready.message());
  reply.set_refused_version(service.model().last_problem());
  for (const TensorInfo& info : version->inputs) write_info(info, *reply.add_inputs());
  for (const TensorInfo& info : version->outputs) write_info(info, *reply.add_outputs());
  return reply.SerializeAsString();
}

Result<std::string> predict(PredictService& service, const UnaryRequest& request) {
  ASSIGN_OR_RETURN(auto asked, parse<v1::PredictRequest>(request.bytes));
  RETURN_IF_ERROR(check_name(service, asked.model()));
  ASSIGN_OR_RETURN(const Prediction made,
                   service.predict(request.wait, [&](const ServedVersion&) { return take_inputs(asked); }));
  v1::PredictReply reply;
  reply.set_version(made.version->version);
  for (size_t i = 0; i < made.outputs.size(); ++i)
    write_tensor(made.version->outputs[i].name, made.outputs[i], *reply.add_outputs());
  return reply.SerializeAsString();
}

Result<std::string> predict_and_count(PredictService& service, const UnaryRequest& request) {
  const Stopwatch watch;
  auto answer = predict(service, request);
  service.counters().add_request(answer.status().code(), watch.seconds());
  return answer;
}

rpc::UnaryMethods methods_of(PredictService& service) {
  const std::string prefix = fmt::format("/{}/", kService);
  return {
      {prefix + "Predict", {.handler = [&service](UnaryRequest request) { return predict_and_count(service, request); }}},
      {prefix + "Status",
       {.handler = [&service](UnaryRequest request) { return describe(service, request.bytes); }, .urgent = true}},
      {"/grpc.health.v1.Health/Check",
       {.handler = [&service](UnaryRequest request) { return check_health(service, request.bytes); }, .urgent = true}},
  };
}

}  // namespace

GrpcModelServer::GrpcModelServer(std::unique_ptr<rpc::UnaryServer> server, std::chrono::milliseconds longest)
    : server_(std::move(server)), longest_(longest) {}
GrpcModelServer::~GrpcModelServer() { stop(); }

int GrpcModelServer::port() const { return server_->port(); }
void GrpcModelServer::stop() { server_->stop(Deadline::after(longest_ + std::chrono::seconds(1))); }

Result<std::unique_ptr<GrpcModelServer>> GrpcModelServer::start(const GrpcModelServerOptions& options, PredictService& service) {
  const ServeLimits& limits = service.limits();
  const rpc::UnaryServerOptions server_options{.address = Address{options.host, options.port}.to_string(),
                                               .max_calls = static_cast<int>(limits.max_connections),
                                               .max_request_bytes = limits.max_body_bytes,
                                               .read_time = limits.deadline,
                                               .calls_limit = "max_connections"};
  auto server = rpc::UnaryServer::start(server_options, methods_of(service));
  if (!server.ok()) return server.status().with_context("--grpc_port");
  return std::unique_ptr<GrpcModelServer>(new GrpcModelServer(std::move(*server), limits.deadline));
}

}  // namespace argosy::serve
