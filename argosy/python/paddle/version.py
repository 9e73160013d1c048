"""The version of PaddlePaddle whose dialect this is, for scripts that ask. That of the distribution is argosy.version."""

full_version = "2.6.2"
major, minor, patch = full_version.split(".")
rc = "0"

__all__ = ["full_version", "major", "minor", "patch", "rc", "cuda", "cudnn", "show"]


def cuda():
    """The version of CUDA that libtorch was built with, "False" without one.

    >>> paddle.version.cuda()
    'False'
    """
    import torch

    return torch.version.cuda or "False"


def cudnn():
    """The version of cuDNN that libtorch was built with, "False" without one.

    >>> paddle.version.cudnn()
    'False'
    """
    import torch

    return str(torch.backends.cudnn.version() or "False")


def show():
    """Prints the version of the dialect and that of the distribution behind it.

    >>> paddle.version.show()
    full_version: 2.6.2 (dialect)
    argosy: 0.2.0
    """
    from argosy.version import version

    print(f"full_version: {full_version} (dialect)\nargosy: {version}")
