"""RS256 with plain integers: reads a certificate's public key and verifies a signature."""

import base64
import hashlib
import hmac

# The DigestInfo of SHA-256 (RFC 8017, 9.2).
DIGEST_INFO = bytes.fromhex("3031300d060960864801650304020105000420")


def element(data, at):
    """The DER element at a position: tag, contents, and the next position."""
    tag, length, at = data[at], data[at + 1], at + 2
    if length & 0x80:
        count = length & 0x7F
        length, at = int.from_bytes(data[at : at + count], "big"), at + count
    return tag, data[at : at + length], at + length


def children(data):
    """The elements inside an element."""
    found, at = [], 0
    while at < len(data):
        tag, contents, at = element(data, at)
        found.append((tag, contents))
    return found


def public_key(pem):
    """The modulus and exponent of an RSA certificate."""
    lines = [line for line in pem.splitlines() if line and not line.startswith("-----")]
    certificate = element(base64.b64decode("".join(lines)), 0)[1]
    body = children(children(certificate)[0][1])
    # The version has its own tag and is optional; the key's information is the sixth element after it.
    start = 1 if body[0][0] == 0xA0 else 0
    key = children(body[start + 5][1])[1][1][1:]
    modulus, exponent = children(element(key, 0)[1])[:2]
    return int.from_bytes(modulus[1], "big"), int.from_bytes(exponent[1], "big")


def is_good(message, signature, key):
    """Whether a signature is that of the message with the key."""
    modulus, exponent = key
    size = (modulus.bit_length() + 7) // 8
    if len(signature) != size:
        return False
    opened = pow(int.from_bytes(signature, "big"), exponent, modulus).to_bytes(size, "big")
    tail = DIGEST_INFO + hashlib.sha256(message).digest()
    padding = b"\xff" * (size - len(tail) - 3)
    return hmac.compare_digest(opened, b"\x00\x01" + padding + b"\x00" + tail)


def decode(text):
    """The bytes of base64url without padding."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
