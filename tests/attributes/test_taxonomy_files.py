import json

import pytest
from hypothesis import given

from shoal.attributes.taxonomy import Taxonomy
from shoal.attributes.taxonomy_files import read_taxonomy
from shoal.errors import ShoalError
from trees import taxonomies

WORLD = {"World": None, "Europe": "World", "France": "Europe", "Spain": "Europe", "Asia": "World", "Japan": "Asia"}


def shown(taxonomy):
    names = taxonomy.nodes
    return {name: names[up] if up >= 0 else None for name, up in zip(names, taxonomy.parents, strict=True)}


def read(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "codes.txt"
    path.write_bytes(text.encode(encoding))
    return read_taxonomy(path)


SAME = {
    "objects": json.dumps({"World": {"Europe": {"France": {}, "Spain": {}}, "Asia": {"Japan": None}}}),
    "lists": json.dumps({"World": {"Europe": ["France", "Spain"], "Asia": ["Japan"]}}),
    "a list of objects": json.dumps({"World": [{"Europe": ["France", "Spain"]}, {"Asia": {"Japan": []}}]}),
    "names": json.dumps(
        {
            "name": "World",
            "children": [
                {"name": "Europe", "children": [{"name": "France", "value": 7}, {"name": "Spain"}]},
                {"name": "Asia", "children": ["Japan"]},
            ],
        }
    ),
    "child, parent": "child,parent\nEurope,World\nAsia,World\nFrance,Europe\nSpain,Europe\nJapan,Asia\n",
    "parent, child": "Parent;Code\nWorld;Europe\nWorld;Asia\nEurope;France\nEurope;Spain\nAsia;Japan",
    "no header": "Europe\tWorld\nFrance\tEurope\n\nSpain\tEurope\nAsia\tWorld\nJapan\tAsia\n",
    "a line of the root": "child,parent\nWorld,\nEurope,World\nFrance, Europe\nSpain,Europe\nAsia,World\nJapan,Asia\n",
    "ARX": "France;Europe;World\nSpain;Europe;World\nJapan;Asia;World\n",
    "ARX with commas": "France,Europe,World,World\r\nSpain,Europe,World,World\r\nJapan,Japan,Asia,World\r\n",
    "quotes": '"France";"Europe";"World"\n"Spain";"Europe";"World"\n"Japan";"Asia";"World"\n',
}


@pytest.mark.parametrize("form", SAME)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_content_tells_in_which_form_a_taxonomy_is(tmp_path, form, encoding):
    made = read(tmp_path, SAME[form], encoding)
    assert shown(made) == WORLD
    assert made.lengths == (0.0, 1.0, 1.0, 1.0, 1.0, 1.0)


def test_children_stay_in_their_order(tmp_path):
    for form in SAME.values():
        assert [name for name in read(tmp_path, form).nodes if name in ("France", "Spain")] == ["France", "Spain"]


def test_a_taxonomy_and_objects_of_python_are_taken_as_they_are():
    made = read_taxonomy({"World": {"Europe": ("France", "Spain"), "Asia": {"Japan": {}}}})
    assert shown(made) == WORLD
    assert read_taxonomy(made) is made
    assert shown(read_taxonomy({0: [1, 2]})) == {"0": None, "1": "0", "2": "0"}


@given(taxonomies())
def test_what_a_taxonomy_writes_is_read_again(made):
    assert read_taxonomy(made.as_dict()) == made
    tree = {"name": made.nodes[0], "children": []}
    below = [tree]
    for name, parent, length in zip(made.nodes[1:], made.parents[1:], made.lengths[1:], strict=True):
        below.append({"name": name, "length": length, "children": []})
        below[parent]["children"].append(below[-1])
    again = read_taxonomy(tree)
    assert shown(again) == shown(made)
    assert dict(zip(again.nodes, again.lengths, strict=True)) == dict(zip(made.nodes, made.lengths, strict=True))


@pytest.mark.parametrize(
    "text",
    [
        "child,parent,length\nb,a,2.5\nc,a,1\n",
        "weight;parent;child\n2,5;a;b\n1;a;c\n",
        'parent,child,length\na,b,"2,5"\na,c,1\n,a,\n',
        '{"name": "a", "children": [{"name": "b", "length": 2.5}, {"name": "c", "weight": 1}]}',
    ],
)
def test_edges_may_have_lengths(tmp_path, text):
    assert read(tmp_path, text) == Taxonomy(("a", "b", "c"), (-1, 0, 0), (0.0, 2.5, 1.0))


def test_two_top_values_of_arx_get_a_common_root(tmp_path):
    assert shown(read(tmp_path, "a;x\nb;y\n")) == {"*": None, "x": "*", "a": "x", "y": "*", "b": "y"}
    assert shown(read(tmp_path, "a;x;*\nb;y;Y\n")) == {"*": None, "x": "*", "a": "x", "Y": "*", "y": "Y", "b": "y"}


def test_a_leaf_of_arx_may_be_an_inner_node_too(tmp_path):
    assert shown(read(tmp_path, "A;A;*\nB;A;*\n*;*;*\n")) == {"*": None, "A": "*", "B": "A"}
    assert shown(read(tmp_path, "10115;1011*;101**\n10117;1011*;101**")) == {
        "101**": None, "1011*": "101**", "10115": "1011*", "10117": "1011*",
    }  # fmt: skip


def test_intervals_of_arx_are_no_json(tmp_path):
    assert shown(read(tmp_path, "[0, 10[;[0, 20[\n[10, 20[;[0, 20[\n")) == {
        "[0, 20[": None, "[0, 10[": "[0, 20[", "[10, 20[": "[0, 20[",
    }  # fmt: skip


def test_a_tree_of_one_node_is_a_taxonomy(tmp_path):
    assert shown(read(tmp_path, '{"A": {}}')) == {"A": None}
    assert shown(read(tmp_path, "child,parent\nA,\n")) == {"A": None}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "taxonomy codes.txt is no taxonomy; give a tree in JSON such as"),
        ("just words\nand more\n", "is no taxonomy"),
        ("{}", "taxonomy codes.txt is empty"),
        ("child,parent\n", "is empty"),
        ('{"A": {"B": {}}', "is not right as JSON (line 1: "),
        ("[1, 2", "is not right as JSON (line 1: "),
        ('{"A": {}, "B": {}}', "has 2 roots: 'A', 'B'; put them under one node"),
        ('["A", "B"]', "has 2 roots: 'A', 'B'"),
        ("child,parent\na,x\nb,y\n", "has 2 roots: 'x', 'y'"),
        ('{"R": {"A": ["C"], "B": ["C"]}}', "has 'C' in two places, below 'A' and below 'B'"),
        ('{"R": {"A": {}, "A": {}}}', "has 'A' twice below 'R'"),
        ('{"R": ["A", "A"]}', "has 'A' twice below 'R'"),
        ('{"R": {"R": {}}}', "has 'R' both as its root and below 'R'"),
        ('{"R": {"": {}}}', "has an empty name"),
        ('{"R": 7}', "has 7 below 'R' where its codes should stand"),
        ('{"R": [1.5]}', "has 1.5 in a list below 'R'"),
        ('{"R": [true]}', "has a node True"),
        ('{"name": "R", "kids": ["A"]}', "has 'kids' at 'R'; what is below a node stands in 'children'"),
        ('{"name": "R", "children": [{"name": "A", "length": 0}]}', "node 'A': a length is a number from 1e-09"),
        ('{"name": "R", "children": [{"name": "A", "length": "1"}]}', "a length is a number from 1e-09 to 1e+09, not '1'"),
        ("child,parent\na,b\nb,a\n", "goes in a circle: 'a' is below 'b' is below 'a'"),
        ("child,parent\na,b\nx,y\ny,x\n", "goes in a circle: 'x' is below 'y' is below 'x'"),
        ("child,parent\na,b\na,c\nc,b\n", "has 'a' in two places, below 'b' and below 'c'"),
        ("child,parent\na,b\na,b\n", "has 'a' twice below 'b'"),
        ("child,parent\n,b\n", "has an empty name in line 2"),
        ("child,parent,length\na,b,far\n", "line 2: a length is a number from 1e-09 to 1e+09, not 'far'"),
        ("child,parent,length\na,b,nan\n", "line 2: a length is a number"),
        ("child,parent,label\na,b,c\n", "has a column 'label'; keep the columns child, parent and length"),
        ("child,parent,code\na,b,c\n", "has two columns"),
        ("a;x;*\nb;y\n", "has 3 values in line 1, but 2 in line 2"),
        ("a;x;*\nb;;*\n", "has an empty name in line 2"),
        ("a;x;*\na;x;*\n", "has 'a' in lines 1 and 2; list it once"),
        ("a;x;1\nb;x;2\n", "has 'x' below '2' in line 2, but below '1' before"),
        ("a;b;a\n", "goes in a circle"),
    ],
)  # fmt: skip
def test_what_is_no_taxonomy_is_an_error_of_one_line_that_says_why(tmp_path, text, said):
    with pytest.raises(ShoalError, match="^[^\n]*$") as error:
        read(tmp_path, text)
    assert said in str(error.value)


def test_other_objects_and_files_that_are_not_there_are_errors(tmp_path):
    with pytest.raises(ShoalError, match="int is no taxonomy; give a tree in JSON"):
        read_taxonomy(7)
    with pytest.raises(ShoalError, match="there is no file"):
        read_taxonomy(tmp_path / "none.csv")


def test_a_tree_that_is_too_deep_for_json_is_an_error(tmp_path):
    with pytest.raises(ShoalError, match="has too many levels for JSON; give it as a CSV file of edges"):
        read(tmp_path, '{"a":' * 100_000 + "{}" + "}" * 100_000)
    deep = {}
    for i in range(5_000):
        deep = {f"n{i}": deep}
    assert len(read_taxonomy(deep).nodes) == 5_000
