import { alerts } from '@svc/console-api/alerts/alert-store'
import { newId } from '@svc/contract/id-kinds'
import { taxDocuments } from '@svc/core/payments/fees/tax-document'
import { paise } from '@svc/kernel/money'
import { type Filter, fieldsOf, type Resource } from '@svc/server/http/resource'
import { RESOURCES } from '@svc/server/resources'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fund } from '../harness/approvals.ts'
import { notifyTransfer, numberOf, transferTo } from '../harness/bank-rail.ts'
import { importLines } from '../harness/bank-statements.ts'
import { Terminal } from '../harness/card-rail.ts'
import { runHere } from '../harness/cli.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { newDispute } from '../harness/disputes.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { giveAccount, preparePayoutOf } from '../harness/payouts.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { newShop } from '../harness/refunds.ts'
import { MASTER_KEY, openService, RAIL_KEY, type TestService } from '../harness/service.ts'

type Kind = 'merchant' | 'partner'

/** Where callers read a noun: a tenant, operators, and the command line where it lists the noun from its resource. */
interface Face {
  readonly kind: Kind
  readonly api: string
  readonly console: string
  readonly id: string
  readonly command?: string
  /** It has no record of its own. */
  readonly isOnlyListed?: true
  /** The filter that names the tenant, where it is not that of its kind. */
  readonly tenant?: 'tenantId'
}

const FACES: Readonly<Record<string, Face>> = {
  company: {
    kind: 'partner',
    api: '/api/v0/partner/companies',
    console: '/companies',
    id: 'companyId',
    command: 'company',
  },
  user: {
    kind: 'partner',
    api: '/api/v0/partner/users',
    console: '/users',
    id: 'userId',
    command: 'user',
  },
  cardAccount: {
    kind: 'partner',
    api: '/api/v0/partner/card-accounts',
    console: '/card-accounts',
    id: 'cardAccountId',
    command: 'card-account',
  },
  cardTransaction: {
    kind: 'partner',
    api: '/api/v0/partner/card-transactions',
    console: '/card-transactions',
    id: 'cardTransactionId',
    command: 'cards transactions',
    isOnlyListed: true,
  },
  spendRule: {
    kind: 'partner',
    api: '/api/v0/partner/spend-rules',
    console: '/spend-rules',
    id: 'spendRuleId',
    command: 'spend-rules',
  },
  refund: {
    kind: 'merchant',
    api: '/api/v0/refunds',
    console: '/refunds',
    id: 'refundId',
    command: 'refund',
  },
  dispute: {
    kind: 'merchant',
    api: '/api/v0/disputes',
    console: '/disputes',
    id: 'disputeId',
    command: 'dispute',
  },
  payment: {
    kind: 'merchant',
    api: '/api/v0/payments',
    console: '/payments',
    id: 'paymentId',
    command: 'payments',
  },
  webhookEndpoint: {
    kind: 'merchant',
    api: '/api/v0/webhook-endpoints',
    console: '/webhooks',
    id: 'endpointId',
    command: 'webhook',
    tenant: 'tenantId',
  },
  payout: {
    kind: 'merchant',
    api: '/api/v0/payouts',
    console: '/payouts',
    id: 'payoutId',
    command: 'payout',
  },
  taxDocument: {
    kind: 'merchant',
    api: '/api/v0/tax-documents',
    console: '/tax-documents',
    id: 'documentId',
    command: 'tax',
    isOnlyListed: true,
  },
}

let service: TestService
let operator: Browser
let tenants: Readonly<Record<Kind, { readonly id: string; readonly client: Client }>>

beforeAll(async () => {
  // Without the simulated bank, which would change records between two reads.
  service = await openService({ background: false, env: { APPROVAL_ABOVE_RUPEES: '10000000' } })
  // The second of each is whose records nobody else may get.
  const [merchant] = [await merchantWithRecords(), await merchantWithRecords()]
  const [partner] = [await partnerWithRecords(), await partnerWithRecords()]
  tenants = { merchant, partner }
  await importLines(service, [-590, 1700])
  await insertAlerts()
  for (const currency of ['USD', 'EUR'])
    await service.client.notify('/rails/upi/credits', { ...creditOf('NOSUCHCODE'), currency }, RAIL_KEY)
  operator = await signedIn(service, 'admin')
})
afterAll(() => service.close())

