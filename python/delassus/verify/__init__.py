"""A checker of certificates that needs nothing but Python's standard library.

    python delassus/verify CERTIFICATE.json        the path of this folder, which may be copied by itself
    python -m delassus.verify CERTIFICATE.json     with the package installed

Exit code 0: the facts prove the claim. 1: they do not. 2: the file is no certificate. The chapter on
certificates of the book has the format, the claims and their proofs; all arithmetic here is that of
fractions, and nothing that a certificate says is believed: what a claim needs is computed from the problem
in the file.
"""

from __future__ import annotations

import json
import sys

from .balance import check_balance, check_resistance
from .contact import check_contact
from .exact import NotACertificate, Unproved, get, items
from .faces import check_faces
from .margin import check_margin
from .paving import check_paving

__all__ = ["NotACertificate", "Unproved", "main", "verify"]


def check_list(document):
    """Several certificates in one document."""
    all_of = items(get(document, "certificates"))
    if not all_of or any(isinstance(own, dict) and own.get("kind") == "list" for own in all_of):
        raise NotACertificate("expected certificates, and none of them a list")
    return "; ".join([verify(own) for own in all_of])


CHECKS = {
    "balance": check_balance,
    "margin": check_margin,
    "resistance": check_resistance,
    "faces": check_faces,
    "contact-problem": check_contact,
    "paving": check_paving,
    "list": check_list,
}


def verify(document):
    """What a certificate proves, in words; raises `Unproved` or `NotACertificate` elsewhere."""
    if not isinstance(document, dict) or document.get("format") != "delassus-certificate":
        raise NotACertificate('expected "format": "delassus-certificate"')
    if document.get("version") != 1:
        raise NotACertificate('expected "version": 1')
    kind = get(document, "kind")
    if not isinstance(kind, str) or kind not in CHECKS:
        raise NotACertificate(f"expected one of the kinds {', '.join(CHECKS)}, found {kind!r:.60}")
    return CHECKS[kind](document)


def main(arguments):
    """The program; gives its exit code."""
    if len(arguments) != 1:
        print("usage: verify CERTIFICATE.json", file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as file:
            document = json.load(file)
        print(f"verified: {verify(document)}")
        return 0
    except Unproved as fault:
        print(f"not proved: {fault}")
        return 1
    except (NotACertificate, OSError, ValueError, RecursionError) as fault:
        print(f"error: {arguments[0]}: {fault}", file=sys.stderr)
        return 2
