"""The command: `sluice`, or `python -m sluice`."""

from flows.cli.main import run

if __name__ == "__main__":
    run()
