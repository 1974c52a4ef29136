set -euo pipefail
SVC=${SVC:-npx --no-install svc}
DATA_DIR=$(mktemp -d)
PORT=$(node -e 's = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })')
export DATA_DIR PORT
export SVC_BASE_URL=http://127.0.0.1:$PORT
env -u DATABASE_URL SVC_MODE=sandbox LOG_LEVEL=error $SVC serve > "$DATA_DIR/sandbox.log" 2>&1 &
SERVER=$!
trap 'kill $SERVER; wait $SERVER || true; rm -rf "$DATA_DIR"' EXIT
until curl -fs "$SVC_BASE_URL/readyz" > "$DATA_DIR/ready.json"; do
  kill -0 $SERVER || { cat "$DATA_DIR/sandbox.log"; exit 1; }
  sleep 0.1
done
"$@"
