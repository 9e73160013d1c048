"""DeepFM: logistic regression, a factorization machine, and a network over the same embeddings. The twin of deepfm.cc; run as ranking.py says."""

from ranking import L, alone, embed, perceptron, train


def deepfm(clicks):
    fields = [embed(clicks.user), embed(clicks.item), embed(clicks.category), L.sequence_pool(embed(clicks.history), "average")]
    total = L.sums(fields)
    pairs = L.reduce_sum(L.square(total) - L.sums([L.square(field) for field in fields]), dim=1, keep_dim=True)
    deep = L.fc(perceptron(L.concat(fields + [clicks.numbers], axis=1)), 1)
    return alone(clicks) + pairs * 0.5 + deep


if __name__ == "__main__":
    train(deepfm)
