import { rowsOf } from './cell-connection.ts'
import { sumTables } from './moved-tables.ts'
import type { Travel } from './replication.ts'

/** What stands in the way of a move, each in one sentence. */
export async function obstacles(travel: Travel): Promise<string[]> {
  const found = await Promise.all(CHECKS.map((check) => check(travel)))
  return found.flat()
}

type MoveCheck = (travel: Travel) => Promise<string[]>

const servers: MoveCheck = async ({ source, from }) => {
  const [server] = await rowsOf<{ level: string }>(
    source.client,
    `select current_setting('wal_level') as level`,
  )
  return server!.level === 'logical'
    ? []
    : [`PostgreSQL of the cell ${from} has wal_level = ${server!.level}, not logical`]
}

const schemas: MoveCheck = async ({ source, target }) => {
  const text = 'select name from migrations order by name'
  const [here, there] = await Promise.all([rowsOf(source.client, text), rowsOf(target.client, text)])
  return JSON.stringify(here) === JSON.stringify(there)
    ? []
    : ['The two cells have other schemas: run svc admin migrate on both']
}

/** Digests and encrypted columns are read by the same keys. */
const keyrings: MoveCheck = async ({ source, target }) => {
  const text = `select encode(sha256(convert_to(string_agg(key_id, ',' order by key_id), 'UTF8')), 'hex') as keys
    from keyring where purpose in ('api_key_digest', 'card_number_digest', 'session')`
  const [here, there] = await Promise.all([rowsOf(source.client, text), rowsOf(target.client, text)])
  return JSON.stringify(here) === JSON.stringify(there) ? [] : ['The two cells do not share a keyring']
}

/** A merchant reads the coin configurations of its partner in its own cell. */
const links: MoveCheck = async ({ source, tenants }) => {
  const linked = await rowsOf<{ merchant: string; partner: string }>(
    source.client,
    `select merchant_id as merchant, linked_partner_id as partner from merchants
     where merchant_id = any ($1) and linked_partner_id is not null and linked_partner_id <> all ($1)`,
    [tenants],
  )
  return linked.map(
    ({ merchant, partner }) =>
      `${merchant} reads the coin configurations of ${partner}: move the partner, which takes its merchants along, or end the link`,
  )
}

/** Money that was assigned from the platform's suspense has its other half in the books of this cell (decision R9). */
const platformMoney: MoveCheck = async ({ source, tenants }) => {
  const found = await rowsOf<{ tenant: string }>(
    source.client,
    `select distinct t.tenant_id as tenant from ledger_transfers t
       join ledger_accounts a on a.tenant_id = t.tenant_id and a.kind = 'inter_tenant'
         and a.account_id in (t.debit_account_id, t.credit_account_id)
     where t.tenant_id = any ($1)`,
    [tenants],
  )
  return found.map(
    ({ tenant }) =>
      `${tenant} was assigned money of the platform, whose other half is in the books of this cell: it cannot move`,
  )
}

/** What was signed of a closed period is the sum over all tenants of the cell (decision R12). */
const closedPeriods: MoveCheck = async ({ source, target, from, to, tenants }) => {
  const [first] = await rowsOf<{ at: Date | null }>(
    source.client,
    'select min(created_at) as at from ledger_transfers where tenant_id = any ($1)',
    [tenants],
  )
  const problems = [source, target].map(async ({ client }, index) => {
    const [closing] = await rowsOf<{ through: string }>(
      client,
      'select max(through)::text as through from book_closings having max(until) >= $1',
      [first!.at],
    )
    return closing
      ? [
          `The books of the cell ${index === 0 ? from : to} are closed through ${closing.through}, and the tenant has entries of that time`,
        ]
      : []
  })
  return (await Promise.all(problems)).flat()
}

const addresses: MoveCheck = async ({ source, target, to, tenants }) => {
  const names = await rowsOf<{ vpa: string }>(
    source.client,
    'select vpa from merchants where merchant_id = any ($1)',
    [tenants],
  )
  const taken = await rowsOf<{ vpa: string; merchant: string }>(
    target.client,
    'select vpa, merchant_id as merchant from merchants where vpa = any ($1) and merchant_id <> all ($2)',
    [names.map(({ vpa }) => vpa), tenants],
  )
  return taken.map(({ vpa, merchant }) => `${merchant} of the cell ${to} has the payment address ${vpa}`)
}

/** Numbers of tax documents are one series in each cell, and of its own. */
const invoices: MoveCheck = async ({ source, target, to, tenants }) => {
  const documents = await rowsOf<{ number: string }>(
    source.client,
    'select number from tax_documents where merchant_id = any ($1)',
    [tenants],
  )
  const taken = await rowsOf<{ number: string }>(
    target.client,
    'select number from tax_documents where number = any ($1) and merchant_id <> all ($2) order by number',
    [documents.map(({ number }) => number), tenants],
  )
  return taken.map(
    ({ number }) =>
      `The cell ${to} has another tax document ${number}: the cells need different series (INVOICE_SERIES) before they issue any`,
  )
}

const CHECKS: readonly MoveCheck[] = [
  servers,
  schemas,
  keyrings,
  links,
  platformMoney,
  closedPeriods,
  addresses,
  invoices,
]

/** Tables whose rows differ in the two cells. */
export async function differences(travel: Travel): Promise<string[]> {
  const { source, target, tenants } = travel
  const [here, there] = await Promise.all([
    sumTables(source.client, tenants),
    sumTables(target.client, tenants),
  ])
  const other = new Map(there.map((sum) => [sum.name, sum]))
  return here.flatMap(({ name, rows, hash }) => {
    const found = other.get(name)
    return found?.rows === rows && found.hash === hash
      ? []
      : [`${name}: ${rows} rows here, ${found?.rows ?? 'none'} there`]
  })
}
