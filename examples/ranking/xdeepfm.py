"""xDeepFM: a compressed interaction network, whose layers take every pair of a field and a row of the layer before, element by element.

The twin of xdeepfm.cc; run as ranking.py says.
"""

from ranking import L, alone, embed, perceptron, train

WIDTH = 8


def interactions(fields, layers=(6, 6)):
    """Sums over the width of each layer's rows; a layer's rows are weighted sums of products."""
    count, sums = len(fields), []
    first = L.transpose(L.stack(fields, axis=1), [0, 2, 1])  # [batch, width, fields]
    x, rows = first, count
    for size in layers:
        pairs = L.matmul(L.reshape(x, [-1, rows, 1]), L.reshape(first, [-1, 1, count]))
        x = L.reshape(L.fc(L.reshape(pairs, [-1, rows * count]), size, act="relu"), [-1, WIDTH, size])
        rows = size
        sums.append(L.reduce_sum(x, dim=1))
    return sums


def xdeepfm(clicks):
    fields = [embed(clicks.user), embed(clicks.item), embed(clicks.category), L.sequence_pool(embed(clicks.history), "average")]
    deep = perceptron(L.concat(fields + [clicks.numbers], axis=1))
    return alone(clicks) + L.fc(L.concat(interactions(fields) + [deep], axis=1), 1)


if __name__ == "__main__":
    train(xdeepfm)
