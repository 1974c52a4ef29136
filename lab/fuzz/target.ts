import { createPublicKey, createSecretKey, randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encrypt } from '@svc/jwe/jwe'
import type { JweKey } from '@svc/jwe/keys'
import type { DemoPartner, SandboxFile } from '@svc/server/sandbox/sandbox-file'
import { type ServiceProcess, startProcess } from '../../test/harness/processes.ts'

export const RAIL_KEY = randomBytes(24).toString('hex')
/** Text that only the victims' records hold: in no answer to anybody else. */
const CANARY = `canary${randomBytes(6).toString('hex')}`

/** Who may call, with live credentials. Ids are those that were seen in its answers, newest last, by field name. */
export interface Tenant {
  readonly kind: 'merchant' | 'partner'
  readonly tenantId: string
  /** Of a merchant: the partner whose coin configurations it reads. */
  readonly linkedPartnerId?: string
  readonly token: string
  readonly accessKey: string
  readonly cookie: string
  readonly partner: DemoPartner | undefined
  readonly ids: Map<string, string[]>
}

/** The service as a process of its own, in sandbox mode, with tenants in it. */
export interface Target {
  readonly baseUrl: string
  // oxlint-disable-next-line typescript/no-explicit-any -- an OpenAPI document, walked by name
  readonly document: any
  readonly tenants: readonly Tenant[]
  /** Tenants whose records nobody else may see; nothing but dates is sent in their name. */
  readonly victims: readonly Tenant[]
  /** Of an administrator who is signed in to the console. */
  readonly operatorCookie: string
  readonly jweKeys: Readonly<Record<'shared' | 'P-256' | 'X25519' | 'RSA', JweKey>>
  /** Public keys of tokens, as JWKs. */
  readonly tokenKeys: readonly object[]
  /** Secrets that hold, to be sent in their places. */
  readonly given: Readonly<Record<'apiKey' | 'clientId' | 'clientSecret', string>>
  /** Texts that no answer may hold, unless the request did. */
  readonly secrets: readonly string[]
  readonly process: ServiceProcess
  close(): Promise<void>
}

type Json = any // oxlint-disable-line typescript/no-explicit-any -- read by name

export async function openTarget(): Promise<Target> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-fuzz-'))
  const service = await startProcess({
    DATA_DIR: dataDir,
    UPI_RAIL_KEYS: RAIL_KEY,
    CARD_RAIL_KEYS: RAIL_KEY,
    BANK_RAIL_KEYS: RAIL_KEY,
    TOKEN_TTL_SECONDS: '86400',
    // Else wrong credentials would soon be refused unread.
    FAILED_ATTEMPTS_PER_MINUTE: '100000',
    HEADERS_TIMEOUT_MS: '1000',
    REQUEST_TIMEOUT_MS: '2000',
  })
  const close = async () => {
    await service.end('SIGTERM')
    await rm(dataDir, { recursive: true, force: true })
  }
  try {
    return { ...(await fill(service, dataDir)), process: service, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Makes the tenants and their records, and reads what there is to know. */
async function fill(service: ServiceProcess, dataDir: string): Promise<Omit<Target, 'process' | 'close'>> {
  const sandbox = JSON.parse(await readFile(join(dataDir, 'sandbox.json'), 'utf8')) as SandboxFile
  const call = callerOf(service.baseUrl)
  // Made on first use, which takes a while and would be counted as a stop of the event loop.
  await fetch(`${service.baseUrl}/docs`)
  const merchants = await Promise.all(
    [sandbox.merchant, sandbox.otherMerchant].map((merchant) => merchantTenant(call, merchant)),
  )
  const partners = await Promise.all(
    [sandbox.incentivePartner, sandbox.rewardsPartner, sandbox.otherPartner].map((partner) =>
      partnerTenant(call, partner),
    ),
  )
  const victims = [merchants[1]!, partners[2]!]
  for (const tenant of [...merchants, ...partners])
    await makeRecords(call, tenant, victims.includes(tenant) ? CANARY : 'Own')
  note(partners[0]!, { coinConfigId: sandbox.coinConfigId, userId: sandbox.coinUserId })
  const { keys } = await call('GET', '/.well-known/jwks.json')
  const published = (kind: string): JweKey => {
    const jwk = keys.find((key: Json) => key.use === 'enc' && (key.crv ?? key.kty) === kind)
    return { kid: jwk.kid, alg: jwk.alg, enc: 'A256GCM', key: createPublicKey({ key: jwk, format: 'jwk' }) }
  }
  const operatorCookie = await signInOperator(call)
  const secretsOf = (partner: DemoPartner) => [partner.clientSecret, partner.sharedKey.k]
  return {
    baseUrl: service.baseUrl,
    document: await call('GET', '/openapi.json'),
    // The sandbox links them: the merchant reads the partner's coin configurations (decision K4).
    tenants: [{ ...merchants[0]!, linkedPartnerId: partners[0]!.tenantId }, partners[0]!, partners[1]!],
    victims,
    operatorCookie,
    jweKeys: {
      shared: sharedKey(sandbox.incentivePartner),
      'P-256': published('P-256'),
      X25519: published('X25519'),
      RSA: published('RSA'),
    },
    tokenKeys: keys.filter((key: Json) => key.use !== 'enc'),
    given: {
      apiKey: sandbox.merchant.apiKey,
      clientId: sandbox.incentivePartner.clientId,
      clientSecret: sandbox.incentivePartner.clientSecret,
    },
    secrets: [
      CANARY,
      RAIL_KEY,
      (await readFile(join(dataDir, 'master.key'), 'utf8')).trim(),
      sandbox.merchant.apiKey,
      sandbox.otherMerchant.apiKey,
      ...partners.flatMap(({ partner }) => secretsOf(partner!)),
      ...[...merchants, ...partners].map(({ token }) => token),
      ...[...partners, { cookie: operatorCookie }].map(({ cookie }) => cookie.split('=')[1]!),
    ],
  }
}

export const sharedKey = ({ sharedKey: { kid, k } }: DemoPartner): JweKey => ({
  kid,
  alg: 'A256KW',
  enc: 'A256GCM',
  key: createSecretKey(Buffer.from(k, 'base64url')),
})

type Call = ReturnType<typeof callerOf>

const callerOf =
  (baseUrl: string) =>
  async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Json> => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    const cookie = response.headers.get('set-cookie')?.split(';')[0]
    return { ...JSON.parse(text), ...(cookie && { cookie }) }
  }

async function merchantTenant(call: Call, merchant: SandboxFile['merchant']): Promise<Tenant> {
  const { merchantId: tenantId, accessKey, apiKey } = merchant
  const { token } = await call('POST', '/api/v0/merchant/token', undefined, { 'api-key': apiKey })
  return { kind: 'merchant', tenantId, token, accessKey, cookie: '', partner: undefined, ids: new Map() }
}

async function partnerTenant(call: Call, partner: DemoPartner): Promise<Tenant> {
  const { partnerId: tenantId, clientId, clientSecret, companyId, cardAccountId, userId } = partner
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  })
  const { access_token: token, cookie } = await call('POST', '/oauth/token', form.toString(), {
    'content-type': 'application/x-www-form-urlencoded',
  })
  const tenant: Tenant = { kind: 'partner', tenantId, token, accessKey: '', cookie, partner, ids: new Map() }
  note(tenant, { companyId, cardAccountId, userId })
  return tenant
}

