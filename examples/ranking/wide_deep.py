"""Wide & Deep: logistic regression beside a network over embeddings. The twin of wide_deep.cc; run as ranking.py says."""

from ranking import L, alone, embed, perceptron, train


def wide_deep(clicks):
    deep = L.concat([embed(slot) for slot in (clicks.user, clicks.item, clicks.category)] + [clicks.numbers], axis=1)
    return alone(clicks) + L.fc(perceptron(deep), 1)


if __name__ == "__main__":
    train(wide_deep)
