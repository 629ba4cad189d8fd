"""Why a server cannot be reached, in words for the operator."""

import os
import socket
import ssl


def connection_fault(error: BaseException) -> str:
    """Why no connection to a server could be made, by the first cause of an error; empty if that says nothing
    of the connection."""
    while error.__cause__ is not None:
        error = error.__cause__
    match error:
        case ssl.SSLCertVerificationError():
            return f"its certificate is not accepted: {error.verify_message}"
        case ssl.SSLError():
            return "it does not speak TLS on this port"
        case TimeoutError():
            return "it does not answer"
        case socket.gaierror():
            return "there is no such host"
        case OSError(errno=int(number)):
            return f"no connection: {os.strerror(number)}"
        case OSError():  # the addresses of the host failed for several reasons
            return f"no connection: {error}"
    return ""
