"""Every public callable of paddle says what it does, and shows it by an example that runs."""

import pathlib
import subprocess
import sys

import docstring_examples as examples

# Defined in C++, where their text has no example yet. A name that has got one leaves this list, and no name comes to it.
LAYERS = """
    accuracy adaptive_pool2d assign auc autoincreased_step_counter batch_norm continuous_value_model conv2d conv2d_transpose create_global_var
    create_parameter create_tensor cross_entropy data dropout dynamic_gru dynamic_lstm embedding expand fc fill_constant fill_constant_batch_size_like
    gaussian_random gru_unit label_smooth layer_norm linspace lod_append lod_reset log_softmax lstm_unit mse_loss nce ones ones_like pool2d range
    reshape sampled_softmax_with_cross_entropy sequence_concat sequence_conv sequence_enumerate sequence_expand sequence_expand_as sequence_first_step
    sequence_last_step sequence_mask sequence_pad sequence_pool sequence_reshape sequence_reverse sequence_slice sequence_softmax sequence_unpad slice
    sparse_embedding split square_error_cost strided_slice uniform_random uniform_random_batch_size_like unique unique_with_counts unsqueeze unstack
    where zeros zeros_like
""".split()
CORE = [
    *(f"paddle.fluid.layers.{name}" for name in LAYERS),
    *"""
    paddle.fluid.LoDTensor paddle.fluid.Program paddle.fluid.Scope paddle.fluid.Variable
    paddle.fluid.default_main_program paddle.fluid.default_startup_program paddle.fluid.embedding paddle.fluid.framework.Block
    paddle.fluid.framework.Operator paddle.fluid.framework.Parameter paddle.fluid.global_scope paddle.fluid.initializer.Initializer
    paddle.fluid.regularizer.WeightDecayRegularizer
""".split(),
]


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
