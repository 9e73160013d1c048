"""Prints rows of schedule_goldens.h: the learning rates that another framework's schedule gives at its first steps.

    python make_schedule_goldens.py fluid    # PaddlePaddle 1.8.5: what a program fetches in its first runs
    python make_schedule_goldens.py paddle2  # PaddlePaddle 2.6.2: the schedulers' values, step() after each
"""

import sys

STEPS = 14


def fluid_rows():
    import paddle.fluid as fluid
    layers = fluid.layers
    cases = [
        ("noam_decay(64, 5)", lambda: layers.noam_decay(64, 5)),
        ("noam_decay(64, 5, 2.0)", lambda: layers.noam_decay(64, 5, 2.0)),
        ("exponential_decay(0.1, 4, 0.5)", lambda: layers.exponential_decay(0.1, 4, 0.5)),
        ("exponential_decay(0.1, 4, 0.5, true)", lambda: layers.exponential_decay(0.1, 4, 0.5, True)),
        ("natural_exp_decay(0.1, 4, 0.5)", lambda: layers.natural_exp_decay(0.1, 4, 0.5)),
        ("natural_exp_decay(0.1, 4, 0.5, true)", lambda: layers.natural_exp_decay(0.1, 4, 0.5, True)),
        ("inverse_time_decay(0.1, 4, 0.5)", lambda: layers.inverse_time_decay(0.1, 4, 0.5)),
        ("inverse_time_decay(0.1, 4, 0.5, true)", lambda: layers.inverse_time_decay(0.1, 4, 0.5, True)),
        ("polynomial_decay(0.1, 5)", lambda: layers.polynomial_decay(0.1, 5)),
        ("polynomial_decay(0.1, 5, 0.01, 2.0)", lambda: layers.polynomial_decay(0.1, 5, 0.01, 2.0)),
        ("polynomial_decay(0.1, 5, 0.01, 0.5, true)", lambda: layers.polynomial_decay(0.1, 5, 0.01, 0.5, True)),
        ("piecewise_decay({3, 7}, {0.1, 0.02, 0.003})", lambda: layers.piecewise_decay([3, 7], [0.1, 0.02, 0.003])),
        ("cosine_decay(0.1, 3, 4)", lambda: layers.cosine_decay(0.1, 3, 4)),
        ("linear_lr_warmup(0.1, 5, 0.01, 0.2)", lambda: layers.linear_lr_warmup(0.1, 5, 0.01, 0.2)),
        ("linear_lr_warmup(exponential_decay(0.1, 4, 0.5), 5, 0.01, 0.2)",
         lambda: layers.linear_lr_warmup(layers.exponential_decay(0.1, 4, 0.5), 5, 0.01, 0.2)),
        ("linear_lr_warmup(noam_decay(64, 5), 5, 0.01, 0.2)",
         lambda: layers.linear_lr_warmup(layers.noam_decay(64, 5), 5, 0.01, 0.2)),
    ]
    for text, make in cases:
        main, startup = fluid.Program(), fluid.Program()
        with fluid.program_guard(main, startup), fluid.unique_name.guard():
            rate = make()
        with fluid.scope_guard(fluid.Scope()):
            executor = fluid.Executor(fluid.CPUPlace())
            executor.run(startup)
            yield text, [executor.run(main, fetch_list=[rate])[0][0] for _ in range(STEPS)]


def paddle2_rows():
    from paddle.optimizer import lr
    cases = [
        ("lr::NoamDecay{64, 5}", lr.NoamDecay(64, 5)),
        ("lr::ExponentialDecay{0.1, 0.5}", lr.ExponentialDecay(0.1, 0.5)),
        ("lr::NaturalExpDecay{0.1, 0.5}", lr.NaturalExpDecay(0.1, 0.5)),
        ("lr::InverseTimeDecay{0.1, 0.5}", lr.InverseTimeDecay(0.1, 0.5)),
        ("lr::PolynomialDecay{0.1, 5, 0.01, 2.0, true}", lr.PolynomialDecay(0.1, 5, 0.01, 2.0, True)),
        ("lr::PiecewiseDecay{{3, 7}, {0.1, 0.02, 0.003}}", lr.PiecewiseDecay([3, 7], [0.1, 0.02, 0.003])),
        ("lr::CosineAnnealingDecay{0.1, 5, 0.01}", lr.CosineAnnealingDecay(0.1, 5, 0.01)),
        ("lr::StepDecay{0.1, 3, 0.5}", lr.StepDecay(0.1, 3, 0.5)),
        ("lr::MultiStepDecay{0.1, {2, 5}, 0.5}", lr.MultiStepDecay(0.1, [2, 5], 0.5)),
        ("lr::LinearWarmup{0.1, 5, 0.01, 0.2}", lr.LinearWarmup(0.1, 5, 0.01, 0.2)),
        ("lr::LinearWarmup{lr::StepDecay{0.1, 3, 0.5}, 5, 0.01, 0.2}", lr.LinearWarmup(lr.StepDecay(0.1, 3, 0.5), 5, 0.01, 0.2)),
    ]
    for text, scheduler in cases:
        values = []
        for _ in range(STEPS):
            values.append(scheduler.get_lr() if not values else scheduler())
            scheduler.step()
        yield text, values


for text, values in {"fluid": fluid_rows, "paddle2": paddle2_rows}[sys.argv[1]]():
    print('    {"%s", %s,' % (text, text))
    print("     {%s}}," % ", ".join("%.9g" % v for v in values))
