# What the guides' lines use, for bash or zsh, in the checkout while a sandbox runs: . docs/guides/call.sh merchant
# The word names a demo tenant of data/sandbox.json, as which `call` sends its requests.
SANDBOX=${DATA_DIR:-data}/sandbox.json
# Names and references that are new each time.
RUN=$(date +%s)$$
# For files, outside of the checkout.
WORK=$(mktemp -d)

svc() { node bin/svc.mjs "$@"; }

# of FIELD: prints a field of the JSON on standard input; all of it, as an error, where there is none.
of() {
  node -e '
    const text = fs.readFileSync(0, "utf8")
    try {
      const value = Function("_", `return _.${process.argv[1]}`)(JSON.parse(text))
      if (value === undefined) throw new Error("no such field")
      console.log(typeof value === "object" ? JSON.stringify(value) : value)
    } catch (error) {
      console.error(`${process.argv[1]}: ${error.message}\n${text}`)
      process.exitCode = 1
    }' "$1"
}

# demo FIELD: the same of sandbox.json.
demo() { of "$1" < "$SANDBOX"; }

# sign_in: gets a token of the tenant, also once its clock was advanced.
sign_in() {
  if [ "$KIND" = merchant ]; then
    TOKEN=$(curl -sS -X POST "$BASE/api/v0/merchant/token" -H "API-Key: $(demo "$TENANT.apiKey")" | of token)
  else
    TOKEN=$(curl -sS "$BASE/oauth/token" -d grant_type=client_credentials \
      -u "$(demo "$TENANT.clientId"):$(demo "$TENANT.clientSecret")" | of access_token)
  fi
}

# call PATH [options of curl]: sends a request as the tenant and prints the response, failures too.
call() {
  curl -sS "$BASE$1" -H "Authorization: Bearer $TOKEN" -H "partnerId: $ID" -H 'Content-Type: application/json' "${@:2}"
}

BASE=$(demo baseUrl)
TENANT=${1:-merchant}
case $TENANT in *erchant) KIND=merchant ;; *) KIND=partner ;; esac
ID=$(demo "$TENANT.${KIND}Id")
sign_in
