"""A case from a label such as 7:123: a file, a command, and the truth about both. Knows nothing of Shoal.

What is plain must be released. Where a careful reader could see the file in another way, a refusal is as good as
a right release. Where there is no right release, a refusal is asked for.
"""

import gzip
import re
from random import Random

import pyarrow as pa
from arrows import content_of, number_column, spoil, untouched, word_column
from case import Case, Column
from quantities import Quantity, categories, quantity
from texts import NAMES, Layout, add_text_columns, layout, marked, name_columns, rendered

METHODS = ["mdav"] * 14 + ["vmdav", "cbfs", "tfrp", "mst-partition", "mu-approx", "path-mhm", "blocked", "auto"]


def generate(label: str) -> Case:
    """The case of a label: the same one every time."""
    rng = Random(label)
    n = round(300 ** rng.random()) if rng.random() < 0.8 else rng.randint(1, 12)
    output = "safe." + rng.choice(["csv"] * 6 + ["csv.gz", "tsv", "parquet", "arrow"])
    case = Case(label, "people.csv", b"", [], 1, output)
    if rng.random() < 0.75:
        as_text(rng, case, n)
    else:
        as_arrow(rng, case, n)
    ask(rng, case, n)
    return case


def ask(rng: Random, case: Case, n: int) -> None:
    """k, the settings and the ways that a case is tried in."""
    case.k = rng.randint(1, min(n, rng.choice([3, 6, 6, n])))
    if rng.random() < 0.02:
        case.k = n + rng.randint(1, 5)
        case.refuse("k is more than the records")
    settings = case.settings
    settings["method"] = rng.choice(METHODS)
    quasi = case.called("quasi")
    if len(quasi) == 1 and rng.random() < 0.3:
        settings["method"] = "univariate-optimal"
    if rng.random() < 0.15:
        settings["scaling"] = rng.choice(["range", "robust", "none", "zscore"])
        if settings["scaling"] in ("robust", "none"):
            case.doubt(f"scaling {settings['scaling']}")
    if rng.random() < 0.15:
        settings["attribute_weights"] = {
            name: rng.choice([0.5, 2.0, 10.0]) for name in [rng.choice(quasi)] if name
        }
    if rng.random() < 0.2:
        settings["aggregate"] = rng.choice(["median", "mean"])
    if rng.random() < 0.1:
        settings["exact"] = True
    if rng.random() < 0.06:
        settings["digits"] = rng.randint(-2, 5)
        if settings.get("exact"):
            case.refuse("exact and digits")
    if rng.random() < 0.1:
        settings["random_state"] = rng.randrange(10**6)
    for option, chance in (("--quiet", 0.1), ("--json", 0.1)):
        if rng.random() < chance:
            case.extras.append(option)
    if rng.random() < 0.04:
        case.extras.append("--strict")
        case.doubt("columns without a role may leak")
    if rng.random() < 0.03:
        case.extras += ["--memory", rng.choice(["1GB", "2 GiB", "800MB"])]
    chances = {
        "blocks 1": 0.08,
        "blocks 2": 0.08,
        "recipe": 0.05,
        "verify": 0.05,
        "inspect": 0.05,
        "report": 0.003,
    }
    case.ways = [way for way, chance in chances.items() if rng.random() < chance]
    if rng.random() < 0.1:
        settings["keep_order"] = True
    if rng.random() < 0.1:
        settings["key"] = f"{rng.getrandbits(128):032x}"
        if settings.get("keep_order"):
            case.refuse("an order that is kept and a key for another")


# Text.


def as_text(rng: Random, case: Case, n: int) -> None:
    """A CSV file."""
    made = layout(rng)
    numbers = [quantity(rng, n) for _ in range(rng.choice([1, 1, 2, 2, 3, 4, 8]))]
    choose_sign(rng, case, made, numbers, n)
    for found in numbers:
        case.columns.append(column_of(found, case.decimal))
        note(case, found, made)
    for _ in range(rng.choice([0, 0, 1, 2])):
        words = categories(rng, n)
        case.columns.append(Column("", "quasi", words, kind="category", words=words))
        case.notes.append("categories")
    add_text_columns(rng, case, made, n)
    name_columns(rng, case, made)
    if any(
        not encodes(text, made.encoding)
        for column in case.columns
        for text in [column.name, *(column.texts or [])]
    ):
        made.encoding = "utf-8"
    say_dialect(rng, case, made)
    rows = [list(row) for row in zip(*(column.texts for column in case.columns if column.texts), strict=True)]
    header = heading(rng, case, rows)
    damage(rng, case, made, [header, *rows] if header else rows)


