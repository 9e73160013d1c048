"""Makes clicks whose probability is known, and so the best AUC that any model can reach on them.

    python clicks.py data --lines 20000        data/train-0, data/train-1, data/test-0 and data/test-1, each line a shown item

A line is in MultiSlot format: user, item, category, the items that the user has clicked before (1 to 8), four numbers, whether the item was clicked, and
whether it was ordered. A click depends on the user and the item each for themselves (what logistic regression sees), on both together (factorization,
crosses), on how often the item's category occurs in the history (attention) and on what was clicked last (order).
"""

import argparse
import pathlib

import numpy as np

USERS, ITEMS, CATEGORIES, NUMBERS, LONGEST = 40, 60, 6, 4, 8


def auc(scores, labels):
    """The probability that a click has the higher score than what was not clicked."""
    order = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    clicked = labels == 1
    return (ranks[clicked].sum() - clicked.sum() * (clicked.sum() + 1) / 2) / (clicked.sum() * (~clicked).sum())


def effects(draw, user, item, history, numbers):
    """The logarithm of a click's odds, by part."""
    category = item % CATEGORIES
    tastes, kinds = draw.randn(USERS, 3), draw.randn(ITEMS, 3)
    alike = np.array([np.mean(one % CATEGORIES == c) for one, c in zip(history, category)])
    follows = np.array([one[-1] % CATEGORIES == (c + 1) % CATEGORIES for one, c in zip(history, category)])
    return {
        "alone": draw.randn(USERS)[user] * 0.8 + draw.randn(ITEMS)[item] * 0.8 + numbers @ draw.randn(NUMBERS) * 0.6,
        "together": (tastes[user] * kinds[item]).sum(1) * 0.7,
        "history": alike * 3 - 0.5,
        "order": follows * 2.0 - 0.33,
    }


def make(lines, seed=7):
    """(the lines, click or not, the probability of each click)."""
    draw = np.random.RandomState(seed)
    user, item = draw.randint(0, USERS, lines), draw.randint(0, ITEMS, lines)
    history = [draw.randint(0, ITEMS, draw.randint(1, LONGEST + 1)) for _ in range(lines)]
    numbers = draw.randn(lines, NUMBERS).round(4)
    parts = effects(np.random.RandomState(seed + 1), user, item, history, numbers)
    odds = sum(parts.values()) - 1
    probability = 1 / (1 + np.exp(-odds))
    click = (draw.rand(lines) < probability).astype(int)
    order = click * (draw.rand(lines) < 1 / (1 + np.exp(-parts["alone"])))
    text = [
        f"1 {user[i]} 1 {item[i]} 1 {item[i] % CATEGORIES} {len(history[i])} {' '.join(map(str, history[i]))} {NUMBERS} {' '.join(map(str, numbers[i]))} "
        f"1 {click[i]} 1 {order[i]}\n"
        for i in range(lines)
    ]
    return text, click, probability


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--lines", type=int, default=20000, help="to train on; a quarter as many to test")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    text, click, probability = make(args.lines + args.lines // 4)
    for name, first, last in (("train", 0, args.lines), ("test", args.lines, len(text))):
        middle = (first + last) // 2
        (args.folder / f"{name}-0").write_text("".join(text[first:middle]))
        (args.folder / f"{name}-1").write_text("".join(text[middle:last]))
    best = auc(probability[args.lines :], click[args.lines :])
    (args.folder / "best_auc").write_text(f"{best:.4f}\n")
    print(f"{args.lines} lines to train on, {len(text) - args.lines} to test; the best possible test auc is {best:.4f}")


if __name__ == "__main__":
    main()
