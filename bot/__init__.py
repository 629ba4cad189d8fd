"""The application: the service, its transports (Discord, email, terminal) and the command line."""

import multiprocessing
import signal

if multiprocessing.current_process().name != "MainProcess":  # it does not know its parent yet
    # A worker leaves interrupts to its parent from the first, also while it still imports the rest.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
