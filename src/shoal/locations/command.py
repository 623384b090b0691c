"""The command `shoal locations`: run a service, check its promises, invite, rotate its keys.

What it needs beyond Shoal itself is the extra `shoal[locations]`; nothing of that is loaded before a command runs.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.errors import ShoalError

if TYPE_CHECKING:
    from shoal.locations.database import Database
    from shoal.locations.keys import KeyRing
    from shoal.locations.limits import Rate
    from shoal.locations.policy import Policy
    from shoal.locations.service import Service

app = typer.Typer(
    name="locations",
    help="The location anonymiser: devices get the centroid of a cell that at least k of them share.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

Url = Annotated[
    str,
    typer.Option("--database", metavar="URL", help="A SQLite file, or a URL such as postgresql://user@host/name."),
]
Keys = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The ring of keys. [beside the SQLite file, ending in .keys; or $SHOAL_LOCATIONS_KEYS]",
    ),
]
Classes = Annotated[
    str | None,
    typer.Option("-k", metavar="K,K", help="The k that devices may ask for, as 5,20,100; the least is usual. [5]"),
]
Slack = Annotated[
    int | None, typer.Option(metavar="S", help="Principals more than k in a new cell. [k / 5, at least 1]")
]
Places = Annotated[
    int | None, typer.Option(metavar="L", help="Least distinct places in a cell. [3, or k where it is 2]")
]
Admission = Annotated[
    str | None,
    typer.Option(metavar="HOW", help="join: newcomers get a cell at once; cohort: k together. [join]"),
]
NoHistory = Annotated[
    bool, typer.Option("--no-history", help="Give up the promise about who follows a device over time.")
]
Digits = Annotated[
    int | None, typer.Option(metavar="D", help="Decimals of published degrees; 3 is about 100 m. [3]")
]
Drift = Annotated[
    float | None, typer.Option(metavar="SHARE", help="A region that loses so much more is drawn anew. [0.2]")
]
DATABASE = "locations.db"


@app.command()
def serve(
    database: Url = DATABASE,
    keys: Keys = None,
    host: Annotated[str, typer.Option(metavar="HOST", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="PORT", help="The port; 0 for any that is free.")] = 8400,
    k: Classes = None,
    slack: Slack = None,
    distinct_places: Places = None,
    admission: Admission = None,
    no_history: NoHistory = False,
    digits: Digits = None,
    drift: Drift = None,
    start: Annotated[
        int | None, typer.Option(metavar="N", help="Principals before the first drawing. [two cells of them]")
    ] = None,
    example: Annotated[
        int, typer.Option(metavar="N", help="Sign up N devices of an invented city, to look around.")
    ] = 0,
    open_map: Annotated[bool, typer.Option("--open", help="Open the operator's map in a browser.")] = False,
    ssl_certfile: Annotated[Path | None, typer.Option(metavar="FILE", help="Certificate, for https.")] = None,
    ssl_keyfile: Annotated[Path | None, typer.Option(metavar="FILE", help="The certificate's key.")] = None,
    proxies: Annotated[
        str, typer.Option(metavar="A,B", help="Proxies whose word is taken for where a request comes from.")
    ] = "127.0.0.1",
    address_rate: Annotated[
        float, typer.Option(metavar="N", help="Requests a second from one address; 0 for any number.")
    ] = 100,
    credential_rate: Annotated[
        float, typer.Option(metavar="N", help="Requests a second with one credential; 0 for any number.")
    ] = 5,
) -> None:
    """Run the service until it is interrupted. A new database is made where there is none."""
    needed()
    from shoal.locations.limits import Limits
    from shoal.locations.serving import TLS, Serving, serve

    ring = ring_of(database, keys, new=True)
    limits = Limits(
        address=rate(address_rate, Limits().address), credential=rate(credential_rate, Limits().credential)
    )
    policy = policy_of(k, slack, distinct_places, admission, no_history, digits, drift, start)
    key = prepare(database, ring, policy, example)
    tls = None if ssl_certfile is None else TLS(certificate=ssl_certfile, key=ssl_keyfile)

    def started(url: str) -> None:
        print(f"the service listens at {url}; Ctrl-C stops it", flush=True)
        if key is not None:
            print(f"the key of its operator, which is shown this once: {key}", flush=True)
        print(f"its map, which asks for that key: {url}/map", flush=True)
        if open_map:
            import webbrowser

            webbrowser.open(f"{url}/map")

    serve(
        Serving(database=database, ring=ring, host=host, port=port, limits=limits, tls=tls, proxies=proxies),
        started,
    )


@app.command()
def check(
    database: Url = DATABASE, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False
) -> None:
    """Check every promise against the database, by one query each; status 1 if one is broken."""
    needed()
    from shoal.locations.promises import check as found_by

    with existing(database) as opened:
        findings = found_by(opened)
    if as_json:
        rows = [{"promise": f.promise.name, "on": f.on, "broken": list(f.broken)} for f in findings]
        print(json.dumps(rows, indent=1))
    else:
        for finding in findings:
            print(finding.sentence)
    if any(finding.broken for finding in findings):
        raise typer.Exit(1)


@app.command()
def simulate(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to put the figures and plots.")] = Path(
        "shoal-city"
    ),
    devices: Annotated[int, typer.Option(metavar="N", help="How many sign up at first.")] = 1000,
    steps: Annotated[int, typer.Option(metavar="N", help="Steps after the first drawing.")] = 40,
    k: Classes = None,
    slack: Slack = None,
    distinct_places: Places = None,
    admission: Admission = None,
    no_history: NoHistory = False,
    digits: Digits = None,
    drift: Drift = None,
    leaving: Annotated[float, typer.Option(metavar="SHARE", help="Share that is cancelled in a step.")] = 0.03,
    arriving: Annotated[float, typer.Option(metavar="SHARE", help="Share that signs up in a step.")] = 0.03,
    moving: Annotated[float, typer.Option(metavar="SHARE", help="Share that moves in a step.")] = 0.01,
    redraw_every: Annotated[int, typer.Option(metavar="N", help="Ask for a redraw so often; 0 for never.")] = 8,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same city.")] = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that are there.")] = False,
) -> None:
    """Run the real service for an invented city where people come and go; status 1 if a promise breaks."""
    needed()
    from shoal.files.atomic import check_target
    from shoal.locations.simulation import FILES, simulate

    if folder.is_dir():
        for name in FILES:
            check_target(folder / name, overwrite)
    found = simulate(
        devices,
        steps,
        policy=policy_of(k, slack, distinct_places, admission, no_history, digits, drift),
        leaving=leaving,
        arriving=arriving,
        moving=moving,
        redraw_every=redraw_every,
        seed=seed,
        progress=True,
    )
    for path in found.write(folder, overwrite):
        print(path)
    for sentence in found.sentences:
        print(sentence)
    if not found.holds:
        raise typer.Exit(1)


@app.command()
def keys(file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to make.")]) -> None:
    """Make a new ring of keys in a file that only you may read."""
    needed()
    from shoal.locations.keys import KeyRing

    KeyRing.create(file)
    print(f"{file} holds the keys. Without them no home can be read: keep a copy apart from the database.")


@app.command()
def invite(
    count: Annotated[int, typer.Argument(metavar="N", help="For how many principals.")] = 1,
    devices: Annotated[int, typer.Option(metavar="N", help="Devices that each may have at a time.")] = 1,
    database: Url = DATABASE,
    keys: Keys = None,
) -> None:
    """Print invitations, one a line. Each is for one person or household: k counts them, not their devices."""
    with running(database, keys) as service:
        for invitation in service.invite(count, devices, by="command line"):
            print(invitation)


@app.command()
def operator(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose key it is.")],
    database: Url = DATABASE,
    keys: Keys = None,
) -> None:
    """Print a key for an operator: cells, figures, metrics, redraws and invitations, but no home."""
    with running(database, keys) as service:
        print(service.new_operator(name))


@app.command()
def redraw(
    k: Annotated[int | None, typer.Option("-k", metavar="K", help="Of one class only.")] = None,
    database: Url = DATABASE,
    keys: Keys = None,
) -> None:
    """Ask the running service to draw its cells anew."""
    with running(database, keys) as service:
        service.ask_redraw("command line", k)
    print("asked; the worker of the service draws the cells anew")


@app.command("rotate-keys")
def rotate_keys(database: Url = DATABASE, keys: Keys = None) -> None:
    """Seal every home with a new key, and forget the old one. Stop the service first."""
    needed()
    from shoal.locations.keys import KeyRing
    from shoal.locations.service import Service

    if KeyRing.from_environment() is not None:
        raise ShoalError("the keys stand in the environment, where they cannot be changed; put them into a file")
    file = keys_beside(database, keys)
    ring = KeyRing.load(file).rotated()
    with existing(database):
        pass
    ring.save(file, overwrite=True)
    service = Service.open(database, ring)
    try:
        count = service.reseal()
    finally:
        service.close()
    ring.without_old().save(file, overwrite=True)
    print(f"{count} rows are sealed with key {ring.present}; older copies of {file} open older backups only")


def needed() -> None:
    """Whether the extra is there."""
    try:
        import alembic  # noqa: F401
        import cryptography  # noqa: F401
        import fastapi  # noqa: F401
        import sqlalchemy  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ShoalError(
            f"the location service needs {error.name}, which is not installed; pip install 'shoal[locations]'"
        ) from error


def classes_of(text: str) -> tuple[int, ...]:
    """The k of 5,20,100."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise ShoalError(f"-k takes whole numbers with commas between, such as 5,20,100, not {text!r}") from error


