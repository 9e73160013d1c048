#include "argosy/engine/program/step_capture.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "argosy/engine/ops/layer_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/engine/program/device.h"
#include "argosy/engine/program/recorded_calls_test.h"
#include "argosy/engine/remote/context.h"
#include "argosy/engine/remote/peers.h"
#include "argosy/graph/layers.h"
#include "argosy/graph/layers/control_flow.h"
#include "argosy/graph/minimize.h"

namespace argosy::engine {

// A function that is made of others is seen by its parts: what autograd keeps of them must be computed again by a replay too.
void record_call(const c10::OperatorHandle& function, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  const c10::DispatchKeySet below = keys.remove(kRecordedCalls);
  if (function.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd)) {
    function.redispatchBoxed(below, stack);
    return;
  }
  const c10::impl::ExcludeDispatchKeyGuard alone(kRecordedCalls);
  const auto& schema = function.schema();
  const size_t count = schema.arguments().size();
  RecordedCall call{.function = function, .inputs = {stack->end() - static_cast<int64_t>(count), stack->end()}};
  for (size_t i = 0; i < count; ++i) {
    if (schema.arguments()[i].alias_info() == nullptr || !schema.arguments()[i].alias_info()->isWrite()) continue;
    const std::vector<at::Tensor> changed =
        call.inputs[i].isTensorList() ? call.inputs[i].toTensorVector() : std::vector<at::Tensor>{call.inputs[i].toTensor()};
    for (const at::Tensor& tensor : changed) written_in_place->emplace_back(tensor, tensor.detach().clone());
  }
  function.redispatchBoxed(below, stack);
  call.outputs.assign(stack->end() - static_cast<int64_t>(schema.returns().size()), stack->end());
  calls_of_recording->push_back(std::move(call));
}

namespace {

const c10::RegistrationHandleRAII kRecordsCalls = c10::Dispatcher::singleton().registerFallback(
    kRecordedCalls, c10::KernelFunction::makeFromBoxedFunction<&record_call>(), "calls that tests record");

namespace L = argosy::layers;
using testing::HasSubstr;
using testing::IsEmpty;

// On a GPU the steps are recorded there. On the CPU by RecordedCalls, with kernels that go by torch's functions.
class StepCaptureTest : public LayerTest {
 protected:
  StepCaptureTest() {
    if (!test_device().is_cpu()) return;
    recordings_.emplace([] { return std::unique_ptr<capture::Recording>(std::make_unique<RecordedCalls>()); });
    walks_.emplace();
  }

  // What `steps` runs of the program fetch, from the first values of the startup program, and the parameters at the end.
  struct Trained {
    std::vector<std::vector<at::Tensor>> fetched;
    std::map<std::string, at::Tensor> variables;
    CaptureReport report;
  };
  Trained train(bool capture, int steps, const std::vector<std::string>& fetches, const std::function<Feed(int)>& feed,
                const std::function<void(int, Scope&)>& between = nullptr) {
    Runner runner({.capture = capture, .device = test_device()});
    Scope scope;
    startup_->random_seed = 5;
    value_or_throw(runner.run(*startup_, {}, {}, scope));
    Trained trained;
    for (int step = 0; step < steps; ++step) {
      if (between) between(step, scope);
      trained.fetched.emplace_back();
      for (const Value& value : value_or_throw(runner.run(*main_, feed(step), fetches, scope)))
        trained.fetched.back().push_back(value.tensor);
    }
    for (const std::string& name : scope.names()) {
      if (scope.find(name)->tensor.defined()) trained.variables[name] = scope.find(name)->tensor.cpu();
    }
    trained.report = runner.capture_report(*main_);
    return trained;
  }

