"""DCN-v2: crosses of all inputs, x0 * (W x + b) + x, beside a network. The twin of dcn_v2.cc; run as ranking.py says."""

from ranking import L, embed, perceptron, train


def dcn_v2(clicks, crosses=2):
    fields = [embed(clicks.user), embed(clicks.item), embed(clicks.category), L.sequence_pool(embed(clicks.history), "average")]
    first = L.concat(fields + [clicks.numbers], axis=1)
    x = first
    for _ in range(crosses):
        x = first * L.fc(x, first.shape[1]) + x
    return L.fc(L.concat([x, perceptron(first)], axis=1), 1)


if __name__ == "__main__":
    train(dcn_v2)