def policy_of(
    k: str | None,
    slack: int | None,
    distinct_places: int | None,
    admission: str | None,
    no_history: bool,
    digits: int | None,
    drift: float | None,
    start: int | None = None,
) -> "Policy | None":
    """The policy of the options that were given; none where none was."""
    from shoal.locations.policy import Policy

    given: dict[str, object] = {
        "classes": None if k is None else classes_of(k),
        "slack": slack,
        "distinct_places": distinct_places,
        "admission": admission,
        "history": False if no_history else None,
        "digits": digits,
        "drift": drift,
        "start": start,
    }
    said = {name: value for name, value in given.items() if value is not None}
    return Policy.named(said) if said else None


def rate(each_second: float, usual: "Rate | None") -> "Rate | None":
    """So many a second, and four times as many at once; 0 for no limit."""
    from shoal.locations.limits import Rate

    if each_second == 0:
        return None
    return (
        usual
        if usual is not None and each_second == usual.each_second
        else Rate(each_second, max(1, round(4 * each_second)))
    )


def keys_beside(database: str, keys: Path | None) -> Path:
    """The file of the keys."""
    if keys is not None:
        return keys
    if "://" in database and not database.startswith("sqlite:///"):
        raise ShoalError("name the file of the keys with --keys, or put them into $SHOAL_LOCATIONS_KEYS")
    return Path(database.removeprefix("sqlite:///")).with_suffix(".keys")


