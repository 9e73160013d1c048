"""`python -m paddle.distributed.fleet.launch`: fleetrun, with this interpreter for the script."""

from argosy.distributed import launch


def main():
    launch.main()


if __name__ == "__main__":
    main()
