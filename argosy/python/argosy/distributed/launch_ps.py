"""`python -m paddle.distributed.launch_ps`: the launcher of parameter-server jobs."""

from argosy.distributed import launch


def main():
    launch.main("--run_mode=ps")


if __name__ == "__main__":
    main()