/** An administrator besides the sandbox's own, whose sessions end as others sign in with one click. */
async function signInOperator(call: Call): Promise<string> {
  const api = '/console/api/v0'
  const own = { 'x-svc-console': '1' }
  const { cookie } = await call('POST', `${api}/session/sandbox`, undefined, own)
  const account = { name: 'fuzz.admin', password: randomBytes(12).toString('hex') }
  const invited = { name: account.name, role: 'admin' }
  const { link } = await call('POST', `${api}/operators/invitations`, invited, { ...own, cookie })
  const accepted = { token: link.split('#')[1], password: account.password }
  await call('POST', `${api}/invitation/accept`, accepted, own)
  return (await call('POST', `${api}/session`, account, own)).cookie
}

export const headersOf = ({ token, tenantId, cookie, kind }: Tenant): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  ...(kind === 'partner' && { partnerid: tenantId, cookie }),
})

/** One record of each noun, with this text in it. */
async function makeRecords(call: Call, tenant: Tenant, text: string): Promise<void> {
  const headers = headersOf(tenant)
  const make = async (path: string, body: unknown, type = 'application/json') =>
    note(tenant, (await call('POST', path, body, { ...headers, 'content-type': type })).payload)
  const { partner } = tenant
  if (partner) {
    const { companyId, cardAccountId } = partner
    const order = { companyId, cardAccountId, loadAmount: 100, firstName: text, mobile: '9000000009' }
    const key = sharedKey(partner)
    const encryptOrder = () => encrypt(Buffer.from(JSON.stringify(order)), key)
    await make('/api/v0/partner/svcCard', await encryptOrder(), 'application/jose')
    await make(
      '/api/v0/partner/svcCard/bulk',
      `${JSON.stringify(await encryptOrder())}\n`,
      'application/x-ndjson',
    )
    await make('/api/v0/svc-coins', { event: 'fuzz.event', amount: 3, title: text })
  } else {
    await make('/api/v0/qr-code', { qrName: text, multipleUse: true })
    const qrCodeId = tenant.ids.get('qrCodeId')!.at(-1)
    await make('/sandbox/upi/pay', { qrCodeId, amount: 5 })
  }
  // Nobody listens there: what is delivered there fails, and no more.
  await make('/api/v0/webhook-endpoints', { url: 'http://127.0.0.1:59999/hook', description: text })
}

const IDS_KEPT = 200
const ID_FIELDS = new Set(
  'qrCodeId svcCardId jobId coinConfigId allocationId endpointId eventId event utr paymentId requestId userId companyId cardAccountId referenceNumber next'.split(
    ' ',
  ),
)

/** Keeps the ids of an answer, so that later requests are about things that exist. */
export function note({ ids }: Tenant, value: unknown, depth = 0): void {
  if (value === null || typeof value !== 'object' || depth > 4) return
  for (const [name, inner] of Object.entries(value)) {
    if (typeof inner === 'object') note({ ids } as Tenant, inner, depth + 1)
    if (typeof inner !== 'string' || !ID_FIELDS.has(name) || inner.length > 300) continue
    const known = ids.get(name) ?? []
    ids.set(name, known)
    if (!known.includes(inner)) known.push(inner)
    // The first ones stay: they are the records that the run began with.
    if (known.length > IDS_KEPT) known.splice(10, 1)
  }
}
