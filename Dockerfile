# Node.js 26 comes with `npm ci`, pinned by the lock file; the first image only brings the npm that installs it.
FROM node:20-bookworm-slim AS install
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages packages
RUN npm ci --omit=dev && find node_modules -name "*.js.map" -delete

FROM debian:bookworm-slim
# What Node.js itself is linked to.
RUN apt-get update && apt-get install --yes --no-install-recommends libatomic1 libstdc++6 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=install /app/node_modules node_modules
COPY package.json ./
COPY bin bin
COPY client/src client/src
COPY packages packages
COPY src src
RUN ln -s /app/bin/petstore.js /usr/local/bin/petstore \
  && useradd --system --uid 10001 petstore \
  && install --directory --owner petstore /data
ENV PATH=/app/node_modules/.bin:$PATH HOST=0.0.0.0 DATABASE_URL=sqlite:/data/petstore.db
USER petstore
VOLUME /data
# The console is off. It listens with CONSOLE_PORT, and for a published port it needs CONSOLE_HOST=0.0.0.0 too.
EXPOSE 8080
# Whether the process answers, not whether the database does: Swarm restarts what is unhealthy, and that would not help.
HEALTHCHECK --interval=10s --timeout=4s --start-period=30s \
  CMD ["node", "bin/health.js", "/healthz"]
# In exec form, so that the signals of `docker stop` reach the service itself.
ENTRYPOINT ["node", "--disable-sigusr1", "/app/bin/petstore.js"]
CMD ["serve"]
