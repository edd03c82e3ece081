#!/bin/sh
# Runs a command as the service runs: the same user, database and variables.
#
#   ln -sf /opt/petstore/deploy/systemd/petstore.sh /usr/local/bin/petstore
#   petstore keys list
#
# A variable that is set already wins over /etc/petstore.env, and this file wins over the default, as in petstore.service.
set -eu
umask 077
node=/opt/petstore/node_modules/.bin/node
if [ -e /etc/petstore.env ]; then
  # systemd reads it as root. Without it, a command would use another database than the service.
  [ -r /etc/petstore.env ] || {
    echo "petstore: $(id -un) cannot read /etc/petstore.env: run this as root, or run chgrp petstore and chmod 640 on it." >&2
    exit 1
  }
  variables=$("$node" /opt/petstore/bin/environment-file.js < /etc/petstore.env)
  eval "$variables"
fi
export DATABASE_URL="${DATABASE_URL-sqlite:/var/lib/petstore/petstore.db}"

set -- "$node" --disable-sigusr1 /opt/petstore/bin/petstore.js "$@"
[ "$(id -un)" = petstore ] || exec runuser --user petstore -- "$@"
exec "$@"
