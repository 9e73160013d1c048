"""Sums of products by Einstein's notation."""

from argosy import tensor as T
from argosy.errors import InvalidArgumentError
from argosy.fluid import layers


def _parsed(equation, operands):
    """(letters of each operand, letters of the result)."""
    given, arrow, out = equation.replace(" ", "").partition("->")
    names = given.split(",")
    if "." in given:
        raise InvalidArgumentError(f"einsum: '...' is not there for variables; name all axes; found {equation!r}")
    if len(names) != len(operands) or any(len(letters) != len(one.shape) for letters, one in zip(names, operands, strict=False)):
        raise InvalidArgumentError(
            f"einsum: '{equation}' has letters for {[len(one) for one in names]} axes; found variables of {[len(one.shape) for one in operands]}"
        )
    if any(len(set(letters)) < len(letters) for letters in names):
        raise InvalidArgumentError(f"einsum: a letter occurs once in each operand for variables; found {equation!r}")
    if not arrow:
        out = "".join(sorted(letter for letter in set(given) - {","} if given.count(letter) == 1))
    return names, out


def _summed(x, letters, kept):
    """Without the axes of letters that nothing else has."""
    gone = [i for i, letter in enumerate(letters) if letter not in kept]
    return (T.sum(x, gone) if gone else x), "".join(letter for letter in letters if letter in kept)


def _arranged(x, letters, wanted):
    """x with its axes as `wanted`, with axes of size 1 for letters that it does not have."""
    if not wanted:
        return x
    x = layers.transpose(x, [letters.index(letter) for letter in wanted if letter in letters])
    new = [i for i, letter in enumerate(wanted) if letter not in letters]
    return layers.unsqueeze(x, new) if new else x


def _pair(x, first, y, second, out):
    """The product of two operands with the letters of `out`."""
    shared = [letter for letter in first if letter in second and letter not in out]
    batch = [letter for letter in out if letter in first and letter in second]
    rows = [letter for letter in first if letter not in second]
    columns = [letter for letter in second if letter not in first]
    if len(shared) == 1 and len(rows) <= 1 and len(columns) <= 1:
        rows, columns = rows or ["<"], columns or [">"]
        left = _arranged(x, first, "".join([*batch, *rows, *shared]))
        right = _arranged(y, second, "".join([*batch, *shared, *columns]))
        found, letters = T.matmul(left, right), [*batch, *rows, *columns]
        gone = [i for i, letter in enumerate(letters) if letter in "<>"]
        found = layers.squeeze(found, gone) if gone else found
        return _arranged(found, "".join(letter for letter in letters if letter not in "<>"), out)
    every = out + "".join(shared)
    product = _arranged(x, first, every) * _arranged(y, second, every)
    return T.sum(product, list(range(len(out), len(every)))) if shared else product


def einsum(equation, *operands):
    given = list(operands[0] if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else operands)
    names, out = _parsed(equation, given)
    x, letters = given[0], names[0]
    for i in range(1, len(given)):
        later = set(out).union(*names[i + 1 :])
        x, letters = _summed(x, letters, later | set(names[i]))
        y, others = _summed(given[i], names[i], later | set(letters))
        wanted = "".join(dict.fromkeys(letter for letter in letters + others if letter in later))
        x, letters = _pair(x, letters, y, others, wanted), wanted
    x, letters = _summed(x, letters, set(out))
    return _arranged(x, letters, out)


def tensordot(x, y, axes=2, name=None):
    first, second = (list(range(len(x.shape) - axes, len(x.shape))), list(range(axes))) if isinstance(axes, int) else axes
    first, second = ([one] if isinstance(one, int) else list(one) for one in (first, second))
    names = [chr(ord("a") + i) for i in range(len(x.shape))]
    others = [chr(ord("A") + i) for i in range(len(y.shape))]
    for a, b in zip(first, second, strict=True):
        others[b] = names[a]
    out = [letter for letter in names + others if (letter in names) != (letter in others)]
    return einsum(f"{''.join(names)},{''.join(others)}->{''.join(out)}", x, y)
