"""Finds the eyes and the mouth in drawn faces: a CNN in the dynamic graph, trained by several processes that average gradients.

The twin of keypoints.cc.

    fleetrun --nproc_per_node 2 keypoints.py          on machines with GPUs: fleetrun --gpus 0,1 keypoints.py
"""

import sys

import numpy as np

import paddle
from paddle.distributed import fleet

SIDE, FACES, EPOCHS = 24, 1024, 6


class Faces(paddle.io.Dataset):
    """Each a dark square with three soft spots, and the places of their centres: x and y of each, in parts of a side."""

    def __init__(self, count, seed):
        random = np.random.RandomState(seed)
        middle = random.uniform(0.35, 0.65, (count, 1, 2))
        spots = middle + np.array([[-0.18, -0.12], [0.18, -0.12], [0.0, 0.2]]) + random.uniform(-0.05, 0.05, (count, 3, 2))
        grid = (np.arange(SIDE) + 0.5) / SIDE
        near = [np.exp(-((grid - spots[:, :, None, axis]) ** 2) / 0.005) for axis in (0, 1)]  # [faces, spots, side]
        self.images = np.einsum("nsx,nsy->nyx", *near)[:, None].astype("float32")
        self.places = spots.reshape(count, 6).astype("float32")

    def __getitem__(self, i):
        return self.images[i], self.places[i]

    def __len__(self):
        return len(self.images)


def network():
    nn = paddle.nn
    return nn.Sequential(
        nn.Conv2D(1, 8, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2D(8, 16, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(16 * (SIDE // 4) ** 2, 64),
        nn.ReLU(),
        nn.Linear(64, 6),
    )


def main():
    fleet.init(is_collective=True)
    paddle.seed(7)
    model = fleet.distributed_model(network())
    optimizer = fleet.distributed_optimizer(paddle.optimizer.Adam(learning_rate=2e-3, parameters=model.parameters()))
    faces = Faces(FACES, seed=1)
    sampler = paddle.io.DistributedBatchSampler(faces, batch_size=16, shuffle=True)
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        for images, places in paddle.io.DataLoader(faces, batch_sampler=sampler):
            loss = paddle.nn.functional.mse_loss(model(images), places)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
        print("rank %d epoch %d loss %.5f" % (fleet.worker_index(), epoch, float(loss)), flush=True)
    test = Faces(200, seed=2)
    with paddle.no_grad():
        miss = float((model(paddle.to_tensor(test.images)) - paddle.to_tensor(test.places)).abs().mean()) * SIDE
    print("new faces: places are missed by %.2f pixels" % miss)
    if miss > 1.0:
        sys.exit("the places were not learned: they are missed by more than a pixel")


if __name__ == "__main__":
    main()
