// CTR-DNN against its own matrix products, in one process and one run: each round measures every way once, so that all of
// them meet the same noise. Prints one JSON object per line.
//
//   ctr_bench 'data/train/part-*' 'data/test/part-*' [ROUNDS]
//
// The AUC is of the test files after the round's pass over the training files, so that two ways that have made equally many
// passes can be compared. REQUIRES: the test files have kTestBatches batches.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "argosy/base/clock.h"
#include "bench/cpu_time.h"
#include "bench/ctr_model.h"

// oneDNN's product into memory that is given, as argosy/engine/ops/matmul.cc has it.
namespace at::native {
[[gnu::weak]] void mkldnn_matmul(const at::Tensor& a, const at::Tensor& b, const at::Tensor& result, float beta, float alpha);
}

namespace argosy::bench {
namespace {

// The products that forward and backward of a batch cannot do without.
class Products {
 public:
  Products() {
    const std::vector<int64_t> widths = {26 * kWidth + 13, kHidden, kHidden, kHidden, 2};
    for (size_t i = 0; i + 1 < widths.size(); ++i) {
      x_.push_back(at::randn({kBatch, widths[i]}));
      w_.push_back(at::randn({widths[i], widths[i + 1]}));
      g_.push_back(at::randn({kBatch, widths[i + 1]}));
      out_.push_back(at::empty({kBatch, widths[i + 1]}));
      grad_w_.push_back(at::empty_like(w_.back()));
      grad_x_.push_back(at::empty_like(x_.back()));
    }
  }

  // Seconds per step by `product`(a, b, result).
  template <class Product>
  double seconds(const Product& product) {
    constexpr int kSteps = 40;
    const Stopwatch watch;
    for (int step = 0; step < kSteps; ++step) {
      for (size_t i = 0; i < w_.size(); ++i) product(x_[i], w_[i], out_[i]);
      for (size_t i = w_.size(); i-- > 0;) {
        product(x_[i].t(), g_[i], grad_w_[i]);
        product(g_[i], w_[i].t(), grad_x_[i]);
      }
    }
    return watch.seconds() / kSteps;
  }

 private:
  std::vector<at::Tensor> x_, w_, g_, out_, grad_w_, grad_x_;
};

// By whichever is faster on this processor: libtorch's own product (MKL), or oneDNN's, which fc takes. A bound that only one of
// them sets can be passed by the other.
double gemm_seconds() {
  at::NoGradGuard no_grad;
  Products products;
  double seconds = products.seconds([](const at::Tensor& a, const at::Tensor& b, at::Tensor& out) { at::mm_out(out, a, b); });
  if (at::native::mkldnn_matmul == nullptr) return seconds;
  return std::min(seconds, products.seconds([](const at::Tensor& a, const at::Tensor& b, const at::Tensor& out) {
    at::native::mkldnn_matmul(a, b, out, /*beta=*/0, /*alpha=*/1);
  }));
}

struct Files {
  std::string train, test;
};

struct Speed {
  double samples_per_second = 0, samples_per_cpu_second = 0;
};

void print_row(int round, const char* what, const Speed& speed, double auc) {
  std::printf(
      "{\"round\": %d, \"what\": \"%s\", \"samples_per_second\": %.1f, \"samples_per_cpu_second\": %.1f, \"auc\": %.5f}\n", round,
      what, speed.samples_per_second, speed.samples_per_cpu_second, auc);
  std::fflush(stdout);
}

// One way to train: a model of its own, and its data in memory.
class Trial {
 public:
  Trial(const Files& files, ExecutorOptions options) : model_(make_ctr_model()), executor_(options) {
    executor_.run(model_.startup, {}, {}, &scope_);
    train_ = load(files.train);
    test_ = load(files.test);
  }

  void round(int number, const char* what, int threads) {
    const double cpu_before = cpu_seconds();
    const engine::TrainProgress trained = pass(*model_.main, *train_, threads).total;
    const Speed speed{trained.samples_per_second(), static_cast<double>(trained.samples) / (cpu_seconds() - cpu_before)};
    const double auc = pass(*model_.test, *test_, 1).last_fetches[0].tensor.item<double>();
    print_row(number, what, speed, auc);
  }

 private:
  std::unique_ptr<data::InMemoryDataset> load(const std::string& files) const {
    auto dataset = make_in_memory_dataset(
        {.use = model_.inputs, .files = glob(files), .format = ctr_format(), .batch_size = kBatch, .threads = 2});
    throw_if_error(dataset->load_into_memory());
    return dataset;
  }

  TrainReport pass(const Program& program, data::BatchSource& source, int threads) {
    engine::TrainOptions options{.fetch = {{"auc", model_.auc.batch_value.name()}}, .print_period = 1 << 30, .threads = threads};
    options.print = [](std::string_view) {};
    return value_or_throw(engine::train(executor_.runner(), program, source, options, scope_));
  }

  CtrModel model_;
  Scope scope_;
  Executor executor_;
  std::unique_ptr<data::InMemoryDataset> train_, test_;
};

void run(const Files& files, int rounds) {
  at::set_num_threads(1);
  Trial exact(files, {}), pair(files, {}), narrow(files, {.bfloat16_matmul = true});
  for (int round = 0; round < rounds; ++round) {
    const double bound = kBatch / gemm_seconds();
    print_row(round, "gemm_bound", {bound, bound}, 0);
    exact.round(round, "float32_1_thread", 1);
    pair.round(round, "float32_2_threads", 2);
    narrow.round(round, "bfloat16_1_thread", 1);
  }
}

}  // namespace
}  // namespace argosy::bench

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s 'TRAIN FILES' 'TEST FILES' [ROUNDS]\n", argv[0]);
    return 2;
  }
  argosy::bench::run({argv[1], argv[2]}, argc > 3 ? std::atoi(argv[3]) : 5);
} catch (const argosy::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
