"""CSV files as people and programs write them: dialects, encodings, names of columns, text of every sort."""

from dataclasses import dataclass
from random import Random

from case import MARK, Case, Column

WORDS = ["flu", "gout", "none", "north", "south", "red", "blue", "single", "married", "abc def", "x-y", "a/b"]
NAMES = ["age", "zip", "income", "weight", "height", "children", "score", "diagnosis", "town", "person", "comment"]
ENCODINGS = ["utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"]
ENCODINGS += ["shift_jis", "koi8-r", "cp1250", "gb18030"]
LETTERS = {
    "utf-8": "éüñßØ漢字Жя😀\N{NO-BREAK SPACE}",
    "latin-1": "éüñßØ",
    "cp1252": "éüñß€”",
    "shift_jis": "漢字かな",
    "koi8-r": "Жяю",
    "cp1250": "őžŁ",
    "gb18030": "漢字éü😀",
}


@dataclass
class Layout:
    """How a CSV file is written."""

    delimiter: str = ","
    quote: str = '"'
    encoding: str = "utf-8"
    newline: str = "\n"
    quoting: str = "needed"  # needed, all, some
    ends: bool = True  # with a newline after the last record
    blanks: str = ""  # before, between or after the records
    separator: bool = False  # a first line such as sep=;
    bom: bytes = b""


def letters(encoding: str) -> str:
    """Letters beyond ASCII that an encoding has."""
    return LETTERS.get(encoding, LETTERS["utf-8"])


def texts(rng: Random, n: int, layout: Layout) -> tuple[list[str], str]:
    """A column of text, and what is special about it."""
    kinds = ["words", "words", "words", "letters", "numbers", "codes", "gaps", "dates"]
    kinds += ["delimiters", "quotes", "lines", "formulas", "blanks", "same commas", "apostrophes", "zeros"]
    kind = rng.choice(kinds)
    special = {
        "letters": list(letters(layout.encoding)),
        "delimiters": [f"a{layout.delimiter}b", layout.delimiter, f"{layout.delimiter}{layout.delimiter}x"],
        "quotes": [f"5{layout.quote}", layout.quote, f"say {layout.quote}no{layout.quote}", layout.quote * 2],
        "lines": ["two\nlines", "two\r\nlines", "\n", "stop\n"],
        "formulas": ["=1+1", "+cmd", "-2+3", "@A1*2", "\tx"],
        "blanks": [" x", "x ", "  ", " "],
        "apostrophes": ["'tis", "o'clock", "'", "rock 'n' roll"],
        "gaps": ["", "NA", "null", "nan"],
    }
    if kind in special:
        usual = rng.random()
        return [rng.choice(WORDS if rng.random() < usual else special[kind]) for _ in range(n)], kind
    if kind == "numbers":
        return [rng.choice([str(rng.randint(-9, 9)), f"{rng.random():.2f}"]) for _ in range(n)], kind
    if kind == "codes":
        return [f"{rng.randint(0, 999):05d}" for _ in range(n)], kind
    if kind == "zeros":
        return [rng.choice(["0", "-0", "00", "+1", "1e5", "1.50", "9" * 25]) for _ in range(n)], kind
    if kind == "dates":
        return [f"{rng.randint(1990, 2020)}-{rng.randint(1, 12):02d}-0{rng.randint(1, 9)}" for _ in range(n)], kind
    if kind == "same commas":
        return [f"Doe{layout.delimiter} {rng.choice(WORDS)}" for _ in range(n)], kind
    return [rng.choice(WORDS) for _ in range(n)], kind


def marked(n: int) -> list[str]:
    """Texts that must never leave."""
    return [f"{MARK}{number}" for number in range(n)]


