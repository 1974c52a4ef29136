import { createPublicKey, type JsonWebKey, randomInt } from 'node:crypto'
import { decryptJwe, encrypt } from '@svc/jwe/jwe'
import type { JweKey } from '@svc/jwe/keys'
import { connectionOptions } from '@svc/platform/db/connection-options'
import { type Bed, type BenchPartner, dropUnnumbered, type Side } from '../bed.ts'
import { type Contender, contest, httpContender } from '../contest.ts'
import { closedLoop, type Load, requestBytes } from '../load.ts'
import { peer } from '../peers.ts'
import { pgbenchContender, script } from '../pgbench.ts'
import { startServer } from '../server-process.ts'
import type { Comparison, Measure, Setting } from './measure.ts'

const PATH = '/api/v0/partner/svcCard'
/** More than any phase can use: JWEs are made before the clock runs. */
const JWES_PER_SECOND = 2_500
/** So many that pgbench's transactions seldom wait for each other. */
const [PARTNERS, ACCOUNTS] = [8, 256]
const ALGORITHMS = ['A256KW', 'P-256', 'X25519', 'RSA'] as const
type Algorithm = (typeof ALGORITHMS)[number]

interface PublishedKey extends JsonWebKey {
  readonly kid: string
  readonly alg: JweKey['alg']
}

/** What orders to each partner are encrypted with: its shared key, or a published key, which is requested once. */
async function keyring({ service }: Bed): Promise<(algorithm: Algorithm, partner: BenchPartner) => JweKey> {
  const response = await fetch(`${service.baseUrl}/.well-known/jwks.json`)
  const { keys } = (await response.json()) as { keys: PublishedKey[] }
  return (algorithm, { sharedKey }) => {
    if (algorithm === 'A256KW') return sharedKey
    const jwk = keys.find((key) => key['use'] === 'enc' && (key.crv ?? key.kty) === algorithm)!
    return { kid: jwk.kid, alg: jwk.alg, enc: 'A256GCM', key: createPublicKey({ key: jwk, format: 'jwk' }) }
  }
}

let holders = 6_000_000_000 + randomInt(1_000_000_000)

/** Orders of new holders, encrypted; partners and accounts in turn. */
export async function orders(
  bed: Pick<Side, 'service'>,
  partners: readonly BenchPartner[],
  keyFor: (partner: BenchPartner) => JweKey,
  seconds: number,
): Promise<Load> {
  const keys = partners.map(keyFor)
  const requests: Buffer[] = []
  for (let n = 0; n < seconds * JWES_PER_SECOND; n++) {
    const { companyId, cardAccountIds, headers } = partners[n % partners.length]!
    const order = {
      companyId,
      cardAccountId: cardAccountIds[Math.floor(n / partners.length) % cardAccountIds.length],
      mobile: String(holders++),
      firstName: 'Ravi',
      lastName: 'Kumar',
      loadAmount: 1,
    }
    const body = await encrypt(Buffer.from(JSON.stringify(order)), keys[n % partners.length]!)
    requests.push(requestBytes('POST', PATH, { ...headers, 'content-type': 'application/jose' }, body))
  }
  return { port: bed.service.port, next: (n) => requests[n] }
}

/** The words of pgbench/create-card.sql: this bed's accounts, and texts as long as those of a real answer. */
export async function words(bed: Bed, partners: readonly BenchPartner[]): Promise<Record<string, string>> {
  const { rows } = await bed.admin.query<{ record: string; response: string }>(
    `select o.payload::text as record, encode(k.response, 'hex') as response
     from outbox o join cards c on c.svc_card_id = o.object_id
       join idempotency_keys k on k.tenant_id = c.partner_id and k.ciphertext_hash = c.ciphertext_hash limit 1`,
  )
  // Account n belongs to partner n modulo their number, as the script counts.
  const accounts = Array.from(
    { length: ACCOUNTS },
    (_, n) => partners[n % PARTNERS]!.cardAccountIds[Math.floor(n / PARTNERS)]!,
  )
  return {
    lastAccount: String(accounts.length - 1),
    partnerCount: String(PARTNERS),
    partners: `{${partners.map((p) => p.partnerId).join(',')}}`,
    companies: `{${partners.map((p) => p.companyId).join(',')}}`,
    accounts: `{${accounts.join(',')}}`,
    // pgbench takes the minutes of a time for one of its variables.
    record: rows[0]!.record.replace(/:(?=\w)/g, '-'),
    response: rows[0]!.response,
  }
}

