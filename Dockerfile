# A player for game managers: docker build -t ggp . && docker run -p 9147:9147 ggp
# To build the same image again, name the base by its digest:
#   docker build --build-arg BASE=python:3.12-slim-bookworm@sha256:... (docker buildx imagetools inspect shows it)
ARG BASE=python:3.12-slim-bookworm

FROM ${BASE} AS wheel
WORKDIR /src
COPY requirements-build.lock ./
RUN pip install --no-cache-dir --require-hashes -r requirements-build.lock
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY gdl gdl
COPY propnet propnet
COPY players players
COPY ggp ggp
COPY games games
COPY docs docs
RUN pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels .

FROM ${BASE}
ENV PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PYTHONUNBUFFERED=1 \
    NUMBA_CACHE_DIR=/var/cache/ggp/numba \
    GGP_CACHE=/var/cache/ggp/games

RUN useradd --create-home --uid 10001 ggp \
    && install -d -m 700 -o ggp -g ggp /var/cache/ggp/numba /var/cache/ggp/games

WORKDIR /opt/ggp
# --build-arg CLUSTER=1: with Ray, for nodes of a cluster (docs/cluster.md).
ARG CLUSTER=""
# Only files whose checksums are locked come from an index.
COPY requirements.lock requirements-cluster.lock ./
COPY --from=wheel /wheels /wheels
RUN pip install --require-hashes -r "requirements${CLUSTER:+-cluster}.lock" \
    && pip install --no-deps --no-index /wheels/*.whl

USER 10001
WORKDIR /home/ggp
# The cache is filled with compiled kernels: the first START is then as quick as any other. It is keyed by
# processor; elsewhere it is filled at first use, for which it must be writable.
RUN ggp warm || echo "going on: what is missing is compiled when it is needed"

EXPOSE 9147
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as u; r = u.urlopen(u.Request('http://127.0.0.1:9147/', data=b'( INFO )'), timeout=4); raise SystemExit(b'status' not in r.read())"]

ENTRYPOINT ["ggp"]
CMD ["serve", "--host", "0.0.0.0"]
