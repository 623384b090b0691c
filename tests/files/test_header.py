"""A corpus of small files with and without headers: read right or refused, never wrong."""

import gzip

import pytest

from shoal.errors import ShoalError
from shoal.files import read
from shoal.files.header import is_number_or_date, shape

# Files with a header that is plain to see: they must get in without a word.
CLEAR = {
    "numbers": "age,zip,income\n34,89073,41000\n51,89075,38000\n",
    "numbers and text": "name,age,city\nAnna,34,Ulm\nBert,51,Bonn\n",
    "capital names": "AFNLWGT,AGI,FEDTAX\n270914,45554,4621\n1,2,3\n",
    "names with hyphens": "age,education-num,hours-per-week\n39,13,40\n50,13,13\n",
    "one letter": "x,y\n1,2\n3,4\n",
    "one letter over text": "x,y\n1,a\n1.0,a\n",
    "letters in a row": "a,b,c\n1,x,2020-01-01\n2,y,2021-05-07\n",
    "one column": "x\n1\n2\n3\n",
    "one column, a word": "weight\n71.5\n80.25\n",
    "one row": "age,zip\n34,89073\n",
    "one row with text": "name,age\nAnna,34\n",
    "dates": "id,admitted,left\n1,2020-01-31,2020-02-03\n2,2021-11-05,2021-11-06\n",
    "dates with words": "city,seen\nUlm,12 Jan 2020\nBonn,3 February 2021\n",
    "times": "start,end\n10:30,11:45\n09:00,12:15\n",
    "german": "Alter;PLZ;Geschlecht\n34;89073;w\n51;89075;m\n",
    "german with names": "Name;Alter;Größe\nAnna;34;1,71\nBert;51;1,80\n",
    "french": "Nom;Âge;Ville\nAnne;34;Lyon\nJean;51;Paris\n",
    "spanish": "edad,sexo,ingreso\n34,m,1200\n51,h,1500\n",
    "greek": "ηλικία,βάρος\n34,71\n51,80\n",
    "units": "height (cm),weight [kg]\n171,71.5\n180,80.1\n",
    "several words": "Year of birth,Monthly income\n1980,3000\n1975,4100\n",
    "camel case": "birthYear,homeTown\n1980,Ulm\n1975,Bonn\n",
    "snake case": "first_name,birth_year\nAnna,1980\nBert,1975\n",
    "quoted": '"age","city"\n"34","Ulm"\n"51","Bonn"\n',
    "single quotes": "'age','city'\n'34','Ulm'\n'51','Bonn'\n",
    "index of pandas": ",age,zip\n0,34,89073\n1,51,89075\n",
    "row names of R": '"","mpg","cyl"\n"Mazda RX4",21,6\n"Datsun 710",22.8,4\n',
    "numbered names": "x1,x2,x3\n1,2,3\n4,5,6\n",
    "our own names": "column1,column2\n34,Ulm\n51,Bonn\n",
    "gaps": "age,income\n34,NA\n?,41000\n51,\n",
    "first record all gaps": "age,income\nNA,NA\n51,3000\n",
    "truth": "smoker,sports\ntrue,false\nfalse,false\n",
    "yes and no": "smoker,age\nyes,34\nno,51\n",
    "decimal commas": "Preis;Menge\n1,50;3\n2,25;4\n",
    "thousands": 'price,count\n"1,234.50",3\n"2,000.25",4\n',
    "exponents": "p,q\n1e-5,2e3\n3e-7,4e2\n",
    "negative": "gain,loss\n-1,+2\n-3,+4\n",
    "money": "salary,bonus\n$1200,$10\n$900,$30\n",
    "percent": "share,count\n12 %,3\n30 %,4\n",
    "tabs": "age\tcity\n34\tUlm\n51\tBonn\n",
    "bars": "age|city\n34|Ulm\n51|Bonn\n",
    "sep": "sep=;\nage;city\n34;Ulm\n51;Bonn\n",
    "text and words for columns": "name,city,diagnosis\nAnna,Ulm,flu\nBert,Bonn,gout\n",
    "text and capital words": "Name,City,Country\nAnna,Ulm,Germany\nBert,Lyon,France\n",
    "spaces around": " age , zip \n 34 , 89073 \n 51 , 89075 \n",
    "codes with zeros": "postcode,n\n01234,5\n09876,7\n",
    "an empty last column": "age,zip,\n34,89073,\n51,89075,\n",
    "iris": "sepal_length,sepal_width,species\n5.1,3.5,setosa\n4.9,3.0,setosa\n",
    "a long name": "How old were you on the first day of this year?,n\n34,1\n51,2\n",
    "blank lines": "\nage,zip\n\n34,89073\n51,89075\n",
    "a line end in a name": '"age\n(years)",zip\n34,89073\n51,89075\n',
}