/** One that lasts, and one that is closed. */
async function insertAlerts(): Promise<void> {
  const alert = {
    kind: 'disk_low',
    objectId: '',
    pageId: null,
    severity: 'warning',
    value: 1n,
    detail: 'Look at it',
    acknowledgedAt: null,
    acknowledgedBy: null,
    note: null,
    acknowledgedSeverity: null,
    acknowledgedValue: null,
  } as const
  const at = new Date()
  const rows = [null, at].map((closedAt) => {
    const alertId = newId('alr', at.getTime(), service.app.services.random)
    return { ...alert, alertId, openedAt: at, changedAt: at, closedAt }
  })
  await service.app.services.database.operate(async (tx) => alerts.insert(tx, rows))
}

async function merchantWithRecords() {
  const { merchantId, client } = await newShop(service)
  await giveAccount(service, merchantId)
  for (const [i, amount] of [100, 200, 300].entries()) {
    const { tr } = await newCode(service, client, { referenceNumber: `order-${i}`, multipleUse: true })
    const { paymentId } = payloadOf(await notifyCredit(service.client, creditOf(tr, { amount })))
    for (const part of ['a', 'b'])
      payloadOf(
        await client.post(`/api/v0/payments/${paymentId}/refunds`, {
          amount: 1,
          referenceNumber: `return-${i}${part}`,
        }),
      )
    await newDispute(service, paymentId)
    await preparePayoutOf(service, merchantId)
    payloadOf(await client.post('/api/v0/webhook-endpoints', { url: `https://shop.example/${i}` }))
    service.clock.advance(1_000)
  }
  await insertTaxDocuments(merchantId)
  return { id: merchantId, client }
}

let documents = 0
/** Two invoices and a credit note, as they are read: what they are made of is not looked at here. */
async function insertTaxDocuments(merchantId: string): Promise<void> {
  const party = { legalName: 'Shop', address: '1 MG Road', gstin: null, state: '29' }
  const first = `T/26-27/${documents}`
  const rows = ['2026-08-01', '2026-09-01', '2026-09-01'].map((month, i) => ({
    merchantId,
    documentId: newId('txd', Date.now() + i, service.app.services.random),
    number: `T/26-27/${documents++}`,
    kind: i === 2 ? ('CREDIT_NOTE' as const) : ('INVOICE' as const),
    issueDate: '2026-10-01',
    month,
    supplier: { ...party, gstin: '29AAGCB7383J1Z4' },
    recipient: party,
    placeOfSupply: '29',
    sac: '997158',
    paymentCount: 1,
    taxablePaise: paise(100n),
    taxBasisPoints: 1_800,
    cgstPaise: paise(9n),
    sgstPaise: paise(9n),
    igstPaise: paise(0n),
    originalNumber: i === 2 ? first : null,
    creditNoteNumber: null,
    signed: 'x',
    createdAt: new Date(),
  }))
  await service.app.services.database.operate(async (tx) => taxDocuments.insert(tx, rows))
}

async function partnerWithRecords() {
  const partner = await newPartner(service)
  const client = await asPartner(service.client, partner)
  for (const name of ['Beta', 'Gamma']) {
    const { companyId } = payloadOf(await client.post('/api/v0/partner/companies', { name }))
    const account = { companyId, product: 'incentive', accountType: 'GIFT', binType: 'GIFT' }
    const settings = { cardProgramme: name, denomination: 100, lowBalance: 50 }
    const person = { firstName: name, mobile: name === 'Beta' ? '9876543210' : '9876543211' }
    payloadOf(
      await client.post('/api/v0/partner/users', { companyId, ...person, email: `${name}@acme.example` }),
    )
    payloadOf(await client.post('/api/v0/partner/card-accounts', { ...account, ...settings }))
  }
  await useCards(partner, client)
  await setRules(partner, client)
  expect((await fund(await signedIn(service, 'operator'), partner, '20000000')).status).toBe(202)
  return { id: partner.partnerId, client }
}

/** Transactions of two cards, of each status but those that take days. */
async function useCards(partner: TestPartner, client: Client): Promise<void> {
  for (const merchantName of ['Corner Shop', 'CAFÉ']) {
    const { token } = payloadOf(await createCard(client, partner))
    const terminal = new Terminal(service.client, token)
    const shop = { merchantName, merchantPlace: 'Pune', mcc: '5411', rrn: '633412000001' }
    const [captured, partly, voided] = [
      await terminal.authorize(10, shop),
      await terminal.authorize(20.5, { ...shop, channel: 'atm' }),
      await terminal.authorize(5, shop),
    ].map(({ authorizationId }) => ({ authorizationId }))
    const { messageId: captureId } = await terminal.capture(10, { ...captured, ...shop })
    await terminal.capture(15.25, { ...partly, ...shop })
    await terminal.void(voided)
    await terminal.refund(2.75, { captureId, ...shop })
    for (const amount of [900, 0, 1]) await terminal.authorize(amount, shop)
    await terminal.capture(3, shop)
    payloadOf(await notifyTransfer(service.client, transferTo(await numberOf(service, partner))))
    service.clock.advance(1_000)
  }
}

