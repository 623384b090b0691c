import numpy as np
import pytest

from shoal.measures import Figure
from shoal.report.subject import Made, Subject
from shoal.report.summary import listed, sentence, summary


def subject(figures=(), names=("age", "town"), made=None, k=5):
    found = tuple(Figure(name, value, "", "", name, said, "risk") for name, value, said in figures)
    return Subject(
        names, (), k, "records", k, 10, np.array([5, 5]), np.repeat([0, 1], 5), (), (), found, made=made
    )


def test_the_summary_says_in_sentences_what_k_means_and_what_became_of_the_values():
    said = summary(subject([
        ("linkage_all", 18.76, "no"), ("linkage_confidential", 99.9, "no"),
        ("homogeneous_records", 11.0, "some records agree"), ("information_loss", 2.5, ""),
        ("mean_change", 0.001, ""), ("variance_change", -7.84, ""), ("downstream_kept", 1, "models learn 99 %"),
    ]))  # fmt: skip
    assert said[0].startswith("Whoever knows age and town of a person finds at least 5 records that fit")
    assert "found the right one in 18.8 % of all cases; k = 5 allows 20.0 %." in said[1]
    assert "found 99.9 %. k does not protect" in said[2]
    assert said[3].startswith("Some records agree. ")
    assert said[4].startswith("The information loss is 2.50 %:")
    assert said[5] == "Means are unchanged, the spread shrinks by 4.0 % on average."
    assert said[6] == "Models learn 99 %."


@pytest.mark.parametrize(
    ("means", "variances", "said"),
    [
        (-0.25, 21.0, "Means change by at most 0.25 standard deviations, the spread grows by 10.0 % on average."),
        (None, 0.0, "The spread stays the same."),
        (0.0, -100.0, "Means are unchanged, the spread shrinks by 100.0 % on average."),
    ],
)
def test_changes_are_said_as_they_are(means, variances, said):
    assert summary(subject([("mean_change", means, ""), ("variance_change", variances, "")]))[1:] == [said]


def test_what_is_not_known_is_not_said():
    assert len(summary(subject())) == 1
    assert len(summary(subject([("homogeneous_records", 0.0, "none"), ("information_loss", None, "")]))) == 1
    assert summary(subject(made=Made("1", promises=("3-diversity on 'ill'",))))[1].endswith(
        "3-diversity on 'ill'."
    )


def test_many_names_are_cut():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed([*"abcdefgh"]) == "a, b, c, d, e, f and 2 more"
    assert sentence("who is it?") == "Who is it?"
