"""The parts of paddle.distributed.fleet."""
