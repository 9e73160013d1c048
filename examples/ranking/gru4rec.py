"""GRU4Rec: a recurrent network reads the history in order, and its state meets the item that is shown. The twin of gru4rec.cc; run as ranking.py says."""

from ranking import L, alone, embed, train

STATE = 16


def gru4rec(clicks):
    steps = L.dynamic_gru(L.fc(embed(clicks.history), 3 * STATE), STATE)
    session = L.sequence_last_step(steps)
    shown = L.fc(L.concat([embed(clicks.item), embed(clicks.category)], axis=1), STATE)
    return alone(clicks) + L.reduce_sum(session * shown, dim=1, keep_dim=True)


if __name__ == "__main__":
    train(gru4rec)
