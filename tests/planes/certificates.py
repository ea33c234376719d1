"""One certificate authority for a control plane, a certificate per replica and the service account key."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import trustme
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat


@dataclass(frozen=True)
class ServingFiles:
    """The certificate chain and the key of one replica."""

    certificate: Path
    key: Path


class Authority:
    """Issues serving certificates that are valid for 127.0.0.1 and localhost."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._authority = trustme.CA()
        self.ca_file = folder / "ca.pem"
        self._authority.cert_pem.write_to_path(str(self.ca_file))

    def serving(self, name: str) -> ServingFiles:
        """A new certificate and key, written to files that carry `name`."""
        issued = self._authority.issue_cert("127.0.0.1", "localhost", common_name=name)
        files = ServingFiles(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        for index, blob in enumerate(issued.cert_chain_pems):
            blob.write_to_path(str(files.certificate), append=index > 0)
        issued.private_key_pem.write_to_path(str(files.key))
        return files


def service_account_key(folder: Path) -> Path:
    """A new RSA key; a key file with the private half serves to sign and to verify."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    path = folder / "service-account.key"
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()))
    return path
