"""Fixtures that several folders of tests share."""

from proofs_tests.support.durable import nursery as nursery
from proofs_tests.support.durable import places as places
from proofs_tests.support.durable import quick_folder as quick_folder
from proofs_tests.support.durable import spent as spent
from proofs_tests.support.durable import url as url
from proofs_tests.support.postgres import postgresql_server as postgresql_server
