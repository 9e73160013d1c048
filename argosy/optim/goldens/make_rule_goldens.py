"""Prints rows of rule_goldens.h: what another framework's optimizer does to six numbers in five steps.

Run it with the interpreter of each framework in turn, and join what it prints (the order does not matter):
    python make_rule_goldens.py fluid    # PaddlePaddle 1.8.5, Python 3.7: every rule but adamw
    python make_rule_goldens.py paddle2  # PaddlePaddle 2.6.2: adamw
    python make_rule_goldens.py torch    # torch 2.13.0: the rules that torch defines alike
"""

import sys

import numpy as np

STEPS = 5
PARAM = np.array([0.5, -1.25, 0.0, 2.0, -0.03125, 0.75], "float32")


def gradient(t):
    return np.array([0.1 * (t + 1), -0.2 + 0.15 * t, 0.0 if t < 2 else 0.3, 1.5 - t, 0.001 * (t - 2), -2.0], "float32")


# name of the rule, learning rate, hyper-parameters by attribute name
CASES = [
    ("sgd", 0.1, {}),
    ("momentum", 0.1, {"mu": 0.9}),
    ("momentum", 0.05, {"mu": 0.8, "use_nesterov": 1}),
    ("adagrad", 0.1, {}),
    ("adagrad", 0.1, {"epsilon": 1e-2, "initial_accumulator_value": 0.1}),
    ("decayed_adagrad", 0.1, {}),
    ("decayed_adagrad", 0.1, {"decay": 0.8, "epsilon": 1e-3}),
    ("adadelta", 1.0, {}),
    ("adadelta", 0.1, {"rho": 0.9, "epsilon": 1e-4}),
    ("adam", 0.1, {}),
    ("adam", 0.1, {"beta1": 0.75, "beta2": 0.875, "epsilon": 1e-12}),
    ("adam", 0.001, {"beta1": 0.8, "beta2": 0.99, "epsilon": 1e-2}),
    ("adamw", 0.1, {}),
    ("adamw", 0.01, {"beta1": 0.75, "beta2": 0.875, "epsilon": 1e-2, "coeff": 0.1}),
    ("adamax", 0.1, {}),
    ("adamax", 0.01, {"beta1": 0.8, "beta2": 0.99, "epsilon": 1e-3}),
    ("rmsprop", 0.1, {}),
    ("rmsprop", 0.01, {"decay": 0.9, "epsilon": 1e-3, "momentum": 0.9}),
    ("rmsprop", 0.01, {"decay": 0.9, "epsilon": 1e-3, "momentum": 0.5, "centered": 1}),
    ("ftrl", 0.1, {}),
    ("ftrl", 0.1, {"l1": 0.1, "l2": 0.2}),
    ("ftrl", 0.1, {"l1": 0.05, "l2": 0.1, "lr_power": -0.7}),
    ("lamb", 0.1, {}),
    ("lamb", 0.01, {"beta1": 0.8, "beta2": 0.99, "epsilon": 1e-3, "weight_decay": 0.1}),
]

FLUID = {  # rule -> (class, constructor's name of an attribute where it differs)
    "sgd": ("SGD", {}), "momentum": ("Momentum", {"mu": "momentum"}), "adagrad": ("Adagrad", {}),
    "decayed_adagrad": ("DecayedAdagrad", {}), "adadelta": ("Adadelta", {}), "adam": ("Adam", {}), "adamax": ("Adamax", {}),
    "rmsprop": ("RMSProp", {"decay": "rho"}), "ftrl": ("Ftrl", {}), "lamb": ("Lamb", {"weight_decay": "lamb_weight_decay"}),
}


