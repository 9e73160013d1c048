"""The functions of paddle.reader under the module name that they are defined in, in 1.8."""

from argosy.reader import ComposeNotAligned, buffered, cache, chain, compose, firstn, map_readers, multiprocess_reader, shuffle, xmap_readers

__all__ = ["ComposeNotAligned", "buffered", "cache", "chain", "compose", "firstn", "map_readers", "multiprocess_reader", "shuffle", "xmap_readers"]
