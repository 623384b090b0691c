"""Example tables to try Shoal on: a clinic of invented patients, its raw extract, and eleven small companies."""

import numpy as np
import pyarrow as pa

_FIRST = [
    "Ada",
    "Alba",
    "Amir",
    "Anna",
    "Ben",
    "Bruno",
    "Carla",
    "Chen",
    "Clara",
    "Dana",
    "David",
    "Elif",
    "Emil",
    "Emma",
    "Eva",
    "Felix",
    "Finn",
    "Greta",
    "Hana",
    "Hugo",
    "Ida",
    "Ines",
    "Ivan",
    "Jana",
    "Jonas",
    "Julia",
    "Kai",
    "Karim",
    "Lara",
    "Lena",
    "Leo",
    "Lina",
    "Luca",
    "Maja",
    "Malik",
    "Marta",
    "Mia",
    "Mila",
    "Milan",
    "Nadia",
    "Nils",
    "Nina",
    "Noah",
    "Nora",
    "Omar",
    "Oskar",
    "Paul",
    "Petra",
    "Pia",
    "Rosa",
    "Ruth",
    "Sami",
    "Sara",
    "Sofia",
    "Sven",
    "Tara",
    "Theo",
    "Tim",
    "Tom",
    "Vera",
    "Yusuf",
    "Zoe",
]
_LAST = [
    "Abel",
    "Acosta",
    "Albers",
    "Almeida",
    "Anders",
    "Bauer",
    "Becker",
    "Berg",
    "Blanco",
    "Braun",
    "Carlsen",
    "Castro",
    "Conti",
    "Costa",
    "Dahl",
    "Demir",
    "Diaz",
    "Ebert",
    "Engel",
    "Faber",
    "Fischer",
    "Fontana",
    "Franke",
    "Garcia",
    "Gomez",
    "Gruber",
    "Haas",
    "Hansen",
    "Horvat",
    "Ivanov",
    "Jansen",
    "Kaya",
    "Keller",
    "Klein",
    "Koch",
    "Kovac",
    "Krause",
    "Lang",
    "Larsen",
    "Lopez",
    "Maier",
    "Marino",
    "Meyer",
    "Moreau",
    "Nagy",
    "Neumann",
    "Novak",
    "Olsen",
    "Ortiz",
    "Peters",
    "Popov",
    "Ramos",
    "Richter",
    "Romano",
    "Roth",
    "Russo",
    "Sanchez",
    "Santos",
    "Schmid",
    "Silva",
    "Simon",
    "Torres",
    "Vogel",
    "Wagner",
    "Weber",
    "Wolf",
    "Yilmaz",
]
_REGIONS = np.array([10100, 10400, 20300, 22500, 34100, 40200, 50600, 60300, 70500, 80300])
_DIAGNOSES = (
    "none",
    "asthma",
    "hypertension",
    "diabetes",
    "arthritis",
    "depression",
    "migraine",
    "heart failure",
)


def clinic(n: int = 3000, seed: int = 2024) -> pa.Table:
    """A clinic's table of n invented patients.

    Name (identifier), birth year, postcode, height in cm, weight in kg with one decimal, income (to be
    recognised by), and diagnosis (confidential). Tall people weigh more, people in mid-life and in some
    regions earn more, and diagnoses depend on age and weight, so there is something to preserve.
    """
    rng = np.random.default_rng(seed)
    age = np.clip(np.rint(rng.gamma(6.0, 8.5, n)), 18, 97).astype(int)
    region = rng.choice(len(_REGIONS), n, p=rng.dirichlet(np.full(len(_REGIONS), 3.0)))
    postcode = _REGIONS[region] + rng.integers(0, 60, n)
    tall = rng.random(n) < 0.5
    height = np.rint(rng.normal(np.where(tall, 179, 166) - 0.06 * (age - 40), 6.5)).astype(int)
    bmi = np.clip(rng.normal(23.5 + 0.05 * (age - 40), 3.4), 16, 45)
    weight = np.round(bmi * (height / 100) ** 2, 1)
    earning = 10.15 + 0.25 * (region % 3) - ((age - 48) / 42.0) ** 2
    income = (np.rint(rng.lognormal(earning, 0.45) / 100) * 100).astype(int)
    names = [f"{rng.choice(_FIRST)} {rng.choice(_LAST)}" for _ in range(n)]
    return pa.table(
        {
            "name": names,
            "birth_year": 2024 - age,
            "postcode": postcode,
            "height": height,
            "weight": weight,
            "income": income,
            "diagnosis": diagnoses(rng, age, bmi),
        }
    )


