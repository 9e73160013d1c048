"""Whether this installation can train."""

__all__ = ["run_check"]


def run_check():
    """Trains a small layer in each graph, and says what this installation is and computes on.

    >>> paddle.utils.run_check()
    argosy 0.2.0 (dialect of PaddlePaddle 2.6.2) on torch 2.13.0: trains on cpu, in the dynamic and in the static graph
    """
    import numpy as np
    import torch

    import argosy as paddle
    from argosy.errors import InternalError
    from argosy.version import version

    layer = paddle.nn.Linear(2, 1)
    optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
    data = paddle.to_tensor(np.ones((4, 2), "float32"))
    losses = []
    for _ in range(2):
        loss = paddle.mean(paddle.square(layer(data) - 1.0))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    losses_of_program = _train_program(np)
    for graph, (first, second) in {"dynamic": losses, "static": losses_of_program}.items():
        if not second < first:
            raise InternalError(
                f"run_check: a step of SGD in the {graph} graph took the loss from {first} to {second}; expected less. "
                "The installation is damaged, or built for another torch"
            )
    print(
        f"argosy {version} (dialect of PaddlePaddle 2.6.2) on torch {torch.__version__.partition('+')[0]}: trains on "
        f"{paddle.get_device()}, in the dynamic and in the static graph"
    )


def _train_program(np):
    from argosy import fluid

    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        data = fluid.layers.data("x", [2])
        loss = fluid.layers.mean(fluid.layers.square(fluid.layers.fc(data, 1) - 1.0))
        fluid.optimizer.SGD(0.1).minimize(loss)
    scope = fluid.Scope()
    with fluid.scope_guard(scope):
        exe = fluid.Executor(fluid.CPUPlace())
        exe.run(startup)
        return [float(np.asarray(exe.run(main, feed={"x": np.ones((4, 2), "float32")}, fetch_list=[loss])[0]).reshape(-1)[0]) for _ in range(2)]
