"""The checker as a program, by its name as a module or by the path of its folder, whatever that is called."""

import importlib
import os
import sys


def run():
    """Finds the checker and runs it; gives its exit code."""
    package = __package__
    if not package:
        # By its path: Python looks for modules in the folder, not for the folder.
        above, package = os.path.split(os.path.dirname(os.path.abspath(__file__)))
        sys.path[0] = above
    return importlib.import_module(package).main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(run())