def diagnoses(rng: np.random.Generator, age: np.ndarray, bmi: np.ndarray) -> list[str]:
    """One diagnosis per patient; age and weight raise the odds of some of them."""
    old, heavy = (age - 50) / 20.0, (bmi - 25) / 4.0
    zero = np.zeros(len(age))
    odds = np.stack(
        [
            1.6 - 0.5 * old,
            -0.5 - 0.2 * old,
            -0.4 + 0.8 * old + 0.5 * heavy,
            -1.0 + 0.5 * old + 0.9 * heavy,
            -1.0 + 0.9 * old + 0.2 * heavy,
            -0.6 + zero,
            -0.8 - 0.4 * old,
            -2.4 + 1.4 * old + 0.3 * heavy,
        ]
    )
    drawn = np.argmax(odds + rng.gumbel(size=odds.shape), axis=0)
    return [_DIAGNOSES[choice] for choice in drawn]


_JOBS = ("office", "care", "trade", "transport", "teaching", "farming", "building", "retired")
_CHAPTERS = ("I10", "I21", "I48", "I50", "J18", "J44", "J45", "E11", "E66", "M16", "M54", "F32", "S72", "K35")


def extract(n: int = 1200, seed: int = 2025) -> pa.Table:
    """A raw extract of n invented stays in a clinic, as such tables are: text, dates, codes, marks and gaps.

    Case number (identifier), date of birth as day.month.year, sex, postcode with leading zeros, occupation, pain
    at admission (none to severe), weight in kg, time of admission, main diagnosis (an ICD code), and length of
    the stay and costs (confidential). Missing values are empty, "?" or "NA"; a weight of -9 was not measured.
    """
    rng = np.random.default_rng(seed)
    born = np.datetime64("1932-01-01") + rng.integers(0, 365 * 75, n).astype("timedelta64[D]")
    age = (np.datetime64("2024-06-30") - born).astype(int) / 365.25
    region = rng.choice(8, n, p=rng.dirichlet(np.full(8, 3.0)))
    postcode = [f"{1000 + 97 * place + rng.integers(0, 30):05d}" for place in region]
    sex = rng.choice(["f", "m"], n, p=[0.52, 0.48])
    job = np.where(age > 66, _JOBS[-1], np.array(_JOBS)[(region + rng.integers(0, 3, n)) % 7])
    old = (age - 55) / 20
    pain = np.clip(np.rint(rng.normal(1.2 + 0.3 * old, 1.0)), 0, 3).astype(int)
    weight = np.round(rng.normal(np.where(sex == "m", 83, 69), 12), 1)
    day = np.datetime64("2024-01-01") + rng.integers(0, 366, n).astype("timedelta64[D]")
    minute = np.clip(np.rint(rng.normal(11 * 60, 200, n)), 0, 1439).astype(int)
    odds = rng.gumbel(size=(n, len(_CHAPTERS))) + np.outer(old, np.linspace(1.0, -1.0, len(_CHAPTERS)))
    chapter = odds.argmax(axis=1)
    days = np.rint(rng.gamma(2.0, 2.0 + np.clip(old, 0, None), n)).astype(int) + 1

    def lacking(values: list[str], share: float, mark: str) -> list[str]:
        gone = rng.random(n) < share
        return [mark if gap else value for value, gap in zip(values, gone, strict=True)]

    return pa.table(
        {
            "case_id": [f"C{number:06d}" for number in rng.permutation(10 * n)[:n]],
            "born": lacking([d.item().strftime("%d.%m.%Y") for d in born], 0.03, ""),
            "sex": lacking(sex.tolist(), 0.02, "?"),
            "postcode": postcode,
            "occupation": lacking(job.tolist(), 0.06, "NA"),
            "pain": [("none", "mild", "moderate", "severe")[level] for level in pain],
            "weight": lacking([f"{value:.1f}" for value in weight], 0.05, "-9"),
            "admitted": [f"{d} {m // 60:02d}:{m % 60:02d}" for d, m in zip(day, minute, strict=True)],
            "icd": [f"{_CHAPTERS[c]}.{rng.integers(0, 4)}" for c in chapter],
            "days": days,
            "costs": np.rint(rng.lognormal(6.5, 0.4, n) * days).astype(int),
        }
    )


def sme() -> pa.Table:
    """Eleven small companies: the running example of Domingo-Ferrer, Sebe and Solanas (2008), Table 1."""
    return pa.table(
        {
            "company": [
                *("A&A Ltd", "B&B SpA", "C&C Inc", "D&D BV", "E&E SL", "F&F GmbH"),
                *("G&G AG", "H&H SA", "I&I LLC", "J&J Co", "K&K Sarl"),
            ],
            "surface": [790, 710, 730, 810, 950, 510, 400, 330, 510, 760, 50],
            "employees": [55, 44, 32, 17, 3, 25, 45, 50, 5, 52, 12],
            "turnover": [
                *(3212334, 2283340, 1989233, 984983, 194232, 119332),
                *(3012444, 4233312, 159999, 5333442, 645223),
            ],
            "net_profit": [
                *(313250, 299876, 200213, 143211, 51233, 20333),
                *(501233, 777882, 60388, 1001233, 333010),
            ],
        }
    )
