"""MMoE: clicks and orders by the same experts, which each task weighs by a gate of its own. The twin of mmoe.cc; run as ranking.py says."""

from ranking import L, embed, train

EXPERTS, WIDTH = 3, 16


def mmoe(clicks):
    fields = [embed(clicks.user), embed(clicks.item), embed(clicks.category), L.sequence_pool(embed(clicks.history), "average")]
    x = L.concat(fields + [fields[0] * fields[1], clicks.numbers], axis=1)
    experts = L.stack([L.fc(x, WIDTH, act="relu") for _ in range(EXPERTS)], axis=1)  # [batch, experts, width]
    odds = []
    for _ in ("click", "order"):
        gate = L.reshape(L.fc(x, EXPERTS, act="softmax"), [-1, EXPERTS, 1])
        mixed = L.reduce_sum(L.elementwise_mul(experts, gate), dim=1)
        odds.append(L.fc(L.fc(mixed, 16, act="relu"), 1))
    return odds


if __name__ == "__main__":
    train(mmoe)