/** A spend rule of everything that a rule can be of, one of them removed. */
async function setRules({ cardAccountId }: TestPartner, client: Client): Promise<void> {
  const { data } = payloadOf(await client.get('/api/v0/partner/card-transactions?limit=1'))
  const { svcCardId } = data[0]
  const rules = '/api/v0/partner/spend-rules'
  for (const terms of [{ svcCardId, dayAmount: 5 }, { cardAccountId, mccs: ['7995'] }, { monthCount: 9 }])
    payloadOf(await client.post(rules, { name: 'A rule', ...terms }))
  const gone = payloadOf(
    await client.post(rules, { name: 'Gone', exceptCountries: ['IN'], channels: ['pos'] }),
  )
  payloadOf(await client.send('DELETE', `${rules}/${gone.spendRuleId}`))
}

const withQuery = (path: string, query: Readonly<Record<string, string>>): string =>
  `${path}?${new URLSearchParams(query)}`

/** All records of a list, page by page. */
async function pages(get: (query: Record<string, string>) => Promise<Json>, limit: number): Promise<Json[]> {
  const found: Json[] = []
  for (let after: string | undefined; ; ) {
    const { data, next } = await get({ limit: String(limit), ...(after !== undefined && { after }) })
    expect(data.length).toBeLessThanOrEqual(limit)
    found.push(...data)
    if (next === undefined) return found
    after = next
  }
}

/** What a caller lists, all of it. */
const listsOf = ({ kind, api, console }: Face, tenantColumn: string) => ({
  tenant: (query: Record<string, string> = {}, limit = 500) =>
    pages(
      async (page) => payloadOf(await tenants[kind].client.get(withQuery(api, { ...query, ...page }))),
      limit,
    ),
  operator: (query: Record<string, string> = {}, limit = 500) =>
    pages(async (page) => {
      const url = withQuery(console, { [tenantColumn]: tenants[kind].id, ...query, ...page })
      const { json, status } = await operator.get(url)
      expect([url, status]).toEqual([url, 200])
      return json
    }, limit),
})

const EVERYONES = new Set(['q', 'merchantId', 'partnerId', 'tenantId'])
const instantOf = ({ createdOn }: Json): number => Date.parse(createdOn)

/** Values for a filter, each with the records that it finds of all; `undefined` where none can be derived. */
function trials(name: string, all: readonly Json[]): [value: string, fits: (record: Json) => boolean][] {
  if (name === 'createdFrom' || name === 'from') {
    const at = all[1]!.createdOn
    return [[at, (record) => instantOf(record) >= Date.parse(at)]]
  }
  if (name === 'createdTo' || name === 'to') {
    const at = all[1]!.createdOn
    return [[at, (record) => instantOf(record) < Date.parse(at)]]
  }
  if (name === 'amountFrom') return [['10', ({ amount }) => amount >= 10]]
  if (name === 'amountTo') return [['10', ({ amount }) => amount <= 10]]
  if (name === 'merchantName')
    return trialsOfValues(name, all).map(([value, fits]) => [value.toUpperCase(), fits])
  if (name === 'state')
    return ['enabled', 'disabled'].map((state) => [state, ({ enabled }) => enabled === (state === 'enabled')])
  return trialsOfValues(name, all)
}

/** Every value that the records have. */
function trialsOfValues(
  name: string,
  all: readonly Json[],
): [value: string, fits: (record: Json) => boolean][] {
  const values = new Set(all.flatMap((record) => (record[name] === undefined ? [] : [String(record[name])])))
  return [...values].map((value) => [value, (record) => String(record[name]) === value])
}

/** Of one noun: what no record of this world has. */
const WITHOUT_VALUES: Readonly<Record<string, readonly string[]>> = { refund: ['utr'], payout: ['utr'] }

// Merchants and partners are read by operators alone.
const NOUNS = Object.entries<Resource<never>>(RESOURCES).filter(
  ([, { titles }]) => titles.tenant !== undefined,
)

test('every noun that tenants read has a place here', () => {
  expect(NOUNS.map(([noun]) => noun).sort()).toEqual(Object.keys(FACES).sort())
})

