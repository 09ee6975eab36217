#!/bin/sh
# A hook for Claude Code and Codex: hands the event on stdin to the server and prints what it says.
# When the server is away or slow it prints nothing, and it never stops anybody.
#   COMMONPLACE_URL    where the server is    COMMONPLACE_TOKEN    its token, if it wants one
#   COMMONPLACE_RECALL=off    no hints
url="${COMMONPLACE_URL:-http://127.0.0.1:8787}/api/hooks?recall=${COMMONPLACE_RECALL:-on}"
header() {
  [ -z "${COMMONPLACE_TOKEN:-}" ] && return
  token=$(printf '%s' "$COMMONPLACE_TOKEN" | tr -d '\r\n' | sed 's/[\\"]/\\&/g')
  printf 'header = "Authorization: Bearer %s"\n' "$token"
}
# The token goes through a pipe, so that no list of processes shows it. The event stays on stdin:
# Claude Code makes that a socket, which cannot be opened by a name such as /dev/fd/4.
{
  answer=$(header | {
    curl -qsf --max-time 2 --noproxy "${NO_PROXY:-${no_proxy:-}},127.0.0.1,localhost,::1" \
      ${COMMONPLACE_TOKEN:+-K/dev/fd/3} --header 'Content-Type: application/json' \
      --data-binary @- "$url" 3<&0 <&4
  }) && printf '%s' "$answer"
} 4<&0 2>/dev/null
exit 0
