#!/bin/sh
# A hook for Claude Code and Codex: hands the event on stdin to the server and prints what it says.
# When the server is away or slow it prints nothing, and it never stops anybody.
#   COMMONPLACE_URL    where the server is    COMMONPLACE_TOKEN    its token, if it wants one
#   COMMONPLACE_RECALL=off    no hints
url="${COMMONPLACE_URL:-http://127.0.0.1:8787}/api/hooks?recall=${COMMONPLACE_RECALL:-on}"
# The token goes through a pipe, so that no list of processes shows it.
answer=$({
  [ -z "${COMMONPLACE_TOKEN:-}" ] || printf 'header = "Authorization: Bearer %s"\n' "$COMMONPLACE_TOKEN"
} | curl -qsf --max-time 2 --noproxy '127.0.0.1,localhost,::1' --config - \
  --header 'Content-Type: application/json' --data-binary @/dev/fd/3 "$url" 2>/dev/null) 3<&0 &&
  printf '%s' "$answer"
exit 0