def choose_sign(rng: Random, case: Case, made: Layout, numbers: list[Quantity], n: int) -> None:
    """The decimal sign; where points or commas stand between thousands, another column shows the decimal sign."""
    if made.delimiter != "," and rng.random() < 0.4:
        case.decimal = ","
    grouping = {found.grouping for found in numbers} & {",", "."}
    if grouping:
        case.decimal = "." if "," in grouping else ","
        numbers[:] = [
            found for found in numbers if found.grouping in ("", "'", " ", "," if case.decimal == "." else ".")
        ]
        numbers.append(Quantity([f"{rng.randint(0, 9)}.{rng.randint(10, 99)}" for _ in range(n)], kind="float"))
        if case.decimal == "," == made.delimiter:
            made.delimiter = ";"


def column_of(found: Quantity, decimal: str) -> Column:
    """A quasi-identifier with its numbers as they stand in the file."""
    texts = [text if found.grouping else text.replace(".", decimal) for text in found.texts]
    as_floats = any("e" in text.lower() for text in found.texts) and found.kind == "float"
    decimals = None if as_floats else found.decimals
    values, kind = found.values, found.kind
    return Column("", "quasi", texts, None, values, kind, decimals, grouping=found.grouping, long=found.long)


def note(case: Case, found: Quantity, made: Layout) -> None:
    """What is special about a column of numbers, and what a reader could mistake."""
    if found.verdict == "refuse":
        case.refuse(found.note)
    elif found.grouping and found.grouping.isascii() and "thousands" not in case.dialect and len(found.texts) % 2:
        case.dialect |= {"thousands": found.grouping, "decimal": case.decimal}
        case.notes.append(f"{found.note}, as the command says")
    elif found.verdict == "either":
        case.doubt(found.note)
    if all(re.fullmatch(r"[+-]?[0-9]{1,3}(\.[0-9]{3})?", text) for text in found.texts) and found.decimals == 3:
        case.doubt("three decimals, which could be thousands")
    if case.decimal == "," and made.delimiter == ",":
        case.doubt("decimal commas between commas")


def say_dialect(rng: Random, case: Case, made: Layout) -> None:
    """What the command must say about the file, and what it may say."""
    said = case.dialect
    known = made.encoding in ("utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16")
    guessed = known or made.encoding.startswith("utf")
    if not guessed or rng.random() < (0.1 if known else 0.6):
        said["encoding"] = made.encoding
    elif not known:
        case.doubt(f"{made.encoding} is not said")
    if made.delimiter not in ",;\t|" or rng.random() < 0.1:
        said["delimiter"] = made.delimiter
    if (made.quote == "'" and made.quoting != "all") or rng.random() < 0.05:
        said["quote"] = made.quote
    shown = any("," in text for column in case.columns if column.role == "quasi" for text in column.texts or [])
    if case.decimal == "," and shown:
        misleading = [
            text
            for column in case.columns
            if column.values is None or column.grouping
            for text in column.texts or []
            if re.fullmatch(r"[+-]?[0-9]*\.[0-9]+", text)
        ]
        if rng.random() < 0.3:
            said["decimal"] = ","
        elif misleading:
            case.doubt("decimal commas beside numbers with points")
    case.notes.append(f"{made.delimiter!r} {made.quote} {made.encoding} {made.newline!r} {made.quoting}")
    if made.separator:
        case.doubt("a first line with sep=")
    if made.blanks in ("before", "between"):
        case.doubt(f"blank lines {made.blanks}")


