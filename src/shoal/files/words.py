"""Words: how people call the columns of tables, and what they write where a value is missing."""

import re
from collections.abc import Sequence

from shoal.files.spelling import MISSING

NAMES = "name surname email phone ssn passport iban street address url"
NAMES_AT_THE_END = "first last mail mobile fax account id ip firstname lastname fullname username"
"""Words that name a person where a name ends in them; not so in `first_visit` or `account_balance`."""
_NUMBERS = "no nr num number id key"
_NUMBERED = (
    "patient person people customer cust client user member utility account record household subject case "
    "employee emp student company firm order row object respondent participant loan policy invoice card insurance"
)
CONFIDENTIAL = (
    "diagnosis disease icd condition medication treatment drug salary wage turnover profit debt religion "
    "crime offence grade test result hiv"
)
QUASI = (
    "age birth born year dob date zip post postcode postal height weight income sex gender race ethnic "
    "education marital occupation job city town region county state country household children employees "
    "surface nationality hours"
)
_OTHERS = (
    "column code count number num nr index key type class label group status value amount total sum mean "
    "price cost rate score level size length width area time day month week hour start end note notes "
    "comment description title category person patient customer company firm visit dose sales revenue "
    "assets tax lat lon latitude longitude unit weightkg smoker bmi "
    # German, French, Spanish, Italian, Portuguese, Dutch
    "alter geschlecht plz ort stadt strasse straße land vorname nachname geburtsdatum datum jahr monat tag beruf "
    "einkommen gehalt größe groesse gewicht diagnose nummer wert anzahl betrag umsatz preis menge firma kunde "
    "sexe nom prenom prénom ville pays annee année mois jour revenu salaire taille poids profession "
    "edad sexo nombre apellido ciudad pais país fecha año mes ingreso salario altura peso provincia "
    "eta età sesso nome cognome citta città anno mese reddito stipendio altezza professione "
    "idade cidade renda leeftijd geslacht naam plaats inkomen gewicht lengte"
)
COLUMNS = frozenset(f"{NAMES} {NAMES_AT_THE_END} {CONFIDENTIAL} {QUASI} {_OTHERS}".split())
"""Words that name columns."""

_MISSING = (
    "n.a.|n.a|none|nil|??|..|...|-|--|---|*|missing|unknown|unspecified|undefined|"
    "not available|not applicable|not known|not stated|not given|no answer|no data|refused|tbd|empty|blank|"
    "unk|ni|asku|mskd|nask|nat|dk|rf|don't know|prefer not to say|declined|withheld|pending|invalid|error|"
    "not done|see note|void|verweigert|"
    "unbekannt|keine angabe|k.a.|k. a.|k.a|keine|fehlt|inconnu|inconnue|non disponible|nd|n.d.|desconocido|"
    "desconocida|sin datos|sconosciuto|onbekend"
)
GAPS = frozenset([*MISSING, *_MISSING.split("|")])
"""What may stand for a missing value, in small letters; what always does is `MISSING`."""

TRUTHS = frozenset(["true", "false", "yes", "no", "ja", "nein", "oui", "non", "sí"])
"""What is a value wherever it stands, in small letters: no column is called so."""


def parts_of(name: str) -> list[str]:
    """The words in a name: those of birthYear and birth_year are birth and year."""
    return re.findall(r"[^\W\d_]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower())


def matched(name: str, words: str) -> str | None:
    """The first of the words that a column's name contains as a part of its own."""
    listed = words.split()
    return next((part for part in parts_of(name) if part in listed), None)


def numbering_words(parts: Sequence[str]) -> str | None:
    """The last words of a name, where they say that it numbers people or records: `patient no`, `patientnr`."""
    if len(parts) > 1 and parts[-1] in _NUMBERS.split() and parts[-2] in _NUMBERED.split():
        return f"{parts[-2]} {parts[-1]}"
    glued = "|".join(_NUMBERED.split()), "|".join(_NUMBERS.split())
    return parts[-1] if parts and re.fullmatch(rf"({glued[0]})({glued[1]})", parts[-1]) else None
