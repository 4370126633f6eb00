# One image for server, worker and commands; which of them a container is, its command says.
#   docker build --build-arg COMMIT="$(git rev-parse HEAD)" --tag sluice .
# It runs as an account without privileges on a root file system that is read only: what it writes is below /srv/sluice
# (vault, reports), in the shelf /srv/published, and in /tmp.
# Name the base image by its digest, which your registry shows: --build-arg PYTHON=3.11-slim-bookworm@sha256:...
ARG PYTHON=3.11-slim-bookworm

FROM python:${PYTHON} AS build
WORKDIR /build
COPY locks locks
COPY pyproject.toml setup.py README.md LICENSE ./
COPY sluice sluice
COPY schemas schemas
COPY policies policies
COPY tasks tasks
COPY flows flows
# Extras of pyproject.toml, separated by blanks, such as "hsm oracle": each has its lock.
ARG EXTRAS=""
# Each package is compared with its hash, and nothing else is fetched to build with.
RUN python -m venv /opt/sluice \
    && for lock in run ${EXTRAS}; do set -- "$@" --requirement "locks/${lock}.lock"; done \
    && /opt/sluice/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps --require-hashes "$@" \
    && /opt/sluice/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation . \
    && /opt/sluice/bin/pip check \
    && /opt/sluice/bin/pip uninstall --yes --quiet pip setuptools

FROM python:${PYTHON}
ARG COMMIT=""
RUN groupadd --gid 10001 sluice \
    && useradd --uid 10001 --gid 10001 --home-dir /srv/sluice --shell /usr/sbin/nologin sluice \
    && install -d -m 0700 -o sluice -g sluice /srv/sluice \
    && install -d -m 0755 -o sluice -g sluice /srv/published \
    && install -d -m 0755 /srv/project
COPY --from=build /opt/sluice /opt/sluice
# PYTHONSAFEPATH: no module is taken from the folder in which a program is started.
ENV PATH=/opt/sluice/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONSAFEPATH=1 \
    PYTHONUNBUFFERED=1 \
    HOME=/srv/sluice \
    SLUICE_HOME=/srv/sluice/home \
    SLUICE_PROJECT=/srv/project \
    SLUICE_COMMIT=${COMMIT} \
    PREFECT_HOME=/tmp/prefect \
    PREFECT_UI_STATIC_DIRECTORY=/tmp/prefect-ui \
    PREFECT_SERVER_ANALYTICS_ENABLED=false \
    DO_NOT_TRACK=1
USER 10001:10001
VOLUME ["/srv/sluice", "/srv/published"]
WORKDIR /srv/project
CMD ["sluice", "--help"]