  void expect_equal(const Trained& plain, const Trained& captured) {
    for (size_t step = 0; step < plain.fetched.size(); ++step) {
      for (size_t i = 0; i < plain.fetched[step].size(); ++i)
        EXPECT_TRUE(at::allclose(plain.fetched[step][i], captured.fetched[step][i], 1e-4, 1e-5))
            << "step " << step << ", fetch " << i << "\n"
            << plain.fetched[step][i] << "\n"
            << captured.fetched[step][i];
    }
    ASSERT_EQ(plain.variables.size(), captured.variables.size());
    for (const auto& [name, tensor] : plain.variables)
      EXPECT_TRUE(at::allclose(tensor, captured.variables.at(name), 1e-4, 1e-5)) << name;
  }

  static Feed random_feed(int step, int64_t samples = 8) {
    const at::Generator source = at::make_generator<at::CPUGeneratorImpl>(static_cast<uint64_t>(step) + 11);
    const at::Tensor x = at::randn({samples, 6}, source), ids = at::randint(0, 20, {samples, 3}, source, at::kLong);
    return {{"x", {.tensor = x}}, {"ids", {.tensor = ids}}, {"label", {.tensor = (x.sum(1, true) > 0).to(at::kLong)}}};
  }

 private:
  std::optional<capture::OtherRecordings> recordings_;
  std::optional<NoMemoryWalks> walks_;
};

TEST_F(StepCaptureTest, ARecordingMakesTheSameCallsOnTheSameMemory) {
  if (!test_device().is_cpu()) GTEST_SKIP() << "of the recording for tests on the CPU";
  RecordedCalls recording;
  const at::Tensor sum = at::zeros({3}), given = at::ones({3}).set_requires_grad(true);
  float known = 1;
  const auto work = [&] {
    const at::Tensor loss = at::linear(given.reshape({1, 3}), at::ones({2, 3})).exp().sum() * known;
    loss.backward();
    sum.add_(given.grad());
    given.mutable_grad().reset();
    return Status();
  };
  ASSERT_EQ(recording.record(work), Status());
  EXPECT_EQ(sum.abs().sum().item<float>(), 0) << "a recording computes nothing";
  known = 100;  // by the CPU: no replay sees it
  given.detach().zero_();
  ASSERT_EQ(recording.replay(), Status());
  EXPECT_TRUE(at::allclose(sum, at::full({3}, 2.0))) << sum;
  ASSERT_EQ(recording.replay(), Status());
  EXPECT_TRUE(at::allclose(sum, at::full({3}, 4.0))) << sum;
}

// What a model of clicks is made of, and a rule whose numbers change with the step.
TEST_F(StepCaptureTest, ReplaysTrainAsStepsThatRunAsTheyAre) {
  const Variable x = data("x", {-1, 6}, DType::float32), ids = data("ids", {-1, 3}, DType::int64);
  const Variable label = data("label", {-1, 1}, DType::int64);
  const Variable rows = L::reshape(L::embedding_v2(ids, {20, 4}, {.is_sparse = true}), {-1, 12});
  const Variable hidden = L::batch_norm(L::fc(L::concat({rows, x}, 1), 8, {.act = "relu"}));
  const Variable predict = L::fc(hidden, 2, {.act = "softmax"});
  const Variable loss = L::mean(L::cross_entropy(predict, label)), accuracy = L::accuracy(predict, label);
  const auto auc = L::auc(predict, label);
  graph::minimize(
      optim::Adam{
          .learning_rate = 0.05, .regularization = optim::L2Decay{1e-3}, .grad_clip = optim::GradientClipByGlobalNorm{0.5}},
      loss);
  const std::vector<std::string> fetches = {loss.name(), accuracy.name(), auc.value.name()};
  const auto feed = [](int step) { return random_feed(step); };
  const Trained plain = train(false, 12, fetches, feed), captured = train(true, 12, fetches, feed);
  expect_equal(plain, captured);
  EXPECT_THAT(captured.report.why_not, IsEmpty());
  EXPECT_EQ(captured.report.replays, 12 - 3);
  EXPECT_EQ(plain.report.replays, 0);
}

class CapturedRule : public StepCaptureTest, public testing::WithParamInterface<std::string> {};

// A rate that somebody sets between two steps, and the numbers that a rule advances, hold for the next replay.
TEST_P(CapturedRule, TakesItsNumbersFromWhereTheyAre) {
  const Variable loss = L::mean(L::square(L::fc(data("x", {-1, 6}, DType::float32), 1)));
  const auto made = graph::minimize(optim::Optimizer{.rule = GetParam(), .learning_rate = 0.1}, loss);
  const auto feed = [](int step) { return Feed{{"x", random_feed(step).at("x")}}; };
  const auto set_rate = [&](int step, Scope& scope) {
    Value* rate = scope.find(made.learning_rate.name());
    if (step == 6) rate->tensor.fill_(0.02);
    if (step == 8) rate->tensor = at::full({1}, 0.2f);  // another tensor, on the CPU
  };
  const Trained plain = train(false, 10, {loss.name()}, feed, set_rate),
                captured = train(true, 10, {loss.name()}, feed, set_rate);
  expect_equal(plain, captured);
  EXPECT_EQ(captured.report.replays, 7) << captured.report.why_not;
}

std::vector<std::string> rule_names() {
  std::vector<std::string> names;
  for (const optim::RuleInfo& info : optim::all_rules()) {
    if (info.op_type != optim::kRunningMean) names.emplace_back(info.op_type);
  }
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, CapturedRule, testing::ValuesIn(rule_names()), [](const auto& info) { return info.param; });

TEST_F(StepCaptureTest, AStepWithAnotherShapeRunsAsItIs) {
  const Variable loss = L::mean(L::square(L::fc(data("x", {-1, 6}, DType::float32), 1)));
  graph::minimize(optim::Adam{.learning_rate = 0.1}, loss);
  const auto feed = [](int step) { return Feed{{"x", random_feed(step, step % 5 == 4 ? 3 : 8).at("x")}}; };
  const Trained plain = train(false, 20, {loss.name()}, feed), captured = train(true, 20, {loss.name()}, feed);
  expect_equal(plain, captured);
  EXPECT_EQ(captured.report.replays, 20 - 3 - 4);
  EXPECT_THAT(captured.report.why_not, IsEmpty());
}

TEST_F(StepCaptureTest, ShapesThatStayOthersAreRecordedAnew) {
  const Variable loss = L::mean(L::square(L::fc(data("x", {-1, 6}, DType::float32), 1)));
  graph::minimize(optim::SGD{.learning_rate = 0.1}, loss);
  const auto feed = [](int step) { return Feed{{"x", random_feed(step, step < 6 ? 8 : 5).at("x")}}; };
  const Trained plain = train(false, 24, {loss.name()}, feed), captured = train(true, 24, {loss.name()}, feed);
  expect_equal(plain, captured);
  EXPECT_EQ(captured.report.replays, 3 + (24 - 6 - 7 - 3)) << captured.report.why_not;
}

TEST_F(StepCaptureTest, ShapesThatAlwaysChangeAreTheReasonThatIsGiven) {
  const Variable loss = L::mean(L::square(L::fc(data("x", {-1, 6}, DType::float32), 1)));
  graph::minimize(optim::SGD{.learning_rate = 0.1}, loss);
  const auto feed = [](int step) { return Feed{{"x", random_feed(step, 2 + step).at("x")}}; };
  const Trained plain = train(false, 12, {loss.name()}, feed), captured = train(true, 12, {loss.name()}, feed);
  expect_equal(plain, captured);
  EXPECT_EQ(captured.report.replays, 0);
  EXPECT_THAT(captured.report.why_not, HasSubstr("what is fed changes from step to step: variable 'x' was ["));
}

TEST_F(StepCaptureTest, SequencesOfEqualLengthsAreReplayedAndOthersNot) {
  const Variable ids = data("words", {-1, 1}, DType::int64, 1);
  const Variable pooled = L::sequence_pool(L::embedding(ids, {20, 4}, {.is_sparse = true}), "sum");
  const Variable loss = L::mean(L::square(L::fc(pooled, 1)));
  graph::minimize(optim::Adam{.learning_rate = 0.1}, loss);
  const auto feed = [](int step) {
    const at::Tensor words = random_feed(step).at("ids").tensor.slice(1, 0, 1).contiguous();
    return Feed{{"words", {.tensor = words, .lod = lod(step == 7 ? Lod{{0, 1, 8}} : Lod{{0, 1, 2, 3, 4, 5, 6, 7, 8}})}}};
  };
  const Trained plain = train(false, 10, {loss.name()}, feed), captured = train(true, 10, {loss.name()}, feed);
  expect_equal(plain, captured);
  EXPECT_EQ(captured.report.replays, 6) << captured.report.why_not;
}

TEST_F(StepCaptureTest, FedValuesAreCheckedBeforeEachReplay) {
  const Variable ids = data("ids", {-1, 3}, DType::int64);
  const Variable loss = L::mean(L::square(L::embedding_v2(ids, {20, 4}, {.is_sparse = true, .param = ParamAttr("table")})));
  graph::minimize(optim::SGD{.learning_rate = 0.1}, loss);
  Runner runner({.capture = true, .device = test_device()});
  value_or_throw(runner.run(*startup_, {}, {}, scope_));
  const Feed feed = {{"ids", random_feed(1).at("ids")}};
  for (int step = 0; step < 5; ++step) value_or_throw(runner.run(*main_, feed, {}, scope_));
  EXPECT_EQ(runner.capture_report(*main_).replays, 2);
  const at::Tensor before = stored("table").clone();
  Feed wrong = feed;
  wrong["ids"].tensor = wrong["ids"].tensor.clone();
  wrong["ids"].tensor[2][1] = 20;
  EXPECT_THAT(runner.run(*main_, wrong, {}, scope_).status().message(),
              HasSubstr("variable 'ids': id 20 at position 7 is outside the table 'table' with 20 rows"));
  EXPECT_TRUE(at::equal(stored("table"), before));
}

TEST_F(StepCaptureTest, DropoutDrawsAnewInEachReplay) {
  const Variable x = data("x", {-1, 64}, DType::float32);
  const Variable dropped = L::dropout(x, 0.5f), loss = L::mean(L::fc(dropped, 1));
  graph::minimize(optim::SGD{.learning_rate = 0.0}, loss);
  const auto feed = [](int) { return Feed{{"x", {.tensor = at::ones({4, 64})}}}; };
  const Trained captured = train(true, 6, {dropped.name()}, feed);
  EXPECT_EQ(captured.report.replays, 3) << captured.report.why_not;
  EXPECT_FALSE(at::equal(captured.fetched[4][0], captured.fetched[5][0]));
  EXPECT_NEAR(captured.fetched[5][0].mean().item<float>(), 0.5, 0.2);
}

struct Refusal {
  std::string name;
  std::function<Variable(const Variable&)> build;  // from x [-1, 6], something to take the mean of
  std::string why;
  uint64_t seed = 0;
};
std::ostream& operator<<(std::ostream& out, const Refusal& one) { return out << one.name; }

class CaptureRefusal : public StepCaptureTest, public testing::WithParamInterface<Refusal> {};

TEST_P(CaptureRefusal, NamesTheOperatorAndTrainsAsItIs) {
  const Variable x = data("x", {-1, 6}, DType::float32);
  const Variable loss = L::mean(L::square(L::fc(GetParam().build(x), 1)));
  graph::minimize(optim::SGD{.learning_rate = 0.1}, loss);
  main_->random_seed = static_cast<int64_t>(GetParam().seed);
  const auto feed = [](int step) { return Feed{{"x", random_feed(step).at("x")}}; };
  const Trained plain = train(false, 6, {loss.name()}, feed), captured = train(true, 6, {loss.name()}, feed);
  expect_equal(plain, captured);
  EXPECT_EQ(captured.report.replays, 0);
  EXPECT_THAT(captured.report.why_not, HasSubstr(GetParam().why));
}

INSTANTIATE_TEST_SUITE_P(
    All, CaptureRefusal,
    testing::Values(Refusal{"clip_by_norm", [](const Variable& x) { return L::clip_by_norm(L::fc(x, 4), 1.0f); },
                            "operator 'clip_by_norm' calls aten::_local_scalar_dense, which waits for the device"},
                    Refusal{"condition",
                            [](const Variable& x) {
                              const Variable one = L::fill_constant({1}, DType::int64, 1),
                                             two = L::fill_constant({1}, DType::int64, 2);
                              const auto branch = [&](float factor) {
                                return [&, factor] { return std::vector{L::scale(x, factor)}; };
                              };
                              return L::reshape(L::cond(L::less_than(one, two), branch(2), branch(3))[0], {-1, 6});
                            },
                            "calls aten::_local_scalar_dense, which waits for the device"},
                    Refusal{"shape_of_a_tensor",
                            [](const Variable& x) {
                              return L::reshape(L::reshape(x, L::Numbers(L::fill_constant({1}, DType::int32, 48))), {-1, 6});
                            },
                            "reads 'fill_constant_0.tmp_0' on the CPU"},
                    Refusal{"seeded", [](const Variable& x) { return L::dropout(x, 0.5f); },
                            "operator 'dropout' draws random numbers by a seed", 7},
                    Refusal{"drawn", [](const Variable& x) { return L::elementwise_add(x, L::uniform_random({8, 6})); },
                            "operator 'uniform_random' draws random numbers on the CPU", 7}),
    [](const auto& info) { return info.param.name; });

// Another process, which has the same gradients.
class OnePeer final : public Peers {
 public:
  Result<int> count() override { return 2; }
  Status average(const std::vector<at::Tensor>&, const AverageOptions&) override { return {}; }
  Status take_from_first(const std::vector<at::Tensor>&) override { return {}; }
  Result<std::vector<std::string>> gather(const std::string& bytes) override { return std::vector{bytes, bytes}; }
  at::Tensor batch_norm(const at::Tensor& input, const PeerBatchNorm&) override { return input; }
};

TEST_F(StepCaptureTest, GradientsThatOtherProcessesTakePartInAreNamed) {
  const Variable loss = L::mean(L::square(L::fc(data("x", {-1, 6}, DType::float32), 1)));
  for (const auto& [param, grad] : graph::append_backward(loss)) {
    value_or_throw(main_->global_block().append_op(
        {.type = std::string(kAverageOp), .inputs = {{"X", {grad.name()}}}, .outputs = {{"Out", {grad.name()}}}}));
  }
  const auto context = std::make_shared<Context>();
  context->set_peers(std::make_shared<OnePeer>());
  Runner runner({.capture = true, .device = test_device()}, context);
  value_or_throw(runner.run(*startup_, {}, {}, scope_));
  for (int step = 0; step < 4; ++step) value_or_throw(runner.run(*main_, {{"x", random_feed(step).at("x")}}, {}, scope_));
  EXPECT_EQ(runner.capture_report(*main_).why_not,
            "operator 'average_gradients' exchanges gradients with other processes, which it waits for");
}

TEST_F(StepCaptureTest, AScheduleOfTheRateIsReadOnTheCpuAndNamed) {
  const Variable loss = L::mean(L::square(L::fc(data("x", {-1, 6}, DType::float32), 1)));
  graph::minimize(optim::SGD{.learning_rate = optim::exponential_decay(0.1, 2, 0.5, true)}, loss);
  const auto feed = [](int step) { return Feed{{"x", random_feed(step).at("x")}}; };
  const Trained plain = train(false, 6, {loss.name()}, feed), captured = train(true, 6, {loss.name()}, feed);
  expect_equal(plain, captured);
  EXPECT_THAT(captured.report.why_not, HasSubstr("operator 'learning_rate_schedule' calls aten::_local_scalar_dense"));
}

TEST_F(StepCaptureTest, AFetchOfRowsIsNamed) {
  const Variable ids = data("ids", {-1, 3}, DType::int64);
  const Variable loss = L::mean(L::square(L::embedding_v2(ids, {20, 4}, {.is_sparse = true})));
  const auto made = graph::minimize(optim::SGD{.learning_rate = 0.1}, loss);
  Runner runner({.capture = true, .device = test_device()});
  value_or_throw(runner.run(*startup_, {}, {}, scope_));
  for (int step = 0; step < 5; ++step)
    value_or_throw(runner.run(*main_, {{"ids", random_feed(step).at("ids")}}, {made.params_grads[0].grad.name()}, scope_));
  EXPECT_THAT(runner.capture_report(*main_).why_not, HasSubstr("fetch of '" + made.params_grads[0].grad.name()));
}

// A recording that fails has computed nothing: the step runs as it is, on what was there before.
class FailingRecording final : public capture::Recording {
 public:
  Status rehearse(const Work& work) override { return work(); }
  Status record(const Work& work) override {
    RETURN_IF_ERROR(inner_.record(work));
    return Status::internal("the device says no");
  }
  Status replay() override { return Status::internal("not recorded"); }

