"""`python -m exchequer`."""

from exchequer.cli import main

if __name__ == "__main__":
    main(prog_name="exchequer")
