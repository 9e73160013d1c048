"""Nested lists, tuples and dicts: to flat lists and back."""

from argosy.errors import InvalidArgumentError

__all__ = ["convert_to_list", "is_sequence", "flatten", "pack_sequence_as", "map_structure", "assert_same_structure"]


def convert_to_list(value, n, name, dtype=int):
    """`value` n times where it is one number, otherwise its n members as a list.

    >>> fluid.layers.utils.convert_to_list(2, 3, "stride")
    [2, 2, 2]
    """
    if isinstance(value, dtype):
        return [value] * n
    try:
        found = list(value)
    except TypeError:
        raise InvalidArgumentError(f"{name} is {n} of {dtype.__name__}, or one; found {value!r}") from None
    if len(found) != n or not all(isinstance(one, dtype) for one in found):
        raise InvalidArgumentError(f"{name} is {n} of {dtype.__name__}, or one; found {value!r}")
    return found


def is_sequence(seq):
    """Whether it is a list, a tuple or a dict, whose members flatten() takes.

    >>> fluid.layers.utils.is_sequence([1]), fluid.layers.utils.is_sequence("text")
    (True, False)
    """
    return isinstance(seq, (list, tuple, dict))


def _members(nest):
    return [nest[key] for key in sorted(nest)] if isinstance(nest, dict) else list(nest)


def flatten(nest):
    """All members as one list; of dicts in the order of their keys.

    >>> fluid.layers.utils.flatten([1, (2, {"b": 4, "a": 3})])
    [1, 2, 3, 4]
    """
    return [leaf for one in _members(nest) for leaf in flatten(one)] if is_sequence(nest) else [nest]


def _rebuilt(nest, leaves):
    if not is_sequence(nest):
        return next(leaves)
    if isinstance(nest, dict):
        made = {key: _rebuilt(nest[key], leaves) for key in sorted(nest)}
        return type(nest)((key, made[key]) for key in nest)
    made = [_rebuilt(one, leaves) for one in nest]
    return type(nest)(*made) if hasattr(nest, "_fields") else type(nest)(made)


def pack_sequence_as(structure, flat_sequence):
    """The members of a flat list in the form of `structure`.

    >>> fluid.layers.utils.pack_sequence_as([0, (0, 0)], [1, 2, 3])
    [1, (2, 3)]
    """
    leaves, count = flatten(flat_sequence), len(flatten(structure))
    if len(leaves) != count:
        raise InvalidArgumentError(f"pack_sequence_as: the structure has {count} places; found {len(leaves)} values")
    return _rebuilt(structure, iter(leaves))


def assert_same_structure(nest1, nest2, check_types=True):
    """Raises a ValueError where two nests have other forms, or with check_types other types of sequences.

    >>> fluid.layers.utils.assert_same_structure([1, (2, 3)], ["a", ("b", "c")])
    """
    same = is_sequence(nest1) == is_sequence(nest2)
    if same and is_sequence(nest1):
        same = len(nest1) == len(nest2) and not (check_types and type(nest1) is not type(nest2))
        same = same and not (isinstance(nest1, dict) and isinstance(nest2, dict) and set(nest1) != set(nest2))
    if not same:
        raise InvalidArgumentError(f"the two structures are different: {nest1!r} and {nest2!r}")
    if is_sequence(nest1):
        for one, other in zip(_members(nest1), _members(nest2), strict=True):
            assert_same_structure(one, other, check_types)


def map_structure(func, *structure):
    """func of the members at the same places, in the form of the first structure.

    >>> fluid.layers.utils.map_structure(lambda a, b: a + b, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    for other in structure[1:]:
        assert_same_structure(structure[0], other)
    return pack_sequence_as(structure[0], [func(*leaves) for leaves in zip(*map(flatten, structure), strict=True)])