/** Nothing but decrypting JWEs of the shared key, one after the other: what no service can be faster than on one thread. */
async function bareOpening({ sharedKey }: BenchPartner): Promise<Contender> {
  const order = {
    companyId: 'com_1',
    cardAccountId: 'acc_1',
    mobile: '9876543210',
    firstName: 'Ravi',
    loadAmount: 1,
  }
  const text = await encrypt(Buffer.from(JSON.stringify(order)), sharedKey)
  return {
    name: 'bare opening of A256KW, one thread',
    unit: 'JWEs',
    async run({ seconds }) {
      const startMs = performance.now()
      let done = 0
      while (performance.now() < startMs + seconds * 1_000) {
        await decryptJwe(text, () => sharedKey)
        done++
      }
      return { done, seconds: (performance.now() - startMs) / 1_000 }
    },
  }
}

/** The statements of pgbench's script as a function of the database, by which PostGraphile writes the same rows. */
function issuingFunction(sql: string): string {
  const statements = sql
    .split('\n')
    .filter((line) => line !== '' && !/^(?:--|\\|begin;|commit;)/.test(line))
    .map((line) =>
      line
        .replace(/^select /, 'perform ')
        .replace(/^(with .* select require_count.*) from (\w+);$/, '$1 into counted from $2;'),
    )
    .map((line) => line.replace(/:(account|id)::/g, 'p_$1::'))
  return `create schema bench; grant usage on schema bench to svc_service;
    create function bench.issue_card(p_account int, p_id bigint) returns bigint language plpgsql set search_path = svc as $issue$
    declare counted record; begin ${statements.join('\n')} return p_id; end $issue$;`
}

async function postgraphile(bed: Bed, sql: string) {
  await bed.admin.query(issuingFunction(sql))
  const { host, port } = bed
  const options = encodeURIComponent(connectionOptions({ url: 'postgresql:///svc' }, 'svc_service').options!)
  const server = await startServer({
    ...peer('postgraphile.mjs'),
    env: {
      DATABASE_URL: `postgresql://postgres@localhost/svc?host=${encodeURIComponent(host)}&port=${port}&options=${options}`,
    },
  })
  const issue = () => {
    const [account, id] = [randomInt(ACCOUNTS), randomInt(2 ** 47)]
    const query = `mutation { issueCard(input: { pAccount: ${account}, pId: "${id}" }) { result } }`
    return JSON.stringify({ query })
  }
  const response = await fetch(`${server.baseUrl}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: issue(),
  })
  const reported = await response.text()
  if (!/"result":"\d+"/.test(reported)) throw new Error(`PostGraphile issued no card: ${reported}`)
  const contender = httpContender('PostGraphile, the same rows', [server.pid, bed.postmasterPid], () => ({
    port: server.port,
    next: () => requestBytes('POST', '/graphql', { 'content-type': 'application/json' }, issue()),
  }))
  return { server, contender }
}

export const encryptedCreation: Measure = {
  id: 'encrypted-creation',
  title: 'Issue a gift card by an encrypted order (durable)',
  async run(setting: Setting) {
    const { bed, seconds } = setting
    const partners: BenchPartner[] = []
    for (let i = 0; i < PARTNERS; i++) partners.push(await bed.newPartner('incentive', ACCOUNTS / PARTNERS))
    // Of what the service stores, pgbench's script takes the size of its texts.
    await closedLoop(await orders(bed, partners, ({ sharedKey }) => sharedKey, 1), 8, 0.5)
    await bed.admin.query('vacuum analyze')
    const filled = await words(bed, partners)
    const sql = await script('create-card', filled)
    const batch = await script('create-card-batch', filled)
    const other = await postgraphile(bed, sql)
    const keyOf = await keyring(bed)
    const contenders: Contender[] = [
      ...ALGORITHMS.map((algorithm) =>
        httpContender(`svc, ${algorithm}`, [bed.service.pid, bed.postmasterPid], () =>
          orders(bed, partners, (partner) => keyOf(algorithm, partner), seconds),
        ),
      ),
      pgbenchContender('pgbench, one transaction a request', bed, sql),
      pgbenchContender('pgbench, 64 in a transaction', bed, batch, 64),
      other.contender,
      await bareOpening(partners[0]!),
    ]
    const prepare = async () => {
      await dropUnnumbered(bed)
      await bed.admin.query('checkpoint')
    }
    const figures = await contest({ ...setting, contenders, prepare })
    await other.server.end()
    const comparisons: Comparison[] = ALGORITHMS.map((algorithm) => ({
      of: `svc, ${algorithm}`,
      to: 'pgbench, one transaction a request',
      ...(algorithm === 'A256KW' && { aim: 2 }),
    }))
    comparisons.push({ of: 'svc, A256KW', to: 'pgbench, 64 in a transaction' })
    comparisons.push({ of: 'svc, A256KW', to: 'PostGraphile, the same rows' })
    return { figures, comparisons }
  },
}
