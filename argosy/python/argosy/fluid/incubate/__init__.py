"""What Paddle kept under fluid.incubate: data generators and the first Fleet."""