def layout(rng: Random) -> Layout:
    """Some way to write a file."""
    made = Layout(delimiter=rng.choice(",,,,;;;\t\t|"), quote=rng.choice('"""""""\''))
    made.newline = rng.choice(["\n", "\n", "\n", "\r\n", "\r\n", "\r"])
    made.quoting = rng.choice(["needed", "needed", "all", "some"])
    made.ends = rng.random() < 0.8
    if rng.random() < 0.4:
        made.encoding = rng.choice(ENCODINGS)
    if rng.random() < 0.05:
        made.delimiter = rng.choice([":", " ", "^", "~", "\x01", "#", "/", "!", "&", "%"])
    if rng.random() < 0.08:
        made.blanks = rng.choice(["before", "between", "after", "after"])
    made.separator = rng.random() < 0.02
    return made


def name_columns(rng: Random, case: Case, made: Layout) -> None:
    """Names of columns, from plain to odd."""
    names = rng.sample(NAMES, min(len(NAMES), len(case.columns)))
    names += [f"column {number}" for number in range(len(names), len(case.columns))]
    chance = rng.random()
    odd = {
        "spaces": [" a", "b ", "c  d", "\u00a0e"],
        "letters": list(letters(made.encoding)),
        "long": ["n" * 5000],
        "formulas": ["=A1", "+x", "-y", "@z"],
        "delimiters": [f"last{made.delimiter} first", f"{made.delimiter}"],
        "quotes": [f"say {made.quote}x{made.quote}", made.quote],
        "lines": ["two\nlines"],
        "cases": ["Age", "AGE", "aGe"],
    }
    doubtful = {"numbers": ["1", "2020", "3.5"], "empty": [""], "values": ["flu", "x-y"]}
    if chance < 0.25:
        kind = rng.choice(list(odd))
        for name in rng.sample(odd[kind], rng.randint(1, min(len(odd[kind]), len(names)))):
            names[rng.randrange(len(names))] = name
        case.notes.append(f"names: {kind}")
        if kind == "lines" and made.newline == "\r":
            case.doubt("line feeds in names of a file with carriage returns")
    elif chance < 0.33:
        kind = rng.choice(list(doubtful))
        names[rng.randrange(len(names))] = rng.choice(doubtful[kind])
        case.notes.append(f"names: {kind}")
        if kind == "empty" or case.columns[0].texts is None:
            case.doubt(f"names: {kind}")
    if len(set(names)) < len(names):
        case.doubt("two columns of one name")
        if rng.random() < 0.5 and case.columns[0].texts is not None:
            case.dialect["number_names"] = True
    for column, name in zip(case.columns, names, strict=True):
        column.name = name


def rendered(rng: Random, rows: list[list[str]], made: Layout) -> bytes:
    """The bytes of a file."""
    lines = [made.delimiter.join(field(rng, text, made, len(row) == 1) for text in row) for row in rows]
    if made.blanks == "between" and len(lines) > 2:
        lines.insert(rng.randrange(1, len(lines)), "")
    text = made.newline.join(lines) + (made.newline if made.ends else "")
    text = made.newline * (made.blanks == "before") + text + 2 * made.newline * (made.blanks == "after")
    if made.separator:
        text = f"sep={made.delimiter}{made.newline}{text}"
    return made.bom + text.encode(made.encoding)


def field(rng: Random, text: str, made: Layout, alone: bool) -> str:
    """One value, in quotes where it must be or by chance."""
    needed = any(sign in text for sign in (made.delimiter, made.quote, "\r", "\n")) or (alone and not text)
    if needed or made.quoting == "all" or (made.quoting == "some" and rng.random() < 0.3):
        return made.quote + text.replace(made.quote, 2 * made.quote) + made.quote
    return text


def add_text_columns(rng: Random, case: Case, made: Layout, n: int) -> None:
    """Columns that stay as they are, or never leave."""
    for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3])):
        role = rng.choice(["confidential", "confidential", "other", "identifier"])
        if role == "identifier":
            case.columns.append(Column("", role, marked(n)))
            continue
        values, kind = texts(rng, n, made)
        case.notes.append(f"text: {kind}")
        if kind == "lines" and made.newline == "\r":
            case.doubt("line feeds in values of a file with carriage returns")
        case.columns.append(Column("", role, values))
    rng.shuffle(case.columns)
