// Asks a running `argosy serve` for predictions of the model of bench/serving.py, one sample per request, from several
// connections at once.
//
//   predict_load http|grpc HOST PORT CONNECTIONS SECONDS
//
// Prints a line of JSON twice, the first for a warm-up of a second: requests per second, and the microseconds of half and of 99
// of 100 of them.
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <httplib.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/serve/grpc/predict.pb.h"

namespace {

namespace wire = argosy::serve::v1;
constexpr int kDense = 13, kSlots = 26, kRows = 1'000'001, kDifferent = 16;
constexpr const char* kMethod = "/argosy.serve.v1.Prediction/Predict";

struct Sample {
  std::vector<float> dense;
  std::vector<std::vector<int64_t>> slots;  // one or two ids each
};

std::vector<Sample> samples() {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<float> value(0, 1);
  std::uniform_int_distribution<int64_t> id(0, kRows - 1), count(1, 2);
  std::vector<Sample> made(kDifferent);
  for (Sample& sample : made) {
    for (int i = 0; i < kDense; ++i) sample.dense.push_back(value(random));
    for (int i = 0; i < kSlots; ++i) {
      auto& ids = sample.slots.emplace_back(static_cast<size_t>(count(random)));
      for (int64_t& one : ids) one = id(random);
    }
  }
  return made;
}

std::string as_json(const Sample& sample) {
  std::string text = fmt::format(R"({{"instances": [{{"dense_input": [{}])", fmt::join(sample.dense, ", "));
  for (int i = 0; i < kSlots; ++i)
    text += fmt::format(R"(, "C{}": [{}])", i + 1, fmt::join(sample.slots[static_cast<size_t>(i)], ", "));
  return text + "}]}";
}

template <typename T>
void fill(wire::Tensor& tensor, const std::string& name, const char* dtype, const std::vector<T>& values) {
  tensor.set_name(name);
  tensor.set_dtype(dtype);
  tensor.set_data(values.data(), values.size() * sizeof(T));
}

wire::PredictRequest as_message(const Sample& sample) {
  wire::PredictRequest request;
  wire::Tensor& dense = *request.add_inputs();
  fill(dense, "dense_input", "float32", sample.dense);
  dense.add_shape(1);
  dense.add_shape(kDense);
  for (int i = 0; i < kSlots; ++i) {
    const auto& ids = sample.slots[static_cast<size_t>(i)];
    wire::Tensor& slot = *request.add_inputs();
    fill(slot, fmt::format("C{}", i + 1), "int64", ids);
    slot.add_shape(static_cast<int64_t>(ids.size()));
    slot.add_shape(1);
    wire::Level& level = *slot.add_lod();
    level.add_offsets(0);
    level.add_offsets(static_cast<int64_t>(ids.size()));
  }
  return request;
}

[[noreturn]] void fail(const std::string& why) {
  fmt::print(stderr, "predict_load: {}\n", why);
  std::exit(1);
}

// Sends the n-th request and waits for its answer. One of them per connection, of one thread.
using Ask = std::function<void(size_t)>;

Ask by_http(const std::string& host, int port) {
  auto client = std::make_shared<httplib::Client>(host, port);
  client->set_keep_alive(true);
  client->set_tcp_nodelay(true);
  std::vector<std::string> bodies;
  for (const Sample& sample : samples()) bodies.push_back(as_json(sample));
  return [client, bodies](size_t n) {
    const auto answer = client->Post("/v1/models/ctr:predict", bodies[n % bodies.size()], "application/json");
    if (!answer || answer->status != 200) fail(answer ? answer->body : httplib::to_string(answer.error()));
  };
}

Ask by_grpc(const std::string& host, int port) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection for each
  const auto channel = grpc::CreateCustomChannel(fmt::format("{}:{}", host, port), grpc::InsecureChannelCredentials(), arguments);
  std::vector<wire::PredictRequest> requests;
  for (const Sample& sample : samples()) requests.push_back(as_message(sample));
  return [channel, requests](size_t n) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    wire::PredictReply reply;
    const grpc::internal::RpcMethod method(kMethod, grpc::internal::RpcMethod::NORMAL_RPC);
    const grpc::Status status = grpc::internal::BlockingUnaryCall<wire::PredictRequest, wire::PredictReply,
                                                                  google::protobuf::MessageLite, google::protobuf::MessageLite>(
        channel.get(), method, &context, requests[n % requests.size()], &reply);
    if (!status.ok()) fail(status.error_message());
  };
}

void measure(const std::string& what, const std::vector<Ask>& asks, double seconds) {
  std::vector<double> all;
  std::mutex mutex;
  const argosy::Stopwatch watch;
  {
    std::vector<std::jthread> threads;
    for (const Ask& ask : asks) {
      threads.emplace_back([&] {
        std::vector<double> mine;
        for (size_t n = 0; watch.seconds() < seconds; ++n) {
          const argosy::Stopwatch one;
          ask(n);
          mine.push_back(one.seconds() * 1e6);
        }
        const std::lock_guard lock(mutex);
        all.insert(all.end(), mine.begin(), mine.end());
      });
    }
  }
  const double taken = watch.seconds();
  std::sort(all.begin(), all.end());
  const auto part = [&](double share) { return all[static_cast<size_t>(share * static_cast<double>(all.size() - 1))]; };
  fmt::print("{{\"what\": \"{}.{}\", \"samples_per_second\": {:.1f}, \"p50_us\": {:.1f}, \"p99_us\": {:.1f}}}\n", what,
             asks.size(), static_cast<double>(all.size()) / taken, part(0.5), part(0.99));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) fail("give http|grpc HOST PORT CONNECTIONS SECONDS");
  const std::string what = argv[1], host = argv[2];
  std::vector<Ask> asks;
  for (int i = 0; i < std::atoi(argv[4]); ++i) {
    asks.push_back(what == "grpc" ? by_grpc(host, std::atoi(argv[3])) : by_http(host, std::atoi(argv[3])));
  }
  if (asks.empty()) fail("CONNECTIONS is 1 or more");
  measure(what, asks, 1);
  measure(what, asks, std::atof(argv[5]));
}
