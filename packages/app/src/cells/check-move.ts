import { rowsOf } from './cell-connection.ts'
import { type Closed, closedThrough, keysOf, schemaOf, walLevelOf } from './cell-facts.ts'
import { sumTables } from './moved-tables.ts'
import type { Travel } from './replication.ts'

/** What stands in the way of a move, each in one sentence. */
export async function obstacles(travel: Travel): Promise<string[]> {
  const found = await Promise.all(CHECKS.map((check) => check(travel)))
  return found.flat()
}

type MoveCheck = (travel: Travel) => Promise<string[]>

const servers: MoveCheck = async ({ source, from }) => {
  const level = await walLevelOf(source)
  return level === 'logical' ? [] : [`PostgreSQL of the cell ${from} has wal_level = ${level}, not logical`]
}

const schemas: MoveCheck = async ({ source, target }) =>
  (await schemaOf(source)) === (await schemaOf(target))
    ? []
    : ['The two cells have other schemas: run svc admin migrate on both']

const keyrings: MoveCheck = async ({ source, target }) =>
  (await keysOf(source)) === (await keysOf(target)) ? [] : ['The two cells do not share a keyring']

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

/**
 * What was signed of a closed period counts the tenants of then (decision R12): one that moves is in the totals of every
 * period once where both cells have closed the same ones.
 */
export const closedPeriods: MoveCheck = async ({ source, target, from, to, tenants }) => {
  const [here, there] = [await closedThrough(source), await closedThrough(target)]
  if (here?.through === there?.through) return []
  const until = new Date(Math.max(here?.until.getTime() ?? 0, there?.until.getTime() ?? 0))
  const old = await rowsOf(
    source.client,
    'select from ledger_transfers where tenant_id = any ($1) and created_at <= $2 limit 1',
    [tenants, until],
  )
  const closed = (closing: Closed | undefined) => (closing ? `through ${closing.through}` : 'not at all')
  return old.length === 0
    ? []
    : [
        `The books of the cell ${from} are closed ${closed(here)}, those of the cell ${to} ${closed(there)}, and the tenant has entries of that time: close both through the same day first (svc admin books close)`,
      ]
}

const addresses: MoveCheck = async ({ source, target, to, tenants }) => {
  const names = await rowsOf<{ vpa: string }>(
    source.client,
    'select unnest(former_vpas || lower(vpa)) as vpa from merchants where merchant_id = any ($1)',
    [tenants],
  )
  const taken = await rowsOf<{ vpa: string; merchant: string }>(
    target.client,
    `select a.vpa, merchant_id as merchant from merchants cross join unnest(former_vpas || lower(vpa)) as a (vpa)
     where a.vpa = any ($1) and merchant_id <> all ($2)`,
    [names.map(({ vpa }) => vpa), tenants],
  )
  return taken.map(
    ({ vpa, merchant }) => `${merchant} of the cell ${to} has the payment address ${vpa}, or had it`,
  )
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
