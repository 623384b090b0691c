"""Eleven companies, small enough to see every record: before and after."""

import shoal
from shoal.datasets import sme

companies = sme()
release = shoal.anonymize(
    companies,
    k=3,
    quasi_identifiers=["surface", "employees"],
    confidential=["turnover", "net_profit"],
    identifiers=["company"],
)

print("surface employees  ->  surface employees  group")
for old, new, group in zip(companies.to_pylist(), release.table.to_pylist(), release.labels, strict=True):
    before = f"{old['surface']:7} {old['employees']:9}"
    after = f"{new['surface']:7} {new['employees']:9}"
    print(f"{before}  ->  {after}  {group:5}")
print(f"information loss {release.information_loss:.2f} %")
