"""Run as a program: an MCP server of the tests, started by a fork server: ADDRESS SCRIPT [ARGUMENT...]."""

import sys

from asking import hand_over

hand_over(sys.argv[1], sys.argv[2:])
