"""What sums over records depend on: that each of their terms is a record's own."""

from typing import Final

from proofs_tests.claims.claim import Claim

RECORDS: Final = (
    Claim(
        "records-alone",
        "ours",
        "Encoding, sample weights, labels, scores and predictions are maps of one record and of what is public or "
        "released, bit by bit: they are the same whatever other records stand beside it, however many, in "
        "whatever order or block.",
        "holds",
        "1 term of a sum changes where a record is replaced; none of the others",
        "A column keeps a type that its container declares, whatever is in it; of lists, of arrays of objects, "
        "and where a library would choose the type by what is missing, each element is read by itself, as a "
        "number, as none or as text, by what it is and says alone. A category is looked up by that text in the "
        "schema's list; dictionaries of pandas and Arrow only save looking it up again, and what is missing is "
        "looked up apart. Coded features are elementwise arithmetic with public bounds; labels are compared with "
        "public classes one by one, and no second class is asked for. Scores are look-ups, or products added up in an "
        "order that the number of columns fixes, of elementwise operations of IEEE 754, or powers taken number by "
        "number. Nothing of a record of weight 0 is read, and nothing counts it. What a user converts before (an "
        "array, a frame's types) is that user's.",
        "learners/tables/test_records_alone.py::test_a_record_is_encoded_alone",
    ),
)
