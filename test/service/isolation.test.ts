import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { newDispute } from '../harness/disputes.ts'
import { schemeOf } from '../harness/documents.ts'
import { newFirstInvoice } from '../harness/invoices.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { giveAccount } from '../harness/payouts.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestMerchant, type TestService } from '../harness/service.ts'

const PDF = Buffer.from('%PDF-1.7')
const AS_BYTES = { 'content-type': 'application/octet-stream' }

let service: TestService
let owner: TestMerchant
let ownerClient: Client
let outsider: Client
let foreignIds: Record<string, string>

beforeAll(async () => {
  service = await openService({ env: { DATABASE_POOL_SIZE: '4' } })
  owner = await service.newMerchant()
  ownerClient = await service.as(owner)
  outsider = await service.as(await service.newMerchant())
  const code = await newCode(service, ownerClient, {
    multipleUse: true,
    referenceNumber: 'owner-1',
    customerId: 'c-1',
  })
  const { paymentId } = payloadOf(await notifyCredit(service.client, creditOf(code.tr)))
  const { refundId } = payloadOf(
    await ownerClient.post(`/api/v0/payments/${paymentId}/refunds`, { amount: 1, referenceNumber: 'r-1' }),
  )
  await giveAccount(service, owner.merchantId)
  const { payoutId } = payloadOf(await ownerClient.post('/sandbox/payouts', {}))
  const disputeId = await newDispute(service, paymentId)
  const { attachmentId } = payloadOf(
    await ownerClient.send('POST', `/api/v0/disputes/${disputeId}/attachments?name=a.pdf`, PDF, AS_BYTES),
  )
  const { documentId } = await newFirstInvoice(service, { ...owner, tr: code.tr })
  const ofPayment = { paymentId, refundId, disputeId, attachmentId }
  foreignIds = { qrCodeId: code.qrCodeId, ...ofPayment, payoutId, documentId }
})
afterAll(() => service.close())

/** Rows of the service's own role, as the service connects. */
const directory = async (text: string): Promise<Record<string, unknown>[]> =>
  service.app.services.database.directory({ name: '', text })

/** The answer less what differs between any two answers: request id and time. */
function withoutRequest(text: string, requestId: unknown): string {
  return text.replaceAll(String(requestId), '').replace(/"timestamp":"[^"]+"/, '')
}

test('on every merchant operation with an id, another’s id gets the same bytes as a nonexistent one', async () => {
  const { paths } = (await outsider.get('/openapi.json')).json
  const missingIds: Record<string, string> = {
    qrCodeId: `qr_${'0'.repeat(26)}`,
    paymentId: `pay_${'0'.repeat(26)}`,
    refundId: `rfd_${'0'.repeat(26)}`,
    disputeId: `dsp_${'0'.repeat(26)}`,
    attachmentId: `att_${'0'.repeat(26)}`,
    payoutId: `pyo_${'0'.repeat(26)}`,
    documentId: `txd_${'0'.repeat(26)}`,
  }
  /** Of operations that need one before they look for what the path names. */
  const bodies: Record<string, object> = {
    createRefund: { amount: 1, referenceNumber: 'r-2' },
    submitEvidence: { evidence: 'Delivered' },
    acceptDispute: {},
  }
  const checked: string[] = []
  for (const [path, operations] of Object.entries(paths as Record<string, Record<string, Json>>)) {
    const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    for (const [method, { operationId, parameters: fields, security }] of Object.entries(operations)) {
      if (parameters.length === 0 || schemeOf(security, fields) !== 'merchant') continue
      for (const name of parameters)
        expect(Object.keys(foreignIds), `${path}: this test knows another’s id of every kind`).toContain(name)
      const send = (client: Client, ids: Record<string, string>, headers = {}) => {
        const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name]!)
        const body = bodies[operationId]
        if (operationId === 'uploadAttachment')
          return client.send('POST', `${filled}?name=a.pdf`, PDF, { ...AS_BYTES, ...headers })
        return body
          ? client.post(filled, body, headers)
          : client.send(method.toUpperCase() as 'GET', filled, undefined, headers)
      }
      for (const headers of [
        {},
        { accept: 'application/problem+json' },
        { 'idempotency-key': `${method}-${path}` },
      ]) {
        const [foreign, missing] = [
          await send(outsider, foreignIds, headers),
          await send(outsider, missingIds, headers),
        ]
        expect([foreign.status, missing.status]).toEqual([404, 404])
        expect(withoutRequest(foreign.text, foreign.headers['x-request-id'])).toBe(
          withoutRequest(missing.text, missing.headers['x-request-id']),
        )
        expect(Object.keys(foreign.headers).sort()).toEqual(Object.keys(missing.headers).sort())
      }
      checked.push(`${method} ${path}`)
    }
  }
  expect(checked.length).toBeGreaterThanOrEqual(3)
  expect(payloadOf(await ownerClient.get(`/api/v0/qr-code/${foreignIds['qrCodeId']}`)).status).toBe('ACTIVE')
})