def run_static(fluid, make, rule, hyper):
    """Five steps of a program that is one optimizer op; the parameter after each, then the state by variable name."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        param = fluid.layers.create_parameter([6], "float32", name="w",
                                              default_initializer=fluid.initializer.NumpyArrayInitializer(PARAM))
        make().apply_gradients([(param, fluid.data("g", [6], "float32"))])
        op = [op for op in main.global_block().ops if op.type == rule][0]
        if rule == "adadelta":
            write_elsewhere(fluid, main, op, "AvgSquaredUpdate")
        if rule == "ftrl":
            op._set_attr("l2", hyper.get("l2", 0.0))  # Paddle 1.8's optimizer writes l1 there
    scope = fluid.Scope()
    with fluid.scope_guard(scope):
        executor = fluid.Executor(fluid.CPUPlace())
        executor.run(startup)
        params = [executor.run(main, feed={"g": gradient(t)}, fetch_list=["w"])[0].copy() for t in range(STEPS)]
        names = [op.input(slot)[0] for slot in op.input_names if op.input(slot)]
        states = {n[2:-2]: np.array(scope.find_var(n).get_tensor()) for n in names if n.startswith("w_")}
    return params, states


def write_elsewhere(fluid, program, op, slot):
    """Gives the op another variable to write than the one it reads, and copies it back afterwards.

    Paddle 1.8's adadelta kernel reads AvgSquaredUpdate once more after it has written AvgSquaredUpdateOut. Where both are
    one variable, as the optimizer has them, that is no longer the formula of its documentation (nor of 2.x and torch).
    """
    block, old = program.global_block(), op.input(slot)[0]
    new = block.create_var(name=old + ".new", shape=[6], dtype="float32")
    op.desc.set_output(slot + "Out", [new.name])
    block.append_op(type="assign", inputs={"X": [new]}, outputs={"Out": [block.var(old)]})


def fluid_cases():
    import paddle.fluid as fluid
    for rule, rate, hyper in CASES:
        if rule in FLUID:
            name, renamed = FLUID[rule]
            kwargs = {renamed.get(k, k): (bool(v) if k in ("use_nesterov", "centered") else v) for k, v in hyper.items()}
            if rule == "momentum":
                kwargs.setdefault("momentum", 0.9)
            yield (rule, rate, hyper) + run_static(fluid, lambda: getattr(fluid.optimizer, name)(rate, **kwargs), rule, hyper)


def paddle2_cases():
    import paddle
    for rule, rate, hyper in CASES:
        if rule != "adamw":
            continue
        param = paddle.create_parameter([6], "float32", default_initializer=paddle.nn.initializer.Assign(PARAM))
        kwargs = {"weight_decay" if k == "coeff" else k: v for k, v in hyper.items()}
        optimizer = paddle.optimizer.AdamW(rate, parameters=[param], **kwargs)
        params = []
        for t in range(STEPS):
            (param * paddle.to_tensor(gradient(t))).sum().backward()
            optimizer.step()
            optimizer.clear_grad()
            params.append(param.numpy().copy())
        yield rule, rate, hyper, params, {}


def torch_cases():
    import torch
    made = {
        "sgd": lambda p, r, h: torch.optim.SGD([p], r),
        "momentum": lambda p, r, h: torch.optim.SGD([p], r, momentum=h["mu"], nesterov=bool(h.get("use_nesterov", 0))),
        "adagrad": lambda p, r, h: torch.optim.Adagrad([p], r, eps=h.get("epsilon", 1e-6),
                                                       initial_accumulator_value=h.get("initial_accumulator_value", 0)),
        "adadelta": lambda p, r, h: torch.optim.Adadelta([p], 1.0, rho=h.get("rho", 0.95), eps=h.get("epsilon", 1e-6)),
        "adam": lambda p, r, h: torch.optim.Adam([p], r, betas=(h["beta1"], h["beta2"]), eps=h["epsilon"]),
        "adamw": lambda p, r, h: torch.optim.AdamW([p], r, betas=(h["beta1"], h["beta2"]), eps=h["epsilon"],
                                                   weight_decay=h["coeff"]),
    }
    for rule, rate, hyper in CASES:
        # Torch has the powers of beta in float64 and Paddle in float32: compared where they are exact in both. Adam's epsilon
        # is added before the bias correction in Paddle 1.8 and after it in torch: compared where it is tiny.
        if rule not in made or (rule in ("adam", "adamw") and hyper.get("beta1") != 0.75):
            continue
        param = torch.tensor(PARAM)
        optimizer = made[rule](param, rate, hyper)
        params = []
        for t in range(STEPS):
            param.grad = torch.tensor(gradient(t))
            optimizer.step()
            params.append(param.numpy().copy())
        yield rule, rate, hyper, params, {}


def literal(value):
    text = "%.9g" % value
    return text + "f" if "." in text or "e" in text else text


def numbers(values):
    return "{" + ", ".join(literal(v) for v in np.ravel(values)) + "}"


def main():
    source = sys.argv[1]
    for rule, rate, hyper, params, states in {"fluid": fluid_cases, "paddle2": paddle2_cases, "torch": torch_cases}[source]():
        settings = ", ".join('{"%s", %s}' % (name, literal(value)) for name, value in sorted(hyper.items()))
        print('    {"%s", "%s", %s, {%s},' % (source, rule, literal(rate), settings))
        print("     {" + ",\n      ".join(numbers(p) for p in params) + "},")
        print("     {" + ",\n      ".join('{"%s", %s}' % (k, numbers(v)) for k, v in sorted(states.items())) + "}},")


main()