# Files with a header that is hard to tell: right or refused.
HARD = {
    "years": "region,2019,2020\nnorth,3,4\nsouth,5,6\n",
    "years only": "2019,2020\n3,4\n5,6\n",
    "months": "region,Jan 2020,Feb 2020\nnorth,3,4\nsouth,5,6\n",
    "text only": "a,b\nx,y\nx,z\n",
    "text of one column": "city\nUlm\nBonn\n",
    "a name among the values": "group,label\nlabel,group\ngroup,x\n",
    "answers": "yes,no\n12,3\n4,5\n",
    "a name twice": "zip,zip\n1,2\n3,4\n",
    "two lines of header": "size,mass\ncm,kg\n171,71\n",
    "a code": "Q1,answer\n3,good\n4,bad\n",
    "a gap for a name": "NA,age\n1,34\n2,51\n",
    "text below numbers": "value\n1\n2\nthree\n",
}

# Files without a header.
NONE = {
    "numbers": "34,89073,41000\n51,89075,38000\n",
    "numbers and text": "Anna,34,Ulm\nBert,51,Bonn\n",
    "adult": "39,State-gov,77516,Bachelors,13,<=50K\n50,Private,83311,Masters,14,>50K\n38,Private,215646,HS-grad,9,<=50K\n",
    "text": "Anna,Ulm\nBert,Bonn\nCarl,Köln\n",
    "text that repeats": "m,Ulm\nf,Bonn\nm,Ulm\n",
    "text of one column": "Anna\nBert\nCarl\n",
    "a first word that names columns": "state\nwater\nfire\n",
    "numbers of one column": "34\n51\n47\n",
    "one row": "34,89073\n",
    "one row with text": "Anna,34\n",
    "two rows": "Anna,34\nBert,51\n",
    "dates": "2020-01-31,2020-02-03\n2021-11-05,2021-11-06\n",
    "dates and text": "Anna,31.01.2020\nBert,05.11.2021\n",
    "dates with words": "first,12 Jan 2020\nsecond,3 February 2021\n",
    "times": "Anna,10:30\nBert,09:00\n",
    "a gap first": "Smith,NA\nJones,34\nBrown,41\n",
    "a word for a gap first": "Smith,unknown\nJones,34\nBrown,41\n",
    "a german word for a gap": "Schmidt;k.A.\nMeier;34\nBraun;41\n",
    "nothing first": "Smith,\nJones,34\nBrown,41\n",
    "a dash first": "Smith,-\nJones,34\nBrown,41\n",
    "a number in words first": "Anna,thirty\nBert,34\nCarl,41\n",
    "about": "Anna,approx. 30\nBert,34\nCarl,41\n",
    "a house number": "Anna,12B\nBert,34\nCarl,41\n",
    "a code over numbers": "Anna,E11\nBert,401\nCarl,250\n",
    "two codes over numbers": "Anna,E11,E78\nBert,401,272\nCarl,250,272\n",
    "a cross for a gap": "Anna,x\nBert,34\nCarl,41\n",
    "a pair of languages": "sex,Geschlecht\nhouse,Haus\ntree,Baum\n",
    "a list of variables": "age,Age in years\nsex,Sex of the person\nzip,Postcode of the home\n",
    "decimal commas": "Anna;1,71\nBert;1,80\n",
    "thousands": 'Anna,"1,234"\nBert,"2,000"\n',
    "money": "Anna,$1200\nBert,$900\n",
    "truth": "Anna,true\nBert,false\n",
    "yes and no": "Anna,yes\nBert,no\n",
    "years": "1980,Ulm\n1975,Bonn\n",
    "quoted": '"Anna","34"\n"Bert","51"\n',
    "sep": "sep=;\nAnna;34\nBert;51\n",
    "mail": "anna@example.org,34\nbert@example.org,51\n",
    "coordinates": "48.4,9.98\n50.7,7.1\n",
    "a record twice": "1,1\n1,1\n",
    "telephone": "Anna,+49 731 123\nBert,+49 228 456\n",
    "addresses": "12 Main Street,Ulm\n14 State Street,Bonn\n",
    "hyphens": "State-gov,Never-married\nPrivate,Divorced\nState-gov,Never-married\n",
    "exponents": "1e-5,2e3\n3e-7,4e2\n",
    "codes with zeros": "01234,Ulm\n09876,Bonn\n",
    "infinity": "Anna,inf\nBert,3\n",
    "percent": "north,12 %\nsouth,30 %\n",
}


