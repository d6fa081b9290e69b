"""What tests of values share."""

import pytest


@pytest.fixture(
    scope="module",
    params=[
        "python",
        pytest.param("r", marks=pytest.mark.needs("R")),
        pytest.param("javascript", marks=pytest.mark.needs("node")),
        pytest.param("octave", marks=pytest.mark.needs("octave")),
    ],
)
def language(request: pytest.FixtureRequest) -> str:
    """Each language that has tables."""
    return str(request.param)
