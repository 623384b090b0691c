"""A clinic hands on its patients: look at the table, release it, check the file."""

import tempfile
from pathlib import Path

import shoal
from shoal.datasets import clinic

patients = clinic()

seen = shoal.inspect(patients)
print(f"{seen.unique} of {seen.records} patients are unique on {', '.join(seen.suggested('quasi-identifier'))}")

release = shoal.anonymize(
    patients,
    k=5,
    quasi_identifiers=["birth_year", "postcode", "height", "weight", "income"],
    confidential=["diagnosis"],
    identifiers=["name"],
)
print(f"{release.partition.n_groups} groups, {release.information_loss:.2f} % of the information lost")
for part in release.loss.attributes:
    print(f"  {part.name:<10} {part.percent:.2f} %")

with tempfile.TemporaryDirectory() as folder:
    release.write(Path(folder) / "safe.csv")
    release.report(Path(folder) / "safe.html")
    found = shoal.verify(Path(folder) / "safe.csv", release.original.roles.quasi_identifiers)
    print(f"the file holds {found.n_records} records, at least {found.k} of each kind")
    header, *rows = (Path(folder) / "safe.csv").read_text().splitlines()
    print(f"{header}\n{min(rows)}")  # the rows are in a random order
