"""llama.cpp's own server, as its package brings it, on a free port of loopback, until stdin ends."""

import sys

import xllamacpp

wanted = xllamacpp.CommonParams()
wanted.model.path = sys.argv[1]
wanted.hostnames = ["127.0.0.1"]
wanted.port = 0
wanted.n_parallel = 2
wanted.n_ctx = 4096
wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = 1
wanted.use_jinja = True
wanted.ui = False
server = xllamacpp.Server(wanted)
print(server.listening_address, flush=True)
sys.stdin.read()
