// Sampling of images, folding and unpooling against plain loops; the loss of alignments against the sum over all of them.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "argosy/engine/ops/apply_op_test.h"

namespace argosy::engine {
namespace {

using testing::HasSubstr;
using Shape = std::vector<int64_t>;
using Sizes = std::vector<int32_t>;

class Grids : public OpTest {
 protected:
  static Variable affine(const Variable& theta, Sizes shape, bool align) {
    return apply_op("affine_grid", {{"Theta", {theta.name()}}}, {{"output_shape", std::move(shape)}, {"align_corners", align}},
                    {{"Output", DType::float64}})[0];
  }
  static Variable sampled(const Variable& x, const Variable& grid, graph::AttributeMap attributes = {}) {
    return apply_op("grid_sampler", {{"X", {x.name()}}, {"Grid", {grid.name()}}}, std::move(attributes),
                    {{"Output", DType::float64}})[0];
  }
};

// The middle of pixel `i` of `size`, from -1 to 1: the outer pixels' middles are the ends, or their edges are.
double middle(int64_t i, int64_t size, bool align) {
  const auto at = static_cast<double>(i), all = static_cast<double>(size);
  return align ? 2 * at / (all - 1) - 1 : (2 * at + 1) / all - 1;
}

TEST_F(Grids, AnAffineGridIsItsMatrixTimesEachPixelsPlace) {
  const Variable theta = data("theta", {-1, 2, 3});
  const at::Tensor matrices = at::randn({2, 2, 3}, at::kDouble);
  const Feed feed = {{"theta", {.tensor = matrices}}};
  for (const bool align : {true, false}) {
    const Variable grid = affine(theta, {2, 1, 3, 4}, align);
    EXPECT_EQ(grid.shape(), (Shape{-1, 3, 4, 2}));
    const at::Tensor found = run(feed, grid);
    for (int64_t row = 0; row < 3; ++row) {
      for (int64_t column = 0; column < 4; ++column) {
        const at::Tensor place = doubles({middle(column, 4, align), middle(row, 3, align), 1});
        EXPECT_TRUE(at::allclose(found.select(1, row).select(1, column), at::matmul(matrices, place))) << row << " " << column;
      }
    }
    check_gradients(grid, feed, {theta});
  }
}

TEST_F(Grids, AMatrixOfAnotherShapeThanTheImagesIsRefused) {
  const Variable theta = data("theta", {-1, 3, 4});
  EXPECT_THAT(error_of({{"theta", {.tensor = at::zeros({2, 3, 4}, at::kDouble)}}}, affine(theta, {2, 1, 3, 4}, true)),
              HasSubstr("'theta' has shape [2, 3, 4], expected [batch, 2, 3] for images and [batch, 3, 4] for volumes"));
}

// The value between four pixels, each weighted by how near it is; outside are zeros, or the pixels of the border.
double bilinear(const at::Tensor& image, double x, double y, bool border) {
  const auto height = image.size(0), width = image.size(1);
  const auto pixel = [&](int64_t row, int64_t column) {
    const bool inside = row >= 0 && row < height && column >= 0 && column < width;
    if (!inside && !border) return 0.0;
    return image[std::clamp<int64_t>(row, 0, height - 1)][std::clamp<int64_t>(column, 0, width - 1)].item<double>();
  };
  const double column = (x + 1) / 2 * static_cast<double>(width - 1), row = (y + 1) / 2 * static_cast<double>(height - 1);
  const auto left = static_cast<int64_t>(std::floor(column)), top = static_cast<int64_t>(std::floor(row));
  const double right = column - static_cast<double>(left), below = row - static_cast<double>(top);
  return (1 - below) * ((1 - right) * pixel(top, left) + right * pixel(top, left + 1)) +
         below * ((1 - right) * pixel(top + 1, left) + right * pixel(top + 1, left + 1));
}

TEST_F(Grids, SamplesLieBetweenPixels) {
  const Variable x = data("x", {-1, 1, 3, 4}), grid = data("grid", {-1, 5, 2, 2});
  const at::Tensor image = at::rand({1, 1, 3, 4}, at::kDouble), places = 3 * at::rand({1, 5, 2, 2}, at::kDouble) - 1.5;
  const Feed feed = {{"x", {.tensor = image}}, {"grid", {.tensor = places}}};
  for (const bool border : {false, true}) {
    const Variable out = sampled(x, grid, {{"padding_mode", std::string(border ? "border" : "zeros")}});
    EXPECT_EQ(out.shape(), (Shape{-1, 1, 5, 2}));
    const at::Tensor found = run(feed, out);
    for (int64_t i = 0; i < 10; ++i) {
      const at::Tensor place = places.view({10, 2})[i];
      EXPECT_NEAR(found.view(-1)[i].item<double>(),
                  bilinear(image[0][0], place[0].item<double>(), place[1].item<double>(), border), 1e-9)
          << "border " << border << ", place " << place;
    }
    check_gradients(out, feed, {x});
  }
}

TEST_F(Grids, TheGridOfNoChangeGivesTheImageBack) {
  const Variable x = data("x", {-1, 2, 3, 4}), theta = data("theta", {-1, 2, 3});
  const at::Tensor image = at::rand({1, 2, 3, 4}, at::kDouble);
  for (const std::string mode : {"bilinear", "nearest"}) {
    const Variable out = sampled(x, affine(theta, {1, 2, 3, 4}, true), {{"mode", mode}});
    const Feed feed = {{"x", {.tensor = image}}, {"theta", {.tensor = doubles({1, 0, 0, 0, 1, 0}).view({1, 2, 3})}}};
    EXPECT_TRUE(at::allclose(run(feed, out), image)) << mode;
  }
}

TEST_F(Grids, AWordOfNoMeaningIsAnsweredWithThoseThatHaveOne) {
  const Variable x = data("x", {-1, 1, 3, 4}), grid = data("grid", {-1, 5, 2, 2});
  const Feed feed = {{"x", {.tensor = at::rand({1, 1, 3, 4}, at::kDouble)}},
                     {"grid", {.tensor = at::zeros({1, 5, 2, 2}, at::kDouble)}}};
  EXPECT_THAT(error_with(feed, [&] { return sampled(x, grid, {{"mode", std::string("cubic")}}); }),
              HasSubstr("attribute 'mode' is 'cubic', expected one of bilinear, nearest"));
  EXPECT_THAT(error_with(feed, [&] { return sampled(x, grid, {{"padding_mode", std::string("none")}}); }),
              HasSubstr("attribute 'padding_mode' is 'none', expected one of zeros, border, reflection"));
  EXPECT_THAT(refusal_of([&] { sampled(x, data("flat", {-1, 2})); }),
              HasSubstr("'x' [-1, 1, 3, 4] and 'flat' [-1, 2] do not fit"));
}

class Fold : public OpTest {
 protected:
  static Variable fold(const Variable& x, Sizes size, Sizes kernel, Sizes strides, Sizes paddings) {
    return apply_op("fold", {{"X", {x.name()}}},
                    {{"output_sizes", std::move(size)},
                     {"kernel_sizes", std::move(kernel)},
                     {"strides", std::move(strides)},
                     {"paddings", std::move(paddings)}},
                    {{"Y", DType::float64}})[0];
  }
};

// Each entry of a window is added to its pixel; what lies on the padding is left out. The four margins differ.
TEST_F(Fold, AddsWindowsUpWhereTheyOverlap) {
  const int64_t height = 5, width = 4, top = 1, left = 0, bottom = 0, right = 2;
  const int64_t rows = (height + top + bottom - 3) / 2 + 1, columns = (width + left + right - 2) / 1 + 1;
  const Variable x = data("x", {-1, 2 * 3 * 2, rows * columns});
  const Variable out = fold(x, {5, 4}, {3, 2}, {2, 1}, {1, 0, 0, 2});
  EXPECT_EQ(out.shape(), (Shape{-1, 2, 5, 4}));
  const at::Tensor windows = at::randn({1, 12, rows * columns}, at::kDouble);
  at::Tensor expected = at::zeros({1, 2, height, width}, at::kDouble);
  for (int64_t entry = 0; entry < 12; ++entry) {
    const int64_t channel = entry / 6, down = entry / 2 % 3, across = entry % 2;
    for (int64_t window = 0; window < rows * columns; ++window) {
      const int64_t y = window / columns * 2 + down - top, z = window % columns + across - left;
      if (y >= 0 && y < height && z >= 0 && z < width) expected[0][channel][y][z] += windows[0][entry][window];
    }
  }
  const Feed feed = {{"x", {.tensor = windows}}};
  EXPECT_TRUE(at::allclose(run(feed, out), expected));
  check_gradients(out, feed, {x});
}

TEST_F(Fold, SaysWhatDoesNotFit) {
  const Variable x = data("x", {-1, 10, 4});
  EXPECT_THAT(refusal_of([&] { fold(x, {4, 4}, {2, 2}, {2, 2}, {0, 0, 0, 0}); }),
              HasSubstr("the 10 entries of 'x' are no multiple of the window's 4"));
  EXPECT_THAT(refusal_of([&] { fold(x, {4, 4}, {5, 2}, {2, 2}, {0, 0}); }), HasSubstr("has not two numbers (paddings: four)"));
}

using Unpool = OpTest;

// Each maximum returns to its place, and nothing else is there.
TEST_F(Unpool, PutsMaximaBackWhereTheyWere) {
  const Variable x = data("x", {-1, 2, 2, 3}), places = data("places", {-1, 2, 2, -1}, DType::int32);
  const Variable out = apply_op("unpool", {{"X", {x.name()}}, {"Indices", {places.name()}}},
                                {{"ksize", Sizes{2, 2}}, {"strides", Sizes{2, 2}}, {"output_size", Sizes{4, 6}}})[0];
  EXPECT_EQ(out.shape(), (Shape{-1, 2, 4, 6}));
  const at::Tensor image = at::rand({1, 2, 4, 6}, at::kDouble) + 1;
  const auto [maxima, index] = at::max_pool2d_with_indices(image, {2, 2}, {2, 2});
  Feed feed = {{"x", {.tensor = maxima}}, {"places", {.tensor = index.to(at::kInt)}}};
  const at::Tensor found = run(feed, out);
  EXPECT_TRUE(at::equal(found.flatten(2).gather(2, index.flatten(2)), maxima.flatten(2)));
  EXPECT_EQ(at::count_nonzero(found).item<int64_t>(), maxima.numel());
  check_gradients(out, feed, {x});
  feed["places"].tensor = index.to(at::kInt).narrow(3, 0, 2);
  EXPECT_THAT(error_of(feed, out), HasSubstr("'x' and 'places' have different shapes"));
}

TEST_F(Unpool, NeedsTheSizeOfItsResult) {
  const Variable x = data("x", {-1, 2, 2, 3}), places = data("places", {-1, 2, 2, 3}, DType::int32);
  const auto unpool = [&](const Variable& values, Sizes size) {
    apply_op("unpool", {{"X", {values.name()}}, {"Indices", {places.name()}}}, {{"output_size", std::move(size)}});
  };
  EXPECT_THAT(refusal_of([&] { unpool(x, {4}); }), HasSubstr("output_size has 1 values, expected 2"));
  EXPECT_THAT(refusal_of([&] { unpool(data("row", {-1}), {4}); }), HasSubstr("'row' has shape [-1], expected"));
}

using Paths = OpTest;

// From each beam of the last step back along its parents, as one would walk it by hand.
TEST_F(Paths, ABeamSearchIsReadBackwards) {
  constexpr int64_t kSteps = 4, kBatch = 2, kBeams = 3;
  const Variable ids = data("ids", {kSteps, -1, kBeams}, DType::int64);
  const Variable parents = data("parents", {-1, -1, kBeams}, DType::int64);
  const Variable out =
      apply_op("gather_tree", {{"Ids", {ids.name()}}, {"Parents", {parents.name()}}}, {}, {{"Out", DType::int64}})[0];
  const at::Tensor words = at::randint(0, 100, {kSteps, kBatch, kBeams}, at::kLong);
  const at::Tensor before = at::randint(0, kBeams, {kSteps, kBatch, kBeams}, at::kLong);
  const at::Tensor found = run({{"ids", {.tensor = words}}, {"parents", {.tensor = before}}}, out);
  for (int64_t sample = 0; sample < kBatch; ++sample) {
    for (int64_t last = 0; last < kBeams; ++last) {
      int64_t beam = last;
      for (int64_t step = kSteps - 1; step >= 0; --step) {
        EXPECT_EQ(found[step][sample][last].item<int64_t>(), words[step][sample][beam].item<int64_t>())
            << "step " << step << " of beam " << last;
        beam = before[step][sample][beam].item<int64_t>();
      }
    }
  }
  EXPECT_THAT(error_of({{"ids", {.tensor = words}}, {"parents", {.tensor = before.narrow(0, 0, 2)}}}, out),
              HasSubstr("'ids' and 'parents' are not both [time, batch, beam]"));
}

// The words of a path: runs of one class are one word, and class 0 is none.
std::vector<int64_t> words_of(const std::vector<int64_t>& path) {
  std::vector<int64_t> words;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] != 0 && (i == 0 || path[i] != path[i - 1])) words.push_back(path[i]);
  }
  return words;
}

