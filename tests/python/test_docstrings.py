"""Every public callable of paddle says what it does, and shows it by an example that runs."""
import pathlib
import subprocess
import sys

import docstring_examples as examples

# Defined in C++, where their text has no example yet. A name that has got one leaves this list, and no name comes to it.
LAYERS = """
    abs accuracy acos adaptive_pool2d argmax argmin argsort asin assign atan auc autoincreased_step_counter batch_norm bmm bpr_loss cast ceil clip
    clip_by_norm concat continuous_value_model conv2d conv2d_transpose cos cos_sim create_global_var create_parameter create_tensor cross_entropy
    cumsum data dot dropout dynamic_gru dynamic_lstm elementwise_add elementwise_div elementwise_floordiv elementwise_max elementwise_min
    elementwise_mod elementwise_mul elementwise_pow elementwise_sub elu embedding equal erf exp expand expand_as fc fill_constant
    fill_constant_batch_size_like flatten floor gather gather_nd gaussian_random gelu greater_equal greater_than gru_unit hard_sigmoid hard_swish
    has_inf has_nan hash huber_loss increment isfinite kldiv_loss l2_normalize label_smooth layer_norm leaky_relu less_equal less_than linspace
    lod_append lod_reset log log_loss log_softmax logical_and logical_not logical_or logical_xor logsigmoid lstm_unit margin_rank_loss matmul mean
    mse_loss mul nce not_equal one_hot ones ones_like pad pool2d pow range rank_loss reciprocal reduce_all reduce_any reduce_max reduce_mean
    reduce_min reduce_prod reduce_sum relu relu6 reshape reverse round rsqrt sampled_softmax_with_cross_entropy scale scatter sequence_concat
    sequence_conv sequence_enumerate sequence_expand sequence_expand_as sequence_first_step sequence_last_step sequence_mask sequence_pad
    sequence_pool sequence_reshape sequence_reverse sequence_slice sequence_softmax sequence_unpad shape sigmoid sigmoid_cross_entropy_with_logits
    sign sin size slice smooth_l1 softmax softmax_with_cross_entropy softplus softsign sparse_embedding split sqrt square square_error_cost squeeze
    stack strided_slice sum sums swish tanh tanh_shrink topk transpose uniform_random uniform_random_batch_size_like unique unique_with_counts
    unsqueeze unstack where zeros zeros_like
""".split()
CORE = [*(f"paddle.fluid.layers.{name}" for name in LAYERS), *"""
    paddle.fluid.LoDTensor paddle.fluid.Program paddle.fluid.Scope paddle.fluid.Variable paddle.fluid.clip.GradientClipBase
    paddle.fluid.default_main_program paddle.fluid.default_startup_program paddle.fluid.embedding paddle.fluid.framework.Block
    paddle.fluid.framework.Operator paddle.fluid.framework.Parameter paddle.fluid.global_scope paddle.fluid.initializer.Initializer
    paddle.fluid.one_hot paddle.fluid.regularizer.WeightDecayRegularizer
""".split()]


def lacking():
    """The names of callables without an example."""
    return {name: value for name, value in examples.callables() if ">>>" not in examples.docstring(value)}


def test_there_are_callables():
    assert len(examples.callables()) > 1000


def test_every_callable_has_a_docstring():
    assert [name for name, value in examples.callables() if not examples.docstring(value) and name not in CORE] == []


def test_every_callable_has_an_example():
    assert sorted(set(lacking()) - set(CORE)) == []


def test_the_list_of_those_without_one_is_as_short_as_it_can_be():
    missing = lacking()
    assert sorted(set(CORE) - set(missing)) == [], "these have an example now: take them out of CORE"
    assert [name for name in CORE if not examples.is_core(missing[name])] == []


# In a process of its own: examples take roles in jobs.
def test_the_examples_run():
    done = subprocess.run([sys.executable, pathlib.Path(examples.__file__)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-5000:]
    assert int(done.stdout.split()[0]) > 1000


# What the checker takes as equal, so that a wrong number is seen.
def test_numbers_may_differ_in_the_last_digits_only():
    same = examples._Checker().check_output
    assert same("[0.6931472 1.]\n", "[0.6931471 1.]\n", 0)
    assert not same("[0.6931472]\n", "[0.7]\n", 0) and not same("[1, 2]\n", "[1, 3]\n", 0) and not same("[1.0]\n", "[1.0, 1.0]\n", 0)