test('a search finds nothing of another merchant, whatever it searches for', async () => {
  const mine = payloadOf(await ownerClient.post('/api/v0/qr-code/search', { limit: 1 }))
  expect(mine.recordsCount).toBe(1)
  await newCode(service, ownerClient)
  const { next } = payloadOf(await ownerClient.post('/api/v0/qr-code/search', { limit: 1 }))
  for (const filter of [
    {},
    { referenceNumber: 'owner-1' },
    { customerId: 'c-1' },
    { status: 'ACTIVE' },
    { after: next },
  ])
    expect(payloadOf(await outsider.post('/api/v0/qr-code/search', filter))).toEqual({
      recordsCount: 0,
      data: [],
    })
})

test('the same reference number and Idempotency-Key of two merchants are independent', async () => {
  const request = { referenceNumber: 'owner-1', qrName: 'mine' }
  const key = { 'idempotency-key': 'shared' }
  const first = payloadOf(await ownerClient.post('/api/v0/qr-code', { qrName: 'theirs' }, key))
  const second = payloadOf(await outsider.post('/api/v0/qr-code', request, key))
  expect(second.qrName).toBe('mine')
  expect(second.qrCodeId).not.toBe(first.qrCodeId)
})

/** Columns that name a tenant, as the migrations call them. */
const TENANT_COLUMNS = `('tenant_id', 'merchant_id', 'partner_id')`
/** The directory of who exists: read before any tenant is known, holds nothing but ids, kinds and dates. */
const OUTSIDE = new Set(['tenants'])

interface TenantTable {
  name: string
  secured: boolean
  owner: string
  policies: string[]
  /** Whether the service’s role may read it at all. */
  readable: boolean
}

const tenantTables = () =>
  asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query<TenantTable>(`
      select c.relname as name, c.relrowsecurity as secured, pg_get_userbyid(c.relowner) as owner,
        has_any_column_privilege('svc_service', c.oid, 'select') as readable,
        array(select p.polcmd::text || ' ' || (0 = any (p.polroles) or exists (
            select from unnest(p.polroles) r where pg_get_userbyid(r) = 'svc_service'))::text || ' ' || pg_get_expr(p.polqual, p.polrelid)
          from pg_policy p where p.polrelid = c.oid order by 1) as policies
      from pg_class c
      where c.relnamespace = 'svc'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and exists (select from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and a.attname in ${TENANT_COLUMNS})
      order by 1`)
    return rows.filter(({ name }) => !OUTSIDE.has(name))
  })

test('row-level security is on for every table with a tenant, and lets the service see the named tenants only', async () => {
  const tables = await tenantTables()
  expect(tables.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'merchants',
      'api_keys',
      'qr_codes',
      'payments',
      'outbox',
      'ledger_accounts',
      'ledger_transfers',
      'idempotency_keys',
    ]),
  )
  for (const { name, secured, owner, policies } of tables) {
    expect([name, secured, owner]).toEqual([name, true, 'svc_owner'])
    const ofService = policies.filter((policy) => policy.includes(' true '))
    expect(ofService, name).toHaveLength(1)
    expect(ofService[0], name).toMatch(/current_tenants/)
  }
})

test('the service’s role owns nothing, bypasses nothing and is a member of nothing', async () => {
  const facts = await asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query(`
      select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication,
        (select count(*)::int from pg_auth_members m where m.member = r.oid) as memberships,
        (select count(*)::int from pg_class c where c.relowner = r.oid) + (select count(*)::int from pg_proc f where f.proowner = r.oid)
          + (select count(*)::int from pg_namespace n where n.nspowner = r.oid) as owned,
        has_schema_privilege(r.oid, 'svc', 'create') as creates
      from pg_roles r where rolname = 'svc_service'`)
    return rows[0]
  })
  expect(facts).toEqual({
    rolsuper: false,
    rolbypassrls: false,
    rolcreaterole: false,
    rolcreatedb: false,
    rolreplication: false,
    memberships: 0,
    owned: 0,
    creates: false,
  })
  expect(await directory('select current_user::text as who, session_user::text as login')).toEqual([
    { who: 'svc_service', login: 'svc_service' },
  ])
})