// The probability of a label is the sum over all paths that read as it.
double alignment_loss(const at::Tensor& scores, const std::vector<int64_t>& label) {
  const at::Tensor chances = at::softmax(scores, -1);
  const int64_t steps = scores.size(0), classes = scores.size(1);
  double sum = 0;
  for (int64_t number = 0; number < std::pow(classes, steps); ++number) {
    std::vector<int64_t> path;
    double chance = 1;
    for (int64_t step = 0, rest = number; step < steps; ++step, rest /= classes) {
      path.push_back(rest % classes);
      chance *= chances[step][path.back()].item<double>();
    }
    if (words_of(path) == label) sum += chance;
  }
  return -std::log(sum);
}

class Alignment : public OpTest {
 protected:
  Variable loss(bool by_times) {
    return apply_op("warpctc",
                    {{"Logits", {"scores"}}, {"Label", {"label"}}, {"LogitsLength", {"steps"}}, {"LabelLength", {"words"}}},
                    {{"norm_by_times", by_times}}, {{"Loss", DType::float64}})[0];
  }
  const Variable scores_ = data("scores", {4, -1, 3});
  const Variable label_ = data("label", {-1, 2}, DType::int32), steps_ = data("steps", {-1}, DType::int64),
                 words_ = data("words", {-1}, DType::int64);
  // Two sequences: of 4 and 3 steps, with 2 words and 1.
  const Feed feed_ = {{"scores", {.tensor = at::randn({4, 2, 3}, at::kDouble)}},
                      {"label", {.tensor = at::tensor({2, 1, 1, 0}, at::kInt).view({2, 2})}},
                      {"steps", {.tensor = longs({4, 3})}},
                      {"words", {.tensor = longs({2, 1})}}};
};

