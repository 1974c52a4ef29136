"""Reckons an exported proof of funds again from its files, without the service: python3 reckon.py <folder>

Prints, for each purpose, rupees as JSON: what the bank's lines and our entries add up to, and each difference by kind.
"""
import csv, json, pathlib, sys
from collections import defaultdict
from decimal import Decimal

folder = pathlib.Path(sys.argv[1])
NOTHING = Decimal("0.00")


def rows(name):
    with open(folder / name, newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


lines, entries = defaultdict(lambda: defaultdict(Decimal)), defaultdict(lambda: defaultdict(Decimal))
for row in rows("statement-lines.csv"):
    lines[row["purpose"]][row["documentId"] or row["lineId"]] += Decimal(row["amount"])
for row in rows("bank-entries.csv"):
    entries[row["purpose"]][row["documentId"]] += Decimal(row["amount"])

proof = json.loads((folder / "proof.json").read_text())
found = {}
for account in proof["accounts"]:
    bank, books = lines[account["purpose"]], entries[account["purpose"]]
    kinds = defaultdict(Decimal)
    for document in bank.keys() | books.keys():
        difference = bank.get(document, NOTHING) - books.get(document, NOTHING)
        if document not in books:
            kinds["statement_only"] += difference
        elif document not in bank:
            kinds["payment_in_transit" if books[document] < 0 else "deposit_in_transit"] += difference
        elif difference:
            kinds["amount_differs"] += difference
    statement, ledger = sum(bank.values(), NOTHING), sum(books.values(), NOTHING)
    kinds["unexplained"] = statement - ledger - sum(kinds.values(), NOTHING)
    found[account["purpose"]] = {
        "statement": statement,
        "books": ledger,
        **{kind: amount for kind, amount in kinds.items() if amount or kind == "unexplained"},
    }
print(json.dumps(found, default=str))