test('money movements can neither be changed nor deleted by the service', async () => {
  for (const text of [
    'update ledger_transfers set amount = 1',
    'delete from ledger_transfers',
    'truncate ledger_transfers',
    'delete from payments',
    'delete from qr_codes',
    'update ledger_accounts set floor = null',
  ])
    await expect(directory(text)).rejects.toThrow(/permission denied/)
})

test('PostgreSQL links no card, account or user to another partner’s, regardless of who writes', async () => {
  const [ours, theirs] = [await newPartner(service), await newPartner(service)]
  payloadOf(await createCard(await asPartner(service.client, ours), ours))
  const tie = (text: string, values: string[]) =>
    asSuperuser(service.db.database, (admin) => admin.query(text, values))
  const { partnerId, companyId, cardAccountId } = theirs
  for (const [column, foreign] of Object.entries({
    partner_id: partnerId,
    company_id: companyId,
    card_account_id: cardAccountId,
  }))
    await expect(
      tie(`update cards set ${column} = $2 where partner_id = $1`, [ours.partnerId, foreign]),
    ).rejects.toMatchObject({ constraint: 'account_is_the_companys' })
  for (const [column, foreign] of Object.entries({ partner_id: ours.partnerId, company_id: ours.companyId }))
    for (const text of [
      `update users set email = null, ${column} = $2 where partner_id = $1`,
      `update card_accounts set ${column} = $2 where partner_id = $1`,
    ])
      await expect(tie(text, [partnerId, foreign])).rejects.toMatchObject({
        constraint: 'company_is_the_partners',
      })
})

test('without a tenant, and with another’s, the service’s role reads no row of any tenant', async () => {
  const { database } = service.app.services
  for (const { name, readable } of await tenantTables()) {
    if (!readable) continue
    const column = `coalesce(to_jsonb(t)->>'merchant_id', to_jsonb(t)->>'tenant_id', to_jsonb(t)->>'partner_id')`
    const text = `select count(*)::int as rows, count(*) filter (where ${column} = '${owner.merchantId}')::int as owners from ${name} t`
    const read = (tenants: string[]) =>
      database.read(tenants, (tx) => tx.query<{ rows: number; owners: number }>({ name: '', text }))
    expect([name, ...(await directory(text))]).toEqual([name, { rows: 0, owners: 0 }])
    expect([name, ...(await read([]))]).toEqual([name, { rows: 0, owners: 0 }])
    expect((await read(['mer_another']))[0]).toEqual({ rows: 0, owners: 0 })
    if (
      [
        'merchants',
        'api_keys',
        'qr_codes',
        'payments',
        'outbox',
        'ledger_accounts',
        'ledger_transfers',
      ].includes(name)
    ) {
      const [own] = await read([owner.merchantId])
      expect(own!.rows, name).toBeGreaterThan(0)
      expect(own!.owners, name).toBe(own!.rows)
    }
  }
})

test('a transaction for one tenant cannot write for another', async () => {
  const { database } = service.app.services
  const write = (text: string) =>
    database.write(['mer_another'], (tx) => tx.query({ name: '', text: `${text} returning 1` }))
  expect(await write(`update qr_codes set status = 'CANCELLED'`)).toEqual([])
  const insert = `insert into outbox values ('evt_x', '${owner.merchantId}', 't', 'o', '{}', now())`
  await expect(write(insert)).rejects.toThrow(/row-level security/)
})

test('a pooled connection resets its tenants with its transaction, also with an aborted one', async () => {
  const { database } = service.app.services
  const broken = () =>
    database.write([owner.merchantId], (tx) =>
      tx.query({ name: '', text: 'select 1 / (count(*) - count(*)) from qr_codes' }),
    )
  const fine = () =>
    database.write([owner.merchantId], (tx) => tx.query({ name: '', text: 'select count(*) from qr_codes' }))
  // More than the pool has connections, all at once: every connection gets its turn.
  await Promise.all(Array.from({ length: 16 }, () => expect(broken()).rejects.toThrow(/division by zero/)))
  await Promise.all(Array.from({ length: 16 }, fine))
  const after = await Promise.all(
    Array.from({ length: 32 }, () =>
      directory(
        `select coalesce(current_setting('svc.tenants', true), '') as tenants, (select count(*)::int from qr_codes) as rows`,
      ),
    ),
  )
  expect(after.flat()).toEqual(Array.from({ length: 32 }, () => ({ tenants: '', rows: 0 })))
})