def encodes(text: str, encoding: str) -> bool:
    """Whether a text can be written so."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def heading(rng: Random, case: Case, rows: list[list[str]]) -> list[str] | None:
    """The header, if the file has one; the command may say whether it has, and what the columns are called."""
    names = [column.name for column in case.columns]
    chance = rng.random()
    if chance > 0.1:
        if chance > 0.96 or (chance > 0.5 and any("names: " in note for note in case.notes)):
            case.dialect["header"] = True
        elif chance > 0.94 and len(set(names)) == len(names):
            case.given_names = rng.sample([f"called{number}" for number in range(99)], len(names))
            case.dialect |= {"header": True, "names": case.given_names}
            case.doubt("a header and other names")
        elif any("names: " in note for note in case.notes):
            case.doubt("odd names, which could be a record")
        return names
    case.header = False
    case.notes.append("no header")
    if len(rows) == 1:
        case.doubt("a single record shows little")
    if case.decimal == "," and "delimiter" not in case.dialect:
        case.doubt("decimal commas, which could be delimiters, and no header")
    case.verdict = "either" if case.verdict == "either" and "names" in "".join(case.notes) else case.verdict
    if chance > 0.04:
        case.dialect["header"] = False
        if rng.random() < 0.5:
            case.given_names = rng.sample(NAMES + [f"n{number}" for number in range(20)], len(names))
            case.dialect["names"] = case.given_names
        return None
    for column, text in zip(case.columns, rows[0], strict=True):  # so a hurried owner would call them
        column.name = text
    case.given_names = rows[0]
    case.refuse("nobody said that there is no header")
    return None


def damage(rng: Random, case: Case, made: Layout, rows: list[list[str]]) -> None:
    """The bytes of the file, sometimes not as they should be."""
    chance = rng.random()
    if chance < 0.02 and len(rows[0]) > 1 and len(rows) > 1:
        row = rows[rng.randrange(1, len(rows))]
        row.append("1") if rng.random() < 0.5 else row.pop()
        case.refuse("a row with too many or too few fields")
    elif chance < 0.025:
        rows = rows[:1] if case.header else []
        case.refuse("no records")
    content = rendered(rng, rows, made)
    if not rows:
        content = rng.choice([b"", b"\n", b"  \n\n"])
    if 0.03 < chance < 0.04 and made.quoting == "all" and made.encoding == "utf-8":
        content = content.rstrip(b"\r\n")[:-1]
        case.doubt("the last quote is missing")
    case.name = rng.choice(["people.csv"] * 8 + ["people.txt", "my people é.csv", "people.tsv", "people"])
    if rng.random() < 0.05:
        case.name, content = "people.csv.gz", gzip.compress(content)
        if rng.random() < 0.1:
            content = content[: len(content) // 2]
            case.refuse("half a gzip file")
    case.content = content


# Types.


def as_arrow(rng: Random, case: Case, n: int) -> None:
    """A Parquet or Arrow file."""
    case.columns = [number_column(rng, n) for _ in range(rng.choice([1, 2, 2, 3, 5]))]
    case.columns += [word_column(rng, n) for _ in range(rng.choice([0, 0, 1, 2]))]
    for _ in range(rng.choice([0, 1, 2, 3])):
        role = rng.choice(["confidential", "other", "identifier"])
        array = pa.array(marked(n)) if role == "identifier" else untouched(rng, n)
        case.columns.append(Column("", role, array=array))
    rng.shuffle(case.columns)
    name_columns(rng, case, Layout())
    rare = ("run_end", "union", "interval", "extension", "uuid")
    for column in case.columns:
        case.notes.append(str(column.array.type))
        if any(word in str(column.array.type) for word in rare) and column.role != "quasi":
            case.doubt("a rare type")
    if rng.random() < 0.05:
        spoil(rng, case)
    case.name = rng.choice(["people.parquet", "people.pq", "people.arrow", "people.feather", "people.ipc"])
    case.notes += ["stream"] if rng.random() < 0.2 else []
    if rng.random() < 0.02:
        case.dialect["delimiter"] = ";"
        case.refuse("a delimiter for a file that is not text")
    try:
        case.content = content_of(rng, case)
    except (pa.ArrowException, NotImplementedError, OSError):  # Parquet has no such type
        case.name = "people.arrow"
        case.content = content_of(rng, case)
    if rng.random() < 0.01:
        case.content = case.content[: len(case.content) // 2]
        case.refuse("half a file")