def outcome(tmp_path, text):
    """What a file is read as: header, none, or refused."""
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    try:
        source = read(path)
    except ShoalError:
        return "refused"
    return "header" if source.dialect.header else "none"


def test_the_corpus_has_more_than_a_hundred_files():
    assert len(CLEAR) + len(HARD) + len(NONE) > 100


@pytest.mark.parametrize("kind", CLEAR)
def test_a_clear_header_is_accepted(tmp_path, kind):
    assert outcome(tmp_path, CLEAR[kind]) == "header"


@pytest.mark.parametrize("kind", HARD)
def test_a_header_is_never_taken_for_a_record(tmp_path, kind):
    assert outcome(tmp_path, HARD[kind]) in ("header", "refused")


@pytest.mark.parametrize("kind", NONE)
def test_a_record_is_never_taken_for_a_header(tmp_path, kind):
    assert outcome(tmp_path, NONE[kind]) in ("none", "refused")


@pytest.mark.parametrize("text", [*CLEAR.values(), *HARD.values()])
def test_a_file_that_has_lost_its_header_is_refused(tmp_path, text):
    if text in (HARD["a name among the values"], HARD["two lines of header"]):
        return  # what is left looks like a header, or is one
    body = text.removeprefix("sep=;\n").strip("\n")
    lost = body.split("\n", 2 if "(years)" in body else 1)[-1]
    assert outcome(tmp_path, lost) == "refused"


@pytest.mark.parametrize("given", [True, False])
def test_what_is_said_is_believed(tmp_path, given):
    path = tmp_path / "t.csv"
    path.write_text("Anna,34\nBert,51\n")
    source = read(path, header=given)
    assert source.dialect.header is given
    assert source.text.column_names == (["Anna", "34"] if given else ["column1", "column2"])
    assert source.text.num_rows == (1 if given else 2)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("39,State-gov\n50,Private\n", "looks like a record, not like a header ('39' is a number)"),
        ("2020-01-31,a\n2021-11-05,b\n", "('2020-01-31' is a date)"),
        ("m,Ulm\nf,Bonn\nm,Köln\n", "('m' occurs again below)"),
        ("Smith,?\nJones,34\n", "('?' is a value, not a name)"),
        ("Anna,Ulm\nBert,Bonn\n", "it is not clear whether the first line of t.csv is a header or a record"),
        ("39,13\n", "the only line of t.csv looks like a record"),
        ("age,zip\n", "has a header but no records"),
    ],
)
def test_the_refusal_says_why_and_what_to_do(tmp_path, text, reason):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(ShoalError) as caught:
        read(tmp_path / "t.csv")
    assert reason in str(caught.value)
    if "no records" not in reason:
        assert "--no-header" in str(caught.value)
        assert "--header" in str(caught.value)
        assert "header=False" in str(caught.value)


@pytest.mark.parametrize("name", ["adult.csv.gz", "census.csv", "eia.csv", "tarragona.csv"])
def test_real_tables_with_and_without_their_first_line(shared, tmp_path, name):
    content = (shared / "data" / name).read_bytes()
    text = (gzip.decompress(content) if name.endswith(".gz") else content).decode()[:300_000]
    whole = text[: text.rindex("\n") + 1]
    assert outcome(tmp_path, whole) == "header"
    assert outcome(tmp_path, whole.split("\n", 1)[1]) == "refused"


def test_numbers_and_dates_in_usual_spellings():
    yes = [
        "1",
        "-1.5",
        "+2",
        "1,5",
        "1.234,5",
        "1e-5",
        "$12",
        "12%",
        "2020-01-31",
        "31.01.2020",
        "1/2/20",
        "10:30",
        "2020-01",
        "inf",
    ]
    no = ["age", "x1", "E11", "12B", "a.b", "1st", "2019_income", "Q1"]
    assert all(map(is_number_or_date, [*yes, "12 Jan 2020", "Feb 2020", "1 234 567", "2020-01-31 10:30:00"]))
    assert not any(map(is_number_or_date, [*no, "May", "12 Main Street"]))


def test_shapes():
    assert [shape(text) for text in ("Self-emp-inc", "12 Main St", "ULM", "x_1")] == [
        "Aa-a-a",
        "0 Aa Aa",
        "A",
        "a_0",
    ]


@pytest.mark.parametrize("word", ["UNK", "declined", "hemolyzed", "thirty"])
def test_a_word_over_one_column_of_numbers_makes_no_header_of_a_record(word, tmp_path):
    records = "".join(f"Anna B{number},{number * 37 % 60 + 20}\n" for number in range(1, 21))
    (tmp_path / "t.csv").write_text(f"Xaver Zu,{word}\n{records}")
    with pytest.raises(ShoalError, match="--no-header"):
        read(tmp_path / "t.csv")
