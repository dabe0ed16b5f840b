"""A time stamping authority: real certificates, real tokens by OpenSSL's `ts`, served over HTTP on loopback."""

import datetime
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import attrs
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from proofs_tests.support.programs.needs import require_or_skip

SETTINGS: Final = """
[authority]
serial = {folder}/serial
crypto_device = builtin
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = {digests}
accuracy = secs:1, millisecs:500
ordering = no
tsa_name = no
ess_cert_id_chain = no
"""

YEAR: Final = datetime.timedelta(days=365)


def name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


@attrs.frozen
class Authority:
    """An authority whose files are in a folder. root: its root certificate, for whoever trusts it."""

    folder: Path
    digests: str = "sha256, sha384, sha512"

    @property
    def root(self) -> Path:
        return self.folder / "root.pem"

    def stamp(self, query: bytes) -> bytes:
        """Its reply to a request, granted or not."""
        settings, asked, reply = (self.folder / each for each in ("settings", "query", "reply"))
        settings.write_text(SETTINGS.format(folder=self.folder, digests=self.digests))
        asked.write_bytes(query)
        command: list[str | Path] = [
            "openssl",
            "ts",
            "-reply",
            "-config",
            settings,
            "-section",
            "authority",
            "-queryfile",
            asked,
        ]
        key, certificate = self.folder / "key.pem", self.folder / "certificate.pem"
        command += ["-signer", certificate, "-inkey", key, "-out", reply]
        subprocess.run(command, check=True, capture_output=True)
        return reply.read_bytes()


def authority(
    folder: Path,
    *,
    called: str = "A test authority",
    valid: tuple[datetime.timedelta, datetime.timedelta] = (-YEAR, YEAR),
    issuer: Authority | None = None,
    digests: str = "sha256, sha384, sha512",
) -> Authority:
    """A new authority in this folder. valid: from and until when, from now on.  issuer: whose name its root repeats."""
    if shutil.which("openssl") is None:
        require_or_skip("openssl", "needs the command openssl")
    folder.mkdir()
    root_name = name(called) if issuer is None else x509.load_pem_x509_certificate(issuer.root.read_bytes()).subject
    root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root = _certificate(root_name, root_name, root_key, root_key, (-2 * YEAR, 2 * YEAR))
    root = root.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    own = _certificate(name(f"{called}, stamps"), root_name, key, root_key, valid)
    own = own.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING]), critical=True)
    (folder / "root.pem").write_bytes(root.sign(root_key, hashes.SHA256()).public_bytes(Encoding.PEM))
    (folder / "certificate.pem").write_bytes(own.sign(root_key, hashes.SHA256()).public_bytes(Encoding.PEM))
    (folder / "key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    (folder / "serial").write_text("01")
    return Authority(folder, digests)


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
    valid: tuple[datetime.timedelta, datetime.timedelta],
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return x509.CertificateBuilder(
        issuer_name=issuer,
        subject_name=subject,
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=now + valid[0],
        not_valid_after=now + valid[1],
    ).add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)


# --- over HTTP -------------------------------------------------------------------------------------------------


@attrs.define
class Service:
    """What answers at `url`. seen: the bodies that were sent to it.  status, headers: of its answers."""

    authority: Authority | None
    url: str = ""
    seen: list[bytes] = attrs.field(factory=list)
    status: int = 200
    headers: dict[str, str] = attrs.field(factory=dict)
    padding: bytes = b""


@contextmanager
def served(stamps: Authority | None, **settings: object) -> Iterator[Service]:
    """The authority, answering on loopback for as long as the block lasts."""
    service = Service(stamps, **settings)  # type: ignore[arg-type]  # named as its fields are

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = self.rfile.read(int(self.headers["Content-Length"]))
            service.seen.append(query)
            reply = service.authority.stamp(query) if service.authority is not None and service.status == 200 else b""
            self.send_response(service.status)
            for header, text in service.headers.items():
                self.send_header(header, text)
            self.end_headers()
            self.wfile.write(reply + service.padding)

        def log_message(self, format: str, *arguments: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    service.url = f"http://127.0.0.1:{server.server_address[1]}/stamp"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