 private:
  RecordedCalls inner_;
};

TEST_F(StepCaptureTest, ARecordingThatFailsCostsNoStep) {
  if (!test_device().is_cpu()) GTEST_SKIP() << "of the recording for tests on the CPU";
  const Variable x = data("x", {-1, 6}, DType::float32);
  const Variable loss = L::mean(L::square(L::fc(L::batch_norm(x), 1)));
  const Variable counter = graph::step_counter();
  graph::minimize(optim::Adam{.learning_rate = 0.1}, loss);
  const auto feed = [](int step) { return Feed{{"x", random_feed(step).at("x")}}; };
  const Trained plain = train(false, 6, {loss.name(), counter.name()}, feed);
  const capture::OtherRecordings failing(
      [] { return std::unique_ptr<capture::Recording>(std::make_unique<FailingRecording>()); });
  const Trained captured = train(true, 6, {loss.name(), counter.name()}, feed);
  expect_equal(plain, captured);
  EXPECT_EQ(captured.report.why_not, "the device says no");
}

// A counter is put into new memory by each step; a replay must find it where the one before left it.
TEST_F(StepCaptureTest, VariablesThatStepsReplaceStayInPlace) {
  const Variable loss = L::mean(L::square(L::fc(data("x", {-1, 6}, DType::float32), 1)));
  const Variable counter = graph::step_counter();
  graph::minimize(optim::SGD{.learning_rate = 0.1}, loss);
  const auto feed = [](int step) { return Feed{{"x", random_feed(step).at("x")}}; };
  const Trained plain = train(false, 9, {counter.name()}, feed), captured = train(true, 9, {counter.name()}, feed);
  expect_equal(plain, captured);
  EXPECT_EQ(captured.report.replays, 6) << captured.report.why_not;
}

TEST(StepCaptureOnTheCpu, SaysThatItNeedsAGpuAndTrains) {
  const auto main = graph::Program::create(), startup = graph::Program::create();
  const graph::ProgramGuard programs(main, startup);
  const Variable x = L::data("x", {6}, DType::float32);
  graph::minimize(optim::SGD{.learning_rate = 0.1}, L::mean(L::fc(x, 1)));
  Runner runner({.capture = true});
  Scope scope;
  value_or_throw(runner.run(*startup, {}, {}, scope));
  value_or_throw(runner.run(*main, {{"x", {.tensor = at::ones({2, 6})}}}, {}, scope));
  EXPECT_THAT(runner.capture_report(*main).why_not, HasSubstr("work is recorded on a GPU, and this is for cpu"));
}

}  // namespace
}  // namespace argosy::engine
