"""1.x's helpers of jobs."""