/** A record without what the console masks until it is revealed. */
function maskOf(resource: Resource<never>) {
  const personal = new Set(
    Object.entries(fieldsOf(resource, 'operator')).flatMap(([name, schema]) =>
      'x-personal' in schema ? [name] : [],
    ),
  )
  return (record: Json) => Object.fromEntries(Object.entries(record).filter(([name]) => !personal.has(name)))
}

describe.each(NOUNS)('%s', (noun, resource: Resource<never>) => {
  const face = FACES[noun]!
  const tenantColumn = face.tenant ?? (face.kind === 'merchant' ? 'merchantId' : 'partnerId')
  const lists = listsOf(face, tenantColumn)
  const idOf = (record: Json): string => record[face.id]
  const operatorOnly = Object.entries(resource.fields).flatMap(([name, field]) =>
    field.operatorOnly ? [name] : [],
  )

  const masked = maskOf(resource)

  test('every caller gets the same records, with what is for operators alone left out for tenants', async () => {
    const [own, all] = [await lists.tenant(), await lists.operator()]
    expect(own.length).toBeGreaterThan(2)
    const withheld = new Set(operatorOnly)
    const seen = (record: Json) =>
      Object.fromEntries(Object.entries(record).filter(([name]) => !withheld.has(name)))
    expect(own.map(masked)).toEqual(all.map(seen).map(masked))
    for (const record of own) for (const name of operatorOnly) expect(Object.keys(record)).not.toContain(name)
    for (const record of all)
      expect(record[tenantColumn] ?? tenants[face.kind].id).toBe(tenants[face.kind].id)
    if (face.command === undefined) return
    const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
    const svc = async (...args: string[]) =>
      JSON.parse((await runHere(['admin', ...face.command!.split(' '), ...args, '--json'], env)).stdout)
    const ofTenant = [
      ...(['user', 'cardAccount', 'cardTransaction'].includes(noun) ? ['--partner-id'] : []),
      ...(noun === 'taxDocument' ? ['--merchant-id'] : []),
      tenants[face.kind].id,
    ]
    expect((await svc('list', ...ofTenant)).map(masked)).toEqual(all.map(masked))
    if (!face.isOnlyListed) expect(masked(await svc('show', idOf(all[0]!)))).toEqual(masked(all[0]!))
  })

  test('a list is complete and in its order, whatever the size of its pages, for every caller', async () => {
    for (const list of [lists.tenant, lists.operator]) {
      const all = (await list()).map(idOf)
      for (const limit of [1, 2]) expect((await list({}, limit)).map(idOf)).toEqual(all)
    }
    const forwards = (await lists.operator({ sort: 'created' }, 2)).map(idOf)
    expect(forwards).toEqual((await lists.operator()).map(idOf).toReversed())
  })

  const filters = Object.entries(resource.filters as Readonly<Record<string, Filter>>).filter(
    ([name]) => !EVERYONES.has(name),
  )
  test.each(filters)('the filter %s finds the same records for every caller', async (name) => {
    const all = await lists.tenant()
    const cases = trials(name, all)
    if (!WITHOUT_VALUES[noun]?.includes(name)) expect(cases.length).toBeGreaterThan(0)
    for (const [value, fits] of cases) {
      const expected = all.filter(fits).map(idOf)
      for (const list of [lists.tenant, lists.operator])
        expect((await list({ [name]: value }, 2)).map(idOf), `${name}=${value}`).toEqual(expected)
    }
  })
})

/** Where operators read a noun of their own, and the command that lists it. */
const OF_OPERATORS: Readonly<Record<string, { readonly console: string; readonly command?: string }>> = {
  alert: { console: '/alerts', command: 'alerts list --all' },
  approval: { console: '/approvals', command: 'approval list' },
  bankCredit: { console: '/bank-credits' },
  cardException: { console: '/card-exceptions', command: 'cards exceptions' },
  statementLine: { console: '/statement-lines', command: 'statement lines' },
  railNotice: { console: '/rail-notices', command: 'notice list --all' },
}

test.each(Object.entries(OF_OPERATORS))(
  'the list %s of operators is complete in both orders, and the same on the command line',
  async (_, { console, command }) => {
    const list = (query: Record<string, string> = {}, limit = 500) =>
      pages(async (page) => (await operator.get(withQuery(console, { ...query, ...page }))).json, limit)
    const all = await list()
    expect(all.length).toBeGreaterThan(1)
    expect(await list({}, 1)).toEqual(all)
    expect(await list({ sort: 'created' }, 1)).toEqual(all.toReversed())
    if (command === undefined) return
    const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
    const { stdout } = await runHere(['admin', ...command.split(' '), '--json'], env)
    expect(JSON.parse(stdout)).toEqual(all)
  },
)
