"""What users may call things: rules S1, S2 and H10."""

import pytest

from rexrank.board import names


@pytest.mark.parametrize(
    "name", ["Acme CXR 2", "MedVersa/v1.2", "模型 3", "Ünï_x-1", "9", "a" * 96, "LLaVA-Rad+ (zero-shot, 7B)"]
)
def test_names_that_pass(name: str) -> None:
    assert names.model_name(name) == name


def test_names_come_out_in_one_form() -> None:
    assert names.model_name("Ａcme") == "Acme"
    assert names.name_key("Ａcme   CXR") == names.name_key("ACME cxr") == "acme cxr"


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("<b>Acme</b>", "U\\+003C"),
        ("Acme\\CXR", "U\\+005C"),
        ("Acme\u200f", "U\\+200F"),
        ("Ac\u200bme", "U\\+200B"),
        ("Acme\n2", "U\\+000A"),
        (" Acme", "blank"),
        ("Acme ", "blank"),
        ("", "1 to 96"),
        ("a" * 97, "1 to 96"),
        ("-acme", "starts with"),
        ("a..b", '"\\.\\."'),
        ("a//b", '"//"'),
        ("=1+1", "U\\+003D"),
        ("Acme|x", "U\\+007C"),
        ("[Acme](https://example.org)", "U\\+005B"),
        ("(Acme)", "starts with"),
        ("+1", "starts with"),
    ],
)
def test_names_that_are_refused_say_the_rule(name: str, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        names.model_name(name)


def test_links_are_parsed_and_written_again() -> None:
    assert names.link("HTTPS://Example.org/a?b=c#d") == "https://example.org/a?b=c#d"


@pytest.mark.parametrize(
    "link",
    [
        "http://example.org",
        "javascript:alert(1)",
        "https://",
        "https://user@example.org/",
        "https://user:pw@example.org/",
        "https://example.org/" + "a" * 300,
        "https://example.org/\u202egpj",
        "https://example.org/a b",
        "https://example.org/\n",
    ],
)
def test_links_that_are_refused(link: str) -> None:
    with pytest.raises(ValueError, match="a link"):
        names.link(link)


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../x", "a/../b", "a//b", "a/.git/config", "a\\b", "", "a/\x00", "é" * 128]
)
def test_paths_that_are_refused(path: str) -> None:
    with pytest.raises(ValueError, match="path"):
        names.path_in_repo(path)


def test_every_name_makes_a_repo_name() -> None:
    assert names.slug_of("Acme CXR / v2") == "acme-cxr-v2"
    for name in ["模型", "Acme", "..", "A" * 96]:
        assert names.repo_id(f"acme/{names.slug_of(name)}-predictions")
    assert names.slug_of("模型") != names.slug_of("模型二")
