"""The codebook as a page: everything that it says is text, and nothing is loaded."""

import re
from pathlib import Path
from urllib.parse import unquote

from sluice.publication.codebook_page import codebook_page
from tests.publication.small_codebook import codebook


def test_it_says_what_a_variable_means_and_what_was_done(tmp_path: Path) -> None:
    page = codebook_page(codebook(tmp_path, publisher="An office", doi="10.1234/abc")).decode()
    for said in (
        "Age at the interview",
        "in years",
        "women aged 15 and over",
        "some &amp; more",
        "by An office",
        "doi:10.1234/abc",
        "Noise was added. Large values were replaced.",
        "3 records of 12 variables",
        "None: the values are as they were collected.",
        "To correct for in an analysis",
        "It was removed.",
        "In an analysis</dt><dd>Divide a variance by 1.1.",
        "<p>Multiply totals by 4.</p>",
        "each row is an original category",
    ):
        assert said in page


def test_texts_of_documents_and_data_are_no_markup(tmp_path: Path) -> None:
    page = codebook_page(codebook(tmp_path, title="<script>alert(1)</script>")).decode()
    assert "<script" not in page
    assert "<b>" not in page
    assert "\x07" not in page
    assert "default-src 'none'" in page


def test_every_link_leads_somewhere(tmp_path: Path) -> None:
    page = codebook_page(codebook(tmp_path)).decode()
    ids = {each.replace("&#34;", '"') for each in re.findall(r'<h2 id="([^"]*)"', page)}
    inside = {unquote(each) for each in re.findall(r'href="#([^"]*)"', page)}
    assert inside <= ids
    assert len(inside) == 12
    assert {unquote(each) for each in re.findall(r'href="([^"#]+)"', page)} == {"data.csv", "data.parquet"}


def test_without_parameters_and_removed_variables_it_has_no_empty_parts(tmp_path: Path) -> None:
    page = codebook_page(codebook(tmp_path, parameters=(), not_released={}, allow_for=())).decode()
    assert "To correct for" not in page
    assert "Not released" not in page
