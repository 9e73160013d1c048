"""DIN: a history weighted by what each of its items has to do with the one that is shown. The twin of din.cc; run as ranking.py says."""

from ranking import L, alone, embed, perceptron, train


def attention(history, target):
    """The history's rows, summed by weights that a network gives them. `history` are sequences, `target` one row for each."""
    shown = L.sequence_expand_as(target, history)
    pairs = L.concat([history, shown, history - shown, history * shown], axis=1)
    weights = L.sequence_softmax(L.fc(L.fc(pairs, 16, act="sigmoid"), 1))
    return L.sequence_pool(L.elementwise_mul(history, weights, axis=0), "sum")


def din(clicks):
    item = embed(clicks.item)
    interest = attention(embed(clicks.history), item)
    deep = L.concat([embed(clicks.user), item, embed(clicks.category), interest, interest * item, clicks.numbers], axis=1)
    return alone(clicks) + L.fc(perceptron(deep), 1)


if __name__ == "__main__":
    train(din)
