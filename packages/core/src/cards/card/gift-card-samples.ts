/** How to encrypt an order and get a card, in the reference beside the operation. A test runs both against the service. */
export const GIFT_CARD_SAMPLES = [
  {
    lang: 'TypeScript',
    label: 'TypeScript, shared key',
    source: `import { readFile } from 'node:fs/promises'
import { CompactEncrypt } from 'jose'

// Everything that sandbox.json says about the demo partner.
const { baseUrl, incentivePartner: partner } = JSON.parse(await readFile('data/sandbox.json', 'utf8'))

// 1. A token, by OAuth client credentials.
const form = { grant_type: 'client_credentials', client_id: partner.clientId, client_secret: partner.clientSecret }
const token = await (await fetch(baseUrl + '/oauth/token', { method: 'POST', body: new URLSearchParams(form) })).json()

// 2. The order, encrypted with the shared key: a compact JWE.
const { companyId, cardAccountId, sharedKey } = partner
const order = { companyId, cardAccountId, firstName: 'Asha', mobile: '9876543210', loadAmount: '500' }
const encrypted = await new CompactEncrypt(new TextEncoder().encode(JSON.stringify(order)))
  .setProtectedHeader({ alg: sharedKey.alg, enc: sharedKey.enc, kid: sharedKey.kid })
  .encrypt(Buffer.from(sharedKey.k, 'base64url'))

// 3. The card. The body is the JWE as a JSON string.
const response = await fetch(baseUrl + '/api/v0/partner/svcCard', {
  method: 'POST',
  headers: {
    authorization: 'Bearer ' + token.access_token,
    partnerId: partner.partnerId,
    'content-type': 'application/json',
    'idempotency-key': crypto.randomUUID(),
  },
  body: JSON.stringify(encrypted),
})
console.log(JSON.stringify(await response.json(), null, 2))
`,
  },
  {
    lang: 'Shell',
    label: 'Shell',
    source: `# What sandbox.json says about the demo partner.
partner() { node -p "JSON.parse(require('fs').readFileSync('data/sandbox.json')).$1"; }
BASE_URL=$(partner baseUrl)

# 1. A token, by OAuth client credentials.
TOKEN=$(curl -s "$BASE_URL/oauth/token" -d grant_type=client_credentials \\
  -u "$(partner incentivePartner.clientId):$(partner incentivePartner.clientSecret)" |
  node -p 'JSON.parse(require("fs").readFileSync(0)).access_token')

# 2. The order, encrypted with the sandbox's shared key.
ORDER='{"companyId":"'$(partner incentivePartner.companyId)'","cardAccountId":"'$(partner incentivePartner.cardAccountId)'","firstName":"Asha","loadAmount":"500"}'
JWE=$(echo "$ORDER" | npx svc encrypt --sandbox)

# 3. The card. The body is the bare JWE.
curl -s "$BASE_URL/api/v0/partner/svcCard" -H "Authorization: Bearer $TOKEN" \\
  -H "partnerId: $(partner incentivePartner.partnerId)" -H 'Content-Type: application/jose' -d "$JWE"
`,
  },
] as const