TEST_F(Alignment, TheLossIsThatOfAllPathsTogether) {
  const Variable out = loss(false);
  EXPECT_EQ(out.shape(), (Shape{-1, 1}));
  const at::Tensor found = run(feed_, out), scores = feed_.at("scores").tensor;
  EXPECT_NEAR(found[0][0].item<double>(), alignment_loss(scores.select(1, 0), {2, 1}), 1e-9);
  EXPECT_NEAR(found[1][0].item<double>(), alignment_loss(scores.select(1, 1).narrow(0, 0, 3), {1}), 1e-9);
  check_gradients(out, feed_, {scores_});
}

TEST_F(Alignment, DividedByTimesItsGradientIsSmallerAndItsValueIsNot) {
  const Variable plain = loss(false), shared = loss(true);
  EXPECT_TRUE(at::allclose(run(feed_, plain), run(feed_, shared)));
  const at::Tensor whole = run(feed_, graph::gradients({plain}, {scores_})[0]);
  const at::Tensor part = run(feed_, graph::gradients({shared}, {scores_})[0]);
  EXPECT_TRUE(at::allclose(part.select(1, 0) * 4, whole.select(1, 0)));
  EXPECT_TRUE(at::allclose(part.select(1, 1) * 3, whole.select(1, 1)));
}

}  // namespace
}  // namespace argosy::engine
