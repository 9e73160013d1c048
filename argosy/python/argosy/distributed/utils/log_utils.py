"""Loggers."""

import logging

__all__ = ["get_logger"]


def get_logger(log_level, name="root"):
    """A logger of this level, with time, level and place in each line. Called again with the same name it is the same one.

    >>> from paddle.distributed.utils.log_utils import get_logger
    >>> get_logger("INFO", "train").name
    'train'
    """
    logger = logging.getLogger(name)
    logger.setLevel(log_level)
    if not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(levelname)s %(asctime)s %(filename)s:%(lineno)d] %(message)s"))
        logger.addHandler(handler)
    logger.propagate = False
    return logger
