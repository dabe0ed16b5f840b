"""A ledger whose every text would do harm on a page that does not escape it."""

from accountant import About, ApproxDP, BasicComposition, Ledger, Plan, PureDP, ReplaceOne
from proofs_tests.support.ledgers.doubles import RandomizedResponse

EVIL = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><script>alert(1)</script>",
    "</title></head><body><iframe src=//evil.example>",
    "{{ 7*191 }}{% raw %}",
    "javascript:alert(1)",
    "' OR 1=1; DROP TABLE exchequer_entries; --",
)


def written(url: str) -> None:
    """Whoever charges says something evil in every text."""
    with Ledger.open(url, ApproxDP(4.0, 1e-5), composition=BasicComposition(), adjacency=ReplaceOne()) as ledger:
        for place, evil in enumerate(EVIL):
            about = About(dataset=evil, purpose=evil, user=evil, host=evil, program=evil)
            said = ledger.concerning(about)
            said.release(RandomizedResponse(2.0**-8), said.protect(True), account=f"a{place}{evil}".replace("/", "|"))
        ada = ledger.concerning(About(dataset="hospital", user="ada", purpose="pilot"))
        ada.reserve(Plan.of(PureDP(2.0**-6), 2), adjacency=ReplaceOne(), account="team-a")
        ledger.note_model("ab" * 32, [next(entry.number for entry in ledger.entries if entry.kind == "charged")])
