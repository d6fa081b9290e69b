"""Run as a program: an MCP server of the tests, as a fork of a nursery: ADDRESS SCRIPT [ARGUMENT...]."""

import sys

from asking import hand_over

hand_over(sys.argv[1], sys.argv[2:])
