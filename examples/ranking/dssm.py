"""DSSM: a tower for the user and one for the item, which meet in the cosine of what they give. The twin of dssm.cc; run as ranking.py says."""

from ranking import L, embed, train


def tower(fields):
    return L.fc(L.fc(L.concat(fields, axis=1), 32, act="relu"), 8)


def dssm(clicks):
    user = tower([embed(clicks.user), L.sequence_pool(embed(clicks.history), "average"), clicks.numbers])
    item = tower([embed(clicks.item), embed(clicks.category)])
    product = L.reduce_sum(user * item, dim=1, keep_dim=True)
    lengths = L.sqrt(L.reduce_sum(user * user, dim=1, keep_dim=True) * L.reduce_sum(item * item, dim=1, keep_dim=True) + 1e-6)
    return L.fc(product / lengths, 1)


if __name__ == "__main__":
    train(dssm)