def ring_of(database: str, keys: Path | None, new: bool = False) -> "KeyRing":
    """The ring in the environment or in its file; a new one for a new database, where that is wanted."""
    from shoal.locations.keys import KeyRing

    if keys is None and (ring := KeyRing.from_environment()) is not None:
        return ring
    file = keys_beside(database, keys)
    if new and not file.exists():
        if "://" not in database and Path(database).exists():
            raise ShoalError(f"{database} is there, but not its keys in {file}; name their file with --keys")
        return KeyRing.create(file)
    return KeyRing.load(file)


@contextmanager
def existing(url: str) -> "Iterator[Database]":
    """A database that is there; reading makes none."""
    needed()
    from shoal.locations.database import Database

    if "://" not in url and not Path(url).is_file():
        raise ShoalError(f"there is no database {url}; name it with --database")
    database = Database(url)
    try:
        yield database
    finally:
        database.close()


@contextmanager
def running(url: str, keys: Path | None) -> "Iterator[Service]":
    """The service of a database that is there."""
    with existing(url):
        pass
    from shoal.locations.service import Service

    service = Service.open(url, ring_of(url, keys))
    try:
        yield service
    finally:
        service.close()


def prepare(url: str, ring: "KeyRing", policy: "Policy | None", example: int) -> str | None:
    """A key for the first operator of a new database, and devices of an invented city if asked."""
    from shoal.locations.service import Service

    service = Service.open(url, ring, policy)
    try:
        key = None if service.has_operators() else service.new_operator("operator")
        if example:
            settle_example(service, example)
        return key
    finally:
        service.close()


def settle_example(service: "Service", count: int) -> None:
    """Sign up devices of an invented city, and draw their cells; where devices are, nothing is done."""
    from shoal.locations.city import City

    if service.has_devices():
        print("the database has devices already; no examples were added")
        return
    for invitation, (latitude, longitude) in zip(service.invite(count), City().homes(count).tolist(), strict=True):
        service.sign_up(invitation, latitude, longitude)
    while service.work():
        pass
    print(f"{count} devices of an invented city are signed up")
