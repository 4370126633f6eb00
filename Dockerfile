# One image for server, worker and commands; which of them a container is, its command says.
#   docker build --build-arg COMMIT="$(git rev-parse HEAD)" --tag sluice .
# It runs as an account without privileges on a root file system that is read only: what it writes is below /srv/sluice
# (vault, reports), in the shelf /srv/published, and in /tmp.
ARG PYTHON=3.11-slim-bookworm

FROM python:${PYTHON} AS build
WORKDIR /build
COPY requirements.lock pyproject.toml setup.py README.md LICENSE ./
COPY sluice sluice
COPY schemas schemas
COPY policies policies
COPY tasks tasks
COPY flows flows
# Extras of pyproject.toml, separated by commas, such as hsm.
ARG EXTRAS=""
# The lock constrains: what it pins has that version, and what only the tests need stays out.
RUN python -m venv /opt/sluice \
    && /opt/sluice/bin/pip install --no-cache-dir --disable-pip-version-check --constraint requirements.lock \
        ".${EXTRAS:+[${EXTRAS}]}" \
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
