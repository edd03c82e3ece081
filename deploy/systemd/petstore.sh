#!/bin/sh
# Runs a command as the service runs: the same user, database and variables.
#
#   install -m 755 deploy/systemd/petstore.sh /usr/local/bin/petstore
#   petstore keys list
#
# A variable that is set already wins.
set -eu
umask 077
[ "$(id -un)" = petstore ] || exec runuser --user petstore -- "$0" "$@"

export DATABASE_URL="${DATABASE_URL-sqlite:/var/lib/petstore/petstore.db}"
if [ -r /etc/petstore.env ]; then
  # Lines NAME=VALUE, read without the shell's rules, because systemd does not apply them either.
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in
      [A-Za-z_]*=*) printenv "${line%%=*}" > /dev/null || export "$line" ;;
    esac
  done < /etc/petstore.env
fi
exec /opt/petstore/node_modules/.bin/node --disable-sigusr1 /opt/petstore/bin/petstore.js "$@"
