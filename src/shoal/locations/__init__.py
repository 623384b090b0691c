"""The location anonymiser: a service that gives devices the centroid of a cell shared by at least k of them.

Devices entrust their home to it and use, towards others, the centroid in its place (Rebollo-Monedero, Forné and
Soriano 2011, Section 4). `service.py` is what devices and operators may ask, `promises.py` what always holds.
"""
