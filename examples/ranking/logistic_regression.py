"""Logistic regression: each user, item and category by itself. The twin of logistic_regression.cc; run as ranking.py says."""

from ranking import alone, train

if __name__ == "__main__":
    train(alone)
