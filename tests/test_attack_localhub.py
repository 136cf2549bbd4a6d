"""The local Hub against requests that only look right."""

from collections.abc import Iterator

import httpx2
import pytest
from localhub_fixtures import HubServer


@pytest.fixture
def http(hub_server: HubServer) -> Iterator[httpx2.Client]:
    """A client of a user who owns ``attack-ana``."""
    headers = {"Authorization": f"Bearer {hub_server.user('attack-ana')}"}
    with httpx2.Client(base_url=hub_server.url, timeout=30, trust_env=False, headers=headers) as client:
        yield client


@pytest.mark.parametrize("word", ["ture", "", "private", 1.5, 1, [], {"a": True}])
def test_a_privacy_that_is_not_understood_publishes_nothing(http: httpx2.Client, word: object) -> None:
    body = {"name": "unclear", "type": "dataset", "private": word}
    assert http.post("/api/repos/create", json=body).status_code == 400
    assert http.get("/api/datasets/attack-ana/unclear").status_code == 404


@pytest.mark.parametrize("word", [True, "true", " Yes "])
def test_words_for_private(http: httpx2.Client, word: object) -> None:
    name = f"closed{str(word).strip().lower()}{type(word).__name__}"
    assert http.post("/api/repos/create", json={"name": name, "type": "dataset", "private": word}).status_code == 200
    assert http.get(f"/api/datasets/attack-ana/{name}").json()["private"] is True
    change = {"private": "ture"}
    assert http.put(f"/api/datasets/attack-ana/{name}/settings", json=change).status_code == 400
    assert http.get(f"/api/datasets/attack-ana/{name}").json()["private"] is True
